"""What a new user gets wrong in a mechanism is answered by a sentence that names it."""

import logging
import time

import numpy as np
import pytest

import strut
from strut import Mechanism, Param, contact, joints, mechanism
from strut.codegen import cache as build
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import Stop, constraints, mjcf, modelfile, urdf
from strut.mechanism.check import InertiaWarning
from strut.system.quantity import own_value


def arm(planar=True, **body):
    m = Mechanism("arm", planar=planar)
    return m, m.body("upper", **({"mass": 2.0, "com": (0, 0, -0.2), "inertia": 0.03} | body))


def joined(joint=None, **more):
    m, upper = arm()
    m.joint("s", m.world, upper, joint or joints.revolute("y"), **more)
    return m


def by_name(parent):
    m, upper = arm()
    m.body("lower", 1.0)
    m.joint("s", parent, upper, joints.revolute())


NEGATIVE = Param("d", -0.1)
MISTAKES = {
    "world by name": (
        lambda: by_name("world"),
        "joint 's' of mechanism 'arm' is given 'world' for a body: give the body itself, m.world",
    ),
    "body by name": (
        lambda: by_name("lower"),
        r"given 'lower' for a body: give the body itself, .* or m.bodies\['lower'\]",
    ),
    "a slip in a name": (lambda: by_name("lowr"), "given 'lowr' for a body: .* did you mean 'lower'"),
    "a frame's body by name": (
        lambda: arm()[0].frame("f", "upper"),
        "frame 'f' of mechanism 'arm' is given 'upper' for a body",
    ),
    "uncalled": (
        lambda: joined(joints.revolute),
        r"joint 's' is of type revolute, which is no joint: write joints.revolute\(\)",
    ),
    "a word": (
        lambda: joined("revolute"),
        r"joint 's' is of type revolute, which is no joint: write joints.revolute\(\)",
    ),
    "a number": (lambda: joined(3.0), "joint 's' is of type 3.0, which is no joint: use joints.revolute"),
    "stop as a pair": (
        lambda: joined(stop=(-1, 1)),
        r"the stop of joint 's' is \(-1, 1\): give its stiffness too, stop=Stop\(-1, 1, stiffness\)",
    ),
    "stop the wrong way round": (
        lambda: joined(stop=Stop(1, -1, 100)),
        "the stop of joint 's' begins at 1 and ends at -1",
    ),
    "stop of parameters": (
        lambda: joined(stop=Stop(0, Param("most", -1.0), 100)),
        "begins at 0 and ends at -1: low must not exceed high",
    ),
    "damping": (lambda: joined(damping=-0.1), "the damping of joint 's' is -0.1: it must not be negative"),
    "damping of a parameter": (lambda: joined(damping=2 * NEGATIVE), "the damping of joint 's' is -0.2"),
    "mass": (lambda: arm(mass=-2.0), "body 'upper' has mass -2 kg"),
    "mass of a parameter": (lambda: arm(mass=Param("m", -2.0)), "body 'upper' has mass -2 kg"),
    "inertia": (
        lambda: arm(False, inertia=(0.1, 0.1, 0.3)),
        "body 'upper' has principal moments of inertia 0.1, 0.1 and 0.3",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name):
    make, message = MISTAKES[name]
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("scale", [1.0, 1.009])
def test_rounded_inertias_pass(scale):
    _, body = arm(False, inertia=(0.1, 0.1, 0.2 * scale))
    assert body.name == "upper"


def test_a_mass_cannot_be_set_below_zero():
    weight = Param("weight", 2.0, "kg")
    m, upper = arm(mass=weight)
    m.joint("s", m.world, upper, joints.revolute())
    m.frame("tip", upper, (0, 0, -weight))  # the parameter itself is still at hand
    made = mechanism.system(m)
    with pytest.raises(ValueRangeError, match="parameter 'weight' is -2 kg: allowed are 0 to"):
        strut.simulate(made, t=0.1, p={"weight": -2})
    both = strut.join(
        "both", made, strut.System("other", p=[weight], outputs={"twice": 2 * weight}), share=["weight"]
    )
    with pytest.raises(ValueRangeError, match="parameter 'weight' is -2"):
        both.using(weight=-2)
    assert both.using(weight=3)["twice"] is not None


OUT_OF_PLANE = {
    "revolute": lambda: joints.revolute("x"),
    "tilted": lambda: joints.revolute((0.0, 0.6, 0.8)),
    "prismatic": lambda: joints.prismatic("y"),
    "spherical": joints.spherical,
    "free": joints.free,
    "planar": lambda: joints.planar("z"),
    "helical": lambda: joints.helical("y", Param("pitch", 0.1)),
    "gear": lambda: joints.gear("first", 1.0, of=joints.revolute("z")),
}
IN_PLANE = {
    "revolute": lambda: joints.revolute("-y"),
    "prismatic": lambda: joints.prismatic((0.6, 0.0, 0.8)),
    "planar": joints.planar,
    "gear": lambda: joints.gear("first"),
}


def chain(joint, **more):
    m, upper = arm()
    lower = m.body("lower", 1.0)
    m.joint("first", m.world, upper, joints.revolute())
    m.joint("second", upper, lower, joint, **more)
    return m


@pytest.mark.parametrize("name", OUT_OF_PLANE)
def test_joints_that_leave_the_plane_are_named(name):
    with pytest.raises(
        ModelError, match=r"joint 'second' \(.*\) leaves the x-z plane of the planar mechanism"
    ):
        mechanism.Tree(chain(OUT_OF_PLANE[name]()))


@pytest.mark.parametrize("name", IN_PLANE)
def test_joints_in_the_plane_pass(name):
    assert mechanism.Tree(chain(IN_PLANE[name]())).nv >= 1


def test_what_counts_is_the_axis_in_the_world():
    quarter = mechanism.Pose.at(rotation=mechanism.spatial.rotation_of_rpy([np.pi / 2, 0.0, 0.0])).R
    assert mechanism.Tree(chain(joints.revolute("z"), rotation=quarter)).nv == 2
    with pytest.raises(ModelError, match="joint 'second'"):
        mechanism.Tree(chain(joints.revolute("y"), rotation=quarter))


def test_own_values_are_those_of_parameters_alone():
    both, state = Param("both", [1.0, 4.0]), strut.State("x", 2.0)
    assert own_value(3 * both[1] - both[0]).item() == 11.0
    assert own_value(state * 2) is None


# ---- contact ----


def box():
    m = Mechanism("box", planar=True)
    body = m.body("box", 2.0, inertia=0.05)
    m.joint("base", m.world, body, joints.planar(), initial=(0, 0.6, 0.2), actuated=False)
    m.frame("foot", body, (0, 0, -0.1))
    return m


LAW = contact.linear(1e4)
GROUNDS = {
    "rigid": contact.rigid,
    "compliant": lambda *a, **k: contact.compliant(*a, law=LAW, **k),
    "time_stepped": contact.time_stepped,
}


@pytest.mark.parametrize("name", GROUNDS)
def test_feet_and_ground_are_checked(name):
    make = GROUNDS[name]
    with pytest.raises(
        ModelError, match=r"the ground is 0.1, which is no ground: write contact.plane\(0.1\)"
    ):
        make(box(), ["foot"], 0.1)
    with pytest.raises(ModelError, match=r"the feet are 'foot', one alone: give a list, \['foot'\]"):
        make(box(), "foot")


@pytest.mark.parametrize("name", ["rigid", "compliant"])
def test_a_foot_that_cannot_come_to_the_ground_is_named(name):
    m = Mechanism("swing", planar=True)
    m.joint("pivot", m.world, m.body("rod", 1.0, (0, 0, -0.5)), joints.revolute())
    m.frame("top", m.bodies["rod"])
    with pytest.raises(ModelError, match="foot 'top' can neither reach nor leave the ground"):
        GROUNDS[name](m, ["top"])


@pytest.mark.parametrize("name", ["rigid", "time_stepped"])
def test_friction_of_hard_ground_is_a_number(name):
    with pytest.raises(ModelError, match="hard ground wants Coulomb's coefficient, a number"):
        GROUNDS[name](box(), ["foot"], friction=contact.coulomb(0.5))
    for friction in (-0.5, Param("mu", -0.5)):
        with pytest.raises(ModelError, match="the coefficient of friction is -0.5: it must not be negative"):
            GROUNDS[name](box(), ["foot"], friction=friction)


def test_laws_see_the_values_of_parameters():
    with pytest.raises(ModelError, match="the mu of a contact law is -1"):
        contact.coulomb(Param("mu", -1.0))
    with pytest.raises(ModelError, match="the stiffness of a contact law is 0"):
        contact.linear(Param("k", 0.0))


@pytest.mark.parametrize("slope", [20, Param("slope", -20.0)])
def test_a_slope_in_degrees_is_found_out(slope):
    with pytest.raises(ModelError, match=r"are these degrees\? Then write strut.deg\(-?20\)"):
        contact.plane(slope)


# ---- closure ----


def test_what_does_not_close_is_named_with_its_unit():
    m, upper = arm()
    m.joint("s", m.world, upper, joints.revolute())
    m.frame("tip", upper, (0, 0, -1))
    m.frame("far_post", m.world, (3, 0, 0))
    m.constrain(constraints.point("far", "tip", "far_post"))
    with pytest.raises(ModelError, match=r"cannot close constraint 'far': 2\.\d* m remain along x"):
        mechanism.system(m)


# ---- files ----

PARAMETER = '[parameters.a]\nvalue = {}\nunit = "{}"\nbounds = [{}, {}]\n[bodies.b]\nmass = 1\n[joints.j]\ntype = "revolute"\naxis = "y"\nparent = "world"\nchild = "b"\ninitial = {}\n'


@pytest.mark.parametrize(
    ("unit", "factor", "si"),
    [
        ("cm", 0.01, "m"),
        ("deg", np.pi / 180, "rad"),
        ("g", 1e-3, "kg"),
        ("kN/m", 1e3, "N/m"),
        ("N m", 1, "N m"),
        ("", 1, ""),
    ],
)
def test_units_of_parameters_become_si(unit, factor, si):
    m = modelfile.parse(PARAMETER.format(20, unit, 0, 50, 0))
    a = next(q for q in m.params.values() if q.name == "a")
    assert a.value[0] == pytest.approx(20 * factor, rel=1e-15)
    assert a.bounds == pytest.approx((0, 50 * factor), rel=1e-15)
    assert a.unit == si


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [("N/mm", "N/m"), ("N m/deg", "N m/rad"), ("rpm", "rad/s"), ("m/h", "m/s"), ("lb", "kg")],
)
def test_other_units_are_refused_with_the_one_to_use(unit, wanted):
    with pytest.raises(ModelError, match=f"the unit '{unit}' is not SI: give the value in {wanted}"):
        modelfile.parse(PARAMETER.format(20, unit, 0, 50, 0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"20deg"', r"initial: a number has no unit here: write deg\(20\)"),
        ('"20 cm"', "write the number alone"),
    ],
)
def test_a_number_with_a_unit_is_told_what_to_write(text, message):
    with pytest.raises(ModelError, match=message):
        modelfile.parse(PARAMETER.format(1, "m", 0, 50, text))


