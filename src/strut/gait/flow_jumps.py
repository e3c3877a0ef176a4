"""`locate_jumps`: a system whose flow jumps nowhere but in events.

A law may say with a comparison where it begins to act: a ligament beyond its angle, a damper behind a stop.
Where the flow jumps there, a neighbour that comes a little later feels it a little later, and derivatives
along the flow know nothing of it: the saltation matrix of an event does. So each such comparison becomes a
flag that events set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked, short_repr
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait.exchange import mirrored_states
from strut.system import Discrete, Event, System, start, time

POINT_COUNT = 12
"""Random points on the surface where two sides of a comparison are equal, at which the flow is compared."""
POINT_SPREAD = 0.3
"""Standard deviation of the states of such points about those that a run begins with, in their own units."""
MAX_SURFACE_ERROR = 1e-12
"""By how much, in its own unit, sides of a comparison may differ at a point that counts as on its surface."""
SURFACE_ITERATIONS = 30
"""Of Newton's method that brings a point onto a surface, at most."""
MIN_JUMP = 1e-6
"""Change of a rate that counts as a jump, relative to 1 + the largest rate."""
SAME_MARGIN = 1e-9
"""By how much, relative to 1 + its size, a difference of sides may differ from that of another comparison of
the mirrored state to be the same."""


@dataclass(frozen=True, eq=False)
class _Comparison:
    """A comparison in a flow. margin: positive where it holds. flag: what stands for it."""

    margin: ca.SX
    holds: ca.SX
    flag: ca.SX


@checked
def locate_jumps(system: System, *, besides: Sequence[str] = ()) -> System:
    """Return the system with events where a comparison of states makes its flow jump.

    besides: states; comparisons that read one of them stay as they are: those of a phase that all neighbours
    share, for instance. Each jump k has a discrete state jump_k, which begins as the state says, and events
    jump_k_on and jump_k_off. Comparisons at which the flow is continuous, such as those of feet that press
    from zero on, stay as they are. Whether it jumps is looked at with the parameters that the system has;
    the run itself is the same. A comparison that decides no rate, but the limit of another comparison, is not
    located: derivatives know nothing of its instant. Raises ModelError where left and right are exchanged and
    a comparison of one side has none of the other.
    """
    for name in besides:
        if name not in system.slices("x"):
            raise UnknownNameError(
                f"'{system.name}' has no state '{name}': {did_you_mean(name, system.labels('x'))}"
            )
    flow, comparisons = _with_flags(system, besides)
    jumping = _find_jumping(system, flow, comparisons)
    if not jumping:
        return system
    others = [each for each in comparisons if each not in jumping]
    flags = [
        Discrete(f"jump_{k + 1}", _resolve(each.holds, *_flags_and_meanings(comparisons)))
        for k, each in enumerate(jumping)
    ]
    before = [each.flag for each in (*jumping, *others)]
    after = [*[flag.sym for flag in flags], *[each.holds for each in others]]
    rates = _resolve(flow, before, after)
    events = [
        Event(
            f"{flag.name}_{word}",
            guard=sign * margin,
            when=flag.sym if word == "off" else 1 - flag.sym,
            reset={flag.name: word == "on"},
        )
        for flag, each in zip(flags, jumping, strict=True)
        for margin in [_resolve(each.margin, before, after)]
        for word, sign in (("on", 1.0), ("off", -1.0))
    ]
    names = [q.name for q in system.x]
    sizes = np.cumsum([0, *[q.size for q in system.x]])
    return system.replace(
        flow={name: rates[int(sizes[k]) : int(sizes[k + 1])] for k, name in enumerate(names)},
        z=(*system.z, *flags),
        events=(*system.events, *events),
        symmetry=dict(system.symmetry) | _exchanged_flags(system, comparisons, jumping, flags),
        implied=None,
    )


