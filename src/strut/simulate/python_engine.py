"""Runs in Python: for machines without a C compiler, and for stiff systems through SciPy.

The same meaning as the C runtime, function by function: strut_run.h here, strut_events.h here and in
event_location.py and accumulation.py, strut_delay.h in delay_history.py; the tests run both on the same
cases. Slow, and meant to be read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from strut.codegen import Lowered
from strut.simulate.accumulation import Accumulation
from strut.simulate.delay_history import DelayHistory
from strut.simulate.event_location import LOST_CROSSING, NO_CROSSING, GuardReading, first_crossing
from strut.simulate.lowered_model import LoweredModel, ModelPoint
from strut.simulate.methods import MACHINE_EPSILON, MULTISTEP_SLACK, Stepper, StiffStepper, Trial, first_step
from strut.simulate.options import ADAPTIVE, FIXED, STIFF, Options
from strut.simulate.random import Stream
from strut.simulate.record import (
    DONE,
    MAX_STEPS,
    NOT_FINITE,
    RUNNING,
    TERMINAL,
    TOO_SMALL,
    ZENO,
    Raw,
    kind_of,
    shapes,
)
from strut.simulate.step_size import StepSize, StepTimes
from strut.system import Start

MAX_JUMPS_AT_ONCE = 256
"""Jumps at one instant, beyond which they accumulate there."""
MIN_NORMAL_NUMBER = float(np.finfo(float).tiny)
"""The smallest ordinary number."""
TIME_SLACK = 8 * MACHINE_EPSILON
"""Relative difference of times that are one."""
STEP_SLACK = 1e3 * MACHINE_EPSILON
"""Relative difference of step lengths, or of a clock's ticks, that are one."""


