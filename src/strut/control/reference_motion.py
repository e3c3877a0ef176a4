"""`ReferenceMotion`: the steps of a gait or of a design in one form: states and inputs over time, phase by
phase, with what the events between do to a neighbour."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut.gait import Gait
from strut.optimal.walk.with_plan import step_end_events
from strut.simulate import Trajectory
from strut.system import System, memo, start

END_INSET = 1e-9
"""[1] Part of a piece by which samples at its ends are moved inwards: a plan may jump from piece to piece."""
END_SLACK = 1e-6
"""[1] Part of a piece within which the end of a plan's piece is taken for its own end."""
CONTINUATION_STEPS = 8
"""Steps of Runge and Kutta's method between two samples of a motion that goes on past its end."""


@dataclass(frozen=True, eq=False)
class ReferencePhase:
    """A part of a step between events that change more than flags.

    event: that ends it, or is set off as it ends: what the loop waits for. crossed: the event at its end
        whose guard came to zero by itself. begin, end: times [s] of the step. breaks: times [s] at which
        pieces begin and end.
    x_end, z, u_end: the state and the inputs just before its event, and the discrete states throughout.
    jump: the derivative, by a deviation just before the event, of the deviation just after it and all that
        it sets off at the same instant, each taken where it meets the guard: what is left of the saltation
        matrix where the event sets the clock.
    reset: the derivative of the state after the event by the state before it, both at the same moment: what
        is left of the saltation matrix for an estimate that is reset when the machine is.
    guard: the gradient of the guard of `crossed` by the state before it.
    origin: the states that say how far it had come when its step began; 0 for all others.
    """

    event: str
    crossed: str
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
        planned = [f"{q.name}_planned" in self.gait.system.outputs for q in self.plant.u]
        return bool(planned) and all(planned)

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


def flow_function(system: System) -> ca.Function:
    """Return the flow as a function of the time and of all vectors."""
    return system.function("flow", [ca.vertcat(*[system.flow[q.name] for q in system.x])])


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


__all__ = ["ReferenceMotion", "ReferencePhase", "continue_flow", "flow_function"]
