"""`Observer`: an estimate of every state of a machine from what its sensors read (Luenberger observer), as a
part of a `System`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states, opposite_events
from strut.system import Discrete, Disturbance, HeldDisturbance, Param, State, System, start, sx

MAX_READING = 1e12
"""Largest reading, in the unit of its sensor, that is believed. One beyond it, or that is no number, is left
out: the estimate then follows the model."""
SAMPLE_POINTS = 5
"""Random states at which it is checked whether a discrete state depends on where the machine is; and, for
each sensor and one more, at which its mirror image is fitted."""
IMAGE_SLACK = 1e-8
"""[1] Difference, relative to 1 + their size, up to which two readings are the same."""


@dataclass(frozen=True, eq=False)
class Observer:
    """A model of a machine that runs beside it, and is corrected by what sensors read.

    plant: the machine, with its inputs open. sensors: names of outputs or states that are measured. landings:
    names of events that are measured: that their guard is zero then. signals: by piece of a table, a row of
    gains at each place of its polynomial: a column for each sensor, and then one for each landing.
    Of the plant, states, discrete states that depend on where it is, and parameters have copies that the
    estimate is made of; flags of contact are taken as known, and so are the moments of events.
    """

    plant: System
    sensors: tuple[str, ...]
    landings: tuple[str, ...]
    signals: list[np.ndarray]
    states: tuple[State, ...] = field(init=False)
    discrete: dict[str, Discrete] = field(init=False)
    parameters: dict[str, Param] = field(init=False)
    errors: tuple[Disturbance, ...] = field(init=False)

    def __post_init__(self) -> None:
        plant, begin, placed = self.plant, start(self.plant), placed_discrete_states(self.plant)
        copies = {
            "states": tuple(
                State(estimate_name(q.name), begin.x[plant.slices("x")[q.name]], q.unit) for q in plant.x
            ),
            "discrete": {
                q.name: Discrete(estimate_name(q.name), begin.z[plant.slices("z")[q.name]], q.unit)
                for q in plant.z
                if q.name in placed
            },
            "parameters": {
                q.name: Param(f"{q.name}_believed", q.value, q.unit, q.bounds)
                for q in plant.p
                if not isinstance(q, HeldDisturbance)
            },
            "errors": tuple(
                Disturbance(error_name(name), 0.0, sensor_unit(plant, name), description="of what is read")
                for name in self.sensors
            ),
        }
        for name, value in copies.items():
            object.__setattr__(self, name, value)

    @cached_property
    def images(self) -> np.ndarray:
        """What is read with left and right exchanged: a matrix by which readings are multiplied."""
        return sensor_images(self.plant, self.sensors)

    @property
    def state_vector(self) -> ca.SX:
        """The estimated states, one below the other."""
        return ca.vertcat(*[q.sym for q in self.states])

    def believe(self, expressions: list[ca.SX], states: ca.SX | None = None) -> list[ca.SX]:
        """Return expressions of the plant as the estimate has them. states: in the place of its own."""
        plant = self.plant
        old, new = [plant.vector("x")], [self.state_vector if states is None else states]
        for q in (*plant.z, *plant.p):
            copy = self.discrete.get(q.name) or self.parameters.get(q.name)
            if copy is not None:
                old, new = [*old, q.sym], [*new, copy.sym]
            elif isinstance(q, HeldDisturbance):  # nobody tells the estimate of a push
                old, new = [*old, q.sym], [*new, ca.SX(q.value)]
        return list(ca.substitute(expressions, old, new))

    def part(self) -> System:
        """Return the estimate as a part of a loop; what moves it is `rates`, which other parts feed."""
        symbols = [q.sym for q in self.errors]
        images = self.images @ ca.vertcat(*symbols) if self.plant.symmetry else None
        errors = {} if images is None else {q.name: images[k] for k, q in enumerate(self.errors)}
        return System(
            "observer",
            x=self.states,
            flow={q: ca.SX.zeros(q.size) for q in self.states},
            z=tuple(self.discrete.values()),
            u=self.errors,
            p=tuple(self.parameters.values()),
            symmetry={**self._symmetry(), **errors},
        )

    def rates(self, gains: ca.SX, mirrored: ca.SX | None) -> dict[str, ca.SX]:
        """Return what moves the estimate, by name: the plant's flow, corrected by what is read and was not
        expected. gains: a row of `signals`. mirrored: 1 in a step of the mirror image."""
        plant, nx, count = self.plant, self.plant.size("x"), len(self.sensors)
        readings = ca.vertcat(*[sensor_expression(plant, name) for name in self.sensors])
        flow, expected = self.believe([ca.vertcat(*[sx(plant.flow[q.name]) for q in plant.x]), readings])
        read = readings + ca.vertcat(*[q.sym for q in self.errors])
        # a reading that is no number compares as false, and then corrects nothing
        innovation = ca.if_else(ca.fabs(read) <= MAX_READING, read - expected, 0)
        by_sensor = ca.reshape(gains[: nx * count], nx, count)
        correction = by_sensor @ innovation
        if mirrored is not None:
            images = by_sensor @ (self.images @ innovation)
            correction = ca.if_else(mirrored, self._mirror(images), correction)
        moved = flow + correction
        return {estimate_name(q.name): moved[plant.slices("x")[q.name]] for q in plant.x}

    def with_resets(self, loop: System, gains: ca.SX, mirrored: ca.SX | None) -> System:
        """Return a loop whose events reset the estimate, too, at the moment at which they happen. A landing
        that is measured corrects it first, as its guard is zero then."""
        plant, nx = self.plant, self.plant.size("x")
        own = {e.name for e in plant.events}
        events = []
        for event in loop.events:
            if event.name not in own:
                events.append(event)
                continue
            before, measured_landing = self.state_vector, False
            for k, landing in enumerate(self.landings):
                if event.name in (landing, *opposite_events(plant, landing)):
                    first = nx * (len(self.sensors) + k)
                    guard = self.believe([sx(event.guard)])[0]
                    correction = -gains[first : first + nx] * guard
                    if mirrored is not None:
                        correction = ca.if_else(mirrored, self._mirror(correction), correction)
                    before, measured_landing = before + correction, True
            places = plant.slices("x")
            changed = [q for q in (*plant.x, *plant.z) if q.name in event.reset]
            copied = [q for q in changed if q.name in places or q.name in self.discrete]
            after = self.believe([sx(event.reset[q.name]) for q in copied], before)
            resets = {estimate_name(q.name): e for q, e in zip(copied, after, strict=True)}
            unchanged = {estimate_name(q.name): before[places[q.name]] for q in plant.x if q not in changed}
            corrected = unchanged if measured_landing else {}
            reset = {**{k: sx(v) for k, v in event.reset.items()}, **corrected, **resets}
            events.append(replace(event, reset=reset))
        return loop.replace(events=tuple(events))

    def _mirror(self, change: ca.SX) -> ca.SX:
        """Return a change of the states of the mirror image as one of the states themselves: by the
        derivative of the exchange where the image is, as exchanging twice changes nothing."""
        image = self.believe([mirrored_states(self.plant)])[0]
        x = self.state_vector
        return ca.substitute([ca.jacobian(image, x)], [x], [image])[0] @ change

    def _symmetry(self) -> dict[str, ca.SX]:
        """Return the images of the estimates when left and right are exchanged."""
        named = [q.name for q in (*self.plant.x, *self.plant.z) if q.name in self.plant.symmetry]
        copied = [n for n in named if n in self.plant.slices("x") or n in self.discrete]
        images = self.believe([sx(self.plant.symmetry[n]) for n in copied])
        return {estimate_name(n): e for n, e in zip(copied, images, strict=True)}


def estimate_name(name: str) -> str:
    """Return the name of the estimate of a state."""
    return f"{name}_estimate"


def sensor_expression(plant: System, name: str) -> ca.SX:
    """Return what a sensor reads: an output, a state or a component of one."""
    places = plant.slices("x")
    if name in plant.outputs:
        return sx(plant.outputs[name])
    if name in plant.labels("outputs"):
        whole = name.split("[")[0]
        own = [label for label in plant.labels("outputs") if label.split("[")[0] == whole]
        return ca.vec(sx(plant.outputs[whole]))[own.index(name)]
    if name in places:
        return plant.vector("x")[places[name]]
    return plant.vector("x")[plant.labels("x").index(name)]


def sensor_unit(plant: System, name: str) -> str:
    """Return the unit of what a sensor reads."""
    units = {label: q.unit for q in plant.x for label in (q.name, *q.labels)}
    outputs = plant.output_units
    return outputs.get(name, outputs.get(name.split("[")[0], units.get(name, "")))


def error_name(sensor: str) -> str:
    """Return the name of the input that is the error of a sensor: SENSOR_error, of a component
    SENSOR_1_error."""
    return f"{sensor.replace('[', '_').replace(',', '_').replace(']', '')}_error"


def placed_discrete_states(plant: System) -> frozenset[str]:
    """Return the names of discrete states that the estimate has its own of: those that an event sets from
    where the machine is, as a foothold, or from another such one; and what lifts it over the ground. Flags
    are none of them: their derivative is zero."""
    placed = {plant.walk.lift} if plant.walk is not None and plant.walk.lift in plant.slices("z") else set()
    resets = {q.name: [sx(e.reset[q.name]) for e in plant.events if q.name in e.reset] for q in plant.z}
    x, random, begin = plant.vector("x"), np.random.default_rng(1), start(plant)
    for name, values in resets.items():
        if not values:
            continue
        slopes = plant.function("slopes", [ca.jacobian(ca.vertcat(*values), x)])
        for _ in range(SAMPLE_POINTS):
            at = begin.x + 0.1 * random.standard_normal(len(begin.x))
            numbers = np.array(slopes(0.0, at, begin.z, begin.u, begin.p))
            if np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0) > 0:
                placed.add(name)
    while True:  # what is set from one of these is one, too
        symbols = ca.vertcat(*[q.sym for q in plant.z if q.name in placed], ca.SX(0, 1))
        more = {n for n, values in resets.items() if any(ca.depends_on(v, symbols) for v in values)} - placed
        if not more:
            return frozenset(placed)
        placed |= more


def sensor_images(plant: System, sensors: tuple[str, ...]) -> np.ndarray:
    """Return what sensors read with left and right exchanged, as a matrix by which readings are multiplied.
    Raises ModelError for a sensor whose image is no sum of what they read."""
    readings = ca.vertcat(*[sensor_expression(plant, name) for name in sensors])
    images = ca.vertcat(*[sx(plant.symmetry.get(q.name, q.sym)) for q in plant.u], ca.SX(0, 1))
    exchanged = ca.substitute(
        [readings],
        [plant.vector("x"), plant.vector("z"), plant.vector("u")],
        [mirrored_states(plant), mirrored_states(plant, "z"), images],
    )[0]
    both = plant.function("readings", [readings, exchanged])
    random, begin = np.random.default_rng(1), start(plant)
    rows = []
    for _ in range(SAMPLE_POINTS * (len(sensors) + 1)):
        x = begin.x + 0.1 * random.standard_normal(len(begin.x))
        u = begin.u + random.standard_normal(len(begin.u))
        rows.append([np.array(each)[:, 0] for each in both(0.0, x, begin.z, u, begin.p)])
    own, image = (np.array([row[k] for row in rows]) for k in (0, 1))
    matrix: np.ndarray = np.linalg.lstsq(own, image, rcond=None)[0].T
    wrong = np.abs(image - own @ matrix.T) > IMAGE_SLACK * (1 + np.abs(image))
    for k in np.flatnonzero(wrong.any(axis=0)):
        raise ModelError(
            f"sensor '{sensors[k]}' of '{plant.name}' has no mirror image in {', '.join(sensors)}: every "
            f"other step of its gait is the mirror image of the one before, so name the sensor of the other "
            f"side, too"
        )
    matrix[np.abs(matrix) < IMAGE_SLACK] = 0.0
    return matrix


__all__ = ["Observer", "estimate_name", "sensor_expression", "sensor_unit"]
