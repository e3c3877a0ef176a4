"""The energy account per step: steps tile the run, an impact belongs to the step it ends, and the sum is the whole."""

import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import StrutError, UnknownNameError


@pytest.mark.parametrize(
    "make", [walkers.compass, walkers.simplest, walkers.rimless_wheel, walkers.slip, walkers.kneed]
)
def test_steps_are_the_run(make):
    run = strut.simulate(make(), t=4)
    steps = run.steps()
    assert set(steps.events) <= {"heel_strike", "touchdown"}
    assert steps.end[:-1].tolist() == steps.begin[1:].tolist()
    assert (steps.begin[0], steps.end[-1]) == (run.t0, run.t1)
    landings = np.concatenate([run.events.times(name) for name in steps.events])
    assert steps.end[steps.whole].tolist() == sorted(landings)
    whole = run.ledger.summary()
    scale = run.ledger.turnover
    for name, values in steps.changes.items():
        assert values.sum() == pytest.approx(whole[name], abs=1e-12 * scale)
    for k in range(len(steps)):  # each step's books close
        stored = sum(v[k] for name, v in steps.changes.items() if steps.kinds[name] == "stored")
        others = sum(v[k] for name, v in steps.changes.items() if steps.kinds[name] != "stored")
        assert stored - others == pytest.approx(steps.residual[k], abs=1e-12 * scale)
        assert abs(steps.residual[k]) < 1e-8 * scale


def test_a_gait_gains_on_the_slope_what_it_loses_in_the_impact():
    run = strut.simulate(walkers.compass(slope=strut.deg(3)), t=10)
    steps = run.steps()
    gained, lost = (
        steps.changes["gravity (stored)"][steps.whole],
        steps.changes["heel_strike (lost in events)"][steps.whole],
    )
    np.testing.assert_allclose(gained, lost, rtol=1e-9)
    length = run.events[-2].after["step_length"]
    weight = float(
        sum(run[name] * n for name, n in (("hip_mass", 1), ("leg_mass", 2)) if name in run.names.p) * run["g"]
    )
    np.testing.assert_allclose(gained[-1], -weight * length * np.sin(strut.deg(3)), rtol=1e-6)


def test_other_events_and_none():
    run = strut.simulate(walkers.bouncing_ball(), t=2)
    assert run.names.step_events == ()
    alone = run.steps()
    assert (len(alone), alone.whole.tolist()) == (1, [False])
    steps = run.steps("bounce")
    assert steps.whole.sum() == len(run.events.times("bounce"))
    with pytest.raises(UnknownNameError, match="there is no event 'bonce': did you mean 'bounce'"):
        run.steps("bonce")
    with pytest.raises(StrutError, match="simulate with ledger=True"):
        strut.simulate(walkers.bouncing_ball(), t=1, ledger=False).steps("bounce")


def test_loaded_runs_know_their_steps(tmp_path):
    run = strut.simulate(walkers.compass(), t=3)
    run.save(tmp_path / "walk.h5")
    loaded = strut.Trajectory.load(tmp_path / "walk.h5").steps()
    for name, values in run.steps().changes.items():
        np.testing.assert_array_equal(loaded.changes[name], values)


def test_touchdowns_of_every_foot():
    left, right = strut.State("l", 1.0), strut.State("r", 2.0)
    events = [
        strut.Event(f"foot_{n}_touchdown", s, direction="down", reset={s: 2.5})
        for n, s in (("l", left), ("r", right))
    ]
    feet = tuple(strut.Foot(name=e.name[:6], lands=e.name) for e in events)
    made = strut.System(
        "two",
        x=(left, right),
        flow={left: -1.0, right: -1.0},
        events=events,
        ledger=strut.Ledger({"left": left}, {"drive": -1}),
        walk=strut.Walk(feet=feet),
    )
    run = strut.simulate(made, t=5)
    assert run.names.step_events == ("foot_l_touchdown", "foot_r_touchdown")
    assert run.steps().end.tolist() == pytest.approx([1, 2, 3.5, 4.5, 5])
