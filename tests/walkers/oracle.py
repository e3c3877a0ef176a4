"""Planar walkers derived anew, for comparison: positions of masses, Lagrange's equations with multipliers in floating
coordinates, SciPy's integrator and event location. Shares no code with strut."""

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp


class Walker:
    """`masses(x, z, angles)` gives (mass, position, inertia, angle) tuples; `held(q)` velocities rows as functions of q, v."""

    late = 0.0  # [rad] of the stance leg beyond the vertical, before which the swing foot may scuff

    def __init__(self, n, masses, stance_rows, swing_rows, swing_gap, g, locks=()):
        q, v = ca.SX.sym("q", 2 + n), ca.SX.sym("v", 2 + n)
        bodies = masses(q)
        kinetic = potential = 0
        for mass, place, inertia, angle in bodies:
            speed = ca.jtimes(place, q, v)
            kinetic += mass * ca.dot(speed, speed) / 2 + inertia * ca.jtimes(angle, q, v) ** 2 / 2
            potential += mass * g * place[1]
        M, momentum = ca.hessian(kinetic, v)[0], ca.gradient(kinetic, v)
        bias = ca.jtimes(momentum, q, v) - ca.gradient(kinetic - potential, q)
        rows = {name: ca.jacobian(f(q, v), v) for name, f in (("stance", stance_rows), ("swing", swing_rows))}
        lock = ca.vertcat(*[v[2 + a] - v[2 + b] for a, b in locks], ca.SX(0, 1))
        rows["locked"] = ca.vertcat(rows["stance"], ca.jacobian(lock, v))
        rows["strike"] = ca.vertcat(rows["swing"], ca.jacobian(lock, v))
        drift = {name: ca.jtimes(K @ v, q, v) for name, K in rows.items()}
        self.n, self.locks = n, locks
        self.f = ca.Function("f", [q, v], [M, bias])
        self.rows = {name: ca.Function(name, [q, v], [rows[name], drift[name]]) for name in rows}
        self.gap = ca.Function("gap", [q], [swing_gap(q)])

    def accelerate(self, q, v, which):
        M, bias = (np.array(r) for r in self.f(q, v))
        K, drift = (np.array(r) for r in self.rows[which](q, v))
        k = len(K)
        system = np.block([[M, -K.T], [K, np.zeros((k, k))]])
        return np.linalg.solve(system, np.concatenate([-bias, -drift])).reshape(-1)[: len(q)]

    def impact(self, q, v, which):
        M = np.array(self.f(q, v)[0])
        K = np.array(self.rows[which](q, v)[0])
        system = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)))]])
        return np.linalg.solve(system, np.concatenate([M @ v, np.zeros(len(K))]))[: len(q)]

    def phase(self, q, v, which, event):
        def flow(t, y):
            half = len(y) // 2
            return np.concatenate([y[half:], self.accelerate(y[:half], y[half:], which)])

        event.terminal = True
        run = solve_ivp(
            flow, (0, 10), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-13, events=event
        )
        half = len(q)
        return run.t[-1], run.y[:half, -1], run.y[half:, -1]

    def step(self, q, v):
        """From just after a heel strike to just before the legs change names: duration, q, v after the impact."""
        spent = 0.0
        if self.locks:
            a, b = self.locks[0]

            def knee(t, y):
                return y[2 + a] - y[2 + b] if t > 1e-3 else -1.0

            spent, q, v = self.phase(q, v, "stance", knee)
            v = self.impact(q, v, "locked")

        def heel(t, y):
            past = y[3] > y[2]  # swing in front of stance
            return float(self.gap(y[: 2 + self.n])) if past and y[2] < -self.late else 1.0

        heel.direction = -1
        more, q, v = self.phase(q, v, "locked" if self.locks else "stance", heel)
        return spent + more, q, self.impact(q, v, "strike")
