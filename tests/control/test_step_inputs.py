"""What may change from step to step: a torque, a push-off at the ankle, the set-point of a spring, each on a
machine that nobody knows beforehand."""

import numpy as np
import pytest

from strut import Param, contact, control, gait
from strut.mechanism import Mechanism, joints


@pytest.fixture(scope="module")
def strider():
    """Two legs on a slope, with a spring between them whose rest angle is a parameter, and an ankle."""
    m = Mechanism("strider", planar=True)
    leg = Param("leg", 1.0, "m", bounds=(0.1, 2))
    slide, foot = m.body("slide"), m.body("foot")
    m.joint("foot_x", m.world, slide, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", slide, foot, joints.prismatic("z"), actuated=False)
    stance = m.body("stance_leg", 5.0, (0, 0, 0.5 * leg))
    turn = joints.revolute((0, -1, 0))
    m.joint("stance", foot, stance, turn, initial=0.2187, rate=-1.0924, actuated=False)
    hip = m.body("hip", 10.0)
    m.joint("mount", stance, hip, joints.fixed(), at=(0, 0, leg))
    swing = m.body("swing_leg", 5.0, (0, 0, -0.5 * leg))
    m.joint("swing", hip, swing, turn, initial=-0.5421, rate=0.7150, actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -leg))
    spring = Param("hip_spring", 1.0, "N m/rad", bounds=(0, 100))
    rest = Param("hip_rest", 0.0, "rad", bounds=(-1, 1))
    legs = contact.Legs(
        base=("foot_x", "foot_z"),
        stance="stance_foot",
        swing="swing_foot",
        swap="auto",
        hip="hip",
        fall=0.75 * leg,
        drives=[
            contact.Between("hip", {"swing": 1}, spring=spring, rest=rest),
            contact.Between("ankle", {"stance": 1}),
        ],
        margin=0.02,
    )
    slope = Param("slope", np.deg2rad(3.0), "rad", bounds=(-0.2, 0.2))
    return gait.find(contact.stepping(m, legs, contact.plane(slope)))


def test_a_push_off_at_the_ankle_holds_the_gait_better(strider):
    held = control.step_lqr(strider, by="ankle_torque")
    assert abs(held.gait.multipliers[0]) < abs(strider.multipliers[0])
    assert held.gait.period == pytest.approx(strider.period, abs=1e-8)  # it is the same gait


def test_the_set_point_of_a_spring_is_a_torque(strider):
    """One radian of rest angle is the torque of the spring's stiffness: the same loop, the same multipliers."""
    by_torque, by_rest = (control.step_lqr(strider, by=by) for by in ("hip_torque", "hip_rest"))
    assert np.abs(by_rest.gait.multipliers) == pytest.approx(np.abs(by_torque.gait.multipliers), abs=1e-7)
