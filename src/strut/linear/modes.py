"""`modes`: the ways in which a linear system moves by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strut.checks import checked
from strut.linear.linearise import Linear
from strut.tabular import Tabular


@dataclass(frozen=True, eq=False)
class Mode(Tabular):
    """One eigenvalue [1/s] (of a pair, the one with positive imaginary part) and its shape over the states:
    the eigenvector, by name."""

    eigenvalue: complex
    shape: dict[str, complex]

    def columns(self) -> dict[str, list[object]]:
        """Return its shape: of every state the size of its part, and its phase [rad]."""
        parts = self.shape.values()
        return {
            "state": list(self.shape),
            "size": [abs(part) for part in parts],
            "phase": [float(np.angle(part)) for part in parts],
        }

    def _card_title(self) -> str:
        return f"<Mode: {self.frequency:.4g} Hz, damping ratio {self.damping:.4g}>"

    @property
    def frequency(self) -> float:
        """The undamped frequency [Hz]."""
        return float(abs(self.eigenvalue) / (2 * np.pi))

    @property
    def damping(self) -> float:
        """The damping ratio: 1 is critical, negative grows."""
        return float(-self.eigenvalue.real / abs(self.eigenvalue)) if self.eigenvalue else 0.0

    @property
    def time_constant(self) -> float:
        """The time [s] in which it grows or decays by a factor of e; infinite if it does neither."""
        return float(1 / abs(self.eigenvalue.real)) if self.eigenvalue.real else np.inf

    @property
    def stable(self) -> bool:
        """Whether it decays."""
        return bool(self.eigenvalue.real < 0)


@checked
def modes(linear: Linear) -> list[Mode]:
    """All modes of a linear system, the slowest first. Shapes are scaled so that their largest entry is 1."""
    values, vectors = np.linalg.eig(linear.A)
    slowest_first = []
    for k in np.argsort(np.abs(values), kind="stable"):
        if values[k].imag < -1e-12 * max(1.0, abs(values[k])):
            continue
        vector = vectors[:, k] / vectors[np.argmax(np.abs(vectors[:, k])), k]
        slowest_first.append(
            Mode(complex(values[k]), dict(zip(linear.states, map(complex, vector), strict=True)))
        )
    return slowest_first
