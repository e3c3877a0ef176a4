"""Evaluation of encoded parameters: a search changes some numbers, a system has others that follow from
them.

So one compiled system evaluates searches whose parameters differ, and all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import Evaluated
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.space import ParameterSpace


class Encoding(Protocol):
    """What turns parameters of a search into those of a system. names: of the former. labels: of the
    latter. digest: the same for encodings that do the same."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters that it reads."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the parameters that it writes."""

    @property
    def digest(self) -> str:
        """What tells it from others."""

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Return what it writes, a row for each row of what it reads."""


@checked
@dataclass(frozen=True, eq=False)
class EncodedEvaluation:
    """Evaluates individuals by a system whose parameters follow from theirs. inner: of the system."""

    inner: SystemEvaluation
    encoding: Encoding

    def __post_init__(self) -> None:
        own = self.inner.system.labels("p")
        for label in self.encoding.labels:
            if label not in own:
                raise UnknownNameError(
                    f"an encoding writes '{label}', which is no parameter of the system: "
                    f"{did_you_mean(label, own)}"
                )

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return self.inner.measures

    @property
    def divisible(self) -> bool:
        """As of the system's runs."""
        return self.inner.divisible

    def settings(self) -> dict[str, Any]:
        """Return the system's settings, and what tells the encoding from others."""
        return {
            "kind": "encoded",
            "encoding": self.encoding.digest,
            "of": self.inner.settings(),
            "measures": dict(self.inner.expressions),
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where what is searched is not what the encoding reads, all of it and nothing
        else."""
        for name in space.names:
            if name not in self.encoding.names:
                raise UnknownNameError(
                    f"the encoding reads no '{name}': {did_you_mean(name, self.encoding.names)}"
                )
        missing = [name for name in self.encoding.names if name not in space.names]
        if missing:
            raise ModelError(f"the encoding reads '{missing[0]}', which is not searched: give it bounds")

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Run the population."""
        return evaluate_together([(self, names, x)], seeds)[0]


Part = tuple[EncodedEvaluation, tuple[str, ...], np.ndarray]
"""Individuals that are evaluated with others: by what, the names of their parameters, and their rows."""


def evaluate_together(parts: Sequence[Part], seeds: np.ndarray) -> list[Evaluated]:
    """Return the measures of several populations that one system evaluates, as one batch.

    seeds: of random numbers, the first counts. Raises `ModelError` where the systems differ.
    """
    inner = parts[0][0].inner
    if any(
        part[0].inner is not inner or part[0].encoding.labels != parts[0][0].encoding.labels for part in parts
    ):
        raise ModelError("populations that are evaluated together need one system: give all the same `inner`")
    rows = []
    for evaluation, names, x in parts:
        if np.isnan(x).any():
            raise ModelError("an individual lacks a parameter that its encoding reads: search without pools")
        rows.append(evaluation.encoding.rows(x[:, [names.index(name) for name in evaluation.encoding.names]]))
    answers = inner.evaluate(parts[0][0].encoding.labels, np.vstack(rows), seeds)
    ends = np.cumsum([len(part[2]) for part in parts])
    return [
        Evaluated(answers.measures[end - len(part[2]) : end], answers.status[end - len(part[2]) : end])
        for part, end in zip(parts, ends, strict=True)
    ]


__all__ = ["EncodedEvaluation", "Encoding", "evaluate_together"]
