"""Constrained dynamics: which rows to keep, where to start, and the forces that keep the constraints."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree
from strut.system import Factors, time

RANK = 1e-7  # relative size below which a row counts as a repetition of others
STABILISE = 30.0  # [1/s] at which drift is pulled back, unless told otherwise
CLOSED = 1e-12  # [m, rad] to which initial loops are closed
SOFTNESS = 1e-8
"""Of the mean diagonal of K M^-1 K'. Near a singular configuration a direction of the constraints loses its
grip, sigma say, and is let go where sigma^2 is below this. What drift there is must be smaller, or the motion
turns off within the square root of the drift where branches cross. Measured on four-bars that flatten: from
1e-9 to 1e-7 they pass, at 1e-13 they do not."""
TRIALS = 4  # configurations in which redundant rows are looked for


def all_rows(tree: Tree) -> ConstraintRows:
    """Those of all constraints, one after the other; the error is zero where a row has none."""
    labels: list[str] = []
    phis, Ks, k0s = [], [], []
    pushes: list[tuple[str, ca.SX]] = []
    for constraint in tree.mechanism.constraints.values():
        rows = constraint.rows(tree)
        pushes += [(frame, _beside(len(labels), pushed)) for frame, pushed in rows.pushes]
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


def _beside(columns: int, block: ca.SX) -> ca.SX:
    return ca.horzcat(ca.SX.zeros(6, columns), block)


def closed(
    tree: Tree,
    rows: ConstraintRows,
    q: np.ndarray,
    v: np.ndarray,
    p: np.ndarray,
    parameters: ca.SX,
    held: Sequence[int] = (),
) -> tuple[ConstraintRows, np.ndarray, np.ndarray]:
    """The independent rows, and the nearest q and v that satisfy them at time 0; `held` velocities, and the
    coordinates they move, stay as they are."""
    f = ca.Function("rows", [tree.q, time, parameters], [rows.phi, rows.K, rows.k0])
    step = ca.Function("step", [tree.q, tree.v], [tree.qdot])
    q = _newton(tree, rows, f, step, q, p, held)
    kept = _independent(tree, rows, f, step, q, p)
    pushes = tuple((frame, pushed[:, kept]) for frame, pushed in rows.pushes)
    closure = ConstraintRows(
        tuple(rows.labels[k] for k in kept), rows.phi[kept], rows.K[kept, :], rows.k0[kept], pushes
    )
    _, K, k0 = (np.array(r) for r in f(q, 0.0, p))
    if not K.size:  # an open tree has nothing to close
        return closure, q, v
    return closure, q, v - _least(K, K @ v - k0.reshape(-1), held)


def _least(K: np.ndarray, b: np.ndarray, held: Sequence[int]) -> np.ndarray:
    """The smallest change with K change = b that leaves some entries alone."""
    free = [k for k in range(K.shape[1]) if k not in held]
    change = np.zeros(K.shape[1])
    change[free] = np.linalg.lstsq(K[:, free], b, rcond=RANK)[0]
    return change


def unit_quaternions(tree: Tree, q: np.ndarray) -> np.ndarray:
    """Coordinates with their quaternions brought to length 1."""
    q = np.array(q, dtype=float)
    for node in tree.nodes:
        if node.connection.joint.kind.removeprefix("mirrored ") in ("free", "spherical"):
            last = tree.q_of[node.connection.name].stop
            q[last - 4 : last] /= np.linalg.norm(q[last - 4 : last])
    return q


def _newton(
    tree: Tree,
    rows: ConstraintRows,
    f: ca.Function,
    step: ca.Function,
    q: np.ndarray,
    p: np.ndarray,
    held: Sequence[int] = (),
) -> np.ndarray:
    for _ in range(50):
        q = unit_quaternions(tree, q)
        phi, K, _ = (np.array(r) for r in f(q, 0.0, p))
        if np.abs(phi).max(initial=0.0) < CLOSED:
            return q
        change = -_least(K, phi.reshape(-1), held)
        change *= min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))  # half a radian at a time
        q = q + np.array(step(q, change)).reshape(-1)
    worst = int(np.argmax(np.abs(phi)))
    label = rows.labels[worst]
    name = max((n for n in tree.mechanism.constraints if label.startswith(f"{n}_")), key=len, default=label)
    part = label.removeprefix(f"{name}_")
    unit, along = (
        ("m", f" along {part}")
        if part in ("x", "y", "z")
        else ("rad or m" if part == "torque" else "rad", "")
    )
    raise ModelError(
        f"mechanism '{tree.mechanism.name}' cannot close constraint '{name}': "
        f"{abs(float(phi[worst, 0])):.3g} {unit} remain{along} after "
        "50 tries; begin nearer to a closed configuration (initial=...), or check the lengths"
    )


def _independent(
    tree: Tree, rows: ConstraintRows, f: ca.Function, step: ca.Function, q: np.ndarray, p: np.ndarray
) -> list[int]:
    """Rows that say something new, judged where most of them do: the given configuration may be a special
    one."""
    rng = np.random.default_rng(0)
    best: list[int] = []
    for trial in range(TRIALS):
        there = q
        if trial:
            moved = q + np.array(step(q, 0.05 * rng.standard_normal(tree.nv))).reshape(-1)
            try:
                there = _newton(tree, rows, f, step, moved, p)
            except ModelError:
                continue
        K = np.array(f(there, 0.0, p)[1])
        found: list[int] = []
        basis = np.empty((0, tree.nv))
        for k, row in enumerate(K):  # in the order given, so that the first of equal rows stays
            rest = row - basis.T @ (basis @ row) if len(basis) else row
            rest = rest - basis.T @ (basis @ rest) if len(basis) else rest
            if np.linalg.norm(rest) > RANK * max(1e-9, float(np.linalg.norm(row)), float(np.abs(K).max())):
                found.append(k)
                basis = np.vstack([basis, rest / np.linalg.norm(rest)])
        if len(found) > len(best):
            best = found
    return best


def drift(tree: Tree, closure: ConstraintRows) -> ca.SX:
    """K' v - k0': what the accelerations along the rows would be without any."""
    held = ca.SX.sym("held", tree.nv)
    along = ca.jtimes(closure.K @ held, tree.q, tree.qdot)
    return ca.substitute([along], [held], [tree.v])[0] - ca.jacobian(closure.k0, time)


class Constrained:
    """Accelerations and constraint forces of a tree whose rows must hold."""

    def __init__(self, tree: Tree, closure: ConstraintRows, stabilise: ca.SX) -> None:
        self.tree, self.closure, self.stabilise = tree, closure, stabilise
        n = closure.K.shape[0]
        self.spread = tree.factors.solve(closure.K.T)  # M^-1 K'
        self.A = closure.K @ self.spread
        self.soft = Factors(self.A + SOFTNESS * ca.trace(self.A) / max(n, 1) * ca.SX.eye(n))

    def _resolved(self, b: ca.SX) -> ca.SX:
        """Solve A f = b: once softly, and once more for what that left, which takes the softness out of every
        direction but a singular one."""
        first = self.soft.solve(b)
        return first + self.soft.solve(b - self.A @ first)

    def _drift(self) -> ca.SX:
        """The drift, and the pull back to the constraint: critically damped with rate `stabilise` [1/s]."""
        c, tree = self.closure, self.tree
        slip = c.K @ tree.v - c.k0
        return drift(tree, c) + 2 * self.stabilise * slip + self.stabilise**2 * c.phi

    def forward(self, tau: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Accelerations, and the multipliers: forces along the rows."""
        loose = self.tree.factors.solve(tau - self.tree.bias)
        force = self._resolved(-(self._drift() + self.closure.K @ loose))
        return loose + self.spread @ force, force

    def projected(self) -> tuple[ca.SX, ca.SX]:
        """q and v moved onto the constraints, the shortest way in the metric of the masses: one Newton
        step."""
        c, tree = self.closure, self.tree
        move = -(self.spread @ self._resolved(c.phi))
        slow = tree.v - self.spread @ self._resolved(c.K @ tree.v - c.k0)
        shift = ca.substitute([tree.qdot], [tree.v], [move])[0]
        return tree.q + shift, slow
