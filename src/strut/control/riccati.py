"""Riccati equations: backwards along one step that repeats, and of a step as a whole (discrete, by
doubling)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut.errors import ModelError

MAX_SWEEPS = 2000
"""Most sweeps backwards over the step until the solution repeats."""
MAX_SOLUTION_CHANGE = 1e-11
"""[1] Largest change of a solution in a sweep or a doubling, relative to it, at which it has converged."""
MAX_DOUBLINGS = 60
"""Doublings of the number of steps: 2^60 are enough for anything that can be held."""
MIN_REACH = 1e-9
"""[1] A mode that inputs move by less than this part of what they can move at all is not controllable."""
UNIT_SLACK = 1e-7
"""[1] Multipliers of at least 1 less this do not die out by themselves."""
MAX_SOLUTION_GROWTH = 1e60
"""[1] Largest entry of a solution, over that of the weights, beyond which it has diverged."""
GAUSS_POINTS = (0.5 - np.sqrt(3) / 6, 0.5 + np.sqrt(3) / 6)
"""[1] Places of the two points of Gauss and Legendre in a stretch, 0 to 1."""
TAYLOR_TERMS = 12
"""Terms of the Taylor series of a matrix exponential, after scaling to a norm of at most 1/8."""


@dataclass(frozen=True, eq=False)
class LinearStretch:
    """A stretch of a step that is linear, x' = A x + B u, from one place of a table to the next.

    A, B: at the two points of Gauss and Legendre, in coordinates in which acceptable deviations and inputs
    are one. weight: at the same points, of the cost of deviations (a matrix each). price: of inputs, there.
    length: [s, or the unit of the index].
    """

    A: tuple[np.ndarray, np.ndarray]
    B: tuple[np.ndarray, np.ndarray]
    weight: tuple[np.ndarray, np.ndarray]
    price: tuple[float, float]
    length: float


def exponential(matrix: np.ndarray) -> np.ndarray:
    """The matrix exponential, by a Taylor series and squaring."""
    norm = np.abs(matrix).sum(axis=1).max(initial=0.0)
    squarings = max(int(np.ceil(np.log2(max(norm, 1e-300)))) + 3, 0)
    scaled = matrix / 2**squarings
    total: np.ndarray = np.eye(len(matrix))
    term: np.ndarray = total
    for k in range(1, TAYLOR_TERMS + 1):
        term = term @ scaled / k
        total = total + term
    for _ in range(squarings):
        total = total @ total
    return total


def magnus(first: np.ndarray, second: np.ndarray, length: float) -> np.ndarray:
    """The exponent of a linear flow over a stretch, from its matrices at the two points of Gauss and
    Legendre (Magnus, fourth order)."""
    commutator = second @ first - first @ second
    exponent: np.ndarray = length / 2 * (first + second) + np.sqrt(3) * length**2 / 12 * commutator
    return exponent


def hamiltonian(stretch: LinearStretch, k: int) -> np.ndarray:
    """The Hamiltonian matrix of the regulator at one of the two points."""
    A, B = stretch.A[k], stretch.B[k]
    return np.block([[A, -B @ B.T / stretch.price[k]], [-stretch.weight[k], -A.T]])


def step_back(P: np.ndarray, backward_flow: np.ndarray) -> np.ndarray:
    """The solution of the Riccati equation at the beginning of a stretch, from that at its end."""
    n = len(P)
    both = backward_flow @ np.vstack([np.eye(n), P])
    earlier = np.linalg.solve(both[:n].T, both[n:].T).T
    return (earlier + earlier.T) / 2


def periodic_riccati(
    phases: Sequence[tuple[Sequence[LinearStretch], np.ndarray]],
    begin: np.ndarray | None = None,
) -> list[list[np.ndarray]]:
    """Return the periodic solution of the differential Riccati equation along a step.

    phases: of each, its stretches, and the jump at its end: the last jump leads to the beginning of the
    first. begin: the solution that the first sweep begins with, by default zero. Returns, by phase, the
    solutions at the beginning of every stretch and at the end of the last.
    Raises ModelError where it does not come to repeat.
    """
    flows = [
        [exponential(-magnus(hamiltonian(s, 0), hamiltonian(s, 1), s.length)) for s in stretches]
        for stretches, _ in phases
    ]
    jumps = [jump for _, jump in phases]
    P = np.zeros_like(jumps[-1]) if begin is None else begin
    for _ in range(MAX_SWEEPS):
        before = P
        for phase_flows, jump in zip(reversed(flows), reversed(jumps), strict=True):
            P = jump.T @ P @ jump
            for flow in reversed(phase_flows):
                P = step_back(P, flow)
        if not np.isfinite(P).all():
            break
        if np.abs(P - before).max() <= MAX_SOLUTION_CHANGE * np.abs(P).max():
            return _solutions(P, flows, jumps)
    raise ModelError(
        "the Riccati equation along the step does not come to repeat: the gait cannot be held by these "
        "inputs, or not with these weights; other acceptable deviations or inputs may help"
    )


def _solutions(
    P: np.ndarray, flows: list[list[np.ndarray]], jumps: list[np.ndarray]
) -> list[list[np.ndarray]]:
    """The solutions at all places, once that at the beginning of the step is known."""
    phases: list[list[np.ndarray]] = []
    for phase_flows, jump in zip(reversed(flows), reversed(jumps), strict=True):
        P = jump.T @ P @ jump
        rows = [P]
        for flow in reversed(phase_flows):
            P = step_back(P, flow)
            rows.append(P)
        phases.append(rows[::-1])
    return phases[::-1]


def step_matrices(
    phases: Sequence[tuple[Sequence[LinearStretch], np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of a step without feedback, and the Gramian of what inputs can reach in it."""
    n = len(phases[0][1])
    A, W = np.eye(n), np.zeros((n, n))
    for stretches, jump in phases:
        for s in stretches:
            flow = exponential(magnus(s.A[0], s.A[1], s.length))
            mean = (s.B[0] + s.B[1]) / 2
            W = flow @ W @ flow.T + s.length * mean @ mean.T
            A = flow @ A
        A, W = jump @ A, jump @ W @ jump.T
    return A, W


