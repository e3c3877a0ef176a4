"""`ok` means ok: what keeps a design from being believed is said in a sentence each, and stability has a word of
its own."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.optimal.solver.result import Solution
from strut.optimal.walk import replay as replay_file
from strut.optimal.walk.balance import Balance
from strut.optimal.walk.broken_limits import broken_clearance
from strut.optimal.walk.replay import Replay, replay_gait
from strut.optimal.walk.replay_pieces import find_gait_in_pieces
from strut.optimal.walk.sweep_file import SweepPoint
from strut.optimal.walk.trade_off import NO_RESULT, TradeOff
from strut.report import design_result, sweep_result
from strut.system import Input, State, System


@pytest.fixture(scope="module")
def level():
    passive = gait.find(walkers.compass())
    return optimal.design(walkers.compass(slope=0.0), speed=0.5, guess=passive)


@pytest.fixture
def again(level):
    """The same design, with nothing worked out yet."""
    return replace(level)


def test_a_limit_that_decides_all_of_a_phase_is_judged_by_the_whole_motion(level, monkeypatch):
    """Friction at its limit all along a phase leaves 1e-8 N of it there, and tens of newtons elsewhere: 7e-9 N
    beyond is rounding, a newton is not."""
    two = replace(level.result, phases=level.result.phases * 2)
    names = [r.name for r in two.problem.path_requirements() if not r.margin and not r.safety]
    count = len(two.phases[0].t) - 1

    def over(beyond):
        sizes = iter([1e-8, 50.0] * len(two.problem.path_requirements()))
        return lambda self, r, m: (np.full(count, beyond), next(sizes))

    monkeypatch.setattr(Solution, "over", over(7e-9))
    assert not set(replace(two).exceeded_limits) & set(names)
    monkeypatch.setattr(Solution, "over", over(1.0))
    assert set(replace(two).exceeded_limits) >= set(names)
    assert names


def test_a_good_design_has_nothing_wrong(level):
    assert level.ok
    assert level.wrong == ()
    assert level.replay.repeats
    assert level.replay.moved == 0
    data = json.loads(json.dumps(level.data()))
    assert (data["ok"], data["wrong"]) == (True, [])
    assert data["verdict"] == level.verdict


def test_a_second_equal_step_is_no_gait(again, monkeypatch):
    """A step that comes back to 1e-3 may still be none of a gait: without one, a design is not ok."""
    monkeypatch.setattr(Replay, "_gait", (None, "the nearest gait is another one, 0.2 away"))
    assert again.replay.repeats
    assert not again.ok
    assert again.wrong == (
        "the plan does not repeat in the simulator: the nearest gait is another one, 0.2 away",
    )


def test_stability_has_a_word_of_its_own(level, again, monkeypatch):
    assert level.verdict == ("ok" if level.gait.stable else "ok, unstable in open loop")
    for kind, verdict in (("stable", "ok"), ("unstable", "ok, unstable in open loop")):
        fake = SimpleNamespace(stable=kind == "stable", kind=kind)
        monkeypatch.setattr(Replay, "gait", fake)
        assert again.verdict == verdict


def test_energy_that_does_not_close(again, monkeypatch):
    monkeypatch.setattr(Replay, "balance", Balance(fallen=0.0, work=1.0, lost=1.0 - 3e-6, dissipated=0.0))
    assert not again.ok
    assert again.wrong == (
        "the energy account of the replayed step does not close: 3e-06 of what moved is missing, more than 1e-06",
    )
    assert again.verdict == "not ok"


def test_a_step_that_does_not_repeat(again, monkeypatch):
    monkeypatch.setattr(Replay, "gait", None)
    monkeypatch.setattr(Replay, "no_gait", "take_off")
    assert again.wrong == ("the plan does not repeat in the simulator: take_off",)


def test_a_gait_that_magnifies_more_than_its_multipliers_say():
    """Braked downhill, a compass is nearly neutral from step to step, but an error grows many times within
    one: when it lands is known only to so much, and it is a gait all the same."""
    braked = optimal.design(walkers.compass(), cost="positive-work", speed=0.5, slope=math.radians(3))
    assert braked.ok, braked.wrong
    assert braked.gait is not None, braked.replay.no_gait


def test_the_gait_in_pieces_is_that_in_one_go(level):
    """By multiple shooting from the intervals of the plan, and by Newton's method on the return map."""
    through, why = find_gait_in_pieces(level.replay.pieces, level.machine, level.result)
    assert not why
    assert through.vector == pytest.approx(level.gait.vector, abs=1e-8)
    assert through.period == pytest.approx(level.gait.period, abs=1e-8)
    assert np.abs(through.multipliers[0]) == pytest.approx(np.abs(level.gait.multipliers[0]), rel=1e-5)


