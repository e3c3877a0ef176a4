"""Evaluation by designs: each individual is a start of `optimal.design`, many of which make a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import StrutError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import OK, Evaluated, check_measures
from strut.evolve.evaluations.system_runs import digest_equations
from strut.evolve.space import ParameterSpace
from strut.system import System


@checked
@dataclass(frozen=True)
class DesignEvaluation:
    """Evaluates individuals by `optimal.design`: those parameters of the walker that are free begin at the
    individual's values, others are fixed there.

    arguments: of `optimal.design`, by name: free, cost, speed, ... text: what a store keeps of them. label:
    what it calls the walker. Measures are `cost`, and `free.NAME`, where the search ended, of each free
    parameter. A design that is not ok fails, and says why.
    """

    walker: System
    arguments: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    label: str = ""

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the free parameters."""
        free = self.arguments.get("free", ())
        return (free,) if isinstance(free, str) else tuple(free)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return ("cost", *(f"free.{name}" for name in self.free))

    @property
    def divisible(self) -> bool:
        """Starts are independent of each other."""
        return True

    def settings(self) -> dict[str, Any]:
        """Return the walker and what is asked of its step."""
        return {
            "kind": "design",
            "system": self.label or self.walker.name,
            "equations": digest_equations(self.walker),
            "asked": self.text or repr(sorted(self.arguments.items())),
            "measures": list(self.measures),
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where the walker has no parameter of a name."""
        own = self.walker.labels("p")
        for name in (*space.names, *self.free):
            if name not in own:
                raise UnknownNameError(f"the walker has no parameter '{name}': {did_you_mean(name, own)}")

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Design from each start, one after the other."""
        rows, status = np.full((len(x), len(self.measures)), np.nan), [OK] * len(x)
        for k, row in enumerate(x.tolist()):
            values = {name: value for name, value in zip(names, row, strict=True) if not np.isnan(value)}
            try:
                rows[k], status[k] = self._design(values)
            except StrutError as error:
                status[k] = f"{type(error).__name__}: {error}"
        return check_measures(rows, status, self.measures)

    def _design(self, values: Mapping[str, float]) -> tuple[Any, str]:
        """Return the measures of one start, or why there are none."""
        from strut.optimal import design  # a large room, which other searches do not need

        result = design(self.walker.using(**values), **self.arguments)
        if not result.ok:
            return np.nan, f"not ok: {'; '.join(result.wrong) or result.result.status}"
        return [result.result.cost, *(result.result.parameters[name] for name in self.free)], OK


def of_design(walker: System, *, text: str = "", label: str = "", **arguments: Any) -> DesignEvaluation:
    """Return the evaluation by designs: see `DesignEvaluation`. arguments: of `optimal.design`."""
    return DesignEvaluation(walker, arguments, text, label)
