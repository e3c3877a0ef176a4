"""The exchange of left and right of machines on the ground: worked out or given, checked, refused."""

import numpy as np
import pytest

import strut
from strut import mechanism
from strut.errors import ModelError
from strut.gait.exchange import mirror
from strut.optimal.walk.check_walker import check_symmetry
from strut.system import start
from tests.optimal.floating import on_rigid_ground, telescopic


@pytest.fixture(scope="module")
def walker():
    return on_rigid_ground(telescopic())


def test_states_feet_and_inputs_are_exchanged(walker):
    x = np.arange(1.0, walker.size("x") + 1)
    z = np.array([1.0, 0.0])
    names, flags = walker.labels("x"), walker.labels("z")
    x1, z1 = mirror(walker, x, z, start(walker).p)
    before, after = dict(zip(names, x, strict=True)), dict(zip(names, x1, strict=True))
    assert after["hip_l"] == before["hip_r"]
    assert after["leg_r_rate"] == before["leg_l_rate"]
    assert after["base.pitch"] == before["base.pitch"]
    assert dict(zip(flags, z1, strict=True)) == {flags[0]: 0.0, flags[1]: 1.0}
    twice, flags_again = mirror(walker, x1, z1, start(walker).p)
    assert (twice == x).all()
    assert (flags_again == z).all()
    assert str(walker.symmetry["hip_l_torque"]) == "hip_r_torque"
    assert [(f.name, f.opposite) for f in walker.walk.feet] == [("foot_l", "foot_r"), ("foot_r", "foot_l")]


def test_worked_out_or_given_it_is_the_same(walker):
    m = telescopic()
    given = on_rigid_ground(m, symmetry=mechanism.symmetry(m))
    assert {n: str(e) for n, e in given.symmetry.items()} == {n: str(e) for n, e in walker.symmetry.items()}
    check_symmetry(walker)
    check_symmetry(given)


def test_the_place_of_a_foot_is_on_the_ground_where_its_gap_is_zero(walker):
    begin = start(walker)
    for foot in walker.walk.feet:
        f = walker.function("f", [foot.at, walker[foot.gap]], clock=False)
        at, gap = f(begin.x, begin.z, begin.u, begin.p)
        assert float(at[2]) == pytest.approx(float(gap))  # level ground


def test_words_that_are_no_symmetry_and_symmetries_of_other_machines_are_refused():
    with pytest.raises(
        ModelError, match="symmetry is 'mirror': give 'auto', what mechanism.symmetry returns"
    ):
        on_rigid_ground(telescopic(), symmetry="mirror")
    other = telescopic(sides=("_left", "_right"))
    with pytest.raises(ModelError, match="which 'telescopic' does not have: it is that of another mechanism"):
        on_rigid_ground(telescopic(), symmetry=mechanism.symmetry(other, sides=("_left", "_right")))


def test_unequal_legs_are_named_when_the_symmetry_is_worked_out():
    with pytest.raises(ModelError, match="the inertia of body 'shank_r' is not the mirror image"):
        on_rigid_ground(telescopic(masses=(2.0, 2.5)))


def test_a_run_of_it_is_saved_and_loaded(walker, tmp_path):
    """A run names feet; where they are, as expressions, stays with the system."""
    run = strut.simulate(walker, t=0.05)
    run.save(tmp_path / "run.h5")
    feet = strut.Trajectory.load(tmp_path / "run.h5").names.feet
    assert [foot.opposite for foot in feet] == [foot.opposite for foot in walker.walk.feet]
    assert all(foot.at is None for foot in feet)


def test_no_velocity_chosen_is_none_chosen():
    biped = telescopic()
    assert mechanism.system(biped, reduced=np.array([])).labels("x") == mechanism.system(biped).labels("x")