def test_a_motor_of_a_joint_that_does_not_exist():
    text = '<mujoco><worldbody><body><joint name="shoulder"/><geom size="0.1"/></body></worldbody><actuator><motor joint="sholder"/></actuator></mujoco>'
    with pytest.raises(UnknownNameError, match="an actuator drives joint 'sholder': did you mean 'shoulder'"):
        mjcf.parse(text)


def test_imports_warn_of_an_impossible_inertia_and_keep_limits():
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-1" upper="2"/></joint>'
    with pytest.warns(InertiaWarning, match="body 'b' has principal moments of inertia 1, 1 and 3"):
        m = urdf.parse(f'<robot name="r">{link.format("a", 1)}{link.format("b", 3)}{joint}</robot>')
    assert m.limits == {"j": (-1.0, 2.0)}
    assert m.connections["j"].stop is None


# ---- running ----


def test_a_mechanism_is_not_yet_a_system():
    with pytest.raises(
        ModelError, match=r"'arm' is a Mechanism, not a System: simulate mechanism.system\(m\)"
    ):
        strut.simulate(joined(), t=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"x0": {"s_torque": 1}},
            r"'s_torque' of 'arm' is an input, not a state: give it as u=\{'s_torque': ...\}",
        ),
        ({"u": {"s": 1}}, r"'s' of 'arm' is a state, not an input: give it as x0="),
        ({"x0": {"g": 1}}, r"is a parameter, not a state: give it as p="),
        ({"x0": {"com_z": 1}}, "'com_z' of 'arm' is an output: it follows from the states"),
        ({"u": {"s_tork": 1}}, "'s_tork' is not an input of 'arm': did you mean 's_torque'"),
    ],
)
def test_values_given_in_the_wrong_place(given, message):
    with pytest.raises(UnknownNameError, match=message):
        strut.simulate(mechanism.system(joined()), t=0.1, **given)


