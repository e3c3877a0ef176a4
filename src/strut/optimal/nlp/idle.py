"""What a motion of parts that take turns (`alternate`) does not depend on: inputs of a part that is not
active, and where states begin that a switch sets before anything asks for them.

Left free, an optimum would not say what they are, and a solver would look for them all the same.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.optimal.nlp.unknowns import Layout
from strut.optimal.totals import Initial, Jumps
from strut.system import is_alternating, sx, time


def idle_inputs(layout: Layout, k: int) -> list[int]:
    """Return the inputs on which nothing in phase k depends; none of a system whose parts do not take
    turns."""
    if not is_alternating(layout.system):
        return []
    phase, resumed = layout.problem.phases[k], layout.problem.resumes
    after = phase.after(layout.system, layout.vectors[0])
    used = _depends(layout, k, ca.vertcat(_requests(layout, k), layout.flow, after))
    names = {*resumed, *[other for other, _ in resumed.values()]}
    labels = layout.system.labels("u")
    u = ca.vertsplit(layout.vectors[2])
    return [i for i in range(layout.nu) if u[i].element_hash() not in used and labels[i] not in names]


def idle_states(layout: Layout) -> list[int]:
    """Return the states of which it does not matter where they begin: backwards from the last phase, what is
    asked for, what an event makes of it, and what it flows by."""
    problem, system = layout.problem, layout.system
    if not is_alternating(system):
        return []
    labels, x = system.labels("x"), [each.element_hash() for each in ca.vertsplit(layout.vectors[0])]
    ends = labels if problem.repeats is not None else problem.ends
    live = {x[i] for i, n in enumerate(labels) if n in ends}
    for k in reversed(range(len(problem.phases))):
        after = ca.vertsplit(problem.phases[k].after(system, layout.vectors[0]))
        live_after = [after[i] for i in range(layout.nx) if x[i] in live]
        live = _depends(layout, k, ca.vertcat(_requests(layout, k), *live_after, ca.SX(0, 1)))
        flows = [_depends(layout, k, layout.flow[i]) for i in range(layout.nx)]
        while more := {s for i in range(layout.nx) if x[i] in live for s in flows[i]} - live:
            live |= more
    begins = {*problem.begins, *[t.state for t in problem.totals if isinstance(t, Initial)]}
    low, high = problem.bounds("x")
    begin = layout.start.x
    return [
        i
        for i in range(layout.nx)
        if x[i] not in live and labels[i] not in begins and low[i] <= begin[i] <= high[i]
    ]


def _requests(layout: Layout, k: int) -> ca.SX:
    """Return what a phase is asked for, but for how it flows and where it leads."""
    problem, system, phase = layout.problem, layout.system, layout.problem.phases[k]
    parts = [r.expression for at in ("path", "begin", "end") for r in layout.requirements(k, at)]
    parts += [phase.after(system, r.expression) for r in layout.requirements(k, "after")]
    parts += [rate for _, rate in layout.rates(phase)]
    parts += [problem.objective] if k == len(problem.phases) - 1 else []
    if phase.until is not None:
        parts.append(sx(system.event(phase.until).guard))
        parts += [t.of(phase.until) for t in problem.totals if isinstance(t, Jumps)]
    return ca.vertcat(*[ca.vec(e) for e in parts], ca.SX(0, 1))


def _depends(layout: Layout, k: int, expression: ca.SX) -> set[int]:
    """Return the symbols that an expression depends on in phase k, with its flags as they are there."""
    numbers, moving = layout.discrete[k]
    z = ca.vertsplit(layout.vectors[1])
    still = [i for i in range(layout.nz) if i not in moving]
    fixed = ca.substitute(
        [expression], [ca.vertcat(*[z[i] for i in still], ca.SX(0, 1))], [ca.SX(ca.DM(numbers[still]))]
    )[0]
    # Evaluated once more, so that what a flag of zero switches off is gone.
    simple = ca.Function("requests", [time, *layout.vectors], [fixed], {"allow_free": True})
    return {symbol.element_hash() for symbol in ca.symvar(simple(time, *layout.vectors))}


def hold_idle(layout: Layout) -> None:
    """Fix what a motion does not depend on: inputs at zero, or as near as their bounds allow, states where
    they begin by themselves."""
    unknowns = layout.unknowns
    for k, span in enumerate(layout.spans):
        for i in idle_inputs(layout, k):
            for at in np.unique(span.w[..., i]):
                value = float(np.clip(0.0, unknowns.low[at], unknowns.high[at]))
                unknowns.low[at] = unknowns.high[at] = value
                unknowns.limits.pop(int(at), None)
    for i in idle_states(layout):
        at = int(layout.spans[0].x[0, i])
        unknowns.low[at] = unknowns.high[at] = float(layout.start.x[i])
        unknowns.limits.pop(at, None)


__all__ = ["hold_idle"]
