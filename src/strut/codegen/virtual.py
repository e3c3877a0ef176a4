"""A system without a C compiler: the same functions, evaluated by CasADi's virtual machine."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from strut.codegen.lower import JACOBIANS, SIGNATURES, Lowered
from strut.codegen.native import Caller, rows
from strut.codegen.runtime.status import RESULT_SIZES


class Virtual:
    """Stands in for `Native` where only functions are needed; runs go through the engine in Python."""

    compiled = False

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.sizes = lowered.sizes

    def evaluate(  # noqa: PLR0917  # as of `Native`
        self, which: str, t: Any, x: Any, z: Any, u: Any, p: Any, d: Any = 0.0
    ) -> np.ndarray:
        """One of the model's functions at many points: rows of results for rows of arguments."""
        s = self.sizes
        t = np.atleast_1d(np.asarray(t, dtype=float))
        m = len(t)
        values = {
            "t": t.reshape(m, 1),
            "x": rows(x, m, s["NX"]),
            "z": rows(z, m, s["NZ"]),
            "u": rows(u, m, s["NU"]),
            "p": rows(p, m, s["NP"]),
            "d": rows(d, m, s["ND"]) if s["ND"] else np.empty((m, 0)),
        }
        f = self.lowered.functions["flow_and_powers" if which == "powers" else which]
        names = SIGNATURES[f.name()][0]
        result = f.map(m)(
            *[ca.DM(values[n].T) if values[n].size else ca.DM(values[n].shape[1], m) for n in names]
        )
        chosen = result[1] if which == "powers" else result
        return np.array(chosen).T.reshape(m, s[RESULT_SIZES[which]])

    def caller(self, which: str, p: Any) -> Caller:
        """`evaluate` at one point after another; see `Caller`."""
        call = Caller(self.sizes, which, p)

        def run() -> None:
            call.out[:] = self.evaluate(which, call.t, call.x, call.z, call.u, call.p, call.d)[0]

        call.run = run
        return call

    def jacobian(  # noqa: PLR0913, PLR0917  # as of `Native`
        self,
        which: str,
        t: float,
        x: Any,
        z: Any,
        u: Any,
        p: Any,
        d: Any = (),
        random: Any = (),
        jump: int = 0,
    ) -> dict[str, np.ndarray]:
        """Dense Jacobians by name of variable; `which` is 'flow_jacobian', 'guard_jacobian' or
        'reset_jacobian'."""
        values = {"t": t, "x": x, "z": z, "u": u, "p": p, "d": d, "random": random}
        f = self.lowered.jacobians[which][jump if which == "reset_jacobian" else 0]
        result = f(*[ca.DM(np.asarray(values[n], dtype=float).reshape(-1)) for n in f.name_in()])
        return dict(zip(JACOBIANS[which][1], [np.array(r) for r in result], strict=True))
