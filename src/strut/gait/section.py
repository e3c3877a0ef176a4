"""`Section`: the Poincaré section of a walker: the event that ends a step, and the states that a gait is free
in there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states
from strut.system import System, memo, parameters, start, switching_events, sx

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
    shear: on a slope, of parameters: by how much every state moves for each cyclic one, such as the height of
        a base with its way; what repeats is the rest of it. None where nothing moves along.
    """

    event: str
    free: tuple[int, ...]
    cyclic: tuple[int, ...]
    spread: np.ndarray
    names: tuple[str, ...]
    shear: ca.Function | None = None

    def whole(self, y: np.ndarray, rest: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Whole states from free ones, of a row or of many; cyclic states are those of `rest`. p: parameters,
        a row or many."""
        x: np.ndarray = y @ self.spread.T
        place = rest[list(self.cyclic)]
        x[..., list(self.cyclic)] = place
        return x if self.shear is None or not place.any() else np.asarray(x + self.shears(p) @ place)

    def repeating_part(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Whole states without what moves along with cyclic ones; a row or many, of states and of
        parameters `p`."""
        if self.shear is None:
            return x
        moved = np.einsum("...ij,...j->...i", self.shears(p), x[..., list(self.cyclic)])
        return np.asarray(x - moved)

    @cached_property
    def moved_by_parameters(self) -> ca.Function:
        """The derivative by parameters of what moves along, of parameters and cyclic states."""
        assert self.shear is not None
        p, place = ca.SX.sym("p", self.shear.size1_in(0)), ca.SX.sym("place", len(self.cyclic))
        return ca.Function("moved_by", [p, place], [ca.densify(ca.jacobian(self.shear(p) @ place, p))])

    def moves_along(self, state: int) -> bool:
        """Whether a state moves along with a cyclic one, by its index."""
        return self.shear is not None and state in self.shear.sparsity_out(0).row()

    def shears(self, p: np.ndarray) -> np.ndarray:
        """The shear at a row of parameters, or at many."""
        assert self.shear is not None
        if p.ndim == 1:
            return np.array(self.shear(p))
        return np.array([np.array(self.shear(row)) for row in p])


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
    cyclic, shear = _shifts(system, np.frombuffer(values))
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
    return Section(event, free, cyclic, spread, tuple(labels[i] for i in free), shear)


def _shifts(system: System, p: np.ndarray) -> tuple[tuple[int, ...], ca.Function | None]:
    """Indices of lengths along which a machine can be shifted, with discrete lengths (footholds) that move
    along, without flow and feet noticing; and the shear of a `Section`. Other discrete states do not move
    along: what a plan of inputs holds could make up for a shift, or outweigh what it does; nor do heights of
    the ground under feet, which no event of the machine sets.

    On a slope way and height are shifted together. Where they are those of the foot that stands, both begin
    where the system does. Of another base the posture decides how high it is: the way alone is cyclic."""
    lengths = [system.slices("x")[q.name].start for q in system.x if q.unit == "m" and q.size == 1]
    if not lengths or system.delays:
        return (), None
    grounds = {foot.ground for foot in (() if system.walk is None else system.walk.feet)}
    own = [q for q in system.z if q.unit == "m" and q.size == 1 and q.name not in grounds]
    footholds = [system.slices("z")[q.name].start for q in own]
    by_x, by_z = _flow_jacobians(system, p)
    columns = np.hstack([by_x[:, lengths], by_z[:, footholds]])
    _, singular, right = np.linalg.svd(columns)
    sizes = np.zeros(columns.shape[1])
    sizes[: len(singular)] = singular
    shifts = right[sizes <= SHIFT_SLACK * max(1.0, sizes[0])][:, : len(lengths)]
    moved = [k for k in range(len(lengths)) if np.abs(shifts[:, k]).max(initial=0.0) > SHIFT_SLACK]
    carried = tuple(lengths[k] for k in moved)
    count = np.linalg.matrix_rank(shifts[:, moved], SHIFT_SLACK) if moved else 0
    if count == len(carried) or _stands_where_it_is(system, carried):
        return carried, None
    # Those that are shifted most are cyclic; of equal ones the first.
    cyclic: list[int] = []
    for k in sorted(range(len(moved)), key=lambda k: -round(float(np.abs(shifts[:, moved[k]]).max()), 6)):
        chosen = shifts[:, [moved[j] for j in (*cyclic, k)]]
        if len(cyclic) < count and np.linalg.matrix_rank(chosen, SHIFT_SLACK) > len(cyclic):
            cyclic.append(k)
    ways = tuple(carried[k] for k in sorted(cyclic))
    shear = _ground_shear(system, p, ways, tuple(i for i in carried if i not in ways))
    return (carried, None) if shear is None else (ways, shear)


def _stands_where_it_is(system: System, carried: tuple[int, ...]) -> bool:
    """Whether the height of every foot that stands when a run begins, or of all where none says so, depends
    on nothing but the states that are shifted."""
    begin, x = dict(zip(system.labels("z"), start(system).z, strict=True)), system.vector("x")
    feet = [foot for foot in (() if system.walk is None else system.walk.feet) if foot.gap]
    standing = [foot for foot in feet if begin.get(foot.stands)] or feet
    others = [x[i] for i in range(x.numel()) if i not in carried]
    return not any(ca.depends_on(system[foot.gap], ca.vertcat(*others)) for foot in standing)


def _ground_shear(
    system: System, p: np.ndarray, ways: tuple[int, ...], heights: tuple[int, ...]
) -> ca.Function | None:
    """By how much heights must move with ways for feet to be as high over the ground as before, as a function
    of parameters: a row for every state. None where feet do not say."""
    feet = [foot for foot in (() if system.walk is None else system.walk.feet) if foot.gap]
    x, begin = system.vector("x"), start(system)
    gaps = ca.vertcat(*[system[foot.gap] for foot in feet], ca.SX(0, 1))
    slopes = ca.jacobian(gaps, x)
    at_begin = ca.substitute(
        [slopes], [system.vector(group) for group in "xzu"], [ca.SX(begin.x), ca.SX(begin.z), ca.SX(begin.u)]
    )[0]
    numbers = np.array(ca.Function("slopes", [system.vector("p")], [at_begin])(p))
    rows: list[int] = []
    for k in range(len(feet)):
        if len(rows) < len(heights) and np.linalg.matrix_rank(
            numbers[np.ix_([*rows, k], heights)], SHIFT_SLACK
        ) > len(rows):
            rows.append(k)
    if len(rows) < len(heights):
        return None
    along = -ca.solve(at_begin[rows, list(heights)], at_begin[rows, list(ways)])
    shear = ca.SX.zeros(x.numel(), len(ways))
    shear[list(heights), :] = along
    return ca.Function("shear", [system.vector("p")], [ca.sparsify(shear)])


def _flow_jacobians(system: System, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the flow by continuous and discrete states, at random points below one another; below
    these, rows that are 1 where memories read a state."""
    random, u = np.random.default_rng(1), start(system).u
    sizes = system.size("x"), system.size("z")
    points = [[random.uniform(0.1, 1, n) for n in sizes] for _ in range(SAMPLE_POINTS)]
    rows = [memo(system, _flow_derivatives)(0.3, *point, u, p) for point in points]
    readings = memo(system, _memory_readings)
    return (
        np.vstack([*[np.array(r[0]) for r in rows], readings]),
        np.vstack([*[np.array(r[1]) for r in rows], np.zeros((len(readings), sizes[1]))]),
    )


def _memory_readings(system: System) -> np.ndarray:
    """A row for every continuous state that is read by what an event sets a memory to: a continuous state
    that nothing moves in between, and that is no length, such as a change that holds for a step. By
    structure, as laws with limits do not read everywhere what they read."""
    x = system.vector("x")
    memories = {
        q.name for q in system.x if q.unit != "m" and sx(system.flow[q.name]).is_zero() and q.size == 1
    }
    set_to = [sx(e.reset[name]) for e in system.events for name in memories if name in e.reset]
    if not set_to:
        return np.zeros((0, x.numel()))
    read = np.array(ca.DM(ca.jacobian(ca.vertcat(*set_to), x).sparsity())).any(axis=0)
    return np.eye(x.numel())[read]


def _flow_derivatives(system: System) -> ca.Function:
    """The derivatives by continuous and by discrete states of the flow, of the heights of feet (ground that
    gives way is not noticed by the flow as long as no foot is in it), and of the guards by which parts that
    take turns change: one that flies does not notice how high it is until it lands."""
    feet = () if system.walk is None else system.walk.feet
    flow = ca.vertcat(
        *[system.flow[q.name] for q in system.x],
        *[system[foot.gap] for foot in feet if foot.gap],
        *[sx(event.guard) for event in switching_events(system)],
    )
    return system.function("by", [ca.jacobian(flow, system.vector(group)) for group in "xz"])
