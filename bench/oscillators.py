"""Phase oscillators, each coupled to all others: 50 states and 2450 sines, a flow long enough to be hard to
compile."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut import Param, State, System


def oscillators(count: int = 50) -> System:
    """phi_i' = omega_i + w sum_j sin(phi_j - phi_i)."""
    phi = State("phi", np.linspace(0, np.pi, count), "rad")
    omega = Param("omega", np.linspace(0.5, 1.5, count), "rad/s")
    w = Param("w", 1.0 / count, "1/s")
    rates = [omega[i] + w * ca.sum1(ca.sin(phi.sym - phi[i])) for i in range(count)]
    return System(
        "oscillators",
        x=(phi,),
        p=(omega, w),
        flow={phi: ca.vertcat(*rates)},
        description="phase oscillators, all to all",
    )
