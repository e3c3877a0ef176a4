"""What a return map must know of a system: where its section is, which states only say how far it has come, which are one."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import GROUPS, System, parameters, start, sx, time

SAMPLES = 7
"""Random points at which a property of expressions is checked; it holds or fails at almost all."""


@dataclass(frozen=True, eq=False)
class Shape:
    """The coordinates of a section.

    section: the event that ends a step.
    free: indices of states that a gait is free in; the others are `cyclic` (progress of the base: a walker does the same wherever
        it is) or `linked` to a free one (made equal by the section: a knee that is still locked).
    spread: x = rest + spread @ y, from the free states y.
    """

    section: str
    free: tuple[int, ...]
    cyclic: tuple[int, ...]
    spread: np.ndarray
    names: tuple[str, ...]

    def whole(self, y: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """States from free ones; cyclic states are those of `rest`. Rows for rows."""
        x = y @ self.spread.T
        x[..., list(self.cyclic)] = rest[list(self.cyclic)]
        return x


def shape_of(system: System, section: str | None = None) -> Shape:
    """Found once per section and parameters: on level ground other states say how far a walker has come than on a slope."""
    name = section or default_section(system)
    values = parameters(system)
    key = f"gait-shape-{name}-{values.tobytes().hex()}"
    if key not in system.cache:
        system.cache[key] = _shape(system, name, values)
    found: Shape = system.cache[key]
    return found


def default_section(system: System) -> str:
    """The event that ends a step: heel_strike, or the touchdown of the foot that does not stand at first, or takeoff."""
    names = [e.name for e in system.events]
    if "heel_strike" in names:
        return "heel_strike"
    landing = [n for n in names if n.endswith("_touchdown")]
    stands = dict(zip(system.labels("z"), start(system).z, strict=True))
    for name in landing:
        flag = stands.get(name.removesuffix("_touchdown") + "_on")
        if flag is not None and flag == 0:
            return name
    for name in (*landing, "takeoff", "touchdown"):
        if name in names:
            return name
    if not names:
        raise ModelError(f"'{system.name}' does not walk: nothing happens to it that could end a step, it has no events")
    raise ModelError(
        f"'{system.name}' has no heel_strike and no touchdown: say by section (--section) which event ends a step, of {', '.join(names)}"
    )


def told(system: System, status: str) -> str:
    """A status, and what it means if it is an event that says so."""
    meant = next((e.description for e in system.events if e.name == status), "")
    return f"{status}: {meant}" if meant else status


def _shape(system: System, section: str, p: np.ndarray) -> Shape:
    names = [e.name for e in system.events]
    if section not in names:
        raise UnknownNameError(f"system '{system.name}' has no event '{section}' for a section: {did_you_mean(section, names)}")
    nx = system.size("x")
    cyclic = _cyclic(system, p)
    after = ca.vertcat(*_after(system, section))
    leader: dict[int, int] = {}
    for j in range(nx):
        if j in cyclic:
            continue
        for i in range(j):
            if i not in cyclic and i not in leader and ca.is_equal(after[i], after[j], 50):
                leader[j] = i
                break
    free = tuple(i for i in range(nx) if i not in cyclic and i not in leader)
    spread = np.zeros((nx, len(free)))
    for k, i in enumerate(free):
        spread[i, k] = 1.0
    for j, i in leader.items():
        spread[j, free.index(i)] = 1.0
    labels = system.labels("x")
    return Shape(section, free, cyclic, spread, tuple(labels[i] for i in free))


def _after(system: System, section: str) -> list[ca.SX]:
    """States after the section, and then with left and right exchanged if the system has a symmetry."""
    event = next(e for e in system.events if e.name == section)
    states = [*system.x, *system.z]
    after = [sx(event.reset.get(q.name, q.sym)) for q in states]
    exchanged = [sx(system.symmetry.get(q.name, q.sym)) for q in system.x]
    if system.symmetry:
        return list(ca.substitute(exchanged, [q.sym for q in states], after))
    return after[: len(system.x)]


def _cyclic(system: System, p: np.ndarray) -> tuple[int, ...]:
    """Lengths along which a machine can be shifted, with discrete states that move along, without the flow noticing."""
    lengths = [system.slices("x")[q.name].start for q in system.x if q.unit == "m" and q.size == 1]
    if not lengths or system.delays:
        return ()
    by_x, by_z = _varied(system, p)
    columns = np.hstack([by_x[:, lengths], by_z])
    _, singular, right = np.linalg.svd(columns)
    kept = np.zeros(columns.shape[1])
    kept[: len(singular)] = singular
    shifts = right[kept <= 1e-9 * max(1.0, kept[0])][:, : len(lengths)]
    return tuple(i for k, i in enumerate(lengths) if np.abs(shifts[:, k]).max(initial=0.0) > 1e-9)


def _varied(system: System, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the flow by continuous and discrete states, at random points below one another."""
    if "gait-flow-by" not in system.cache:
        groups = system.vectors(GROUPS)
        flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
        system.cache["gait-flow-by"] = ca.Function("by", [time, *groups], [ca.jacobian(flow, part) for part in groups[:2]])
    random, u = np.random.default_rng(1), start(system).u
    sizes = system.size("x"), system.size("z")
    points = [[random.uniform(0.1, 1, n) for n in sizes] for _ in range(SAMPLES)]
    rows = [system.cache["gait-flow-by"](0.3, *point, u, p) for point in points]
    return np.vstack([np.array(r[0]) for r in rows]), np.vstack([np.array(r[1]) for r in rows])