def test_discrete_states_are_given_as_z0():
    with pytest.raises(
        UnknownNameError,
        match=r"'foot_on' of 'box' is a discrete state, not a state: give it as z0=\{'foot_on': ...\}",
    ):
        strut.simulate(contact.rigid(box(), ["foot"]), t=0.1, x0={"foot_on": 1})


def test_the_account_names_what_it_has_and_prints_as_a_table():
    books = strut.simulate(mechanism.system(joined(damping=0.1, initial=1.0)), t=1).ledger
    with pytest.raises(
        UnknownNameError, match="there is no 'kin' in this part of the energy account: .*kinetic"
    ):
        books.stored["kin"]
    assert "kin" not in books.stored
    assert books.stored.get("kin") is None
    lines = repr(books).splitlines()
    assert lines[0] == "energy account, changes from 0 to 1 s [J]"
    assert any(line.split()[0] == "kinetic" and float(line.split()[-1]) > 0 for line in lines)
    assert lines[-1].split()[0] == "residual"


def test_long_compilations_are_announced(caplog, monkeypatch):
    monkeypatch.setattr(build, "QUIET_TIME", 0.01)
    with caplog.at_level(logging.INFO, logger="strut"), build._announce_if_slow("machine"):
        time.sleep(0.2)
    assert [r.getMessage() for r in caplog.records] == ["compiling machine (once; kept in the cache)"]
    caplog.clear()
    monkeypatch.setattr(build, "QUIET_TIME", 10.0)
    with caplog.at_level(logging.INFO, logger="strut"), build._announce_if_slow("machine"):
        pass
    assert not caplog.records


