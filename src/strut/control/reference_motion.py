"""`ReferenceMotion`: the steps of a gait or of a design in one form: states and inputs over time, phase by
phase, with what the events between do to a neighbour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait import Gait
from strut.gait.exchange import exchange_function
from strut.gait.section import section_of
from strut.optimal import Design
from strut.optimal.walk.with_plan import begin_with_plan, step_end_events
from strut.simulate import Trajectory
from strut.system import System, hold_disturbances, memo, start, sx, time

RATE_CHANGE_SLACK = 1e-9
"""[1] Change of a rate in an event, relative to 1 + |rate|, up to which it changes nothing but flags."""
GRAZING_RATE = 1e-9
"""[1/s] Rate of a guard, in units of the guard, below which an event is grazed and has no derivative."""
END_INSET = 1e-9
"""[1] Part of a piece by which samples at its ends are moved inwards: a plan may jump from piece to piece."""
END_SLACK = 1e-6
"""[1] Part of a piece within which the end of a plan's piece is taken for its own end."""
CONTINUATION_STEPS = 8
"""Steps of Runge and Kutta's method between two samples of a motion that goes on past its end."""
SHORTEST_STEP = 1e-3
"""[1] Part of a period that a step takes at least: an event that ends one sooner is of the step before."""
PIECES_PER_STEP = 12
"""Pieces, at least, that a step is divided into."""


@dataclass(frozen=True, eq=False)
class ReferencePhase:
    """A part of a step between events that change more than flags.

    event: that ends it. begin, end: times [s] of the step. breaks: times [s] at which pieces begin and end.
    x_end, z, u_end: the state and the inputs just before its event, and the discrete states throughout.
    jump: the derivative, by a deviation just before the event, of the deviation just after it, each taken
        where it meets the guard: what is left of the saltation matrix where the event sets the clock.
    reset: the derivative of the state after the event by the state before it, both at the same moment: what
        is left of the saltation matrix for an estimate that is reset when the machine is.
    guard: the gradient of the event's guard by the state before it.
    origin: the states that say how far it had come when its step began; 0 for all others.
    """

    event: str
    begin: float
    end: float
    breaks: np.ndarray
    x_end: np.ndarray
    z: np.ndarray
    u_end: np.ndarray
    jump: np.ndarray
    reset: np.ndarray
    guard: np.ndarray
    origin: np.ndarray


