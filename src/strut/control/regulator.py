"""`lqr`: a gait held from moment to moment by the linear-quadratic regulator along it, through its
impacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.control.closed_loop import FeedbackLaw, close_loop
from strut.control.effort import effort_faults, largest_efforts, warn_of_efforts
from strut.control.held_gait import HeldGait, find_held_gait
from strut.control.input_limits import (
    InputLimits,
    command_limits,
    limit_settings,
    unkept_requirements,
    warn_of_unkept,
)
from strut.control.kalman import Kalman, kalman_observer
from strut.control.motion_table import (
    DEGREE,
    PLACE_BASIS,
    PLACES,
    MotionTable,
    TablePiece,
    motion_table,
    read_index,
)
from strut.control.read_motion import reference_motion
from strut.control.riccati import (
    GAUSS_POINTS,
    LinearStretch,
    check_controllable,
    exponential,
    magnus,
    periodic_riccati,
    step_matrices,
)
from strut.control.weights import ACCEPTABLE_PART, chosen_values, deviations
from strut.gait import Gait
from strut.optimal import Design
from strut.system import System, start

MIN_EFFECT = 1e-12
"""[1] An input that moves no state by this part of an acceptable deviation has no effect."""


def rate_derivatives(system: System, index: ca.SX | None) -> ca.Function:
    """Return a function that linearises the flow: the derivatives, by states and by inputs, of the rates per
    unit of the index; the rate of the index; and the projection that moves a deviation along the flow to the
    same index."""
    x, u = system.vector("x"), system.vector("u")
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    if index is None:
        unchanged = ca.SX.eye(x.numel())
        return system.function("rates", [ca.jacobian(flow, x), ca.jacobian(flow, u), ca.SX(1), unchanged])
    gradient = ca.jacobian(index, x)
    rate = gradient @ flow
    per_index = flow / rate
    projection = ca.SX.eye(x.numel()) - flow @ gradient / rate
    return system.function("rates", [ca.jacobian(per_index, x), ca.jacobian(per_index, u), rate, projection])


class _Linearised:
    """A motion linearised along its table, in coordinates in which acceptable deviations and inputs are
    one."""

    def __init__(self, table: MotionTable, deviation: np.ndarray) -> None:
        self.table, self.motion = table, table.motion
        self.plant, self.D = table.motion.plant, deviation
        self.derivatives = rate_derivatives(self.plant, table.index)
        self.p = start(self.plant).p
        self.weighed = np.ones(len(deviation))
        self.weighed[list(self.motion.cyclic)] = 0.0

    def at(self, piece: TablePiece, place: float) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
        """Return A, B, the rate of the index, and the weight of deviations at a place of a piece."""
        row = np.vander([place], DEGREE + 1, increasing=True) @ PLACE_BASIS
        phase = self.motion.phases[piece.phase]
        x, u = (row @ piece.x)[0] + phase.origin, (row @ piece.u)[0]
        A, B, rate, projection = (np.array(part) for part in self.derivatives(0.0, x, phase.z, u, self.p))
        scaled = (projection * self.D) / self.D[:, None]
        weight = scaled.T @ np.diag(self.weighed) @ scaled / rate.item()
        return (A * self.D) / self.D[:, None], B / self.D[:, None], rate.item(), weight

    def stretches(self, scale: np.ndarray) -> list[tuple[list[LinearStretch], np.ndarray]]:
        """Return, by phase, its stretches from place to place, and the jump at its end. scale: the acceptable
        inputs."""
        phases = []
        for number, phase in enumerate(self.motion.phases):
            rows = []
            for piece in self.table.inside_pieces(number):
                for a, b in pairwise(PLACES):
                    points = [self.at(piece, a + (b - a) * g) for g in GAUSS_POINTS]
                    rows.append(
                        LinearStretch(
                            A=(points[0][0], points[1][0]),
                            B=(points[0][1] * scale, points[1][1] * scale),
                            weight=(points[0][3], points[1][3]),
                            price=(1 / points[0][2], 1 / points[1][2]),
                            length=(piece.end - piece.begin) * (b - a),
                        )
                    )
            after = self.table.inside_pieces((number + 1) % len(self.motion.phases))[0]
            jump = self._at_same_index(after) @ phase.jump
            phases.append((rows, (jump * self.D) / self.D[:, None]))
        return phases

    def _at_same_index(self, piece: TablePiece) -> np.ndarray:
        """Return the projection that moves a deviation just after an event along the flow to where the index
        is that of the gait there: planned inputs follow the index."""
        phase = self.motion.phases[piece.phase]
        return np.array(self.derivatives(0.0, piece.x[0] + phase.origin, phase.z, piece.u[0], self.p)[3])

    def natural_inputs(self) -> np.ndarray:
        """Return the inputs which, held for a whole step, move the state after it by one acceptable
        deviation."""
        nu = self.plant.size("u")
        moved = np.zeros((len(self.D), nu))
        for stretches, jump in self.stretches(np.ones(nu)):
            for s in stretches:
                moved = (
                    exponential(magnus(s.A[0], s.A[1], s.length)) @ moved + s.length * (s.B[0] + s.B[1]) / 2
                )
            moved = jump @ moved
        sizes = np.linalg.norm(moved, axis=0)
        inputs: np.ndarray = np.where(sizes > MIN_EFFECT, 1 / np.maximum(sizes, MIN_EFFECT), 1.0)
        return inputs


def default_efforts(linear: _Linearised) -> np.ndarray:
    """Return the acceptable inputs, by default: what, held for a step, moves the state after it by as much as
    states move in a step; or `ACCEPTABLE_PART` of the largest that is planned where that is more."""
    natural, planned = linear.natural_inputs(), _planned_inputs(linear.table)
    efforts: np.ndarray = np.maximum(natural / ACCEPTABLE_PART, ACCEPTABLE_PART * planned)
    return efforts


def _planned_inputs(table: MotionTable) -> np.ndarray:
    """Return the largest sizes of planned inputs."""
    sizes: np.ndarray = np.abs(np.vstack([piece.u for piece in table.pieces if piece.inside])).max(axis=0)
    return sizes


@checked
def lqr(
    source: Gait | Design,
    *,
    deviation: Mapping[str, float] | None = None,
    effort: Mapping[str, float] | None = None,
    index: str | ca.SX = "auto",
    limits: InputLimits | None = None,
    observer: Kalman | None = None,
) -> HeldGait:
    """Hold a gait from moment to moment: u = u* - K (x - x*), with the gains K of the linear-quadratic
    regulator (LQR, varying along the step), through its impacts.

    source: a gait, or a design. deviation: the largest acceptable deviation of a state, by name and in its
        unit; by default a tenth of the largest range that a state of its unit goes through in a step. effort:
        the largest acceptable input beyond the plan, likewise; by default that which, held for a step, moves
        the state after it by ten acceptable deviations, or a tenth of the largest that is planned. Their
        squares are the weights (Bryson's rule).
    index: by what the motion is followed: 'time', counted anew from every step, or a state, an output or an
        expression that grows, or falls, all through a step; 'auto' takes the angle or length that moves most
        steadily, or time where none does, and `method` says which.
    limits: by input, the least and the largest that the motor gives, or one number for both sides: what is
        asked beyond it is cut off. By default the ranges of the machine's inputs and what a design was asked
        to keep of single inputs, all along: torque, `within`, and requirements of its own; {} for none.
    observer: what is measured and what disturbs the machine, see `Kalman`: the regulator then acts on an
        estimate of the states (LQG). None: every state is measured.
    The periodic Riccati equation is solved backwards along the step, through the derivatives of its events
    (what is left of saltation matrices where the event sets the clock), until it repeats.
    The multipliers that are returned are those of the closed loop itself. Raises ModelError for a machine
    without inputs, or whose growing modes no input moves; ValueRangeError for weights that are not positive.
    Warns (`RequirementWarning`) of what a design was asked of its inputs and the loop cannot keep, and
    (`EffortWarning`) where one acceptable deviation asks an input for more than its limits.
    """
    motion = reference_motion(source)
    expression, index_name = read_index(motion, index)
    table = motion_table(motion, expression)
    plant = motion.plant
    D = deviations(plant, table.states, deviation)
    linear = _Linearised(table, D)
    U = chosen_values(plant, "u", "effort", effort, default_efforts(linear))
    phases = linear.stretches(U)
    A, W = step_matrices(phases)
    check_controllable(A, W, plant.labels("x"), " and ".join(plant.labels("u")), plant.name)
    signals = _signals(linear, periodic_riccati(phases), U)
    estimator, quality = kalman_observer(table, observer) if observer is not None else (None, None)
    bounds = command_limits(source, motion, limits)
    law = FeedbackLaw(signals, linear_feedback(plant), limits=bounds, observer=estimator)
    loop = close_loop(table, law)
    own = {n: v for n, v in motion.gait.x0.items() if n in loop.labels("x")}
    nu, nx = plant.size("u"), plant.size("x")
    gains = np.vstack([rows[:, nu + nx :].reshape(-1, nx, nu) for rows in signals]).transpose(0, 2, 1)
    efforts, planned = (
        dict(zip(plant.labels("u"), values.tolist(), strict=True))
        for values in (largest_efforts(gains, D), _planned_inputs(table))
    )
    faults = effort_faults(efforts, planned, bounds)
    warn_of_efforts(faults, plant.name)
    unkept = unkept_requirements(source, plant)
    warn_of_unkept(unkept, plant.name)
    settings = {
        **{f"acceptable deviation of {n}": v for n, v in zip(plant.labels("x"), D.tolist(), strict=True)},
        **{f"acceptable effort of {n}": v for n, v in zip(plant.labels("u"), U.tolist(), strict=True)},
        **limit_settings(bounds),
        **(observer.settings() if observer is not None else {}),
    }
    return HeldGait(
        before=motion.gait,
        gait=find_held_gait(loop, own, motion.gait),
        method=f"{'LQR' if observer is None else 'LQG'} along the step, by {index_name}",
        settings=settings,
        inputs=tuple(q.name for q in plant.u),
        estimate=quality,
        efforts=efforts,
        effort_faults=faults,
        unkept=unkept,
    )


def linear_feedback(plant: System) -> Callable[[ca.SX, ca.SX], ca.SX]:
    """Return the law K (x* - x) from the signals x* and K."""
    nu, nx = plant.size("u"), plant.size("x")

    def feedback(signals: ca.SX, seen: ca.SX) -> ca.SX:
        return ca.reshape(signals[nx:], nu, nx) @ (signals[:nx] - seen)

    return feedback


def _signals(linear: _Linearised, solutions: list[list[np.ndarray]], U: np.ndarray) -> list[np.ndarray]:
    """Return, by piece, a row of planned inputs, states and gains at each of its places."""
    motion, table = linear.motion, linear.table
    rows: list[np.ndarray] = []
    gains: dict[int, list[np.ndarray]] = {}
    for number in range(len(motion.phases)):
        gains[number] = []
        for k, piece in enumerate(table.inside_pieces(number)):
            piece_gains = []
            for j, place in enumerate(PLACES):
                _, B, rate, _ = linear.at(piece, place)
                P = solutions[number][k * DEGREE + j]
                piece_gains.append(U[:, None] * ((B * U).T @ P * rate) / linear.D)
            gains[number].append(np.array(piece_gains))
    count = dict.fromkeys(gains, 0)
    for piece in table.pieces:
        own_gains = gains[piece.phase]
        if piece.inside:
            K = own_gains[count[piece.phase]]
            count[piece.phase] += 1
        else:  # before the gait's first moment, the first gains; past its last, those of a while before it
            K = np.repeat(own_gains[-1][:1] if count[piece.phase] else own_gains[0][:1], DEGREE + 1, axis=0)
        rows.append(np.hstack([piece.u, piece.x, K.transpose(0, 2, 1).reshape(len(K), -1)]))
    return rows


__all__ = ["lqr"]
