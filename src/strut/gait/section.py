"""`Section`: the Poincaré section of a walker: the event that ends a step, and the states that a gait is free
in there."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states
from strut.system import System, memo, parameters, start

SAMPLE_POINTS = 7
"""Random points at which a property of expressions is checked; it holds or fails at almost all."""
EQUALITY_DEPTH = 50
"""Depth of expressions to which two states after the section are compared."""
SHIFT_SLACK = 1e-9
"""Rank tolerance, and smallest part of a unit vector that counts, of shifts that the flow does not notice."""


@dataclass(frozen=True, eq=False)
class Section:
    """The coordinates of a section.

    event: the one that ends a step.
    free: indices of states that a gait is free in; the others are `cyclic` (progress of the base: a walker
        does the same wherever it is) or `linked` to a free one (made equal by the section: a knee that is
        still locked).
    spread: x = rest + spread @ y, from the free states y.
    """

    event: str
    free: tuple[int, ...]
    cyclic: tuple[int, ...]
    spread: np.ndarray
    names: tuple[str, ...]

    def whole(self, y: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Whole states from free ones, of a row or of many; cyclic states are those of `rest`."""
        x: np.ndarray = y @ self.spread.T
        x[..., list(self.cyclic)] = rest[list(self.cyclic)]
        return x


def section_of(system: System, event: str | None = None) -> Section:
    """The section at an event, by default that of the walk. Worked out once per event and parameters: on
    level ground other states say how far a walker has come than on a slope."""
    return memo(system, _section, event or default_section(system), parameters(system).tobytes())


def default_section(system: System) -> str:
    """The event that ends a step, as the walk of a system says: its section, or the landing of the first foot
    that is off the ground when a run begins."""
    names = [e.name for e in system.events]
    if not names:
        raise ModelError(
            f"'{system.name}' does not walk: nothing happens to it that could end a step, it has no events. "
            f"A mechanism needs feet: contact.rigid(mechanism, feet), or a table [contact] in its model file"
        )
    landings = [] if system.walk is None else [foot for foot in system.walk.feet if foot.lands]
    if system.walk is None or not (system.walk.section or landings):
        raise ModelError(
            f"'{system.name}' does not say what ends a step: give its System a walk=Walk(section=...), or "
            f"say by section (--section) which "
            f"event it is, of {', '.join(names)}"
        )
    if system.walk.section:
        return system.walk.section
    begin = dict(zip(system.labels("z"), start(system).z, strict=True))
    swinging = [foot for foot in landings if begin.get(foot.stands) == 0]
    return (swinging or landings)[0].lands


def explain_status(system: System, status: str) -> str:
    """The status of a run, and what it means if it is an event that says so."""
    description = next((e.description for e in system.events if e.name == status), "")
    return f"{status}: {description}" if description else status


def _section(system: System, event: str, values: bytes) -> Section:
    """The section at an event, for parameters whose bytes are `values`."""
    nx = system.size("x")
    cyclic = _cyclic_states(system, np.frombuffer(values))
    after = system.after(event, mirrored_states(system))
    leader: dict[int, int] = {}
    for j in range(nx):
        if j in cyclic:
            continue
        for i in range(j):
            if i not in cyclic and i not in leader and ca.is_equal(after[i], after[j], EQUALITY_DEPTH):
                leader[j] = i
                break
    free = tuple(i for i in range(nx) if i not in cyclic and i not in leader)
    spread = np.zeros((nx, len(free)))
    for k, i in enumerate(free):
        spread[i, k] = 1.0
    for j, i in leader.items():
        spread[j, free.index(i)] = 1.0
    labels = system.labels("x")
    return Section(event, free, cyclic, spread, tuple(labels[i] for i in free))


def _cyclic_states(system: System, p: np.ndarray) -> tuple[int, ...]:
    """Indices of lengths along which a machine can be shifted, with discrete lengths (footholds) that move
    along, without flow and feet noticing. Other discrete states do not move along: what a plan of inputs
    holds could make up for a shift, or outweigh what it does."""
    lengths = [system.slices("x")[q.name].start for q in system.x if q.unit == "m" and q.size == 1]
    if not lengths or system.delays:
        return ()
    footholds = [system.slices("z")[q.name].start for q in system.z if q.unit == "m" and q.size == 1]
    by_x, by_z = _flow_jacobians(system, p)
    columns = np.hstack([by_x[:, lengths], by_z[:, footholds]])
    _, singular, right = np.linalg.svd(columns)
    sizes = np.zeros(columns.shape[1])
    sizes[: len(singular)] = singular
    shifts = right[sizes <= SHIFT_SLACK * max(1.0, sizes[0])][:, : len(lengths)]
    return tuple(i for k, i in enumerate(lengths) if np.abs(shifts[:, k]).max(initial=0.0) > SHIFT_SLACK)


def _flow_jacobians(system: System, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the flow by continuous and discrete states, at random points below one another."""
    random, u = np.random.default_rng(1), start(system).u
    sizes = system.size("x"), system.size("z")
    points = [[random.uniform(0.1, 1, n) for n in sizes] for _ in range(SAMPLE_POINTS)]
    rows = [memo(system, _flow_derivatives)(0.3, *point, u, p) for point in points]
    return np.vstack([np.array(r[0]) for r in rows]), np.vstack([np.array(r[1]) for r in rows])


def _flow_derivatives(system: System) -> ca.Function:
    """The derivatives by continuous and by discrete states of the flow, and of the heights of feet: ground
    that gives way is not noticed by the flow as long as no foot is in it."""
    feet = () if system.walk is None else system.walk.feet
    flow = ca.vertcat(
        *[system.flow[q.name] for q in system.x], *[system[foot.gap] for foot in feet if foot.gap]
    )
    return system.function("by", [ca.jacobian(flow, system.vector(group)) for group in "xz"])
