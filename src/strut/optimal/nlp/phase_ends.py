"""The ends of phases: where a motion begins, the event that ends a phase and what follows from it, and the
cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from strut.optimal.nlp.conserved_energy import conserved_row
from strut.optimal.nlp.mesh_rows import MeshRows, Targets
from strut.optimal.nlp.stage_function import StageFunction, make_stage
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.nlp.unknowns import Layout, LimitPlace
from strut.optimal.totals import Jumps
from strut.system import sx, time

Give = Callable[[ca.SX, Sequence[tuple[int, float]]], None]
"""Takes an expression, and to which row, by which factor, each of its numbers contributes."""


def add_phase_begin(mesh: MeshRows, k: int) -> None:
    """Add what is required where a phase begins."""
    span, asked = mesh.spans[k], mesh.requirements(k, "begin")
    if mesh.table is None:
        asked = asked + mesh.requirements(k, "path")
    if not asked:
        return
    f = ca.Function("begin", [time, *mesh.vectors], [ca.densify(ca.vertcat(*[r.expression for r in asked]))])
    rows, name = mesh.require(asked, f"beginning of {span.phase.name}", k), f"begin_{k}"

    def make(layout: Layout) -> StageFunction:
        v, d = layout.symbols(ca.SX, k, 2)
        *where, _ = layout.context(k, v, d, 0.0)
        return make_stage(name, v, d, f(*where))

    stage = mesh.stage(StageSource(name, f.size1_out(0), mesh, k, make))
    mesh.add(
        stage,
        [mesh.index(k, span.x[0], 0)],
        [[0.0, span.fractions[0]]],
        [(out, 0, r, 1.0) for out, r in enumerate(rows)],
    )


def add_phase_end(mesh: MeshRows, k: int) -> None:
    """Add what is required where a phase ends: the event, what follows from it, and after the last the
    cost."""
    problem, span, system = mesh.problem, mesh.spans[k], mesh.system
    until, last = span.phase.until, k == len(mesh.spans) - 1
    results: list[ca.SX] = []
    targets: Targets = []

    def give(expression: ca.SX, rows: Sequence[tuple[int, float]]) -> None:
        at = sum(e.numel() for e in results)
        results.append(ca.vec(expression))
        targets.extend((at + out, 0, row, factor) for out, (row, factor) in enumerate(rows))

    # What was required here; along the path too, where the end is no point of the method.
    asked = mesh.requirements(k, "end")
    if mesh.table is None or not mesh.table.ends:
        asked = asked + mesh.requirements(k, "path")
    for r in [*asked, *mesh.requirements(k, "after")]:
        e = span.phase.after(system, r.expression) if r.at == "after" else r.expression
        rows = mesh.require([r], f"end of {span.phase.name}", k, 1.0)
        give(e, [(row, 1.0) for row in rows])
    # The event: its guard is zero, and crosses in its direction; unless inputs that jump bring it about.
    if until is not None and not span.phase.by_inputs:
        event = system.event(until)
        guard = sx(event.guard)
        give(guard, [(int(mesh.rows.add([f"{until} at the end of {span.phase.name}"], 0.0, 0.0)[0]), 1.0)])
        if event.direction != "both":
            sign = 1.0 if event.direction == "up" else -1.0
            rate = ca.jtimes(guard, mesh.vectors[0], mesh.flow) + ca.jtimes(guard, time, ca.SX(1))
            name = f"{until} comes in its direction"
            row = mesh.rows.add([name], 0.0, math.inf, [LimitPlace(name, k, 1.0)])
            give(rate, [(int(row[0]), sign)])
    if until is not None:
        for total in problem.totals:
            if isinstance(total, Jumps) and not total.of(until).is_zero():
                give(total.of(until), [mesh.total_row[total.name]])
    # What follows: the next phase, or the motion anew; and the cost, which is known at the end.
    if not last:
        link_next_phase(mesh, k, give)
    else:
        require_repetition(mesh, k, give)
        resume_inputs(mesh)
        give(mesh.objective, [(0, 1.0)])
    # All of it is one stage function, evaluated once.
    column = ca.vertcat(*results, ca.SX(0, 1))
    totals = [
        (mesh.total_at[t.name], t.sym)
        for t in problem.totals
        if t.name in mesh.total_at and (last or ca.depends_on(column, t.sym))
    ]
    f = ca.Function("end", [time, *mesh.vectors, *[s for _, s in totals]], [ca.densify(column)])

    def make(layout: Layout) -> StageFunction:
        v, d = layout.symbols(ca.SX, k, 2, len(totals))
        *where, _ = layout.context(k, v, d, 1.0)
        extra = [v[v.numel() - len(totals) + j] for j in range(len(totals))]
        return make_stage(f"end_{k}", v, d, f(*where, *extra))

    stage = mesh.stage(StageSource(f"end_{k}", column.numel(), mesh, k, make))
    index = mesh.index(k, span.x[-1], span.count - 1, [at for at, _ in totals])
    mesh.add(stage, [index], [[span.nodes[-2], span.fractions[-1]]], targets)


def link_next_phase(mesh: MeshRows, k: int, give: Give) -> None:
    """Require that the next phase begins where the event, or the jump at the end of a phase that ends by
    time, leaves the state; and with the discrete states that the event sets."""
    span, following, system = mesh.spans[k], mesh.spans[k + 1], mesh.system
    until = span.phase.until or span.phase.name
    left = span.phase.after(system, ca.vertcat(*[q.sym for q in system.x]))
    rows = mesh.rows.add([f"{n} after {until}" for n in system.labels("x")], 0.0, 0.0)
    mesh.linear.append((rows, following.x[0], -np.ones(mesh.nx)))
    give(left, [(r, 1.0) for r in rows])
    if following.moving:
        values = span.phase.after(system, ca.vertcat(*[q.sym for q in system.z]))[list(following.moving)]
        rows = mesh.rows.add([f"{system.labels('z')[i]} after {until}" for i in following.moving], 0.0, 0.0)
        mesh.linear.append((rows, following.discrete, -np.ones(len(following.moving))))
        give(values, [(r, 1.0) for r in rows])


def require_repetition(mesh: MeshRows, k: int, give: Give) -> None:
    """Require that the end, after its event and the exchange of left and right, is the beginning; of a
    machine that keeps its energy, of all states but one, which the energy decides."""
    problem, system, phase = mesh.problem, mesh.system, mesh.spans[k].phase
    if problem.repeats is None:
        return
    exchanged = ca.vertcat(
        *[sx(system.symmetry.get(q.name, q.sym)) if problem.repeats else q.sym for q in system.x]
    )
    left = phase.after(system, exchanged)
    chosen = [i for i in range(mesh.nx) if i not in mesh.cyclic]
    superfluous = conserved_row(mesh, exchanged, chosen)
    chosen = [i for i in chosen if i != superfluous]
    rows = mesh.rows.add([f"{system.labels('x')[i]} repeats" for i in chosen], 0.0, 0.0)
    mesh.linear.append((rows, mesh.spans[0].x[0][chosen], -np.ones(len(chosen))))
    if mesh.shear is not None:  # on a slope, where the motion begins at a given place
        place = mesh.start.x[list(mesh.cyclic)]
        left = left - mesh.shear(system.vector("p")) @ (left[list(mesh.cyclic)] - place)
    give(left[chosen], [(r, 1.0) for r in rows])


def resume_inputs(mesh: MeshRows) -> None:
    """Require that inputs begin as they, or others, ended."""
    labels, first, last = mesh.system.labels("u"), mesh.spans[0].w[0, 0], mesh.spans[-1].w[-1, -1]
    for name, (other, sign) in mesh.problem.resumes.items():
        row = mesh.rows.add([f"{name} begins as {other} ended"], 0.0, 0.0)
        places = np.array([first[labels.index(name)], last[labels.index(other)]])
        mesh.linear.append((np.repeat(row, 2), places, np.array([1.0, -sign])))
