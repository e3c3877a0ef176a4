"""An order of the states in which the entries of a Jacobian lie near its diagonal, so that factoring it costs
little."""

from __future__ import annotations

import casadi as ca

MAX_FILL = 0.25
"""Share of entries that are not zero above which no order is looked for: such a matrix has none that
helps."""


def narrow_order(pattern: ca.Sparsity) -> list[int]:
    """The reverse Cuthill-McKee order of a square pattern: which state stands where."""
    size = pattern.size1()
    if pattern.nnz() > MAX_FILL * size * size:
        return list(range(size))
    neighbours: list[set[int]] = [set() for _ in range(size)]
    for row, column in zip(pattern.row(), pattern.get_col(), strict=True):
        if row != column:
            neighbours[row].add(column)
            neighbours[column].add(row)
    order: list[int] = []
    seen = [False] * size
    for first in sorted(
        range(size), key=lambda k: len(neighbours[k])
    ):  # one for each part that hangs together
        if seen[first]:
            continue
        at = len(order)
        order.append(_end_of(first, neighbours))
        seen[order[at]] = True
        while at < len(order):
            near = sorted((k for k in neighbours[order[at]] if not seen[k]), key=lambda k: len(neighbours[k]))
            for k in near:
                seen[k] = True
            order += near
            at += 1
    return order[::-1]


def _end_of(first: int, neighbours: list[set[int]]) -> int:
    """A node far from others: the last of a breadth-first search, twice."""
    for _ in range(2):
        layer, seen = [first], {first}
        while layer:
            first = min(layer, key=lambda k: len(neighbours[k]))
            layer = [k for k in dict.fromkeys(k for node in layer for k in neighbours[node]) if k not in seen]
            seen.update(layer)
    return first


def widths(pattern: ca.Sparsity, order: list[int]) -> tuple[int, int]:
    """How far entries lie below and above the diagonal in an order."""
    place = {state: k for k, state in enumerate(order)}
    offsets = [
        place[row] - place[column] for row, column in zip(pattern.row(), pattern.get_col(), strict=True)
    ]
    return max(0, *offsets, 0), max(0, *(-offset for offset in offsets), 0)
