"""Equilibria, linearisation and modes against closed forms."""

import numpy as np
import pytest

import strut
from strut import linear, walkers
from strut.errors import UnknownNameError
from strut.mechanism import Mechanism, constraints, joints, system
from tests.mechanism.test_mechanism import box


def test_pendulum_down_and_up():
    swing = walkers.pendulum(damping=0.2, length=2.0)
    down, up = linear.linearise(swing, x0=[0, 0]), linear.linearise(swing, x0=[np.pi, 0])
    np.testing.assert_allclose(down.A, [[0, 1], [-9.81 / 2, -0.05]], atol=1e-14)
    np.testing.assert_allclose(down.B, [[0], [0.25]], atol=1e-15)
    np.testing.assert_allclose(down.C, [[2, 0], [0, 0]], atol=1e-14)
    assert up.eigenvalues[0].real > 0
    mode = linear.modes(down)[0]
    assert mode.frequency == pytest.approx(np.sqrt(9.81 / 2) / (2 * np.pi))
    assert mode.damping == pytest.approx(0.025 / np.sqrt(9.81 / 2))
    assert mode.stable


def test_equilibrium_under_a_torque():
    """m g l sin(angle) = torque."""
    found = linear.equilibrium(walkers.pendulum(angle=0.3, rate=1.0), u={"torque": 5.0})
    assert found.ok
    assert found.states["angle"] == pytest.approx(np.arcsin(5 / 9.81), abs=1e-10)
    assert not linear.equilibrium(
        walkers.pendulum(angle=0.3), u={"torque": 50.0}
    ).ok  # too strong: there is none
    with pytest.raises(UnknownNameError, match="'angel' is not a state"):
        linear.equilibrium(walkers.pendulum(), hold=["angel"])


def test_pantograph_rests_and_swings_as_published():
    """Kieboom, section 4.15: rest at hip 0.600264, knee -1.054380; modes -3.870 +- 50.728i and -1.094 +- 12.451i. The other
    eigenvalues of the redundant coordinates are those of the stabilisation, -10 1/s."""
    m = Mechanism("pantograph")
    bodies = {}
    for name, mass, com, length in (
        ("hip", 0.01, -0.02, 0.04),
        ("knee", 0.02, -0.03, 0.06),
        ("ankle", 0.01, -0.025, 0.05),
        ("par", 0.1, 0.025, 0.05),
    ):
        bodies[name] = m.body(name, mass, (0, 0, com), box(mass, 0.01, 0.005, length))
    m.joint(
        "hip", m.world, bodies["hip"], joints.revolute(), initial=0.1 * np.pi, damping=1e-3, actuated=False
    )
    m.joint(
        "knee",
        bodies["hip"],
        bodies["knee"],
        joints.revolute(),
        at=(0, 0, -0.04),
        initial=-0.4 * np.pi,
        spring=0.1,
        rest=-0.4 * np.pi,
        actuated=False,
    )
    m.joint(
        "ankle",
        bodies["knee"],
        bodies["ankle"],
        joints.revolute(),
        at=(0, 0, -0.06),
        initial=0.4 * np.pi,
        actuated=False,
    )
    m.joint(
        "par",
        bodies["ankle"],
        bodies["par"],
        joints.revolute(),
        at=(0, 0, 0.02),
        initial=-0.4 * np.pi,
        actuated=False,
    )
    m.frame("top", bodies["par"], (0, 0, 0.06))
    m.frame("seat", bodies["hip"], (0, 0, -0.02))
    m.constrain(constraints.hinge("loop", "top", "seat"))
    leg = system(m, stabilise=10.0)
    rest = linear.equilibrium(leg)
    assert rest.ok
    assert rest.states["hip"] == pytest.approx(0.600264, abs=1e-6)
    assert rest.states["knee"] == pytest.approx(-1.054380, abs=1e-6)
    values = linear.linearise(leg, x0=rest.x).eigenvalues
    for expected in (-3.870 + 50.728j, -1.094 + 12.451j):
        assert np.abs(values - expected).min() < 2e-3
    assert np.sum(np.abs(values + 10) < 0.01) == 4


def test_bungee_jump():
    """Duindam, example 1.1: the lumped jumper stops 1.37 m above the ground and rests at 30.24 m; the one whose rope has
    mass, in ten lumps, hits it at -1.84 m."""

    def jumper(n):
        m = Mechanism("bungee", planar=True)
        at, lump = m.world, 9.0 / n
        for k in range(n):
            body = m.body(f"rope{k}", (91.0 if k == n - 1 else 0.0) + (lump if n > 1 else 0.0))
            m.joint(
                f"s{k}",
                at,
                body,
                joints.prismatic("z"),
                at=(0, 0, 60 if k == 0 else 0),
                spring=30.0 * n,
                damping=1.0 * n,
                actuated=False,
            )
            at = body
        m.frame("person", at)
        return system(m)

    def lowest(run):  # between the steps too: a linear system is integrated in long ones
        return min(run.at(t)["person_z"] for t in np.linspace(0, 20, 2001))

    lumped = strut.simulate(jumper(1), t=20.0)
    assert lowest(lumped) == pytest.approx(1.37, abs=0.01)
    assert linear.equilibrium(jumper(1)).states["s0"] + 60 == pytest.approx(30.243, abs=1e-3)
    spread = strut.simulate(jumper(10), t=20.0)
    assert lowest(spread) == pytest.approx(-1.84, abs=0.02)
    assert spread.ledger.relative < 1e-8