@dataclass(frozen=True, eq=False)
class ReferenceMotion:
    """One step that is to be held, or several, after which a gait repeats.

    gait: the step as it is without feedback. plant: the machine with its inputs open; it begins where the
        gait does. phases: see `ReferencePhase`. cyclic: places of states that merely say how far it has come.
        plan_ends: times [s] at which pieces of the plan end that the inputs follow.
    """

    gait: Gait
    plant: System
    phases: tuple[ReferencePhase, ...]
    cyclic: tuple[int, ...]
    run: Trajectory = field(repr=False)
    plan_ends: tuple[float, ...] = field(default=(), repr=False)

    @property
    def is_planned(self) -> bool:
        """Whether inputs follow a plan; else they are constant."""
        return all(f"{q.name}_planned" in self.gait.system.outputs for q in self.plant.u)

    @property
    def step_ends(self) -> tuple[str, ...]:
        """The events that end a step: the section, and the landing of the opposite foot."""
        return tuple(name for name in step_end_events(self.plant, self.gait.section) if name is not None)

    def samples(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return states and planned inputs, rows, at times [s] inside of phases."""
        moments = self.run.at(times)
        x = np.column_stack([moments[name] for name in self.plant.labels("x")])
        if not self.is_planned:
            return x, np.repeat(start(self.plant).u[None], len(times), axis=0)
        planned = [np.reshape(moments[f"{q.name}_planned"], (len(times), q.size)) for q in self.plant.u]
        return x, np.hstack(planned)

    def piece_samples(self, a: float, b: float, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return states and inputs at places (0 to 1) of the piece from `a` to `b` [s]."""
        inside = a + (b - a) * np.clip(places, END_INSET, 1 - END_INSET)
        x, u = self.samples(inside)
        # a plan goes on by its clock: where that is a rounding late or early, inputs are still the last
        # piece's, or already the next one's
        late = [t for t in self.plan_ends if a < t < a + END_SLACK * (b - a)]
        early = [t for t in self.plan_ends if b - END_SLACK * (b - a) < t < b]
        if not (late or early):
            return x, u
        begin, end = max(late, default=a) + END_INSET * (b - a), min(early, default=b) - END_INSET * (b - a)
        return x, self.samples(np.clip(inside, begin, end))[1]

    def states_beyond(self, phase: ReferencePhase, times: np.ndarray) -> np.ndarray:
        """Return states at times [s] after the end of a phase, in order, as if its event did not come: the
        flow goes on, with the last inputs."""
        return continue_flow(self.plant, phase.x_end, (phase.z, phase.u_end), times - phase.end)


def reference_motion(source: Gait | Design) -> ReferenceMotion:
    """Return the steps of a gait or of a design as what is to be held.

    Raises ModelError where there is nothing that could hold it: no inputs, no gait; or several steps of a
    machine with left and right.
    """
    gait, plant = gait_and_plant(source)
    if gait.steps != 1 and plant.symmetry:
        raise ModelError(
            f"the gait of '{plant.name}' repeats after {gait.steps} steps, and left and right are exchanged "
            f"after each: of such machines, what is held repeats after one step. Leave out the symmetry "
            f"(system.replace(symmetry={{}})), and a gait of left and right is one of the section of one foot"
        )
    if not plant.size("u"):
        raise ModelError(
            f"'{plant.name}' has no inputs: nothing can hold its gait from moment to moment. Give it a motor "
            f"(an Input), hold the Design instead of the gait of its machine, or let parameters change from "
            f"step to step: control.step_lqr(gait, by=('...',))"
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
    names, discrete = plant.labels("x"), plant.labels("z")
    section = section_of(plant, gait.section)
    motion = ReferenceMotion(gait=gait, plant=plant, phases=(), cyclic=section.cyclic, run=run)
    rates, p = memo(plant, flow_function), start(plant).p
    piece_ends, phases, begin = [], [], 0.0
    origin, cyclic = np.zeros(len(names)), list(section.cyclic)
    origin[cyclic] = [gait.x0[names[place]] for place in cyclic]
    for event in run.events:
        if event.name not in {e.name for e in plant.events}:
            piece_ends.append(event.t)  # of a plan, whose pieces the feedback shares
            continue
        before, after = (np.array([side[n] for n in names]) for side in (event.before, event.after))
        z_before, z_after = (np.array([side[n] for n in discrete]) for side in (event.before, event.after))
        ends_step = event.name == gait.section and event.t > SHORTEST_STEP * gait.period
        last = ends_step and event.t > (1 - SHORTEST_STEP) * gait.period
        # where the plan's own piece ended a rounding early, its inputs are those before
        early = [t for t in piece_ends if event.t - END_SLACK * gait.period / PIECES_PER_STEP < t <= event.t]
        moment = min(early, default=event.t) - END_INSET * gait.period
        u = motion.samples(np.array([max(moment, 0.0)]))[1][0]
        slopes = [
            np.array(rates(event.t, x, w, u, p))[:, 0] for x, w in ((before, z_before), (after, z_after))
        ]
        changes_motion = np.abs(after - before).max(initial=0.0) > 0 or np.any(
            np.abs(slopes[1] - slopes[0]) > RATE_CHANGE_SLACK * (1 + np.abs(slopes[0]))
        )
        if not (changes_motion or ends_step):
            continue
        jump, reset, guard = _jump(plant, event.name, (event.t, before, z_before, u, p), slopes[0])
        if last:
            exchange = _exchange(plant, after, z_after, p)
            jump, reset = exchange @ jump, exchange @ reset
        if ends_step:
            jump[cyclic] = 0.0
        breaks = _breaks(begin, event.t, piece_ends, gait.period / gait.steps)
        phases.append(
            ReferencePhase(
                event=event.name,
                begin=begin,
                end=event.t,
                breaks=breaks,
                x_end=before,
                z=z_before,
                u_end=u,
                jump=jump,
                reset=reset,
                guard=guard,
                origin=origin,
            )
        )
        begin = event.t
        if ends_step:
            origin = np.zeros(len(names))
            origin[cyclic] = after[cyclic]
        if last:
            break
    return replace(
        motion,
        plan_ends=tuple(piece_ends),
        phases=tuple(p for p in phases if p.end > p.begin + 1e-9 * gait.period or p.event == gait.section),
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


def flow_function(system: System) -> ca.Function:
    """Return the flow as a function of the time and of all vectors."""
    return system.function("flow", [ca.vertcat(*[system.flow[q.name] for q in system.x])])


def jump_function(system: System, event: str) -> ca.Function:
    """Return a function of what the derivative of an event is made of: the derivative of the state after it
    by the state before, the gradient of its guard, and the guard's own rate."""
    jump = system.event(event)
    after = ca.vertcat(*[sx(jump.reset.get(q.name, q.sym)) for q in system.x])
    guard, x = sx(jump.guard), system.vector("x")
    return system.function("jump", [ca.jacobian(after, x), ca.jacobian(guard, x), ca.jacobian(guard, time)])


def _jump(
    system: System,
    event: str,
    point: Sequence[Any],
    rate: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivative of the state after an event, by the state before it, where a neighbour is first
    moved along the flow onto the guard; the same of one that is reset where it is; and the gradient of the
    guard. With the clock set by the event, nothing else of the saltation matrix is left: its part with the
    flow after the event belongs to a clock that runs on."""
    by_x, gradient, by_time = (np.array(part) for part in memo(system, jump_function, event)(*point))
    guard_rate = float((gradient @ rate + by_time[:, 0])[0])
    if abs(guard_rate) < GRAZING_RATE:
        raise ModelError(
            f"the gait of '{system.name}' only grazes its event '{event}' (its guard changes by "
            f"{guard_rate:.2g} per second there): what neighbours do there has no derivative"
        )
    onto_guard = np.eye(len(rate)) - np.outer(rate, gradient[0]) / guard_rate
    return by_x @ onto_guard, by_x, gradient[0]


def _exchange(system: System, x: np.ndarray, z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the derivative of the exchange of left and right."""
    if not system.symmetry:
        return np.eye(len(x))
    return np.array(memo(system, exchange_function)(x, z, p)[2])


def continue_flow(
    system: System, x: np.ndarray, held: tuple[np.ndarray, np.ndarray], times: np.ndarray
) -> np.ndarray:
    """Return states, rows, at times [s] from now, along the flow with discrete states and inputs `held`, and
    no events (the classical Runge-Kutta method)."""
    rates, p = memo(system, flow_function), start(system).p
    rows, now = [], 0.0

    def slope(state: np.ndarray) -> np.ndarray:
        return np.array(rates(0.0, state, held[0], held[1], p))[:, 0]

    for t in times:
        h = (t - now) / CONTINUATION_STEPS
        for _ in range(CONTINUATION_STEPS if h else 0):
            k1 = slope(x)
            k2 = slope(x + h / 2 * k1)
            k3 = slope(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
        now = t
        rows.append(x)
    return np.array(rows)


__all__ = ["ReferenceMotion", "ReferencePhase", "continue_flow", "gait_and_plant", "reference_motion"]
