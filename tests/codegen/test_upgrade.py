"""Systems are compiled quickly at first, and with care once their runs would have paid for it; numbers are the same."""

import json

import numpy as np
import pytest

import strut
from strut import codegen, walkers
from strut.codegen import background, upgrade
from strut.simulate.prepared_run import PreparedRun


@pytest.fixture
def first_process(fresh_cache, monkeypatch):
    """As in a process that has run nothing yet, with an empty cache."""
    monkeypatch.setattr(background, "_threads", {})
    return fresh_cache


def levels(cache):
    """How the libraries of the cache were optimised."""
    flags = [json.loads(path.read_text())["flags"] for path in cache.glob("*.json")]
    return sorted(flag for each in flags for flag in each if flag.startswith("-O"))


def test_the_first_run_is_compiled_quickly_and_its_numbers_are_the_same(first_process):
    quick = strut.simulate(walkers.pendulum(), t=3.0)
    assert levels(first_process) == ["-Og"]
    careful = strut.simulate(walkers.pendulum(), t=3.0, backend="native")
    assert levels(first_process) == ["-O2", "-Og"]
    assert np.array_equal(quick["angle"], careful["angle"])
    # what is there is used, by systems that are new
    assert codegen.compile_system(walkers.pendulum()).upgrade is None


def test_what_runs_long_is_compiled_with_care_in_the_background(first_process, monkeypatch):
    system = walkers.pendulum()
    first = codegen.compile_system(system)
    run = PreparedRun(system, 1.0)
    run.x0[0, 0], run.p[0] = 1.0, np.concatenate([np.ravel(q.value) for q in system.p])
    run()
    before = run.x.copy()
    assert codegen.compile_system(system) is first
    assert not background._threads
    monkeypatch.setattr(upgrade, "QUICK_EXCESS", 1e9)  # as if it had run for long
    strut.simulate(system, t=1.0)
    codegen.wait_for_builds()
    assert levels(first_process) == ["-O2", "-Og"]
    better = codegen.compile_system(system)
    assert better is not first
    assert codegen.compile_system(system) is better
    run()
    assert run.model is better
    assert np.array_equal(run.x, before)


def test_a_price_is_known_from_the_quick_build(first_process):
    model = codegen.compile_system(walkers.pendulum())
    assert model.upgrade.price > 0.01
    model.spend(0.9 * model.upgrade.price / upgrade.QUICK_EXCESS)
    assert not background._threads
    model.spend(0.2 * model.upgrade.price / upgrade.QUICK_EXCESS)
    assert len(background._threads) == 1
    codegen.wait_for_builds()
