"""Return maps: their derivatives against differences, on every walker."""

import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import ModelError, UnknownNameError
from strut.gait import ReturnMap
from strut.gait.exchange import mirror
from strut.gait.gait import spectrum

TOLERANCE = 1e-6
"""Of derivatives against central differences, relative to the largest; what is left is the differences' own error."""

SETTLED = {
    "compass": 2,
    "simplest": 2,
    "round_foot": 2,
    "kneed": 2,
    "rimless_wheel": 2,
    "slip": 2,
    "point_3d": 2,
    "compass_duindam": 2,
    "dribbel": 1,
    "trunk_3d": 0,
    "compass_driven": 2,
    "saurel_d": 0,
}
"""Every walker of the catalogue, and how many steps it takes first; those without a gait fall soon."""
LARGE = ("dribbel", "trunk_3d")
"""A compiler needs longer for their variational equations than CasADi's machine for one step."""
PARAMETERS = {
    "compass": ("slope", "hip_mass"),
    "simplest": ("slope",),
    "rimless_wheel": ("slope", "length"),
    "slip": ("attack",),
}


def settled(name, steps, parameters=()):
    """A map, and a state that the section itself has made."""
    step = ReturnMap(getattr(walkers, name)(), parameters=parameters)
    y = step.free(step.start.x)
    for _ in range(steps):
        y = step(y).y
    return step, y


def simulated(step, y, period):
    """A step in the simulator, which knows nothing of variations: the free states just after the section."""
    system = step.system
    run = strut.simulate(system, t=1.02 * period, x0=step.whole(y), z0=step.start.z, rtol=1e-12, atol=1e-14)
    strike = next(e for e in run.events if e.name == step.section)
    x, z = (np.array([strike.after[n] for n in system.labels(g)]) for g in "xz")
    return step.free(mirror(system, x, z, step.start.p)[0] if system.symmetry else x)


def differences(function, at, size=1e-6):
    columns = [(function(at + e) - function(at - e)) / (2 * size) for e in size * np.eye(len(at))]
    return np.array(columns).T


@pytest.mark.parametrize("name", SETTLED)
def test_derivatives_are_those_of_the_simulator(name, monkeypatch):
    """Along directions that a walker can reach: those that the step before can produce. (A standing foot does not slide.)"""
    if name in LARGE:
        monkeypatch.setenv("STRUT_BACKEND", "virtual")
    step, y = settled(name, SETTLED[name])
    done = step(y)
    assert done.ok, done.status
    monkeypatch.delenv("STRUT_BACKEND", raising=False)
    U, s, _ = np.linalg.svd(done.by_y)
    reach = U[:, s > 1e-9 * s[0]]
    found = differences(lambda c: simulated(step, y + reach @ c, done.period), np.zeros(reach.shape[1]))
    assert np.abs(done.by_y @ reach - found).max() <= TOLERANCE * max(1.0, np.abs(found).max())


def test_every_walker_is_differentiated():
    others = {"bouncing-ball", "pendulum", "van-der-pol"}  # which make no steps
    others |= {"saurel-a", "saurel-b", "saurel-c", "saurel-e"}  # nor do these without a plan for their motors
    others |= {"rabbit", "rijt", "runner"}
    stepping = {make.__name__ for name, make in walkers.CATALOGUE.items() if name not in others}
    assert stepping == set(SETTLED)


@pytest.mark.parametrize("name", PARAMETERS)
def test_derivatives_by_parameters(name):
    step, y = settled(name, 1, PARAMETERS[name])
    p = np.array([step.start.p[k] for k in step.places])
    found = differences(lambda q: step(y, q).y, p)
    assert np.abs(step(y, p).by_p - found).max() <= TOLERANCE * max(1.0, np.abs(found).max())


def test_derivatives_of_the_period():
    step, y = settled("compass", 1, ("slope", "hip_mass"))
    p = np.array([step.start.p[k] for k in step.places])
    done = step(y, p)
    assert done.period_by_y == pytest.approx(
        differences(lambda e: np.array([step(e, p).period]), y)[0], rel=TOLERANCE
    )
    assert done.period_by_p == pytest.approx(
        differences(lambda q: np.array([step(y, q).period]), p)[0], rel=TOLERANCE
    )


@pytest.mark.parametrize(
    "name", ["compass", "simplest", "round_foot", "kneed", "rimless_wheel", "compass_duindam"]
)
def test_the_section_has_a_multiplier_of_zero(name):
    step, y = settled(name, 2)
    assert np.abs(spectrum(step(y).by_y)[0]).min() < 1e-10
    assert np.abs(np.linalg.eigvals(step(y).by_y)).min() < 1e-10


def test_two_steps_are_one_after_the_other():
    one, y = settled("compass", 0)
    y = y + np.array([0.01, -0.01, 0.02, 0.03])
    two = ReturnMap(walkers.compass(), steps=2)
    first = one(y)
    second = one(first.y)
    assert two(y).y == pytest.approx(second.y, abs=1e-14)
    assert two(y).by_y == pytest.approx(second.by_y @ first.by_y, abs=1e-12)
    assert two(y).period == pytest.approx(first.period + second.period)
    assert two(y).period_by_y == pytest.approx(first.period_by_y + second.period_by_y @ first.by_y, abs=1e-12)


def test_states_that_the_section_makes_equal_are_one():
    assert ReturnMap(walkers.kneed()).names == ("stance", "swing", "stance_rate", "swing_rate")


def test_progress_is_no_part_of_a_gait():
    assert "foot_x" not in ReturnMap(walkers.compass_duindam()).names
    assert ReturnMap(walkers.slip()).names == ("y", "vx", "vy")


def test_a_fall_says_so():
    done = ReturnMap(walkers.compass())([0.2, -0.3, -0.1, 0.0])
    assert not done.ok
    assert done.status == "sit"
    assert np.isnan(done.y).all()


def test_sections_that_are_not_there():
    with pytest.raises(UnknownNameError, match="heel_strike"):
        ReturnMap(walkers.compass(), "heel_srike")
    with pytest.raises(ModelError, match="'pendulum' does not walk"):
        ReturnMap(walkers.pendulum())
