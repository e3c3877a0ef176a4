"""A run under a sampled controller, and what it recorded at every sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.codegen import REPORT_FIELDS, QpStatus
from strut.control.qp_loop import LoopController
from strut.control.qp_solvers import COMPILED_SOLVER, check_solver_name
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.html import card
from strut.simulate import Trajectory, simulate
from strut.simulate.trajectory import verb
from strut.system import System
from strut.tabular import Columns, Tabular

STATUS_MEANINGS = {
    QpStatus.SOLVED: "solved",
    QpStatus.RETRIED: "solved by another attempt",
    QpStatus.RELAXED: "relaxed: rows of the highest ranks were missed",
    QpStatus.FAILED: "no solution: last commands held, or safe ones given",
    QpStatus.BAD_DATA: "the program was no numbers: last commands held, or safe ones given",
    QpStatus.BAD_SENSOR: "a sensor was no number: last commands held, or safe ones given",
    QpStatus.BAD_COMMAND: "a command was no number: last ones held, or safe ones given",
}
"""What became of a sample, by its status."""


@dataclass(frozen=True, eq=False)
class ControlledRun(Tabular):
    """A run under a controller.

    trajectory: of the machine. samples: a row of each sample, see `labels`. counts: by status, in small
        letters, of how many samples. solver: of its quadratic programs.
    """

    controller: LoopController = field(repr=False)
    trajectory: Trajectory
    samples: np.ndarray = field(repr=False)
    counts: Mapping[str, int]
    solver: str = COMPILED_SOLVER

    @classmethod
    def of(
        cls,
        controller: LoopController,
        machine: System,
        t: float | tuple[float, float],
        how: Mapping[str, Any],
        solver: str = COMPILED_SOLVER,
    ) -> ControlledRun:
        """Run a machine under a controller; how: as of `simulate`. solver: of the programs, see
        `QpController.run`."""
        check_solver_name(solver)
        if "control" in how:
            raise ModelError("the run has a controller already: leave out control=")
        schedules = how.get("u")
        for key in schedules if isinstance(schedules, Mapping) else ():
            name = getattr(key, "name", key)
            if name in controller.command:
                raise ModelError(
                    f"u sets '{name}', which '{controller.name}' commands: leave it out; u is for "
                    f"inputs that the controller does not set, such as pushes"
                )
        begin, end = t if isinstance(t, (tuple, list)) else (0.0, t)
        count = max(0, math.ceil((float(end) - float(begin)) / controller.every) + 2)
        starts = {name: how.get(name) for name in ("x0", "z0", "p")}
        loop = controller.loop(machine, **starts, samples=count, solver=solver)
        compiled = how.get("backend") != "virtual" and solver == COMPILED_SOLVER
        hold = loop.hold if compiled else loop.hold_in_python
        trajectory = simulate(machine, t, control=hold, **how)
        counts = {status.name.lower(): int(loop.state.counts[status]) for status in QpStatus}
        return cls(controller, trajectory, loop.record[: loop.state.samples], counts, solver)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the columns of `samples` are: t, how each program was solved, commands, memory after the
        sample, unknowns and outputs."""
        own = self.controller.labels
        return ("t", *REPORT_FIELDS, *own["command"], *own["memory"], *own["unknowns"], *own["outputs"])

    def __getitem__(self, name: str) -> np.ndarray:
        """A column of `samples`, or several of a vector."""
        labels = self.labels
        if name in labels:
            return self.samples[:, labels.index(name)]
        return self.samples[:, [labels.index(label) for label in self._components(name)]]

    @property
    def t(self) -> np.ndarray:
        """When the samples were [s]."""
        return self["t"]

    @property
    def kkt(self) -> float:
        """The largest residual of the conditions of Karush, Kuhn and Tucker over all solved programs,
        relative."""
        solved = self["status"] < QpStatus.FAILED
        names = ("stationarity", "feasibility", "complementarity")
        return float(max((self[name][solved].max(initial=0.0) for name in names), default=0.0))

    @property
    def unsolved_samples(self) -> int:
        """How many samples had no program that was solved as it stood: it was relaxed, or there was none."""
        return sum(self.counts[status.name.lower()] for status in QpStatus if status > QpStatus.RETRIED)

    @property
    def missed_rows(self) -> dict[str, int]:
        """By the name of a row, the number of samples in which it was given up. Every relaxed program counts
        for one row: of those of the lowest rank that was relaxed, the one that was missed most. A name is
        that of a hard task, CONTACT_stays, or the range of a joint."""
        names = self.controller.program.row_names
        places = self["missed_row"][self["status"] == QpStatus.RELAXED].astype(int)
        return dict(Counter(names[k] for k in places.tolist() if k >= 0).most_common())

    @property
    def ok(self) -> bool:
        """Whether the run ended well and every program was solved as it stood."""
        return self.trajectory.ok and not self.unsolved_samples

    @property
    def faults(self) -> str:
        """What went wrong, in a sentence; empty where nothing did."""
        parts = [] if self.trajectory.ok else [f"the run ended with '{self.trajectory.status}'"]
        missed = ", ".join(f"{name} in {count}" for name, count in self.missed_rows.items())
        parts += [
            f"{self.counts[status.name.lower()]} of {len(self.samples)} samples: {words}"
            + (f" ({missed})" if status == QpStatus.RELAXED and missed else "")
            for status, words in STATUS_MEANINGS.items()
            if status > QpStatus.RETRIED and self.counts[status.name.lower()]
        ]
        return "; ".join(parts)

    def __repr__(self) -> str:
        end, faults = self.trajectory.status, f": {self.faults}" if self.faults else ""
        return f"ControlledRun({len(self.samples)} samples, {end}{faults})"

    def columns(self) -> Columns:
        """Return the samples as columns by name."""
        return {name: self.samples[:, k] for k, name in enumerate(self.labels)}

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column, where it is known."""
        own = self.controller
        machine = self.trajectory.names.units
        own_units = {
            label: each.unit for each in (*own.memory, *own.program.unknowns) for label in each.labels
        }
        return {"t": "s", **{name: machine.get(name, "") for name in own.command}, **own_units}

    def plot(self, *names: str) -> Any:
        """Columns of the samples over time, by name, a panel per unit; without names, the commands. A vector
        gives all its components. What the machine did: `trajectory.plot`."""
        labels = [
            label
            for name in names or tuple(self.controller.command)
            for label in ([name] if name in self.labels else self._components(name))
        ]
        units = self.units
        curves = {label: (self[label], units.get(label, "")) for label in labels}
        return verb("plot_samples")(self.t, curves)

    def _components(self, name: str) -> list[str]:
        """The labels of a vector. Raises `UnknownNameError` where there is none of this name."""
        labels = [label for label in self.labels if label.split("[")[0] == name]
        if not labels:
            raise UnknownNameError(f"no sample has a '{name}': {did_you_mean(name, list(self.labels))}")
        return labels

    def _repr_html_(self) -> str:
        """In a notebook."""
        commands = [
            (name, *(f"{value:.6g}" for value in (self[name].min(), self[name].mean(), self[name].max())))
            for name in self.controller.command
            if len(self.samples)
        ]
        tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
            "samples": (("status", "samples"), [(k, v) for k, v in self.counts.items() if v]),
            "given up": (("row", "samples"), list(self.missed_rows.items())),
            "commands": (("", "least", "mean", "largest"), commands),
        }
        return card(f"Controlled run of {self.trajectory.system_name}", repr(self), tables)


__all__ = ["STATUS_MEANINGS", "ControlledRun"]
