"""What `strut gait -o DIR` writes: a page for every gait, with its branch and its basin; branches and basins as tables and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from strut import view
from strut.errors import ModelError, NoGaitError, StrutError
from strut.gait import Basin, Branch, Gait, ReturnMap
from strut.gait.energetics import DEFINITIONS
from strut.simulate import Trajectory, simulate
from strut.system.system import System
from strut.view import plots
from strut.view.figure import Figure
from strut.view.film import PLAYER, film, film_controls
from strut.view.report import Report

VERDICTS = {
    "stable": ": small disturbances die out.",
    "unstable": ": small disturbances grow.",
    "neutral": ": it is one of a family, along something that is conserved; other small disturbances die out.",
}
STEPS = 6
"""Walked for the moving picture."""


def write(directory: Path, found: list[Gait], branches: list[Branch], basins: list[Basin], asked: str) -> tuple[list[Path], list[str]]:
    """Everything into a directory: the files, and what could not be drawn. Branches and basins belong to the gaits, in order."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"cannot write to {directory}: {error}") from error
    files: list[Path] = []
    missing: list[str] = []
    drawings: list[list[tuple[str, str, Figure]]] = [[] for _ in found]
    for k, branch in enumerate(branches):
        files.append(_branch_table(branch, directory / f"sweep-{k + 1}.csv"))
        drawings[k].append((f"sweep-{k + 1}.html", f"Over {branch.name}", bifurcation_diagram(branch)))
    for k, basin in enumerate(basins):
        files.append(_basin_table(basin, directory / f"basin-{k + 1}.csv"))
        drawings[k].append((f"basin-{k + 1}.html", "Basin of attraction", basin_picture(basin)))
    try:
        for k, g in enumerate(found):
            own = branches[k] if branches else None
            title = f"{g.system.name}: gait {k + 1}" if len(found) > 1 else f"{g.system.name}: a gait"
            files.append(gait_page(g, title, asked, drawings[k], own).save(directory / f"gait-{k + 1}.html"))
            files += [figure.save(directory / name) for name, _, figure in drawings[k]]
    except StrutError as error:
        missing.append(f"no pages: {error}")
    return files, missing


def gait_page(g: Gait, title: str, asked: str, drawings: list[tuple[str, str, Figure]], branch: Branch | None) -> Report:
    """One gait: its numbers, how it moves, its multipliers, its energy, its branch and its basin."""
    word, verdict = g.kind.capitalize(), VERDICTS[g.kind]
    report = Report(title, word, f"{verdict} The largest multiplier has a modulus of {abs(g.multipliers[0]):.6g}.", g.stable)
    report.note(f"Asked: {asked}. Found to {g.residual:.1e}, and replayed in the simulator.")
    report.facts(
        {
            "period": f"{g.period:.9g} s",
            "step length": f"{g.step_length:.9g} m",
            "speed": f"{g.speed:.9g} m/s",
            "energy per step": f"{g.energy_per_step:.9g} J",
            "cost of transport": f"{g.cost_of_transport:.9g}",
        }
    )
    run = simulate(g.system, t=STEPS * g.period, x0=g.vector, z0=np.array(list(g.z0.values())))
    _motion(report, run)
    report.section("Multipliers")
    report.figures(view.multipliers(g))
    rows = [[f"{m.real:.9g}", f"{m.imag:.9g}", f"{abs(m):.9g}"] for m in g.multipliers]
    report.table(["real part", "imaginary part", "modulus"], rows, (0, 1, 2))
    report.section("The step")
    report.figures(*plots.phase_portraits(run), beside=True)
    report.table([f"just after {g.section}", "value"], [[n, f"{v:.12g}"] for n, v in g.x0.items()], (1,))
    _energy(report, g)
    for _, heading, figure in drawings:
        report.section(heading)
        report.figures(figure)
        if branch is not None and heading == f"Over {branch.name}":
            for b in branch.bifurcations:
                report.note(f"{b.kind} at {branch.name} = {b.at:.10g}")
            report.note(f"The branch ended: {branch.ended}.")
    report.section("Parameters")
    values = [[q.name, f"{float(q.value[0]):.9g}", q.unit, q.description] for q in g.system.p if isinstance(q.value, np.ndarray)]
    report.table(["name", "value", "unit", ""], values, (1,))
    return report


