"""Model files: what they say, what they refuse, and that nothing is lost on the way there and back."""

import math
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param
from strut.errors import ExpressionError, ModelError, StorageError
from strut.mechanism import (
    Mechanism,
    Stop,
    Tree,
    constraints,
    joints,
    mjcf,
    modelfile,
    shapes,
    symmetry,
    system,
    urdf,
)
from strut.mechanism.spatial import Pose, rotation_of_rpy
from strut.system import parse_expression, write_expression
from strut.walkers.coman import coman_mechanism
from tests.mechanism.test_mjcf import WITH
from tests.mechanism.test_urdf import ROBOT

BIPED = Path(__file__).parents[2] / "examples" / "biped.toml"
EXACT = 1e-12  # two evaluations of the same arithmetic, in another order


def dynamics(m, seed=0):
    """Mass matrix, bias, rates, closure errors and places of frames, in a random state with random parameters."""
    tree = Tree(m)
    rng = np.random.default_rng(seed)
    rows = [c.rows(tree) for c in m.constraints.values()]
    used = m.parameter_set()
    used.add(*[r.K for r in rows], *[r.phi for r in rows])
    params = sorted(used, key=lambda p: p.name)
    results = [
        tree.mass_matrix,
        tree.bias,
        tree.qdot,
        *[r.K for r in rows],
        *[r.phi for r in rows],
        *[f.X_BF.p for f in m.frames.values()],
    ]
    f = ca.Function(
        "f", [tree.q, tree.v, ca.vertcat(*[p.sym for p in params], ca.SX(0, 1)), strut.time], results
    )
    q, v = rng.uniform(0.1, 1, tree.nq), rng.standard_normal(tree.nv)
    p = np.concatenate([p.value * rng.uniform(0.9, 1.1, p.size) for p in params] or [np.empty(0)])
    return [np.array(r) for r in f.call([q, v, p, 0.3])]


def assert_same(first, second):
    for a, b in zip(dynamics(first), dynamics(second), strict=True):
        np.testing.assert_allclose(a, b, atol=EXACT * max(1.0, np.abs(a).max(initial=0.0)))


def again(m):
    return modelfile.parse(modelfile.dump(m))


def everything():
    """Every kind of joint, element and constraint, with parameters wherever one may stand."""
    m = Mechanism("every.thing", g=Param("gravity_of_the_moon", 1.62, "m/s^2"))
    length, mass = Param("length", 0.4, "m", (0.1, 1), 'a "quoted" length'), Param("part.mass", 2.0, "kg")
    offset, ratio = Param("offset", (0.1, 0.2, 0.3), "m"), Param("ratio", -0.5)
    kinds = {
        "free": joints.free(),
        "planar": joints.planar("z"),
        "spherical": joints.spherical(),
        "euler": joints.spherical_euler("zxy"),
        "universal": joints.universal("x", (0.0, 0.6, 0.8)),
        "cylindrical": joints.cylindrical("-z"),
        "helical": joints.helical("y", length / 7),
        "fixed": joints.fixed(),
        "revolute": joints.revolute((0.48, 0.64, 0.6)),
        "prismatic": joints.prismatic("-x"),
        "gear": joints.gear("revolute", ratio, 0.1 * length, of=joints.prismatic("z")),
        "mirrored": joints.mirror_image(joints.spherical()),
    }
    at = m.world
    for k, (name, joint) in enumerate(kinds.items()):
        body = m.body(
            f"b_{name}",
            mass * (1 + k),
            (0.1 * length, 0, ca.sqrt(length)),
            (0.1, 0.01, 0.02, 0.2, mass / 100, 0.25),
        )
        more = (
            {"spring": 3 * ratio**2, "rest": 0.1, "stop": Stop(-1, length, 100)}
            if name in ("revolute", "prismatic")
            else {}
        )
        m.joint(name, at, body, joint, offset.sym * k, rotation=rotation_of_rpy([0.1, 0.2 * k, -0.3]), **more)
        at = body
    last = m.body("tip", 1.0, inertia=(0.1, 0.2, 0.3))
    start = {"initial": 0.2, "rate": length, "damping": 0.1, "armature": mass / 10, "actuated": False}
    m.joint("tilted", at, last, joints.revolute("z"), rotation=rotation_of_rpy([length, 0, 0]), **start)
    m.frame("here", last, (length, 0, 1), rotation_of_rpy([0.4, 0, 0]))
    m.frame("there", m.world, (1, 2, 3))
    m.constrain(constraints.point("p", "here"))
    m.constrain(constraints.hinge("h", "here", "there", (0.6, 0.0, 0.8)))
    m.constrain(constraints.weld("w", "here", "there"))
    m.constrain(constraints.coupled("c", "revolute", "prismatic", ratio, length))
    m.constrain(constraints.prescribed("d", "helical", length * ca.sin(2 * strut.time)))
    m.constrain(constraints.no_slip("n", "here", "x"))
    m.constrain(constraints.slot("s", "here", "there", (0.6, 0.0, 0.8)))
    m.constrain(constraints.rolling("r", "here", "y", length))
    m.shape(m.world, shapes.box((1, 1, 0.1)))
    m.shape(
        last,
        shapes.capsule((0, 0, 0), (0, 0, length), 0.1, "#123456"),
        shapes.mesh("a.stl", (1, 1, 2), rotation=rotation_of_rpy([1, 0, 0])),
    )
    m.shape(
        last,
        shapes.arc(length, begin=-0.1),
        shapes.ellipsoid((1, 2, 3), colour=(0.1, 0.2, 0.3)),
        shapes.sphere(1),
        shapes.cylinder((0, 0, 0), (1, 0, 0), 0.1),
    )
    return m


