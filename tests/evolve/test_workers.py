"""Where generations are evaluated changes nothing that is found; workers that are lost are replaced."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from strut import evolve, walkers
from strut.errors import ClusterError, StrutError, ValueRangeError
from strut.evolve.workers.lost_shares import MAX_LOSSES, LostShares
from strut.evolve.workers.ray_cluster import join_cluster
from strut.evolve.workers.stride import StrideScheduler
from strut.evolve.workers.workers import SHARE_SECONDS, ShareSize
from tests.evolve.problems import CAMEL_BOUNDS, CAMEL_STAGES, camel
from tests.evolve.ray_head import ROOT, free_port
from tests.evolve.test_store import content


def noisy(x, y, seed):
    return {**camel(x, y), "noise": seed % 1000}


def function_problem(function=noisy):
    evaluation = evolve.of_function(function, ("f", "fx", "fy", "noise"), seeded=True)
    return evolve.SearchProblem(CAMEL_BOUNDS, evaluation, CAMEL_STAGES, repeats=2)


def test_processes_find_what_this_process_finds(tmp_path):
    problem = function_problem(lambda x, y, seed: noisy(x, y, seed))  # what no pickle takes
    for name, workers in (("here", evolve.Threads()), ("there", evolve.Processes(3))):
        evolve.search(problem, evolve.Swarm(12), 5, seed=3, output=tmp_path / name, workers=workers)
        workers.close()
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_runs_of_a_machine_are_the_same_in_shares():
    evaluation = evolve.of_system(walkers.slip(), 5.0, {"steps": "count.touchdown", "x": "x"})
    problem = evolve.SearchProblem({"attack": (1.0, 1.3)}, evaluation, "-steps")
    x = np.linspace(1.0, 1.3, 37)[:, None]
    seeds = np.arange(37)[:, None]
    whole = problem.evaluate(x, seeds).measures
    shares = evolve.Threads()
    shares._size, shares._problem = ShareSize(5), problem
    measures = np.full_like(whole, np.nan)
    counts = []
    for places, answers in shares.evaluate(problem, x, seeds):
        counts.append(len(places))
        measures[places] = answers.measures
    assert len(counts) > 1
    np.testing.assert_array_equal(measures, whole)


def test_an_individual_that_ends_its_process_fails_alone():
    def deadly(x):
        if 0.49 < x < 0.51:
            os._exit(3)
        return x

    problem = evolve.SearchProblem({"x": (0, 1)}, evolve.of_function(deadly), "value")
    workers = evolve.Processes(2)
    evolution = evolve.search(problem, evolve.Grid(points=21), workers=workers)
    workers.close()
    assert evolution.failures == {
        f"its worker was lost {MAX_LOSSES} times: the evaluation ends the process": 1
    }
    assert evolution.evaluations == 21
    assert evolution.best.value == 0


def test_an_error_of_the_evaluation_ends_the_search():
    evaluation = evolve.of_function(lambda x: {"other": x}, vectorised=True)
    problem = evolve.SearchProblem({"x": (0, 1)}, evaluation, "value")
    workers = evolve.Processes(2)
    with pytest.raises(StrutError, match="returned no 'value'"):
        evolve.search(problem, evolve.Swarm(4), 2, workers=workers)
    workers.close()


ORPHANS = """
import os, time
from strut import evolve
def wait(x):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(20)
problem = evolve.SearchProblem({"x": (0, 1)}, evolve.of_function(wait), "value")
evolve.search(problem, evolve.Swarm(4), 2, workers=evolve.Processes(2))
"""


def test_processes_end_with_a_job_that_is_killed():
    job = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    workers = {int(job.stdout.readline()) for _ in range(2)}
    assert job.pid not in workers
    job.send_signal(signal.SIGKILL)
    job.wait()
    until = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):
        assert time.monotonic() < until, "processes are left"
        time.sleep(0.05)


def test_shares_grow_to_what_is_worth_handing_out():
    size = ShareSize()
    assert size.count == 1
    for _ in range(6):
        size.observe(size.count, 1e-3 * size.count)
    assert size.count * 1e-3 == pytest.approx(SHARE_SECONDS)
    size = ShareSize()
    size.observe(1, 8.0)  # the first compiles
    size.observe(1, 0.1)
    assert size.count == 2
    assert ShareSize(8).count == 8


def test_a_share_that_is_lost_comes_back_one_by_one():
    shares = LostShares(np.arange(6))
    first = shares.take(4)
    assert shares.give_back(first, 2) is None
    assert shares.backlog == 6
    assert [shares.take(4).tolist() for _ in range(5)] == [[0], [1], [2], [3], [4, 5]]
    for _ in range(MAX_LOSSES - 2):
        assert shares.give_back(np.array([2]), 2) is None
        assert shares.take(4).tolist() == [2]
    failed = shares.give_back(np.array([2]), 2)
    assert failed is not None
    assert "worker was lost" in failed.status[0]
    assert np.isnan(failed.measures).all()


TWO = {"here": 2}
"""Cores by machine."""


def shared_seconds(priorities, cores=3, until=60.0, gap=0.0):
    """Simulate jobs that always want more, with shares of other lengths; return what each used [s]."""
    now = [0.0]
    scheduler = StrideScheduler(lambda: now[0])
    lengths = {f"job {k}": 0.2 * (1 + k) for k in range(len(priorities))}
    running = []  # end, job, ticket, seconds
    waiting = {}
    for (job, seconds), priority in zip(lengths.items(), priorities, strict=True):
        scheduler.enter(job, priority)
        for _ in range(cores):
            waiting[scheduler.ask(job, SHARE_SECONDS)] = (job, seconds)
    while now[0] < until:
        for ticket, _ in scheduler.grant({"here": cores}):
            job, seconds = waiting.pop(ticket)
            running.append((now[0] + seconds, job, ticket, seconds))
        running.sort()
        now[0], job, ticket, seconds = running.pop(0)
        scheduler.release(job, ticket, seconds)
        waiting[scheduler.ask(job, SHARE_SECONDS)] = (job, seconds)
    return np.array(list(scheduler.usage().values()))


@pytest.mark.parametrize("priorities", [(4, 2, 1), (1, 1, 1), (1, 10, 3)])
def test_cores_are_shared_by_priority(priorities):
    used = shared_seconds(priorities)
    wanted = np.array(priorities) / sum(priorities)
    np.testing.assert_allclose(used / used.sum(), wanted, rtol=0.05)


def test_a_job_that_dies_loses_its_cores():
    now = [0.0]
    scheduler = StrideScheduler(lambda: now[0])
    scheduler.enter("dead", 1.0, 10.0)
    scheduler.enter("alive", 1.0, 10.0)
    dead = [scheduler.ask("dead", 1.0) for _ in range(3)]
    assert scheduler.grant(TWO) == [(ticket, "here") for ticket in dead[:2]]
    ticket = scheduler.ask("alive", 1.0)
    assert scheduler.grant(TWO) == []
    now[0] = 9.0
    scheduler.enter("alive", 1.0, 10.0)
    assert scheduler.expire() == []
    now[0] = 11.0
    assert scheduler.expire() == dead[2:]
    assert scheduler.grant(TWO) == [(ticket, "here")]
    scheduler.release("dead", dead[0], 1.0)  # late news of a job that is forgotten
    assert "dead" not in scheduler.usage()


def test_a_job_that_rests_keeps_its_place_and_no_core():
    now = [0.0]
    scheduler = StrideScheduler(lambda: now[0])
    scheduler.enter("a", 1.0)
    scheduler.enter("b", 1.0)
    tickets = [scheduler.ask("a", 1.0), scheduler.ask("a", 1.0)]
    assert scheduler.grant({"here": 1}) == [(tickets[0], "here")]
    assert scheduler.rest("a") == tickets[1:]
    other = scheduler.ask("b", 1.0)
    assert scheduler.grant({"here": 1}) == [(other, "here")]


@pytest.fixture
def bare_environment(monkeypatch, tmp_path):
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE", "RAY_ADDRESS"):
        monkeypatch.setenv(name, "")  # so that what joining sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


def test_clusters_that_cannot_be_joined_are_explained(bare_environment, tmp_path):
    with pytest.raises(ClusterError, match="no token for the cluster at 127.0.0.1:1: give --token-file"):
        join_cluster("127.0.0.1:1")
    with pytest.raises(ClusterError, match="there is no token in .*none"):
        join_cluster("127.0.0.1:1", tmp_path / "none")
    (tmp_path / "token").write_text("secret" * 8)
    with pytest.raises(ClusterError, match="nobody answers at 127.0.0.1:.*ray start --head"):
        join_cluster(f"127.0.0.1:{free_port()}", tmp_path / "token")
    with pytest.raises(ClusterError, match="address is 'somewhere': HOST:PORT is needed"):
        join_cluster("somewhere", tmp_path / "token")
    bare_environment.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ClusterError, match="RAY_AUTH_MODE is 'disabled'"):
        join_cluster("127.0.0.1:1", tmp_path / "token")


def test_wrong_settings_of_workers_are_refused():
    with pytest.raises(ValueRangeError, match="priority"):
        evolve.RayWorkers(priority=0)
    with pytest.raises(StrutError, match="count"):
        evolve.Processes(0)
