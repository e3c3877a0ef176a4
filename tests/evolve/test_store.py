"""Stores: a killed job goes on and ends as if nothing had happened; wrong files are refused."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from strut import evolve
from strut.cli.app import application
from strut.errors import ModelError, StorageError, StrutError
from strut.evolve.job_lock import request_of_job
from strut.evolve.store import JobStore, pack_state, unpack_state
from tests.evolve.problems import CAMEL_STAGES, camel_problem

JOB = """
import sys, time
from strut import evolve
from tests.evolve.problems import CAMEL_BOUNDS, CAMEL_STAGES, camel
def slow(x, y, seed):
    time.sleep(0.0004)
    return {**camel(x, y), "noise": seed % 1000}
problem = evolve.SearchProblem(
    CAMEL_BOUNDS, evolve.of_function(slow, ("f", "fx", "fy", "noise"), seeded=True), CAMEL_STAGES)
evolve.search(problem, evolve.SEARCHES[sys.argv[2]](population=12), 12, runs=2, seed=7,
              output=sys.argv[1], resume=True)
"""


def content(path):
    """All that a store holds, but for how long it took."""
    database = sqlite3.connect(path)
    return [
        database.execute("SELECT spec, sha FROM job").fetchall(),
        database.execute("SELECT run, finished FROM run ORDER BY run").fetchall(),
        database.execute(
            "SELECT run, generation, individuals, x, keys, state FROM generation ORDER BY run, generation"
        ).fetchall(),
        database.execute("SELECT * FROM individual ORDER BY run, generation, place").fetchall(),
    ]


def start(path, kind):
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    return subprocess.Popen([sys.executable, "-c", JOB, str(path), kind], cwd=root)


def kill_and_resume(tmp_path, kind, kills):
    """Kill a job so many times at random moments; return both files, of it and of one that was left alone.
    Pauses are drawn so that the kills fall on all of the job."""
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    assert start(whole, kind).wait() == 0
    pauses, done = np.random.default_rng(1), 0
    while done < kills:
        process = start(killed, kind)
        # count from when it writes, not from when Python begins to import
        size, began = killed.stat().st_size if killed.exists() else -1, time.monotonic()
        wal = tmp_path / "killed.db-wal"
        while process.poll() is None and time.monotonic() - began < 20:
            if killed.exists() and (killed.stat().st_size, wal.exists()) != (size, False):
                break
            time.sleep(0.002)
        time.sleep(pauses.uniform(0.0, 0.8 / kills))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            done += 1
        else:  # it ended before it was killed: begin anew, so that all kills count
            assert process.poll() == 0
            killed.unlink()
        process.wait()
    assert start(killed, kind).wait() == 0
    return killed, whole


@pytest.mark.parametrize("kind", ["swarm", "cma-es"])
def test_a_job_that_is_killed_ends_as_one_that_is_not(tmp_path, kind):
    killed, whole = kill_and_resume(tmp_path, kind, 4)
    assert content(killed) == content(whole)


@pytest.mark.slow  # fifty processes that begin, twice
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["swarm", "cma-es"])
def test_a_job_that_is_killed_fifty_times_ends_as_one_that_is_not(tmp_path, kind):
    killed, whole = kill_and_resume(tmp_path, kind, 50)
    assert content(killed) == content(whole)


@pytest.mark.parametrize(
    "begun", ["", "CREATE TABLE job (layout INTEGER, spec TEXT, sha TEXT, versions TEXT)"]
)
def test_a_job_that_was_killed_before_it_wrote_what_it_is_begins_anew(tmp_path, begun):
    path = tmp_path / "run.db"
    sqlite3.connect(path).execute(begun or "PRAGMA journal_mode=WAL")
    assert evolve.search(camel_problem(), evolve.Swarm(5), 2, output=path, resume=True).finished
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StorageError, match="no file of a job"):
        evolve.search(camel_problem(), evolve.Swarm(5), 2, output=other, resume=True)


def test_an_interrupted_search_returns_what_was_done_and_goes_on(tmp_path):
    path, problem = tmp_path / "run.db", camel_problem(CAMEL_STAGES)

    def stop(progress):
        if progress.generation == 3:
            raise KeyboardInterrupt

    part = evolve.search(problem, evolve.Swarm(10), 20, seed=2, output=path, progress=stop)
    assert not part.finished
    assert part.evaluations == 40
    whole = evolve.search(problem, evolve.Swarm(10), 20, seed=2, output=path, resume=True)
    assert whole.finished
    assert whole.best == evolve.search(problem, evolve.Swarm(10), 20, seed=2).best
    assert evolve.load_evolution(path).best == whole.best


def test_a_store_can_be_read_while_it_is_written(tmp_path):
    path, seen = tmp_path / "run.db", []
    evolve.search(
        camel_problem(),
        evolve.Swarm(5),
        4,
        output=path,
        progress=lambda _: seen.append(evolve.load_evolution(path).evaluations),
    )
    assert seen == [5, 10, 15, 20]


def test_another_job_is_refused(tmp_path):
    path = tmp_path / "run.db"
    evolve.search(camel_problem(), evolve.Swarm(5), 2, output=path)
    with pytest.raises(StorageError, match="is there already: go on with it"):
        evolve.search(camel_problem(), evolve.Swarm(5), 2, output=path)
    with pytest.raises(ModelError, match="another job: its search.population is 5, not 6"):
        evolve.search(camel_problem(), evolve.Swarm(6), 2, output=path, resume=True)


def test_other_versions_are_kept_and_told(tmp_path):
    path = tmp_path / "run.db"
    evolve.search(camel_problem(), evolve.Swarm(5), 2, output=path)
    with sqlite3.connect(path) as database:
        (text,) = database.execute("SELECT versions FROM job").fetchone()
        versions = json.loads(text)
        assert {"strut", "python", "numpy", "casadi", "cmaes"} == set(versions)
        database.execute("UPDATE job SET versions = ?", (json.dumps(versions | {"numpy": "1.0"}),))
    with pytest.warns(UserWarning, match="began with numpy 1.0, not"):
        evolve.search(camel_problem(), evolve.Swarm(5), 4, output=path, resume=True)


def test_a_search_that_cannot_begin_leaves_no_file(tmp_path):
    path = tmp_path / "run.db"
    method = evolve.MetamorphicSwarm({"pool": {"one": ["x"], "two": ["z"]}})
    with pytest.raises(ModelError, match="'z', which is not searched"):
        evolve.search(camel_problem(), method, 2, output=path)
    assert not path.exists()


def test_two_writers_are_refused(tmp_path):
    path = tmp_path / "run.db"
    store = JobStore(path, {"runs": 1})
    with pytest.raises(StorageError, match="in use"):
        JobStore(path, {"runs": 1}, resume=True)
    store.close()


def test_what_is_no_store_is_refused(tmp_path):
    path = tmp_path / "run.db"
    path.write_text("nothing of the kind" * 100)
    with pytest.raises(StorageError, match="no file of a job"):
        evolve.load_evolution(path)
    with pytest.raises(StorageError, match="there is no file"):
        evolve.load_evolution(tmp_path / "none.db")
    with pytest.raises(StorageError, match="does not exist; create it"):
        evolve.search(camel_problem(), evolve.Swarm(5), 2, output=tmp_path / "no" / "run.db")


@pytest.mark.parametrize("spec", ["{", "{}", '{"problem": 3}', '{"problem": {"parameters": [{}]}}'])
def test_a_damaged_store_is_told_as_that(tmp_path, spec):
    path = tmp_path / "run.db"
    evolve.search(camel_problem(), evolve.Swarm(5), 2, output=path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE job SET spec = ?", (spec,))
    for load in (evolve.load_evolution, evolve.load_individuals):
        with pytest.raises(StorageError, match=r"run.db is damaged, or is no file of a job"):
            load(path)


def test_a_full_disk_loses_nothing(tmp_path):
    path = tmp_path / "run.db"
    store = JobStore(path, {"runs": 1})
    store.write_population(0, 0, np.ones((4, 3)))
    store._database.execute(
        f"PRAGMA max_page_count = {store._database.execute('PRAGMA page_count').fetchone()[0]}"
    )
    with pytest.raises(StorageError, match="full; what was written before is kept"):
        store.write_population(0, 1, np.ones((4000, 3)))
    np.testing.assert_array_equal(store.read(0, 0).x, np.ones((4, 3)))
    store.close()


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from strut import evolve
from strut.errors import StorageError
from tests.evolve.problems import camel_problem
try:
    evolve.search(camel_problem(), evolve.Swarm(50), 40, seed=2, output=sys.argv[2], resume=True)
except StorageError as error:
    print(error)
"""