def _motion(report: Report, run: Trajectory) -> None:
    picture = film(run)
    if not picture:
        return
    report.section("In motion")
    report.embed(film_controls(picture), {"film": picture}, PLAYER)
    report.note(f"{STEPS} steps. To turn it, and for films: gait.trajectory.animate().")


def _energy(report: Report, g: Gait) -> None:
    account = g.energetics
    report.section("Energy of a step")
    booked = [("lost in events", account.lost), ("dissipated", account.dissipated), ("supplied", account.supplied)]
    rows = [[what, name, f"{value + 0.0:.9g}"] for what, channels in booked for name, value in channels.items()]
    report.table(["", "channel", "energy [J]"], [*rows, ["given by gravity", "", f"{account.fallen:.9g}"]], (2,))
    report.subheading("Cost of transport, by definition")
    costs = [[name, f"{value:.9g}", DEFINITIONS[name]] for name, value in account.costs.items()]
    report.table(["definition", "value", "what it is"], costs, (1,))


def bifurcation_diagram(branch: Branch) -> Figure:
    """A state after each step over the parameter, with the branches of gaits that repeat after twice as many steps."""
    name, units = branch.names[0], {q.name: q.unit for q in (*branch.system.x, *branch.system.p)}
    lines = [_line(branch, name, branch.values(name))]
    lines[0]["points"] = [
        {"kind": b.kind, "at": b.at, "values": {name: float(b.point.y[branch.names.index(name)])}} for b in branch.bifurcations
    ]
    for doubled in _doubled(branch):
        lines += [_line(doubled, name, doubled.values(name)), _line(doubled, name, _second(doubled))]
    return view.bifurcation(lines, name, branch.name, units)


def _line(branch: Branch, name: str, values: np.ndarray) -> dict[str, Any]:
    return {"values": branch.parameter, name: values, "stable": branch.stable}


def _doubled(branch: Branch) -> list[Branch]:
    end, found = float(branch.parameter[-1]), []
    for b in branch.bifurcations:
        if b.kind == "doubling" and abs(end - b.at) > 1e-9:
            try:
                found.append(b.doubled(to=end, points=40))
            except NoGaitError:  # it begins too steeply to be drawn
                continue
    return found


def _second(line: Branch) -> np.ndarray:
    """The first free state one step later."""
    step = ReturnMap(line.system, line.section, (line.name,), line.steps // 2, z0=line.z0)
    done = step.many(np.array([p.y for p in line.points]), line.parameter[:, None])
    return np.asarray(done.y[:, 0])


def basin_picture(basin: Basin) -> Figure:
    """How walks from each cell end."""
    kinds = sorted(basin.outcomes, key=lambda n: n != "walks")
    number = np.vectorize(kinds.index)(basin.label.astype(str))
    x, y = (_titled(basin.gait.system, name) for name in basin.names)
    return view.basin(number.T, basin.first, basin.second, x, y, dict(enumerate(kinds)))


def _titled(system: System, name: str) -> str:
    unit = next((q.unit for q in system.x if q.name == name), "")
    return f"{name} [{unit}]" if unit else name


def _branch_table(branch: Branch, path: Path) -> Path:
    columns = [branch.parameter, branch.period, branch.stable.astype(float), *[branch.values(n) for n in branch.names]]
    header = ",".join([branch.name, "period", "stable", *branch.names])
    np.savetxt(path, np.column_stack(columns), fmt="%.17g", delimiter=",", header=header, comments="")
    return path


def _basin_table(basin: Basin, path: Path) -> Path:
    a, b = (grid.ravel() for grid in np.meshgrid(basin.first, basin.second, indexing="ij"))
    lines = [f"{x:.9g},{y:.9g},{word}" for x, y, word in zip(a, b, basin.label.ravel(), strict=True)]
    path.write_text("\n".join([f"{basin.names[0]},{basin.names[1]},outcome", *lines]) + "\n", encoding="utf-8")
    return path
