"""From a `Problem` to an `Assembled` one: which stage function says what of which number."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.optimal.nlp.intervals import interior
from strut.optimal.nlp.phase_ends import begin, end
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.sparse import Assembled, Block
from strut.optimal.nlp.stage_function import StageFunction, compiled
from strut.optimal.nlp.unknowns import Layout, RowBlock
from strut.optimal.problem import Problem, Requirement


class Transcribed(Layout):
    """A problem on a mesh: unknowns and rows with names and bounds, and the functions of a solver. Row 0 is
    the cost.

    total_at: unknowns that are integrals and sums. total_row: the row, and the factor, by which each total
        counts.
    slack_row: where the slacks of a sign belong.
    """

    def __init__(
        self,
        problem: Problem,
        how: Transcription,
        fractions: Sequence[np.ndarray] | None = None,
        backend: str | None = None,
    ) -> None:
        began = clock.perf_counter()
        super().__init__(problem, how, fractions)
        self.rows = RowBlock()
        self.rows.add(["the cost"], -math.inf, math.inf)
        self.linear: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.pieces: list[tuple[StageFunction, np.ndarray, np.ndarray, list]] = []
        self.slack_row: dict[int, int] = {}
        self.solvers: dict[str, ca.Function] = {}
        self._totals()
        for k in range(len(self.spans)):
            interior(self, k)
            begin(self, k)
            end(self, k)
        stages, self.compile_time = compiled([piece[0] for piece in self.pieces], self.system.name, backend)
        self.blocks = [
            Block(s, index, data, _targets(targets))
            for s, (_, index, data, targets) in zip(stages, self.pieces, strict=True)
        ]
        parts = [np.concatenate([part[i] for part in self.linear] or [np.zeros(0)]) for i in range(3)]
        linear = parts[0].astype(int), parts[1].astype(int), parts[2]
        self.assembled = Assembled(
            len(self.unknowns.names), len(self.rows.names) - 1, self.data, self.blocks, linear
        )
        self.build_time = clock.perf_counter() - began - self.compile_time

    def _totals(self) -> None:
        """Integrals and sums: those in which the cost is linear go into it directly, others are unknowns."""
        problem = self.problem
        asked = ca.vertcat(*[r.expression for r in problem.requirements], ca.SX(0, 1))
        self.direct: dict[str, float] = {}
        self.total_at: dict[str, int] = {}
        self.total_row: dict[str, tuple[int, float]] = {}
        self.objective = problem.objective
        for total in problem.totals:
            slope = ca.simplify(ca.jacobian(problem.objective, total.sym))
            if slope.is_constant() and not ca.depends_on(asked, total.sym):
                self.direct[total.name] = float(ca.DM(slope))
                self.total_row[total.name] = (0, self.direct[total.name])
                self.objective = ca.substitute([self.objective], [total.sym], [ca.SX(0)])[0]
            else:
                at = int(self.unknowns.add([total.name], -math.inf, math.inf)[0])
                row = int(self.rows.add([f"what {total.name} is"], 0.0, 0.0)[0])
                self.linear.append((np.array([row]), np.array([at]), np.array([1.0])))
                self.total_at[total.name], self.total_row[total.name] = at, (row, -1.0)

    def require(self, asked: Sequence[Requirement], where: str, place: float = 0.0) -> np.ndarray:
        """Rows for requirements at one place, where that part of the phase, 0 to 1, is over."""
        rows = [r for r in asked for _ in range(r.expression.numel())]
        low, high = zip(*[r.bounds(place) for r in rows], strict=True) if rows else ((), ())
        return self.rows.add([f"{r.name} ({where})" for r in rows], low, high)

    def add(self, stage: StageFunction, index: list, data: list, targets: list) -> None:
        """A stage function at some places: unknowns and data of each, and (output, place, row, factor) of
        what it contributes to."""
        if index:
            self.pieces.append((stage, np.array(index, dtype=int).T, np.array(data, dtype=float).T, targets))

    def planned(self, v: np.ndarray) -> list[np.ndarray]:
        """What the integrals of every phase come to in each interval, a column for each."""
        found, numbers = [], self.numbers()
        for k, span in enumerate(self.spans):
            rates = self.rates(span.phase)
            column = np.zeros((span.count, len(rates)))
            main = next(piece for piece in self.blocks if piece.stage.name in (f"point_{k}", f"interval_{k}"))
            data = np.vstack([main.data, np.repeat(numbers[:, None], main.count, axis=1)])
            values = np.array(main.stage.value.map(main.count)(v[main.index], data))
            smooth = iter(range(self.nx, main.stage.size))
            splits, weights = iter(range(len(rates))), self.weights()
            for j, (total, _) in enumerate(rates):
                if not total.split:
                    column[:, j] = values[next(smooth)].reshape(span.count, -1).sum(axis=1)
                    continue
                slack = v[span.slack[:, :, next(splits)]]
                what = slack[:, :, 0] if total.split == "positive" else slack.sum(axis=2)
                column[:, j] = v[span.duration] * span.fractions * (what @ weights)
            found.append(column)
        return found


def _targets(targets: list) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    array = np.array(targets, dtype=float).reshape(-1, 4)
    return array[:, 0].astype(int), array[:, 1].astype(int), array[:, 2].astype(int), array[:, 3]


__all__ = ["Transcribed"]
