"""`simulate`: one run of a system."""

from __future__ import annotations

import math
import platform
import time as clock
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from strut.checks import checked, seed_number
from strut.codegen import Native, Virtual, compile_system, lower_system
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.interrupts import reveal_interrupts
from strut.simulate.names import Names
from strut.simulate.options import STIFF, Hold, check_method, check_system, chosen_options, interval
from strut.simulate.record import DONE, NOT_FINITE, STATUS, TERMINAL, Raw
from strut.simulate.run_native import NativeRun, first_tick, is_native, native_controller
from strut.simulate.schedule import InputChanges, input_changes
from strut.simulate.stability_check import check_run
from strut.simulate.sunk_start import describe_lift
from strut.simulate.trajectory import Delays, Trajectory
from strut.system import Sample, Start, System, memo, start
from strut.version import VERSION

if TYPE_CHECKING:
    from strut.simulate.python_engine import Engine

MAX_LEDGER_RESIDUAL = 1e-3
"""Largest residual of the energy account, as a fraction of the energy that moved: a larger one is no
integration error at sensible steps but a wrong ledger."""
LEDGER_ROUNDING = 1e-7
"""Residual of the energy account, as a fraction of the stored energy, below which it is integration error and
not worth a second look."""


class LedgerWarning(UserWarning):
    """The energy account of a run does not close."""


