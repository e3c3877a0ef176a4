"""`MeshRows`: the rows of the large problem, as stage by stage adds what it says of the unknowns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.idle import hold_idle
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.stage_source import StageSource
from strut.optimal.nlp.unknowns import Layout, LimitPlace, RowBlock
from strut.optimal.problem import Problem, Requirement
from strut.optimal.totals import Initial
from strut.system import sx, time

END_SLACK = 1e-9
"""Places nearer to an end of a phase than this part of it are the end itself."""
SAMPLES = 4
"""Random points at which two expressions are compared."""
SAME_VALUE = 1e-12
"""Expressions that differ by less there, relative to their size, are multiples of each other."""
Targets = list[tuple[int, int, int, float]]
"""Of every contribution of a stage: its output, the evaluation (place), the row, and the factor."""


class MeshRows(Layout):
    """The unknowns of a problem on a mesh, and rows with names and bounds. Row 0 is the cost.

    linear: rows, unknowns and factors of what is linear. pieces: stage functions, and where they stand.
    total_at: unknowns that are integrals, sums and initial values. total_row: the row, and the factor, by
        which each total counts.
    stages: stage functions by name, for all meshes of one problem and method. They are made once.
    rates_at: of every phase, the name of the stage function that has the rates of its integrals, and its
        first output that is one.
    slack_row: where the slacks of a sign belong. place_rows: the rows that stand at many places of a phase,
        by phase and kind: place, weight and rows of each; see `mark`.
    """

    def __init__(
        self,
        problem: Problem,
        how: Transcription,
        fractions: Sequence[np.ndarray] | None = None,
        stages: dict[str, StageSource] | None = None,
    ) -> None:
        super().__init__(problem, how, fractions)
        hold_idle(self)
        self.stages: dict[str, StageSource] = {} if stages is None else stages
        self.rows = RowBlock()
        self.rows.add(["the cost"], -math.inf, math.inf)
        self.linear: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.pieces: list[tuple[StageSource, np.ndarray, np.ndarray, Targets]] = []
        self.slack_row: dict[int, int] = {}
        self.rates_at: dict[int, tuple[str, int]] = {}
        self.place_rows: dict[tuple[int, str], list[tuple[float, float, np.ndarray]]] = {}
        self._totals()

    def _totals(self) -> None:
        """Add integrals, sums and initial values: those in which the cost is linear go into it directly,
        others are unknowns."""
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
            if isinstance(total, Initial):
                place = self.spans[0].x[0, [self.system.labels("x").index(total.state)]]
                counts_in, factor = self.total_row[total.name]
                self.linear.append((np.array([counts_in]), place, np.array([factor])))

    def require(self, asked: Sequence[Requirement], where: str, k: int, place: float = 0.0) -> np.ndarray:
        """Add rows for requirements at one place, and return them; `place` says where that part of phase k,
        0 to 1, is over."""
        rows = [r for r in asked for _ in range(r.expression.numel())]
        at_an_end = min(place, 1 - place) < END_SLACK
        bounds = [
            (-math.inf, math.inf) if at_an_end and self._is_decided(r, k, place) else r.bounds(place)
            for r in rows
        ]
        low, high = zip(*bounds, strict=True) if rows else ((), ())
        indices = self.rows.add([f"{r.name} ({where})" for r in rows], low, high)
        for at, r in zip(indices, rows, strict=True):
            # What has a margin may be zero at the ends of a phase because an event is there: no limit.
            if not (r.margin and at_an_end):
                self.rows.limits[int(at)] = LimitPlace(r.name, k, place)
        return indices

    def _is_decided(self, r: Requirement, k: int, place: float) -> bool:
        """Return whether something else has what is required zero at an end of phase k."""
        at_end = place > END_SLACK
        begins = r.begins_at_zero and not at_end
        return bool(r.margin) and (begins or event_decides(self.problem, k, r.expression, at_end=at_end))

    def mark(self, k: int, kind: str, rows: np.ndarray, place: float, weight: float) -> None:
        """Note that rows stand at one place of phase k, 0 to 1, one of many of their kind. weight: the part
        of an integral over the phase that the place stands for; multipliers are in proportion to it."""
        self.place_rows.setdefault((k, kind), []).append((place, weight, rows))

    def stage(self, source: StageSource) -> StageSource:
        """Return the stage function of a name: one of another mesh, which may be differentiated already, or
        this new one."""
        return self.stages.setdefault(source.name, source)

    def add(self, stage: StageSource, index: Sequence[Any], data: Sequence[Any], targets: Targets) -> None:
        """Add a stage function at some places: unknowns and data of each, and (output, place, row, factor) of
        what it contributes to."""
        if index:
            self.pieces.append((stage, np.array(index, dtype=int).T, np.array(data, dtype=float).T, targets))


def event_decides(problem: Problem, k: int, expression: ca.SX, *, at_end: bool) -> bool:
    """Return whether an event has an expression zero at an end of phase k: the one that ends the phase, or,
    at its beginning, the one that ends the phase before, because the expression is a multiple of its guard.

    The guard is zero there by an equation of its own. A bound beside it would say nothing, and multipliers of
    both would not be unique: the linear independence constraint qualification (LICQ) would not hold.
    """
    system = problem.system
    if not at_end and k == 0:
        return False
    phase = problem.phases[k if at_end else k - 1]
    if phase.until is None or phase.by_inputs:
        return False
    column = expression if at_end else phase.after(system, expression)
    both = ca.Function("both", [time, *system.vectors()], [sx(system.event(phase.until).guard), column])
    random = np.random.default_rng(0)
    points = [random.uniform(-1, 1, (both.size1_in(i), SAMPLES)) for i in range(both.n_in())]
    guard, values = (np.array(part) for part in both(*points))
    apart = values * guard[:, :1] - values[:, :1] * guard
    size = np.abs(values).max(initial=0.0) * np.abs(guard).max(initial=0.0)
    return bool(np.isfinite(size) and (np.abs(apart) <= SAME_VALUE * size).all())


__all__ = ["MeshRows", "Targets", "event_decides"]
