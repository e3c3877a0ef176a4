"""Calls of every public function with plausible wrong values, driven by its signature."""

import functools
import importlib
import inspect
import types
from pathlib import Path

import casadi as ca
import numpy as np

import strut
from strut import contact, evolve, gait, linear, mechanism, network, optimal, ports, walkers
from strut.errors import StrutError

ROOMS = [
    "strut",
    *(
        f"strut.{room}"
        for room in [
            "actuator",
            "contact",
            "control",
            "evolve",
            "export",
            "gait",
            "linear",
            "mechanism",
            "network",
            "optimal",
            "ports",
            "report",
            "simulate",
            "system",
            "view",
            "walkers",
            "units",
        ]
    ),
    *(
        f"strut.mechanism.{part}"
        for part in ["io.urdf", "io.mjcf", "io.modelfile", "constraints", "joints", "looks.shapes", "observe"]
    ),
    "strut.walkers.anthropometry",
]
FOR_OTHER_ROOMS = [
    "Entry",
    "Expression",
    "Factors",
    "GROUPS",
    "Implied",
    "PortedFunction",
    "Like",
    "Packed",
    "Port",
    "Start",
    "Sums",
    "Terms",
    "BatchRewrite",
    "Totals",
    "check_name",
    "initial_values",
    "known_symbol",
    "make_ported_function",
    "memo",
    "narrow_order",
    "operation_count",
    "own_value",
    "parameters",
    "port",
    "rate_unit",
    "runs_in",
    "solve_ltdl",
    "start",
    "sx",
]
"""Of `strut.system`: what rooms use of one another. They are handed what was checked before."""
MADE_BY_STRUT = [
    *FOR_OTHER_ROOMS,
    *("FootLoad", "NetworkProblem", "Solution"),
    *("Evaluated", "Evaluation", "Evolution", "Individual", "JobState", "ParameterSpace", "ParetoFront"),
    *("PolishedIndividual", "Scenarios", "SearchComparison", "SearchMethod", "SearchProgress"),
    *("SideBySideProgress", "Workers", "DesignEvaluation", "EncodedEvaluation", "FunctionEvaluation"),
    *("ProgramEvaluation", "SystemEvaluation", "WalkMeasures"),
    *("BodyModel", "CaptureStepping", "CartMotion", "Compared", "EstimateQuality", "HeldGait", "LegInverse"),
    *("LinearPendulum", "MotionPlayer", "PhaseTables", "QpController", "ReactiveStepping", "ReferenceSignal"),
    *("SteppingSignals", "SteppingState", "SwingMotion", "WalkMotion", "WalkPattern", "ZmpPreview"),
    *("QuadraticProgram", "RayWorkers", "follow_job"),  # these two start a cluster, and a page that stays
    *("Bond", "Causality", "Domain", "Element", "ElementPort", "Given", "Kind", "PassivityCheck"),
    *("PortHamiltonian", "SolvedGraph", "Equations"),
    "Account",
    "Balance",
    "Basin",
    "Batch",
    "Bifurcation",
    "Body",
    "Branch",
    "CONTROLLER",
    "Connection",
    "ControlledRun",
    "Design",
    "Drive",
    "Energetics",
    "Equilibrium",
    "Export",
    "Frame",
    "Gait",
    "ImpactLoss",
    "Joint",
    "Linear",
    "Mode",
    "Moment",
    "Motion",
    "Node",
    "Edge",
    "Variable",
    "Replay",
    "Result",
    "Row",
    "Rows",
    "Search",
    "Shape",
    "Sphere",
    "Capsule",
    "Cylinder",
    "Box",
    "Ellipsoid",
    "Arc",
    "Mesh",
    "Symmetry",
    "Survived",
    "RoughWalk",
    "BatchSummary",
    "MeasureSummary",
    "TradeOff",
    "Trajectory",
    "Tree",
    "Pose",
    "Constraint",
    "Segment",
    "Network",
    "Law",
    "Surface",
    "Chapter",
    "Figure",
    "Panels",
    "Report",
    "Problem",
    "Integral",
    "Jumps",
    "BudgetWarning",
    "GaitAtValue",
    "GaitSearchInterrupted",
    "EffortWarning",
    "LedgerWarning",
    "RequirementWarning",
    "StabilityWarning",
    "NetworkError",
    "NoGaitError",
    "StrutError",
    "Transcription",
    "Quantity",
]
"""Classes whose objects strut makes: nobody calls them."""

