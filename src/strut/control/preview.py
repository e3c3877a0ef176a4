"""ZMP preview control (Kajita et al. 2003): how a centre of mass must move so that the zero-moment point
(ZMP) follows where the feet will be.

The cart-table model: a mass at constant height, whose jerk is the input; its ZMP is x - (height / g) x''. As
the mass must begin to move before the ZMP does, the controller looks ahead: an optimal servo (LQI) whose
feed-forward weighs the references to come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked, integer, number_array, positive
from strut.control.inverted_pendulum import GRAVITY
from strut.control.riccati import discrete_riccati
from strut.errors import ValueRangeError

WHOLE_SLACK = 1e-6
"""[1] How far a number of samples may be from a whole one, relative: rounding."""
MAX_SAMPLES = 1_000_000
"""Samples of a horizon or of a reference, at most."""
HORIZON_RATES = 10.0
"""[1] How many times 1 / w the controller looks ahead unless told otherwise: what comes later counts by
e^-10."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class ZmpPreview:
    """A preview controller of a cart-table.

    height: of the mass [m]. every: period of its samples [s]. horizon: samples that it looks ahead; as many
        as matter unless given.
    error_weight: of squared errors of the ZMP, relative to squared changes of the jerk (`jerk_weight`): the
        larger their ratio, the closer the ZMP is followed. g: [m/s^2].
    """

    height: float
    every: float = 0.005
    horizon: int = 0
    error_weight: float = 1.0
    jerk_weight: float = 1e-6
    g: float = GRAVITY
    state_gain: np.ndarray = field(init=False, repr=False)
    integral_gain: float = field(init=False, repr=False)
    preview_gains: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, unit in (
            ("height", "m"),
            ("every", "s"),
            ("error_weight", ""),
            ("jerk_weight", ""),
            ("g", "m/s^2"),
        ):
            positive(f"{name} of the preview controller", getattr(self, name), unit)
        integer("horizon of the preview controller", self.horizon, 0)
        if self.horizon == 0:
            look = HORIZON_RATES * (self.height / self.g) ** 0.5
            object.__setattr__(self, "horizon", int(min(np.ceil(look / self.every), 10.0 * MAX_SAMPLES)))
        if self.horizon > MAX_SAMPLES:
            raise ValueRangeError(
                f"the preview controller would look {self.horizon} samples ahead: at most {MAX_SAMPLES} are "
                f"allowed; take a longer period `every` (it is {self.every:g} s) or a shorter horizon"
            )
        A, b, c = self.matrices
        # Errors and changes of the state are the state, changes of the jerk the input: an integrator comes
        # of it.
        F = np.vstack([c @ A, A])
        whole = np.hstack([np.eye(4, 1), F])
        push = np.vstack([c @ b, b])
        Q = np.zeros((4, 4))
        Q[0, 0] = self.error_weight
        R = np.array([[self.jerk_weight]])
        P = discrete_riccati(whole, push, Q, R)
        inner = (R + push.T @ P @ push).item()
        K = (push.T @ P @ whole) / inner
        closed = whole - push @ K
        object.__setattr__(self, "integral_gain", float(K[0, 0]))
        object.__setattr__(self, "state_gain", K[0, 1:].copy())
        gains, ahead = np.empty(self.horizon), P @ np.eye(4, 1)
        for k in range(self.horizon):  # of the reference k + 1 samples ahead
            gains[k] = (push.T @ ahead).item() / inner
            ahead = closed.T @ ahead
        object.__setattr__(self, "preview_gains", gains)

    @property
    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, b and c of the cart-table: place, speed and acceleration over a sample of constant jerk, and the
        ZMP of them."""
        T = self.every
        A = np.array([[1, T, T**2 / 2], [0, 1, T], [0, 0, 1]])
        return A, np.array([[T**3 / 6], [T**2 / 2], [T]]), np.array([[1, 0, -self.height / self.g]])

    def stepped_zmp(self, places: Any, step_time: float) -> np.ndarray:
        """A reference of the ZMP as of the function `stepped_zmp`, sampled as this controller samples."""
        return stepped_zmp(places, step_time, self.every)

    def plan(self, zmp: Any, start: Any = None) -> CartMotion:
        """The motion of the mass whose ZMP follows a reference.

        zmp: the reference [m], one number per sample of `every` seconds; the last one is kept after it. In
            space, a row of x and y per sample: each direction is planned by itself.
        start: place, speed and acceleration of the mass [m, m/s, m/s^2]; in space a row of these for x and
            one for y, and at rest at the first reference without any given.
        """
        if getattr(zmp, "every", self.every) != self.every:
            raise ValueRangeError(
                f"the reference of the ZMP is sampled every {zmp.every:g} s and the preview controller "
                f"samples every {self.every:g} s: make it with its own `stepped_zmp(places, step_time)`"
            )
        reference = number_array("the reference of the ZMP", zmp, axes=(1, 2))
        if reference.ndim == 2:
            return self._plan_in_space(reference, start)
        state = number_array("the start of the mass", (0.0, 0.0, 0.0) if start is None else start, axes=(1,))
        if not len(reference) or not np.isfinite(reference).all():
            raise ValueRangeError("the reference of the ZMP must be finite numbers, one or more")
        if state.shape != (3,) or not np.isfinite(state).all():
            raise ValueRangeError(
                f"the start of the mass has {state.size} numbers: give place, speed and acceleration"
            )
        A, b, c = self.matrices
        changes = np.diff(np.concatenate([reference, np.full(self.horizon + 1, reference[-1])]))
        states = np.empty((len(reference), 3))
        x, before, jerk = state, state, 0.0  # it begins at rest: nothing has changed yet
        for k in range(len(reference)):
            states[k] = x
            error = (c @ x).item() - reference[k]
            jerk += float(self.preview_gains @ changes[k : k + self.horizon])
            jerk -= self.integral_gain * error + float(self.state_gain @ (x - before))
            x, before = A @ x + b[:, 0] * jerk, x
        return CartMotion(self.every * np.arange(len(reference)), states, states @ c[0], reference)

    def _plan_in_space(self, reference: np.ndarray, start: Any) -> CartMotion:
        """The motion of the mass along x and y, each planned by itself."""
        if reference.shape[1] != 2 or not len(reference):
            raise ValueRangeError(
                f"the reference of the ZMP has the shape {reference.shape}: in space, rows of x and y are "
                f"needed"
            )
        rest = np.column_stack([reference[0], np.zeros((2, 2))])
        begin = rest if start is None else number_array("the start of the mass", start, axes=(2,))
        if begin.shape != (2, 3):
            raise ValueRangeError(
                f"the start of the mass has the shape {begin.shape}: in space, place, speed and acceleration "
                f"are needed of x and of y, two rows of three numbers"
            )
        along, across = (self.plan(np.asarray(reference[:, k]), begin[k]) for k in (0, 1))
        return CartMotion(
            t=along.t,
            states=np.stack([along.states, across.states], axis=-1),
            zmp=np.column_stack([along.zmp, across.zmp]),
            reference=reference,
        )


@dataclass(frozen=True, eq=False)
class CartMotion:
    """A planned motion of the mass. t: [s]. states: place, speed, acceleration, a row per sample. zmp: of
    them, and its reference [m]. In space each of these numbers is a pair, x and y: states[k, 0] is where the
    mass is at sample k."""

    t: np.ndarray
    states: np.ndarray
    zmp: np.ndarray
    reference: np.ndarray


class SampledReference(np.ndarray):
    """Numbers that are sampled every `every` seconds, as `stepped_zmp` gives them; what is made of them is
    a plain array again."""

    every: float

    def __array_wrap__(self, array: np.ndarray, *rest: Any) -> np.ndarray:  # type: ignore[override]  # its stub has one signature for each version of NumPy
        return np.asarray(array)


@checked
def stepped_zmp(places: Any, step_time: float, every: float) -> np.ndarray:
    """A reference of the ZMP that stays at each of the places [m] for step_time [s]; one number every so many
    seconds. places: numbers, or in space rows of x and y."""
    positive("step_time", step_time, "s")
    positive("every", every, "s")
    foot_places = number_array("the places of the feet", places, axes=(1, 2))
    if not np.isfinite(foot_places).all():
        raise ValueRangeError("the places of the feet must be finite numbers [m]")
    if not step_time / every * max(len(foot_places), 1) <= MAX_SAMPLES:
        raise ValueRangeError(
            f"a step of {step_time:g} s every {every:g} s has too many samples: at most "
            f"{MAX_SAMPLES} are allowed; take a longer period `every`"
        )
    count = round(step_time / every)
    if not abs(count - step_time / every) < WHOLE_SLACK * max(count, 1):
        raise ValueRangeError(
            f"a step of {step_time:g} s is {step_time / every:.6g} samples of {every:g} s: a whole "
            f"number of samples is needed"
        )
    reference = np.repeat(foot_places, count, axis=0).view(SampledReference)
    reference.every = float(every)
    return reference


__all__ = ["CartMotion", "ZmpPreview", "stepped_zmp"]