@checked
def simulate(  # noqa: PLR0913 what a run can be given, each by its own name
    system: System,
    t: float | tuple[float, float],
    *,
    x0: Any = None,
    z0: Any = None,
    u: Any = None,
    p: Any = None,
    control: Hold | None = None,
    seed: int = 0,
    backend: str | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Trajectory:
    """Run a system and return its `Trajectory`.

    t: how long [s], or (begin, end).
    x0, z0, u, p: values by name that differ from the system's own, or whole vectors. An input may be a
        `Schedule` over time; `push` makes those of a force from outside.
    control: a discrete controller that sets the inputs, see `Hold`.
    seed: of the run's random numbers.
    backend: 'native' (compiled), 'virtual' (CasADi's virtual machine), or 'auto'.
    progress: called now and then with the time reached.
    options: method, step, rtol, atol, max_step, max_steps, ledger; see `Options`.

    A keyboard interrupt ends the run early, with status 'interrupted'; what was computed is returned.
    """
    # everything is checked before anything is compiled
    check_system(system)
    seed_number(seed)
    begin, end = interval(t)
    chosen = chosen_options(options)
    if control is not None and not isinstance(control, Hold):
        raise ModelError(f"control is {control!r}: say how often it acts, control=Hold(function, every=0.01)")
    low = lower_system(system)
    check_method(system, chosen, low.tables["velocity_of"])
    called = clock.perf_counter()
    model = compile_system(system, backend=backend, stiff=chosen.method in STIFF)
    began = clock.perf_counter()
    inputs = input_changes(system, u, begin)
    values = start(system, x0, z0, inputs.u, p)
    check_times(system, values.p)
    # one of two engines runs it, by whether there is compiled code
    run: NativeRun | Engine
    if isinstance(model, Virtual):
        from strut.simulate.python_engine import Engine  # not where there is compiled code

        run = Engine(model.lowered, chosen, values, begin, seed)
    else:  # also implicit methods
        run = NativeRun(model, chosen, values, begin, seed)
    raw = _run_to_end(
        system, run, control, begin=begin, end=end, values=values, inputs=inputs, progress=progress
    )
    if chosen.ledger and raw.status == DONE and not np.all(np.isfinite(raw.balance)):
        raw = replace(raw, status=int(NOT_FINITE), cause=-1, culprit=-1)  # the energy at its end
    wall = clock.perf_counter() - began
    if isinstance(model, Native):
        model.spend(wall)
    provenance = {
        "system": system.name,
        **VERSIONS,
        "compiled": bool(model.compiled),
        "t": [begin, end],
        "seed": seed,
        "options": dict(vars(chosen)),
    }
    result = Trajectory(
        system_name=system.name,
        names=names_of(system),
        p=values.p,
        raw=raw,
        status=_status_word(raw, names_of(system)),
        statistics={**raw.counters, "wall": wall, "compile": began - called},
        provenance=provenance,
        model=model,
        delays=delays_of(system, values.p),
        system=system,
    )
    if chosen.ledger and system.ledger.stored and (result.ok or result.ended_in_failure):
        _warn_if_open(result)
    if chosen.step is not None:
        check_run(
            system.name,
            raw,
            None if system.delays else model.evaluate,
            p=values.p,
            states=system.labels("x"),
            method=chosen.method,
            step=chosen.step,
        )
    return result


def _run_to_end(
    system: System,
    run: NativeRun | Engine,
    control: Hold | None,
    *,
    begin: float,
    end: float,
    values: Start,
    inputs: InputChanges,
    progress: Any,
) -> Raw:
    """Run from `begin` to `end` [s], with or without a controller, and return the record; an interrupt ends
    it early and loses nothing."""
    try:
        with reveal_interrupts():
            if control is None and not inputs.times:
                run.go(end, progress)
            elif control is not None and is_native(control.function):
                _run_with_c_controller(
                    system, run, control, begin=begin, end=end, inputs=inputs, progress=progress
                )
            else:
                _run_with_changing_inputs(
                    system,
                    run,
                    control,
                    begin=begin,
                    end=end,
                    values=values,
                    inputs=inputs,
                    progress=progress,
                )
    except KeyboardInterrupt:
        return run.raw(interrupted=True)
    return run.raw()


def names_of(system: System) -> Names:
    """The names of everything in a system's trajectories; worked out once."""
    return memo(system, _names)


def _names(system: System) -> Names:
    """See `names_of`."""
    low, ledger = lower_system(system), system.ledger
    return Names(
        x=system.labels("x"),
        z=system.labels("z"),
        u=system.labels("u"),
        p=system.labels("p"),
        outputs=system.labels("outputs"),
        jumps=tuple(j.source.name for j in low.jumps),
        clocked=tuple(isinstance(j.source, Sample) for j in low.jumps),
        stored=tuple(ledger.stored),
        supplied=tuple(ledger.supplied),
        dissipated=tuple(ledger.dissipated),
        lost=low.loss_channels,
        units={q.name: q.unit for q in system.quantities() if q.unit} | dict(system.output_units),
        failures=tuple(e.name for e in system.events if e.failure),
        meanings={e.name: e.description for e in system.events if e.description},
        scales=system.scales,
        # by name only: a run holds numbers, and their expressions stay with the system
        feet=() if system.walk is None else tuple(replace(foot, at=None) for foot in system.walk.feet),
        step_events=() if system.walk is None else system.walk.step_events,
        internal=(
            *(label for q in system.quantities() if q.internal for label in q.labels),
            *(e.name for e in system.events if e.internal),
        ),
        step_length="" if system.walk is None else system.walk.step_length,
        points=system.scene.points,
    )


def delays_of(system: System, p: np.ndarray) -> Delays | None:
    """The delays of a system with these parameters, for its trajectories."""
    if not system.delays:
        return None
    functions = lower_system(system).functions
    return Delays(np.array(functions["delays"](p)).reshape(-1), functions["past"])


def check_times(system: System, p: np.ndarray) -> None:
    """Refuse parameters (a row per run, or one) for which a sample's period or a delay is not positive:
    raises ModelError."""
    functions, columns = lower_system(system).functions, np.atleast_2d(p).T
    if system.samples:
        for sample, every in zip(system.samples, np.array(functions["clocks"](columns)[0]), strict=True):
            if not np.all(every > 0):
                raise ModelError(
                    f"sample '{sample.name}' has a period of {every.min():g} s with these parameters: it "
                    f"must be positive"
                )
    if system.delays:
        for delay, by in zip(system.delays, np.array(functions["delays"](columns)), strict=True):
            if not np.all(by > 0):
                raise ModelError(
                    f"delay '{delay.name}' is {by.min():g} s with these parameters: it must be positive"
                )


def _run_with_c_controller(
    system: System,
    run: NativeRun | Engine,
    control: Hold,
    *,
    begin: float,
    end: float,
    inputs: InputChanges,
    progress: Any,
) -> None:
    """Run with a controller in C, which the compiled run calls by itself; inputs that it does not set change
    as their schedules say."""
    if not isinstance(run, NativeRun):
        raise ModelError(
            "a C controller needs compiled code: use a Python function here, or another method or backend"
        )
    set_by_both = set(inputs.names) & set(system.labels("u") if control.sets is None else control.sets)
    if set_by_both:
        all_or_this = "all inputs" if control.sets is None else "it"
        raise ModelError(
            f"a C controller sets {all_or_this}, and '{min(set_by_both)}' has a schedule: use a Python "
            f"function as the controller, say which inputs it sets, or leave out the schedule"
        )
    native_controller(run, control, begin)
    for time_of_change, changes in zip(inputs.times, inputs.changes, strict=True):
        if time_of_change >= end:
            break
        run.go(time_of_change, progress)
        t, _, _, counts = run.see()
        if counts[0] != DONE or t < time_of_change:
            return
        u = run.parts[3].copy()
        for place, row in changes:
            u[place] = row
        run.hold(u)
    run.go(end, progress)


class Moment(Mapping[str, float]):
    """What a controller sees: the time `t`, and states, discrete states and parameters by name."""

    def __init__(
        self, t: float, x: np.ndarray, z: np.ndarray, p: np.ndarray, places: Mapping[str, tuple[str, int]]
    ) -> None:
        self.t, self.x, self.z, self.p, self._places = t, x, z, p, places

    def __getitem__(self, name: str) -> float:
        if name not in self._places:
            raise UnknownNameError(
                f"the controller asks for '{name}': {did_you_mean(name, list(self._places))}"
            )
        group, k = self._places[name]
        return float(getattr(self, group)[k])

    def __iter__(self) -> Any:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _run_with_changing_inputs(
    system: System,
    run: NativeRun | Engine,
    control: Hold | None,
    *,
    begin: float,
    end: float,
    values: Start,
    inputs: InputChanges,
    progress: Any,
) -> None:
    """Run with schedules and a controller in Python: to the next change or tick, hold what is new, and so
    on."""
    places = {label: (group, k) for group in ("x", "z", "p") for k, label in enumerate(system.labels(group))}
    u, change = values.u.copy(), 0
    tick = 0 if control is None else first_tick(control, begin)
    while True:
        due = math.inf if control is None else control.offset + tick * control.every
        next_change = inputs.times[change] if change < len(inputs.times) else math.inf
        target = min(due, next_change, end)
        run.go(target, progress)
        t, x, z, counts = run.see()
        if counts[0] != DONE or t >= end:
            return
        if target == next_change:
            for place, row in inputs.changes[change]:
                u[place] = row
            change += 1
        if control is not None and target == due:
            scheduled = u.copy()
            moment = Moment(t, x[: len(system.labels("x"))].copy(), z.copy(), values.p, places)
            _take_answer(system, control.function(moment), u, inputs.names)
            for name in inputs.names:
                u[system.slices("u")[name]] = scheduled[system.slices("u")[name]]
            tick += 1
        run.hold(u)


def _take_answer(system: System, answer: Any, u: np.ndarray, scheduled: Collection[str]) -> None:
    """Put what a controller returned into the inputs `u`; raises UnknownNameError, ModelError or
    ValueRangeError where it is none, or sets one that has a schedule."""
    places = system.slices("u")
    if isinstance(answer, Mapping):
        for name, value in answer.items():
            if name not in places:
                raise UnknownNameError(
                    f"the controller sets '{name}', which is not an input: {did_you_mean(name, list(places))}"
                )
            if name in scheduled:
                raise ModelError(f"the controller sets '{name}', which has a schedule: leave one of them out")
            u[places[name]] = value
    else:
        u[:] = _inputs(answer, len(u))
    for q in system.u:
        q.check(u[places[q.name]])


def _inputs(answer: Any, count: int) -> np.ndarray:
    """What a controller returned as numbers, one per input."""
    try:
        numbers = np.asarray(answer, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if len(numbers) != count:
        raise ModelError(
            f"the controller returned {answer!r}: return the inputs by name, {{'torque': 1.0}}, or {count} "
            f"number(s) in order"
        )
    return numbers


def _status_word(raw: Raw, names: Names) -> str:
    """How a run ended, in a word: its status, or the event that ended it."""
    if raw.interrupted:
        return "interrupted"
    return names.jumps[raw.cause] if raw.status == TERMINAL else STATUS[raw.status]


VERSIONS = {
    "strut": VERSION,
    "casadi": str(ca.CasadiMeta.version()),
    "numpy": np.__version__,
    "python": platform.python_version(),
    "machine": platform.machine(),
}
"""What a run was made with, for its provenance."""


def _warn_if_open(result: Trajectory) -> None:
    """Warn of an energy account that does not close: compare the books at the end of the run with those at
    its beginning, which is cheap, and enough to catch a wrong ledger. Where feet begin in rigid ground, that
    is said also of little energy."""
    gap, size = result.raw.balance
    smallest = result.provenance["options"]["atol"]
    if abs(gap) <= max(LEDGER_ROUNDING * size, smallest):
        return
    cause = describe_lift(result)
    if cause or not abs(gap) <= MAX_LEDGER_RESIDUAL * result.ledger.turnover:
        warnings.warn(
            f"the energy account of '{result.system_name}' does not close: {gap:+.3g} J of "
            f"{result.ledger.turnover:.3g} J are unexplained; "
            + (
                cause
                or "either the ledger misses something or the step is too coarse (see trajectory.ledger)"
            ),
            LedgerWarning,
            stacklevel=4,
        )