METHODS = {
    "Trajectory": ["at", "table", "save", "steps", "plot", "stage", "to_dataframe", "ledger_at", "animate"],
    "System": ["using", "replace"],
    "Mechanism": ["body", "joint", "frame", "shape", "constrain"],
    "BondGraph": [
        *("inertia", "compliance", "storage", "resistor", "heater", "effort_source", "flow_source"),
        *("transformer", "gyrator", "zero", "one", "machine", "bond", "expose", "include"),
    ],
    "Network": ["find", "change", "system", "run_steps", "value", "options", "states_of"],
}


def public():
    """Every public function, and the methods people call, by a title."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        names = getattr(module, "__all__", None) or [
            n
            for n, v in vars(module).items()
            if not n.startswith("_") and getattr(v, "__module__", None) == room
        ]
        for name in names:
            value = getattr(module, name)
            if (
                isinstance(value, types.ModuleType)
                or not callable(value)
                or name in MADE_BY_STRUT
                or name.startswith("_")
            ):
                continue
            if not any(value is known for known in found.values()):
                found[f"{room}.{name}"] = value
    for name, things in (
        ("Trajectory", run),
        ("System", pendulum),
        ("Mechanism", arm),
        ("Network", net),
        ("BondGraph", graph),
    ):
        for method in METHODS[name]:
            found[f"{name}.{method}"] = functools.partial(_method, things, method)
            found[f"{name}.{method}"].__signature__ = inspect.signature(getattr(things(), method))
    found["Trajectory.load"] = strut.Trajectory.load
    return found


def _method(things, method, /, *arguments, **keywords):
    return getattr(things(), method)(*arguments, **keywords)


# ---- what is right ----


@functools.cache
def pendulum():
    return walkers.pendulum()


@functools.cache
def walker():
    return walkers.simplest()


@functools.cache
def run():
    return strut.simulate(walkers.rimless_wheel(), t=1.0)


@functools.cache
def a_gait():
    return gait.find(walker(), starts=40)


def arm():
    m = strut.Mechanism("arm", planar=True)
    link = m.body("link", 1.0, (0, 0, -0.5), 0.1)
    m.joint("shoulder", m.world, link, mechanism.joints.revolute("y"))
    m.frame("tip", link, (0, 0, -1))
    return m


def graph():
    g = ports.BondGraph("graph")
    g.effort_source("push", 1.0, domain="translation")
    g.one("v")
    g.inertia("mass", 1.0, domain="translation")
    g.resistor("loss", 1.0, domain="translation")
    g.bond("push", "v")
    g.bond("v", "mass", "loss")
    return g


@functools.cache
def net():
    return network.loads('node "a" { y = "1" }')


URDF = '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
MJCF = '<mujoco><worldbody><body name="a"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>'
TOML = '[bodies.a]\nmass = 1\n[joints.j]\nparent = "world"\nchild = "a"\ntype = "revolute"\n'


def tree():
    return mechanism.Tree(arm())


RIGHT = {
    **dict.fromkeys(("system", "parts"), pendulum),
    **dict.fromkeys(("walker",), walker),
    **{
        "graph": graph,
        "domain": lambda: "rotation",
        "domains": lambda: ("rotation", "rotation"),
        "energy": lambda: None,
    },
    **dict.fromkeys(("trajectory",), run),
    **{
        "gait": a_gait,
        "start": a_gait,
        "like": lambda: None,
        "mechanism": arm,
        "tree": tree,
        "t": lambda: 0.05,
    },
    **{"linear": lambda: linear.linearise(pendulum()), "name": lambda: "a", "directory": lambda: Path("out")},
    **{
        "path": lambda: Path("file.h5"),
        "feet": lambda: ["tip"],
        "law": lambda: contact.linear(1e4),
        "stiffness": lambda: 100.0,
    },
    **{
        "frame": lambda: "tip",
        "other": lambda: "tip",
        "radius": lambda: 0.1,
        "kind": lambda: "series",
        "angle": lambda: 1.0,
    },
    **{
        "prefix": lambda: "p",
        "function": lambda: abs,
        "every": lambda: 0.1,
        "guard": lambda: strut.State("y") - 1.0,
        "set": dict,
    },
    **{
        "functions": lambda: mechanism.functions(arm()),
        "body": lambda: "link",
        "length": lambda: 0.1,
        "damping": lambda: 1.0,
    },
    **{
        "corners": lambda: [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)],
        "edges": lambda: [(1.0, 0.1)],
        "height": lambda: 0.1,
        "mu": lambda: 0.5,
    },
    **{
        "frequency": lambda: 1.0,
        "a": lambda: 0.1,
        "b": lambda: 0.1,
        "c": lambda: 0.1,
        "chart": lambda: lambda s: ca.vertcat(s, 0, 0),
    },
    **{
        "parameter": lambda: "slope",
        "to": lambda: 0.01,
        "speed": lambda: 0.5,
        "leg": lambda: 1.0,
        "g": lambda: 9.81,
        "free": tuple,
    },
    **{
        "direction": lambda: "x",
        "state": lambda: dict(a_gait().x0),
        "disturbance": lambda: np.eye(2),
        "indicator": lambda: np.eye(2),
    },
    **{
        "text": lambda: "1",
        "source": lambda: MJCF,
        "axis": lambda: "y",
        "joint": lambda: "shoulder",
        "motion": lambda: 0.1,
        "first": lambda: "x",
    },
    **{
        "second": lambda: "y",
        "rows": lambda: lambda t: None,
        "leader": lambda: "shoulder",
        "order": lambda: "zyx",
        "size": lambda: (0.1, 0.1, 0.1),
    },
    **{
        "start_": lambda: (0, 0, 0),
        "end": lambda: (0, 0, 1),
        "radii": lambda: (0.1, 0.1, 0.1),
        "stature": lambda: 1.8,
        "mass": lambda: 70.0,
    },
    **{
        "unit": lambda: "m",
        "x": lambda: np.array([1.0, 2.0]),
        "y": lambda: np.array([1.0, 2.0]),
        "x_name": lambda: "x",
        "y_name": lambda: "y",
    },
    **{
        "labels": lambda: np.zeros((2, 2), dtype=int),
        "figure": lambda: strut.view.residual(run()),
        "values": lambda: [0.5],
        "A": lambda: ca.SX.eye(2),
    },
    **{
        "events": tuple,
        "event": lambda: "heel_strike",
        "times": lambda: [0.1, 0.2],
        "selector": lambda: "nodes",
        "node": lambda: "a",
    },
    **{
        "low": lambda: -1.0,
        "high": lambda: 1.0,
        "spring": lambda: 1.0,
        "file": lambda: Path("robot.urdf"),
        "J": lambda: ca.SX.zeros(3, 1),
    },
    **{
        "max_speed": lambda: 1.0,
        "weights": lambda: {"a": 1.0},
        "pose": lambda: lambda q: mechanism.Pose(ca.SX.eye(3), ca.SX.zeros(3)),
    },
    **{
        "coordinates": lambda: ["q"],
        "frame_a": lambda: "tip",
        "frame_b": lambda: "world",
        "surface_a": lambda: contact.ellipsoid(0.1, 0.1, 0.1),
    },
    **{
        "surface_b": contact.plane_surface,
        "pairs": list,
        "problem": lambda: optimal.Problem(walker()),
        "steps": lambda: 1,
    },
    **{
        "starts": lambda: 2,
        "walk": lambda: 2,
        "cells": lambda: 3,
        "points": lambda: 3,
        "most": lambda: 5,
        "intervals": lambda: 3,
        "workers": lambda: 1,
    },
    **{
        "iterations": lambda: 3,
        "rate": lambda: "stance_rate",
        "poses": lambda: 2,
        "branches": tuple,
        "design": lambda: None,
        "sweep": lambda: None,
    },
}
"""Right values by the names of arguments."""


def searched():
    """A problem of population search."""
    return evolve.SearchProblem({"a": (0.0, 1.0)}, evolve.of_function(lambda a: a), "value")


RIGHT_OF = {
    **{(f"strut.evolve.{name}", "problem"): searched for name in ("compare", "polish", "search")},
    **{
        (f"strut.evolve.{name}", "method"): lambda: evolve.Swarm(4)
        for name in ("search", "search_side_by_side")
    },
    **{(f"strut.evolve.{name}", "generations"): lambda: 2 for name in ("search", "search_side_by_side")},
    ("strut.evolve.SearchProblem", "parameters"): lambda: {"a": (0.0, 1.0)},
    ("strut.evolve.SearchProblem", "evaluation"): lambda: searched().evaluation,
    ("strut.evolve.SearchProblem", "goals"): lambda: "value",
    ("strut.evolve.compare", "evaluations"): lambda: 20,
    ("strut.evolve.compare", "searches"): lambda: ["swarm"],
    ("strut.evolve.compare", "seeds"): lambda: 1,
    ("strut.evolve.polish", "begin"): lambda: {"a": 0.5},
    ("strut.evolve.of_function", "function"): lambda: lambda a: a,
    ("strut.evolve.of_program", "command"): lambda: ["true"],
    ("strut.evolve.of_program", "measures"): lambda: ["value"],
    ("strut.evolve.of_system", "time"): lambda: 0.1,
    ("strut.evolve.of_system", "measures"): lambda: {"angle": "angle"},
    ("strut.evolve.job_state", "finished"): lambda: False,
    ("strut.evolve.wait_for_state", "words"): lambda: ("stopped",),
    ("strut.evolve.wait_for_state", "seconds"): lambda: 0.01,
    **{
        ("strut.ports.interconnect", name): lambda: ports.port_hamiltonian(graph())
        for name in ("first", "second")
    },
    ("strut.ports.interconnect", "ports"): lambda: {"push": "push"},
    ("strut.ports.interconnect", "name"): lambda: "both",
    ("BondGraph.storage", "ports"): lambda: {"a": ("C", "rotation")},
    ("BondGraph.storage", "energy"): lambda: lambda q: q**2,
    ("BondGraph.machine", "ports"): lambda: {"a": "torque"},
    **{("BondGraph.bond", name): lambda: "v" for name in ("tail", "heads")},
    ("BondGraph.include", "graph"): graph,
    ("BondGraph.expose", "element"): lambda: "v",
    ("strut.gait.push", "most"): lambda: 0.1,
    ("strut.gait.step_down", "most"): lambda: 0.1,
    ("strut.mechanism.io.urdf.parse", "text"): lambda: URDF,
    ("strut.mechanism.io.modelfile.parse", "text"): lambda: TOML,
    ("strut.network.loads", "text"): lambda: 'node "a" { y = "1" }',
    ("strut.view.poincare", "name"): lambda: "stance",
    ("strut.view.phase_portrait", "name"): lambda: "stance",
    ("strut.view.plot", "names"): lambda: "stance",
    ("Trajectory.plot", "names"): lambda: "stance",
    ("strut.optimal.trade_off", "name"): lambda: "speed",
    ("strut.mechanism.joints.mirror_image", "joint"): mechanism.joints.fixed,
    ("strut.mechanism.looks.shapes.capsule", "start"): lambda: (0, 0, 0),
    ("strut.mechanism.looks.shapes.cylinder", "start"): lambda: (0, 0, 0),
    ("strut.mechanism.observe.path", "body"): lambda: "link",
    ("strut.export.export_matlab", "directory"): lambda: Path("out_matlab"),
    ("strut.simulate_batch", "x0"): lambda: {"angle": [0.1, 0.2]},
    ("strut.gait.find", "guess"): lambda: dict(a_gait().x0),
    ("strut.gait.ReturnMap", "x0"): lambda: dict(a_gait().x0),
}
"""Right values where the name alone does not tell."""


# ---- what is wrong ----


class Silent:
    """An object that nothing here knows."""


NUMBERS = [
    None,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1.0,
    0.0,
    -1,
    0,
    1e-308,
    10**400,
    -(10**400),
    2**63,
    True,
    "1",
    "two",
    b"1",
    1j,
]
NUMBERS += [
    [1.0],
    (),
    {},
    np.array([]),
    np.array([1.0, float("nan")]),
    np.array("x"),
    np.array([None]),
    ca.SX.sym("s"),
    ca.DM(),
    Silent(),
]
TEXTS = [
    None,
    "",
    " ",
    "\0",
    "nothing_of_the_kind",
    "ü",
    "a" * 3000,
    "../x",
    3,
    1.5,
    True,
    b"text",
    [],
    ["a"],
    {},
    Silent(),
    float("nan"),
]
PATHS = [
    None,
    "",
    "\0",
    "a" * 3000,
    "no/such/folder/x.h5",
    "/dev/null/x",
    "x.unknown",
    3,
    1.5,
    b"x",
    [],
    {},
    Silent(),
    Path("taken"),
    True,
]
LISTS = [
    None,
    "text",
    3,
    (),
    [None],
    [""],
    [1.0, "a"],
    [float("nan")],
    {},
    {1: 2},
    {"nothing": 1.0},
    {"nothing": None},
    {"a": "b"},
    Silent(),
]
LISTS += [
    [[]],
    [[1.0, 2.0], [3.0]],
    np.zeros((3, 3, 3)),
    np.array([]),
    (1.0,),
    (2.0, 1.0),
    (1.0, 2.0, 3.0),
    [0.1] * 3000,
    {None: 1},
    {"angle": [[1]]},
]
THINGS = [
    None,
    3,
    "text",
    [],
    {},
    Silent(),
    float("nan"),
    walkers.pendulum,
    lambda: None,
    lambda *a: "wrong",
    ca.SX.sym("s"),
    np.zeros(3),
    strut,
]


def wrong_values(parameter):
    """Values that are wrong for an argument, or plausible and out of range, by its annotation and name."""
    words = str(parameter.annotation)
    pools = []
    for kinds, pool in (
        (("float", "int", "Expression", "bool", "Any"), NUMBERS),
        (("Path", "Roots"), PATHS),
        (("str", "Any"), TEXTS),
        (
            (
                "Sequence",
                "tuple",
                "Mapping",
                "Collection",
                "Iterable",
                "dict",
                "list",
                "ndarray",
                "Any",
                "Bounds",
            ),
            LISTS,
        ),
    ):
        if any(kind in words for kind in kinds):
            pools += pool
    if parameter.name == "t":  # a run that is asked to last for ages does
        pools = [value for value in pools if not (isinstance(value, int) and value == 2**63)]
    return [*pools, *THINGS]


def right_arguments(title, signature):
    """Arguments with which the function works, as far as they are known here."""
    arguments = {}
    for name, parameter in signature.parameters.items():
        known = RIGHT_OF.get((title, name)) or (RIGHT.get(name) if _needed(title, parameter) else None)
        if known is not None:
            arguments[name] = known()
    return arguments


RUNNING = ("rtol", "atol", "step", "max_step", "max_steps", "method", "zeno", "ledger")
FURTHER = {
    "strut.simulate": RUNNING,
    "strut.simulate_batch": RUNNING,
    "strut.optimal.solve": ("method", "intervals", "control", "points"),
    "strut.optimal.design": ("method", "starts", "seed", "accuracy", "tolerance", "iterations"),
    "strut.optimal.trade_off": ("speed", "slope", "intervals", "starts"),
    "strut.view.animation": ("fps", "width", "height", "hidden", "t"),
    "Trajectory.animate": ("fps", "width", "height", "hidden", "title"),
    "Trajectory.plot": ("events",),
    "System.using": ("mass", "length", "angle"),
    "System.replace": ("events", "flow", "outputs", "p", "x"),
}
"""Names that may stand behind ** of a function."""

CHEAPER = ("starts", "walk", "cells", "points", "most", "intervals", "workers", "iterations", "poses")


def _needed(title, parameter):
    return parameter.default is parameter.empty or parameter.name in CHEAPER


def spoiled(title, function, rng):
    """One call: right arguments of which one or two are wrong. Gives a text that says which, and the call."""
    signature = inspect.signature(function)
    arguments = right_arguments(title, signature)
    names = [n for n, p in signature.parameters.items()]
    if not names:
        return None
    for name in rng.choice(names, size=min(len(names), int(rng.integers(1, 3))), replace=False):
        pool = wrong_values(signature.parameters[name])
        arguments[str(name)] = pool[int(rng.integers(len(pool)))]
    positional, keywords = [], {}
    for name, parameter in signature.parameters.items():
        if name not in arguments:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional = [*_leading(signature, arguments), arguments[name]]
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords[str(rng.choice(FURTHER.get(title, ("mass", "slope", "nothing_of_the_kind"))))] = (
                arguments[name]
            )
        else:
            keywords[name] = arguments[name]
    if positional:
        keywords = {
            k: v
            for k, v in keywords.items()
            if k in signature.parameters and signature.parameters[k].kind is inspect.Parameter.KEYWORD_ONLY
        }
    return f"{title}({_text(arguments)})", functools.partial(function, *positional, **keywords)


def _leading(signature, arguments):
    return [
        arguments.get(n, 1.0)
        for n, p in signature.parameters.items()
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]


def _text(arguments):
    from strut.checks import short_repr

    return ", ".join(f"{name}={short_repr(value)}" for name, value in arguments.items())


def schedule(count, seed):
    """So many calls, every function in turn: titles, texts and calls."""
    functions = public()
    rng = np.random.default_rng(seed)
    titles = sorted(functions)
    for k in range(count):
        title = titles[k % len(titles)]
        try:
            call = spoiled(title, functions[title], rng)
        except StrutError as error:
            raise AssertionError(f"the right arguments of {title} are wrong: {error}") from error
        if call is not None:
            yield title, *call
