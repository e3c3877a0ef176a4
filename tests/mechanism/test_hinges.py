"""Joints in pictures: where they are, about what they turn, and which are none."""

import numpy as np
import pytest

import strut
from strut import Mechanism, constraints, joints, mechanism, walkers
from strut.errors import ModelError
from strut.mechanism import shapes
from strut.system.scene import Hinge
from strut.view.motion import film, flat
from strut.view.motion import frames as staged


def pivots(run):
    return {p.name: p for p in run.stage(rate=20).pivots}


@pytest.fixture(scope="module")
def cart():
    """A cart that slides, with a pole that turns about an axis of its own, and a ball joint on top."""
    m = Mechanism("cart")
    base = m.body("base", 2.0, inertia=0.1)
    m.joint("slide", m.world, base, joints.prismatic("x"), rate=0.5)
    pole = m.body("pole", 1.0, (0, 0, 0.4), inertia=0.05)
    m.joint("swing", base, pole, joints.revolute((0, 0.6, 0.8)), at=(0.1, 0, 0.2), initial=0.5)
    top = m.body("top", 0.3, (0.2, 0, 0), inertia=0.01)
    m.joint("ball", pole, top, joints.spherical(), at=(0, 0, 0.8))
    m.frame("tip", pole, (0, 0, 0.8))
    for body in (base, pole, top):
        m.shape(body, shapes.sphere(0.1))
    return strut.simulate(mechanism.system(m), t=1)


def test_joints_are_where_bodies_meet(cart):
    found, at = pivots(cart), cart.at(cart.stage(rate=20).t)
    assert {name: p.kind for name, p in found.items()} == {
        "slide": "prismatic",
        "swing": "revolute",
        "ball": "ball",
    }
    moved = np.asarray(at["slide"])
    np.testing.assert_allclose(found["slide"].at, np.column_stack([moved, 0 * moved, 0 * moved]), atol=1e-12)
    np.testing.assert_allclose(
        found["swing"].at, np.column_stack([moved + 0.1, 0 * moved, 0 * moved + 0.2]), atol=1e-12
    )
    np.testing.assert_allclose(found["ball"].at, np.column_stack([at[f"tip_{x}"] for x in "xyz"]), atol=1e-12)
    np.testing.assert_allclose(found["swing"].axis, np.tile([0, 0.6, 0.8], (len(moved), 1)), atol=1e-12)
    np.testing.assert_allclose(found["slide"].axis, np.tile([1, 0, 0], (len(moved), 1)), atol=1e-12)


def test_an_axis_turns_with_its_body():
    m = Mechanism("arm")
    upper, lower = m.body("upper", 1.0, inertia=0.1), m.body("lower", 1.0, (0, 0, -0.2), inertia=0.1)
    m.joint("yaw", m.world, upper, joints.revolute("z"), rate=1.0)
    m.joint("pitch", upper, lower, joints.revolute("y"), at=(1, 0, 0))
    run = strut.simulate(mechanism.system(m), t=1)
    yaw = np.asarray(run.at(run.stage(rate=20).t)["yaw"])
    found = pivots(run)["pitch"]
    np.testing.assert_allclose(found.at, np.column_stack([np.cos(yaw), np.sin(yaw), 0 * yaw]), atol=1e-12)
    np.testing.assert_allclose(found.axis, np.column_stack([-np.sin(yaw), np.cos(yaw), 0 * yaw]), atol=1e-12)


def test_what_carries_a_floating_base_is_no_joint():
    assert [p.kind for p in strut.simulate(walkers.compass(), t=0.1).stage().pivots] == [
        "revolute"
    ]  # the hip
    m = Mechanism("block", planar=True)
    body = m.body("block", 1.0, inertia=0.01)
    m.joint("base", m.world, body, joints.planar("y"), actuated=False)
    assert strut.simulate(mechanism.system(m), t=0.1).stage().pivots == ()


def test_the_hip_is_where_the_legs_meet():
    run = strut.simulate(walkers.compass(), t=2)
    stage = run.stage()
    legs = {piece.name: piece.values for piece in stage.pieces}
    np.testing.assert_allclose(stage.pivots[0].at, legs["stance_leg"]["end"], atol=1e-12)


def test_closed_loops_have_a_joint_where_they_close():
    bar = Mechanism("four_bar", planar=True)
    parent, at = bar.world, (0, 0, 0)
    for name, angle in (("crank", 0.3), ("rod", 1.0), ("rocker", 0.9)):
        link = bar.body(name, mass=1.0, com=(0, 0, -0.5), inertia=1 / 12)
        bar.joint(name, parent, link, joints.revolute("y"), at=at, initial=angle)
        parent, at = link, (0, 0, -1)
    bar.frame("end", parent, (0, 0, -1))
    bar.frame("post", bar.world, (-1.2, 0, 0))
    bar.constrain(constraints.point("loop", "end", "post"))
    found = pivots(strut.simulate(mechanism.system(bar), t=0.5))
    assert set(found) == {"crank", "rod", "rocker", "loop"}
    np.testing.assert_allclose(found["loop"].at, np.tile([-1.2, 0, 0], (len(found["loop"].at), 1)), atol=1e-9)


def test_joints_survive_a_file_and_names(cart, tmp_path):
    loaded = strut.Trajectory.load(cart.save(tmp_path / "cart.h5"))
    for kept, whole in zip(loaded.stage().pivots, cart.stage(rate=30).pivots, strict=True):
        assert (kept.name, kept.kind) == (whole.name, whole.kind)
        np.testing.assert_allclose(kept.at, whole.at, atol=1e-6)
    two = strut.join(
        "two", strut.add_prefix(walkers.pendulum(), "a"), strut.add_prefix(walkers.pendulum(), "b")
    )
    assert [h.name for h in two.scene.hinges] == ["a.pivot", "b.pivot"]
    with pytest.raises(
        ModelError, match="the joint 'knee' is marked as 'weld': known are revolute, prismatic, ball"
    ):
        Hinge("knee", "weld", np.zeros(3), np.zeros(3))


def test_joints_are_drawn(cart):
    stage = staged.sample_frames(cart)
    with_joints, without = (flat.frame(stage, 3, flat.Look(joints=on)) for on in (True, False))
    seen = flat.eye(stage)
    new = with_joints[len(flat.machine(stage, 3, seen)) :][: len(with_joints) - len(without)]
    rings = [f.points.mean(axis=0) for f in new if f.fill == flat.PAPER]
    np.testing.assert_allclose(rings[0], seen(stage.pivots[0].at[3]), atol=1e-3)
    axes = [f for f in new if not f.fill]
    assert len(axes) == 2  # of what slides and what turns; a ball has none
    for line, pivot in zip(axes, stage.pivots[:2], strict=True):
        drawn, axis = line.points[1] - line.points[0], seen(pivot.axis[3])
        assert abs(drawn[0] * axis[1] - drawn[1] * axis[0]) < 1e-12
    packed = film.encode_film(stage)["pivots"]
    assert [p["kind"] for p in packed] == ["prismatic", "revolute", "ball"]
    at = stage.pivots[1].at
    level = np.ptp(at, axis=0).max() / film.FILM_LEVELS  # whole ones are kept, so half is lost
    np.testing.assert_allclose(film.rows(packed[1]["at"]), at, atol=1e-6 + level / 2)
