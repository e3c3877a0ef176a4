"""Which symbols the expressions of a system may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from strut.errors import ModelError, ShapeError, UnknownNameError
from strut.system.quantity import Expression, Quantity, sx, time


class SymbolScope:
    """The symbols that an expression may use."""

    def __init__(self, system: str, groups: Mapping[str, tuple[Quantity, ...]]) -> None:
        self.system = system
        self.owner = {time.element_hash(): ("t", "t")}
        # what was looked through already, by nodes, which are kept alive: a freed one lends its address
        self._groups: dict[int, tuple[ca.SX, set[str]]] = {}
        self._allowed: dict[tuple[Any, ...], list[ca.SX]] = {}
        for group, quantities in groups.items():
            for q in quantities:
                if q.size == 1:
                    self.owner[q.sym.element_hash()] = (group, q.name)
                    continue
                for i in range(q.size):
                    self.owner[q.sym[i].element_hash()] = (group, q.name)

    def groups_in(self, expression: ca.SX, where: str) -> set[str]:
        """The groups an expression depends on; an error names any symbol that the system does not have."""
        node = expression.element_hash() if expression.is_scalar() and expression.is_dense() else None
        if node is not None and node in self._groups:  # a guard is asked twice
            return self._groups[node][1]
        groups = set()
        for symbol in ca.symvar(expression):
            group, _ = self.owner.get(symbol.element_hash(), (None, None))
            if group is None:
                raise UnknownNameError(
                    f"{where} in system '{self.system}' uses '{symbol.name()}', which the system does not "
                    f"have: "
                    "add that quantity (the same object) to x, z, u, p, randoms or delays"
                )
            groups.add(group)
        if node is not None:
            self._groups[node] = (expression, groups)
        return groups

    def allow(self, expression: Expression, where: str, groups: str, why: str, size: int = 1) -> ca.SX:
        """`expression` as a column of `size`, using only the groups named (letters t x z u p r d)."""
        column = self._column(expression, where, size)
        self._check_groups(column, where, groups, why)
        return column

    def allow_all(
        self, expressions: Mapping[str, tuple[Expression, str, int]], groups: str, why: str
    ) -> dict[str, ca.SX]:
        """What `allow` gives of many expressions, by name, each with what it is called and its size: looked
        through at once, because they share most of what they are made of, and once where several events have
        the same ones. Only where something is wrong is it asked of which."""
        columns = {name: self._column(*each) for name, each in expressions.items()}
        nodes = [e for column in columns.values() for e in ca.vertsplit(column)]
        key = (groups, *[node.element_hash() for node in nodes])
        if key in self._allowed:
            return columns
        symbols = ca.symvar(ca.vertcat(ca.SX(0, 1), *nodes))
        owners = {self.owner.get(symbol.element_hash(), ("", ""))[0] for symbol in symbols}
        if owners <= _group_names(groups):
            self._allowed[key] = nodes
        else:
            for name, (_, where, _) in expressions.items():
                self._check_groups(columns[name], where, groups, why)
        return columns

    def _column(self, expression: Expression, where: str, size: int) -> ca.SX:
        """An expression as a column of `size`."""
        column = sx(expression)
        if column.shape != (size, 1):
            if column.shape == (1, size):
                column = column.T
            elif column.numel() == 1 and size > 1:
                column = ca.repmat(column, size, 1)
            else:
                raise ShapeError(
                    f"{where} in system '{self.system}' has shape {column.shape}: ({size}, 1) needed"
                )
        return column

    def _check_groups(self, column: ca.SX, where: str, groups: str, why: str) -> None:
        """Raise what is wrong with the symbols of an expression."""
        for group in self.groups_in(column, where) - _group_names(groups):
            names = [s.name() for s in ca.symvar(column) if self.owner[s.element_hash()][0] == group]
            raise ModelError(f"{where} in system '{self.system}' depends on '{names[0]}': {why}")


def _group_names(letters: str) -> set[str]:
    """The groups that letters stand for."""
    return {{"r": "randoms", "d": "delays"}.get(letter, letter) for letter in letters}
