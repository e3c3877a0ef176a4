"""What a search shows, how long it goes on, several starts, and Ctrl-C."""

import json
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from strut import optimal, walkers
from strut.cli import design_run as commands
from strut.cli import main
from strut.errors import ValueRangeError
from strut.optimal.solver import mesh_solve as solver
from strut.optimal.solver import starts as parallel
from strut.optimal.solver.watch import BusyClock, SearchWatch
from strut.optimal.walk import design_search
from strut.optimal.walk.torque_price import torque_price

STEP = {"cost": "squared-torque", "slope": 0.0, "speed": 0.5}


@pytest.fixture(scope="module")
def compass():
    return walkers.compass()


@pytest.fixture(scope="module")
def level(compass):
    return optimal.design(compass, **STEP)


def stop_at(name, told=None):
    """A progress that presses Ctrl-C when a stage begins."""

    def progress(stage):
        if told is not None:
            told.append(stage.name)
        if stage.name == name:
            raise KeyboardInterrupt

    return progress


def test_stages_are_told(compass):
    told = []
    optimal.design(compass, **STEP, intervals=4, progress=told.append)
    names = [stage.name for stage in told]
    assert names[0] == "looking for a gait to begin from"
    assert names[1] == "search"
    assert "finer mesh" in names
    assert names[-1] == "replaying the plan in the simulator"
    assert str(told[1]).startswith("search (4 intervals), ")
    assert np.all(np.diff([stage.seconds for stage in told]) >= 0)


def test_without_a_budget_the_first_mesh_is_the_last(level):
    motion = optimal.Guess(level.guess().phases)
    short = level.result.problem.solve(motion, intervals=5, budget=0.0)
    assert short.success
    assert not short.ok
    assert len(short.phases[0].t) == 6
    assert level.result.problem.solve(motion, intervals=5).ok


def test_a_budget_below_zero_is_refused(level):
    with pytest.raises(ValueRangeError, match=r"budget is -1 s: how long to go on after the first solution"):
        level.result.problem.solve(level, budget=-1.0)


def test_starts_agree_and_are_the_same_on_one_process(level, monkeypatch):
    problem, motion = level.result.problem, optimal.Guess(level.guess().phases)
    together = problem.solve(motion, starts=3, seed=4, intervals=10, control="cubic")
    monkeypatch.setattr(parallel, "can_fork", lambda: False)
    in_turn = problem.solve(motion, starts=3, seed=4, intervals=10, control="cubic")
    assert together.cost == in_turn.cost
    assert together.agreement_text == in_turn.agreement_text == "3 of 3 starts agree"
    assert together.summary()["agreeing"] == 3
    assert together.problem is problem


def test_an_error_in_a_start_is_raised():
    def fail(k):
        raise ValueRangeError(f"start {k} went wrong")

    with pytest.raises(ValueRangeError, match="start 0 went wrong"):
        parallel.run_starts(2, fail, workers=2)


def test_ctrl_c_in_the_solver_returns_where_it_was(level, monkeypatch, capsys):
    problem, real = level.result.problem, solver.solver_of

    def slow_solver(mesh, settings, scaled):
        run = real(mesh, settings | {"tol": 1e-30, "acceptable_iter": 0, "max_iter": 10**6}, scaled)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        return run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(solver, "solver_of", slow_solver)
    stopped = problem.solve(optimal.Guess(level.guess().phases), intervals=200, control="cubic")
    assert stopped.status == "interrupted"
    assert not stopped.ok
    assert stopped.unmet == {}
    assert "Interrupt" not in capsys.readouterr().err  # CasADi's own word on it
    assert np.isfinite(stopped.cost)


def test_ctrl_c_on_a_finer_mesh_returns_the_coarse_one(level):
    motion = optimal.Guess(level.guess().phases)
    stopped = level.result.problem.solve(motion, intervals=5, progress=stop_at("finer mesh"))
    assert stopped.status == "interrupted"
    assert stopped.success
    assert not stopped.ok
    assert len(stopped.phases[0].t) == 6


def test_ctrl_c_in_a_design_returns_the_best_so_far(compass):
    stopped = optimal.design(compass, **STEP, progress=stop_at("replaying the plan in the simulator"))
    assert not stopped.ok
    assert stopped.wrong == ("interrupted: this is the best that the search had",)
    assert stopped.result.cost == pytest.approx(0.945495, rel=1e-5)
    assert "largest multiplier" not in stopped.table()
    assert stopped.data()["status"] == "interrupted"
    again = optimal.design(compass, **STEP, guess=stopped)
    assert again.ok


def test_ctrl_c_while_what_must_give_way_is_looked_for_keeps_the_rest(compass, capsys):
    told = []
    stopped = optimal.design(compass, speed=50.0, iterations=40, progress=stop_at("what must give way", told))
    assert told[-1] == "what must give way"
    assert stopped.result.is_interrupted
    assert not stopped.result.success
    assert stopped.wrong == ("interrupted: this is the best that the search had",)
    assert stopped.result.worst


