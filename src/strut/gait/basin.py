"""`basin`: which states around a gait lead back to it, as a map of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from strut.checks import checked, integer, ordered_pair
from strut.errors import ShapeError, UnknownNameError, did_you_mean
from strut.gait.gait import Gait
from strut.gait.robust import survives
from strut.tabular import TableTexts, Tabular


@dataclass(frozen=True, eq=False)
class Basin(Tabular):
    """Outcomes over a plane of two states through a gait, the others as in the gait.

    names: of the two states. first, second: their values. label: how each run ended, label[i, j] at first[i],
    second[j]: 'walks', a terminal event, or 'stopped'. walks: where it walks.
    """

    gait: Gait = field(repr=False)
    names: tuple[str, str]
    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)
    label: np.ndarray = field(repr=False)

    @property
    def walks(self) -> np.ndarray:
        """Whether it walks from each cell."""
        return np.asarray(self.label == "walks")

    @property
    def outcomes(self) -> dict[str, int]:
        """How many cells end in each way."""
        kinds, counts = np.unique(self.label.astype(str), return_counts=True)
        return dict(zip(map(str, kinds), map(int, counts), strict=True))

    @property
    def area(self) -> float:
        """The area of the part that walks, in units of the two states."""
        cell = (self.first[1] - self.first[0]) * (self.second[1] - self.second[0])
        return float(self.walks.sum() * cell)

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every cell the two states, and how the run from there ended."""
        first, second = np.meshgrid(self.first, self.second, indexing="ij")
        return {
            self.names[0]: first.ravel(),
            self.names[1]: second.ravel(),
            "outcome": self.label.astype(str).ravel(),
        }

    def _card_tables(self) -> TableTexts:
        return {"outcomes": (("outcome", "cells"), list(self.outcomes.items()))}

    def __repr__(self) -> str:
        return f"<Basin of {self.gait.system.name} over {self.names[0]}, {self.names[1]}: {self.outcomes}>"


MAX_CELLS = 10_000
"""Cells along one side of a basin, at most: more would not fit into memory."""
BASIN_TOLERANCE = 1e-6
"""Relative error of the runs of a basin: whether it walks is seen with less than a gait needs."""


@checked
def basin(
    gait: Gait,
    names: tuple[str, str] | None = None,
    cells: int | tuple[int, int] = 200,
    ranges: Sequence[tuple[float, float]] | None = None,
    steps: int = 15,
    *,
    device: str = "cpu",
    progress: Callable[[float], None] | None = None,
) -> Basin:
    """Walk from every cell of a grid and note how it ends.

    names: the two states, by default the last two that are rates of angles, which leaves the posture as it
        is. cells: how many along both, or along each. ranges: of the two states, by default from half of
        their values below to half above (at least 0.5). A walker that makes `steps` steps walks.
        device: 'cuda' walks on a graphics card, see `simulate_batch`. progress: called with the fraction of
        the walks that are done.
    Raises UnknownNameError for a name that is no free state, ShapeError for other than two ranges.
    """
    chosen = names or _last_two_rates(gait)
    for name in chosen:
        if name not in gait.names:
            raise UnknownNameError(
                f"'{name}' is not a free state of '{gait.system.name}': "
                f"{did_you_mean(name, list(gait.names))}"
            )
    integer("steps", steps, 1)
    n = (cells, cells) if isinstance(cells, int) else cells
    for count in n:
        integer("cells", count, 2, MAX_CELLS)
    if ranges is not None and len(ranges) != 2:
        raise ShapeError(
            f"ranges has {len(ranges)} entries: give two, (low, high) for each of {', '.join(chosen)}"
        )
    for bounds in () if ranges is None else ranges:
        ordered_pair("ranges", bounds)
    centre = [gait.x0[name] for name in chosen]
    reach = [max(0.5, 0.5 * abs(c)) for c in centre]
    limits = ranges if ranges is not None else [(c - r, c + r) for c, r in zip(centre, reach, strict=True)]
    first, second = (np.linspace(low, high, count) for (low, high), count in zip(limits, n, strict=True))
    a, b = (grid.ravel() for grid in np.meshgrid(first, second, indexing="ij"))
    y = np.repeat(gait.y0[None], len(a), axis=0)
    y[:, gait.names.index(chosen[0])], y[:, gait.names.index(chosen[1])] = a, b
    x = gait.map().whole(y)
    z = np.repeat(np.array(list(gait.z0.values()))[None], len(a), axis=0)
    fine, status = survives(gait, x, z, steps=steps, rtol=BASIN_TOLERANCE, device=device, progress=progress)
    label = np.where(fine, "walks", status.astype(str)).reshape(n)
    return Basin(gait, (chosen[0], chosen[1]), first, second, label)


def _last_two_rates(gait: Gait) -> tuple[str, str]:
    """The last two free states that are rates of angles, by their units; of any two, if there are none."""
    units = {q.name: q.unit for q in gait.system.x}
    rates = [n for n in gait.names if units.get(n, "").endswith("rad/s")]
    pick = rates if len(rates) >= 2 else list(gait.names)
    return pick[-2], pick[-1]


__all__ = ["Basin", "basin"]
