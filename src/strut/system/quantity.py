"""Named quantities: the letters from which a system is written.

A `Quantity` carries its symbol, so it is used in expressions as if it were a number. States, discrete states,
inputs and parameters differ only in who may change them and when.
"""

from __future__ import annotations

import math
import operator
import re
import sys
import weakref
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ShapeError, ValueRangeError
from strut.system.pickling import Packed, name_symbol

Expression = Any
"""What may stand in a model: a number, a `Quantity`, or a CasADi `SX` made of them."""

time = name_symbol("time", ca.SX.sym("t"))
"""The time [s], the same symbol in every system."""


def sx(value: Expression) -> ca.SX:
    """An expression as a dense CasADi column."""
    if isinstance(value, Quantity):
        return value.sym
    if isinstance(value, ca.SX):
        return value if value.is_dense() else ca.densify(value)
    if isinstance(value, (list, tuple)):
        return ca.vertcat(*[sx(v) for v in value])
    try:
        column = ca.SX(value)
    except (NotImplementedError, TypeError) as error:
        raise ModelError(
            f"{value!r} is not an expression: use numbers, quantities and CasADi functions of them"
        ) from error
    return column if column.is_dense() else ca.densify(column)


_owners: weakref.WeakValueDictionary[int, Quantity] = weakref.WeakValueDictionary()
"""The owner of each symbol, by the symbol's address: the quantity that was made with it. Nothing puts another
quantity in its place. Copies with other values or bounds share the symbol and keep the owner alive
(`Quantity.copy_with`); once the owner and all copies are gone, the symbol belongs to nobody."""


def known_symbol(symbol: ca.SX) -> Quantity | None:
    """The quantity that was made with a symbol; None where there is none, or neither it nor a copy of it
    exists any more."""
    return _owners.get(symbol.element_hash())


def own_value(expression: Expression) -> np.ndarray | None:
    """An expression of parameters as numbers, with the values they have by themselves; None if it is made of
    more than parameters."""
    column = sx(expression)
    if column.is_constant():
        return np.array(ca.DM(column))
    symbols = ca.symvar(column)
    owners = [known_symbol(symbol) for symbol in symbols]
    values = []
    for symbol, owner in zip(symbols, owners, strict=True):
        if not isinstance(owner, Param):
            return None
        k = [e.element_hash() for e in ca.vertsplit(owner.sym)].index(symbol.element_hash())
        values.append(float(owner.value[k]))
    return np.array(ca.Function("own", [ca.vertcat(*symbols)], [column])(values))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
"""Most names; others may have letters of any alphabet."""


def check_name(name: str, what: str) -> str:
    """Return a name that is made of dotted identifiers, and raise for any other: `left.hip` is a part's
    state, and nothing needs quoting."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise ModelError(f"{what} '{name}' is not a name: use letters, digits and _, with dots between parts")
    return name


def _operator(symbol: str) -> Any:
    def apply(self: Any, *others: Expression) -> Any:
        return getattr(self.sym, symbol)(*[sx(other) for other in others])

    return apply


UFUNCS: dict[str, Any] = {
    **{
        name: getattr(ca, name)
        for name in (
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "sqrt",
            "exp",
            "log",
            "fabs",
            "sign",
            "floor",
            "ceil",
        )
    },
    **{
        name: getattr(ca, ours)
        for name, ours in (
            ("arcsin", "asin"),
            ("arccos", "acos"),
            ("arctan", "atan"),
            ("arctan2", "atan2"),
            ("hypot", "hypot"),
        )
    },
    **{
        "absolute": ca.fabs,
        "maximum": ca.fmax,
        "minimum": ca.fmin,
        "fmax": ca.fmax,
        "fmin": ca.fmin,
        "power": ca.power,
        "square": lambda a: a * a,
    },
    **{
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
        "true_divide": operator.truediv,
        "negative": operator.neg,
    },
    **{"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge},
}
"""What NumPy's functions mean for quantities."""


UNBOUNDED = (-math.inf, math.inf)
"""Bounds of a quantity that may have any value."""
MIN_POSITIVE = sys.float_info.min
"""Lower bound of a quantity that something is divided by, and that must be above zero: the least normal
number."""