def test_ctrl_c_before_anything_is_known_is_raised(compass):
    with pytest.raises(KeyboardInterrupt):
        optimal.design(compass, **STEP, progress=stop_at("looking for a gait to begin from"))


def test_ctrl_c_in_a_trade_off_returns_the_points_that_there_are(compass):
    def stop(count, _):
        if count == 1:
            raise KeyboardInterrupt

    curve = optimal.trade_off(
        compass, "speed", [0.45, 0.5, 0.55], cost="squared-torque", slope=0.0, workers=1, progress=stop
    )
    assert curve.interrupted
    assert not curve.ok
    assert [point.status for point in curve.points] == ["interrupted", "solved", "interrupted"]
    assert curve.data()["interrupted"]
    assert np.isnan(curve["cost"][0])


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("replaying the plan in the simulator", "interrupted: this is the best that the search had"),
        ("looking for a gait to begin from", "interrupted: no motion was found yet"),
    ],
)
def test_ctrl_c_on_the_command_line_exits_with_130(stage, said, monkeypatch, capsys):
    monkeypatch.setattr(commands, "tell_stage", stop_at(stage))
    words = ["design", "compass", "--slope", "0", "--speed", "0.5"]
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 130
    text = capsys.readouterr()
    assert said in text.err
    if "best" in said:
        assert "0.945" in text.out
        with pytest.raises(SystemExit):
            main([*words, "--json"])
        assert json.loads(capsys.readouterr().out)["result"]["status"] == "interrupted"


def test_ctrl_c_on_the_command_line_keeps_the_best_in_the_folder(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(commands, "tell_stage", stop_at("replaying the plan in the simulator"))
    with pytest.raises(SystemExit) as left:
        main(["design", "compass", "--slope", "0", "--speed", "0.5", "-o", str(tmp_path)])
    assert left.value.code == 130
    assert (
        f"the best that the search had is kept: strut view {tmp_path / 'design.h5'}"
        in capsys.readouterr().err
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["design.h5", "design.json", "plan.csv"]
    kept = optimal.load(tmp_path / "design.h5")
    assert kept.result.is_interrupted
    assert kept.result.cost == pytest.approx(0.945495, rel=1e-5)


def test_ctrl_c_while_torque_is_priced_returns_what_there_was(level, monkeypatch):
    """A cost of work alone was not ok; Ctrl-C in the search that would put a price on torque leaves it."""
    alone = replace(level, result=replace(level.result, success=False, status="came to a halt"))
    calls = []

    def search_once(*_):
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return alone

    monkeypatch.setattr(design_search, "search", search_once)
    stopped = optimal.design(walkers.compass(), cost="energy", slope=0.0, speed=0.5)
    assert len(calls) == 2
    assert stopped.result.is_interrupted
    assert stopped.result.cost == level.result.cost


def test_a_price_says_what_is_known():
    price = torque_price("energy", 0.01, {"squared-torque": 3.0}, 10.0)
    assert price.sentence == (
        "0.01 of squared torque stands beside energy (default): of that alone no design was found that is "
        "ok; of the cost it is 0.03"
    )


def test_a_budget_counts_work_and_not_waiting():
    """While nothing is computed, as while a compiler or another program has the processor, time stands
    still."""
    busy, began = BusyClock(), time.perf_counter()
    time.sleep(0.3)
    waited = busy.now()
    assert waited < 0.1
    while time.process_time() - busy.processor < 0.2:
        pass
    worked = busy.now() - waited
    assert 0.2 <= worked <= time.perf_counter() - began
    watch = SearchWatch(budget=5.0)
    watch.count_down()
    assert 4.0 < watch.left <= 5.0
    assert watch.solver_limit()["max_cpu_time"] == pytest.approx(watch.left, abs=0.5)


def test_no_part_of_a_search_outlives_it(monkeypatch):
    """Parts have a share of the budget after their own first solution, within that of the whole."""
    now = [0.0]
    monkeypatch.setattr("strut.optimal.solver.watch.BUSY_CLOCK.now", lambda: now[0])
    whole = SearchWatch(budget=60.0)
    assert whole.solver_limit() == {}
    first = whole.with_share(0.25)
    now[0] = 20.0  # its first solution, which no budget bounds
    first.count_down()
    assert (first.left, whole.left) == (15.0, 60.0)
    now[0] = 35.0
    second = whole.with_share(1.0)
    assert second.solver_limit() == {"max_cpu_time": 45.0}  # before it has a solution of its own, too
    second.count_down()
    assert second.left == second.aside().left == 45.0
    assert second.until_part(0.4).left == pytest.approx(18.0)
    now[0] = 80.0
    assert not any(watch.may_go_on for watch in (whole, first, second, whole.with_share(0.5)))
