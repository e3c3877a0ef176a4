"""Springs in the drives of walkers on a floating base: what is left and right, and where motors begin."""

import numpy as np
import pytest

from strut import actuator
from strut.gait.section import default_section
from strut.optimal.walk.check_walker import check_symmetry, check_walker
from strut.optimal.walk.kinematic_stride import kinematic_stride
from tests.optimal.floating import on_rigid_ground, telescopic

ROUNDING = 1e-9  # [rad] and [m]: one Newton step on linear springs


@pytest.fixture(scope="module")
def walker():
    return on_rigid_ground(telescopic())


@pytest.mark.parametrize("kind", ["series", "parallel"])
def test_motors_change_sides_with_their_joints(walker, kind):
    """Exchanged, the driven machine moves as its mirror image: torques and motors have images, too."""
    driven = actuator.driven(walker, kind).using(
        {name: 30.0 for name in actuator.constants(walker, kind) if name.endswith("spring")}
    )
    check_symmetry(driven)
    assert str(driven.symmetry["hip_l_motor_torque"]) == "hip_r_motor_torque"
    check_walker(driven, default_section(driven))  # a landing is an impact also behind springs


def test_drives_without_images_get_none(walker):
    states_alone = {q.name for q in (*walker.x, *walker.z)}
    half = walker.replace(symmetry={n: e for n, e in walker.symmetry.items() if n in states_alone})
    assert not {q.name for q in actuator.series(half).u} & set(actuator.series(half).symmetry)


def test_a_stride_begins_with_springs_at_rest(walker):
    """A guess in which motors stay where a run begins would hold their springs under torque all along."""
    driven = actuator.series(walker)
    stride = kinematic_stride(driven, default_section(driven), speed=0.5).guess
    for joint in ("hip_l", "hip_r", "leg_l", "leg_r"):
        assert np.ptp(stride[joint]) > 0
        assert stride[f"{joint}_motor"] == pytest.approx(stride[joint], abs=ROUNDING)
        assert stride[f"{joint}_motor_rate"] == pytest.approx(stride[f"{joint}_rate"], abs=1e-6)
