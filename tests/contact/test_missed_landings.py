"""Feet that turn round inside the ground, as drift leaves them: their landing is due at the speed that counts
as falling, and rounding must not decide whether they land."""

import numpy as np
import pytest

import strut
from strut import contact, joints
from strut.simulate import simulate_batch

STARTS = 1e-8 * (1 + np.random.default_rng(0).random(60))
"""[m/s] Upwards: less than a nanosecond of gravity's work away from rest."""


@pytest.fixture(scope="module")
def block():
    m = strut.Mechanism("block", planar=True)
    slider, body = m.body("slider"), m.body("block", 2.0, (0, 0, 0), 0.1)
    m.joint("x", m.world, slider, joints.prismatic("x"), actuated=False)
    m.joint("z", slider, body, joints.prismatic("z"), actuated=False)
    m.frame("sole", body, (0, 0, 0))
    return contact.rigid(m, ["sole"])


@pytest.mark.parametrize("depth", [5e-9, 5e-8], ids=["within what counts as touching", "deeper"])
def test_a_foot_that_turns_round_inside_the_ground_lands(block, depth):
    """Deeper than 1e-8 m nothing else would catch it: it would fall through the ground."""
    x0 = {"z": np.full(len(STARTS), -depth), "z_rate": STARTS}
    z0 = {"sole_on": np.zeros(len(STARTS))}
    runs = simulate_batch(block, 0.05, x0=x0, z0=z0)
    assert set(runs.status) == {"done"}
    assert (np.asarray(runs["sole_on"]) == 1).all()
    assert (runs.counts["sole_touchdown"] == 1).all()
    assert np.abs(runs["z"]).max() < depth
    assert (runs.counts["sole_caught"] == (depth > 1e-8)).all()  # which finds it on its way out
