"""`modes`: the ways in which a linear system moves by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked
from strut.linear.linearise import Linear


@dataclass(frozen=True, eq=False)
class Mode:
    """One eigenvalue [1/s] (of a pair, the one with positive imaginary part) and its shape over the states.

    frequency: undamped [Hz]; damping: ratio, 1 is critical, negative grows; time_constant: |1 / Re| [s].
    """

    eigenvalue: complex
    shape: dict[str, complex]

    @property
    def frequency(self) -> float:
        return float(abs(self.eigenvalue) / (2 * np.pi))

    @property
    def damping(self) -> float:
        return float(-self.eigenvalue.real / abs(self.eigenvalue)) if self.eigenvalue else 0.0

    @property
    def time_constant(self) -> float:
        return float(1 / abs(self.eigenvalue.real)) if self.eigenvalue.real else np.inf

    @property
    def stable(self) -> bool:
        return bool(self.eigenvalue.real < 0)


@checked
def modes(linear: Linear) -> list[Mode]:
    """All modes, slowest first. Shapes are scaled so that their largest entry is 1."""
    values, vectors = np.linalg.eig(linear.A)
    found = []
    for k in np.argsort(np.abs(values), kind="stable"):
        if values[k].imag < -1e-12 * max(1.0, abs(values[k])):
            continue
        vector = vectors[:, k] / vectors[np.argmax(np.abs(vectors[:, k])), k]
        found.append(Mode(complex(values[k]), dict(zip(linear.states, map(complex, vector), strict=True))))
    return found
