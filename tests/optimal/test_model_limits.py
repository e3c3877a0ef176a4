"""Limits that a model's file gives, of joints and of motors, reach plans without asking; runs may leave them."""

import math

import numpy as np
import pytest

from strut import actuator, contact, joints, mechanism, simulate
from strut.errors import ModelError
from strut.mechanism import Mechanism, mjcf, modelfile, urdf
from strut.optimal import Integral, Problem

LINK = (
    '<link name="{0}"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" '
    'iyy="0.1" iyz="0" izz="0.01"/></inertial></link>'
)
URDF = f"""<robot name="arm"><link name="world"/>{LINK.format("rod")}
<joint name="swing" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/>
<limit {{}}/></joint></robot>"""
MJCF = """<mujoco><compiler angle="radian" {compiler}/><option gravity="0 0 -9.81">{option}</option>
<default><motor {default}/></default>
<worldbody><body name="rod"><joint name="swing" axis="0 1 0" range="-0.5 0.7" {joint}/>
<inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.1 0.01"/></body></worldbody>
<actuator>{actuator}</actuator></mujoco>"""


def in_mjcf(actuators, compiler="", default="", joint="", option=""):
    return mjcf.parse(
        MJCF.format(actuator=actuators, compiler=compiler, default=default, joint=joint, option=option)
    )


def plan_to(system, angle):
    """Turn as far as possible in half a second, at some price for torque."""
    price = Integral("price", 1e-4 * system["swing_torque"] ** 2)
    problem = Problem(system).phase("turn", duration=0.5).begin(swing=0.0, swing_rate=0.0)
    return problem.minimise(price - angle * system["swing"]).solve(intervals=8)


@pytest.mark.parametrize(
    "robot",
    [
        urdf.parse(URDF.format('lower="-0.5" upper="0.7" effort="8" velocity="3"'), base="fixed"),
        in_mjcf('<motor joint="swing" gear="2" ctrlrange="-4 4"/>'),
    ],
    ids=["URDF", "MJCF"],
)
def test_limits_of_files_hold_in_plans(robot):
    system = mechanism.system(robot)
    problem = Problem(system)
    assert problem.bounds("x")[0][0] == pytest.approx(-0.5)
    assert problem.bounds("x")[1][0] == pytest.approx(0.7)
    assert problem.bounds("u")[0] == pytest.approx([-8.0])
    assert problem.bounds("u")[1] == pytest.approx([8.0])
    solved = plan_to(system, 1.0)
    assert solved.ok
    t = np.linspace(0, 0.5, 201)
    assert solved.at(t)["swing"].max() == pytest.approx(0.7, abs=1e-4)
    assert np.abs(solved.at(t)["swing_torque"]).max() < 8 + 1e-6
    # A run is held back by nothing: limits are for plans, stops and saturations for models.
    run = simulate(system, t=1.0, u={"swing_torque": 50.0})
    assert run["swing"][-1] > 0.7


@pytest.mark.parametrize(
    ("limit", "limits", "effort"),
    [
        ('lower="-1" upper="2" effort="5" velocity="1"', (-1.0, 2.0), (-5.0, 5.0)),
        ('lower="0" upper="0" effort="0" velocity="0"', None, None),
        ('effort="5" velocity="1"', None, (-5.0, 5.0)),
    ],
)
def test_what_a_urdf_says(limit, limits, effort):
    m = urdf.parse(URDF.format(limit), base="fixed")
    assert m.limits.get("swing") == limits
    assert m.efforts.get("swing") == effort
    continuous = urdf.parse(URDF.format('effort="3"').replace("revolute", "continuous"), base="fixed")
    assert continuous.efforts == {"swing": (-3.0, 3.0)}
    assert not continuous.limits


def test_a_urdf_with_limits_upside_down_is_refused():
    with pytest.raises(
        ModelError, match=r"the limits of joint 'swing' are \(1, -1\): the first must be smaller"
    ):
        urdf.parse(URDF.format('lower="1" upper="-1"'), base="fixed")
    with pytest.raises(
        ModelError, match=r"the effort of joint 'swing' is \(5, -5\): the first must be smaller"
    ):
        urdf.parse(URDF.format('lower="-1" upper="1" effort="-5"'), base="fixed")


