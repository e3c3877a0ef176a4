"""Lifted expressions: those in which rates and forces that a residual implies are symbols of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from strut.system import System, time


@dataclass(frozen=True, eq=False)
class LiftedExpressions:
    """Expressions of a system and of the unknown of its residual; see `strut.system.Implied`.

    unknown: symbols; none where the system has no residual. explicit: what they are, as expressions of the
    system. residual: zero for these. results: the expressions that were lifted.
    """

    unknown: ca.SX
    explicit: ca.SX
    residual: ca.SX
    results: tuple[ca.SX, ...]


def lift_system(system: System, results: Sequence[ca.SX], through: bool = True) -> LiftedExpressions:
    """Return expressions of a system with its implied rates and forces as symbols, wherever these stand; or,
    not `through` what is implied, as they are."""
    implied = system.implied if through else None
    if implied is None:
        none = ca.SX(0, 1)
        return LiftedExpressions(none, none, none, tuple(results))
    explicit = ca.densify(ca.vertcat(*[system.flow[n] for n in implied.states], implied.further))
    symbols = [time, *system.vectors(), implied.unknown]
    residual, *lifted = replace_nodes(
        symbols, explicit, implied.unknown, [ca.densify(implied.residual), *results]
    )
    if ca.sprank(ca.jacobian(residual, implied.unknown)) < implied.unknown.numel():
        # An unknown that is written out in its own equation, as of a unit mass, a - tau: that became a - a.
        residual = ca.densify(implied.residual)
    return LiftedExpressions(implied.unknown, explicit, residual, tuple(lifted))


def replace_nodes(
    symbols: list[ca.SX], nodes: ca.SX, replacements: ca.SX, expressions: list[ca.SX]
) -> list[ca.SX]:
    """Return expressions in which `nodes` of their graph are replaced, wherever the very same node stands.

    symbols: all that expressions are made of. What is built of equal nodes that are not the same stays as it
    is: longer, and not wrong.
    """
    f = ca.Function("nodes", symbols, [nodes, *expressions])
    operations, sources = [f.instruction_id(k) for k in range(f.n_instructions())], list[list[int]]()
    writer: dict[int, int] = {}  # of every place of the work vector, the instruction that wrote it last
    replaced: dict[int, ca.SX] = {}
    for k, op in enumerate(operations):
        i, o = f.instruction_input(k), f.instruction_output(k)
        sources.append([] if op in (ca.OP_INPUT, ca.OP_CONST) else [writer[j] for j in i])
        if op != ca.OP_OUTPUT:
            writer[o[0]] = k
        elif o[0] == 0:
            node, symbol = sources[k][0], replacements[o[1]]
            if operations[node] == ca.OP_NEG:  # CasADi keeps a - (-b) as a + b
                node, symbol = sources[node][0], -symbol
            if sources[node]:  # neither a symbol nor a constant
                replaced.setdefault(node, symbol)
    # The graph is built anew, instruction by instruction.
    values: list[ca.SX] = []
    outputs = [[ca.SX(0)] * f.nnz_out(k) for k in range(f.n_out())]
    for k, (op, arguments) in enumerate(zip(operations, sources, strict=True)):
        a, i, o = [values[n] for n in arguments], f.instruction_input(k), f.instruction_output(k)
        if k in replaced:
            values.append(replaced[k])
        elif op == ca.OP_OUTPUT:
            outputs[o[0]][o[1]] = a[0]
            values.append(a[0])
        elif op == ca.OP_INPUT:
            values.append(symbols[i[0]].nz[i[1]])
        elif op == ca.OP_CONST:
            values.append(ca.SX(f.instruction_constant(k)))
        else:
            values.append(ca.SX.unary(op, a[0]) if len(a) == 1 else ca.SX.binary(op, a[0], a[1]))
    return [ca.SX(f.sparsity_out(k), ca.vertcat(*outputs[k], ca.SX(0, 1))) for k in range(1, f.n_out())]


def needed_unknowns(residual: ca.SX, unknown: ca.SX, result: ca.SX) -> tuple[list[int], list[int]]:
    """Return which rows of a residual, and which of its unknowns, a result needs: those that it reads, and
    the blocks of the residual's block triangular form (Dulmage-Mendelsohn) that these depend on."""
    pattern = ca.jacobian(residual, unknown).sparsity()
    count, row_order, column_order, row_starts, column_starts, *_ = pattern.btf()
    rows = [row_order[row_starts[b] : row_starts[b + 1]] for b in range(count)]
    columns = [column_order[column_starts[b] : column_starts[b + 1]] for b in range(count)]
    block_of = {c: b for b, group in enumerate(columns) for c in group}
    reads: dict[int, set[int]] = {}
    for r, c in zip(*pattern.get_triplet(), strict=True):
        reads.setdefault(r, set()).add(c)
    waiting = {block_of[c] for c in ca.jacobian(result, unknown).sparsity().get_col()}
    needed: set[int] = set()
    while waiting:
        block = waiting.pop()
        needed.add(block)
        waiting |= {block_of[c] for r in rows[block] for c in reads[r]} - needed
    return sorted(r for b in needed for r in rows[b]), sorted(c for b in needed for c in columns[b])


__all__ = ["LiftedExpressions", "lift_system", "needed_unknowns", "replace_nodes"]
