"""`FrozenBranch`: a system whose resets take the branches that they took in a reference run.

The reset of a foot on rigid ground asks who touches, who falls and who is let go. A plan knows the answers
beforehand: those of the gait it begins from. Every comparison in a reset is replaced by its outcome there,
and that outcome becomes a requirement of the plan. So resets are differentiable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.gait.gait import Gait
from strut.optimal.walk.hold_feet import landing_cones
from strut.system import Event, System, sx, time

MIN_CONDITION = 1e-6
"""A comparison whose sides differed by less, in their own unit, is no requirement: the event itself, or
rounding, is what decides there."""
Point = tuple[Any, Any, Any, Any, Any]
"""Time [s], continuous states, discrete states, inputs and parameters: numbers."""
COMPARISONS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR}
"""Operations of CasADi that are 0 or 1."""
CORNERS = {ca.OP_FMIN, ca.OP_FMAX, ca.OP_FABS, ca.OP_SIGN}
"""Operations of CasADi that are smooth but for a corner or a jump."""


@dataclass(frozen=True, eq=False)
class FrozenBranch:
    """A system on a branch.

    system: with the events of the phases as they were in the run. actual: the one that it stands for, in
        which plans are replayed.
    z0: its discrete states at the beginning. discrete: those just before each event that ends a phase, in
    order.
    conditions: by event, expressions of the state before it that stay positive on this branch.
    guard_sizes: on ground that gives way, by event of contact, the size of its guard where the walker stands.
    """

    system: System
    actual: System = field(repr=False)
    z0: Mapping[str, float]
    discrete: tuple[Mapping[str, np.ndarray], ...]
    conditions: Mapping[str, tuple[ca.SX, ...]] = field(repr=False)
    guard_sizes: Mapping[str, float] = field(default_factory=dict, repr=False)

    def of_system(self, system: System) -> FrozenBranch:
        """Return the branch of the same system with other parameters, such as weights of costs."""
        own = self.system
        planned = system.replace(events=own.events, flow=own.flow, outputs=own.outputs)
        return replace(self, system=planned, actual=system)


def gait_parameters(system: System, gait: Gait) -> np.ndarray:
    """Return the parameters of a system as they were in a gait, by name; those that the gait's own system
    does not have, such as weights of costs, as the system has them."""
    own = {q.name: np.reshape(np.asarray(q.value, dtype=float), -1) for q in gait.system.p}
    return np.concatenate(
        [own.get(q.name, np.reshape(np.asarray(q.value, dtype=float), -1)) for q in system.p] or [np.empty(0)]
    )


def freeze_branch(system: System, gait: Gait, events: Sequence[str]) -> FrozenBranch | None:
    """Return the branch of a gait of the system, whose phases end with `events`; None where resets compare
    nothing, or the run has other events."""
    hits = [h for h in gait.trajectory.events if h.name in set(events)]
    if [h.name for h in hits] != list(events) or not any(compares(system, name) for name in events):
        return None
    x, z = system.labels("x"), system.labels("z")
    p = gait_parameters(system, gait)
    discrete = []
    frozen, conditions = dict[str, Event](), dict[str, tuple[ca.SX, ...]]()
    for hit in hits:
        before = dict(hit.before)
        discrete.append(
            {q.name: np.array([before[n] for n in z[system.slices("z")[q.name]]]) for q in system.z}
        )
        if hit.name not in frozen:
            point = (hit.t, [before[n] for n in x], [before[n] for n in z], np.zeros(system.size("u")), p)
            frozen[hit.name], conditions[hit.name] = freeze_event(system, system.event(hit.name), point)
    return FrozenBranch(
        system=system.replace(events=tuple(frozen.get(e.name, e) for e in system.events)),
        actual=system,
        z0=dict(gait.z0),
        discrete=tuple(discrete),
        conditions=conditions,
    )


def freeze_event(
    system: System, event: Event, point: Point, inside: Sequence[ca.SX] = ()
) -> tuple[Event, tuple[ca.SX, ...]]:
    """Return an event with every comparison replaced by its outcome at a point, and the expressions that must
    stay positive for that. inside: further expressions that must."""
    names = list(event.reset)
    originals = [sx(event.guard), *[sx(event.reset[n]) for n in names], *inside]
    expressions, margins = _freeze_expressions(system, originals, point)
    margins += expressions[1 + len(names) :]
    moving = ca.vertcat(*[q.sym for q in (*system.x, *system.u)])
    conditions = tuple(margin for margin in margins if ca.depends_on(margin, moving))
    frozen = replace(event, guard=expressions[0], reset=dict(zip(names, expressions[1:], strict=False)))
    return frozen, conditions


def _groups(system: System) -> list[ca.SX]:
    return [time, *system.vectors()]


def freeze_at(system: System, points: Mapping[str, Point], z: np.ndarray) -> FrozenBranch:
    """Return the branch on which the events that end phases, by name in order, do what they do at points
    (time, x, z, u, p), and the impulses of landings stay inside friction cones, where there are some. z:
    discrete states at the beginning."""
    places = system.slices("z")
    frozen = {
        name: freeze_event(system, system.event(name), point, landing_cones(system, name))
        for name, point in points.items()
    }
    events = tuple(frozen[e.name][0] if e.name in frozen else e for e in system.events)
    return FrozenBranch(
        system=system.replace(events=events),
        actual=system,
        z0=dict(zip(system.labels("z"), z.tolist(), strict=True)),
        discrete=tuple(
            {q.name: np.asarray(at[2])[places[q.name]] for q in system.z} for at in points.values()
        ),
        conditions={name: conditions for name, (_, conditions) in frozen.items()},
    )


def compares(system: System, name: str) -> bool:
    """Return whether guard or reset of an event have comparisons or corners."""
    event = system.event(name)
    f = ca.Function(
        "reset", _groups(system), [ca.vertcat(sx(event.guard), *[sx(e) for e in event.reset.values()])]
    )
    return any(f.instruction_id(k) in COMPARISONS | CORNERS for k in range(f.n_instructions()))


def freeze_corners(system: System, expressions: list[ca.SX], point: Point) -> list[ca.SX]:
    """Return expressions in which every corner (a smaller or larger of two, a size, a sign) is continued as
    it is at a point; comparisons stay."""
    return _freeze_expressions(system, expressions, point, frozenset(CORNERS))[0]


def _freeze_expressions(
    system: System,
    expressions: list[ca.SX],
    point: Point,
    kinds: frozenset[int] = frozenset(COMPARISONS | CORNERS),
) -> tuple[list[ca.SX], list[ca.SX]]:
    """Return expressions without comparisons and corners, and what must stay positive for their outcomes:
    every instruction of their graph is evaluated at the point beside being built anew. kinds: the operations
    that are replaced. What changes nothing, such as how fast a foot is that is not near the ground, is no
    condition."""
    groups = _groups(system)
    f = ca.Function("branch", groups, [ca.densify(e) for e in expressions], {"allow_free": False})
    numbers = [np.atleast_1d(np.asarray(a, dtype=float)) for a in point]
    holds = len(groups) - 3  # discrete states are held in a phase
    slots: dict[int, _Frozen] = {}
    every: list[_Frozen] = []
    outputs = [ca.SX.zeros(e.shape) for e in expressions]
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_INPUT:
            number = float(numbers[i[0]][i[1]])
            slots[o[0]] = _Frozen(op, groups[i[0]][i[1]], number, fixed=i[0] == holds)
        elif op == ca.OP_OUTPUT:
            outputs[o[0]][o[1]] = slots[i[0]].symbol
            slots[i[0]].matters = True
        elif op == ca.OP_CONST:
            number = f.instruction_constant(k)
            slots[o[0]] = _Frozen(op, ca.SX(number), number, fixed=True)
        else:
            slots[o[0]] = _freeze_operation(op, [slots[j] for j in i], kinds)
            every.append(slots[o[0]])
    conditions: dict[int, ca.SX] = {}
    for each in reversed(every):
        if not each.matters:
            continue
        for part in each.deciding_parts():
            part.matters = True
        # What is compared with infinity, such as the best of none so far, cannot come out otherwise.
        if each.margin is not None and MIN_CONDITION < each.margin_value < math.inf:
            conditions.setdefault(each.margin.element_hash(), each.margin)
    return outputs, list(reversed(conditions.values()))


@dataclass(eq=False)
class _Frozen:
    """An instruction of a graph at a point: its new symbol and its number there; whether its number is known
    throughout a phase (`fixed`); what must stay positive for its outcome (`margin`), and its number;
    and whether a result depends on it (`matters`)."""

    op: int
    symbol: ca.SX
    value: float
    fixed: bool = False
    parts: tuple[_Frozen, ...] = ()
    margin: ca.SX | None = None
    margin_value: float = 0.0
    matters: bool = False

    def deciding_parts(self) -> tuple[_Frozen, ...]:
        """Return the parts on which the result depends: of a product with zero, and of flags of which one is
        enough, one alone."""
        zero = [part for part in self.parts if part.fixed and part.value == 0]
        if zero and self.op in (ca.OP_MUL, ca.OP_AND):
            return tuple(zero[:1])
        if self.op == ca.OP_IF_ELSE_ZERO and self.parts[0] in zero:
            return self.parts[:1]
        flags = all(part.fixed and part.value in (0.0, 1.0) for part in self.parts)
        if flags and self.op in (ca.OP_OR, ca.OP_FMAX) and self.value == 1.0:
            return tuple([part for part in self.parts if part.value == 1.0][:1])
        return self.parts


def _freeze_operation(op: int, parts: list[_Frozen], kinds: frozenset[int]) -> _Frozen:
    """Return an operation on frozen parts, frozen as well if it is one of `kinds` or a corner."""
    a, va = [part.symbol for part in parts], [part.value for part in parts]
    value, fixed = _number(op, va), all(part.fixed for part in parts)
    frozen = _Frozen(op, ca.SX(0), value, fixed, tuple(parts))
    margin: tuple[ca.SX, float] | None = None
    if op in (ca.OP_LT, ca.OP_LE):
        margin = (a[1] - a[0], va[1] - va[0]) if value else (a[0] - a[1], va[0] - va[1])
    if op in (ca.OP_FMIN, ca.OP_FMAX):
        first = (va[0] <= va[1]) == (op == ca.OP_FMIN)
        other, chosen = (a[1], a[0]) if first else (a[0], a[1])
        margin = ((other - chosen) if op == ca.OP_FMIN else (chosen - other), abs(va[0] - va[1]))
        frozen.symbol = chosen
    elif op in (ca.OP_FABS, ca.OP_SIGN):
        sign = math.copysign(1.0, va[0]) if va[0] else 0.0
        margin = (sign * a[0], abs(va[0]))
        frozen.symbol = sign * a[0] if op == ca.OP_FABS else ca.SX(sign)
    elif op in COMPARISONS & kinds:
        frozen.symbol, frozen.fixed = ca.SX(value), True
    else:
        frozen.symbol = _symbol(op, a)
    if margin is not None and not margin[0].is_constant():
        frozen.margin, frozen.margin_value = margin
    return frozen


def _symbol(op: int, a: list[ca.SX]) -> ca.SX:
    return ca.SX.unary(op, a[0]) if len(a) == 1 else ca.SX.binary(op, a[0], a[1])


def _number(op: int, a: list[float]) -> float:
    return float(_symbol(op, [ca.SX(v) for v in a]))


__all__ = ["FrozenBranch", "freeze_branch", "freeze_corners", "freeze_event", "gait_parameters"]
