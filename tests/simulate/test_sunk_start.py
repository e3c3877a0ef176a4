"""What is said of a machine that begins a little inside rigid ground, which lifts it out."""

import warnings

import pytest

import strut
from strut import contact
from strut.simulate import LedgerWarning
from tests.cli.test_run_begins import hopper, warnings_of
from tests.contact.machines import box, weight

DEPTH = 3e-4
"""[m] How deep they begin: more than rounding, less than what ends a run."""


@pytest.mark.parametrize("friction", [None, 0.5])
def test_the_account_names_the_foot_that_is_lifted_out_of_rigid_ground(friction):
    machine, feet = box(mass=2.0, size=0.2, height=0.1 - DEPTH)
    with pytest.warns(LedgerWarning) as caught:
        run = strut.simulate(contact.rigid(machine, feet, friction=friction), 1)
    (said,) = [str(each.message) for each in caught]
    lifted = 2.0 * 9.81 * DEPTH
    assert abs(run.ledger.imbalance[-1]) == pytest.approx(lifted, rel=1e-3)
    assert said == (
        f"the energy account of 'box' does not close: +{lifted:.3g} J of {lifted:.3g} J are unexplained; "
        "'foot0' begins 0.3 mm in the ground (and 1 other no deeper), which is rigid there and lifts it out, and "
        "no entry of the account has that energy; let the machine begin 0.3 mm higher"
    )


def test_it_is_said_where_much_else_moves():
    """A box that is thrown along the ground moves a thousand times the energy."""
    machine, feet = box(height=0.1 - DEPTH)
    sliding = contact.rigid(machine, feet, friction=0.5)
    with pytest.warns(LedgerWarning, match="'foot0' begins 0.3 mm in the ground"):
        run = strut.simulate(sliding, 1, x0={"base.vx": 5.0})
    assert run.ledger.relative < 1e-3


def test_who_begins_on_or_above_the_ground_is_told_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for height in (0.0, 0.01):
            strut.simulate(contact.rigid(weight(height=height), ["foot"]), 1)


@pytest.mark.filterwarnings("default::strut.simulate.LedgerWarning")
def test_the_command_says_it_once(capsys, tmp_path):
    (said,) = warnings_of(capsys, hopper(tmp_path, DEPTH, "rigid"))
    assert "'toe' begins 0.3 mm in the ground, which is rigid there and lifts it out" in said
