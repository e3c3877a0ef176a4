"""Closed loops in the world: rough ground, C, pages, the command; floating bases."""

import json
import subprocess
import sys

import numpy as np
import pytest

import strut
from strut import control, gait, optimal, report, walkers
from strut.cli import main
from strut.cli.model import find_model
from strut.control.motion_table import motion_table, read_index
from strut.control.read_motion import reference_motion
from strut.control.regulator import _Linearised
from strut.control.riccati import step_matrices
from strut.control.weights import deviations
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load
from tests.optimal.test_exported_design import states_in_c


@pytest.fixture(scope="module")
def brisk():
    return optimal.design(walkers.compass(), speed=0.8)


@pytest.fixture(scope="module")
def held(brisk):
    return control.lqr(brisk)


@pytest.mark.parametrize("index", ["time", "stance"])
def test_the_linear_step_is_that_of_the_loop_without_gains(brisk, index):
    """What the Riccati equation is solved along: its multipliers are those of the machine that follows its
    plan, by clock or by phase, which the simulator's variational equations find."""
    motion = reference_motion(brisk)
    table = motion_table(motion, read_index(motion, index)[0])
    scale = deviations(motion.plant, table.states, None)
    step, _ = step_matrices(_Linearised(table, scale).stretches(np.ones(1)))
    free = control.track(brisk, 0.0, index=index)
    expected = np.sort(np.abs(free.gait.multipliers))[-3:]
    assert np.sort(np.abs(np.linalg.eigvals(step)))[-3:] == pytest.approx(expected, rel=1e-4)


def test_rough_ground_of_a_centimetre(brisk, held):
    """Every step at a random height: without feedback a few steps, with it all."""
    before, after = (gait.walk_over(g, 0.01, steps=60, walks=5, seed=3) for g in (brisk.gait, held.gait))
    assert before.whole_walks == 0
    assert before.steps_made.max() < 20
    assert "ended by fall" in str(before)
    assert after.whole_walks == 5
    assert set(after.ended) == {"walks on"}
    again = gait.walk_over(brisk.gait, 0.01, steps=60, walks=5, seed=3)
    assert (again.steps_made == before.steps_made).all()  # seeded


@pytest.mark.slow(reason="20 walks of 1000 steps")
def test_a_thousand_steps_over_rough_ground(brisk, held):
    assert gait.walk_over(held.gait, 0.01, steps=1000, walks=20, seed=3).whole_walks == 20
    assert gait.walk_over(brisk.gait, 0.01, steps=1000, walks=20, seed=3).steps_made.max() < 20


def test_a_step_down_is_that_of_rough_ground(held):
    """Ground that is lower by 2 cm once, as `step_down` has it, is survived."""
    assert gait.step_down(held.gait, most=0.02).largest == 0.02


def test_ground_that_cannot_be_rough_is_refused(held):
    with pytest.raises(ValueRangeError, match="height is -1: a positive number in m is needed"):
        gait.walk_over(held.gait, -1)
    with pytest.raises(ModelError, match="cannot step down"):
        gait.walk_over(gait.find(walkers.rimless_wheel()), 0.01)


def test_a_wrong_parameter(brisk, held):
    assert gait.wrong_parameter(held.gait, "hip_mass", exact=0.02).largest > 0.2
    with pytest.raises(UnknownNameError, match="'hip_mas' is no parameter"):
        gait.wrong_parameter(held.gait, "hip_mas")
    with pytest.raises(ValueRangeError, match="'hip_spring' of 'compass' is 0"):
        gait.wrong_parameter(held.gait, "hip_spring")


def test_a_closed_loop_in_c_is_that_of_the_simulator(held, tmp_path):
    loop = held.system
    strut.export(loop, tmp_path)
    run = strut.simulate(loop, t=3.4 * held.gait.period)
    strikes = run.events.times("heel_strike")
    assert len(strikes) == 3
    times = [strikes[0] - 1e-3, strikes[-1] + 1e-3]
    rows = states_in_c(loop, tmp_path, times)
    expected = np.array([[run.at(t)[name] for name in loop.labels("x")] for t in times])
    np.testing.assert_allclose(rows[1:], expected, atol=1e-6)


