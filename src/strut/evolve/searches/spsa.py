"""`Spsa`: simultaneous perturbation stochastic approximation (Spall)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked, integer, positive
from strut.evolve.searches.method import SearchState
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws

STEP_DECAY, PERTURBATION_DECAY = 0.602, 0.101
"""[1] Exponents by which steps and perturbations shrink with the generation (Spall 1998)."""


@checked
@dataclass(frozen=True)
class Spsa:
    """Descent along gradients that are estimated from two evaluations, whatever the number of parameters:
    for noisy goals of many parameters near a good point.

    Unlike the other searches it uses how large differences are, within one goal; where two evaluations are at
    different goals, only which is further. descents: how many go on side by side. step, perturbation: parts
    of the range by which a parameter moves and is varied at first. settle: generations in which steps hardly
    shrink.
    """

    descents: int = 10
    step: float = 0.05
    perturbation: float = 0.01
    settle: int = 20

    def __post_init__(self) -> None:
        integer("descents", self.descents, 1)
        integer("settle", self.settle, 0)
        positive("step", self.step)
        positive("perturbation", self.perturbation)

    @property
    def population(self) -> int:
        """Two evaluations for every descent."""
        return 2 * self.descents

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Begin every descent at a random point."""
        x = space.first_points(draws.uniform(self.descents, len(space)))
        return {"x": x, "low": space.low, "high": space.high, "k": np.zeros(1, dtype=np.int64)}

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return two points on opposite sides of each descent's own."""
        shift = self._shift(state, draws)
        both = np.concatenate([state["x"] + shift, state["x"] - shift])
        return np.asarray(np.clip(both, state["low"], state["high"]))

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Move against the estimated gradient, of which only the part that the two points differ by is
        known; the length of a move is bounded by the step."""
        low, high = state["low"], state["high"]
        span = high - low
        plus, minus = keys[: self.descents], keys[self.descents :]
        same = plus[:, 0] == minus[:, 0]
        with np.errstate(invalid="ignore"):
            rise = np.where(same, plus[:, 1] - minus[:, 1], np.inf * (plus[:, 0] - minus[:, 0]))
        rise = np.nan_to_num(rise, nan=0.0)
        difference = (x[: self.descents] - x[self.descents :]) / span
        # normalised by the largest rise that was seen, so that units of the goal do not matter
        scale = np.maximum(
            state.get("rise", np.zeros(self.descents)), np.where(np.isinf(rise), 0, np.abs(rise))
        )
        part = np.clip(
            np.divide(rise, scale, out=np.sign(rise), where=(scale > 0) & np.isfinite(rise)), -1, 1
        )
        length = self.step / (1 + state["k"][0] / (self.settle + 1)) ** STEP_DECAY
        move = -length * part[:, None] * np.sign(difference) * span
        return state | {"x": np.clip(state["x"] + move, low, high), "k": state["k"] + 1, "rise": scale}

    def _shift(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return by how much points are perturbed, each parameter up or down by chance (Rademacher)."""
        signs = np.where(draws.uniform(*state["x"].shape) < 0.5, -1.0, 1.0)
        length = self.perturbation / (1 + state["k"][0]) ** PERTURBATION_DECAY
        return np.asarray(length * signs * (state["high"] - state["low"]))
