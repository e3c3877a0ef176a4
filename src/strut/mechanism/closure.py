"""Constrained dynamics: which rows of constraints are independent, where motion can start, and the forces
(Lagrange multipliers) that keep the constraints, with drift pulled back by Baumgarte stabilisation."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree
from strut.system import Factors, time

RANK_TOLERANCE = 1e-7
"""[1] Relative size of what is new in a row, below which it counts as a repetition of others."""
BAUMGARTE_RATE = 30.0
"""[1/s] Rate of Baumgarte stabilisation, at which drift off the constraints is pulled back, by default."""
MAX_LOOP_ERROR = 1e-12
"""[m, rad] to which initial loops are closed."""
MAX_NEWTON_STEPS = 50
"""Newton steps after which a loop counts as one that cannot be closed."""
LOOP_SOFTNESS = 1e-8
"""Of the mean diagonal of K M^-1 K'. Near a singular configuration a direction of the constraints loses its
grip, sigma say, and is let go where sigma^2 is below this. What drift there is must be smaller, or the motion
turns off within the square root of the drift where branches cross. Measured on four-bars that flatten: from
1e-9 to 1e-7 they pass, at 1e-13 they do not."""
RANK_TRIALS = 4
"""Configurations in which redundant rows are looked for."""


def all_rows(tree: Tree) -> ConstraintRows:
    """Stack the rows of all constraints; the error is zero where a row has none."""
    labels: list[str] = []
    phis, Ks, k0s = [], [], []
    pushes: list[tuple[str, ca.SX]] = []
    for constraint in tree.mechanism.constraints.values():
        rows = constraint.rows(tree)
        pushes += [(frame, _pad_left(len(labels), pushed)) for frame, pushed in rows.pushes]
        labels += [f"{constraint.name}_{label}" for label in rows.labels]
        missing = rows.K.shape[0] - rows.phi.numel()
        phis.append(ca.vertcat(rows.phi, ca.SX.zeros(missing)))
        Ks.append(rows.K)
        k0s.append(rows.k0)
    wide = tuple(
        (frame, ca.horzcat(pushed, ca.SX.zeros(6, len(labels) - pushed.shape[1]))) for frame, pushed in pushes
    )
    return ConstraintRows(
        tuple(labels),
        ca.densify(ca.vertcat(*phis)),
        ca.densify(ca.vertcat(*Ks)),
        ca.densify(ca.vertcat(*k0s)),
        wide,
    )


def _pad_left(columns: int, block: ca.SX) -> ca.SX:
    """A block of six rows with columns of zeros before it."""
    return ca.horzcat(ca.SX.zeros(6, columns), block)


def unit_quaternions(tree: Tree, q: np.ndarray) -> np.ndarray:
    """Coordinates with their quaternions brought to length 1."""
    q = np.array(q, dtype=float)
    for node in tree.nodes:
        if node.connection.joint.quaternion:
            last = tree.q_of[node.connection.name].stop
            q[last - 4 : last] /= np.linalg.norm(q[last - 4 : last])
    return q


def _least_norm_change(K: np.ndarray, b: np.ndarray, fixed_velocities: Sequence[int]) -> np.ndarray:
    """The smallest change with K change = b that leaves some entries alone: the minimum-norm least squares
    solution."""
    free = [k for k in range(K.shape[1]) if k not in fixed_velocities]
    change = np.zeros(K.shape[1])
    change[free] = np.linalg.lstsq(K[:, free], b, rcond=RANK_TOLERANCE)[0]
    return change


class LoopCloser:
    """Moves configurations, in numbers, onto the constraints of a tree by Newton's method at time 0, and
    finds which rows repeat others. `parameters` are symbols, `p` their values."""

    def __init__(self, tree: Tree, rows: ConstraintRows, parameters: ca.SX, p: np.ndarray) -> None:
        self.tree, self.rows, self.p = tree, rows, p
        self._rows_at = ca.Function("rows", [tree.q, time, parameters], [rows.phi, rows.K, rows.k0])
        self._step = ca.Function("step", [tree.q, tree.v], [tree.qdot])

    def close(
        self, q: np.ndarray, v: np.ndarray, fixed_velocities: Sequence[int] = ()
    ) -> tuple[ConstraintRows, np.ndarray, np.ndarray]:
        """The independent rows, and the nearest q and v that satisfy them. `fixed_velocities`, and the
        coordinates they move, stay as they are. Raises ModelError where the loops do not close."""
        q = self._close_by_newton(q, fixed_velocities)
        independent, rows = self._independent_rows(q), self.rows
        closure = ConstraintRows(
            labels=tuple(rows.labels[k] for k in independent),
            phi=rows.phi[independent],
            K=rows.K[independent, :],
            k0=rows.k0[independent],
            pushes=tuple((frame, pushed[:, independent]) for frame, pushed in rows.pushes),
        )
        _, K, k0 = self._numbers(q)
        if not K.size:  # an open tree has nothing to close
            return closure, q, v
        return closure, q, v - _least_norm_change(K, K @ v - k0.reshape(-1), fixed_velocities)

    def _numbers(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """phi, K and k0 in a configuration."""
        phi, K, k0 = (np.array(r) for r in self._rows_at(q, 0.0, self.p))
        return phi, K, k0

    def _step_from(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """q after a small change along the velocities."""
        step: np.ndarray = np.array(self._step(q, change)).reshape(-1)
        return np.asarray(q + step)

    def _close_by_newton(self, q: np.ndarray, fixed_velocities: Sequence[int] = ()) -> np.ndarray:
        """The nearest q whose loops are closed to `MAX_LOOP_ERROR`."""
        for _ in range(MAX_NEWTON_STEPS):
            q = unit_quaternions(self.tree, q)
            phi, K, _ = self._numbers(q)
            if np.abs(phi).max(initial=0.0) < MAX_LOOP_ERROR:
                return q
            change = -_least_norm_change(K, phi.reshape(-1), fixed_velocities)
            change *= min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))  # half a radian at a time
            q = self._step_from(q, change)
        raise self._open_loop_error(phi)

    def _open_loop_error(self, phi: np.ndarray) -> ModelError:
        """Names the constraint that is furthest from closed where Newton's method left an error phi."""
        worst = int(np.argmax(np.abs(phi)))
        label, m = self.rows.labels[worst], self.tree.mechanism
        name = max((n for n in m.constraints if label.startswith(f"{n}_")), key=len, default=label)
        part = label.removeprefix(f"{name}_")
        unit, along = (
            ("m", f" along {part}")
            if part in ("x", "y", "z")
            else ("rad or m" if part == "torque" else "rad", "")
        )
        return ModelError(
            f"mechanism '{m.name}' cannot close constraint '{name}': "
            f"{abs(float(phi[worst, 0])):.3g} {unit} remain{along} after "
            f"{MAX_NEWTON_STEPS} tries; begin nearer to a closed configuration (initial=...), or check the "
            "lengths"
        )

    def _independent_rows(self, q: np.ndarray) -> list[int]:
        """Rows that say something new (modified Gram-Schmidt), judged where most of them do: the given
        configuration may be a special one."""
        rng = np.random.default_rng(0)
        best: list[int] = []
        for trial in range(RANK_TRIALS):
            there = q
            if trial:
                try:
                    there = self._close_by_newton(
                        self._step_from(q, 0.05 * rng.standard_normal(self.tree.nv))
                    )
                except ModelError:
                    continue
            K = self._numbers(there)[1]
            new_rows: list[int] = []
            basis = np.empty((0, self.tree.nv))
            for k, row in enumerate(K):  # in the order given, so that the first of equal rows stays
                rest = row - basis.T @ (basis @ row) if len(basis) else row
                rest = rest - basis.T @ (basis @ rest) if len(basis) else rest
                scale = max(1e-9, float(np.linalg.norm(row)), float(np.abs(K).max()))
                if np.linalg.norm(rest) > RANK_TOLERANCE * scale:
                    new_rows.append(k)
                    basis = np.vstack([basis, rest / np.linalg.norm(rest)])
            if len(new_rows) > len(best):
                best = new_rows
        return best