def test_there_and_back():
    first = everything()
    second = again(first)
    assert_same(first, second)
    assert modelfile.dump(second) == modelfile.dump(first)
    own, read = ({p.name: p for p in m.params.values()} for m in (first, second))
    assert set(own) == set(read)
    for name, p in own.items():
        assert (p.unit, p.bounds, p.description) == (
            read[name].unit,
            read[name].bounds,
            read[name].description,
        )
        np.testing.assert_array_equal(p.value, read[name].value)
    for a, b in zip(first.connections.values(), second.connections.values(), strict=True):
        assert (a.name, a.joint.kind, a.actuated, a.stop is None) == (
            b.name,
            b.joint.kind,
            b.actuated,
            b.stop is None,
        )
    for body, looks in shapes.in_numbers(first).items():
        for a, b in zip(looks, shapes.in_numbers(second)[body], strict=True):
            assert type(a) is type(b)
            assert a.colour == b.colour
            for name, value in vars(a).items():
                if name not in ("colour", "path"):
                    np.testing.assert_allclose(value, getattr(b, name), atol=1e-15)


@pytest.mark.parametrize("case", WITH)
def test_what_mujoco_describes_we_can_write(case):
    m = mjcf.parse(WITH[case])
    assert_same(m, again(m))


def test_other_machines_survive():
    for m in (coman_mechanism(), urdf.parse(ROBOT, symbolic_masses=True, symbolic_lengths=True)):
        assert_same(m, again(m))


def test_runs_are_the_same():
    first = modelfile.load(BIPED)
    runs = [strut.simulate(system(m), t=0.5, p={"hip_spring": 60.0}) for m in (first, again(first))]
    for name in ("hip_l", "knee_r", "foot_l_x", "com_z"):
        np.testing.assert_allclose(runs[0][name][-1], runs[1][name][-1], atol=1e-9)


def test_the_example():
    m = modelfile.load(BIPED)
    same = symmetry(m)
    assert same.states["hip_l"] == ("hip_r", 1.0)
    assert {"g", "trunk_mass", "thigh_length", "shank_length", "foot_radius", "hip_spring"} == {
        p.name for p in m.params.values()
    }
    machine = system(m)
    assert machine.labels("u") == ("hip_l_torque", "hip_r_torque", "knee_l_torque", "knee_r_torque")
    run = strut.simulate(machine, t=0.5, x0={"hip_l": 0.5}, p={"thigh_length": 0.5})
    assert run["base.z"][0] == pytest.approx(0.93)  # where a run begins may depend on parameters
    assert run.ledger.residual < 1e-7
    arc = shapes.in_numbers(m, {"foot_radius": 0.3})["shank_r"][1]
    assert arc.radius == 0.3
    assert arc.finish == pytest.approx(math.radians(30))


# ---- expressions ----

NAMES = {"a": Param("a", 1.3), "left.b": Param("b", 0.7), "v": Param("v", (2.0, 3.0))}


