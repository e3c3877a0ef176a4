"""Measures of a run as text: expressions of what it leaves, of integrals over it, which become states, and
of its largest and least values, which become discrete states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from strut.errors import ExpressionError, ModelError
from strut.evolve.evaluations.run_extremes import LARGEST_PREFIX, Extreme, remember_largest
from strut.simulate.simulate import names_of
from strut.system import State, System, parse_expression, time

ENERGY_TOTALS = ("supplied", "dissipated", "lost")
"""Energies that a run adds up [J]."""
INTEGRAL_PREFIX = "measured_integral"
"""What names of the states begin with that integrals become."""


@dataclass(frozen=True)
class RunMeasures:
    """Measures, ready to be evaluated.

    system: the machine, with a state for each integral and largest value. names: what they read of a run.
    function: their values from those.
    """

    system: System
    names: tuple[str, ...]
    function: ca.Function


def parse_measures(
    system: System, expressions: Mapping[str, str], *, duration: float, ledger: bool
) -> RunMeasures:
    """Return measures by name as a function of what a run leaves.

    duration: of runs that do not end before [s]. ledger: whether energies are added up, so that measures may
    read them. Raises ModelError for an expression that cannot be measured, also for one that counts from a
    time on at which every run is over: of nothing it would be 0, which meets goals.
    """
    integrals, extremes = _Integrals(system, duration), _Extremes(system, duration)
    readable = [*_labels(system), "end.time", "end.ok"]
    readable += [f"count.{event.name}" for event in system.events]
    readable += [f"count.{sample.name}" for sample in system.samples]
    if ledger:
        readable += [f"{word}.{name}" for word in ENERGY_TOTALS for name in getattr(names_of(system), word)]
    symbols = {name: ca.SX.sym(f"v{k}") for k, name in enumerate(readable)}
    integrals.symbols = extremes.symbols = symbols
    functions: dict[str, tuple[int, Callable[..., ca.SX]]] = {
        "integral": (1, integrals.integral),
        "mean": (1, integrals.mean),
        "integral_after": (2, integrals.integral_after),
        "mean_after": (2, integrals.mean_after),
        "largest": (1, extremes.largest),
        "least": (1, extremes.least),
        "largest_after": (2, extremes.largest_after),
        "least_after": (2, extremes.least_after),
    }
    rows = []
    for name, text in expressions.items():
        if not ledger and any(f"{word}." in text for word in ENERGY_TOTALS):
            raise ModelError(
                f"measure '{name}' reads energies, '{text}': give ledger=True, so that they add up"
            )
        try:
            rows.append(parse_expression(text, symbols, "state, output or count", functions, conditions=True))
        except ExpressionError as error:
            raise ExpressionError(f"measure '{name}': {error.reason}", error.text, error.column) from None
        except ModelError as error:
            raise ModelError(f"measure '{name}': {error}") from None
    symbols |= integrals.totals | extremes.memories
    leaves = ca.symvar(ca.vertcat(*rows))
    names = tuple(name for name in symbols if any(ca.is_equal(symbols[name], leaf) for leaf in leaves))
    names = names or ("end.time",)
    function = ca.Function(
        "measures", [ca.vertcat(*[symbols[name] for name in names])], [ca.densify(ca.vertcat(*rows))]
    )
    return RunMeasures(remember_largest(integrals.with_states(), extremes.asked), names, function)


class _OverRun:
    """Knows what measures say about a run as a whole in expressions of the system."""

    def __init__(self, system: System, duration: float) -> None:
        self.system = system
        self.duration = duration
        self.symbols: dict[str, ca.SX] = {}

    def inside(self, expression: ca.SX, doing: str) -> ca.SX:
        """Return an expression of what a run leaves as one of the system's own quantities."""
        read = ca.symvar(expression)
        names = [name for name, symbol in self.symbols.items() if any(ca.is_equal(symbol, r) for r in read)]
        outside = [name for name in names if "." in name and name not in _labels(self.system)]
        if outside or len(names) < len(read):
            what = f"'{outside[0]}'" if outside else "another integral or largest value"
            raise ModelError(f"{what} is known only when a run has ended: {doing}")
        if not names:
            return expression
        values = [component(self.system, name) for name in names]
        return ca.substitute([expression], [self.symbols[name] for name in names], values)[0]

    def counting_begin(self, begin: ca.SX) -> float:
        """Return a time from which on something counts [s]."""
        if not begin.is_constant() or not float(begin) >= 0:
            raise ModelError(
                f"the time from which on a run counts is {begin}: give a number that is not negative [s]"
            )
        if float(begin) >= self.duration:
            raise ModelError(
                f"the time from which on a run counts is {float(begin):g} s, and runs last "
                f"{self.duration:g} s: nothing would be counted; give an earlier time, or let runs last "
                "longer"
            )
        return float(begin)


