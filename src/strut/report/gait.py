"""A gait as a `Result`: its numbers, its multipliers in the unit circle, its energy, and if they are given
its branch and its basin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked
from strut.gait import Basin, BifurcationMap, Branch, Gait, GaitAtValue
from strut.report.walks import basin_walks, branch_walks, spread_indices, with_squares
from strut.simulate import simulate
from strut.view.figures.figure import NEUTRAL, Figure, Points
from strut.view.figures.gait_plots import basin, bifurcation, multipliers
from strut.view.figures.swept_axis import SweptAxis, swept_axis
from strut.view.pages.headline import headline as page_headline
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result
from strut.view.units import quantity, shown_unit, title_with_unit

if TYPE_CHECKING:
    from strut.simulate import Trajectory

RESIDUAL_FLOOR = 1e-12
"""Relative tolerance of steps of a return map: a residual that comes out smaller says no more than this."""
LISTED_GAITS = 25
"""Gaits of a sweep that its table shows at most, evenly along it."""
WALKED_NOTE = (
    "Small points are steps that it walked, once it had settled at each value (brute-force bifurcation "
    "diagram): {}."
)
"""What a map says below a branch."""
SHOWN_PERIODS = 6
"""Periods of a gait that a page shows."""


@checked
def gait_result(  # noqa: PLR0913 -- all that can be known of a gait
    gait: Gait,
    asked: str = "",
    *,
    branches: Branch | Sequence[Branch] = (),
    swept: Sequence[GaitAtValue] = (),
    step_map: BifurcationMap | None = None,
    cells: Basin | None = None,
    title: str = "",
    source: str = "",
    unit: str = "",
) -> Result:
    """Turn what `gait.find` found into a `Result`: facts, stability, energy, branches, basin and a run.

    asked: the command that was given. branches: what `gait.follow` and `doubled` made of it, the first one
        followed from it. swept: its gaits at some values, of `gait.gaits_at`, for the table; those that it
        was followed through unless given. step_map: its `gait.bifurcation_map` over the same parameter, drawn
        below them. cells: its `gait.basin`. title: the heading, if not the system's name. source:
        Python that makes its system, "walkers.compass()". unit: in which the parameter of the branches is
        shown, "deg"; its own unless given.
    """
    several = [branches] if isinstance(branches, Branch) else list(branches)
    word, of, books = gait.kind.capitalize(), gait.system, gait.energetics
    largest = float(abs(gait.multipliers[0])) if len(gait.multipliers) else 0.0
    many = "" if gait.steps == 1 else f" It repeats after {gait.steps} steps."
    verdict = (
        f": the largest multiplier is {largest:.5g}. It comes back to itself within "
        f"{max(gait.residual, RESIDUAL_FLOOR):.1e}.{many}"
    )
    if gait.neutral:
        verdict += " It is one of a family, along something that is conserved"
        verdict += "; other small disturbances die out." if gait.kind == "neutral" else "."
    verdict += "".join(f" {sentence}." for sentence in gait.turned_angles)
    run = gait_run(gait)
    steps = max(gait.steps, 1)
    walked = page_headline(run)
    accounted = not math.isnan(gait.energy_per_step)
    first: dict[str, str] = {
        "speed": quantity(of, f"{gait.speed:.5g}", "m/s"),
        "step length": quantity(of, f"{gait.step_length / steps:.5g}", "m"),
        "step time": quantity(of, f"{gait.period / steps:.5g}", "s"),
        **(
            {"cost of transport": f"{books.round_cost(gait.cost_of_transport):.5g}"}
            if accounted
            else {"energy": "not known: no ledger"}
        ),
        **(
            {"energy per step": quantity(of, f"{books.round_energy(gait.energy_per_step):.6g}", "J")}
            if accounted
            else {}
        ),
        "stable": "yes" if gait.stable else "neutral" if gait.neutral else "no",
        **{name: walked[name] for name in ("least clearance", "friction needed") if name in walked},
    }
    facts = {
        **({"period": quantity(of, f"{gait.period:.5g}", "s")} if steps > 1 else {}),
        **({"units": f"none: {', '.join(of.scales)} are 1"} if of.dimensionless else {}),
    }
    chapters = [_stability(gait), *([_energy(gait)] if accounted else [])]
    if several:
        chapters.append(_branch(several, swept, step_map, unit))
    if cells is not None:
        chapters.append(_basin(cells))
    numerics = {
        "section": gait.section,
        "steps": gait.steps,
        "residual": f"{max(gait.residual, RESIDUAL_FLOOR):.3g}",
    }
    named = title or f"{gait.system.name}: a {word.lower()} gait"
    code, data = _again(gait, source), {"gait": gait.data()}
    return Result(
        named,
        word,
        verdict,
        gait.stable,
        "",
        asked,
        facts,
        chapters,
        run,
        numerics,
        code,
        data,
        headline=first,
    )


def gait_run(gait: Gait) -> Trajectory:
    """Simulate `SHOWN_PERIODS` periods of a gait, to look at."""
    z0 = np.array(list(gait.z0.values()))
    return simulate(gait.system, t=SHOWN_PERIODS * gait.period, x0=gait.vector, z0=z0)


def _stability(gait: Gait) -> Chapter:
    """The chapter of the state after a step and of the multipliers."""
    units = {q.name: shown_unit(gait.system, q.unit) for q in gait.system.x}
    states = Rows(
        ("state", "value", "unit"),
        [(n, float(v), units.get(n, "")) for n, v in gait.x0.items()],
        f"Just after {gait.section}",
    )
    rows = [(float(m.real), float(m.imag), float(abs(m))) for m in gait.multipliers]
    circle = {"multipliers": multipliers(gait)}
    note = "A disturbance is multiplied by these at every step: it dies out if all lie inside the circle."
    return Chapter(
        "Stability",
        "",
        [states, Rows(("real part", "imaginary part", "modulus"), rows, "Multipliers")],
        circle,
        note,
    )


def _energy(gait: Gait) -> Chapter:
    """The chapter of the energy of a period and the costs of transport."""
    books = gait.energetics
    kinds = (("lost in events", books.lost), ("dissipated", books.dissipated), ("supplied", books.supplied))
    rows = [
        (name, kind, books.round_energy(float(value)))
        for kind, entries in kinds
        for name, value in entries.items()
    ]
    rows.append(("gravity", "given by the way down", books.round_energy(float(books.fallen))))
    account = Rows(("where", "", title_with_unit(gait.system, "energy", "J")), rows, "Over one period")
    costs = {n: books.round_cost(float(v), n == "squared-torque") for n, v in books.costs.items()}
    cost_rows = [(n.replace("_", " "), value, books.definitions[n]) for n, value in costs.items() if value]
    zero = [n.replace("_", " ") for n, value in costs.items() if not value]
    return Chapter(
        "Energy of a step",
        "",
        [account, Rows(("definition", "value", "meaning"), cost_rows, "Cost of transport")],
        note=f"Costs that are zero: {', '.join(zero)}." if zero else "",
    )


def swept_rows(swept: Sequence[GaitAtValue], axis: SweptAxis) -> list[tuple[object, ...]]:
    """Return the rows of a table of gaits over a parameter: its value, the period, the largest multiplier and
    whether it is stable; or that there is no gait. Of more than `LISTED_GAITS` some, evenly."""
    return [
        (
            float(axis.in_unit(each.value)),
            *(
                (float(p.period), float(abs(p.multipliers[0])), "yes" if p.stable else "no")
                if (p := each.point) is not None
                else ("no gait", "", "")
            ),
        )
        for each in (swept[k] for k in spread_indices(len(swept), LISTED_GAITS))
    ]


def _branch(
    branches: list[Branch], swept: Sequence[GaitAtValue], step_map: BifurcationMap | None, unit: str
) -> Chapter:
    """The chapter of a sweep: its gaits, its bifurcations, those that begin on it, and how it walks there.
    unit: in which the parameter is shown."""
    main = branches[0]
    listed = swept or [GaitAtValue(p.value, p) for p in main.points]
    own_unit = next((q.unit for q in main.system.p if q.name == main.name), "")
    axis = swept_axis(main.name, own_unit, unit, of=main.system)
    rows = swept_rows(listed, axis)
    some = f"{len(rows)} of {len(listed)} rows; all are in sweep-*.csv" if len(rows) < len(listed) else ""
    tables = [
        Rows(
            (axis.title, title_with_unit(main.system, "period", "s"), "largest multiplier", "stable"),
            rows,
            some,
        )
    ]
    special = [
        (b.kind, branch.steps, float(axis.in_unit(b.at))) for branch in branches for b in branch.bifurcations
    ]
    if special:
        tables.append(Rows(("kind", "of gaits of steps", axis.title), special, "Bifurcations"))
    walks = branch_walks(main, axis)
    titles, numbers = [title for title, _ in walks.values()], list(walks)
    heights = {main.names[0]: main.values(main.names[0]), "period": main.values_after_steps("period")[0]}
    figures = {
        f"sweep_{name}": axis.figure(
            with_squares(
                _with_steps(bifurcation(branches, name), step_map, name),
                main.parameter[numbers],
                y[numbers],
                titles,
            )
        )
        for name, y in heights.items()
    }
    return Chapter(
        f"Over {main.name}",
        f"{len(main)} gaits; the branch ended: {axis.sentence(main.ended)}.",
        tables,
        figures,
        "" if step_map is None else WALKED_NOTE.format(axis.sentence(step_map.ended)),
        beside=True,
        films=dict(walks.values()),
        one_film=True,
    )


def _with_steps(figure: Figure, step_map: BifurcationMap | None, name: str) -> Figure:
    """A figure of branches above the steps that were walked, if some were."""
    if step_map is None or step_map.name not in figure.x:
        return figure
    y = step_map.step_time if name == "period" else step_map.states[:, step_map.names.index(name)]
    steps = Points("a step, walked", step_map.at, y, NEUTRAL, size=2)
    return replace(figure, traces=(steps, *figure.traces))


def _basin(cells: Basin) -> Chapter:
    """The chapter of a basin: how many cells end how, and where they are."""
    rows = Rows(("outcome", "cells"), list(cells.outcomes.items()))
    note = (
        f"How runs end that begin in the gait's posture with other values of {' and '.join(cells.names)}. "
        f"The cross is the gait."
    )
    walks = basin_walks(cells)
    i, j = np.array(list(walks), dtype=int).reshape(-1, 2).T
    titles = [title for title, _ in walks.values()]
    figure = with_squares(basin(cells), cells.first[i], cells.second[j], titles)
    films = dict(walks.values())
    return Chapter("Basin", "", [rows], {"basin": figure}, note, films=films, one_film=True)


def _again(gait: Gait, source: str) -> str:
    """Python that finds a gait again. source: Python that makes its system."""
    values = {
        q.name: float(q.value) if np.ndim(q.value) == 0 else np.asarray(q.value).tolist()
        for q in gait.system.p
    }
    more = {"section": gait.section, "steps": gait.steps, "walk": 0} | (
        {"z0": dict(gait.z0)} if gait.z0 else {}
    )
    return "\n".join(
        [
            f"from strut import gait{', walkers' if source else ''}",
            "",
            *([f"system = {source}"] if source else []),
            f"found = gait.find(system.using({values!r}),  # {gait.system.name!r}",
            f"    {dict(gait.x0)!r},",
            f"    {', '.join(f'{name}={value!r}' for name, value in more.items())})",
        ]
    )
