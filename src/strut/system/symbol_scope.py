"""Which symbols the expressions of a system may use."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.errors import ModelError, ShapeError, UnknownNameError
from strut.system.quantity import Expression, Quantity, sx, time


class SymbolScope:
    """The symbols that an expression may use."""

    def __init__(self, system: str, groups: Mapping[str, tuple[Quantity, ...]]) -> None:
        self.system = system
        self.owner = {time.element_hash(): ("t", "t")}
        for group, quantities in groups.items():
            for q in quantities:
                if q.size == 1:
                    self.owner[q.sym.element_hash()] = (group, q.name)
                    continue
                for i in range(q.size):
                    self.owner[q.sym[i].element_hash()] = (group, q.name)

    def groups_in(self, expression: ca.SX, where: str) -> set[str]:
        """The groups an expression depends on; an error names any symbol that the system does not have."""
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
        return groups

    def allow(self, expression: Expression, where: str, groups: str, why: str, size: int = 1) -> ca.SX:
        """`expression` as a column of `size`, using only the groups named (letters t x z u p r d)."""
        allowed = {{"r": "randoms", "d": "delays"}.get(letter, letter) for letter in groups}
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
        for group in self.groups_in(column, where) - allowed:
            names = [s.name() for s in ca.symvar(column) if self.owner[s.element_hash()][0] == group]
            raise ModelError(f"{where} in system '{self.system}' depends on '{names[0]}': {why}")
        return column