class Engine:
    """One run, advanced piece by piece."""

    def __init__(self, low: Lowered, options: Options, start: Start, begin: float, seed: int) -> None:
        self.low, self.options = low, options
        self.model = LoweredModel(low, powers=options.ledger)
        self.nx, self.width = self.model.nx, self.model.width
        self.t = begin
        self.x = np.concatenate([start.x, np.zeros(self.width - self.nx)])
        self.z, self.u, self.p = start.z.copy(), start.u.copy(), start.p
        self.stream = Stream(seed)
        self.status, self.cause, self.culprit = RUNNING, -1, -1
        self.steps = self.rejected = self.flows = self.jumps = 0
        self.step_size, self.h0 = StepSize(options.method), 0.0
        self.times = StepTimes(begin, options.step or 0.0, counted=options.method in FIXED)
        self.at_this_instant, self.may_shrink = 0, False
        self.chunks: dict[str, list[Any]] = {n: [] for n in shapes(0, 0, low.sizes)}
        self.energy_begin = float(self._energies().sum())
        self.every, self.offset = (np.array(v).reshape(-1) for v in low.functions["clocks"](self.p))
        self.tick = np.ceil((begin - self.offset) / self.every - STEP_SLACK).astype(int)
        self.delay = np.array(low.functions["delays"](self.p)).reshape(-1)
        self.history = DelayHistory(
            self.delay, begin, self._signals, lambda then: self.model.call("past", then, self.p)
        )
        self.stepper: Stepper | StiffStepper
        if options.method in STIFF:
            longest = min([options.max_step, *self.delay])
            self.stepper = StiffStepper(self.rate, self._jacobian, options, self.nx, longest)
        else:
            self.stepper = Stepper(self.rate, options, self.nx, low.tables)
        ng = low.sizes["NG"]
        self.pending = np.zeros(low.sizes["NJ"], dtype=bool)
        self.accumulation = Accumulation(ng, options.zeno, options.max_steps)
        self.g = np.zeros(ng)
        self.g_size = np.zeros(ng)
        self.holds = np.zeros(ng, dtype=bool)
        with np.errstate(all="ignore"):
            self._refresh()
            self.g_size = np.abs(self.g)
            self.holds = np.array([self.g[i] > self._fuzz(i, self.r[i]) for i in range(ng)], dtype=bool)
        for i, j in enumerate(low.tables["jump_of"]):
            self.pending[j] = self.holds[i] and self.on[i] > 0 and low.tables["eager"][j]
        self._remember()
        if not (self._state_ends_not_finite(cause=-1) or np.isfinite(self.energy_begin)):
            self.status = NOT_FINITE  # with neither cause nor culprit: the energy

    # ---- the model's functions, here and now ----

    def rate(self, t: float, x: np.ndarray) -> np.ndarray:
        """The rates of the states and, where the ledger is kept, the powers behind them."""
        self.flows += 1
        return self.model.rate(ModelPoint(t, x, self.z, self.u, self.p, self._delayed_signals(t)))

    def _jacobian(self, t: float, x: np.ndarray) -> np.ndarray:
        return self.model.jacobian(ModelPoint(t, x, self.z, self.u, self.p, self._delayed_signals(t)))

    def _energies(self) -> np.ndarray:
        return self.model.call("energies", self.t, self.x[: self.nx], self.z, self.u, self.p)

    def _guards(self, t: float, x: np.ndarray, dx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The guards and their rates [1/s]."""
        state = (t, x[: self.nx], self.z, self.u, self.p)
        return self.model.guards_and_rates(*state, dx[: self.nx])

    def _signals(self, t: float, x: np.ndarray, dx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The delayed signals and their rates [1/s]."""
        state = (t, x[: self.nx], self.z, self.u, self.p)
        return self.model.call("signals", *state), self.model.call("signal_rates", *state, dx[: self.nx])

    def _delayed_signals(self, t: float) -> np.ndarray:
        return self.history.at(t)

    def _remember(self) -> None:
        self.history.remember(self.t, self.x, self.dx)

    def _ends_not_finite(self, numbers: np.ndarray, offset: int, cause: int) -> bool:
        """End the run if one of the states (or rates) is not finite; `offset` is the number of the first."""
        if np.isfinite(numbers).all():
            return False
        self.status, self.cause = NOT_FINITE, cause
        self.culprit = offset + int(np.argmin(np.isfinite(numbers)))
        return True

    def _state_ends_not_finite(self, cause: int) -> bool:
        return self._ends_not_finite(self.x[: self.nx], 0, cause) or self._ends_not_finite(
            self.z, self.nx, cause
        )

    def _keep(self, **row: Any) -> None:
        """Add to the record, by the names of its arrays."""
        for name, value in row.items():
            self.chunks[name].append(value)

    # ---- guards ----

    def _fuzz(self, i: int, r: float) -> float:
        """How large a guard may be by rounding alone, of its values and of the time."""
        return float(MACHINE_EPSILON * (256 * self.g_size[i] + 8 * abs(r) * max(abs(self.t), self.h0)))

    def _positive(self, i: int, g: float, r: float) -> bool:
        """Say whether a guard holds: it is positive, or zero and growing."""
        fuzz = self._fuzz(i, r)
        return bool(g > fuzz or (g >= -fuzz and r > 0))

    def _refresh(self) -> None:
        """Evaluate rates and guards where the run is."""
        self.dx = self.rate(self.t, self.x)
        self.on = self.model.call("enabled", self.z, self.u, self.p)
        self.g, self.r = self._guards(self.t, self.x, self.dx)

    def _settle(self) -> None:
        """After a jump: begin anew, and find out which guards hold and which events this sets off."""
        before = self.g.copy()
        self._refresh()
        if isinstance(self.stepper, StiffStepper):
            self.stepper.restart()
        else:
            self.stepper.past = []
        self._remember()
        for i, j in enumerate(self.low.tables["jump_of"]):
            now = self._positive(i, self.g[i], self.r[i])
            if self.pending[j]:
                if self.on[i] > 0 and self.g[i] >= min(0.0, before[i]) - self._fuzz(i, self.r[i]):
                    continue
                self.pending[j] = False
            elif now and not self.holds[i] and self.on[i] > 0:
                self.pending[j] = True
            self.holds[i] = now

    def _guard_at(self, poly: np.ndarray, h: float, a: float, i: int) -> tuple[float, float]:
        """A guard and its rate [1/step] at a fraction of a step, of its dense output."""
        x = np.asarray(np.polynomial.polynomial.polyval(a, poly))
        dx: Any = (
            np.polynomial.polynomial.polyval(a, np.polynomial.polynomial.polyder(poly)) / h
            if h > 0
            else self.dx
        )
        g, r = self._guards(self.t + a * h, x, dx)
        return float(g[i]), float(h * r[i])

    def _crossing_of(self, i: int, poly: Callable[[], np.ndarray], h: float, g: float, r: float) -> float:
        """The fraction of a step at which guard `i` begins to hold; `g` and `r` are the guard and its rate at
        the end."""
        begin = GuardReading(0.0, float(self.g[i]), h * float(self.r[i]), bool(self.holds[i]))
        end = GuardReading(1.0, g, h * r, self._positive(i, g, r))

        def read(a: float) -> GuardReading:
            value, slope = self._guard_at(poly(), h, a, i)
            return GuardReading(a, value, slope, self._positive(i, value, slope / h if h > 0 else 0.0))

        return first_crossing(read, begin, end, self._fuzz(i, r), self.may_shrink)

    def _locate(self, trial: Trial) -> tuple[Trial, np.ndarray, np.ndarray] | None:
        """The trial shortened to the first event in it, with the guards at its end; jumps due there become
        pending. None if a guard turns too fast to be followed over such a step."""
        g, r = self._guards(self.t + trial.h, trial.x, trial.dx)
        poly = functools.cache(trial.cover)
        on = [i for i in range(len(g)) if self.on[i] > 0]
        for i in on:
            if np.isnan(g[i]):
                self.status, self.cause = NOT_FINITE, self.low.tables["jump_of"][i]
                return trial, g, r
        crossings = [(self._crossing_of(i, poly, trial.h, g[i], r[i]), i) for i in on]
        if any(a >= LOST_CROSSING for a, _ in crossings):
            return None
        first, who = min(crossings, default=(NO_CROSSING, -1))
        if first > 1:
            return trial, g, r
        if first < 1:
            trial, g, r = self._shorten_to_event(trial, poly(), first, who)
        for i, j in enumerate(self.low.tables["jump_of"]):
            if self.on[i] > 0 and (i == who or (not self.holds[i] and self._positive(i, g[i], r[i]))):
                self.pending[j] = True
        return trial, g, r

    def _shorten_to_event(
        self, trial: Trial, poly: np.ndarray, first: float, who: int
    ) -> tuple[Trial, np.ndarray, np.ndarray]:
        """The trial up to a fraction `first`, made anew and moved by Newton's method until guard `who` is
        zero at its end; with the guards and their rates there."""
        whole = trial.h
        length, moved = first * whole, whole
        for _ in range(8):
            if isinstance(self.stepper, StiffStepper):
                scale = first ** np.arange(len(poly))
                x = np.polynomial.polynomial.polyval(first, poly)
                cover = functools.partial(np.array, poly * scale[:, None])
                trial = Trial(length, x, self.rate(self.t + length, x), 0.0, cover)
            else:
                trial = self.stepper.trial(self.t, self.x, self.dx, length)
            g, r = self._guards(self.t + length, trial.x, trial.dx)
            with np.errstate(all="ignore"):
                change = -g[who] / r[who]
            if (
                isinstance(self.stepper, StiffStepper)
                or not abs(change) < moved / 2
                or abs(change) <= MACHINE_EPSILON * max(abs(self.t), length)
            ):
                break
            if length + change <= 0 or length + change > whole:
                break
            moved = abs(change)
            length += change
        return trial, g, r

    # ---- jumps ----

    def _execute(self, j: int, t_stop: float) -> None:
        """Make a jump: reset the states, record it, and see what it sets off."""
        i, c = self.low.tables["guard_of"][j], self.low.tables["clock_of"][j]
        self.pending[j] = False
        self.jumps += 1
        if c >= 0:
            self.tick[c] += 1
        kinds = self.low.tables["random_kind"]
        random = (
            [self.stream.normal() if kind else self.stream.uniform() for kind in kinds]
            if self.low.tables["draws_random"][j]
            else [0.0] * len(kinds)
        )
        x = self.x[: self.nx]
        before = (self.t, x, self.z, self.u, self.p)
        x_after, z_after = self.model.reset(j, *before, self._delayed_signals(self.t), random)
        loss = np.zeros(self.low.sizes["NL"])
        if self.options.ledger:
            loss = self.model.loss(j, *before, x_after, z_after)
        self._keep(jump_t=self.t, jump=j, jump_after=self.steps, loss=loss)
        self._keep(x_before=x.copy(), z_before=self.z, x_after=x_after, z_after=z_after)
        self.x = np.concatenate([x_after, self.x[self.nx :]])
        self.z = z_after
        if i >= 0:
            self.holds[i] = True
        if self._state_ends_not_finite(cause=j):
            return
        self._settle()
        if self.low.tables["records"][j] and self.g[i] >= -self._fuzz(i, self.r[i]) and self.r[i] >= 0:
            self.holds[i] = True  # what only records, on a guard that rests on zero, has said so
        self.at_this_instant += 1
        if self.low.tables["terminal"][j]:
            self.status, self.cause = TERMINAL, j
        elif self.at_this_instant > MAX_JUMPS_AT_ONCE or (
            i >= 0 and self.accumulation.fires(i, self.t, t_stop - self.t)
        ):
            self.status, self.cause = ZENO, j

    # ---- steps ----

    def _attempt(self, target: float) -> Trial | None:
        """A trial step that passes the error test and does not go beyond the time `target`; None ends the
        run."""
        if self._ends_not_finite(self.dx[: self.nx], 0, -1):
            return None
        if isinstance(self.stepper, StiffStepper):
            with np.errstate(all="ignore"):
                trial = self.stepper.step(self.t, self.x, target)
                if trial is None:  # is there anything to integrate, an instant ahead?
                    # SciPy gives up below 10 of these
                    instant = 16 * MACHINE_EPSILON * max(abs(self.t), MIN_NORMAL_NUMBER)
                    ahead = self.rate(self.t + instant, self.x + instant * self.dx)
                    if not self._ends_not_finite(ahead[: self.nx], 0, -1):
                        self.status = TOO_SMALL
            return trial
        room, size = target - self.t, self.step_size
        longest = min(self.options.max_step, *self.delay) if len(self.delay) else self.options.max_step
        if size.h == 0.0:
            size.h = self.options.step or first_step(
                self.rate,
                self.t,
                self.x,
                self.dx,
                nx=self.nx,
                options=self.options,
                longest=min(room, longest),
                order=size.order,
            )
        rejected = False
        while True:
            length = min(size.h, longest)
            last = length * (1 + STEP_SLACK) + TIME_SLACK * abs(self.t) >= room
            h = room if last else length
            with np.errstate(all="ignore"):
                trial = self.stepper.trial(self.t, self.x, self.dx, h)
            if not self.stepper.adaptive:
                self._ends_not_finite(trial.x[: self.nx], 0, -1)
                return trial
            if trial.error <= 1 and np.all(np.isfinite(trial.dx[: self.nx])):
                size.accept(h, trial.error, shortened=last, after_rejection=rejected)
                return trial
            self.rejected += 1
            rejected = True
            size.reject(h, trial.error)
            if not size.h > 4 * MACHINE_EPSILON * abs(self.t) or self.rejected > self.options.max_steps:
                if not any(
                    self._ends_not_finite(numbers[: self.nx], 0, -1) for numbers in (trial.x, trial.dx)
                ):
                    self.status = TOO_SMALL
                return None

    def advance(self, t_stop: float) -> bool:
        """Make one step or one jump; false when the run has stopped."""
        if self.status != RUNNING:
            return False
        target = t_stop
        for j, c in enumerate(self.low.tables["clock_of"]):
            if c >= 0:
                due = self.offset[c] + self.tick[c] * self.every[c]
                if due > self.t + TIME_SLACK * abs(self.t):
                    target = min(target, due)
                elif self.t < t_stop:
                    self.pending[j] = True
        if np.any(self.pending):
            self._execute(int(np.argmax(self.pending)), t_stop)
            return True
        if self.t >= t_stop or self.steps >= self.options.max_steps:
            self.status = DONE if self.t >= t_stop else MAX_STEPS
            return False
        while True:
            trial = self._attempt(target)
            if trial is None or self.status != RUNNING:
                return False
            h = trial.h
            self.may_shrink = self.options.method in ADAPTIVE and h > 1e4 * MACHINE_EPSILON * max(
                abs(self.t), target - self.t
            )
            located = self._locate(trial) if len(self.g) else (trial, self.g, self.g)
            if self.status != RUNNING:
                return False
            if located is not None:
                break
            self.step_size.h = h / 8  # a guard turns too fast for such a step
        trial, g, r = located
        poly = trial.cover()
        self._keep(t=self.t, h=trial.h, poly=poly, z=self.z, u=self.u.copy())
        self._accept(trial, self.times.after(self.t, trial.h, tried=h, target=target), g, r)
        if self.options.method not in FIXED:
            self.history.remember_inside(self.chunks["t"][-1], trial.h, poly, self.dx)
        self._remember()
        return True

    def _accept(self, trial: Trial, t: float, g: np.ndarray, r: np.ndarray) -> None:
        """Go on to where a trial ends, at time `t`, with these guards and rates."""
        if isinstance(self.stepper, Stepper) and self.options.method == "predictor-corrector":
            if abs(trial.h - self.stepper.h_past) > MULTISTEP_SLACK * trial.h:
                self.stepper.past = []
            self.stepper.past = [self.dx, *self.stepper.past][:3]
            self.stepper.h_past = trial.h
        if t > self.t:
            self.at_this_instant = 0
        self.t, self.h0, self.x, self.dx, self.g, self.r = t, trial.h, trial.x, trial.dx, g, r
        self.g_size = np.maximum(self.g_size, np.abs(g))
        due = self.pending[self.low.tables["jump_of"]]
        self.holds = np.array([due[i] or self._positive(i, g[i], r[i]) for i in range(len(g))], dtype=bool)
        self.steps += 1

    # ---- the interface `simulate` uses, the same as of a compiled run ----

    def go(self, t_stop: float, progress: Callable[[float], None] | None = None) -> None:
        """Run to `t_stop` or to the end of the run, recording."""
        if self.status == DONE:
            self.status = RUNNING
        while self.advance(t_stop):
            if progress and self.steps % 200 == 0:
                progress(self.t)

    def see(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Report where the run is: time, states (with integrated powers), discrete states, counters."""
        return (
            self.t,
            self.x,
            self.z,
            np.array([self.status, self.cause, self.steps, self.rejected, self.flows, self.jumps]),
        )

    def hold(self, u: np.ndarray) -> None:
        """Set the inputs, from now on."""
        self.u = np.array(u, dtype=float)
        self._settle()

    def raw(self, interrupted: bool = False) -> Raw:
        """The record of the run so far. interrupted: whether it was stopped from the keyboard."""
        rows = shapes(self.width, self.options.degree, self.low.sizes)
        arrays: dict[str, Any] = {
            n: np.array(chunk, dtype=kind_of(n)).reshape(len(chunk), *rows[n])
            for n, chunk in self.chunks.items()
        }
        energies = self._energies()
        lost = sum((float(row.sum()) for row in self.chunks["loss"]), 0.0)
        gap = float(energies.sum()) - self.energy_begin - float(self.x[self.nx :].sum()) + lost
        counters = {"steps": self.steps, "rejected": self.rejected, "flows": self.flows, "jumps": self.jumps}
        return Raw(
            **arrays,
            t_end=self.t,
            x_end=self.x,
            z_end=self.z,
            u_end=self.u,
            status=int(self.status),
            cause=self.cause,
            culprit=self.culprit,
            interrupted=interrupted,
            counters=counters,
            balance=(gap, float(np.abs(energies).sum())),
        )
