"""Springs in the joints of a linkage: what they do, store and lose."""

import numpy as np
import pytest

import strut
from strut import linkage, mechanism
from strut.errors import UnknownNameError
from tests.linkage.test_motors import FOUR_BAR, four_bar, four_bar_by_hand

STIFFNESS, REST, DAMPING = 30.0, 0.4, 0.5


def sprung():
    machine = four_bar()
    linkage.add_springs(machine, FOUR_BAR, linkage.spring_parameters(FOUR_BAR))
    return mechanism.system(machine, project=0.01)


def test_a_spring_in_a_joint_that_closes_a_loop():
    """It moves the machine as the same spring does where that joint carries a link; it keeps k/2 (q - rest)^2."""
    machine = sprung().using(j3_spring_stiffness=STIFFNESS, j3_spring_rest=REST, j3_spring_damping=DAMPING)
    run = strut.simulate(machine, 0.4, rtol=1e-9)
    by_hand = four_bar_by_hand(spring=STIFFNESS, rest=REST, damping=DAMPING)
    other = strut.simulate(by_hand, 0.4, rtol=1e-9)
    assert run["knee"][-1] == pytest.approx(other["knee"][-1], abs=1e-7)
    loose = strut.simulate(sprung(), 0.4)
    assert abs(run["knee"][-1] - loose["knee"][-1]) > 0.01
    angle = run["knee"] + run["j2"] - run["j1"]  # of b less that of a
    energy = run.ledger.stored["j3_spring"]
    np.testing.assert_allclose(energy, STIFFNESS / 2 * (angle - REST) ** 2, atol=1e-12)
    times = np.linspace(0, 0.4, 2001)
    rate = sum(sign * run.at(times)[f"{name}_rate"] for name, sign in (("knee", 1), ("j2", 1), ("j1", -1)))
    lost = np.trapezoid(DAMPING * rate**2, times)
    assert run.ledger.dissipated["j3_spring_loss"][-1] == pytest.approx(lost, rel=1e-4)
    assert run.ledger.residual < 1e-6


def test_springs_are_off_unless_told():
    run = strut.simulate(sprung(), 0.3, rtol=1e-9)
    bare = strut.simulate(mechanism.system(four_bar(), project=0.01), 0.3, rtol=1e-9)
    assert run["knee"][-1] == pytest.approx(bare["knee"][-1], abs=1e-9)
    assert not np.any(run.ledger.stored["j1_spring"])


def test_springs_without_parameters():
    with pytest.raises(
        UnknownNameError, match="springs lack the parameter 'j1_spring_stiffness': give those of"
    ):
        linkage.add_springs(four_bar(), FOUR_BAR, {})


def test_a_spring_keeps_energy_and_gives_it_back():
    """Without a damper nothing is lost: a spring that is wound up drives the limb, and is wound up again by
    it; the sum of all accounts stays."""
    machine = sprung().using(j3_spring_stiffness=STIFFNESS, j3_spring_rest=REST)
    run = strut.simulate(machine, 3.0, rtol=1e-10, atol=1e-12)
    kept = run.ledger.stored["j3_spring"]
    assert kept[0] == pytest.approx(STIFFNESS / 2 * REST**2)  # 2.4 J
    low = int(np.argmin(kept))
    assert kept[0] - kept[low] > 0.5  # [J] that it has given
    assert kept[low:].max() > 0.95 * kept[0]
    total = sum(run.ledger.stored.values())
    lost = sum(float(each[-1]) for each in run.ledger.dissipated.values())
    assert total[-1] + lost == pytest.approx(total[0], abs=1e-6)
    assert abs(float(run.ledger.dissipated["j3_spring_loss"][-1])) < 1e-12
