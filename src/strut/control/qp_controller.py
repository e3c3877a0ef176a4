"""`QpController`: a sampled controller that solves a quadratic program at every tick, in compiled code.

Everything but the solver is expressions: of the time, the plant's states that it senses, its own memory, and
parameters that may be changed without compiling again. See `QpController.run` for how it is run, and
`whole_body` for one that is made of tasks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, integer, positive
from strut.codegen import NativeController, QpFunctions, compile_controller, compile_system
from strut.control.controlled_run import ControlledRun
from strut.control.qp_loop import QpLoop
from strut.control.qp_program import QuadraticProgram
from strut.control.qp_solvers import COMPILED_SOLVER
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import (
    Discrete,
    Expression,
    Packed,
    Param,
    Quantity,
    State,
    System,
    check_name,
    known_symbol,
    sx,
    time,
)

HELD_SAMPLES = 20
"""Samples in a row without a solution for which the last commands are held; then the safe ones are given."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class QpController(Packed):
    """A sampled controller: every `every` seconds it solves a quadratic program for its commands.

    every: the period [s].
    sensors: states and discrete states of the plant that it reads; the plant's own, or others of the same
        names.
    program: its unknowns, goals, rows and bounds are expressions of `strut.time`, sensors, memory and
        parameters.
    command: by name of the plant's input, an expression of these and of the unknowns.
    memory, update: discrete states of its own, and what each, or its name, is after a sample, an expression
        of all the above. The value that one begins with may be an expression of sensors and parameters.
    outputs: what else is recorded at every sample.
    safe: by name, the commands once nothing was solved for `patience` samples; 0 where none is given. Until
        then the last good ones are held. What is no number among them becomes 0.
    shared: values computed once a sample, by a symbol of your own that command, update and outputs use.
    p: parameters; those of the expressions are found without being listed.
    """

    name: str
    every: float
    sensors: Sequence[Quantity]
    program: QuadraticProgram
    command: Mapping[str, Expression]
    memory: Sequence[Discrete] = ()
    update: Mapping[Any, Expression] = field(default_factory=dict)
    outputs: Mapping[str, Expression] = field(default_factory=dict)
    safe: Mapping[str, Expression] = field(default_factory=dict)
    shared: Sequence[tuple[ca.SX, Expression]] = ()
    p: Sequence[Param] = ()
    patience: int = HELD_SAMPLES

    def __post_init__(self) -> None:
        check_name(self.name, "controller")
        positive(f"period of '{self.name}'", self.every, "s")
        integer(f"patience of '{self.name}'", self.patience, 0)
        for each in self.sensors:
            if not isinstance(each, (State, Discrete)):
                raise ModelError(
                    f"'{each.name}' is a {each.kind}: a controller senses states and discrete states"
                )
        own = {key.name if isinstance(key, Discrete) else key: value for key, value in self.update.items()}
        object.__setattr__(self, "update", own)
        names = [each.name for each in self.memory]
        for name in self.update:
            if name not in names:
                raise UnknownNameError(
                    f"'{self.name}' updates '{name}', which is not in its memory: {did_you_mean(name, names)}"
                )
        for name in self.safe:
            if name not in self.command:
                raise UnknownNameError(
                    f"'{self.name}' has a safe '{name}', which it does not command: "
                    f"{did_you_mean(name, list(self.command))}"
                )
        if not self.p:
            object.__setattr__(self, "p", self._parameters())
        self.functions  # noqa: B018  # what is wrong with its expressions is said now

    def __repr__(self) -> str:
        sizes, shape = self.functions.sizes, self.program.shape
        return (
            f"QpController('{self.name}', every {self.every:g} s, {sizes['NS']} sensors, "
            f"{len(self.command)} commands, {sizes['NM']} numbers of memory, {shape.n} unknowns, "
            f"{shape.rows} rows, {shape.goals} goals)"
        )

    def _expressions(self) -> list[ca.SX]:
        """All expressions of the controller, for its symbols."""
        begin = [m.value for m in self.memory if isinstance(m.value, (ca.SX, Quantity))]
        groups = (self.command, self.update, self.outputs, self.safe)
        rest = [value for group in groups for value in group.values()]
        return [
            *self.program.matrices(),
            *(ca.vec(sx(each)) for each in (*rest, *begin, *(value for _, value in self.shared))),
        ]

    def _parameters(self) -> tuple[Param, ...]:
        """The parameters that the expressions are made of."""
        symbols = ca.symvar(ca.vertcat(*[ca.vec(each) for each in self._expressions()]))
        owners = [known_symbol(symbol) for symbol in symbols]
        parameters = tuple(dict.fromkeys(each for each in owners if isinstance(each, Param)))
        names = [each.name for each in parameters]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"two parameters of '{self.name}' are called '{name}': rename one")
        return parameters

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names of commands, memory, unknowns and outputs, one for each number."""
        outputs = {
            name: 1 if sx(value).numel() == 1 else int(sx(value).numel())
            for name, value in self.outputs.items()
        }
        return {
            "command": tuple(self.command),
            "memory": tuple(label for each in self.memory for label in each.labels),
            "unknowns": self.program.labels,
            "outputs": tuple(
                f"{name}[{k}]" if size > 1 else name for name, size in outputs.items() for k in range(size)
            ),
        }

    @cached_property
    def functions(self) -> QpFunctions:
        """Its plain functions, ready to be written as C."""
        x, m, p = (_column([each.sym for each in group]) for group in (self.sensors, self.memory, self.p))
        k = _column([ca.vec(symbol) for symbol, _ in self.shared])
        shared = _column([ca.vec(ca.densify(sx(value))) for _, value in self.shared])
        arguments = [time, x, m, p]
        nexts = [self.update.get(each.name, each.sym) for each in self.memory]
        results = [
            [*self.program.matrices(), shared],
            [
                _column([ca.vec(sx(value)) for value in group])
                for group in (self.command.values(), nexts, self.outputs.values())
            ],
            [_column([ca.vec(sx(self.safe.get(name, 0.0))) for name in self.command])],
        ]
        results.append([_column([ca.vec(sx(each.value)) for each in self.memory])])
        inputs = [arguments, [*arguments, k, self.program.y], arguments, [x, p]]
        for name, value in self.command.items():
            if sx(value).numel() != 1:
                raise ModelError(f"command '{name}' has {sx(value).numel()} numbers: one is needed for each")
        functions = []
        names = ("build", "act", "safe", "first")
        for name, arguments_of, results_of in zip(names, inputs, results, strict=True):
            self._check_symbols(arguments_of, results_of)
            wide = ca.cse([ca.densify(each) for each in results_of])
            functions.append(ca.Function(name, arguments_of, wide))
        build, act, safe, first = functions
        return QpFunctions(self.name, build, act, safe, first, self.program.shape)

    def _check_symbols(self, arguments: list[ca.SX], results: list[ca.SX]) -> None:
        """Refuse symbols that are neither sensed, remembered nor parameters."""
        mine = {symbol.element_hash() for each in arguments for symbol in ca.vertsplit(each) if each.numel()}
        for symbol in ca.symvar(ca.vertcat(*[ca.vec(each) for each in results])):
            if symbol.element_hash() not in mine:
                raise ModelError(
                    f"'{self.name}' uses '{symbol}', which it does not have there: add it to sensors, memory "
                    f"or p; unknowns of the program stand only in goals, rows, command, update and outputs"
                )

    def using(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> QpController:
        """The same controller with other values of parameters, by name. Nothing is compiled again."""
        changes = {**(values or {}), **more}
        by_name = {each.name: each for each in self.p}
        for name in changes:
            if name not in by_name:
                raise UnknownNameError(
                    f"'{self.name}' has no parameter '{name}': {did_you_mean(name, list(by_name))}"
                )
        new = tuple(
            each.copy_with(value=np.broadcast_to(each.check(changes[each.name]), (each.size,)).astype(float))
            if each.name in changes
            else each
            for each in self.p
        )
        copy: QpController = self.__copy__()
        copy.__dict__["p"] = new  # its functions stay: symbols are the same
        return copy

    @cached_property
    def native(self) -> NativeController:
        """Its compiled functions."""
        return compile_controller(self.functions)

    def loop(
        self,
        machine: System,
        x0: Any = None,
        z0: Any = None,
        p: Any = None,
        samples: int = 0,
        *,
        solver: str = COMPILED_SOLVER,
    ) -> QpLoop:
        """The controller connected to a machine, with memory for so many recorded samples; each run needs
        one of its own. solver: as of `run`."""
        return QpLoop(self, machine, x0=x0, z0=z0, p=p, samples=samples, solver=solver)

    def run(
        self,
        machine: System,
        t: float | tuple[float, float],
        *,
        solver: str = COMPILED_SOLVER,
        **how: Any,
    ) -> ControlledRun:
        """Run a machine under this controller; nothing is Python between samples. how: as of `simulate`:
        x0, u (schedules of inputs that the controller does not set, such as pushes), rtol, ...; p:
        parameters of the machine alone: the model that the controller computes with keeps its own, see
        `using`. solver: of the quadratic programs, by name (`control.qp_solver_names()` are those
        installed): others than daqp are called from Python at every sample, to hold answers against each
        other; what they return is scaled, relaxed and checked alike."""
        return ControlledRun.of(self, machine, t, how, solver)

    def run_each(
        self,
        machine: System,
        t: float | tuple[float, float],
        values: Iterable[Mapping[str, Any]],
        *,
        threads: int | None = None,
        **how: Any,
    ) -> list[ControlledRun]:
        """Run the machine once for each set of the controller's parameters, by name, on many cores at once:
        nothing is compiled again, and threads run without the interpreter's lock. threads: as many as there
        are cores without any given. how: as of `run`."""
        count = os.cpu_count() or 1 if threads is None else integer("threads", threads, 1)
        controllers = [self.using(each) for each in values]
        self.native  # noqa: B018  # compiled once, before threads ask for it
        compile_system(machine, backend=how.get("backend"))
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda each: each.run(machine, t, **how), controllers))


def _column(parts: Sequence[ca.SX]) -> ca.SX:
    """Parts below one another; an empty column without any."""
    return ca.vertcat(*parts, ca.SX(0, 1))
