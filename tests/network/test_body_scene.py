"""Networks with rigid bodies have a film: their bodies are where the library says, machines keep theirs."""

from pathlib import Path

import numpy as np
import pytest

import strut
from strut import network, walkers
from strut.simulate.sample_scene import sample_scene
from strut.view.motion.film import film

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"

DOUBLE = """
include "physics/physics.cdn"
node "system" : physics.system {
    node "upper" : physics.joints.revoluteY { q = 0.3  com = "[0; 0; -0.4]"  m = 2 }
    node "lower" : physics.joints.revoluteY { q = -0.8  tr = "[0; 0; -0.9]"  com = "[0; 0; -0.25]"  m = 1 }
    edge from "upper" to "lower" : physics.joint {}
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""


def test_a_double_pendulum_is_drawn_where_it_hangs():
    system = network.loads(DOUBLE).system()
    run = strut.simulate(system, t=0.5, method="rk4", step=0.001, backend="virtual")
    seen = sample_scene(run)
    assert seen.planar
    capsules = [piece for piece in seen.pieces if piece.kind == "capsule"]
    rod = next(p for p in capsules if p.name == "system.upper" and np.hypot(*p.values["end"][0, ::2]) > 0.8)
    end = next(p for p in capsules if p.name == "system.lower")
    at = run.at(seen.t)
    first = at["system.upper.q"]
    both = first + at["system.lower.q"]
    # a turn about y takes -z towards -x
    knee = -0.9 * np.column_stack([np.sin(first), 0 * first, np.cos(first)])
    tip = knee - 0.25 * np.column_stack([np.sin(both), 0 * both, np.cos(both)])
    np.testing.assert_allclose(rod.values["end"], knee, atol=1e-9)
    np.testing.assert_allclose(end.values["end"], tip, atol=1e-9)
    com = (2 * 0.4 / 0.9 * knee + tip) / 3
    np.testing.assert_allclose(seen.com, com, atol=1e-9)
    assert [pivot.kind for pivot in seen.pivots] == ["revolute", "revolute"]


def test_a_loop_is_drawn_closed_and_contacts_push_on_the_ground():
    loop = network.load(EXAMPLES / "20_closed_loop.cdn").system().scene
    assert [hinge.kind for hinge in loop.hinges] == ["revolute"] * 3
    landing = network.load(EXAMPLES / "22_landing.cdn")
    run = strut.simulate(landing.system(), t=0.3, **landing.options(), backend="virtual")
    seen = sample_scene(run)
    assert seen.land is not None
    assert max(float(push.force[:, 2].max()) for push in seen.pushes) > 1.0  # it stands in the end
    assert film(run) is not None


def test_bodies_in_space_are_seen_in_space_and_nothing_without_bodies():
    assert not network.load(EXAMPLES / "17_joints.cdn").system().scene.planar
    assert network.load(EXAMPLES / "13_matsuoka.cdn").system().scene.parts == ()


def test_a_machine_in_a_network_keeps_its_film():
    compass = walkers.compass(slope=strut.deg(3))
    state = compass.x[0].name
    net = network.loads(f'node "walker" {{ {state} = 0 | in  seen = "2 * {state}" }}')
    whole = net.system(machines={"walker": compass})
    assert len(whole.scene.parts) == len(compass.scene.parts) > 0
    run = strut.simulate(whole, t=1.0, backend="virtual")
    alone = sample_scene(strut.simulate(compass, t=1.0, backend="virtual"))
    together = sample_scene(run)
    for one, other in zip(alone.pieces, together.pieces, strict=True):
        assert other.name == f"walker.{one.name}"
        for name, values in one.values.items():
            np.testing.assert_allclose(other.values[name], values, atol=1e-8)
    assert film(run) is not None


@pytest.mark.parametrize("name", ["20_closed_loop", "21_pantograph"])
def test_the_rods_of_a_loop_stay_as_long_as_they_are(name):
    """Also those that reach from both sides to the joint which closes the loop."""
    net = network.load(EXAMPLES / f"{name}.cdn")
    run = strut.simulate(net.system(), t=0.2, **net.options(), backend="virtual")
    rods = [piece for piece in sample_scene(run).pieces if piece.kind == "capsule"]
    lengths = [np.linalg.norm(rod.values["end"] - rod.values["start"], axis=1) for rod in rods]
    assert len(rods) >= 5
    assert [np.ptp(length) for length in lengths] == pytest.approx([0] * len(rods), abs=1e-6)
