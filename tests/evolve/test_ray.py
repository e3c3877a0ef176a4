"""Searches on a Ray cluster end as those of this process; workers and jobs may be killed."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.evolve.ray_head import ROOT, ray_head, ray_node, wait_for, workers_under_way
from tests.evolve.test_store import content

JOB = """
import sys, time
from strut import evolve
from tests.evolve.problems import CAMEL_BOUNDS, CAMEL_STAGES, camel
pause = 0 if sys.argv[2] == "here" else float(sys.argv[3])
def slow(x, y, seed):
    time.sleep(pause)
    return {**camel(x, y), "noise": seed % 1000}
problem = evolve.SearchProblem(
    CAMEL_BOUNDS, evolve.of_function(slow, ("f", "fx", "fy", "noise"), seeded=True), CAMEL_STAGES)
workers = evolve.RayWorkers(lease=2) if sys.argv[2] == "ray" else evolve.Threads()
evolve.search(problem, evolve.Swarm(12), int(sys.argv[4]), runs=2, seed=7, output=sys.argv[1], resume=True,
              workers=workers)
workers.close()
"""


@pytest.fixture(scope="module")
def cluster():
    with ray_head(2) as started:
        yield started


def start(environment, *arguments):
    command = [sys.executable, "-c", JOB, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, cwd=ROOT)


def rows(path):
    """How many individuals a store has, and 0 where there is none yet."""
    import sqlite3

    if not path.exists():
        return 0
    try:
        return (
            sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            .execute("SELECT count(*) FROM individual")
            .fetchone()[0]
        )
    except sqlite3.OperationalError:
        return 0


def kill_one_worker(head):
    """Kill a worker that evaluates something, where there is one."""
    pids = workers_under_way(head)
    if pids:
        os.kill(random.choice(pids), signal.SIGKILL)
    return bool(pids)


def test_a_search_on_ray_loses_a_worker_and_is_killed_and_ends_as_here(cluster, tmp_path):
    environment, head = cluster
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    assert start(environment, whole, "here", 0, 3).wait() == 0
    job = start(environment, killed, "ray", 0.05, 3)
    wait_for(lambda: rows(killed) > 4, job)
    wait_for(lambda: kill_one_worker(head), job)
    before = rows(killed)
    wait_for(lambda: rows(killed) > before + 4, job)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert 0 < rows(killed) < 72
    assert start(environment, killed, "ray", 0.05, 3).wait() == 0
    assert content(killed) == content(whole)


TOKENS = """
import time
import ray  # a busy machine takes long for it
from strut import evolve
from strut.errors import ClusterError
began = time.monotonic()
try:
    evolve.RayWorkers()
except ClusterError as error:
    print(f"{time.monotonic() - began:.1f} s: {error}")
"""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"RAY_AUTH_TOKEN": "wrong" * 10}, r"does not accept the token from RAY_AUTH_TOKEN: use the one"),
        ({"RAY_AUTH_TOKEN": "", "HOME": "/nowhere"}, r"no token for the cluster at .*: give --token-file"),
        ({"RAY_AUTH_MODE": "disabled"}, r"RAY_AUTH_MODE is 'disabled': without tokens everyone"),
    ],
)
def test_a_wrong_token_is_told_within_seconds(cluster, changes, message):
    environment, _ = cluster
    answer = subprocess.run(
        [sys.executable, "-c", TOKENS],
        env=environment | changes,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert re.search(message, answer.stdout), answer
    assert float(answer.stdout.split()[0]) < 10


@pytest.mark.slow  # 50 jobs that join a cluster and are killed: a quarter of an hour
@pytest.mark.timeout(1800)
def test_a_search_on_ray_is_killed_fifty_times_with_workers(cluster, tmp_path):
    environment, head = cluster
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    assert start(environment, whole, "here", 0, 40).wait() == 0
    pauses, kills, worker_kills = random.Random(1), 0, 0
    while kills < 50:
        job = start(environment, killed, "ray", 0.02, 40)
        before = rows(killed)
        wait_for(lambda job=job, before=before: job.poll() is not None or rows(killed) > before, head)
        assert job.poll() is None, "the job is too short for fifty kills"
        time.sleep(pauses.uniform(0.0, 0.25))
        until = time.monotonic() + 5
        while not kill_one_worker(head) and time.monotonic() < until:
            time.sleep(0.02)
        worker_kills += time.monotonic() < until
        time.sleep(pauses.uniform(0.0, 0.1))
        job.send_signal(signal.SIGKILL)
        job.wait()
        kills += 1
    assert worker_kills > 40
    assert start(environment, killed, "ray", 0.0, 40).wait() == 0
    assert content(killed) == content(whole)
    print(f"{kills} kills of the job, {worker_kills} of workers")


@pytest.mark.slow  # a second node begins, works and is killed: a minute
@pytest.mark.timeout(300)
def test_a_machine_joins_and_is_lost_while_a_search_runs(tmp_path):
    whole, path = tmp_path / "whole.db", tmp_path / "run.db"
    with ray_head(1) as (environment, _):
        assert start(environment, whole, "here", 0, 10).wait() == 0
        job = start(environment, path, "ray", 0.3, 10)
        wait_for(lambda: rows(path) > 0, job)
        with ray_node(environment, 2) as node:
            wait_for(lambda: len(workers_under_way(node)) == 2, job)
            before = rows(path)
            wait_for(lambda: rows(path) > before + 8, job)
        assert job.poll() is None
        assert job.wait() == 0
    assert content(path) == content(whole)


SHARED = """
import sys, time
from strut import evolve
def sleep(x):
    time.sleep(0.02)
    return x
problem = evolve.SearchProblem({"x": (0, 1)}, evolve.of_function(sleep), "value")
workers = evolve.RayWorkers(priority=float(sys.argv[1]))
print(workers.job, flush=True)
evolve.search(problem, evolve.Swarm(400), 1000, workers=workers)
"""


@pytest.mark.slow  # three jobs share a cluster for 40 s
@pytest.mark.timeout(300)
def test_jobs_share_a_cluster_by_priority(tmp_path):
    priorities = (4, 2, 1)
    with ray_head(3) as (environment, _):
        jobs = [
            subprocess.Popen(
                [sys.executable, "-c", SHARED, str(priority)],
                env=environment,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            for priority in priorities
        ]
        names = [job.stdout.readline().strip() for job in jobs]
        look = (
            "import time; from strut import evolve; w = evolve.RayWorkers(); time.sleep(5); a = w.usage()\n"
        )
        look += "time.sleep(30); b = w.usage(); print({k: b[k] - a.get(k, 0) for k in b}); w.close()"
        answer = subprocess.run(
            [sys.executable, "-c", look],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for job in jobs:
            job.kill()
            job.wait()
    used = eval(answer.stdout)
    total = sum(used[name] for name in names)
    shares = [used[name] / total for name in names]
    print(shares, total)
    for share, priority in zip(shares, priorities, strict=True):
        assert share == pytest.approx(priority / sum(priorities), rel=0.1)
    assert total > 0.7 * 3 * 30  # three cores for 30 s; the rest is other load of this machine
