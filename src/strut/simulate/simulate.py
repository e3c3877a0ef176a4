"""`simulate`: one run of a system."""

from __future__ import annotations

import platform
import time as clock
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, seed_number
from strut.codegen import Virtual, compile_system, lower_system
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.simulate.names import Names
from strut.simulate.options import STIFF, Hold, Options, check_method, check_system, chosen_options, interval
from strut.simulate.python_engine import Engine
from strut.simulate.record import STATUS, Raw
from strut.simulate.run_native import NativeRun, first_tick, is_native, native_controller
from strut.simulate.trajectory import Delays, Trajectory
from strut.system import Sample, Start, System, start
from strut.version import VERSION

LEDGER_TOLERANCE = 1e-3
"""Of the energy that moved: a larger residual is no integration error at sensible steps but a wrong
ledger."""


ROUNDING = 1e-7
"""Of the stored energy: a smaller residual is integration error, not worth a second look."""


class LedgerWarning(UserWarning):
    """The energy account of a run does not close."""


@checked
def simulate(
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
    x0, z0, u, p: values by name that differ from the system's own, or whole vectors.
    control: a discrete controller that sets the inputs, see `Hold`.
    seed: of the run's random numbers.
    backend: 'native' (compiled), 'virtual' (CasADi's virtual machine), or 'auto'.
    progress: called now and then with the time reached.
    options: method, step, rtol, atol, max_step, max_steps, ledger; see `Options`.

    A keyboard interrupt ends the run early, with status 'interrupted'; what was computed is returned.
    """
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
    values = start(system, x0, z0, u, p)
    check_times(system, values.p)
    run: NativeRun | Engine
    if isinstance(model, Virtual):
        run = Engine(model.lowered, chosen, values, begin, seed)
    else:  # also implicit methods
        run = NativeRun(model, chosen, values, begin, seed)
    raw = _driven(system, run, control, begin, end, values, progress)
    wall = clock.perf_counter() - began
    result = Trajectory(
        system.name,
        names_of(system),
        values.p,
        raw,
        _status(raw, names_of(system)),
        {**raw.counters, "wall": wall, "compile": began - called},
        _provenance(system, chosen, seed, begin, end, model),
        model,
        delays=delays_of(system, values.p),
        system=system,
    )
    if chosen.ledger and system.ledger.stored and (result.ok or result.failed):
        _tell_if_open(result)
    return result


def _driven(
    system: System,
    run: NativeRun | Engine,
    control: Hold | None,
    begin: float,
    end: float,
    values: Start,
    progress: Any,
) -> Raw:
    """To the end of the run, with or without a controller; an interrupt ends it early and loses nothing."""
    try:
        if control is None:
            run.go(end, progress)
        elif is_native(control.function):
            _call_native(run, control, begin, end, progress)
        else:
            _sampled(system, run, control, begin, end, values, progress)
    except (KeyboardInterrupt, SystemError) as error:
        if isinstance(error, SystemError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise  # CasADi wraps an interrupt that arrives inside it
        return run.raw(interrupted=True)
    return run.raw()


def names_of(system: System) -> Names:
    """The names of everything in a system's trajectories."""
    if "names" not in system.cache:
        low, ledger = lower_system(system), system.ledger
        units = {q.name: q.unit for q in system.quantities() if q.unit} | dict(system.output_units)
        system.cache["names"] = Names(
            system.labels("x"),
            system.labels("z"),
            system.labels("u"),
            system.labels("p"),
            system.labels("outputs"),
            tuple(j.source.name for j in low.jumps),
            tuple(isinstance(j.source, Sample) for j in low.jumps),
            tuple(ledger.stored),
            tuple(ledger.supplied),
            tuple(ledger.dissipated),
            low.loss_channels,
            units,
            tuple(e.name for e in system.events if e.failure),
            {e.name: e.description for e in system.events if e.description},
            system.scales,
            () if system.walk is None else system.walk.feet,
            () if system.walk is None else system.walk.step_events,
        )
    names: Names = system.cache["names"]
    return names


def delays_of(system: System, p: np.ndarray) -> Delays | None:
    """The delays of a system with these parameters, for its trajectories."""
    if not system.delays:
        return None
    functions = lower_system(system).functions
    return Delays(np.array(functions["delays"](p)).reshape(-1), functions["past"])


def check_times(system: System, p: np.ndarray) -> None:
    """Durations that are expressions of parameters must be positive for these parameters (a row per run, or
    one)."""
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


def _call_native(run: NativeRun | Engine, control: Hold, begin: float, end: float, progress: Any) -> None:
    if isinstance(run, Engine):
        raise ModelError(
            "a C controller needs compiled code: use a Python function here, or another method or backend"
        )
    native_controller(run, control, begin)
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


def _sampled(
    system: System,
    run: NativeRun | Engine,
    control: Hold,
    begin: float,
    end: float,
    values: Start,
    progress: Any,
) -> None:
    """A controller in Python: run to its next tick, ask it, hold what it says."""
    places = {label: (group, k) for group in ("x", "z", "p") for k, label in enumerate(system.labels(group))}
    inputs = system.slices("u")
    u = values.u.copy()
    tick = first_tick(control, begin)
    while True:
        due = control.offset + tick * control.every
        run.go(min(due, end), progress)
        t, x, z, counts = run.see()
        if counts[0] != 1 or t >= end:
            return
        answer = control.function(Moment(t, x[: len(system.labels("x"))].copy(), z.copy(), values.p, places))
        if isinstance(answer, Mapping):
            for name, value in answer.items():
                if name not in inputs:
                    raise UnknownNameError(
                        f"the controller sets '{name}', which is not an input: "
                        f"{did_you_mean(name, list(inputs))}"
                    )
                u[inputs[name]] = value
        else:
            u[:] = _inputs(answer, len(u))
        for q in system.u:
            q.check(u[inputs[q.name]])
        run.hold(u)
        tick += 1


def _inputs(answer: Any, count: int) -> np.ndarray:
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


def _status(raw: Raw, names: Names) -> str:
    if raw.interrupted:
        return "interrupted"
    return names.jumps[raw.cause] if STATUS[raw.status] == "terminal" else STATUS[raw.status]


VERSIONS = {
    "strut": VERSION,
    "casadi": str(ca.CasadiMeta.version()),
    "numpy": np.__version__,
    "python": platform.python_version(),
    "machine": platform.machine(),
}


def _provenance(
    system: System, options: Options, seed: int, begin: float, end: float, model: Any
) -> dict[str, Any]:
    return {
        "system": system.name,
        **VERSIONS,
        "compiled": bool(model.compiled),
        "t": [begin, end],
        "seed": seed,
        "options": dict(vars(options)),
    }


def _tell_if_open(result: Trajectory) -> None:
    """Compare the books at the end of the run with those at its beginning; cheap, and enough to catch a wrong
    ledger."""
    gap, size = result.raw.balance
    smallest = result.provenance["options"]["atol"]
    if (
        not abs(gap) <= max(ROUNDING * size, smallest)
        and not abs(gap) <= LEDGER_TOLERANCE * result.ledger.turnover
    ):
        warnings.warn(
            f"the energy account of '{result.system_name}' does not close: {gap:+.3g} J of "
            f"{result.ledger.turnover:.3g} J are unexplained; "
            "either the ledger misses something or the step is too coarse (see trajectory.ledger)",
            LedgerWarning,
            stacklevel=4,
        )
