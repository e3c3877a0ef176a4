"""Settings of controllers that make no sense are refused in a sentence, each by its name and value."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Discrete, control
from strut.control import (
    BodyModel,
    FrameTask,
    JointTask,
    MomentumGains,
    MomentumTask,
    MotorSpring,
    OrientationTask,
    PointContact,
    PostureTask,
    ReactiveStepping,
    ZmpPreview,
    stepped_zmp,
)
from strut.control.closed_loop import limit_command
from strut.errors import StrutError
from strut.mechanism import Mechanism, joints
from strut.system import limit_between
from tests.control.bipeds import biped, on_ground, standing
from tests.control.test_step_feedback import linear_pendulum

NAN = float("nan")


@pytest.fixture(scope="module")
def stand():
    """The planar biped and its controller that stands."""
    body = BodyModel(biped())
    return body, on_ground(body.mechanism), standing(body.mechanism, body)


def in_space():
    """One box in space."""
    m = Mechanism("box")
    box = m.body("box", 1.0, inertia=(1, 1, 1))
    m.joint("base", m.world, box, joints.free())
    m.frame("top", box, (0, 0, 1))
    return BodyModel(m)


STEPS = {"step_time": 0.2, "swing_height": 0.05, "shortest": 0.15, "longest": 1.0}
GAINS = {"torque_limit": 220.0, "force_limit": 1000.0, "com_stiffness": 1500.0, "momentum_limit": 430.0}
REFUSED = {
    "gains missing": (lambda b: MomentumGains(torque_limit=220.0), "force_limit.*com_stiffness.*momentum_limit"),
    "steps missing": (lambda b: ReactiveStepping(step_time=0.2), "swing_height.*shortest.*longest"),
    "weight": (lambda b: FrameTask(frame="torso", target=[0, 0], weight=-1), "weight of FrameTask of 'torso' is -1: a"),
    "stiffness": (lambda b: JointTask(joint="knee", target=0.0, stiffness=-2.0), "stiffness of JointTask of 'knee' is -2"),
    "damping": (lambda b: PostureTask(damping=-3.0), "damping of PostureTask is -3: a number of at least 0"),
    "level": (lambda b: PostureTask(level=0), "level of PostureTask is 0"),
    "parameter": (lambda b: PostureTask(stiffness=strut.Param("k", -4.0)), "stiffness of PostureTask is -4"),
    "target": (lambda b: FrameTask(frame="torso", target=[0.0, NAN]), "target of FrameTask of 'torso' is nan: finite"),
    "joint target": (lambda b: PostureTask(target={"knee_r": NAN}), "target of PostureTask is nan"),
    "no joint": (lambda b: PostureTask(target={}).rows(b), "names no joint: name some, or leave it out"),
    "momentum": (lambda b: MomentumTask(rate=0.0, of=("angular_z",)).rows(b), "momentum 'angular_z' of .* is always 0"),
    "momentum weight": (lambda b: MomentumTask(rate=0.0, of=("linear_x",), weight=-1.0), "weight of MomentumTask"),
    "rotation": (
        lambda b: OrientationTask(frame="top", target=2 * np.eye(3)).rows(in_space()),
        "target of frame 'top' is no rotation.*the determinant is 8",
    ),
    "friction": (lambda b: PointContact(frame="foot_r", friction=-0.5), "friction of contact 'foot_r' is -0.5"),
    "spring": (lambda b: MotorSpring(stiffness=0.0, inertia=0.1, limit=30.0), "stiffness of a MotorSpring is 0: a positive"),
    "step_time": (lambda b: ReactiveStepping(**STEPS | {"step_time": 0.0}), "step_time of reactive stepping is 0: a positive"),
    "swing_height": (lambda b: ReactiveStepping(**STEPS | {"swing_height": -0.1}), "swing_height of reactive stepping is -0.1"),
    "longest": (lambda b: ReactiveStepping(**STEPS | {"shortest": 0.6, "longest": 0.2}), "shortest of .* is 0.6 m, more than longest, 0.2"),
    "gains": (lambda b: MomentumGains(**GAINS | {"torque_limit": -1.0}), "torque_limit of momentum stepping is -1"),
    "law": (
        lambda b: control.step_feedback(linear_pendulum(), {"placed": NAN * ca.SX.sym("x")}, at="step"),
        "the law of 'placed' has a part that is no number",
    ),
    "footprints": (lambda b: stepped_zmp([0.0, NAN], 0.4, 0.04), "places of the feet must be finite"),
    "sampling": (
        lambda b: ZmpPreview(height=0.8).plan(stepped_zmp([0.0, 0.3], 0.4, 0.04)),
        "ZMP is sampled every 0.04 s and the preview controller samples every 0.005 s: make it with its own",
    ),
    "samples": (lambda b: stepped_zmp([0.0, 0.1], 0.45, 0.04), "a step of 0.45 s is 11.25 samples of 0.04 s"),
    "torque limit": (lambda b: control.whole_body(b, every=1e-3, tasks=[], torque_limit=-1.0), "torque_limit of 'whole_body' is -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_nonsense_is_refused(case, stand):
    make, words = REFUSED[case]
    with pytest.raises(StrutError, match=words):
        make(stand[0])


def test_a_torque_limit_may_be_infinite(stand):
    body, machine, _ = stand
    run = standing(body.mechanism, body, torque_limit=np.inf).run(machine, t=0.002)
    assert run.ok


def test_an_input_that_the_controller_sets_has_no_schedule(stand):
    _, machine, controller = stand
    name = next(iter(controller.command))
    with pytest.raises(StrutError, match=f"u sets '{name}', which 'whole_body' commands: leave it out"):
        controller.run(machine, t=0.01, u={name: 3.0})


def test_footprints_are_sampled_as_the_preview_samples():
    preview = ZmpPreview(height=0.8, every=0.02)
    assert np.array_equal(preview.stepped_zmp([0.0, 0.3], 0.1), [0.0] * 5 + [0.3] * 5)


def test_a_clip_keeps_what_is_no_number():
    x = ca.SX.sym("x")
    clip = ca.Function("clip", [x], [limit_between(x, -1.0, 2.0)])
    assert [float(clip(v)) for v in (-3.0, 0.5, 3.0)] == [-1.0, 0.5, 2.0]
    assert np.isnan(float(clip(NAN)))
    assert np.isnan(float(ca.Function("c", [x], [limit_command(x, (-1.0, 2.0))])(NAN)))


def test_a_controller_is_shown_in_a_line_and_updates_by_object(stand):
    body, _, controller = stand
    assert repr(controller).startswith("QpController('whole_body', every 0.001 s, ")
    assert len(repr(controller)) < 200
    count = Discrete("count", 0.0)
    counting = control.whole_body(
        body, every=1e-3, tasks=[PostureTask()], memory=(count,), update={count: count + 1.0}
    )
    assert list(counting.update) == ["count"]
