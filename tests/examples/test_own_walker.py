"""A walker written by hand, with other names throughout, goes through gait, design, report and disturbances by what its `Walk` says."""

import contextlib
import dataclasses
import io
import math

import pytest
from examples.own_walker import main, stilts

import strut
from strut import Foot, Walk, gait, optimal, report
from strut.errors import ModelError, UnknownNameError
from tests.examples.gallery import check_printed


@pytest.fixture(scope="module")
def done():
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        found = main()
    check_printed("own_walker.py", said.getvalue())
    return found


def test_its_gait_is_the_closed_form(done):
    """Rolling steadily it leaves each impact with rate^2 = 4 (g/l) sin(half) sin(slope) c^2 / (1 - c^2), c = cos(2 half)."""
    found, half, slope = done[0], 0.3, 0.08
    c = math.cos(2 * half)
    assert found.section == "foot_strike"
    assert found.x0["spin"] ** 2 == pytest.approx(
        4 * 9.81 / 0.9 * math.sin(half) * math.sin(slope) * c**2 / (1 - c**2), rel=1e-9
    )
    assert abs(found.multipliers[0]) == pytest.approx(c**2, rel=1e-8)
    assert found.step_length == pytest.approx(2 * 0.9 * math.sin(half), rel=1e-9)
    assert found.cost_of_transport == pytest.approx(math.sin(slope), rel=1e-8)
    assert found.energetics.weight == pytest.approx(60 * 9.81)


def test_it_survives_a_step_down(done):
    assert done[1].largest == pytest.approx(0.533642, abs=1e-5)
    assert done[1].fell == "stopped"


def test_its_design_is_verified(done):
    level = done[2]
    assert level.ok, level.wrong
    assert level.parameters["half_spread"] == pytest.approx(math.asin(0.25 / 0.9), rel=1e-7)
    assert level.speed == pytest.approx(0.8, rel=1e-8)
    assert level.replay.balance.relative <= 1e-6
    assert [load.foot for load in level.replay.foot_loads] == ["stilt"]
    assert level.replay.foot_loads[0].least_normal > 0


def test_what_its_impact_takes_is_the_closed_form():
    """The rate is kept times cos(2 half), so the fraction lost is sin(2 half)^2; the ledger calls the energy 'motion'."""
    machine = stilts()
    loss = gait.impact_loss(machine, {"lean": -0.3})
    assert loss.fractions == pytest.approx([math.sin(0.6) ** 2], rel=1e-9)
    silent = machine.replace(walk=dataclasses.replace(machine.walk, kinetic=""))
    with pytest.raises(ModelError, match=r"kinetic is unknown.*walk=Walk\(kinetic=\.\.\."):
        gait.impact_loss(silent, {"lean": -0.3})
    with pytest.raises(UnknownNameError, match="kinetic of the walk .* is 'motoin'.*did you mean 'motion'"):
        machine.replace(walk=dataclasses.replace(machine.walk, kinetic="motoin"))


def test_its_report_speaks_of_its_own_names(done, tmp_path):
    document = report.design_result(done[2]).report().document()
    assert "stilt" in document
    assert "ankle" in document
    walk = strut.simulate(stilts(), t=3.0)
    assert walk.steps().events == ("foot_strike",)


def test_without_a_walk_it_must_be_said_what_ends_a_step():
    bare = stilts().replace(walk=None)
    with pytest.raises(
        ModelError, match=r"does not say what ends a step: give its System a walk=Walk\(section=...\)"
    ):
        gait.find(bare)
    assert gait.find(bare, section="foot_strike").period > 0
    with pytest.raises(ModelError, match="a slope is asked, but 'stilts' has none"):
        optimal.design(bare, slope=0.0, section="foot_strike")


def test_a_walk_names_what_there_is():
    with pytest.raises(
        UnknownNameError,
        match="section of the walk of system 'stilts' is 'foot_strik', which is no event: did you mean",
    ):
        stilts().replace(walk=Walk(section="foot_strik"))
    with pytest.raises(
        UnknownNameError, match="an output of foot 'a' of the walk of system 'stilts' is 'pushh'"
    ):
        stilts().replace(walk=Walk(feet=(Foot(name="a", normal="pushh"),)))
    with pytest.raises(ModelError, match="foot 'a' stands twice"):
        stilts().replace(walk=Walk(feet=(Foot(name="a"), Foot(name="a"))))


def test_parts_take_their_walk_along():
    left = strut.add_prefix(stilts(), "left")
    assert left.walk.section == "left.foot_strike"
    assert left.walk.feet[0].normal == "left.push"
    both = strut.join("both", left, strut.add_prefix(strut.walkers.pendulum(), "right"))
    assert both.walk.section == "left.foot_strike"
    assert gait.weight_of(both) == pytest.approx(60 * 9.81)
    assert strut.join("two", left, strut.add_prefix(stilts(), "right")).walk is None