def _flags_and_meanings(comparisons: Sequence[_Comparison]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Flags, and what they stand for."""
    return [each.flag for each in comparisons], [each.holds for each in comparisons]


def _resolve(expression: ca.SX, flags: list[ca.SX], values: list[ca.SX]) -> ca.SX:
    """An expression without flags: a comparison may read what another one decides, so in turns."""
    for _ in flags:
        if not ca.depends_on(expression, ca.vertcat(*flags)):
            break
        expression = ca.substitute([expression], flags, values)[0]
    return ca.densify(expression)


def _with_flags(system: System, besides: Sequence[str]) -> tuple[ca.SX, list[_Comparison]]:
    """The flow with a flag for every comparison of states, and these comparisons, in the order in which they
    are computed."""
    groups = [time, *system.vectors()]
    column = ca.vertcat(*[ca.densify(system.flow[q.name]) for q in system.x])
    f = ca.Function("flow", groups, [column])
    states = ca.vertcat(system.vector("x"))
    kept_states = ca.vertcat(*[system[name] for name in besides], ca.SX(0, 1))
    slots: dict[int, ca.SX] = {}
    result = ca.SX.zeros(column.numel())
    comparisons: list[_Comparison] = []
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_INPUT:
            slots[o[0]] = groups[i[0]][i[1]]
        elif op == ca.OP_OUTPUT:
            result[o[1]] = slots[i[0]]
        elif op == ca.OP_CONST:
            slots[o[0]] = ca.SX(f.instruction_constant(k))
        elif len(i) == 1:
            slots[o[0]] = ca.SX.unary(op, slots[i[0]])
        else:
            a, b = slots[i[0]], slots[i[1]]
            value = ca.SX.binary(op, a, b)
            compares = op in (ca.OP_LT, ca.OP_LE) and ca.depends_on(value, states)
            if compares and not (kept_states.numel() and ca.depends_on(value, kept_states)):
                comparisons.append(_Comparison(b - a, value, ca.SX.sym(f"holds_{len(comparisons)}")))
                value = comparisons[-1].flag
            slots[o[0]] = value
    return result, comparisons


def _find_jumping(system: System, flow: ca.SX, comparisons: list[_Comparison]) -> list[_Comparison]:
    """The comparisons at whose surface the flow jumps, with the parameters that the system has."""
    if not comparisons:
        return []
    begin = start(system)
    flags, values = _flags_and_meanings(comparisons)
    x = system.vector("x")
    rest = [time, *[system.vector(group) for group in "zup"]]
    numbers = [0.0, begin.z, begin.u, begin.p]
    decide = ca.Function("decide", [x, *rest], [_resolve(ca.vertcat(*values), flags, values)])
    rates = ca.Function("rates", [x, *rest, ca.vertcat(*flags)], [flow])
    random = np.random.default_rng(1)
    points = begin.x + POINT_SPREAD * random.normal(size=(POINT_COUNT, len(begin.x)))
    jumping = []
    for k, each in enumerate(comparisons):
        margin = _resolve(each.margin, flags, values)
        surface = ca.Function("surface", [x, *rest], [margin, ca.jacobian(margin, x)])
        for point in points:
            at = _on_surface(surface, point, numbers)
            if at is None:
                continue
            decided = np.array(decide(at, *numbers)).ravel()
            pair = [np.where(np.arange(len(flags)) == k, value, decided) for value in (0.0, 1.0)]
            off, on = (np.array(rates(at, *numbers, flag)).ravel() for flag in pair)
            if not np.abs(on - off).max() <= MIN_JUMP * (1 + np.abs(off).max()):
                jumping.append(each)
                break
    return jumping


def _on_surface(surface: ca.Function, x: np.ndarray, numbers: Sequence[object]) -> np.ndarray | None:
    """The point of a surface next to a point, by Newton's method along the gradient; None where it finds
    none."""
    at = x.copy()
    for _ in range(SURFACE_ITERATIONS):
        value, slope = (np.array(part).ravel() for part in surface(at, *numbers))
        if abs(value[0]) <= MAX_SURFACE_ERROR:
            return at
        size = float(slope @ slope)
        if not (np.isfinite(size) and size > 0):
            return None
        at = at - slope * value[0] / size
    return None


def _exchanged_flags(
    system: System,
    comparisons: Sequence[_Comparison],
    jumping: Sequence[_Comparison],
    flags: Sequence[Discrete],
) -> dict[str, ca.SX]:
    """Flags with left and right exchanged: each is what that comparison says whose margin is the same in the
    mirrored state."""
    if not system.symmetry:
        return {}
    x, begin = system.vector("x"), start(system)
    margins = _resolve(ca.vertcat(*[each.margin for each in jumping]), *_flags_and_meanings(comparisons))
    mirrored = ca.substitute([margins], [x], [mirrored_states(system)])[0]
    both = ca.Function("margins", [time, *system.vectors()], [margins, mirrored], {"allow_free": False})
    random = np.random.default_rng(2)
    samples = begin.x + POINT_SPREAD * random.normal(size=(POINT_COUNT, len(begin.x)))
    values = [[np.array(part).ravel() for part in both(0.0, at, begin.z, begin.u, begin.p)] for at in samples]
    own, other = (np.array([each[side] for each in values]) for side in (0, 1))
    exchanged = {}
    for k, flag in enumerate(flags):
        error = np.abs(own - other[:, k : k + 1]).max(axis=0)
        j = int(np.argmin(error))
        if not error[j] <= SAME_MARGIN * (1 + np.abs(own[:, j]).max()):
            raise ModelError(
                f"the flow of '{system.name}' jumps where {short_repr(jumping[k].margin)} passes zero, and "
                f"no comparison is the same with left and right exchanged: write the law of both sides alike"
            )
        exchanged[flag.name] = flags[j].sym
    return exchanged


__all__ = ["locate_jumps"]
