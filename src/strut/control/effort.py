"""What a regulator asks of its inputs: the largest effort for an acceptable deviation, and whether motors can
give it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np


class EffortWarning(UserWarning):
    """A regulator asks for more than its inputs can give."""


def largest_efforts(gains: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return, by input, the largest that u = -K x asks for where x is one acceptable deviation in the worst
    direction: the largest row norm of K D over all moments.

    gains: K by moment, input and state. deviation: the largest acceptable one of every state, the diagonal D.
    """
    sizes: np.ndarray = np.linalg.norm(gains * deviation, axis=-1).max(axis=0)
    return sizes


def effort_faults(
    efforts: Mapping[str, float], planned: Mapping[str, float], limits: Mapping[str, tuple[float, float]]
) -> tuple[str, ...]:
    """Say, in a sentence for each input, which efforts are more than an input can give.

    efforts: by input, the largest that an acceptable deviation asks for beyond the plan. planned: the largest
    of the plan. limits: the least and the largest of an input, where it has some. All of them are in the
    input's own unit.
    """
    return tuple(
        f"{name}: one acceptable deviation asks for up to {effort:.4g} beyond the plan, which takes "
        f"{planned.get(name, 0.0):.4g} itself, and its limits are {limits[name][0]:.4g} to "
        f"{limits[name][1]:.4g}, beyond which it is cut off"
        for name, effort in efforts.items()
        if name in limits and effort > max(abs(bound) for bound in limits[name])
    )


def warn_of_efforts(faults: Sequence[str], system: str) -> None:
    """Warn of efforts that inputs of a system cannot give, of all at once."""
    if faults:
        name = faults[0].partition(":")[0]
        text = (
            f"the loop of '{system}' asks more than it can have: {'; '.join(faults)}; a smaller "
            f"effort={{'{name}': ...}} makes a softer loop"
        )
        warnings.warn(text, EffortWarning, 4)


__all__ = ["EffortWarning", "effort_faults", "largest_efforts", "warn_of_efforts"]
