"""`linearise`: a system near a point, with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.codegen import lower_system
from strut.system import System, start


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
        """Of A [1/s], fastest growing first."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, -values.real))]


@checked
def linearise(
    system: System, t: float = 0.0, x0: Any = None, z0: Any = None, u: Any = None, p: Any = None
) -> Linear:
    """The system near a point: the system's own starting values, changed by name or as whole vectors. Between
    events, with discrete states held; delays are taken as they are before a run."""
    values, f = start(system, x0, z0, u, p), _derivatives(system)
    past = np.array(lower_system(system).functions["past"](t, values.p)).reshape(-1)
    f0, A, B, C, D = (np.array(r) for r in f(t, values.x, values.z, values.u, values.p, past))
    return Linear(
        A, B, C, D, f0.reshape(-1), system.labels("x"), system.labels("u"), system.labels("outputs")
    )


def _derivatives(system: System) -> ca.Function:
    """Flow, and the four matrices, as one function; made once."""
    if "linear" not in system.cache:
        functions = lower_system(system).functions
        arguments = functions["flow"].sx_in()
        named = dict(zip(functions["flow"].name_in(), arguments, strict=True))
        flow, outputs = functions["flow"](*arguments), functions["outputs"](*arguments)
        matrices = [
            ca.densify(ca.jacobian(of, by)) for of in (flow, outputs) for by in (named["x"], named["u"])
        ]
        system.cache["linear"] = ca.Function("linear", arguments, [flow, *matrices])
    made: ca.Function = system.cache["linear"]
    return made