@pytest.mark.parametrize(
    ("joint", "limits", "sentence"),
    [
        (
            joints.revolute("y"),
            (2.0, 0.1),
            r"the limits of .*'j'.* are \(2, 0.1\): the first must be smaller",
        ),
        (joints.revolute("y"), 3.0, r"the limits of .*'j'.* are 3.0: give two numbers \(low, high\)"),
        (joints.planar(), (0.0, 1.0), "has limits, but 3 coordinates: limits are for joints with one"),
    ],
)
def test_limits_of_joints_that_make_no_sense_are_refused(joint, limits, sentence):
    m = Mechanism("m", planar=True)
    with pytest.raises(ModelError, match=sentence):
        m.joint("j", m.world, m.body("b", 1.0, inertia=1.0), joint, limits=limits)


def test_limits_of_joints_are_for_plans_and_do_not_hold_a_run():
    m = Mechanism("m", planar=True)
    m.joint(
        "j", m.world, m.body("b", 1.0, (0, 0, -1), 1.0), joints.revolute("y"), initial=3.0, limits=(-1, 2)
    )
    made = strut.mechanism.system(m)
    assert made.x[0].limits == (-1.0, 2.0)
    assert made.x[0].range == (-1.0, 2.0)
    assert strut.simulate(made, t=0.1).ok
