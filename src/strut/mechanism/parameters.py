"""`ParameterSet`: the parameters that expressions use, collected beside the mechanism they belong to."""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from strut.mechanism import check
from strut.system import Expression, Param, known_symbol, sx


class ParameterSet:
    """Parameters in the order in which expressions bring them, each symbol once.

    A mechanism has those of its bodies and joints. Whoever makes a system of it begins with a copy
    (`Mechanism.parameter_set`) and adds what ground, friction and gains use, so that the mechanism stays as
    it is.

    by_key: the parameters, by what `key_of` tells them apart by; a dictionary that is given is filled, not
    copied.
    """

    def __init__(self, by_key: dict[str, Param] | None = None) -> None:
        self.by_key: dict[str, Param] = {} if by_key is None else by_key

    def __iter__(self) -> Iterator[Param]:
        return iter(self.by_key.values())

    def __len__(self) -> int:
        return len(self.by_key)

    @property
    def symbols(self) -> ca.SX:
        """The symbols of all parameters, as one column."""
        return ca.vertcat(*[p.sym for p in self], ca.SX(0, 1))

    @property
    def values(self) -> np.ndarray:
        """The values of all parameters, in the order of `symbols`."""
        return np.concatenate([p.value for p in self] or [np.empty(0)])

    def add(self, *expressions: Expression) -> None:
        """Add the parameters in expressions, which may use other symbols too."""
        for symbol in ca.symvar(ca.vertcat(*[ca.vec(sx(e)) for e in expressions], ca.SX(0, 1))):
            owner = known_symbol(symbol)
            if isinstance(owner, Param):
                self.add_param(owner)

    def add_param(self, param: Param) -> None:
        """Add one parameter, unless its symbol is here already."""
        self.by_key.setdefault(key_of(param), param)

    def add_number(
        self,
        value: Expression,
        what: str,
        *,
        low: float | None = None,
        high: float | None = None,
        above: bool = False,
    ) -> ca.SX:
        """Check that a value is one finite number from `low` to `high` (with `above` more than `low`), and
        add its parameters. A parameter that is the number itself cannot be set below `low`. Returns the
        number as an expression; raises ModelError, which calls it `what`."""
        check.number(value, what, low, high, above=above)
        if isinstance(value, Param):
            self.add_param(value)
        self.add(value)
        self.bound(value, low)
        return sx(value)

    def bound(self, value: Expression, low: float | None) -> None:
        """Keep a parameter that is, by itself, the value from being set below `low`."""
        if isinstance(value, Param) and low is not None:
            self.by_key[key_of(value)] = self.by_key[key_of(value)].at_least(low)


def key_of(param: Param) -> str:
    """What tells parameters apart that have the same name: name and symbol."""
    return f"{param.name} {param.sym[0].element_hash()}"