@pytest.mark.parametrize(
    ("file", "effort"),
    [
        ({"actuators": '<motor joint="swing" gear="-2" ctrlrange="-1 3"/>'}, (-6.0, 2.0)),
        ({"actuators": '<motor joint="swing" ctrlrange="-9 9" forcerange="-4 5"/>'}, (-4.0, 5.0)),
        ({"actuators": '<motor joint="swing"/>', "default": 'ctrlrange="-2 2" gear="3"'}, (-6.0, 6.0)),
        ({"actuators": '<motor joint="swing" ctrlrange="-2 2" ctrllimited="false"/>'}, None),
        ({"actuators": '<motor joint="swing" ctrlrange="-2 2"/>', "compiler": 'autolimits="false"'}, None),
        (
            {"actuators": '<motor joint="swing" ctrlrange="-2 2"/>', "option": '<flag clampctrl="disable"/>'},
            None,
        ),
        # The control of a servo is an angle: only its force is limited.
        ({"actuators": '<position joint="swing" kp="9" ctrlrange="-1 1" forcerange="-7 7"/>'}, (-7.0, 7.0)),
        ({"actuators": '<position joint="swing" kp="9" ctrlrange="-1 1"/>'}, None),
        ({"actuators": '<general joint="swing" gainprm="5" ctrlrange="-1 1"/>'}, (-5.0, 5.0)),
        # Two motors on one joint add up; one without a limit has none.
        ({"actuators": '<motor joint="swing" ctrlrange="-1 1"/>' * 2}, (-2.0, 2.0)),
        ({"actuators": '<motor joint="swing" ctrlrange="-1 1"/><motor joint="swing"/>'}, None),
        ({"actuators": '<motor joint="swing"/>', "joint": 'actuatorfrcrange="-3 4"'}, (-3.0, 4.0)),
        (
            {
                "actuators": '<motor joint="swing" ctrlrange="-9 2"/>',
                "joint": 'actuatorfrcrange="-3 4"',
            },
            (-3.0, 2.0),
        ),
    ],
)
def test_what_an_mjcf_says(file, effort):
    assert in_mjcf(**file).efforts.get("swing") == effort


def test_an_empty_range_of_an_mjcf_is_none():
    assert (
        "swing"
        not in mjcf.parse(
            MJCF.format(actuator="", compiler="", default="", joint="", option="").replace("-0.5 0.7", "0 0")
        ).limits
    )


def arm():
    m = Mechanism("arm")
    rod = m.body("rod_l", 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01))
    m.joint("swing_l", m.world, rod, joints.revolute("y"), limits=(-0.5, 0.7), effort=8.0)
    return m


def test_they_survive_mirrors_and_files():
    m = arm()
    m.mirror("_l")
    assert m.limits == {"swing_l": (-0.5, 0.7), "swing_r": (-0.5, 0.7)}
    assert m.efforts == {"swing_l": (-8.0, 8.0), "swing_r": (-8.0, 8.0)}
    again = modelfile.parse(modelfile.dump(m))
    assert (again.limits, again.efforts) == (m.limits, m.efforts)
    again = urdf.parse(urdf.dump(m), base="fixed")
    assert (again.limits, again.efforts) == (m.limits, m.efforts)
    with pytest.raises(ModelError, match="the effort of joint 'a' is 'x': give a positive number"):
        m.joint("a", m.world, m.body("b"), joints.revolute("y"), effort="x")
    with pytest.raises(ModelError, match="has an effort, but 3 velocities"):
        m.joint("c", m.world, m.body("d"), joints.spherical(), effort=1.0)


@pytest.mark.parametrize("kind", ["series", "parallel"])
def test_a_motor_behind_a_spring_gives_no_more(kind):
    system = mechanism.system(arm())
    elastic = actuator.driven(system, kind)
    assert [q.limits for q in elastic.u] == [(-8.0, 8.0)]


def test_they_hold_for_walkers_on_rigid_ground():
    m = Mechanism("hopper", planar=True)
    trunk = m.body("trunk", 5.0, inertia=0.1)
    leg = m.body("leg", 1.0, (0, 0, -0.25), inertia=0.02)
    m.joint("base", m.world, trunk, joints.planar())
    m.joint("hip", trunk, leg, joints.revolute("y"), limits=(-0.4, 0.6), effort=(-20.0, 30.0))
    m.frame("foot", leg, (0, 0, -0.5))
    walker = contact.rigid(m, [contact.point("foot")])
    low, high = Problem(walker).bounds("x")
    at = walker.labels("x").index("hip")
    assert (low[at], high[at]) == (-0.4, 0.6)
    motor = walker.labels("u").index("hip_torque")
    assert tuple(float(ends[motor]) for ends in Problem(walker).bounds("u")) == (-20.0, 30.0)
    assert math.isinf(low[walker.labels("x").index("base.x")])
