"""`linearise`: a system near a point, with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.codegen import lower_system
from strut.system import System, memo, start


@dataclass(frozen=True, eq=False)
class Linear:
    """dx' = A dx + B du, dy = C dx + D du around (x, u), with f0 the flow at the point itself.

    Rows and columns are named by `states`, `inputs` and `outputs`.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    f0: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of A [1/s], the fastest growing first."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, -values.real))]


@checked
def linearise(
    system: System, t: float = 0.0, x0: Any = None, *, z0: Any = None, u: Any = None, p: Any = None
) -> Linear:
    """Linearise a system at a point, between events, with exact derivatives.

    t: the time [s]. x0, z0, u, p: the point, by name or as whole vectors, where not the system's own starting
    values. Discrete states are held; delayed signals are taken as they are before a run.
    """
    values, f = start(system, x0, z0, u, p), memo(system, derivative_function)
    past = np.array(lower_system(system).functions["past"](t, values.p)).reshape(-1)
    f0, A, B, C, D = (np.array(r) for r in f(t, values.x, values.z, values.u, values.p, past))
    return Linear(
        A=A,
        B=B,
        C=C,
        D=D,
        f0=f0.reshape(-1),
        states=system.labels("x"),
        inputs=system.labels("u"),
        outputs=system.labels("outputs"),
    )


def derivative_function(system: System) -> ca.Function:
    """The flow and the matrices A, B, C and D as one function of t, x, z, u, p and delayed signals."""
    functions = lower_system(system).functions
    arguments = functions["flow"].sx_in()
    by_name = dict(zip(functions["flow"].name_in(), arguments, strict=True))
    flow, outputs = functions["flow"](*arguments), functions["outputs"](*arguments)
    matrices = [
        ca.densify(ca.jacobian(of, by)) for of in (flow, outputs) for by in (by_name["x"], by_name["u"])
    ]
    return ca.Function("linear", arguments, [flow, *matrices])
