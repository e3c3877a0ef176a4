"""`QpLoop`: a sampled controller connected to a machine, in memory, for one run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
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
from strut.control.named_qp_solver import NamedQpSolver
from strut.control.qp_program import QuadraticProgram
from strut.control.qp_solvers import COMPILED_SOLVER
from strut.errors import UnknownNameError, did_you_mean
from strut.simulate import Hold
from strut.system import Discrete, Expression, System, start


class LoopController(SampledController, Protocol):
    """What a loop needs of a `QpController`, whose file reads this one."""

    @property
    def command(self) -> Mapping[str, Expression]:
        """What it sets."""
        ...

    @property
    def program(self) -> QuadraticProgram:
        """What it solves."""
        ...

    @property
    def memory(self) -> Sequence[Discrete]:
        """What it remembers."""
        ...

    @property
    def native(self) -> NativeController:
        """Its compiled functions."""
        ...

    def loop(self, machine: System, x0: Any, z0: Any, p: Any, samples: int, *, solver: str) -> QpLoop:
        """The controller connected to a machine."""
        ...


class QpLoop:
    """A controller connected to a machine: memory, solver, and the record of its samples. For one run.

    solver: its name; others than daqp, which is compiled, solve in the loop in Python alone.
    """

    def __init__(
        self,
        controller: LoopController,
        machine: System,
        *,
        x0: Any,
        z0: Any,
        p: Any,
        samples: int,
        solver: str = COMPILED_SOLVER,
    ) -> None:
        self.controller, functions = controller, controller.functions
        compiled = QpSolver(functions.shape)
        self.solver: QpSolver | NamedQpSolver = (
            compiled if solver == COMPILED_SOLVER else NamedQpSolver(functions.shape, solver)
        )
        sizes = functions.sizes
        self._compiled = compiled  # its memory is the state's
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
            solve=compiled.solve_address,
            qp=compiled.at,
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
        """The loop with its expressions in CasADi's virtual machine, one call of Python per sample: the
        reference of the compiled one, and the loop of other solvers."""
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


__all__ = ["LoopController", "QpLoop"]