class _Extremes(_OverRun):
    """Collects the largest and least values that measures ask for."""

    def __init__(self, system: System, duration: float) -> None:
        super().__init__(system, duration)
        self.asked: list[Extreme] = []
        self.memories: dict[str, ca.SX] = {}

    def largest(self, value: ca.SX) -> ca.SX:
        """Return the largest value over the run."""
        return self.largest_after(value, ca.SX(0))

    def least(self, value: ca.SX) -> ca.SX:
        """Return the least value over the run."""
        return -self.largest(-value)

    def largest_after(self, value: ca.SX, begin: ca.SX) -> ca.SX:
        """Return the largest value from a time on [s]; of a run that ends before, the value at its end."""
        return ca.fmax(self._memory(value, self.counting_begin(begin)), value)

    def least_after(self, value: ca.SX, begin: ca.SX) -> ca.SX:
        """Return the least value from a time on [s]; of a run that ends before, the value at its end."""
        return -self.largest_after(-value, begin)

    def _memory(self, value: ca.SX, begin: float) -> ca.SX:
        """Return the symbol of the state that remembers a largest value, the same one for the same value."""
        inside = self.inside(value, "it has no largest value over it")
        for extreme in self.asked:
            if extreme.begin == begin and ca.is_equal(extreme.value, inside, 10):
                return self.memories[extreme.name]
        name = f"{LARGEST_PREFIX}_{len(self.asked)}"
        self.asked.append(Extreme(name, inside, begin))
        self.memories[name] = ca.SX.sym(name)
        return self.memories[name]


class _Integrals(_OverRun):
    """Collects the integrals that measures ask for."""

    def __init__(self, system: System, duration: float) -> None:
        super().__init__(system, duration)
        self.totals: dict[str, ca.SX] = {}
        self.rates: list[ca.SX] = []

    def integral(self, rate: ca.SX) -> ca.SX:
        """Return the symbol of an integral over the run, in the unit of the rate times s."""
        return self._total(self._inside(rate))

    def mean(self, value: ca.SX) -> ca.SX:
        """Return a mean over the run; of one without any length it is no number."""
        return self.integral(value) / self.symbols["end.time"]

    def integral_after(self, rate: ca.SX, begin: ca.SX) -> ca.SX:
        """Return the symbol of an integral from a time on [s]; it is 0 of a run that ends before."""
        return self._total(ca.if_else(time >= self.counting_begin(begin), self._inside(rate), 0))

    def mean_after(self, value: ca.SX, begin: ca.SX) -> ca.SX:
        """Return a mean from a time on [s]; it is 0 of a run that ends before."""
        left = self.symbols["end.time"] - self.counting_begin(begin)
        return ca.if_else(left > 0, self.integral_after(value, begin) / left, 0)

    def with_states(self) -> System:
        """Return the system with a state for each integral."""
        if not self.rates:
            return self.system
        states = tuple(State(name) for name in self.totals)
        flow = dict(self.system.flow) | dict(zip(self.totals, self.rates, strict=True))
        return replace(self.system, x=(*self.system.x, *states), flow=flow)

    def _total(self, rate: ca.SX) -> ca.SX:
        """Return the symbol of an integral, the same one for the same rate."""
        for symbol, known_rate in zip(self.totals.values(), self.rates, strict=True):
            if ca.is_equal(known_rate, rate, 10):
                return symbol
        name = f"{INTEGRAL_PREFIX}_{len(self.totals)}"
        self.totals[name] = ca.SX.sym(name)
        self.rates.append(rate)
        return self.totals[name]

    def _inside(self, rate: ca.SX) -> ca.SX:
        """Return what is integrated as an expression of the system's own quantities."""
        return self.inside(rate, "it cannot be integrated over it")


def _labels(system: System) -> list[str]:
    """Return the names of all that a run has one number of at every moment."""
    return [*system.labels("x"), *system.labels("z"), *system.labels("outputs")]


def component(system: System, label: str) -> Any:
    """Return the expression of a component of a state, discrete state or output."""
    for group in ("x", "z", "outputs"):
        labels = system.labels(group)
        if label in labels:
            vector = (
                ca.vertcat(*[ca.SX(each) for each in system.outputs.values()])
                if group == "outputs"
                else system.vector(group)
            )
            return vector[labels.index(label)]
    raise ModelError(f"the system has no '{label}'")
