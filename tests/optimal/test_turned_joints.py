"""A joint that a design turns far from where its machine was described is named."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from strut import Mechanism, Param, contact, gait, joints, optimal, walkers
from strut.optimal.walk import design as design_file
from strut.optimal.walk import turn_back
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.turned_joints import MAX_TURN, TurnedJoint, find_turned_joints

JOINT = TurnedJoint("torso", nearest=3.0, described=0.0)


def motion(compass, swing):
    """A motion of two moments in which the swing leg is at these angles [rad]; a stand-in for a solution."""
    labels = compass.labels("x")
    x = np.zeros((2, len(labels)))
    x[:, labels.index("swing")] = swing
    return SimpleNamespace(problem=SimpleNamespace(system=compass), phases=[SimpleNamespace(x=x)])


def test_what_hangs_the_other_way_all_through_is_named_and_what_passes_by_is_not():
    compass = walkers.compass().using(swing=0.0)
    (joint,) = find_turned_joints(motion(compass, (3.2, 3.1)), "heel_strike").values()
    sentence = joint.sentence
    assert "'swing' is about 3.1 rad all through the step, far from 0" in sentence
    assert "within={'swing': (low, high)} keeps it nearer" in sentence
    assert not find_turned_joints(motion(compass, (3.2, 0.1)), "heel_strike")
    assert not find_turned_joints(motion(compass, (MAX_TURN, -3.0)), "heel_strike")


def test_where_a_search_stopped_no_joint_is_turned(monkeypatch):
    """What it had there is no motion of the machine, so it says nothing of how the machine hangs."""
    walker = walkers.compass()
    design = optimal.design(walker, speed=0.5, slope=0.0, intervals=4, accuracy=None, backend="virtual")
    sentences = {"swing": JOINT}
    monkeypatch.setattr(design_file, "find_turned_joints", lambda result, section: sentences)
    for success, turned in ((True, (JOINT.sentence,)), (False, ())):
        of_it = replace(design, result=replace(design.result, success=success, status="infeasible here"))
        assert of_it.turned_joints == turned


def torso_walker():
    """A compass with a torso on its hip, as one describes it: upright."""
    forward = (0.0, -1.0, 0.0)
    m = Mechanism("torso_walker", planar=True)
    heel, foot = m.body("heel"), m.body("foot")
    m.joint("foot_x", m.world, heel, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", heel, foot, joints.prismatic("z"), actuated=False)
    stance = m.body("stance_leg", 5.0, (0, 0, 0.5))
    m.joint("stance", foot, stance, joints.revolute(forward), initial=0.2187, rate=-1.0924, actuated=False)
    hip = m.body("hip", 10.0)
    m.joint(
        "hip_level", stance, hip, joints.gear("stance", -1.0, of=joints.revolute(forward)), at=(0, 0, 1.0)
    )
    swing = m.body("swing_leg", 5.0, (0, 0, -0.5))
    m.joint("swing", hip, swing, joints.revolute(forward), initial=-0.3234, rate=-0.3774, actuated=False)
    torso = m.body("torso", 10.0, (0, 0, 0.4), inertia=0.3)
    m.joint("torso", hip, torso, joints.revolute(forward), actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -1.0))
    drives = [
        contact.Between("stance_hip", {"torso": 1, "stance": -1}),
        contact.Between("swing_hip", {"swing": 1, "torso": -1}),
    ]
    swap = {"stance": "swing", "swing": "stance"}
    legs = contact.Legs(
        ("foot_x", "foot_z"), "stance_foot", "swing_foot", swap, "hip", 0.75, drives, margin=0.02
    )
    return contact.stepping(m, legs, contact.plane(Param("slope", 0.0, "rad")))


@pytest.fixture(scope="module")
def walker():
    return torso_walker()


def test_a_design_that_hangs_is_also_looked_for_upright(walker):
    """Begun from a passive gait whose torso hangs down, where it is balanced, it ended there. Upright costs less;
    that the torso stays near to where it was described only guides, and is no limit of what comes out."""
    hanging = gait.find(walker.using(torso=math.pi, slope=0.05))
    stages = []
    design = optimal.design(
        walker,
        speed=0.5,
        slope=0.0,
        like=hanging,
        backend="virtual",
        progress=lambda s: stages.append(s.name),
    )
    upright = optimal.design(walker, speed=0.5, slope=0.0, within={"torso": (-1.5, 1.5)}, backend="virtual")
    assert math.cos(hanging.x0["torso"]) < -0.9
    assert "near the pose that was described" in stages
    assert design.ok, design.wrong
    assert not design.turned_joints
    assert design.result.cost == pytest.approx(upright.result.cost, rel=1e-6)
    assert not design.limits.own.within


def test_what_hangs_and_is_cheaper_stays(walker, monkeypatch):
    dear = SimpleNamespace(success=True, cost=2.0, cost_size=2.0, is_interrupted=False)
    cheap = SimpleNamespace(success=True, cost=1.0, cost_size=1.0, is_interrupted=False)
    watch = SimpleNamespace(tell=lambda *words: None, with_share=lambda share: None, may_go_on=True)

    def design_of(result):
        limits = SimpleNamespace(guides={})
        return SimpleNamespace(
            result=result, section="heel_strike", ok=True, price=None, limits=limits, guess=lambda: None
        )

    task = DesignTask(walker=walker, free=(), cost="squared-torque", reference=None, settings={}, watch=watch)
    monkeypatch.setattr(turn_back, "find_turned_joints", lambda result, section: {"torso": JOINT})
    monkeypatch.setattr(turn_back, "replace", lambda task, **changes: task)
    hangs, stands = design_of(cheap), design_of(dear)
    assert turn_back.turn_back(hangs, task, lambda near: stands, lambda near: stands) is hangs
    assert turn_back.turn_back(stands, task, lambda near: hangs, lambda near: hangs) is hangs
