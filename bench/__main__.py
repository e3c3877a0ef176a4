"""`python -m bench`: measure strut against its peers here and now. Nothing is asserted; the numbers speak."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench import (
    coman,
    derivatives,
    design,
    designs,
    dynamics,
    events,
    evolve,
    exoskeleton,
    fixed_step,
    gait,
    human,
    live,
    looking,
    network,
    ocp,
    pendulum,
    pleiades,
    populations,
    slip,
    stiff,
    walking,
    wasm,
    whole_body,
)
from bench import compile as compiling
from bench.report import save, table
from bench.timing import FULL, QUICK, Effort, Section

os.environ.setdefault("STRUT_BACKEND", "native")  # what is measured is compiled with care
CASES: dict[str, Callable[[Effort], list[Section]]] = {
    "pendulum": pendulum.run,
    "fixed-step": fixed_step.run,
    "events": events.run,
    "pleiades": pleiades.run,
    "slip": slip.run,
    "populations": populations.run,
    "stiff": stiff.run,
    "walking": walking.run,
    "looking": looking.run,
    "gait": gait.run,
    "design": design.run,
    "ocp": ocp.run,
    "dynamics": dynamics.run,
    "derivatives": derivatives.run,
    "network": network.run,
    "compile": compiling.run,
    "wasm": wasm.run,
    "live": live.run,
    "coman": coman.run,
    "whole-body": whole_body.run,
    "evolve": evolve.run,
    "human": human.run,
    "exoskeleton": exoskeleton.run,
}
RESULTS = Path(__file__).parent / "results.json"


def main(
    cases: Annotated[
        list[str] | None, typer.Argument(help=f"any of: {', '.join(CASES)}; all by default")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repetitions, noisier numbers")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="where the JSON goes")] = RESULTS,
) -> None:
    """Time strut against SciPy, CasADi, SUNDIALS, MuJoCo and Pinocchio, side by side. `python -m bench
    designs` prints the matrix of designs of all ready-made walkers instead."""
    unknown = [case for case in cases or () if case not in CASES]
    if unknown:
        raise typer.BadParameter(f"'{unknown[0]}' is not a case: allowed are {', '.join(CASES)}")
    effort = QUICK if quick else FULL
    console, results = Console(), {}
    try:
        for name in cases or CASES:
            with console.status(name):
                results[name] = CASES[name](effort)
    finally:  # what is measured is shown, whatever happens after it
        console.print(table(results))
        save(output, results, asdict(effort))
        console.print(f"every timing: {output}")
        load, cores = os.getloadavg()[1], os.cpu_count() or 1
        if load > cores:
            console.print(
                f"[bold]the machine was busy[/bold] (load {load:.1f} on {cores} cores): small differences "
                f"mean nothing"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["designs"]:  # hours, with options of its own: not among the others
        del sys.argv[1]
        typer.run(designs.main)
    else:
        typer.run(main)
