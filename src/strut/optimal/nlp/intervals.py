"""Inside phases: defect constraints (collocation or shooting) and path constraints, interval by interval."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.mesh_rows import MeshRows, Targets
from strut.optimal.nlp.point_stage import make_point_stage
from strut.optimal.nlp.scheme import hull
from strut.optimal.nlp.stage_function import StageFunction, make_stage
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.nlp.unknowns import Layout, LimitPlace
from strut.optimal.problem import bounds_name
from strut.optimal.totals import Integral
from strut.system import time

MAX_RATES_SHARE = 0.1
"""Rates of integrals that are no more than this part of the instructions of the flow are a stage of their
own, which is never compiled."""
Rates = list[tuple[Integral, ca.SX]]
"""Integrals with what is integrated."""


def add_intervals(mesh: MeshRows, k: int) -> None:
    """Add the intervals of a phase, with its integrals and the requirements along it."""
    rates = mesh.rates(mesh.spans[k].phase)
    smooth, split = [each for each in rates if not each[0].split], [each for each in rates if each[0].split]
    columns = [ca.vertcat(*[e for _, e in group], ca.SX(0, 1)) for group in (smooth, split)]
    asked = ca.vertcat(*[r.expression for r in mesh.requirements(k, "path")], ca.SX(0, 1))
    expressions = [mesh.flow, *[ca.densify(e) for e in (*columns, asked)]]
    if mesh.table is None:
        point = ca.Function("point", [time, *mesh.vectors], expressions)
        add_shooting(mesh, k, point, smooth, split)
    else:
        add_collocation(mesh, k, expressions, smooth, split)
    add_slack_integrals(mesh, k, split)
    add_input_limits(mesh, k)


def add_input_limits(mesh: MeshRows, k: int) -> None:
    """Require that inputs with bounds keep them between their places, too, by the corners of Bernstein."""
    span, corners = mesh.spans[k], hull(mesh.how.degree)
    for j, name in enumerate(mesh.system.labels("u")):
        at = span.w[0, 0, j]
        low, high = mesh.unknowns.low[at], mesh.unknowns.high[at]
        if not len(corners) or not (math.isfinite(low) or math.isfinite(high)):
            continue
        for i in range(span.count):
            limits = [LimitPlace(bounds_name(name), k, span.nodes[i])] * len(corners)
            rows = mesh.rows.add(
                [f"{name} in {span.phase.name}, interval {i}"] * len(corners), low, high, limits
            )
            width = span.fractions[i]
            mesh.mark(k, f"corners of {name}", rows, span.nodes[i] + width / 2, width)
            for row, corner in zip(rows, corners, strict=True):
                mesh.linear.append((np.full(len(corner), row), span.w[i, :, j], corner))


def add_collocation(
    mesh: MeshRows, k: int, expressions: Sequence[ca.SX], smooth: Rates, split: Rates
) -> None:
    """Add the collocation defects of a phase: f at every point, where the states are on the polynomial whose
    derivative this is; and its path constraints. expressions: of the system, f, rates of integrals, powers
    that are split, and what is required."""
    span, table, nx, path = mesh.spans[k], mesh.table, mesh.nx, mesh.requirements(k, "path")
    assert table is not None
    stage, rates_stage = point_sources(mesh, k, expressions)
    mesh.rates_at[k] = (stage.name, nx) if rates_stage is None else (rates_stage.name, 0)
    first = int(table.explicit_first)
    inverse = np.linalg.inv(table.A[first:, first:])
    index: list[np.ndarray] = []
    data: list[list[float]] = []
    targets: Targets = []
    rate_targets: Targets = targets if rates_stage is None else []
    nodes, n_path = span.nodes, expressions[-1].numel()
    for i in range(span.count):
        inner = iter(span.inner[i])
        states = [span.x[i] if c == 0 else span.x[i + 1] if c == 1 else next(inner) for c in table.c]
        label = f"{span.phase.name}, interval {i}"
        rows = [
            mesh.rows.add([f"flow of {n} in {label}" for n in mesh.system.labels("x")], 0.0, 0.0)
            for _ in states[first:]
        ]
        for j, row in enumerate(rows):
            # The multiplier of a collocation row is its weight b_j times the costate, on any mesh.
            c, b = table.c[first + j], table.b[first + j]
            mesh.mark(k, "flow", row, nodes[i] + c * span.fractions[i], b)
        for j, row in enumerate(rows):  # h f_j + h (inverse a_0)_j f_0 - sum inverse_ji (X_i - x) = 0
            for i2, state in enumerate(states[first:]):
                mesh.linear.append((row, state, np.full(nx, -inverse[j, i2])))
            mesh.linear.append((row, span.x[i], np.full(nx, inverse[j].sum())))
        if not table.ends:  # Gauss: the end of the interval is no stage, and follows from all of them
            weights = table.b @ inverse
            row = mesh.rows.add([f"end of {n} in {label}" for n in mesh.system.labels("x")], 0.0, 0.0)
            mesh.mark(k, "end", row, nodes[i + 1], 1.0)
            mesh.linear.append((row, span.x[i + 1], np.ones(nx)))
            mesh.linear.append((row, span.x[i], np.full(nx, weights.sum() - 1)))
            for weight, state in zip(weights, states, strict=True):
                mesh.linear.append((row, state, np.full(nx, -weight)))
        # One evaluation of the stage function for every point, and where its numbers contribute.
        for j, (c, b) in enumerate(zip(table.c, table.b, strict=True)):
            e = len(index)
            index.append(mesh.index(k, states[j], i))
            data.append([nodes[i], span.fractions[i], c, b])
            if j < first:
                share = inverse @ table.A[first:, 0]
                for row, factor in zip(rows, share, strict=True):
                    targets += [(out, e, r, factor) for out, r in enumerate(row)]
            else:
                targets += [(out, e, r, 1.0) for out, r in enumerate(rows[j - first])]
            at = mesh.rates_at[k][1]
            rate_targets += [(at + out, e, *mesh.total_row[t.name]) for out, (t, _) in enumerate(smooth)]
            at += len(smooth)
            rate_targets += add_split_rows(mesh, k, split, interval=i, place=j, output=at, evaluation=e)
            if n_path:
                place, weight = nodes[i] + c * span.fractions[i], span.fractions[i] * b
                rows_path = mesh.require(path, f"{label}, at {c:.3g} of it", k, place)
                mesh.mark(k, f"path: {', '.join(r.name for r in path)}", rows_path, place, weight)
                at = stage.size - n_path
                targets += [(at + out, e, r, 1.0) for out, r in enumerate(rows_path)]
    mesh.add(stage, index, data, targets)
    if rates_stage is not None:
        mesh.add(rates_stage, index, data, rate_targets)
    if path and not first:  # the beginning is no point of the method, and the path begins there, too
        rows_begin = mesh.require(path, f"beginning of {span.phase.name}", k)
        at_begin = [nodes[0], span.fractions[0], 0.0, 0.0]
        targets = [(stage.size - n_path + out, 0, r, 1.0) for out, r in enumerate(rows_begin)]
        mesh.add(stage, [mesh.index(k, span.x[0], 0)], [at_begin], targets)


def point_sources(
    mesh: MeshRows, k: int, expressions: Sequence[ca.SX]
) -> tuple[StageSource, StageSource | None]:
    """Return the stage functions of the points of a phase: one of the flow and of what is required, with the
    rates of integrals; or, where these are short, two, so that with another cost the flow stays the same
    function."""
    flow, rates, powers, asked = expressions
    apart = _count(mesh, [rates, powers]) <= MAX_RATES_SHARE * _count(mesh, [flow])
    apart = apart and bool(rates.numel() + powers.numel())

    def stack(parts: Sequence[ca.SX], h: ca.SX, d: ca.SX) -> ca.SX:
        flow, rates, powers, asked = parts
        return ca.vertcat(h * flow, h * d[3] * rates, powers, asked)

    def source(kind: str, parts: Sequence[ca.SX], implied: bool) -> StageSource:
        make = functools.partial(
            make_point_stage,
            k=k,
            name=f"{kind}_{k}",
            expressions=parts,
            data=4,
            place=lambda d: d[2],
            stack=stack,
            implied=implied,
        )
        of, size = mesh.system.implied, sum(part.numel() for part in parts)
        reads = [*parts, *([] if of is None else [of.residual, of.further])] if implied else []
        sizes = f"{kind} {[part.numel() for part in parts]} {() if of is None else of.states}"
        return mesh.stage(StageSource(f"{kind}_{k}", size, mesh, k, make, data=4, reads=reads, content=sizes))

    none = ca.SX(0, 1)
    if not apart:
        return source("point", expressions, implied=True), None
    return (
        source("point", [flow, none, none, asked], implied=True),
        source("rates", [none, rates, powers, none], implied=False),
    )


def _count(mesh: MeshRows, expressions: Sequence[ca.SX]) -> int:
    """Return how many instructions expressions of the system are."""
    return int(ca.Function("count", [time, *mesh.vectors], list(expressions)).n_instructions())


def add_split_rows(
    mesh: MeshRows, k: int, split: Rates, *, interval: int, place: int, output: int, evaluation: int
) -> Targets:
    """Add the rows by which the rates that are split by sign equal their slacks, at one place of an interval;
    returns what a stage contributes to them."""
    targets: Targets = []
    for s, (t, _) in enumerate(split):
        row = mesh.rows.add(
            [f"sign of {t.name} in {mesh.spans[k].phase.name}, interval {interval}"], 0.0, 0.0
        )
        width, points = mesh.spans[k].fractions[interval], mesh.points
        at = mesh.spans[k].nodes[interval] + width * (place + 0.5) / points
        mesh.mark(k, f"sign of {t.name}", row, at, width * mesh.weights()[place])
        targets.append((output + s, evaluation, int(row[0]), 1.0))
        pair = mesh.spans[k].slack[interval, place, s]
        mesh.linear.append((np.repeat(row, 2), pair, np.array([-1.0, 1.0])))
        mesh.slack_row[int(pair[0])] = int(row[0])
    return targets


def add_shooting(mesh: MeshRows, k: int, point: ca.Function, smooth: Rates, split: Rates) -> None:
    """Add the shooting defects of a phase: every interval integrated by RK4, its end the beginning of the
    next."""
    span, m, nx = mesh.spans[k], mesh.how.steps, mesh.nx
    name = f"interval_{k}"
    powers_count = (m + 1) * len(split)

    def make(layout: Layout) -> StageFunction:
        v, d = layout.symbols(ca.MX, k, 2)
        *_, z, _, p, h = layout.context(k, v, d, 0.0)
        step, x, q, powers = h / m, v[:nx], ca.MX.zeros(len(smooth), 1), []

        def at(tau: float, state: ca.MX) -> Any:
            t, _, _, u, _, _ = layout.context(k, v, d, tau)
            return point(t, state, z, u, p)

        # Classical Runge-Kutta steps, states and integrals side by side.
        for i in range(m):
            a, c, b = i / m, (i + 0.5) / m, (i + 1) / m
            k1 = at(a, x)
            powers.append(k1[2])
            k2 = at(c, x + step / 2 * k1[0])
            k3 = at(c, x + step / 2 * k2[0])
            k4 = at(b, x + step * k3[0])
            x = x + step / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            q = q + step / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        if split:
            powers.append(at(1.0, x)[2])
        return make_stage(name, v, d, ca.vertcat(x, q, *(powers if split else [])))

    reads = point(time, *mesh.vectors)[:3]
    size = nx + len(smooth) + powers_count
    stage = mesh.stage(
        StageSource(name, size, mesh, k, make, reads=reads, content=f"{m} steps, {len(smooth)}, {len(split)}")
    )
    mesh.rates_at[k] = name, nx
    index: list[np.ndarray] = []
    data: list[list[float]] = []
    targets: Targets = []
    for i in range(span.count):
        row = mesh.rows.add(
            [f"end of {n} in {span.phase.name}, interval {i}" for n in mesh.system.labels("x")], 0.0, 0.0
        )
        mesh.mark(k, "end", row, span.nodes[i + 1], 1.0)
        mesh.linear.append((row, span.x[i + 1], np.ones(nx)))
        index.append(mesh.index(k, span.x[i], i))
        data.append([span.nodes[i], span.fractions[i]])
        targets += [(out, i, r, -1.0) for out, r in enumerate(row)]
        targets += [(nx + out, i, *mesh.total_row[t.name]) for out, (t, _) in enumerate(smooth)]
        for j in range(m + 1 if split else 0):
            targets += add_split_rows(
                mesh,
                k,
                split,
                interval=i,
                place=j,
                output=nx + len(smooth) + j * len(split),
                evaluation=i,
            )
    mesh.add(stage, index, data, targets)
    add_shooting_path(mesh, k, point)


def add_shooting_path(mesh: MeshRows, k: int, point: ca.Function) -> None:
    """Require path constraints where intervals begin."""
    span, path = mesh.spans[k], mesh.requirements(k, "path")
    if not path:
        return

    def make(layout: Layout) -> StageFunction:
        v, d = layout.symbols(ca.SX, k, 2)
        *where, _ = layout.context(k, v, d, 0.0)
        return make_stage(f"path_{k}", v, d, point(*where)[3])

    asked = point(time, *mesh.vectors)[3]
    stage = mesh.stage(StageSource(f"path_{k}", asked.numel(), mesh, k, make, reads=[asked], content="path"))
    index = [mesh.index(k, span.x[i], i) for i in range(1, span.count)]
    data = [[span.nodes[i], span.fractions[i]] for i in range(1, span.count)]
    targets: Targets = []
    for e in range(len(index)):
        rows = mesh.require(path, f"{span.phase.name}, node {e + 1}", k, span.nodes[e + 1])
        mesh.mark(k, "path", rows, span.nodes[e + 1], span.fractions[e])
        targets += [(out, e, r, 1.0) for out, r in enumerate(rows)]
    mesh.add(stage, index, data, targets)


def add_slack_integrals(mesh: MeshRows, k: int, split: Rates) -> None:
    """Add the integral of the slacks: of one for what is positive, of both for the absolute value."""
    span = mesh.spans[k]
    for s, (total, _) in enumerate(split):
        weights = mesh.weights()
        index = [[span.duration, *span.slack[i, j, s]] for i in range(span.count) for j in range(mesh.points)]
        data = [[span.fractions[i] * weights[j]] for i in range(span.count) for j in range(mesh.points)]
        targets = [(0, e, *mesh.total_row[total.name]) for e in range(len(index))]
        make = functools.partial(make_slack_stage, name=f"slack_{k}_{s}", split=total.split)
        stage = mesh.stage(StageSource(f"slack_{k}_{s}", 1, mesh, k, make))
        mesh.add(stage, index, data, targets)


def make_slack_stage(layout: Layout, name: str, split: str) -> StageFunction:
    """Return the stage function of a rate that is split by sign, at one point: duration by weight by what
    counts of the two slacks."""
    v, d = ca.SX.sym("v", 3), ca.SX.sym("d", 1 + layout.data)
    what = v[1] if split == "positive" else v[1] + v[2]
    return make_stage(name, v, d, v[0] * d[0] * what)