def check_controllable(A: np.ndarray, W: np.ndarray, names: Sequence[str], by: str, machine: str) -> None:
    """Raise ModelError where a mode of a step that does not die out is not reached by any input: the test of
    Popov, Belevitch and Hautus for stabilisability.

    W: what inputs reach in one step, a Gramian. names: of the states. by: what the inputs are.
    """
    values, left = np.linalg.eig(A.T)
    right_values, right = np.linalg.eig(A)
    total = max(float(np.trace(W)), 1e-300)
    for k, value in enumerate(values):
        if abs(value) < 1 - UNIT_SLACK:
            continue
        w = left[:, k] / np.linalg.norm(left[:, k])
        if float(np.real(w.conj() @ W @ w)) <= MIN_REACH**2 * total:
            mode = right[:, int(np.argmin(np.abs(right_values - value)))]
            largest = [
                names[i] for i in np.argsort(-np.abs(mode))[:3] if abs(mode[i]) > 1e-3 * np.abs(mode).max()
            ]
            fate = "grows" if abs(value) > 1 + UNIT_SLACK else "does not die out (something is conserved)"
            raise ModelError(
                f"the gait of '{machine}' is not controllable: its mode of multiplier {abs(value):.4g}, "
                f"mostly {', '.join(largest)}, {fate} and is not moved by {by}. Another input, or a "
                f"parameter that changes from step to step, may reach it"
            )


def discrete_riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The stabilising solution X = A'XA - A'XB inv(R + B'XB) B'XA + Q, by the structure-preserving doubling
    algorithm (Chu, Fan, Lin and Wang 2004). Raises ModelError where there is none."""
    n = len(A)
    E, G = A, B @ np.linalg.solve(R, B.T)
    H: np.ndarray = Q
    for _ in range(MAX_DOUBLINGS):
        if np.abs(H).max() > MAX_SOLUTION_GROWTH * max(np.abs(Q).max(), 1e-300):
            break
        W = np.eye(n) + G @ H
        later = np.linalg.solve(W, E)
        H_next = H + E.T @ H @ later
        G = G + E @ np.linalg.solve(W, G) @ E.T
        E, change, H = E @ later, np.abs(H_next - H).max(), (H_next + H_next.T) / 2
        if not np.isfinite(H).all():
            break
        if change <= MAX_SOLUTION_CHANGE * np.abs(H).max():
            return H
    raise ModelError(
        "the discrete Riccati equation has no stabilising solution: a mode that does not die out is not "
        "moved by the inputs, or not weighed"
    )


__all__ = ["LinearStretch", "check_controllable", "discrete_riccati", "periodic_riccati", "step_matrices"]