def evaluate(expression):
    f = ca.Function("f", [NAMES["a"].sym, NAMES["left.b"].sym, NAMES["v"].sym], [expression])
    return float(f(1.3, 0.7, [2.0, 3.0]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.43 * a", 0.43 * 1.3),
        ("-a**2 + left.b / 2 - -1", -(1.3**2) + 0.35 + 1),
        ("2**-a", 2**-1.3),
        ("(a - left.b) * (a - (left.b - 1))", 0.6 * 1.6),
        ("a / (left.b / a) / 2", 1.3 / (0.7 / 1.3) / 2),
        ("sqrt(sin(pi / 6)**2 + cos(a)**2)", math.sqrt(0.25 + math.cos(1.3) ** 2)),
        ("deg(90) + atan2(v[0], v[1])", math.pi / 2 + math.atan2(2, 3)),
        ("max(a, v[1]) * min(1, left.b) + abs(-2)", 3 * 0.7 + 2),
        ("1e-3*a", 1.3e-3),
        (" +a ", 1.3),
    ],
)
def test_arithmetic(text, value):
    made = parse_expression(text, NAMES)
    assert evaluate(made) == pytest.approx(value, rel=1e-14)
    back = write_expression(made, {name: p.sym for name, p in NAMES.items()})
    assert evaluate(parse_expression(back, NAMES)) == evaluate(made)


def test_random_arithmetic_survives_writing():
    rng = np.random.default_rng(0)
    symbols = {name: p.sym for name, p in NAMES.items()}
    leaves = [
        NAMES["a"].sym,
        NAMES["left.b"].sym,
        NAMES["v"].sym[0],
        NAMES["v"].sym[1],
        ca.SX(-1.5),
        ca.SX(1e-7),
    ]
    for _ in range(300):
        pool = list(leaves)
        for _ in range(8):
            x, y = (pool[int(rng.integers(len(pool)))] for _ in range(2))
            pool.append(
                [
                    x + y,
                    x - y,
                    x * y,
                    x / (y * y + 1),
                    -x,
                    ca.sin(x),
                    (x * x) ** 0.7,
                    1 / (x * x + 2),
                    ca.fabs(x) ** y,
                    x**3,
                    ca.fmin(x, y),
                ][int(rng.integers(11))]
            )
        made = pool[-1]
        assert evaluate(parse_expression(write_expression(made, symbols), NAMES)) == pytest.approx(
            evaluate(made), rel=1e-12
        ), write_expression(made, symbols)


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("2 * c + a", "'c' is no parameter: known: a, left.b, v, pi", 4),
        ("2 +* a", "this is no arithmetic", 3),
        ("", "this is no arithmetic", 0),
        ("a; a", "this is no arithmetic", 1),
        ("__import__('os').system('true')", "is no function", 0),
        ("a.__class__", "'a.__class__' is no parameter", 0),
        ("(1).real", "is not allowed", 0),
        ("[a, 1]", "is not allowed", 0),
        ("a if 1 else 2", "is not allowed", 0),
        ("1 + (lambda: 1)", "is not allowed", 5),
        ("a < 1", "is not allowed", 0),
        ("1j * a", "is not allowed", 0),
        ("True", "is not allowed", 0),
        ("'text'", "is not allowed", 0),
        ("a // 2", "is not allowed", 0),
        ("sin(1, 2)", "sin takes 1 number", 0),
        ("sin(x=1)", "sin takes 1 number", 0),
        ("v[2]", "there is no such component: write a number from 0 to 1", 2),
        ("v[a]", "there is no such component", 2),
        ("9**9**9**9", "the value is not finite", 0),
        ("1 / 0", "the value is not finite", 0),
        ("1" * 400, "the value is not finite", 0),
        ("sqrt(-1)", "the value is not finite", 0),
        ("1+" * 2000 + "1", "the expression has 4001 characters: 2000 are allowed", 0),
        ("a × 2", "'×' is no arithmetic", 2),
    ],
)
def test_what_is_no_arithmetic(text, reason, column):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, NAMES)
    assert reason in caught.value.reason
    assert caught.value.column == column


@pytest.mark.parametrize(
    "text", ["(" * 300 + "1" + ")" * 300, "-" * 1999 + "1", "1" + "+1" * 999, "sqrt(" * 300 + "1" + ")" * 300]
)
def test_nested_text_never_kills_the_process(text):
    """Deep nesting is either read or refused, depending on the interpreter's stack."""
    try:
        assert math.isfinite(float(ca.DM(parse_expression(text, {}))))
    except ExpressionError as error:
        refused = error.reason
        assert refused in ("this is no arithmetic", "this is nested too deeply")


def test_expressions_that_cannot_be_written():
    a = NAMES["a"].sym
    with pytest.raises(ModelError, match="an operation that has no text"):
        write_expression(ca.floor(a), {"a": a})
    long = a
    for _ in range(12):
        long = ca.sin(long) * long + long
    with pytest.raises(ModelError, match="more than 2000 characters"):
        write_expression(long, {"a": a})


