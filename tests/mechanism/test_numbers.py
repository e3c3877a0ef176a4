"""Every number of a mechanism is checked where it enters: finite, one where one is meant, and a rotation that is one."""

import gc
import inspect
from math import inf, nan

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, Param, joints, mechanism
from strut.errors import ModelError, ValueRangeError
from strut.mechanism import Stop, constraints, modelfile, shapes
from strut.mechanism.check import ROTATION_TOLERANCE


def build(planar=False, g=9.81, body=None, joint=None, kind=None, frame=None, constraint=None, shape=None):
    """A mechanism of two bodies with one argument given by the test."""
    m = Mechanism("m", planar=planar, g=g)
    first = m.body("first", 1.0, inertia=0.1)
    m.joint("lead", m.world, first, joints.revolute("y"))
    second = m.body(
        "second", **({"mass": 1.0, "com": (0, 0, -0.1), "inertia": (0.1, 0.1, 0.1)} | (body or {}))
    )
    m.joint("j", first, second, kind or joints.revolute("y"), **(joint or {}))
    m.frame("f", second, **(frame or {}))
    if constraint:
        m.constrain(constraint())
    if shape:
        m.shape(second, shape())
    return m


def entry(bad, size, k):
    return tuple(bad if i == k else 0.1 * float(i == 0) + 0.1 for i in range(size))


NUMBERS = {
    "gravity": (lambda bad: build(g=bad), "gravity"),
    "mass": (lambda bad: build(body={"mass": bad}), "the mass of body 'second'"),
    **{
        f"com {k}": (
            lambda bad, k=k: build(body={"com": entry(bad, 3, k)}),
            "the centre of mass of body 'second'",
        )
        for k in range(3)
    },
    "inertia": (lambda bad: build(body={"inertia": bad}), "the inertia of body 'second'"),
    **{
        f"inertia of 3, {k}": (lambda bad, k=k: build(body={"inertia": entry(bad, 3, k)}), "the inertia of")
        for k in range(3)
    },
    **{
        f"inertia of 6, {k}": (lambda bad, k=k: build(body={"inertia": entry(bad, 6, k)}), "the inertia of")
        for k in range(6)
    },
    "inertia matrix": (
        lambda bad: build(body={"inertia": [[1, 0, 0], [0, bad, 0], [0, 0, 1]]}),
        "the inertia of body 'second'",
    ),
    "inertia as SX": (
        lambda bad: build(body={"inertia": ca.SX(np.diag([1, bad, 1]))}),
        "the inertia of body 'second'",
    ),
    **{
        f"at {k}": (lambda bad, k=k: build(joint={"at": entry(bad, 3, k)}), "the place of joint 'j'")
        for k in range(3)
    },
    "rotation": (lambda bad: build(joint={"rotation": np.diag([1, bad, 1])}), "the rotation of joint 'j'"),
    **{
        key: (lambda bad, key=key: build(joint={key: bad}), f"the {key} of joint 'j'")
        for key in ("spring", "rest", "damping", "armature")
    },
    "initial": (lambda bad: build(joint={"initial": bad}), "an initial value of joint 'j'"),
    "rate": (lambda bad: build(joint={"rate": bad}), "an initial value of joint 'j'"),
    "stop stiffness": (
        lambda bad: build(joint={"stop": Stop(-1, 1, bad)}),
        "stiffness of the stop of joint 'j'",
    ),
    "stop damping": (
        lambda bad: build(joint={"stop": Stop(-1, 1, 1, bad)}),
        "damping of the stop of joint 'j'",
    ),
    "axis": (lambda bad: build(kind=joints.revolute((0, bad, 1))), "axis"),
    "pitch": (lambda bad: build(kind=joints.helical("x", bad)), "the pose of joint 'j'"),
    "gear ratio": (lambda bad: build(kind=joints.gear("lead", bad)), "the ratio of joint 'j'"),
    "gear offset": (lambda bad: build(kind=joints.gear("lead", 1.0, bad)), "the offset of joint 'j'"),
    "frame": (lambda bad: build(frame={"position": (0, bad, 0)}), "the place of frame 'f'"),
    "frame rotation": (
        lambda bad: build(frame={"rotation": np.diag([bad, 1, 1])}),
        "the rotation of frame 'f'",
    ),
    "coupled ratio": (
        lambda bad: build(constraint=lambda: constraints.coupled("c", "lead", "j", bad)),
        "the ratio of constraint 'c'",
    ),
    "coupled offset": (
        lambda bad: build(constraint=lambda: constraints.coupled("c", "lead", "j", 1, bad)),
        "the offset of constraint 'c'",
    ),
    "prescribed": (
        lambda bad: build(constraint=lambda: constraints.prescribed("c", "j", bad)),
        "the motion of constraint 'c'",
    ),
    "rolling": (
        lambda bad: build(constraint=lambda: constraints.rolling("c", "f", "y", bad)),
        "the radius of constraint 'c'",
    ),
    "hinge": (
        lambda bad: build(constraint=lambda: constraints.hinge("c", "f", "first", (bad, 0, 1))),
        "the axis of constraint 'c'",
    ),
    "no_slip": (
        lambda bad: build(constraint=lambda: constraints.no_slip("c", "f", (bad, 0, 1))),
        "the direction of constraint 'c'",
    ),
    "shape size": (lambda bad: build(shape=lambda: shapes.sphere(bad)), "a shape of body 'second'"),
    "shape place": (
        lambda bad: build(shape=lambda: shapes.box((1, 1, 1), (bad, 0, 0))),
        "a shape of body 'second'",
    ),
}


