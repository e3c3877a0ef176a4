"""On rigid ground with Coulomb's friction the ground never pulls and friction never drives, however feet that share a load come
to let go, slide and stick: bodies thrown and pushed anyhow, and COMAN, whose heel and toe share the load of a foot."""

from functools import cache

import numpy as np
import pytest

import strut
from strut.studies.coman_gait import POSTURE, coman_walker, hip_height
from strut.studies.coman_pictures import table_values
from strut.studies.known_gaits import known_gait
from strut.walkers import coman_planar
from tests.contact.test_painleve import begin, rod
from tests.contact.test_rigid import box

MOST_PULL = 1e-3
"""[N] By which a foot may pull: what the guard lets through and rounding, at some hundred newtons."""
MOST_DRIVE = 1e-9
"""[J] That friction may give by rounding of the integral of its power."""
INSTANT = 1e-10
"""[s] What lies closer together is one instant, in which forces may jump before events answer."""


def check(run, feet):
    """While time goes by no foot pulls, and friction only takes energy."""
    passes = np.diff(run.t) > INSTANT
    within = np.concatenate([[False], passes[:-1] & passes[1:], [False]])
    after = np.concatenate([passes, [False]])
    for foot in feet:
        normal = run[f"{foot}_normal"]
        assert normal[within | after].min(initial=0.0) > -MOST_PULL
        assert np.diff(run.ledger.dissipated[f"{foot}_friction"]).min(initial=0.0) > -MOST_DRIVE
    assert run.ledger.residual < 1e-5


@cache
def walker():
    return coman_walker("table", ground="rigid", events=True)


FEET = ("heel_r", "toe_r", "heel_l", "toe_l")


@pytest.mark.parametrize("mode", ["const", "step", "ppoly"])
def test_coman_walks_as_published_ground_is_rigid(mode):
    """In 'step' a toe that slid had drifted by a nanometre when its force vanished: the reset left out what pulls that back, said
    that it stood, and its guard never crossed zero again. In the others heel and toe shared their load, and sweeps were less
    exact than a force that had just vanished."""
    values = table_values(mode, known_gait(f"coman-{mode}").parameters)
    run = strut.simulate(walker().using(values), t=2.0, rtol=1e-8, atol=1e-8, max_steps=200_000)
    assert run.status == "done"
    check(run, FEET)
    released = [e for e in run.events if e.name.endswith("_release")]
    assert released
    for event in released:
        foot = event.name.removesuffix("_release")
        assert event.after[f"{foot}_on"] == 0 or event.after[f"{foot}_slip"] != event.before[f"{foot}_slip"]


@pytest.mark.parametrize("seed", range(6))
def test_coman_begins_anyhow(seed):
    rng = np.random.default_rng(seed)
    mode = ("const", "step", "ppoly")[seed % 3]
    posture = {n: v + rng.uniform(-0.15, 0.15) for n, v in POSTURE.items()}
    moving = {"x_rate": rng.uniform(0, 0.8), "friction": rng.choice([0.3, 0.8, 1.2])}
    moving |= {f"{joint}_{side}_rate": rng.uniform(-2, 2) for joint in ("hip", "knee") for side in "rl"}
    values = table_values(mode, known_gait(f"coman-{mode}").parameters)
    start = {**posture, **moving, "z": hip_height(posture)}
    run = strut.simulate(walker().using(values).using(start), t=1.0, rtol=1e-8, atol=1e-8, max_steps=200_000)
    assert run.status in ("done", "fall", "topple") or run.status.endswith("_painleve")
    check(run, FEET)


@pytest.mark.parametrize("mu", [0.5, 1.2, 2.0])
def test_rods_thrown_along_the_ground(mu):
    made = rod(mu)
    rng = np.random.default_rng(6)
    for _ in range(30):
        x0 = begin(rng.uniform(0.1, 1.5), rng.uniform(-5, 5), rng.uniform(-4, 4))
        check(strut.simulate(made, t=0.6, x0=x0, rtol=1e-8, atol=1e-8), ("tip", "top"))


def test_boxes_thrown_on_slopes():
    rng = np.random.default_rng(5)
    for _ in range(40):
        at = (0.0, rng.uniform(1.0, 1.5), rng.uniform(-0.8, 0.8))
        rate = (rng.uniform(-3, 3), rng.uniform(-2, 1), rng.uniform(-3, 3))
        made = box(
            w=rng.uniform(0.1, 0.9),
            h=rng.uniform(0.1, 0.9),
            at=at,
            rate=rate,
            friction=rng.uniform(0.1, 1.5),
            slope=rng.uniform(-0.4, 0.4),
        )
        check(strut.simulate(made, t=2.0, rtol=1e-8, atol=1e-8), ("corner_0", "corner_1"))


def test_what_is_unsolved_ends_the_run_with_a_sentence():
    made = coman_planar()
    run = strut.simulate(made.using(contact_is_unsolved=1.0), t=0.1)
    assert run.status == "contact_unsolved"
    assert not run.ok
    assert run.t1 == 0.0
    assert "the ground would have to pull" in made.event("contact_unsolved").description
