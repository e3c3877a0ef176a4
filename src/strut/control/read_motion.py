"""`reference_motion`: the motion that is to be held, read from the trajectory of a gait or of a design."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.control.reference_motion import (
    END_INSET,
    END_SLACK,
    ReferenceMotion,
    ReferencePhase,
    flow_function,
)
from strut.errors import ModelError
from strut.gait import Gait
from strut.gait.exchange import exchange_function
from strut.gait.section import section_of
from strut.optimal import Design
from strut.optimal.walk.with_plan import begin_with_plan
from strut.system import System, hold_disturbances, memo, start, sx, time

RATE_CHANGE_SLACK = 1e-9
"""[1] Change of a rate, or of its derivatives, by an event, relative to 1 + its size, up to which the event
changes nothing but flags."""
COMPARED_MOMENTS = 5
"""Moments between an event and the next at which the flow is compared with what it would be without it."""
SAME_INSTANT = 1e-9
"""[1] Part of the period within which an event is at the instant of another, which set it off."""
GRAZING_RATE = 1e-9
"""[1/s] Rate of a guard, in units of the guard, below which an event is grazed and has no derivative."""
SHORTEST_STEP = 1e-3
"""[1] Part of a period that a step takes at least: an event that ends one sooner is of the step before."""
PIECES_PER_STEP = 12
"""Pieces, at least, that a step is divided into."""


def reference_motion(source: Gait | Design) -> ReferenceMotion:
    """Return the steps of a gait or of a design as what is to be held.

    Raises ModelError where there is nothing that could hold it: no inputs, no gait; or several steps of a
    machine with left and right.
    """
    gait, plant = gait_and_plant(source)
    if not plant.size("u"):
        raise ModelError(
            f"'{plant.name}' has no inputs: nothing can hold its gait from moment to moment. Give it a motor "
            f"(an Input), hold the Design instead of the gait of its machine, or let parameters change from "
            f"step to step: control.step_lqr(gait, by=('...',))"
        )
    return read_motion(gait, plant)


def read_motion(gait: Gait, plant: System) -> ReferenceMotion:
    """Return the motion of a gait, of a machine that may have no inputs. Raises ModelError for several steps
    of a machine with left and right."""
    if gait.steps != 1 and plant.symmetry:
        raise ModelError(
            f"the gait of '{plant.name}' repeats after {gait.steps} steps, and left and right are exchanged "
            f"after each: of such machines, what is held repeats after one step. Leave out the symmetry "
            f"(system.replace(symmetry={{}})), and a gait of left and right is one of the section of one foot"
        )
    return _read_motion(gait, plant)


def gait_and_plant(source: Gait | Design) -> tuple[Gait, System]:
    """Return the gait, and the machine with its inputs open, which begins as the gait does."""
    if isinstance(source, Gait):
        plant = hold_disturbances(source.system)
        return source, plant.using({**source.x0, **source.z0})
    if source.gait is None:
        raise ModelError(
            f"the design of '{source.system.name}' has no gait "
            f"({source.replay.no_gait or 'it does not repeat'}): only a motion that repeats in the "
            f"simulator can be held"
        )
    jumping = [phase for phase in source.result.problem.phases if phase.by_inputs]
    if jumping:
        raise ModelError(
            f"the plan of '{source.system.name}' lets a foot go by inputs that jump ('{jumping[0].until}'): "
            f"what holds a gait waits for the events of its phases, and this one would not come by itself; "
            f"hold a design with phases=(...) without it, such as one that keeps its feet flat"
        )
    plant = begin_with_plan(source.result)
    own = {n: v for n, v in source.gait.x0.items() if n in plant.labels("x")}
    flags = {n: v for n, v in source.gait.z0.items() if n in plant.labels("z")}
    return source.gait, plant.using({**own, **flags})


def _read_motion(gait: Gait, plant: System) -> ReferenceMotion:
    """Return the motion from the trajectory of a gait."""
    run = gait.trajectory
    names = plant.labels("x")
    section = section_of(plant, gait.section)
    motion = ReferenceMotion(gait=gait, plant=plant, phases=(), cyclic=section.cyclic, run=run)
    own_events = {e.name for e in plant.events}
    instant = SAME_INSTANT * gait.period
    piece_ends: list[float] = []  # of a plan, whose pieces the feedback shares
    phases: list[ReferencePhase] = []
    begin, origin, cyclic = 0.0, np.zeros(len(names)), list(section.cyclic)
    origin[cyclic] = [gait.x0[names[place]] for place in cyclic]
    # what the end of the step before sets off as this one begins; and what happened at this instant
    count, crossing = len(names), None
    leading, since_crossing = (np.eye(count + plant.size("z")) for _ in range(2))
    for number, event in enumerate(run.events):
        if event.name not in own_events:
            piece_ends.append(event.t)
            continue
        read = _EventReading(motion, number, tuple(piece_ends))
        ends_step = event.name == gait.section and event.t > SHORTEST_STEP * gait.period
        last = ends_step and event.t > (1 - SHORTEST_STEP) * gait.period
        if event.t <= instant:
            leading = read.reset @ leading
            continue
        if crossing is not None and event.t - crossing.event.t <= instant:
            # what another event sets off comes when that one does: its own guard says nothing of the time
            since_crossing = read.reset @ since_crossing
        else:
            crossing, since_crossing = read, read.reset
        if last:
            since_crossing[:count] = _exchange(plant, read) @ since_crossing[:count]
        same_instant = bool(phases) and event.t - phases[-1].end <= instant  # no phase lies between
        if same_instant or read.changes_motion or ends_step:
            before = phases.pop() if same_instant else None
            span = (begin if before is None else before.begin, event.t)
            phase = _phase(crossing, since_crossing[:count, :count], span, piece_ends)
            name = event.name if before is None or ends_step else before.event
            phases.append(replace(phase, event=name, origin=origin))
            begin = event.t
        if ends_step:
            phases[-1].jump[cyclic] = 0.0
            origin = np.zeros(len(names))
            origin[cyclic] = read.after[cyclic]
        if last:
            break
    # what the section sets off is of the step that it begins, but of this one's deviations
    set_off = leading[:count, :count]
    phases[-1] = replace(phases[-1], jump=set_off @ phases[-1].jump, reset=set_off @ phases[-1].reset)
    return replace(motion, plan_ends=tuple(piece_ends), phases=tuple(phases))


class _EventReading:
    """One event of a motion: states before and after it, the inputs, the gradient of its guard, and the
    derivative of its reset: of all states after it, discrete ones below the others, by those before it. What
    an event sets discrete states to, another one may read that it sets off."""

    def __init__(self, motion: ReferenceMotion, number: int, piece_ends: tuple[float, ...]) -> None:
        gait, plant = motion.gait, motion.plant
        self.motion, self.event = motion, motion.run.events[number]
        names, discrete, sides = plant.labels("x"), plant.labels("z"), (self.event.before, self.event.after)
        self.before, self.after = (np.array([side[n] for n in names]) for side in sides)
        self.z_before, self.z_after = (np.array([side[n] for n in discrete]) for side in sides)
        # where the plan's own piece ended a rounding early, its inputs are those before
        t, slack = self.event.t, END_SLACK * gait.period / PIECES_PER_STEP
        early = [end for end in piece_ends if t - slack < end <= t]
        moment = min(early, default=t) - END_INSET * gait.period
        self.u = motion.samples(np.array([max(moment, 0.0)]))[1][0]
        self.p = start(plant).p
        parts = memo(plant, jump_function, self.event.name)(t, self.before, self.z_before, self.u, self.p)
        self.reset, gradient, by_time = (np.array(part) for part in parts)
        self.gradient, self.guard_by_time = gradient[0], float(by_time[0, 0])

    @property
    def changes_motion(self) -> bool:
        """Whether more changes than flags that the motion up to the next event does not depend on."""
        if np.abs(self.after - self.before).max(initial=0.0) > 0:
            return True
        if np.array_equal(self.z_before, self.z_after):
            return False
        rates, event = memo(self.motion.plant, flow_derivatives), self.event
        run, own = self.motion.run, {e.name for e in self.motion.plant.events}
        times = [t for name, t in zip(run.events.names, run.events.t, strict=True) if name in own]
        end = min([t for t in times if t > event.t], default=run.t1)
        inside = event.t + (end - event.t) * np.linspace(END_INSET, 1 - END_INSET, COMPARED_MOMENTS)
        for x, u in zip(*self.motion.samples(inside), strict=True):
            without, with_flags = (
                np.array(rates(event.t, x, z, u, self.p)) for z in (self.z_before, self.z_after)
            )
            if np.any(np.abs(with_flags - without) > RATE_CHANGE_SLACK * (1 + np.abs(without))):
                return True
        return False

    def onto_guard(self) -> np.ndarray:
        """Return the derivative that moves a neighbour along the flow onto the guard, which came to zero by
        itself. With the clock set by the event, nothing else of the saltation matrix is left but the reset:
        its part with the flow after the event belongs to a clock that runs on."""
        plant, event = self.motion.plant, self.event
        rate = np.array(memo(plant, flow_function)(event.t, self.before, self.z_before, self.u, self.p))[:, 0]
        guard_rate = float(self.gradient @ rate + self.guard_by_time)
        if abs(guard_rate) < GRAZING_RATE:
            raise ModelError(
                f"the gait of '{plant.name}' only grazes its event '{event.name}' (its guard changes by "
                f"{guard_rate:.2g} per second there): what neighbours do there has no derivative"
            )
        return np.eye(len(rate)) - np.outer(rate, self.gradient) / guard_rate


def _phase(
    crossing: _EventReading, reset: np.ndarray, span: tuple[float, float], piece_ends: list[float]
) -> ReferencePhase:
    """Return the phase that an event ends whose guard came to zero by itself. reset: the derivative of the
    state after all that happened at that instant. span: when it begins and ends [s]."""
    gait = crossing.motion.gait
    return ReferencePhase(
        event=crossing.event.name,
        crossed=crossing.event.name,
        begin=span[0],
        end=span[1],
        breaks=_breaks(*span, piece_ends, gait.period / gait.steps),
        x_end=crossing.before,
        z=crossing.z_before,
        u_end=crossing.u,
        jump=reset @ crossing.onto_guard(),
        reset=reset,
        guard=crossing.gradient,
        origin=np.zeros(len(crossing.before)),
    )


def _breaks(begin: float, end: float, piece_ends: list[float], step_time: float) -> np.ndarray:
    """Return where pieces of a phase begin and end [s]: those of the plan, none longer than a part of the
    step."""
    longest = step_time / PIECES_PER_STEP
    inner = [t for t in piece_ends if begin + 1e-6 * step_time < t < end - 1e-6 * step_time]
    ends = [begin, *inner, end]
    parts = [
        np.linspace(a, b, max(int(np.ceil((b - a) / longest - 1e-6)), 1) + 1)[:-1] for a, b in pairwise(ends)
    ]
    return np.concatenate([*parts, [end]])


def flow_derivatives(system: System) -> ca.Function:
    """Return the flow and its derivatives by states and inputs, one beside the other."""
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    by_x, by_u = (ca.jacobian(flow, system.vector(group)) for group in "xu")
    return system.function("flow_derivatives", [ca.horzcat(flow, by_x, by_u)])


def jump_function(system: System, event: str) -> ca.Function:
    """Return a function of what the derivative of an event is made of: the derivative of the states after it,
    the discrete ones included, by those before; the gradient of its guard; and the guard's own rate."""
    jump = system.event(event)
    after = ca.vertcat(*[sx(jump.reset.get(q.name, q.sym)) for q in (*system.x, *system.z)])
    guard, x = sx(jump.guard), system.vector("x")
    reset = ca.jacobian(after, ca.vertcat(x, system.vector("z")))
    return system.function("jump", [reset, ca.jacobian(guard, x), ca.jacobian(guard, time)])


def _exchange(system: System, read: _EventReading) -> np.ndarray:
    """Return the derivative of the exchange of left and right, after an event."""
    if not system.symmetry:
        return np.eye(len(read.after))
    return np.array(memo(system, exchange_function)(read.after, read.z_after, read.p)[2])


__all__ = ["gait_and_plant", "read_motion", "reference_motion"]