@pytest.mark.parametrize("bad", [nan, inf, -inf])
@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_that_is_not_finite_gets_in(name, bad):
    make, what = NUMBERS[name]
    with pytest.raises(ModelError, match=what):
        make(bad)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_parameters_make_of_it_is_checked_too(name):
    nothing = Param("nothing", 0.0)
    make, what = NUMBERS[name]
    if name in ("axis", "hinge", "no_slip"):
        return  # made of numbers only
    if name in ("rotation", "frame rotation"):
        return  # NumPy's matrices hold no expressions
    with pytest.raises(ModelError, match=what):
        make(1 / nothing if name != "inertia as SX" else inf)


@pytest.mark.parametrize("bad", [(nan, 1.0), (0.0, nan), (1.0, -1.0)])
@pytest.mark.parametrize(
    ("name", "what"), [("limits", "the limits of joint 'j'"), ("effort", "the effort of joint 'j'")]
)
def test_ranges_of_joints_have_two_ends_in_order(name, what, bad):
    with pytest.raises(ModelError, match=what):
        build(joint={name: bad})


def test_all_numeric_arguments_are_tried():
    """A new argument of these functions must join the table above."""
    tried = {
        Mechanism.body: {"name", "mass", "com", "inertia", "forgiving", "source"},
        Mechanism.joint: {
            "name",
            "parent",
            "child",
            "joint",
            "at",
            "rotation",
            "spring",
            "rest",
            "damping",
            "armature",
            "stop",
        }
        | {"actuated", "initial", "rate"}
        | {"limits", "effort"},  # whose ends may be infinite: see below
        Mechanism.frame: {"name", "body", "position", "rotation"},
        Stop: {"low", "high", "stiffness", "damping"},
    }
    for function, names in tried.items():
        assert set(inspect.signature(function).parameters) - {"self"} == names


@pytest.mark.parametrize("end", [nan, Param("zero", 0.0) * nan])
def test_stops_may_end_nowhere_but_not_at_nan(end):
    build(joint={"stop": Stop(-inf, 1.0, 100.0)})
    build(joint={"stop": Stop(0.0, inf, 100.0)})
    for stop in (Stop(end, 1.0, 100.0), Stop(0.0, end, 100.0)):
        with pytest.raises(ModelError, match="of the stop of joint 'j' is nan: a finite number is needed"):
            build(joint={"stop": stop})


def test_a_stop_with_one_end_runs():
    m = Mechanism("m", planar=True)
    b = m.body("b", 1.0, (0, 0, -0.5), 0.1)
    m.joint("j", m.world, b, joints.revolute("y"), stop=Stop(-inf, 0.1, 1e4, 10.0), initial=-0.5)
    run = strut.simulate(mechanism.system(m), t=1.5)
    assert run.ok
    assert run["j"].min() < -0.4
    assert 0.1 < run["j"].max() < 0.13
    assert run.ledger.residual < 1e-8  # the beginning of a stop is a kink, and no event


NO_ROTATIONS = {
    "stretched": (2 * np.eye(3), "no rotation: its columns must have length 1"),
    "zero": (np.zeros((3, 3)), "no rotation"),
    "mirrored": (-np.eye(3), "a mirror image with determinant -1"),
    "sheared": (np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1.0]]), "are off by 0.1"),
    "four digits": (np.array([[0.7071, -0.7071, 0], [0.7071, 0.7071, 0], [0, 0, 1]]), "rotation_of_rpy"),
    "a vector": ((0.0, 0.1, 0.2), "a 3 x 3 matrix is needed"),
}


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("name", NO_ROTATIONS)
def test_a_rotation_must_be_one(name, planar):
    R, message = NO_ROTATIONS[name]
    with pytest.raises(ModelError, match=f"the rotation of joint 'j' .*{message}"):
        build(planar, joint={"rotation": R})
    with pytest.raises(ModelError, match=f"the rotation of frame 'f' .*{message}"):
        build(planar, frame={"rotation": ca.SX(R) if name != "a vector" else R})
    if name != "a vector":
        with pytest.raises(ModelError, match=f"the rotation of a shape of body 'second' .*{message}"):
            build(planar, shape=lambda: shapes.box((1, 1, 1), rotation=ca.SX(R)))