# ---- mistakes ----

HEAD = '[parameters]\nlength = 0.4\n[bodies.leg]\nmass = 1\ninertia = 1\n[joints.hip]\ntype = "revolute"\nparent = "world"\nchild = "leg"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = \nplanar = true", "model file, line 1, is not TOML: Invalid value\n    name = \n           ^"),
        ("name = ", "model file is not TOML: Invalid value (at end of document)"),
        ('[bodies.leg]\nmass = "2 * lenght"\n[parameters]\nlength = 1', "model file, line 2: [bodies.leg] mass: 'lenght' is no parameter: did you mean 'length'? known: length, pi\n    mass = \"2 * lenght\"\n                ^"),
        ('[bodies.leg]\ncom = [0,\n  0, "1 +"]', 'line 3: [bodies.leg] com: this is no arithmetic\n      0, "1 +"]\n'),
        (HEAD + "dampin = 1", "line 10: [joints.hip] 'dampin' is unknown here: did you mean 'damping'?"),
        (HEAD + "[limbs]\n", "line 10: 'limbs' is unknown here: known: parameters"),
        (HEAD.replace('"revolute"', '"revolut"'), "line 7: [joints.hip] type is 'revolut': did you mean 'revolute'?"),
        (HEAD.replace('"leg"', '"log"'), "line 9: [joints.hip] child is 'log': did you mean 'leg'? known: world, leg"),
        (HEAD.replace("mass = 1", "mass = true"), "line 4: [bodies.leg] mass is True: a number, or an expression in quotes, is needed"),
        (HEAD.replace("mass = 1", "mass = -1"), "[bodies.leg] body 'leg' has mass -1 kg: it must not be negative"),
        (HEAD.replace("mass = 1", "com = [1, 2]"), "[bodies.leg] com is [1, 2]: three numbers are needed"),
        (HEAD.replace("mass = 1", 'com = "length"'), "[bodies.leg] com is 'length': three numbers are needed"),
        (HEAD.replace("inertia = 1", "inertia = [1, 2]"), "[bodies.leg] the inertia of body 'leg' has 2 numbers"),
        (HEAD.replace('type = "revolute"\n', ""), "[joints.hip] 'type' is missing"),
        (HEAD + 'axis = [0, 1, 1]', "[joints.hip] axis [0.0, 1.0, 1.0] has length 1.41421"),
        (HEAD + 'axis = [0, 1]', "[joints.hip] axis is [0, 1]: write 'x', '-y' or three numbers"),
        (HEAD + "stop = { low = 0, high = 1 }", "[joints.hip.stop] 'stiffness' is missing"),
        (HEAD + "stop = 3", "[joints.hip] stop is 3: a table is needed"),
        (HEAD + "actuated = 1", "[joints.hip] actuated is 1: true or false is needed"),
        (HEAD + "initial = [1, 2]", "joint 'hip' begins at [1.0, 2.0], None: 1 and 1 numbers are needed"),
        (HEAD + "[frames.foot]\nbody = 3", "[frames.foot] body is 3: a text in quotes is needed"),
        (HEAD + '[frames.foot]\nbody = "leg"\nrotation = [[1, 0, 0], [0, 1, 0]]', "three rows of three numbers are needed"),
        (HEAD + '[constraints.c]\ntype = "point"\na = "foot"', "[constraints.c] a is 'foot': known: world, leg"),
        (HEAD + '[constraints.c]\ntype = "coupled"\nfirst = "hip"\nsecond = "knee"', "[constraints.c] second is 'knee': known: hip"),
        (HEAD + '[constraints.c]\ntype = "rolling"\nframe = "leg"\naxis = "y"', "[constraints.c] 'radius' is missing"),
        ("[bodies]\nx = 1", "[bodies] x is 1: a table is needed, [bodies.x]"),
        ('[bodies.x]\nshapes = [{ kind = "cone" }]', "[bodies.x.shapes] kind is 'cone': known: sphere"),
        ('[bodies.x]\nshapes = [{ kind = "sphere" }]', "[bodies.x.shapes] a sphere needs radius"),
        ('[bodies.x]\nshapes = [{ kind = "sphere", radius = 1, size = 2 }]', "[bodies.x.shapes] 'size' is unknown here"),
        ('[bodies.x]\nshapes = [{ kind = "sphere", radius = 1, colour = "red" }]', "[bodies.x.shapes] the colour 'red' is none"),
        ("[parameters.x]\nvalue = 3\nbounds = [0, 1]", "[parameters.x] parameter 'x' is 3: allowed are 0 to 1"),
        ("[parameters.x]\nvalue = 3\nbounds = 1", "[parameters.x] bounds are two numbers"),
        ("[parameters.x]\nunit = 'm'", "[parameters.x] 'value' is missing"),
        ('[parameters]\n"no name" = 3', "parameter 'no name' is not a name"),
        ('mirror = true\n' + HEAD, "has nothing to mirror"),
        ('mirror = "up"\n' + HEAD, "there is no side 'up' to mirror"),
    ],
)  # fmt: skip
def test_mistakes_are_pointed_at(text, message):
    with pytest.raises(ModelError) as caught:
        modelfile.parse(text)
    assert message in str(caught.value)