@dataclass(frozen=True, eq=False)
class Quantity(Packed):
    """A named number or vector, and its symbol.

    `value` is the value it starts from; for states it may be an expression of parameters. A vector is given
    by a sequence. `bounds` are inclusive and checked whenever a value is set. internal: bookkeeping of the
    model (flags, counters, tables) rather than something that a reader asks for; pages fold it away.
    """

    name: str
    value: Expression = 0.0
    unit: str = ""
    bounds: tuple[float, float] = UNBOUNDED
    description: str = ""
    internal: bool = field(default=False, kw_only=True)
    sym: ca.SX = field(init=False, repr=False)
    size: int = field(init=False, repr=False)

    kind = "quantity"

    def __post_init__(self) -> None:
        check_name(self.name, self.kind)
        if isinstance(self.value, float) and math.isfinite(self.value) and self.bounds == UNBOUNDED:
            self._single(self.value)
            return
        value = sx(self.value)
        if value.shape[1] != 1:
            raise ShapeError(
                f"{self.kind} '{self.name}' has shape {value.shape}: a number or a column is allowed"
            )
        if not isinstance(self.value, (Quantity, ca.SX)):
            try:
                object.__setattr__(self, "value", np.asarray(ca.DM(value)).reshape(-1))
            except RuntimeError:
                object.__setattr__(self, "value", value)
        low, high = self.bounds
        if not low <= high:
            raise ValueRangeError(
                f"{self.kind} '{self.name}' has bounds ({low}, {high}): the first must not exceed the second"
            )
        if isinstance(self.value, np.ndarray):
            self.check(self.value)
        label = self.name.replace(".", "_")
        object.__setattr__(self, "size", int(value.numel()))
        object.__setattr__(
            self, "sym", ca.SX.sym(label) if value.numel() == 1 else ca.SX.sym(label, value.numel())
        )
        for i in range(self.size):
            _owners[self.sym[i].element_hash()] = self

    def _single(self, value: float) -> None:
        """The short way of a plain number: networks have hundreds of thousands."""
        symbol = ca.SX.sym(self.name.replace(".", "_"))
        object.__setattr__(self, "value", np.array([value]))
        object.__setattr__(self, "size", 1)
        object.__setattr__(self, "sym", symbol)
        _owners[symbol.element_hash()] = self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Out of a pickle: the owner of its symbol, or a copy where that symbol has an owner here."""
        self.__dict__.update(state)
        for i in range(self.size):
            owner = _owners.setdefault(self.sym[i].element_hash(), self)
            if owner is not self:
                self.__dict__["_owner"] = owner

    def __copy__(self) -> Self:
        copy: Self = super().__copy__()
        copy.__dict__.setdefault("_owner", self)  # of the symbol: lives as long as its copies do
        return copy

    def copy_with(self, **changes: Any) -> Self:
        """The same quantity, symbol included, with other fields. The fields are taken as they are: the value
        of a parameter is a float array, and nothing is compared with the bounds."""
        copy = self.__copy__()
        copy.__dict__.update(changes)
        return copy

    @property
    def labels(self) -> tuple[str, ...]:
        """One name per component: `q`, or `q[0]`, `q[1]`, ... for a vector."""
        return (self.name,) if self.size == 1 else tuple(f"{self.name}[{i}]" for i in range(self.size))

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and largest values that a plan may give it."""
        return self.bounds

    def check(self, value: Any) -> np.ndarray:
        """`value` as a float array, or an error that says what is wrong with it."""
        array = np.asarray(value, dtype=float)
        if not np.all(np.isfinite(array)):
            raise ValueRangeError(f"{self.kind} '{self.name}' is {value}: a finite number is needed")
        low, high = self.bounds
        if array.size and (array.min() < low or array.max() > high):
            worst = float(array.min() if array.min() < low else array.max())
            unit = f" {self.unit}" if self.unit else ""
            allowed = f"{low:g} to {high:g}{unit}"
            if low == MIN_POSITIVE:
                allowed = "numbers above zero" if high == math.inf else f"more than zero, to {high:g}{unit}"
            raise ValueRangeError(f"{self.kind} '{self.name}' is {worst:g}{unit}: allowed are {allowed}")
        return array

    def at_least(self, low: float) -> Self:
        """The same quantity, symbol included, that is not allowed to be less than `low`. The quantity itself
        is allowed what it was."""
        if self.bounds[0] >= low:
            return self
        return self.copy_with(bounds=(low, max(low, self.bounds[1])))

    def with_name(self, name: str, value: Expression | None = None) -> Quantity:
        """A quantity of the same kind with a new name and a symbol of its own."""
        from dataclasses import replace

        return replace(self, name=name, value=self.value if value is None else value)

    def __SX__(self) -> ca.SX:  # CasADi asks for this, so that ca.sin(quantity) works
        return self.sym

    def __getitem__(self, index: int) -> ca.SX:
        return self.sym[index]

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Any:
        return iter([self.sym[i] for i in range(self.size)])

    def __str__(self) -> str:
        return self.name

    # arithmetic is that of the symbol
    __add__ = _operator("__add__")
    __radd__ = _operator("__radd__")
    __sub__ = _operator("__sub__")
    __rsub__ = _operator("__rsub__")
    __mul__ = _operator("__mul__")
    __rmul__ = _operator("__rmul__")
    __truediv__ = _operator("__truediv__")
    __rtruediv__ = _operator("__rtruediv__")
    __pow__ = _operator("__pow__")
    __rpow__ = _operator("__rpow__")
    __neg__ = _operator("__neg__")
    __pos__ = _operator("__pos__")
    __abs__ = _operator("__abs__")
    __lt__ = _operator("__lt__")
    __le__ = _operator("__le__")
    __gt__ = _operator("__gt__")
    __ge__ = _operator("__ge__")
    __matmul__ = _operator("__matmul__")
    __rmatmul__ = _operator("__rmatmul__")
    __mod__ = _operator("__mod__")
    __rmod__ = _operator("__rmod__")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """numpy.sin(quantity), numpy.float64(2) * quantity and the like are expressions."""
        function = UFUNCS.get(ufunc.__name__)
        if method != "__call__" or function is None or options:
            return NotImplemented
        return function(*[sx(value) for value in inputs])

    def __eq__(self, other: object) -> Any:
        """Two quantities are equal if they are the same object; with anything else, an expression that is 1
        or 0."""
        return self is other if isinstance(other, Quantity) else self.sym == sx(other)

    def __ne__(self, other: object) -> Any:
        return self is not other if isinstance(other, Quantity) else self.sym != sx(other)

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class LimitedQuantity(Quantity):
    """A quantity with `limits`: the range that a plan keeps it in. Unlike `bounds` they are not checked when
    a value is set, and a run may leave them."""

    limits: tuple[float, float] = UNBOUNDED

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.limits
        if not low <= high:
            raise ValueRangeError(
                f"{self.kind} '{self.name}' has limits ({low}, {high}): the first must not exceed the second"
            )

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and largest values that a plan may give it: within bounds and limits."""
        return max(self.bounds[0], self.limits[0]), min(self.bounds[1], self.limits[1])


@checked
class State(LimitedQuantity):
    """A continuous state: it flows, and events may reset it.

    limits: the range that a plan keeps it in, such as that of a joint. Unlike `bounds` they are not checked
        when a value is set, and a run may leave them.
    """

    kind = "state"


@checked
class Discrete(Quantity):
    """A discrete state: only events and samples change it (contact flags, counters, held commands)."""

    kind = "discrete state"


@checked
class Input(LimitedQuantity):
    """An input: held constant until the outside changes it (torques, voltages, pushes).

    limits: the range that a plan keeps it in, such as the torques that a motor can give. Whoever sets it in a
        run may leave them.
    """

    kind = "input"


@checked
class Disturbance(Input):
    """An input from outside that no plan uses: a push, a load, wind. Plans leave it at its own value, and the
    machine of a design still has it."""


@checked
class Param(Quantity):
    """A parameter: constant during a run, and still a symbol in every expression, so it can be swept or
    optimised."""

    kind = "parameter"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.value, np.ndarray):
            raise ModelError(f"parameter '{self.name}' has an expression for its value: a number is needed")


@checked
@dataclass(frozen=True, eq=False)
class Random(Quantity):
    """A random number, drawn anew whenever an event or sample that uses it happens; `law` is 'uniform' on [0,
    1) or 'normal' with mean 0 and variance 1. To let noise act on a flow, hold it: set a `Discrete` to it in
    a `Sample`."""

    law: str = "uniform"
    kind = "random number"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.law not in ("uniform", "normal"):
            raise ModelError(
                f"random number '{self.name}' has law '{self.law}': allowed are 'uniform' and 'normal'"
            )


@checked
@dataclass(frozen=True, eq=False)
class Delay(Quantity):
    """What `signal` was `by` seconds ago. Before the run began it is `before`, an expression of time and
    parameters.

    The delay is an expression of parameters and must be positive; no step is longer than it.
    """

    signal: Expression = None
    by: Expression = 0.0
    before: Expression = 0.0
    kind = "delay"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.signal is None:
            raise ModelError(
                f"delay '{self.name}' has no signal: say what is delayed, Delay('{self.name}', signal=..., "
                f"by=...)"
            )
        for label in ("signal", "by", "before"):
            if sx(getattr(self, label)).numel() != 1:
                raise ShapeError(
                    f"delay '{self.name}': its {label} must be a single number, one Delay per signal"
                )