def test_a_job_on_a_full_disk_stops_with_a_word_and_goes_on_later(tmp_path):
    path, whole = tmp_path / "run.db", tmp_path / "whole.db"
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    command = [sys.executable, "-c", LIMITED, "100000", str(path)]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert "what was written before is kept" in answer.stdout
    assert evolve.load_evolution(path).evaluations >= 50
    for file in (path, whole):
        evolve.search(camel_problem(), evolve.Swarm(50), 40, seed=2, output=file, resume=True)
    assert content(path) == content(whole)


def running_job(path):
    """A job that takes long, in a process of its own, once its first generation is done."""
    code = JOB.replace("0.0004", "0.02")
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    process = subprocess.Popen([sys.executable, "-c", code, str(path), "swarm"], cwd=root)
    wait_until(lambda: path.exists() and evaluations(path) > 0 and state(path) == "running")
    return process


def evaluations(path):
    try:
        return evolve.load_evolution(path).evaluations
    except StrutError:
        return 0


def wait_until(condition, limit=20):
    until = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.02)


def state(path):
    return evolve.job_state(path, finished=evolve.load_evolution(path).finished).word


def test_others_see_pause_and_stop_a_job(tmp_path):
    path = tmp_path / "run.db"
    process = running_job(path)
    assert evolve.job_state(path, finished=False) == evolve.JobState(
        "running", process.pid, socket.gethostname()
    )
    with pytest.raises(
        StorageError, match=f"is in use: process {process.pid} on {socket.gethostname()} runs"
    ):
        JobStore(path, {"runs": 1}, resume=True)
    assert state(path) == "running"  # the failed attempt left the holder's words alone
    said = CliRunner().invoke(application(["jobs"]), ["jobs", str(path), "--pause"])
    assert said.exit_code == 0
    assert "run.db was asked to pause: it is paused" in said.output
    assert state(path) == "paused"
    count = evaluations(path)
    time.sleep(0.3)
    assert evaluations(path) == count
    request_of_job(path, "go on")
    wait_until(lambda: evaluations(path) > count)
    request_of_job(path, "stop")
    assert process.wait(20) == 0
    assert state(path) == "stopped"
    with pytest.raises(ModelError, match="is stopped: only a job that runs can be asked to pause"):
        request_of_job(path, "pause")
    assert not list(tmp_path.glob("run.db.*"))
    process = running_job(path)
    process.kill()
    process.wait()
    assert state(path) == "killed"