def test_files(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        modelfile.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StorageError, match="no text in UTF-8"):
        modelfile.load(tmp_path / "bytes.toml")
    (tmp_path / "my leg.toml").write_text(HEAD)
    m = modelfile.load(tmp_path / "my leg.toml")
    assert m.name == "my_leg"
    assert "length" in {p.name for p in m.params.values()}  # also where nothing uses it


def test_the_other_side_may_be_the_one_written():
    text = 'mirror = "_r"\n' + HEAD.replace("leg", "leg_r").replace("hip", "hip_r") + "at = [0, -0.1, 0]\n"
    m = modelfile.parse(text)
    assert [float(v) for v in m.connections["hip_l"].X_PJ.p.elements()] == [0, 0.1, 0]


def test_what_a_file_cannot_say():
    m = Mechanism("m")
    m.joint(
        "j",
        m.world,
        m.body("b", 1.0, inertia=1.0),
        joints.custom(lambda q: Pose.at((q[0], q[0] ** 2, 0)), ("",)),
    )
    with pytest.raises(ModelError, match="joint 'j' is custom, which a model file cannot say"):
        modelfile.dump(m)
    m = Mechanism("m")
    m.joint("j", m.world, m.body("b", 1.0, inertia=1.0), joints.revolute())
    m.constrain(constraints.general("mine", lambda tree: tree.q))
    with pytest.raises(ModelError, match="constraint 'mine' is one of your own"):
        modelfile.dump(m)
    m = Mechanism("m")
    m.body("a", Param("mass", 1.0))
    m.body("b", Param("mass", 2.0))
    with pytest.raises(ModelError, match="two parameters of mechanism 'm' are called 'mass'"):
        modelfile.dump(m)


MIRRORED = """mirror = true
[bodies.leg_l]
mass = 2
com = [0, 0, -0.3]
inertia = 0.1
[joints.hip_l]
type = "revolute"
axis = "y"
parent = "world"
child = "leg_l"
at = [0, 0.1, 0]
initial = 0.3
rate = 0.7
"""


def begins(text):
    m = modelfile.parse(text)
    again = modelfile.parse(modelfile.dump(m))
    assert [c.initial for c in again.connections.values()] == [c.initial for c in m.connections.values()]
    run = strut.simulate(system(m), t=0.01)
    return {name: float(run[name][0]) for name in ("hip_l", "hip_r", "hip_l_rate", "hip_r_rate")}


def test_sides_of_a_mirrored_file_may_begin_apart():
    shared = {"hip_l": 0.3, "hip_r": 0.3, "hip_l_rate": 0.7, "hip_r_rate": 0.7}
    assert begins(MIRRORED) == shared
    assert begins(MIRRORED + "[initial]\nhip_r = -0.2\n[rates]\nhip_r = -0.5\n") == {
        **shared,
        "hip_r": -0.2,
        "hip_r_rate": -0.5,
    }
    # what is said of the side that is written holds for both, unless both are named
    assert begins(MIRRORED + "[initial]\nhip_l = 0.4") == {**shared, "hip_l": 0.4, "hip_r": 0.4}
    apart = begins(MIRRORED + '[initial]\nhip_l = "deg(30)"\nhip_r = "deg(-30)"')
    assert apart["hip_l"] == -apart["hip_r"] == pytest.approx(math.pi / 6)


def test_initial_values_that_do_not_fit_are_pointed_at():
    with pytest.raises(ModelError, match="'hip_x' begins somewhere, and is no joint: did you mean 'hip_"):
        modelfile.parse(MIRRORED + "[initial]\nhip_x = 1")
    with pytest.raises(ModelError, match="'hip_r' begins at 2 numbers: it has 1 velocities"):
        modelfile.parse(MIRRORED + "[rates]\nhip_r = [1, 2]")
