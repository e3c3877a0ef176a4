"""`page`: a run as one HTML file that opens anywhere, without a network; and what such a page says of a
run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from strut.checks import checked
from strut.errors import StrutError
from strut.simulate.live_result import add_live_page
from strut.view.figures import contact_plots, plots, stride_plots
from strut.view.figures import energy_plots as joules
from strut.view.figures.crowds import pattern_rows
from strut.view.figures.curves import MAX_POINTS
from strut.view.figures.figure import Figure
from strut.view.pages.headline import headline
from strut.view.pages.motion import motion
from strut.view.pages.provenance import add_provenance, duration, rerun_code
from strut.view.pages.report import LONG_TABLE_ROWS, Report
from strut.view.units import quantity, shown_unit, title_with_unit

if TYPE_CHECKING:
    from strut.simulate.account import Account
    from strut.simulate.event_log import Occurrence
    from strut.simulate.trajectory import Trajectory

MAX_PARAMETER_ROWS = 200
"""Parameters that a page lists; of more, a row for names that differ by numbers alone."""
MAX_OPEN_FIGURES = 8
"""Figures of states that a page shows at once; of more, the others are folded."""
MORE_STATES = "More states"
"""Heading of the figures of states that are folded."""
LISTED_EVENTS = 50
"""Events that the table of a page lists, the first ones; all are in the trajectory."""


@checked
def page(
    trajectory: Trajectory,
    path: str | Path,
    title: str | None = None,
    *,
    remarks: str = "",
    asked: str = "",
    source: str = "",
    drawing: str = "",
) -> Path:
    """Write a run as one HTML file, and return where it is.

    What was asked and how it ended, a moving picture, states, energy (per step where there are steps),
    contact forces, outputs, parameters, events and how to run it again. The page asks nothing of any network.
    Beside it stands a live page, NAME-live.html, on which the machine runs; a switch leads there.
    title: the heading, the system's name unless given. remarks: text to stand below it. asked: the command
        that made the run.
    source: Python that makes its system from `strut.walkers`, "walkers.compass()", for the lines that run it
        again.
    drawing: of what the system was made of, as SVG: `network.graph()`.
    """

    def add_graph(report: Report) -> None:
        report.section("Graph")
        report.picture(drawing, f"the graph of {trajectory.system_name}: its nodes, and what acts on what")

    part = add_graph if drawing else None
    report = run_report(trajectory, title, remarks, asked, source, part=part)
    return add_live_page(trajectory, report.save(path))


def document(trajectory: Trajectory, title: str | None = None, remarks: str = "", asked: str = "") -> str:
    """The text of the page."""
    return run_report(trajectory, title, remarks, asked).document()


def run_report(
    run: Trajectory,
    title: str | None = None,
    remarks: str = "",
    asked: str = "",
    source: str = "",
    *,
    part: Callable[[Report], None] | None = None,
) -> Report:
    """The page as a `Report`, to be added to. part: adds a section after the film, before the curves."""
    report = Report(title or run.system_name, *_verdict(run), remarks=remarks, asked=asked)
    _facts(run, report, asked)
    motion(run, report)
    if part is not None:
        part(report)
    details(run, report)
    add_provenance(report, run, asked, rerun_code(run, source) if source else "")
    return report


def details(run: Trajectory, report: Report, *, folded: bool = False) -> None:
    """Curves, energy, forces, parameters and events of a run: the stride first, what few ask for folded.
    folded: all but the stride, where chapters of a result come before."""
    stride(run, report)
    for part in (_states, _energy, _forces):
        part(run, report, folded)
    _outputs(run, report)
    _model_books(run, report)
    _parameters(run, report, folded)
    _events(run, report)


def stride(run: Trajectory, report: Report) -> None:
    """The last stride, leg by leg; how the walk comes to its cycle; power and work of its drives."""
    angles, portraits = stride_plots.stride_angles(run), stride_plots.stride_portraits(run)
    convergence, loops = stride_plots.convergence(run), stride_plots.work_loops(run)
    power = stride_plots.drive_power(run)
    if not (angles or portraits or convergence):
        return
    report.section("Stride")
    report.figures(*angles)
    report.figures(*portraits, *([convergence] if convergence else []), beside=True)
    report.note(
        "The last stride, of each leg from its own landing on. The change of the state from one step to the "
        "next falls where a walk comes to its cycle."
    )
    if power or loops:
        report.subheading("Drives")
        report.figures(*([power] if power else []))
        report.figures(*loops, beside=True)
        if loops:
            report.note("Torque against angle over the last stride: what a loop encloses is its work.")


def _verdict(run: Trajectory) -> tuple[str, str, bool | None]:
    """How a run went, in a word and a sentence; and whether well: None where an event ended it that is
    neither success nor failure."""
    end, meaning = (
        quantity(run, f"{run.t1:.6g}", "s"),
        f": {run.ending_meaning}" if run.ending_meaning else "",
    )
    if run.status == "done":
        return "Done", f": ran from {run.t0:g} to {quantity(run, f'{run.t1:g}', 's')}, as asked.", True
    if run.ended_in_failure:
        return "Failed", f" at {end}, event “{run.status}”{meaning}.", False
    if run.ok:
        return "Ended", f" at {end} by the event “{run.status}”{meaning}.", None
    return "Stopped", f" at {end}: {run.status}.", False


def _facts(run: Trajectory, report: Report, asked: str) -> None:
    count, options, happened = run.statistics, run.provenance.get("options", {}), run.events.counts()
    landed = sum(happened.get(name, 0) for name in run.names.step_events)
    begin, end = run.provenance.get("t", (run.t0, run.t1))
    how = (
        f" by {options['method']}, rtol {options['rtol']:g}, atol {options['atol']:g}"
        if "method" in options
        else ""
    )
    report.note(
        f"Asked: {asked or f'simulate {run.system_name}'}, from {begin:g} to "
        f"{quantity(run, f'{end:g}', 's')}{how}."
    )
    first = headline(run)
    general = {
        "status": run.status,
        "time": f"{run.t0:g} to {quantity(run, f'{run.t1:.6g}', 's')}",
        "events": f"{len(run.events):,}",
    }
    report.facts(first or general, headline=True)
    if first:
        report.note("Of the last whole step. Cost of transport: energy lost, over weight and distance.")
    report.facts(
        {
            "system": run.system_name,
            **({name: general[name] for name in ("status", "time")} if first else {}),
            **({"units": f"none: {', '.join(run.names.scales)} are 1"} if run.dimensionless else {}),
            **({"steps walked": f"{landed:,}"} if landed else {}),
            **({"events": general["events"]} if first else {}),
            "integration steps": f"{count.get('steps', len(run.raw.t)):,.0f}",
            "wall time": duration(count.get("wall", math.nan)),
        }
    )


def _states(run: Trajectory, report: Report, folded: bool) -> None:
    report.section("States", folded=folded)
    figures, zeros = plots.states(run), plots.zero_names(run, [*run.names.x, *run.names.u])
    held_figures = plots.held_signals(run)
    open_figures, folded_figures = _split_figures([*figures, *held_figures])
    report.figures(*open_figures, beside=len(figures) > plots.BESIDE_FROM + 2)
    if folded_figures:
        report.note(f"{len(folded_figures)} more figures are folded below: {MORE_STATES}.")
    if more := plots.undrawn_count(
        run, [*run.names.x, *run.names.z, *run.names.u], [*figures, *held_figures]
    ):
        report.note(
            f"and {more:,} more, not drawn: they are too many. Draw some by name: run.plot(NAME, ...)"
        )
    if zeros:
        report.note(f"Zero throughout, and not drawn: {', '.join(zeros)}.")
    counts = {name: n for name, n in run.events.counts().items() if name not in run.names.internal}
    if len(run.events) > plots.MAX_EVENTS:
        report.note(f"{len(run.events):,} events: too many to mark.")
    elif counts:
        report.note(
            "Thin vertical lines mark events: "
            + ", ".join(f"{name} ({n})" for name, n in counts.items())
            + "."
        )
    if len(run.t) > MAX_POINTS:
        report.note(
            f"Long curves are thinned: of {len(run.t):,} points they keep the least and the greatest in "
            f"every interval."
        )
    if folded_figures:
        report.section(MORE_STATES, folded=True)
        report.figures(*folded_figures, beside=True)
    if not stride_plots.stride_portraits(run) and (portraits := plots.phase_portraits(run)):
        report.subheading("Phase portrait")
        report.figures(*portraits, beside=True)


def _split_figures(figures: list[Figure]) -> tuple[list[Figure], list[Figure]]:
    """The figures of states that are seen at once, some of every unit, and the others; each in order."""
    if len(figures) <= MAX_OPEN_FIGURES:
        return figures, []
    seen: Counter[str] = Counter()
    places: list[tuple[int, int]] = []  # how many of its unit stand before a figure, and its own place
    for k, figure in enumerate(figures):
        unit = figure.y.rpartition("[")[2]
        places.append((seen[unit], k))
        seen[unit] += 1
    chosen = {k for _, k in sorted(places)[:MAX_OPEN_FIGURES]}
    return [f for k, f in enumerate(figures) if k in chosen], [
        f for k, f in enumerate(figures) if k not in chosen
    ]


def _energy(run: Trajectory, report: Report, folded: bool) -> None:
    if not run.names.stored:
        return
    report.section("Energy", folded=folded)
    try:
        account = run.ledger
    except StrutError as error:
        report.note(str(error))
        return
    report.figures(joules.energy(run))
    report.note(
        f"Largest residual {quantity(run, f'{account.residual:.3g}', 'J')}, {account.relative:.2g} of the "
        f"energy that moved. "
        "It is what stored, supplied, dissipated and lost energy leave unexplained. "
        f"Energies up to {quantity(run, f'{account.resolution:.2g}', 'J')}, {_part(account)} of it, are "
        f"shown as 0."
    )
    sources, sinks = joules.flows(run)
    if sources and sinks:
        report.subheading("Where the energy went" if run.dimensionless else "Where the joules went")
        report.figures(joules.energy_flow(run), joules.energy_areas(run), beside=True)
        report.note(
            "Layers: stored energies are counted from their least value in the run. The line is all that was "
            "there or was supplied."
        )
    if chosen := [name for name in run.names.step_events if name in run.events.counts()]:
        steps = joules.ledger_table(run)
        report.section("Energy, step by step", folded=True)
        head = [name if k < 2 else title_with_unit(run, name, "J") for k, name in enumerate(steps.head)]
        report.table(
            head, steps.rows, numbers=tuple(range(len(head))), long=len(steps.rows) > LONG_TABLE_ROWS
        )
        report.note(
            f"A step ends with {' or '.join(chosen)}, whose loss is part of it. Signed as it changed what is "
            f"stored."
        )
    else:
        report.section("Energy in numbers", folded=True)
    report.subheading("Over the whole run")
    report.figures(joules.residual(run))
    rows = [
        (name, _signed_text(value) if name != "residual" else f"{value:.3g}")
        for name, value in account.rounded_summary().items()
    ]
    report.table(("", title_with_unit(run, "change of stored energy", "J")), rows, numbers=(1,))


def _forces(run: Trajectory, report: Report, folded: bool) -> None:
    feet = contact_plots.contacts(run)
    if not feet:
        return
    report.section("Contact forces", folded=folded)
    report.figures(contact_plots.contact_forces(run))
    drawn, points = contact_plots.drawn_forces(run), len(feet)
    if len(drawn) < points:
        report.note(f"Normal forces of the {len(drawn)} points that are pressed hardest, of {points}.")
    elif len(drawn) < sum(1 + len(friction) for _, friction in feet.values()):
        report.note(
            f"Normal forces alone: with friction, {points} points are too many curves for one figure."
        )
    cones = [contact_plots.friction_cone(run, foot) for foot, (_, friction) in feet.items() if friction][:4]
    if cones:
        report.figures(*cones, beside=True)


def _outputs(run: Trajectory, report: Report) -> None:
    forces = {
        label for normal, friction in contact_plots.contacts(run).values() for label in (normal, *friction)
    }
    labels = [label for label in run.names.outputs if label not in forces]
    figures, zeros = plots.outputs(run, without=forces), plots.zero_names(run, labels)
    if not figures and not zeros:
        return
    report.section("Outputs", folded=True)
    report.figures(*figures, beside=len(figures) > plots.BESIDE_FROM)
    if more := plots.undrawn_count(run, labels, figures):
        report.note(
            f"and {more:,} more, not drawn: they are too many. Draw some by name: run.plot(NAME, ...)"
        )
    if zeros:
        report.note(f"Zero throughout, and not drawn: {', '.join(zeros)}.")


def _model_books(run: Trajectory, report: Report) -> None:
    """Flags, counters and tables of the model, which are marked as such where they are made."""
    if figures := plots.internal_signals(run):
        report.section("Inside the model", folded=True)
        report.text("Flags, counters and tables by which the model keeps its books.")
        report.figures(*figures, beside=True)


def _parameters(run: Trajectory, report: Report, folded: bool) -> None:
    rows = [
        (name, f"{value:.10g}", shown_unit(run, plots.unit_of(run, name)))
        for name, value in zip(run.names.p, run.p, strict=True)
        if name not in run.names.internal
    ]
    if not run.names.p:
        return
    report.section("Parameters", folded=folded or len(rows) > LONG_TABLE_ROWS)
    if len(rows) > MAX_PARAMETER_ROWS:
        values = zip(run.names.p, run.p.tolist(), strict=True)
        units = {name: unit for name, _, unit in rows}
        rows = pattern_rows({name: (value, units[name]) for name, value in values if name in units})
        report.note("Names that differ by numbers alone are one row; all values are in the run's file.")
    report.table(("name", "value", "unit"), rows, numbers=(1,), long=len(rows) > LONG_TABLE_ROWS)
    if hidden := sum(name in run.names.internal for name in run.names.p):
        report.note(
            f"and {hidden:,} numbers of tables inside the model, not listed; all are in the run's file"
        )


def _events(run: Trajectory, report: Report) -> None:
    if not len(run.events):
        return
    first = [run.events[k] for k in range(min(len(run.events), LISTED_EVENTS))]
    rows = [(f"{k}", f"{event.t:.9g}", event.name, _change(event)) for k, event in enumerate(first, start=1)]
    report.section("Events", folded=True)
    report.table(
        ("", title_with_unit(run, "time", "s"), "event", "change"),
        rows,
        numbers=(0, 1),
        long=len(rows) > LONG_TABLE_ROWS,
    )
    if more := len(run.events) - len(first):
        report.note(f"and {more:,} more, not listed")


def _part(account: Account) -> str:
    """The resolution of an account as a part of the energy that moved."""
    return f"{account.resolution / account.turnover:.1g}" if account.turnover > 0 else "nothing"


def _signed_text(value: float) -> str:
    """A number with its sign; zero without."""
    return f"{value:+.6g}" if value else "0"


def _change(event: Occurrence, most: int = 4) -> str:
    """What an event changed, in words."""
    changed = [
        f"{name} {before:.4g} → {event.after[name]:.4g}"
        for name, before in event.before.items()
        if before != event.after[name]
    ]
    return ", ".join(changed[:most]) + (", …" if len(changed) > most else "")
