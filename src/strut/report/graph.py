"""A bond graph and a run of it as a page: the graph with the power that flows through it, beside what a page
of a run has."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.ports import BondGraph, Given, PowerSamples, solve_graph, svg
from strut.simulate.trajectory import Trajectory
from strut.view.pages.page import run_report
from strut.view.pages.report import Report

POWER_FRAMES = 120
"""Moments of a run at which powers are drawn."""


@checked
def power_samples(graph: BondGraph, run: Trajectory, frames: int = POWER_FRAMES) -> PowerSamples:
    """Return the power of every bond [W], and the energy of every storage [J], over a run of the graph's
    system."""
    solved, system = solve_graph(graph), run.system
    if system is None:
        raise ModelError(
            f"the run of '{run.system_name}' was loaded without its system: simulate it again to see its "
            f"powers"
        )
    if not isinstance(frames, int) or isinstance(frames, bool) or frames < 2:
        raise ModelError(f"frames is {frames!r}: a whole number from 2 on is needed")
    values = solved.solution.values
    bonds = [str(bond) for bond in solved.wiring.bonds]
    powers = [ca.dot(values[k, Given.EFFORT], values[k, Given.FLOW]) for k in range(len(bonds))]
    storages = [e for e in solved.wiring.elements.values() if "energy" in e.laws]
    energies = [solved.energy(e) for e in storages]
    _check_fit(system.vector("x"), [*powers, *energies], graph, run)
    f = system.function("powers", [ca.vertcat(*powers, ca.SX(0, 1)), ca.vertcat(*energies, ca.SX(0, 1))])
    times = np.linspace(run.t0, run.t1, frames)
    moments = run.at(times)
    groups = [
        np.vstack([np.asarray(moments[label]).reshape(1, -1) for label in getattr(run.names, group)])
        if getattr(run.names, group)
        else np.zeros((0, frames))
        for group in ("x", "z", "u")
    ]
    results = f(times.reshape(1, -1), *groups, np.repeat(np.reshape(run.p, (-1, 1)), frames, axis=1))
    by_bond, by_storage = (np.array(e) for e in results)
    return PowerSamples(
        times,
        dict(zip(bonds, by_bond, strict=True)),
        dict(zip([e.name for e in storages], by_storage, strict=True)),
    )


@checked
def graph_report(graph: BondGraph, run: Trajectory, *, asked: str = "") -> Report:
    """Return the page of a run of a bond graph, to be saved: what every page of a run has, and the graph with
    its power in motion. asked: the command that was given."""
    return run_report(run, asked=asked, part=lambda report: _power_section(report, graph, run))


def _power_section(report: Report, graph: BondGraph, run: Trajectory) -> None:
    """Add the graph with its power in motion."""
    report.section("Power through the graph")
    report.text(
        "Lines are as wide as the power that a bond carries, dashes run where it goes, and discs are as "
        "large as what "
        "an element stores above its least; half arrows say how power is counted, strokes which end is told "
        "the effort."
    )
    report.embed(f'<div class="graph">{svg(graph, power_samples(graph, run))}</div>\n')


def _check_fit(x: ca.SX, expressions: list[ca.SX], graph: BondGraph, run: Trajectory) -> None:
    """Raise ModelError where the states of a graph are not those of a run: one of another graph."""
    states = {s.element_hash() for s in ca.vertsplit(x)} if x.numel() else set()
    own = [p.state for e in graph.elements.values() for p in e.ports if p.state is not None]
    used = {s.element_hash() for s in ca.symvar(ca.vertcat(*expressions))}
    strangers = [q.name for q in own for s in ca.vertsplit(q.sym) if s.element_hash() in used - states]
    if strangers:
        raise ModelError(
            f"the run of '{run.system_name}' is not one of this graph '{graph.name}', whose '{strangers[0]}' "
            f"it has not: "
            f"simulate ports.system(graph) of the same graph"
        )


__all__ = ["graph_report", "power_samples"]
