"""`turn_back`: where a design turns joints far from where its machine was described, one near that pose is
looked for, too. The pose is a guide: it is taken away again, and the cheaper design is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from strut.optimal.solver.starts import SAME_COST
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.turned_joints import MAX_TURN, find_turned_joints

TURNED_SHARE = 0.5
"""The part of the budget that a search near the described pose has, and then the one that begins there,
within the time of the whole search."""


def turn_back(
    first: Design,
    task: DesignTask,
    begin: Callable[[DesignTask], Design],
    find: Callable[[DesignTask], Design],
) -> Design:
    """Return the cheaper of a design and one that was begun near the pose in which the machine was described;
    the first one where that turns no joint.

    begin: of a task, a step to begin from, neither accurate nor verified. find: of a task, its design. A
    torso that hangs down is balanced without a motor: a search that begins from a passive gait ends there,
    though upright may be cheaper. So joints that are far away all through are held within `MAX_TURN` of where
    they were described; from what comes out the search begins again without that.
    """
    joints = find_turned_joints(first.result, first.section) if first.result.success else {}
    away = {name: joint for name, joint in joints.items() if name not in task.own.within}
    if not away or first.result.is_interrupted or not task.watch.may_go_on:
        return first
    task.watch.tell("near the pose that was described", ", ".join(away))
    bounds = {name: (joint.described - MAX_TURN, joint.described + MAX_TURN) for name, joint in away.items()}
    own = replace(task.own, within={**task.own.within, **bounds})
    near = begin(replace(task, own=own, watch=task.watch.with_share(TURNED_SHARE)))
    if not near.result.success:
        return first
    task.watch.tell("from the pose that was described")
    reference = replace(task.reference, guess=near.guess())
    free = find(
        replace(
            task, reference=reference, watch=task.watch.with_share(TURNED_SHARE), guides=near.limits.guides
        )
    )
    cheaper = _asked_cost(free, task) < _asked_cost(first, task) - SAME_COST * first.result.cost_size
    return free if free.ok and (cheaper or not first.ok) else first


def _asked_cost(design: Design, task: DesignTask) -> float:
    """Return what was asked to be small, without a price on torque beside it."""
    return design.result.cost if design.price is None else design.parts()[str(task.cost)]


__all__ = ["turn_back"]