def test_a_job_of_another_machine_that_is_silent_counts_as_killed(tmp_path):
    path, lock, words = (tmp_path / name for name in ("run.db", "run.db.lock", "run.db.state"))
    lock.touch()
    words.write_text('{"state": "running", "pid": 7, "host": "elsewhere"}')
    assert evolve.job_state(path, finished=False) == evolve.JobState("running", 7, "elsewhere")
    os.utime(lock, (0, 0))
    assert evolve.job_state(path, finished=False).word == "killed"
    assert evolve.job_state(path, finished=True).word == "finished"
    words.write_text("damaged")
    assert evolve.job_state(path, finished=False).word == "killed"


def test_free_pages_are_given_back(tmp_path):
    """States of earlier generations are cleared; the closed file does not carry their pages."""
    path = tmp_path / "run.db"
    bounds = {f"x{k}": (-1.0, 1.0) for k in range(60)}
    problem = evolve.SearchProblem(bounds, evolve.of_function(lambda **x: sum(x.values())), "value")
    evolve.search(problem, evolve.CmaEs(population=4), 30, output=path)
    database = sqlite3.connect(path)
    names = ("freelist_count", "page_count")
    free, pages = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    database.close()
    assert free <= 0.1 * pages
    assert evolve.load_evolution(path).finished


def test_individuals_are_exported(tmp_path):
    import csv

    import h5py
    import pyarrow.parquet
    import scipy.io

    path = tmp_path / "run.db"
    evolve.search(camel_problem(), evolve.Swarm(5), 3, output=path)
    columns = evolve.load_individuals(path)
    files = {
        end: evolve.export_individuals(path, tmp_path / f"run.{end}")
        for end in ("csv", "parquet", "h5", "mat")
    }
    with files["csv"].open() as file:
        rows = list(csv.DictReader(file))
    parquet = pyarrow.parquet.read_table(files["parquet"])
    matlab = scipy.io.loadmat(files["mat"], squeeze_me=True, simplify_cells=True)
    with h5py.File(files["h5"]) as hdf5:
        for name, column in columns.items():
            if name == "status":
                assert [row[name] for row in rows] == column.tolist() == parquet[name].to_pylist()
                assert (
                    hdf5[name].asstr()[:].tolist() == matlab["individuals"][name].tolist() == column.tolist()
                )
                continue
            np.testing.assert_array_equal([float(row[name]) for row in rows], column)
            np.testing.assert_array_equal(parquet[name].to_numpy(), column)
            np.testing.assert_array_equal(hdf5[name], column)
            np.testing.assert_array_equal(matlab["individuals"][name], column)
    assert matlab["names"].tolist() == list(columns)
    with pytest.raises(StorageError, match="cannot tell what to write from 'run.xls'"):
        evolve.export_individuals(path, tmp_path / "run.xls")


