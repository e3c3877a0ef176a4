"""Evaluation of encoded parameters: a search changes some numbers, a system has others that follow from
them.

So one compiled system evaluates searches whose parameters differ, and all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import Evaluated
from strut.evolve.evaluations.scenarios import Scenarios
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
    """Evaluates individuals by a system whose parameters follow from theirs. inner: of the system. scenarios:
    in which each individual is run, one repeat of a problem in each: give the problem as many `repeats`."""

    inner: SystemEvaluation
    encoding: Encoding
    scenarios: Scenarios | None = None

    def __post_init__(self) -> None:
        own = self.inner.system.labels("p")
        for label in self.encoding.labels:
            if label not in own:
                raise UnknownNameError(
                    f"an encoding writes '{label}', which is no parameter of the system: "
                    f"{did_you_mean(label, own)}"
                )
        settable = [*own, *self.inner.system.labels("x"), *self.inner.system.labels("z")]
        for label in () if self.scenarios is None else self.scenarios.labels:
            if label not in settable:
                raise UnknownNameError(
                    f"scenarios set '{label}', which is no parameter or state of the system: "
                    f"{did_you_mean(label, settable)}"
                )
            if label in self.encoding.labels:
                raise ModelError(
                    f"scenarios set '{label}', which the encoding writes: take it from one of them"
                )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of what is set in the system."""
        return self.encoding.labels + (() if self.scenarios is None else self.scenarios.labels)

    def rows(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return what is set in the system, a row for each row of x; with scenarios these are repeats of
        individuals, one in each scenario."""
        if np.isnan(x).any():
            raise ModelError("an individual lacks a parameter that its encoding reads: search without pools")
        encoded = self.encoding.rows(x[:, [names.index(name) for name in self.encoding.names]])
        if self.scenarios is None:
            return encoded
        count = self.scenarios.count
        if len(x) % count or not np.array_equal(x, np.repeat(x[::count], count, axis=0)):
            raise ModelError(
                f"individuals are not repeated once in each of {count} scenarios: give the problem "
                f"repeats={count}"
            )
        return np.hstack([encoded, self.scenarios.rows(np.arange(len(x)) % count, seeds)])

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
            # files of searches without scenarios have no word of them
            **({} if self.scenarios is None else {"scenarios": self.scenarios.digest}),
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

    def compile_for(self, capability: str) -> list[Path]:
        """As of the system's runs."""
        return self.inner.compile_for(capability)


Part = tuple[EncodedEvaluation, tuple[str, ...], np.ndarray]
"""Individuals that are evaluated with others: by what, the names of their parameters, and their rows."""


def evaluate_together(parts: Sequence[Part], seeds: np.ndarray) -> list[Evaluated]:
    """Return the measures of several populations that one system evaluates, as one batch.

    seeds: of random numbers, one for each row of all populations, or one alone. Raises `ModelError` where the
    systems differ.
    """
    first = parts[0][0]
    if any(part[0].inner is not first.inner or part[0].labels != first.labels for part in parts):
        raise ModelError("populations that are evaluated together need one system: give all the same `inner`")
    total = sum(len(x) for _, _, x in parts)
    own_seeds = np.broadcast_to(seeds, total) if len(seeds) == 1 else seeds
    rows, begin = [], 0
    for evaluation, names, x in parts:
        rows.append(evaluation.rows(names, x, own_seeds[begin : begin + len(x)]))
        begin += len(x)
    answers = first.inner.evaluate(first.labels, np.vstack(rows), seeds)
    ends = np.cumsum([len(part[2]) for part in parts])
    return [
        Evaluated(answers.measures[end - len(part[2]) : end], answers.status[end - len(part[2]) : end])
        for part, end in zip(parts, ends, strict=True)
    ]


__all__ = ["EncodedEvaluation", "Encoding", "evaluate_together"]
