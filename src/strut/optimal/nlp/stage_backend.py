"""When stage functions are compiled: at once, in the background, or not at all.

The numbers are the same either way: CasADi's virtual machine and the compiled C do the same operations in the
same order, and to the last bit the same where no derivative by a parameter is needed. Compiling costs a time
per instruction once, the virtual machine a little per instruction and evaluation. How often functions are
evaluated is not known beforehand, so what pays is decided as with skis that may be hired or bought (the
ski-rental problem): the virtual machine is used until it has cost as much more as compiling would have, in
this process and those before it, and then they are compiled: in the background, for the next solve, or, where
earlier processes paid for it, at once. The sum is then at most twice what the better choice would have cost,
had one known. Only where one solve on its mesh is expected to cost that much they are compiled first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from strut.codegen import cache_directory, make_private
from strut.files import DAMAGE, put

COMPILE_TIME = 1.3e-4
"""Time of the compiler per instruction of stage functions [s]. Measured: 159 microseconds for a compass
(11,700 instructions), 110 for a five-link walker on a floating base (115,000, optimised less)."""
COMPILER_START = 0.1
"""Time of a compiler for hardly any instructions [s], measured."""
VIRTUAL_EXCESS = 5.5e-9
"""Time by which the virtual machine needs longer than compiled C, per instruction [s]. Measured: 6 to 9
nanoseconds against 0.4 to 3.5, for the same two walkers."""
MIN_EVALUATIONS = 2
"""Evaluations of a function in an iteration below which it is not compiled: at 5.5 nanoseconds against 130
microseconds per instruction, 24,000 iterations would have to pay for it."""
TYPICAL_ITERATIONS = 50
"""Iterations of a solve that are expected: a walker's step needs 20 to 60."""


@dataclass(frozen=True)
class StageCosts:
    """What functions cost, by their instructions.

    once: instructions of all functions together. iteration: instructions that an iteration of a solver
    evaluates, on a mesh.
    """

    once: int
    iteration: int

    @property
    def compile_time(self) -> float:
        """How long compiling would take [s]."""
        return COMPILER_START + COMPILE_TIME * self.once

    def excess(self, iterations: int) -> float:
        """By how much longer [s] the virtual machine takes for so many iterations."""
        return VIRTUAL_EXCESS * self.iteration * iterations

    @property
    def pays_at_once(self) -> bool:
        """Whether one solve on this mesh is expected to cost more in the virtual machine than compiling."""
        return self.excess(TYPICAL_ITERATIONS) > self.compile_time


def stage_costs(
    functions: Sequence[Sequence[ca.Function]], counts: Sequence[int], growth: float = 1.0
) -> StageCosts:
    """Return what stage functions cost: of each stage its functions, and how often the mesh evaluates it.
    growth: how many times as many instructions are compiled."""
    written: dict[int, int] = {}
    sizes = [sum(count_instructions(f, written) for f in group) for group in functions]
    return StageCosts(
        once=int(growth * sum(written.values())),
        iteration=sum(n * count for n, count in zip(sizes, counts, strict=True)),
    )


def count_instructions(f: ca.Function, written: dict[int, int]) -> int:
    """Return how many instructions an evaluation of a function takes, with those of what it calls, call by
    call. written: takes the instructions of each function for itself, which stand in the code once."""
    own, called = int(f.n_instructions()), 0
    for k in range(own) if f.is_a("MXFunction") else ():
        if f.instruction_id(k) == ca.OP_CALL:
            graph: Any = f
            called += count_instructions(graph.instruction_MX(k).which_function(), written)
    written[hash(f)] = own
    return own + called


class VirtualUse:
    """What the virtual machine has cost beyond what compiled C would have, by the key of the functions [s].
    It is kept in the cache: many short processes pay for a compiler, too."""

    def spent(self, key: str) -> float:
        """Return the time [s] so far; 0 where none is known."""
        try:
            return float(self._file(key).read_text())
        except DAMAGE:
            return 0.0

    def add(self, key: str, costs: StageCosts, iterations: int) -> bool:
        """Add a solve of so many iterations; say whether all of them together would have paid a compiler."""
        total = self.spent(key) + costs.excess(iterations)
        make_private(cache_directory())
        put(self._file(key), repr(total))
        return total > costs.compile_time

    def _file(self, key: str) -> Path:
        return cache_directory() / f"{key}.spent"


__all__ = ["StageCosts", "VirtualUse", "count_instructions", "stage_costs"]