def test_what_is_survived_before_and_after(held):
    rows = {row.name: row for row in held.comparison}
    down = rows["largest step down survived"]
    assert down.after > 3 * down.before
    assert down.unit == "m"
    assert rows["largest push survived, all rates slower by, relative"].after > 0.02
    assert "largest error survived of hip_mass, relative" in rows
    assert rows["largest step up survived"].after > rows["largest step up survived"].before
    rough = rows["roughest ground survived for 50 steps, up and down by"]
    assert rough.after == 0.01 > rough.before
    assert "over ground of +-2 cm" in rough.note
    assert rough.before == 0.0
    assert rough.texts("{:g}".format) == ("less than 0.001", "0.01")
    told = next(each for each in held.data()["comparison"] if each["name"] == rough.name)
    assert told["less_than"] == {"before": 0.001, "after": None}
    costs = {row.name: row for row in held.costs}
    assert costs["cost of transport"].after == pytest.approx(costs["cost of transport"].before, rel=1e-4)
    assert any("root mean square" in name and row.after > 0 for name, row in costs.items())


def test_machines_with_servos_are_described_without_designs():
    """Walkers have servos; what holds a gait, and so all of `optimal`, is imported when it is asked for."""
    program = "import sys, strut.walkers, strut.control; assert 'strut.optimal' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'lqg'"):
        getattr(control, "lqg")  # noqa: B009 a name that is not there


def test_the_page_shows_before_and_after(held, tmp_path):
    result = report.held_result(held, "asked for")
    assert result.good == "Held"
    assert "the largest multiplier was 1.3758" in result.verdict
    assert "largest step down survived" in result.facts
    figures = dict(result.figures())
    after = figures["recovery"].by_name["after"].y
    assert after[0] == 0
    assert after[-1] < -2  # a hundredth after twelve steps
    assert result.page(tmp_path / "held.html").stat().st_size > 10_000


def test_the_command_holds_a_gait(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(
            [
                "control",
                "compass",
                "--set",
                "slope=4.5deg",
                "--controller",
                "step",
                "--by",
                "hip_torque",
                "--json",
            ]
        )
    assert left.value.code == 0
    data = json.loads(capsys.readouterr().out)["result"]
    assert data["method"] == "LQR from step to step"
    assert data["stable"] == {"before": False, "after": True}
    for words, said in (
        (["--controller", "lqg"], "controller 'lqg' is unknown"),
        (["--by", "hip_torque"], "--by hip_torque is for --controller step"),
        (["--effort", "hip_torque"], "is no --effort: write NAME=NUMBER"),
        (["--controller", "track", "--effort", "a=1"], "are weights of lqr and step"),
    ):
        with pytest.raises(SystemExit):
            main(["control", "compass", *words])
        assert said in capsys.readouterr().err.replace("\n", " ")


def test_the_example_holds_a_design(tmp_path, capsys):
    example = load("held_gait").main()
    assert example.stable
    said = capsys.readouterr().out
    assert "after: over ground of +-1 cm, 5 of 5 walks made 100 steps" in said
    check_printed("held_gait.py", said)


@pytest.mark.slow(reason="a design of RABBIT and its closed loop are compiled")
@pytest.mark.parametrize("index", ["auto", "time"])
def test_rabbit_on_its_floating_base_is_held(index):
    """A step magnifies deviations 3352 times in open loop; left and right in turn, mirrored."""
    design = optimal.design(find_model("examples/rabbit.toml"), speed=0.6)
    held = control.lqr(design, index=index)
    assert abs(design.gait.multipliers[0]) > 3000
    assert np.abs(held.gait.multipliers).max() < 0.5
    assert held.system.labels("u") == ("head_push_x", "head_push_z")  # what comes from outside still may
    run = strut.simulate(held.system, t=20 * held.gait.period, x0={"base.wy": held.gait.x0["base.wy"] + 0.05})
    assert run.ok
    landings = run.events.counts()
    assert landings["foot_l_touchdown"] + landings["foot_r_touchdown"] >= 19