def drift(tree: Tree, closure: ConstraintRows) -> ca.SX:
    """K' v - k0': what the accelerations along the rows would be without any."""
    constant_v = ca.SX.sym("held", tree.nv)
    along = ca.jtimes(closure.K @ constant_v, tree.q, tree.qdot)
    return ca.substitute([along], [constant_v], [tree.v])[0] - ca.jacobian(closure.k0, time)


class Constrained:
    """Accelerations and constraint forces of a tree whose rows must hold: M a + bias = tau + K' force, K a +
    drift = 0, where the drift is stabilised with the rate `stabilise` [1/s] (Baumgarte)."""

    def __init__(self, tree: Tree, closure: ConstraintRows, stabilise: ca.SX) -> None:
        self.tree, self.closure, self.stabilise = tree, closure, stabilise
        n = closure.K.shape[0]
        self.spread = tree.factors.solve(closure.K.T)  # M^-1 K'
        self.A = closure.K @ self.spread
        self.soft = Factors(self.A + LOOP_SOFTNESS * ca.trace(self.A) / max(n, 1) * ca.SX.eye(n))

    def _solve_softly(self, b: ca.SX) -> ca.SX:
        """Solve A f = b: once softly, and once more for what that left, which takes the softness out of every
        direction but a singular one."""
        first = self.soft.solve(b)
        return first + self.soft.solve(b - self.A @ first)

    def _drift(self) -> ca.SX:
        """The drift, and the pull back to the constraint (Baumgarte stabilisation): critically damped with
        rate `stabilise` [1/s]."""
        c, tree = self.closure, self.tree
        slip = c.K @ tree.v - c.k0
        return drift(tree, c) + 2 * self.stabilise * slip + self.stabilise**2 * c.phi

    def forward(self, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Accelerations, and the multipliers: forces along the rows."""
        loose = self.tree.factors.solve(tau - self.tree.bias)
        force = self._solve_softly(-(self._drift() + self.closure.K @ loose))
        return loose + self.spread @ force, force

    def project_state(self) -> tuple[ca.SX, ca.SX]:
        """q and v moved onto the constraints, the shortest way in the metric of the masses: one Newton
        step."""
        c, tree = self.closure, self.tree
        move = -(self.spread @ self._solve_softly(c.phi))
        slow = tree.v - self.spread @ self._solve_softly(c.K @ tree.v - c.k0)
        shift = ca.substitute([tree.qdot], [tree.v], [move])[0]
        return tree.q + shift, slow
