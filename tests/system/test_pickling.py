"""What a pool of processes sends around: systems, runs and errors, pickled and copied."""

import copy
import multiprocessing
import pickle

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Param, Random, Sample, State, System, errors, walkers
from strut.codegen import cache as build
from strut.codegen.backends import lower_system
from strut.errors import ExpressionError
from strut.network.text.errors import Mark, Mistake, NetworkError, NetworkProblem, Source
from strut.network.text.formula import FormulaError


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def everything():
    """A system with every kind of quantity, and expressions that share a long part."""
    x, v, n, k = State("x", [1.0, 0.5]), State("v", 0.0), Discrete("n", 0), Param("k", 2.0)
    past, draw = Delay("past", signal=v, by=0.1, before=strut.time), Random("draw", law="normal")
    long = ca.sin(x[0] * k) * ca.exp(-(x[1] ** 2)) + strut.time
    return System(
        "everything",
        x=[x, v],
        z=[n],
        p=[k],
        delays=[past],
        randoms=[draw],
        flow={x: ca.vertcat(long, -long), v: long * past},
        events=[Event("turn", v - 0.4, reset={v: -v, n: n + 1}, direction="both")],
        samples=[Sample("kick", every=0.25, set={v: v + 0.01 * draw})],
        outputs={"long": long, "twice": 2 * long},
    )


@pytest.mark.parametrize("name", walkers.CATALOGUE)
def test_every_walker_comes_back_the_same(name):
    system = walkers.CATALOGUE[name]()
    for back in (pickled(system), copy.deepcopy(system)):
        assert back is not system
        assert lower_system(back).digest == lower_system(system).digest
        assert back.labels("x") == system.labels("x")
        for before, after in zip(system.quantities(), back.quantities(), strict=True):
            assert (before.name, before.unit, before.bounds) == (after.name, after.unit, after.bounds)
            if isinstance(before.value, np.ndarray):
                np.testing.assert_array_equal(before.value, after.value)


def test_a_system_that_comes_back_runs_the_same_and_nothing_is_compiled(monkeypatch):
    system = everything()
    run = strut.simulate(system, t=2.0, seed=3)
    monkeypatch.setattr(build.subprocess, "run", lambda *a, **k: pytest.fail("the compiler was started"))
    for back in (pickled(system), copy.deepcopy(system), pickled(pickled(system))):
        again = strut.simulate(back, t=2.0, seed=3)
        np.testing.assert_array_equal(again.raw.x_end, run.raw.x_end)
        np.testing.assert_array_equal(again["twice"], run["twice"])


def test_expressions_and_systems_fit_after_the_journey():
    """In one process symbols are the same, so what was built of a system can be joined to what comes back."""
    system = everything()
    speed_squared = system["v"] ** 2
    back = pickled(system)
    richer = back.replace(outputs={**back.outputs, "squared": speed_squared, "fresh": back["v"] * 3})
    run = strut.simulate(richer, t=1.0)
    np.testing.assert_allclose(run["squared"], run["v"] ** 2)
    np.testing.assert_allclose(run["fresh"], run["v"] * 3)
    assert strut.simulate(pickled(richer.using(k=3.0)), t=1.0)["k"] == 3.0


def test_quantities_and_events_alone():
    x = State("x", 1.5, unit="m", bounds=(0, 2))
    event = Event("up", x - 1, reset={x: 0.0})
    y, back = pickled([x, event])
    assert (y.name, float(y.value[0]), y.unit, y.bounds) == ("x", 1.5, "m", (0, 2))
    assert strut.simulate(
        System("s", x=[y], flow={y: 1.0}, events=[back]).using(x=0.0), t=1.5
    ).events.names == ("up",)


def test_runs():
    run = strut.simulate(everything(), t=1.0, seed=1)
    for back in (pickled(run), copy.deepcopy(run)):
        assert back.status == run.status
        assert back.message == run.message
        np.testing.assert_array_equal(back["long"], run["long"])
        np.testing.assert_array_equal(back.at([0.3, 0.7])["twice"], run.at([0.3, 0.7])["twice"])
        assert back.events.counts() == run.events.counts()
        assert repr(back) == repr(run)
    loaded = strut.simulate(walkers.compass(), t=1.0)
    assert pickled(loaded).ledger.residual == loaded.ledger.residual
    batch = strut.simulate_batch(walkers.compass(), t=1.0, x0={"stance_rate": [-1.0, -0.9]})
    np.testing.assert_array_equal(pickled(batch).x, batch.x)


def test_a_pool_of_new_processes_gives_the_same_numbers():
    compass = walkers.compass()
    here = strut.simulate(compass, 1.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.starmap(strut.simulate, [(compass, 1.0)])[0]
    np.testing.assert_array_equal(there.raw.poly, here.raw.poly)
    np.testing.assert_array_equal(there.t, here.t)
    assert there.status == here.status
    assert lower_system(there.system).digest == lower_system(compass).digest


def all_kinds(kind):
    return [kind, *(below for k in kind.__subclasses__() for below in all_kinds(k))]


SPECIAL = {
    errors.NoGaitError: errors.NoGaitError("none", closest=0.5, fell={"fell": 3}),
    errors.MissingExtraError: errors.MissingExtraError("SciPy", "radau", "stiff"),
    ExpressionError: ExpressionError("no arithmetic", "a b", 2),
    FormulaError: FormulaError("odd", 4),
    NetworkError: NetworkError(
        [NetworkProblem("wrong", None, ("there",)), NetworkProblem("worse", None, ())]
    ),
}


@pytest.mark.parametrize("kind", all_kinds(errors.StrutError), ids=lambda kind: kind.__name__)
def test_errors(kind):
    error = SPECIAL.get(kind) or kind("'mass' is -1 kg: it must be positive")
    for back in (pickled(error), copy.deepcopy(error), copy.copy(error)):
        assert type(back) is kind
        assert str(back) == str(error)
        assert back.args == error.args
        assert repr(vars(back)) == repr(vars(error))


def test_a_mistake_keeps_its_place():
    mistake = Mistake("wrong", Mark(Source("file", "x = 1"), 1, 1)).at(None, "in block a")
    assert pickled(mistake).problem == mistake.problem