def test_rotations_pass_as_they_come():
    R = strut.mechanism.spatial.rotation_of_rpy([0.1, -0.2, 0.3])
    numbers = np.array(ca.DM(R))
    rounded = np.round(numbers, 7)
    assert np.abs(rounded.T @ rounded - np.eye(3)).max() < ROTATION_TOLERANCE
    for given in (R, numbers, numbers.tolist(), rounded, ca.DM(numbers)):
        assert build(joint={"rotation": given}, frame={"rotation": given}).frames["f"].X_BF.R.shape == (3, 3)
    tilt = Param("tilt", 0.3)
    m = build(frame={"rotation": strut.mechanism.spatial.rotation_of_rpy([tilt, 0, 0])})
    assert "tilt" in [p.name for p in m.params.values()]


def test_custom_joints_turn_without_stretching():
    from strut.mechanism.spatial import Pose

    stretched = joints.custom(lambda q: Pose.at((0, 0, 0), (1 + q[0]) * ca.SX.eye(3)), ("",))
    build(kind=stretched)
    with pytest.raises(ModelError, match="the pose of joint 'j' where it begins is .* no rotation"):
        build(kind=stretched, joint={"initial": 0.5})
    with pytest.raises(ModelError, match=r"the pose of joint 'j', which begins at \(0, 0, 0, 0\), is nan"):
        build(kind=joints.spherical(), joint={"initial": (0, 0, 0, 0)})


def test_numbers_that_are_many_are_refused():
    for body in ({"mass": (1.0, 2.0)}, {"mass": Param("m", (1.0, 2.0))}):
        with pytest.raises(ModelError, match="the mass of body 'second' has 2 numbers: one is needed"):
            build(body=body)
    with pytest.raises(ModelError, match="axis is 'xyz'|axis .* three numbers"):
        build(kind=joints.revolute(("a", "b", "c")))


BOUND = {
    "mass": lambda p: build(body={"mass": p}),
    "inertia": lambda p: build(body={"inertia": p}),
    "damping": lambda p: build(joint={"damping": p}),
    "armature": lambda p: build(joint={"armature": p}),
    "stiffness": lambda p: build(joint={"stop": Stop(-1, 1, p)}),
}


@pytest.mark.parametrize("name", BOUND)
def test_parameters_stay_in_range_at_run_time(name):
    made = mechanism.system(BOUND[name](Param("number", 0.2)))
    for value, message in (
        (-0.1, "parameter 'number' is -0.1: allowed are 0 to"),
        (nan, "is nan: a finite"),
        (inf, "is inf: a finite"),
    ):
        with pytest.raises(ValueRangeError, match=message):
            strut.simulate(made, t=0.1, p={"number": value}, backend="virtual")


def test_a_bound_parameter_serves_again_when_its_mechanism_is_gone():
    weight = Param("weight", 2.0)
    build(body={"mass": weight})
    gc.collect()
    assert "weight" in [p.name for p in build(body={"mass": 2 * weight}).params.values()]


FILE = """name = "arm"
gravity = {gravity}
[bodies.b]
mass = {mass}
com = [0, 0, {com}]
inertia = {inertia}
[joints.j]
type = "revolute"
axis = [0, {axis}, 0]
parent = "world"
child = "b"
at = [{at}, 0, 0]
rotation = {rotation}
spring = {spring}
damping = {damping}
initial = {initial}
stop = {{ low = {low}, high = 1.0, stiffness = {stiffness} }}
"""
GOOD = {
    "gravity": "9.81",
    "mass": "1.0",
    "com": "-0.1",
    "inertia": "0.1",
    "axis": "1",
    "at": "0.0",
    "rotation": "[0, 0, 0]",
    "spring": "1.0",
    "damping": "0.1",
    "initial": "0.2",
    "low": "-inf",
    "stiffness": "10",
}


@pytest.mark.parametrize("bad", ["nan", "inf"])
@pytest.mark.parametrize("key", [key for key in GOOD if key != "rotation"])
def test_model_files_say_where_a_number_is_not_finite(key, bad):
    modelfile.parse(FILE.format(**GOOD), "arm.toml")
    text = FILE.format(**GOOD | {key: bad})
    before = FILE.format(**GOOD).splitlines()
    line = next(
        k for k, (row, good) in enumerate(zip(text.splitlines(), before, strict=True), 1) if row != good
    )
    if (key, bad) == ("low", "inf"):
        with pytest.raises(ModelError, match="begins at inf and ends at 1: low must not exceed high"):
            modelfile.parse(text, "arm.toml")
        return
    with pytest.raises(ModelError, match=rf"arm.toml, line {line}: .* is {bad}: a finite number is needed"):
        modelfile.parse(text, "arm.toml")


def test_model_files_refuse_rotations_that_are_none():
    for rotation in ("[[2, 0, 0], [0, 2, 0], [0, 0, 2]]", "[[-1, 0, 0], [0, -1, 0], [0, 0, -1]]"):
        with pytest.raises(
            ModelError, match=r"arm.toml, line \d+: \[joints.j\] the rotation of joint 'j' is"
        ):
            modelfile.parse(FILE.format(**GOOD | {"rotation": rotation}), "arm.toml")
