"""A run under a sampled controller: its loop in memory, and what it recorded at every sample."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from strut.codegen import (
    REPORT_FIELDS,
    LoopState,
    NativeController,
    QpSolver,
    QpStatus,
    SampledController,
    address,
)
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.simulate import Hold, Trajectory, simulate
from strut.system import Expression, System, start

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


class LoopController(SampledController, Protocol):
    """What a loop needs of a `QpController`, whose file reads this one."""

    @property
    def command(self) -> Mapping[str, Expression]:
        """What it sets."""
        ...

    @property
    def native(self) -> NativeController:
        """Its compiled functions."""
        ...

    def loop(self, machine: System, x0: Any, z0: Any, p: Any, samples: int) -> QpLoop:
        """The controller connected to a machine."""
        ...


class QpLoop:
    """A controller connected to a machine: memory, solver, and the record of its samples. For one run."""

    def __init__(
        self, controller: LoopController, machine: System, *, x0: Any, z0: Any, p: Any, samples: int
    ) -> None:
        self.controller, functions = controller, controller.functions
        self.solver = QpSolver(functions.shape)
        sizes = functions.sizes
        self.width = 1 + len(REPORT_FIELDS) + sizes["NU"] + sizes["NM"] + sizes["NY"] + sizes["NO"]
        self.sensors = _sensor_places(controller, machine)
        self.commands = _command_places(controller, machine)
        self.p = np.concatenate(
            [np.asarray(each.value, float).reshape(-1) for each in controller.p] or [np.zeros(1)]
        )
        begin = start(machine, x0, z0, None, p)
        seen = np.array([begin.x[k] if k >= 0 else begin.z[-1 - k] for k in self.sensors[: sizes["NS"]]])
        memory = np.array(functions.first(seen, self.p[: sizes["NP"]])).reshape(-1)
        self.m = np.concatenate([memory, [0.0]])
        self.u = np.zeros(max(sizes["NU"], 1))
        self.record = np.full((samples, self.width), np.nan)
        self.state = LoopState(
            solve=self.solver.solve_address,
            qp=self.solver.at,
            p=address(self.p),
            m=address(self.m),
            u=address(self.u),
            sensor_places=address(self.sensors),
            command_places=address(self.commands),
            record=address(self.record) if samples else None,
            capacity=samples,
            patience=controller.patience,
            begun=bool(np.isfinite(seen).all() and np.isfinite(memory).all()),
        )

    @property
    def hold(self) -> Hold:
        """The loop as `simulate` takes it, in compiled code: simulate(machine, t, control=loop.hold)."""
        return Hold(
            self.controller.native.act,
            every=self.controller.every,
            data=ctypes.addressof(self.state),
            sets=tuple(self.controller.command),
        )

    @property
    def hold_in_python(self) -> Hold:
        """The loop with its expressions in CasADi's virtual machine and the same solver, one call of Python
        per sample: the reference of the compiled one."""
        return Hold(self._act(), every=self.controller.every, sets=tuple(self.controller.command))

    def _act(self) -> Callable[[Any], dict[str, float]]:
        """Return what one sample does, as `sample` of `strut_loop.h` does it in C."""
        functions, state = self.controller.functions, self.state
        names = list(self.controller.command)

        def act(moment: Any) -> dict[str, float]:
            s = np.array([moment.x[k] if k >= 0 else moment.z[-1 - k] for k in self.sensors])
            s = s[: functions.sizes["NS"]]
            m, p = self.m[: functions.sizes["NM"]], self.p[: functions.sizes["NP"]]
            status, report, y = QpStatus.BAD_SENSOR, None, np.full(functions.shape.n, np.nan)
            o = np.full(functions.sizes["NO"], np.nan)
            # nothing is changed before the solution, the commands and the memory are known to be numbers
            if np.all(np.isfinite(s)):
                if not state.begun:  # memory begins with the first sample that is numbers
                    m[:] = np.array(functions.first(s, p)).reshape(-1)
                    state.begun = bool(np.isfinite(m).all())
                *program, k = functions.build(moment.t, s, m, p)
                y, report = self.solver.solve(*(np.array(each).T for each in program))
                status = QpStatus(int(report.status))
                if status < QpStatus.FAILED:
                    u, m_next, o = (
                        np.array(each).reshape(-1) for each in functions.act(moment.t, s, m, p, k, y)
                    )
                    if not np.all(np.isfinite(u)) or not np.all(np.isfinite(m_next)):
                        status = QpStatus.BAD_COMMAND
                    else:
                        self.u[: len(names)], self.m[: len(m_next)] = u, m_next
                        state.failures = 0
            # the last good commands are held for a while, then the safe ones are given
            if status >= QpStatus.FAILED:
                state.failures += 1
                if state.failures > state.patience:
                    safe = np.array(functions.safe(moment.t, s, m, p)).reshape(-1)
                    self.u[: len(names)] = np.where(np.isfinite(safe), safe, 0.0)
            state.counts[status] += 1
            if state.samples < state.capacity:
                words = [] if report is None else [getattr(report, name) for name in REPORT_FIELDS[1:]]
                head = [moment.t, float(status), *(words or [0.0] * (len(REPORT_FIELDS) - 1))]
                self.record[state.samples] = [*head, *self.u[: len(names)], *self.m[:-1], *y, *o]
            state.samples += 1
            return dict(zip(names, map(float, self.u), strict=False))

        return act


@dataclass(frozen=True, eq=False)
class ControlledRun:
    """A run under a controller.

    trajectory: of the machine. samples: a row of each sample, see `labels`. counts: by status, in small
        letters, of how many samples.
    """

    controller: LoopController = field(repr=False)
    trajectory: Trajectory
    samples: np.ndarray = field(repr=False)
    counts: Mapping[str, int]

    @classmethod
    def of(
        cls,
        controller: LoopController,
        machine: System,
        t: float | tuple[float, float],
        how: Mapping[str, Any],
    ) -> ControlledRun:
        """Run a machine under a controller; how: as of `simulate`."""
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
        loop = controller.loop(machine, **starts, samples=count)
        compiled = how.get("backend") != "virtual"
        hold = loop.hold if compiled else loop.hold_in_python
        trajectory = simulate(machine, t, control=hold, **how)
        counts = {status.name.lower(): int(loop.state.counts[status]) for status in QpStatus}
        return cls(controller, trajectory, loop.record[: loop.state.samples], counts)

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
        places = [k for k, label in enumerate(labels) if label.split("[")[0] == name]
        if not places:
            raise UnknownNameError(f"no sample has a '{name}': {did_you_mean(name, list(labels))}")
        return self.samples[:, places]

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
    def ok(self) -> bool:
        """Whether the run ended well and every program was solved as it stood."""
        return self.trajectory.ok and not self.unsolved_samples

    @property
    def faults(self) -> str:
        """What went wrong, in a sentence; empty where nothing did."""
        parts = [] if self.trajectory.ok else [f"the run ended with '{self.trajectory.status}'"]
        parts += [
            f"{self.counts[status.name.lower()]} of {len(self.samples)} samples: {words}"
            for status, words in STATUS_MEANINGS.items()
            if status > QpStatus.RETRIED and self.counts[status.name.lower()]
        ]
        return "; ".join(parts)

    def __repr__(self) -> str:
        end = self.trajectory.status
        return f"ControlledRun({len(self.samples)} samples, {end}{': ' + self.faults if self.faults else ''})"


def _sensor_places(controller: LoopController, machine: System) -> np.ndarray:
    """Of each sensed number the place among states, or -1 - the place among discrete states."""
    x = {label: k for k, label in enumerate(machine.labels("x"))}
    z = {label: -1 - k for k, label in enumerate(machine.labels("z"))}
    places = []
    for each in controller.sensors:
        for label in each.labels:
            if label not in x and label not in z:
                raise UnknownNameError(
                    f"'{controller.name}' senses '{label}', which '{machine.name}' has not: "
                    f"{did_you_mean(label, [*x, *z])}"
                )
            places.append(x[label] if label in x else z[label])
    return np.array(places or [0], dtype=np.int32)


def _command_places(controller: LoopController, machine: System) -> np.ndarray:
    """Of each command the place among the machine's inputs."""
    u = {label: k for k, label in enumerate(machine.labels("u"))}
    for name in controller.command:
        if name not in u:
            raise UnknownNameError(
                f"'{controller.name}' commands '{name}', which is no input of '{machine.name}': "
                f"{did_you_mean(name, list(u))}"
            )
    return np.array([u[name] for name in controller.command] or [0], dtype=np.int32)
