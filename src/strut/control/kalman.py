"""`Kalman`: the filter of Kalman and Bucy along a gait: gains by which an estimate of all states follows what
sensors read, through the impacts, from the periodic Riccati equation of the covariance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.checks import checked, positive
from strut.control.motion_table import DEGREE, PLACE_BASIS, PLACES, MotionTable, TablePiece
from strut.control.observer import Observer, sensor_expression
from strut.control.riccati import (
    GAUSS_POINTS,
    UNIT_SLACK,
    LinearStretch,
    exponential,
    magnus,
    periodic_riccati,
)
from strut.control.weights import deviations
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait.gait import spectrum
from strut.system import System, start

MIN_SIGHT = 1e-9
"""[1] A mode that sensors see by less than this part of what they see at all is not observable."""
MIN_NAMED_PART = 0.05
"""[1] Least part of a direction, of its largest, by which a state is named in messages."""
FINE_STRETCHES = 20
"""Stretches of a piece over which errors of an estimate are followed: they die out fast after an impact."""
Stretches = list[tuple[list[LinearStretch], np.ndarray]]
"""By phase, its stretches and the jump of the error of an estimate at its end."""


@checked
@dataclass(frozen=True)
class Kalman:
    """What is measured and how well, and what disturbs the machine: from these follow the gains of a filter.

    noise: what is measured, by the name of an output (see `mechanism.sense`), of a state or of a component,
        "torso_gyro[1]", and how much noise there is on it: the root of its spectral density, in the unit of
        the sensor by the root of a hertz, as data sheets of gyroscopes have it. A sensor that is read every T
        seconds with a standard deviation s has s sqrt(T). An event that ends a phase, as a landing, may be
        named, too: that its guard is zero then is known to a standard deviation, in the unit of the guard.
    disturbance: by the name of a state or of an input, the root of the spectral density of what disturbs it:
        the unit of the state by the root of a second; for an input, its unit by the root of a hertz.
    Nothing has a default: what is not named is not measured, and not disturbed.
    """

    noise: Mapping[str, float]
    disturbance: Mapping[str, float]

    def __post_init__(self) -> None:
        for word, values in (("noise", self.noise), ("disturbance", self.disturbance)):
            if not values:
                what = "sensors" if word == "noise" else "states or inputs"
                raise ModelError(
                    f"the {word} of a Kalman filter names nothing: name {what}, and how large it is"
                )
            for name, value in values.items():
                positive(f"{word} of '{name}'", value)

    def settings(self) -> dict[str, float]:
        """Return the numbers by name, for reports."""
        return {
            **{f"noise of {name}": float(value) for name, value in self.noise.items()},
            **{f"disturbance of {name}": float(value) for name, value in self.disturbance.items()},
        }


@dataclass(frozen=True)
class EstimateQuality:
    """How well a filter estimates the states of a machine.

    sensors: what it is made of. multipliers: by how much errors of the estimate grow in a step: with those of
    the regulator, they are those of the whole loop (separation principle). deviations: by state, the root
    mean square over a step of the standard deviation of its error, in its unit.
    """

    sensors: tuple[str, ...]
    multipliers: np.ndarray = field(repr=False)
    deviations: Mapping[str, float]


def kalman_observer(table: MotionTable, kalman: Kalman) -> tuple[Observer, EstimateQuality]:
    """Return what estimates the states of a machine along its motion, and how well.

    Raises ModelError where something that does not die out is not seen by any sensor: it names the
    directions.
    """
    motion = _MeasuredMotion(table, kalman)
    phases = motion.stretches()
    _check_observable(phases, motion)
    covariances = _periodic_covariance(phases)
    signals = motion.signals(covariances)
    observer = Observer(table.motion.plant, motion.sensors, motion.landings, signals)
    multipliers = spectrum(motion.error_step(signals))[0]
    spread = np.mean([np.diag(S) for each in covariances for S in each], axis=0)
    labels = [table.motion.plant.labels("x")[k] for k in motion.places]
    quality = EstimateQuality(
        sensors=(*motion.sensors, *motion.landings),
        multipliers=multipliers,
        deviations=dict(zip(labels, (np.sqrt(spread) * motion.D).tolist(), strict=True)),
    )
    return observer, quality


class _MeasuredMotion:
    """A motion linearised along its table, with its sensors, in coordinates in which acceptable deviations
    are one, and without states that merely say how far it has come."""

    def __init__(self, table: MotionTable, kalman: Kalman) -> None:
        self.table, self.motion, plant = table, table.motion, table.motion.plant
        self.places = [k for k in range(plant.size("x")) if k not in self.motion.cyclic]
        self.D = deviations(plant, table.states, None)[self.places]
        endings = {phase.crossed for phase in self.motion.phases}
        sensor_names = list(plant.labels("outputs"))
        sensor_names += [label for label in plant.labels("x") if label not in sensor_names]
        choices = [*sensor_names, *sorted(endings)]
        for name in kalman.noise:
            if name not in choices:
                raise UnknownNameError(
                    f"'{name}' is no sensor of '{plant.name}', an output, a state or a component of one, nor "
                    f"an event that ends a phase of its gait: {did_you_mean(name, choices)}"
                )
        self.sensors = tuple(n for n in kalman.noise if n in sensor_names)
        self.landings = tuple(n for n in kalman.noise if n not in sensor_names)
        self.noise = np.array([kalman.noise[n] for n in self.sensors])
        self.landing_noise = {n: kalman.noise[n] for n in self.landings}
        self.by_state, self.by_input = _disturbances(plant, kalman.disturbance)
        self.derivatives = _sensor_derivatives(plant, self.sensors, table.index)
        self.p = start(plant).p

    def at(self, piece: TablePiece, place: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return A, C over the noise, the intensity W of disturbances, and the rate of the index, at a place
        of a piece."""
        row = np.vander([place], DEGREE + 1, increasing=True) @ PLACE_BASIS
        phase = self.motion.phases[piece.phase]
        x, u = (row @ piece.x)[0] + phase.origin, (row @ piece.u)[0]
        A, B, C, rate = (np.array(part) for part in self.derivatives(0.0, x, phase.z, u, self.p))
        progress = [(n, k) for k in self.motion.cyclic for n in self.sensors if C[self.sensors.index(n), k]]
        if progress:
            raise ModelError(
                f"sensor '{progress[0][0]}' of '{self.motion.plant.name}' reads how far it has come "
                f"('{self.motion.plant.labels('x')[progress[0][1]]}'), which does not repeat: measure "
                f"angles, rates, or places from the foot that stands"
            )
        places, D = self.places, self.D
        W = np.diag(self.by_state**2) + (B * self.by_input) @ (B * self.by_input).T
        return (
            A[np.ix_(places, places)] * D / D[:, None],
            C[:, places] * D / self.noise[:, None],
            W[np.ix_(places, places)] / np.outer(D, D),
            rate.item(),
        )

    def stretches(self) -> Stretches:
        """Return, by phase, its stretches as the filter sees them, and the jump of the error at its end: the
        derivative of the reset, as both are reset at one moment. A landing that is measured is a stretch of
        length one in which nothing moves."""
        phases: Stretches = []
        n = len(self.places)
        for number, phase in enumerate(self.motion.phases):
            rows = []
            for piece in self.table.inside_pieces(number):
                for a, b in pairwise(PLACES):
                    first, second = (self.at(piece, a + (b - a) * g) for g in GAUSS_POINTS)
                    rows.append(
                        LinearStretch(
                            A=(first[0] / first[3], second[0] / second[3]),
                            B=(first[1].T, second[1].T),
                            weight=(first[2] / first[3], second[2] / second[3]),
                            price=(first[3], second[3]),
                            length=(piece.end - piece.begin) * (b - a),
                        )
                    )
            if phase.crossed in self.landings:
                guard = (phase.guard[self.places] * self.D / self.landing_noise[phase.crossed])[:, None]
                still = np.zeros((n, n))
                rows.append(LinearStretch((still, still), (guard, guard), (still, still), (1.0, 1.0), 1.0))
            reset = phase.reset[np.ix_(self.places, self.places)] * self.D / self.D[:, None]
            phases.append((rows, reset))
        return phases

    def signals(self, covariances: list[list[np.ndarray]]) -> list[np.ndarray]:
        """Return, by piece, a row of gains at each of its places: a column for each sensor and landing."""
        nx = self.motion.plant.size("x")
        # the Kalman gain S C' / noise, in the units of states and sensors, at every place inside the gait
        gains: dict[int, list[np.ndarray]] = {}
        landing_gains: dict[int, np.ndarray] = {}
        for number, phase in enumerate(self.motion.phases):
            own = self.table.inside_pieces(number)
            gains[number] = []
            for k, piece in enumerate(own):
                rows = []
                for j, place in enumerate(PLACES):
                    C = self.at(piece, place)[1]
                    L = np.zeros((nx, len(self.sensors)))
                    L[self.places] = (
                        self.D[:, None] * (covariances[number][k * DEGREE + j] @ C.T) / self.noise
                    )
                    rows.append(L.reshape(-1, order="F"))
                gains[number].append(np.array(rows))
            # a landing is a measurement at one instant: the gain of a discrete Kalman filter
            landing_gains[number] = np.zeros((nx, len(self.landings)))
            if phase.crossed in self.landings:
                S, g = covariances[number][len(own) * DEGREE], phase.guard[self.places] * self.D
                gain = S @ g / (g @ S @ g + self.landing_noise[phase.crossed] ** 2)
                landing_gains[number][self.places, self.landings.index(phase.crossed)] = self.D * gain
        # a table also has pieces beyond the gait: they take the gains at its ends
        rows_by_piece, count = [], dict.fromkeys(gains, 0)
        for piece in self.table.pieces:
            own_gains = gains[piece.phase]
            if piece.inside:
                L = own_gains[count[piece.phase]]
                count[piece.phase] += 1
            else:  # before the gait's first moment, the first gains; past its last, the last
                L = np.repeat(
                    own_gains[-1][-1:] if count[piece.phase] else own_gains[0][:1], DEGREE + 1, axis=0
                )
            landing = landing_gains[piece.phase].reshape(1, -1, order="F")
            rows_by_piece.append(np.hstack([L, np.repeat(landing, DEGREE + 1, axis=0)]))
        return rows_by_piece

    def error_step(self, signals: list[np.ndarray]) -> np.ndarray:
        """Return the derivative of the error of the estimate after a step by that before it, with the gains
        of a table."""
        nx, count, places = self.motion.plant.size("x"), len(self.sensors), self.places
        E = np.eye(len(places))
        for number, phase in enumerate(self.motion.phases):
            rows = np.zeros(0)
            for piece, values in zip(self.table.pieces, signals, strict=True):
                if piece.phase != number or not piece.inside:
                    continue
                for a, b in pairwise(np.linspace(0, 1, FINE_STRETCHES + 1)):
                    matrices = []
                    for place in (a + (b - a) * g for g in GAUSS_POINTS):
                        A, C, _, rate = self.at(piece, place)
                        rows = (np.vander([place], DEGREE + 1, increasing=True) @ PLACE_BASIS @ values)[0]
                        L = rows[: nx * count].reshape(nx, count, order="F")[places] / self.D[:, None]
                        matrices.append((A - (L * self.noise) @ C) / rate)
                    E = exponential(magnus(matrices[0], matrices[1], (piece.end - piece.begin) * (b - a))) @ E
            for k, name in enumerate(self.landings):
                if phase.crossed == name:
                    gain = rows[nx * (count + k) : nx * (count + k + 1)][places] / self.D
                    E = E - np.outer(gain, (phase.guard[places] * self.D) @ E)
            E = (phase.reset[np.ix_(places, places)] * self.D / self.D[:, None]) @ E
        return E


