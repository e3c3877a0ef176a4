"""Joints that are asked to go beyond their ranges: they stop at the ends, come back, and torques are quiet."""

import numpy as np
import pytest

from strut import control, mechanism

from .test_qp_solvers import arm_of_two_links

END = 0.8
"""[rad] Of the elbow."""


@pytest.mark.parametrize(("every", "overshoot"), [(1e-3, 1e-6), (5e-3, 1e-4), (1e-2, 1e-3)])
def test_a_soft_task_beyond_a_range_leaves_torques_quiet(every, overshoot):
    """The elbow is asked for 0.4 rad more than it can. It passes its end by little, as torques and not
    accelerations are held for a sample, comes back to it, and rests there: the torque is that of statics."""
    m = arm_of_two_links()
    tasks = [
        control.JointTask(joint="shoulder", target=0.6, stiffness=100.0),
        control.JointTask(joint="elbow", target=1.2, stiffness=100.0),
    ]
    body = control.BodyModel(m)
    controller = control.whole_body(
        body, every=every, tasks=tasks, torque_limit=100.0, acceleration_limit=200.0
    )
    run = controller.run(mechanism.system(m), 3.0)
    assert run.ok, run.faults
    elbow = run.trajectory["elbow"]
    assert elbow.max() - END < overshoot
    assert abs(elbow[-1] - END) < 1e-12  # it came back
    late = run["elbow_torque"][run.t > 2.0]
    statics = body.at(body.h, [run.trajectory["shoulder"][-1], END], np.zeros(2))[1]
    assert abs(late - statics).max() < 1e-4
    assert np.ptp(late) < 1e-5  # full scale, as it once was, would be 200


def test_a_joint_that_begins_beyond_its_range_comes_back_gently():
    m = arm_of_two_links()
    task = control.PostureTask(target={"shoulder": 0.0, "elbow": 1.2}, stiffness=100.0)
    controller = control.whole_body(
        control.BodyModel(m), every=1e-3, tasks=[task], torque_limit=100.0, acceleration_limit=200.0
    )
    run = controller.run(mechanism.system(m), 2.0, x0={"elbow": 1.0})
    assert run.ok, run.faults
    assert abs(run.trajectory["elbow"][-1] - END) < 1e-9
    # no faster than one sample of the acceleration that is allowed makes it, 0.2 rad/s
    assert run.trajectory["elbow_rate"].min() > -0.21