def test_another_gait_is_not_that_of_the_plan(again, monkeypatch):
    far = SimpleNamespace(x0={name: value + 0.05 for name, value in again.result.x0.items()})
    monkeypatch.setattr(replay_file, "find", lambda *a, **k: far)
    assert again.gait is None
    assert again.replay.no_gait.startswith("the nearest gait is another one, 0.04")


def test_a_plan_that_drifts_is_replayed_from_its_gait(level):
    """Begun a little beside its gait, the energy of a run in one go does not close: it is read interval by
    interval. From the gait it closes in one go."""
    beside = {name: value * (1 + 1e-5) for name, value in level.result.x0.items()}
    drifting = optimal.replay(level.result, beside)
    assert len(drifting.runs) > 1
    assert drifting.ok
    assert drifting.balance.relative < 1e-6
    exact = replay_gait(drifting)
    assert exact.ok
    assert len(exact.runs) == 1
    assert exact.balance.relative < 1e-7
    assert 0 < exact.moved < 1e-6


def test_feet_in_the_ground(level):
    """Stiff legs scuff: nobody asked for clearance, and nothing is said; of one that is asked, it is."""
    assert not any("ground" in why for why in level.wrong)
    said = broken_clearance(level.replay, 0.01)
    assert said[0].startswith("foot 'swing' swings through the ground, 0.0")
    assert said[1].startswith("foot 'swing' passes the other at a height of 0.00")
    assert said[1].endswith(" m, less than 0.01 m")


def test_limits_hold_between_the_points():
    """Bryson and Denham's cart, on a mesh too coarse for its bound, and on one that is refined."""
    x, v, u = State("x", unit="m"), State("v"), Input("u")
    cart = System("cart", x=(x, v), u=(u,), flow={x: v, v: u})
    problem = optimal.Problem(cart).phase(duration=1.0).begin(x=0, v=1).end(x=0, v=-1)
    problem = problem.within(x=(-1.0, 1 / 9)).minimise(optimal.Integral("effort", u.sym**2 / 2))
    coarse = problem.solve(intervals=5, method="shooting", control="linear", accuracy=None)
    assert list(coarse.exceeded_limits) == ["bounds of x"]
    assert coarse.exceeded_limits["bounds of x"][0] > 1e-3 / 9
    said = optimal.walk.verify.plan_faults(coarse)
    assert said[0].startswith(
        "'bounds of x' holds at the points of the mesh and is exceeded between them, by 0.00"
    )
    fine = problem.solve(intervals=5, method="shooting", control="linear")
    assert not fine.exceeded_limits


def test_pages_say_the_verdict(level):
    page = design_result(level)
    assert page.facts["verdict"] == level.verdict


def test_failed_points_are_marked_and_no_results():
    good = [SweepPoint(value=v, ok=True, status="solved", numbers={"cost": v}) for v in (1.0, 2.0, 4.0)]
    bad = SweepPoint(value=3.0, ok=False, status="not solved: infeasible", numbers={"cost": -50.0})
    points = tuple(sorted([*good, bad], key=lambda point: point.value))
    curve = TradeOff("speed", "m/s", points, 1.0, None)
    row = curve.rows()[1][2]
    assert row == [3.0, "no", NO_RESULT, NO_RESULT]
    assert math.isnan(curve.rows(rounded=False)[1][2][3])
    result = sweep_result(curve)
    figure = next(chapter for chapter in result.chapters if chapter.heading == "Over speed").figures["cost"]
    line, trusted, failed = figure.traces
    assert np.isnan(line.y[2])
    assert np.array_equal(trusted.x, [1.0, 2.0, 4.0])
    assert (failed.name, list(failed.x), list(failed.y)) == ("failed", [3.0], [1.0])
    said = result.chapters[-1].tables[-1].rows
    assert [tuple(each) for each in said] == [(3.0, "not solved: infeasible")]
