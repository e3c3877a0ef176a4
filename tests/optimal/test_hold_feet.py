"""Machines on rigid ground with Coulomb's friction: plans whose feet hold, replayed with that friction."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from strut import contact, optimal, simulate
from strut.errors import ModelError
from strut.optimal.walk.hold_feet import friction_limit, hold_feet, landing_cones
from strut.optimal.walk.kinematic_stride import Kinematics
from strut.system import start, sx
from tests.optimal.floating import five_links, on_rigid_ground, telescopic

FRICTION = 0.6


@pytest.fixture(scope="module")
def rough():
    return on_rigid_ground(telescopic(), friction=FRICTION, fall=("torso", 0.4))


def landing_states(walker, count=60):
    """Random states in which the right foot stands still and the left one comes down."""
    random, begin = np.random.default_rng(4), start(walker)
    labels, z = walker.labels("z"), begin.z.copy()
    z[labels.index("foot_r_on")], z[labels.index("foot_l_on")] = 1.0, 0.0
    x = begin.x + random.uniform(-0.3, 0.3, (count, len(begin.x)))
    lift = walker.labels("x").index("base.z")
    gap = walker.function("gap", [walker["foot_l_gap"]], clock=False)
    legs = Kinematics(walker, "foot_l_touchdown")
    for row in x:
        row[lift] -= float(gap(row, z, begin.u, begin.p)) + 1e-10
        still = legs.foot_velocities(walker.walk.feet[1], row)
        row[legs.velocities] -= np.linalg.pinv(still) @ still @ row[legs.velocities]
    return x, z, begin


def states_after(walker, event, x, z, begin):
    reset = walker.event(event).reset
    names = sorted(name for name in reset if not name.endswith("_slip") and name != "jammed_at")
    f = walker.function("after", [ca.vertcat(*[sx(reset[name]) for name in names])], clock=False)
    return np.array([np.array(f(row, z[: walker.size("z")], begin.u, begin.p)).reshape(-1) for row in x])


def test_a_landing_that_holds_is_that_of_ground_without_a_limit_and_of_very_rough_ground(rough):
    x, z, begin = landing_states(rough)
    held = states_after(hold_feet(rough), "foot_l_touchdown", x, z, begin)
    endless = on_rigid_ground(telescopic(), fall=("torso", 0.4))
    flags = dict(zip(rough.labels("z"), z, strict=True))
    own = np.array([flags[name] for name in endless.labels("z")])
    without = states_after(endless, "foot_l_touchdown", x, own, start(endless))
    assert np.abs(held).max() > 0.1
    np.testing.assert_allclose(held, without, rtol=0, atol=1e-12)
    # Coulomb's own landing does the same where the impulse is inside the cone.
    cones = ca.vertcat(*landing_cones(rough, "foot_l_touchdown"))
    inside = rough.function("cones", [cones], clock=False)
    sticks = np.array([np.array(inside(row, z, begin.u, begin.p)).min() > 0 for row in x])
    # The foot that stood leaves, as in a step.
    x, held, sticks = (part[held[:, 4] == 0] for part in (x, held, sticks))
    with_friction = states_after(rough, "foot_l_touchdown", x, z, begin)
    assert 2 <= sticks.sum() <= len(x) - 2
    np.testing.assert_allclose(with_friction[sticks], held[sticks], rtol=0, atol=1e-9)
    assert np.abs(with_friction[~sticks] - held[~sticks]).max() > 1e-2


def crane(**options):
    return on_rigid_ground(five_links(), fall=("torso", 0.3), **options)


def test_a_machine_that_slides_in_runs_is_designed_to_hold_and_replayed_with_its_friction():
    rough = crane(friction=FRICTION)
    design = optimal.design(rough, speed=0.5)
    assert design.result.ok
    assert design.replay.ok, design.replay.outcome_text
    assert "foot_l_slip" in design.machine.labels("z")  # it is the machine that may slide
    assert not [name for name in design.replay.run.events.names if "slide" in name or "stick" in name]
    assert design.limits["friction"] == FRICTION
    assert max(load.friction_needed for load in design.replay.foot_loads) < FRICTION
    endless = optimal.design(crane(), speed=0.5)
    assert design.result.cost == pytest.approx(endless.result.cost, rel=1e-5)
    # The same machine, thrown, slides: one description runs and is designed.
    thrown = simulate(rough, t=0.6, x0={"base.z": 0.9, "base.vx": 2.0})
    assert any(name.endswith("_slip") and np.abs(thrown[name]).max() > 0.5 for name in rough.labels("z"))


@pytest.mark.slow  # the return map of a machine with Coulomb's friction takes a compiler 40 s
def test_its_gait_has_multipliers():
    design = optimal.design(crane(friction=FRICTION), speed=0.5)
    assert design.ok, design.wrong
    endless = optimal.design(crane(), speed=0.5)
    expected = np.sort(np.abs(endless.gait.multipliers))[-3:]
    np.testing.assert_allclose(np.sort(np.abs(design.gait.multipliers))[-3:], expected, rtol=1e-3)


@pytest.mark.slow  # half a minute: so little friction is hard to keep to
def test_the_friction_of_the_ground_decides_and_is_named():
    slippery = crane(friction=0.2)
    assert friction_limit(slippery) == 0.2
    design = optimal.design(slippery, speed=0.5)
    assert design.result.ok
    limits = {each.name: each for each in design.active_limits}
    assert limits["friction"].sentence.startswith("friction is at most 0.2 (model): 1 more would save")


def test_more_friction_than_the_ground_gives_is_refused(rough):
    with pytest.raises(
        ModelError, match=r"friction is 0.9, and the ground of 'telescopic' gives 0.6: ask for at most that"
    ):
        optimal.design(rough, speed=0.5, friction=0.9)


def test_feet_that_do_not_say_how_they_hold_are_refused(rough):
    unknown = rough.replace(walk=replace(rough.walk, grips=()))
    with pytest.raises(
        ModelError,
        match=r"feet of 'telescopic' hold or slide \(foot_l_slip, foot_r_slip\).*a plan is of feet that hold.*"
        r"friction=0.7 \(--friction 0.7\)",
    ):
        optimal.design(unknown, speed=0.5)


def test_a_grip_of_no_foot_is_refused(rough):
    grip = replace(rough.walk.grips[0], foot="hand")
    with pytest.raises(ModelError, match="the foot of a grip of the walk of system 'telescopic' is 'hand'"):
        rough.replace(walk=replace(rough.walk, grips=(grip,)))


def test_ground_without_a_limit_has_no_grips():
    assert not on_rigid_ground(telescopic()).walk.grips
    assert not contact.rigid(telescopic(), ["foot_l", "foot_r"], friction=0).walk.grips
