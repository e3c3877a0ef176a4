"""Runs of the best individuals of a job, to be looked at: of those that are evaluated by a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import Evaluation
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.individual import Individual
from strut.evolve.store import JobStore
from strut.simulate import Trajectory, simulate
from strut.simulate.archive_file import system_bytes, system_from_bytes

NOT_OF_A_RUN = ("threads", "device", "precision", "lanes", "crew", "ledger", "check_steps")
"""Options of a batch that one run of it does not have."""
RUN_ARGUMENTS = {"p": "p", "x": "x0", "z": "z0", "u": "u"}
"""What of a system an individual may set, and the argument of a run that sets it."""

NO_SCENE = "a machine without a scene, or with options that no file can keep"
"""Why the file of a job whose evaluation is a machine may keep none."""
WITHOUT_MACHINE = {
    "function": "a Python function, of which there is no motion to show",
    "program": "an external program, which alone knows what moves",
    "encoded": "a machine whose parameters are encoded by Python code, which a file cannot keep: run the "
    "best again, simulate(system, p=...) with what the encoding makes of its parameters",
    "design": "searches for designs, each of which has a page of its own",
}
"""By kind of evaluation, why the file of a job keeps no machine."""


def keep_machine(store: JobStore, evaluation: Evaluation) -> None:
    """Write the machine of an evaluation into the file of its job, where it has something to show and is
    data: a page of the job then shows the best in motion."""
    if not isinstance(evaluation, SystemEvaluation) or store.path is None:
        return
    if evaluation.system.scene is None:
        return
    options = {name: value for name, value in evaluation.options.items() if name not in NOT_OF_A_RUN}
    if not all(isinstance(value, (str, int, float, bool)) for value in options.values()):
        return
    try:
        data = system_bytes(evaluation.system)
    except ModelError:
        return
    store.write_machine(data, options)


@checked
def run_individuals(
    path: str | Path, individuals: Sequence[Individual], seconds: float | None = None
) -> list[Trajectory]:
    """Run individuals of a job's file once more, as they were evaluated, each for as long as the job says, or
    at most so many seconds. Raises ModelError where the job is not evaluated by a machine that has something
    to show."""
    store = JobStore(Path(path).expanduser(), read_only=True)
    try:
        machine, evaluation = store.machine(), store.spec["problem"]["evaluation"]
    finally:
        store.close()
    if machine is None:
        kind = str(evaluation.get("kind", ""))
        raise ModelError(
            f"{Path(path).name} keeps no machine, as it is evaluated by {WITHOUT_MACHINE.get(kind, NO_SCENE)}"
        )
    system, options = system_from_bytes(machine[0]), machine[1]
    time = float(evaluation["time"])
    time = time if seconds is None else min(time, seconds)
    groups = {group: set(system.labels(group)) for group in RUN_ARGUMENTS}
    runs = []
    for individual in individuals:
        values: dict[str, Any] = {}
        for name, value in individual.parameters.items():
            group = next(key for key, labels in groups.items() if name in labels)
            values.setdefault(RUN_ARGUMENTS[group], {})[name] = float(np.asarray(value))
        runs.append(simulate(system, time, **values, **options))
    return runs
