"""`Transcribed`: the nonlinear program (NLP) of a problem on a mesh, assembled of stage functions."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.optimal.nlp.intervals import add_intervals
from strut.optimal.nlp.mesh_rows import MeshRows, Targets
from strut.optimal.nlp.phase_ends import add_phase_begin, add_phase_end
from strut.optimal.nlp.ready_stages import ready_stages
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.sparse import Assembled, Block
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.problem import Problem


class Transcribed(MeshRows):
    """A problem on a mesh: unknowns and rows with names and bounds, and the functions of a solver."""

    def __init__(
        self,
        problem: Problem,
        how: Transcription,
        fractions: Sequence[np.ndarray] | None = None,
        backend: str | None = None,
        stages: dict[str, StageSource] | None = None,
    ) -> None:
        began = clock.perf_counter()
        super().__init__(problem, how, fractions, stages)
        self.solvers: dict[str, ca.Function] = {}
        for k in range(len(self.spans)):
            add_intervals(self, k)
            add_phase_begin(self, k)
            add_phase_end(self, k)
        counts = [piece[1].shape[1] for piece in self.pieces]
        ready = ready_stages([piece[0] for piece in self.pieces], counts, self.system.name, backend)
        self.compile_time, self.note_iterations = ready.wait, ready.note
        self.blocks = [
            Block(s, index, data, _target_arrays(targets))
            for s, (_, index, data, targets) in zip(ready.stages, self.pieces, strict=True)
        ]
        parts = [np.concatenate([part[i] for part in self.linear] or [np.zeros(0)]) for i in range(3)]
        linear = parts[0].astype(int), parts[1].astype(int), parts[2]
        self.assembled = Assembled(
            len(self.unknowns.names), len(self.rows.names) - 1, self.data, self.blocks, linear
        )
        self.build_time = clock.perf_counter() - began - self.compile_time

    def planned_integrals(self, v: np.ndarray) -> list[np.ndarray]:
        """Return what the plan `v` takes the integrals of every phase for: a row for each interval, a column
        for each integral."""
        by_phase, numbers = [], self.numbers()
        for k, span in enumerate(self.spans):
            rates = self.rates(span.phase)
            column = np.zeros((span.count, len(rates)))
            name, first = self.rates_at[k]
            main = next(piece for piece in self.blocks if piece.stage.name == name)
            data = np.vstack([main.data, np.repeat(numbers[:, None], main.count, axis=1)])
            values = np.array(main.stage.value.map(main.count)(v[main.index], data))
            smooth = iter(range(first, main.stage.size))
            splits, weights = iter(range(len(rates))), self.weights()
            for j, (total, _) in enumerate(rates):
                if not total.split:
                    column[:, j] = values[next(smooth)].reshape(span.count, -1).sum(axis=1)
                    continue
                slack = v[span.slack[:, :, next(splits)]]
                what = slack[:, :, 0] if total.split == "positive" else slack.sum(axis=2)
                column[:, j] = v[span.duration] * span.fractions * (what @ weights)
            by_phase.append(column)
        return by_phase


def _target_arrays(targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return outputs, places, rows and factors of contributions, an array each."""
    array = np.array(targets, dtype=float).reshape(-1, 4)
    return array[:, 0].astype(int), array[:, 1].astype(int), array[:, 2].astype(int), array[:, 3]


__all__ = ["Transcribed"]
