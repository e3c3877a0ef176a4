"""Gaits in which an event sets off others at the same instant: the step that a regulator is computed along has the
derivative of all of them."""

import casadi as ca
import numpy as np
import pytest

from strut import Discrete, Event, Input, State, System, control, gait
from strut.control.motion_table import motion_table
from strut.control.read_motion import reference_motion
from strut.control.regulator import _Linearised
from strut.control.riccati import step_matrices
from strut.control.weights import deviations

TABLE_ACCURACY = 1e-5
"""Of derivatives: the motion is a table of polynomials, and the flow along it is of fourth order."""


def bouncer(*, flag_first=False, section_last=False, section_first=False):
    """A mass on a spring that is struck twice in a swing, each time by two or three events at one instant.

    flag_first: the event that happens by itself sets a flag alone, and all else is what it sets off. section_last:
    the event that ends a step is set off. section_first: the one that ends a step sets off another, which is then the
    first of the next step.
    """
    x, v, w = State("x", 0.0, "m"), State("v", 2.0, "m/s"), State("w", 0.3)
    stage, kick = Discrete("stage", 0.0), Discrete("kick", float(section_first))
    u = Input("push")
    on = lambda condition, guard: ca.if_else(condition, guard, -1)  # noqa: E731
    first = {"stage": 1.0} | ({} if flag_first else {"v": 0.8 * v.sym + 0.1 * w.sym})
    stands = stage.sym < 0.5
    lands, ends = "lands", "ends"
    last = {"stage": 0.0, "kick": 1.0, "v": -0.7 * v.sym + 0.5, "w": w.sym + 0.2 * x.sym}
    strike = Event(
        lands, on(stage.sym == 2, -x.sym), {"stage": 3.0, "v": 0.9 * v.sym} if section_last else last
    )
    events = [
        Event("rises", on(stands, x.sym - 0.5), first),
        # its guard varies with the state, but when it happens is the other event's time
        Event(
            "follows",
            on(stage.sym == 1, 1 + v.sym + 3 * x.sym),
            {"stage": 2.0, "v": v.sym + 0.4 * x.sym * w.sym},
        ),
        strike,
    ]
    if section_last:
        events.append(Event(ends, on(stage.sym == 3, 2 + v.sym + w.sym), last))
    if section_first:
        struck = {"kick": 0.0, "v": v.sym + 0.3 * w.sym, "w": 0.8 * w.sym + 0.1 * v.sym}
        events.append(Event("kicks", on(kick.sym > 0.5, 1 + v.sym), struck, eager=True))
    # what is before the second event at once is never seen
    pull = ca.if_else(stage.sym == 1, 50.0, ca.if_else(stage.sym == 2, 6.0, 4.0))
    machine = System(
        "bouncer",
        x=(x, v, w),
        z=(stage, kick),
        u=(u,),
        flow={x: v.sym, v: -pull * x.sym - 0.1 * v.sym + u.sym, w: 0.5 - w.sym + 0.2 * x.sym**2},
        events=tuple(events),
    )
    return machine, ends if section_last else lands


CASES = [
    {},
    {"flag_first": True},
    {"section_last": True},
    {"section_first": True},
    {"flag_first": True, "section_last": True, "section_first": True},
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case) or "plain")
def bouncing(request):
    machine, section = bouncer(**request.param)
    return gait.find(machine, {"x": 0.0, "v": 2.0, "w": 0.4}, section, starts=0)


def central_differences(found):
    step, y, h = found.map(), found.y0, 1e-6
    return np.column_stack([(step(y + h * e).y - step(y - h * e).y) / (2 * h) for e in np.eye(len(y))])


def test_the_linear_step_is_that_of_the_machine(bouncing):
    motion = reference_motion(bouncing)
    table = motion_table(motion, None)
    scale = deviations(motion.plant, table.states, None)
    step = step_matrices(_Linearised(table, scale).stretches(np.ones(1)))[0] * scale[:, None] / scale
    differences = central_differences(bouncing)
    assert np.abs(np.linalg.eigvals(differences)).max() > 0.05  # there is something to compare
    # of a step that begins just after its section; the linear one begins after all that this sets off
    assert np.sort(np.abs(np.linalg.eigvals(step))) == pytest.approx(
        np.sort(np.abs(np.linalg.eigvals(differences))), abs=TABLE_ACCURACY
    )
    assert all(phase.end > phase.begin for phase in motion.phases)


def test_it_is_held(bouncing):
    held = control.lqr(bouncing, index="time", deviation={"w": 0.1}, effort={"push": 2.0})
    assert held.stable
    assert abs(held.gait.multipliers[0]) < abs(bouncing.multipliers[0])
    modulus = np.sort(np.abs(np.linalg.eigvals(central_differences(held.gait))))[::-1]
    assert modulus[:3] == pytest.approx(np.abs(held.gait.multipliers[:3]), abs=1e-5)


def test_a_spring_that_begins_to_act_where_it_is_slack_is_another_phase():
    """Its force is zero when it is switched on, so no rate changes then, but later ones do."""
    x, v = State("x", 0.0, "m"), State("v", 2.0, "m/s")
    touches, u = Discrete("touches", 0.0), Input("push")
    force = -200 * touches.sym * ca.fmax(x.sym - 0.3, 0) ** 1.5
    machine = System(
        "wall",
        x=(x, v),
        z=(touches,),
        u=(u,),
        flow={x: v.sym, v: -3.0 - 0.2 * v.sym + force + u.sym},
        events=(
            Event("meets", ca.if_else(touches.sym < 0.5, x.sym - 0.3, -1), {"touches": 1.0}),
            Event(
                "returns", ca.if_else(touches.sym > 0.5, -x.sym, -1), {"touches": 0.0, "v": 1 - 0.5 * v.sym}
            ),
        ),
    )
    found = gait.find(machine, {"x": 0.0, "v": 2.0}, "returns", starts=0)
    motion = reference_motion(found)
    assert [phase.event for phase in motion.phases] == ["meets", "returns"]
    table = motion_table(motion, None)
    scale = deviations(motion.plant, table.states, None)
    step = step_matrices(_Linearised(table, scale).stretches(np.ones(1)))[0] * scale[:, None] / scale
    assert np.sort(np.abs(np.linalg.eigvals(step))) == pytest.approx(
        np.sort(np.abs(np.linalg.eigvals(central_differences(found)))), abs=1e-4
    )
