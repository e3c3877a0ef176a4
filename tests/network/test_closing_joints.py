"""Every closing joint on a body that swings: energy stays, and so does what the joint holds."""

import numpy as np
import pytest

from strut import network

SWINGING = """
integrator { method = "runge-kutta" }
include "physics/physics.cdn"
include "physics/cjoints.cdn"
node "system" : physics.system {
    node "a" : physics.joints.float {
        com = "[0.1; 0.2; -0.15]"  dq = "VELOCITY"
        node "at" : physics.jacobian { location = "[0.2; 0.1; -0.3]" }
    }
    node "c" : physics.cjoints.KIND { tr = "[0.2; 0.1; -0.3]" }
    edge from "a" to "c" : physics.cjoint {}
    SECOND
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""
SECOND = """
    node "b" : physics.joints.revoluteY { tr = "[0.5; 0; 0]"  com = "[0; 0; -0.4]"  q = 0.3 }
    edge from "c" to "b" : physics.cjoint {}
"""
AXES = {"X": 0, "Y": 1, "Z": 2}
KINDS = [
    *(f"{kind}{axis}" for kind in ("revolute", "prismatic", "planar") for axis in "XYZ"),
    "cubical",
    "spherical",
]
TURN, POINT = np.array([0.9, -1.1, 0.7]), np.array([0.2, 0.1, -0.3])
DRIFT = 2e-5  # of the kinetic energy, and [m]: what Runge-Kutta at 1 ms makes in a second; sixteen times less with half the step


def directions(kind):
    """Which turns and which directions of the point a joint holds."""
    axis = AXES.get(kind[-1])
    if kind == "cubical":
        return [0, 1, 2], []
    if kind == "spherical":
        return [], [0, 1, 2]
    others = [k for k in range(3) if k != axis]
    if kind.startswith("revolute"):
        return others, [0, 1, 2]
    return ([0, 1, 2], others) if kind.startswith("prismatic") else ([], others)


def swing(kind, second=""):
    """One second of it, from a motion that the joint allows."""
    turns, moves = directions(kind)
    turn = TURN.copy()
    turn[turns] = 0
    slide = np.array([0.3, -0.2, 0.4])
    slide[moves] = 0
    velocity = np.concatenate([turn, slide - np.cross(turn, POINT)])
    if second:  # the other body moves as well: begin at rest
        velocity[:] = 0
    text = SWINGING.replace("KIND", kind).replace("SECOND", second)
    text = text.replace("VELOCITY", "[" + "; ".join(f"{v:.17g}" for v in velocity) + "]")
    wanted = [
        "system.model.T",
        "system.model.U",
        "system.a.localToBaseTransform",
        "system.a.at.locationInBase",
    ]
    wanted += ["system.b.localToBaseTransform"] if second else []
    return network.loads(text).run_steps(1, 1e-3, outputs=wanted)


def rotations(run, body):
    return run[f"system.{body}.localToBaseTransform"].reshape(-1, 6, 6).transpose(0, 2, 1)[:, :3, :3]


@pytest.mark.parametrize("kind", KINDS)
def test_on_the_world(kind):
    run = swing(kind)
    energy = run["system.model.T"] + run["system.model.U"]
    assert np.max(np.abs(energy - energy[0])) < DRIFT * np.max(run["system.model.T"])
    turns, moves = directions(kind)
    point = run["system.a.at.locationInBase"]
    assert np.max(np.abs(point - point[0])[:, moves], initial=0) < DRIFT
    turned = rotations(run, "a")
    if len(turns) == 3:
        assert np.max(np.abs(turned - turned[0])) < DRIFT
    elif turns:
        axis = AXES[kind[-1]]
        assert np.max(np.abs(turned[:, :, axis] - turned[0, :, axis])) < DRIFT
    free = [k for k in range(3) if k not in moves]
    assert not free or np.max(np.abs(point - point[0])[:, free]) > 0.1  # it does swing


@pytest.mark.parametrize("kind", ["planarX", "planarY", "planarZ", "prismaticX"])
def test_between_bodies_that_both_move(kind):
    """A pendulum carries the line or plane along which the other body slides."""
    run = swing(kind, SECOND)
    energy = run["system.model.T"] + run["system.model.U"]
    assert np.max(np.abs(energy - energy[0])) < DRIFT * np.max(run["system.model.T"])
    _, moves = directions(kind)
    point, carrier = run["system.a.at.locationInBase"], rotations(run, "b")
    seen = np.einsum("nji,nj->ni", carrier, point - np.array([0.5, 0, 0]))
    away = np.einsum(
        "ij,nj->ni", carrier[0], seen
    )  # the axes of the joint are those of the world when the run begins
    assert np.max(np.abs(away - away[0])[:, moves]) < DRIFT