def _sensor_derivatives(plant: System, sensors: tuple[str, ...], index: ca.SX | None) -> ca.Function:
    """Return a function that linearises the flow and what sensors read: A, B, C and the rate of the index."""
    x, u = plant.vector("x"), plant.vector("u")
    flow = ca.vertcat(*[plant.flow[q.name] for q in plant.x])
    readings = ca.vertcat(*[sensor_expression(plant, name) for name in sensors], ca.SX(0, 1))
    rate = ca.SX(1) if index is None else ca.jacobian(index, x) @ flow
    return plant.function(
        "sensed", [ca.jacobian(flow, x), ca.jacobian(flow, u), ca.jacobian(readings, x), rate]
    )


def _disturbances(plant: System, given: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return how strongly every state and every input is disturbed."""
    labels = {group: plant.labels(group) for group in "xu"}
    values = {group: np.zeros(len(names)) for group, names in labels.items()}
    for name, value in given.items():
        group = next((g for g, names in labels.items() if name in names), None)
        if group is None:
            raise UnknownNameError(
                f"a disturbance of '{name}' is given, which is no state or input of '{plant.name}': "
                f"{did_you_mean(name, [*labels['x'], *labels['u']])}"
            )
        values[group][labels[group].index(name)] = value
    return values["x"], values["u"]


def _check_observable(phases: Stretches, motion: _MeasuredMotion) -> None:
    """Raise ModelError where an error of the estimate that does not die out by itself is seen by no sensor:
    the test of Popov, Belevitch and Hautus for detectability, over a whole step."""
    n = len(motion.places)
    A, seen = np.eye(n), np.zeros((n, n))
    for stretches, jump in reversed(phases):
        A, seen = A @ jump, jump.T @ seen @ jump
        for s in reversed(stretches):
            flow = exponential(magnus(s.A[0], s.A[1], s.length))
            C = (s.B[0] + s.B[1]).T / 2
            A, seen = A @ flow, flow.T @ seen @ flow + s.length * C.T @ C * 2 / (s.price[0] + s.price[1])
    values, modes = np.linalg.eig(A)
    total = max(float(np.trace(seen)), 1e-300)
    labels = [motion.motion.plant.labels("x")[k] for k in motion.places]
    hidden = []
    for value, mode in zip(values, modes.T, strict=True):
        if abs(value) < 1 - UNIT_SLACK:
            continue
        direction = mode / np.linalg.norm(mode)
        if float(np.real(direction.conj() @ seen @ direction)) <= MIN_SIGHT**2 * total:
            parts = np.real(direction * motion.D)
            parts = parts / np.abs(parts).max()
            named = [
                f"{parts[k]:+.2g} {labels[k]}"
                for k in np.argsort(-np.abs(parts))
                if abs(parts[k]) > MIN_NAMED_PART
            ]
            hidden.append(f"{' '.join(named)} (multiplier {abs(value):.4g})")
    if hidden:
        sensors = " and ".join((*motion.sensors, *motion.landings))
        raise ModelError(
            f"the state of '{motion.motion.plant.name}' is not observable from {sensors}: an error along "
            f"{'; along '.join(hidden)} does not die out and is not seen. Another sensor is needed in `noise`"
        )


def _periodic_covariance(phases: Stretches) -> list[list[np.ndarray]]:
    """Return, by phase, the covariance of the error of the estimate at the beginning of every stretch and at
    the end of the last: the solution of the filter's Riccati equation that repeats. It is the regulator's,
    with time reversed and matrices transposed (duality)."""
    dual = []
    for number in reversed(range(len(phases))):
        stretches, before = phases[number][0], phases[number - 1][1]
        turned = [
            LinearStretch(
                A=(s.A[1].T, s.A[0].T),
                B=(s.B[1], s.B[0]),
                weight=(s.weight[1], s.weight[0]),
                price=(s.price[1], s.price[0]),
                length=s.length,
            )
            for s in reversed(stretches)
        ]
        dual.append((turned, before.T))
    begin = np.eye(len(phases[0][1]))  # from zero, what is not disturbed would never be estimated
    return [each[::-1] for each in reversed(periodic_riccati(dual, begin))]


__all__ = ["EstimateQuality", "Kalman", "kalman_observer"]