def test_states_are_packed_without_loss():
    state = {
        "a": np.arange(6.0).reshape(2, 3),
        "n": np.array(3),
        "b": np.array([True, False]),
        "e": np.zeros((0, 4)),
    }
    again = unpack_state(pack_state(state))
    assert again.keys() == state.keys()
    for name, value in state.items():
        assert again[name].dtype == value.dtype
        np.testing.assert_array_equal(again[name], value)


# ---- more generations than were asked for ----

TOY_POOLS = {"pool": {"one": ["x"], "two": ["x", "y"]}}
EXTENDED = {
    "swarm": evolve.Swarm(6),
    "cma-es": evolve.CmaEs(6),
    "differential": evolve.DifferentialEvolution(6),
    "genetic": evolve.GeneticAlgorithm(6),
    "nsga2": evolve.Nsga2(6),
    "spsa": evolve.Spsa(3),
    "metamorphic": evolve.MetamorphicSwarm(TOY_POOLS, explore="0.2 / (1 + k)", swarm=evolve.Swarm(6)),
}


def toy_problem():
    return evolve.SearchProblem(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)}, evolve.of_function(lambda x, y=0.2: (x - y) ** 2 + y), "value"
    )


@pytest.mark.parametrize("kind", EXTENDED)
def test_an_extended_search_ends_as_one_that_was_asked_for_all_at_once(tmp_path, kind):
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    problem, method = toy_problem(), EXTENDED[kind]
    evolve.search(problem, method, 20, runs=2, seed=3, output=whole)
    for generations in (10, 13, 20):
        evolution = evolve.search(
            problem, method, generations, runs=2, seed=3, output=parts, resume=parts.exists()
        )
        assert evolution.finished
        assert evolution.evaluations == 12 * generations
    assert content(parts) == content(whole)


def test_a_job_is_extended_also_after_it_was_stopped(tmp_path):
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    evolve.search(toy_problem(), evolve.Swarm(6), 12, runs=2, output=whole)

    def stop(progress):
        if progress.generation == 3:
            raise KeyboardInterrupt

    evolve.search(toy_problem(), evolve.Swarm(6), 5, runs=2, output=parts, progress=stop)
    evolve.search(toy_problem(), evolve.Swarm(6), 12, runs=2, output=parts, resume=True)
    assert content(parts) == content(whole)


def test_what_cannot_be_extended_says_why(tmp_path):
    path = tmp_path / "run.db"
    evolve.search(toy_problem(), evolve.ParticleFilter(4), 5, output=path)
    before = content(path)
    with pytest.raises(ModelError, match="laid out for 5 generations: ParticleFilter has a schedule"):
        evolve.search(toy_problem(), evolve.ParticleFilter(4), 8, output=path, resume=True)
    assert content(path) == before
    paced = evolve.MetamorphicSwarm(TOY_POOLS, explore="0.1 * k / n", swarm=evolve.Swarm(6))
    evolve.search(toy_problem(), paced, 5, output=tmp_path / "paced.db")
    with pytest.raises(ModelError, match="MetamorphicSwarm has a schedule"):
        evolve.search(toy_problem(), paced, 8, output=tmp_path / "paced.db", resume=True)
    evolve.search(toy_problem(), evolve.Swarm(4), 5, output=tmp_path / "less.db")
    with pytest.raises(ModelError, match="asked for 5 generations, and now for 3"):
        evolve.search(toy_problem(), evolve.Swarm(4), 3, output=tmp_path / "less.db", resume=True)
    with pytest.raises(ModelError, match="another job: its search.population is 4, not 5"):
        evolve.search(toy_problem(), evolve.Swarm(5), 8, output=tmp_path / "less.db", resume=True)
