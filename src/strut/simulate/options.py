"""What a run can be asked, checked before anything starts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from strut.checks import checked, is_number, short_repr
from strut.codegen import DEFAULTS, INTEGRATORS, NativeOptions, StepKind, integrator_number, names_of_kind
from strut.errors import ModelError, ValueRangeError, did_you_mean
from strut.system import System

METHODS = tuple(INTEGRATORS)
"""Every integration method, by name."""
FIXED, ADAPTIVE, STIFF = (names_of_kind(kind) for kind in StepKind)
"""The methods of a fixed step, of an adaptive one, and the implicit ones."""


@checked
@dataclass(frozen=True)
class Options:
    """How to integrate.

    method: 'dop853' (default) or 'dopri5', adaptive; 'euler', 'rk4', 'leapfrog', 'predictor-corrector', fixed
        step; 'radau', 'bdf', implicit, for stiff systems (without a C compiler these need SciPy).
    step: the step of a fixed-step method [s]; the first step of an adaptive one.
    rtol, atol: an adaptive step is accepted when its error is below atol + rtol |x|.
    max_step: no step is longer [s].
    max_steps: the run ends with status 'too many steps' after so many; None: there is no limit.
    ledger: integrate the energy account beside the state.
    zeno: events whose remaining intervals sum to less than this, relative to the time, count as accumulated.
    """

    method: str = DEFAULTS.method
    step: float | None = None
    rtol: float = DEFAULTS.rtol
    atol: float = DEFAULTS.atol
    max_step: float = math.inf
    max_steps: int = DEFAULTS.max_steps
    ledger: bool = True
    zeno: float = DEFAULTS.zeno

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ModelError(f"method '{self.method}' is unknown: {did_you_mean(self.method, list(METHODS))}")
        if self.method in FIXED and self.step is None:
            raise ModelError(f"method '{self.method}' has a fixed step: give step=..., in seconds")
        for label in ("step", "rtol", "atol", "max_step", "max_steps", "zeno"):
            value = getattr(self, label)
            if value is None and label == "step":
                continue
            if not is_number(value) and value == value:
                raise ValueRangeError(f"{label} is {short_repr(value)}: a positive number is needed")
            if not value > 0 or (label in ("step", "rtol", "atol", "zeno") and math.isinf(value)):
                raise ValueRangeError(f"{label} is {value}: it must be positive and finite")

    @property
    def degree(self) -> int:
        """The degree of the method's dense output."""
        return INTEGRATORS[self.method].degree

    def native(self, dense: bool) -> NativeOptions:
        """The options as the compiled runtime reads them. dense: whether dense output is wanted."""
        return NativeOptions(
            method=integrator_number(self.method),
            ledger=int(self.ledger),
            dense=int(dense),
            step=self.step or 0.0,
            max_step=min(self.max_step, 1e300),
            rtol=self.rtol,
            atol=self.atol,
            zeno=self.zeno,
            max_steps=self.max_steps,
        )


def chosen_options(options: dict[str, Any]) -> Options:
    """Options from keywords, checked; the same ones are checked once."""
    try:
        return _checked_options(**options)
    except TypeError:  # not hashable, or not a number: make them plain first
        return _checked_options(**_plain(options))


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Numbers as numbers, whatever they came as."""
    plain = {}
    for name, value in options.items():
        kind: Callable[[Any], Any] = {"method": str, "ledger": bool}.get(name, float)
        try:
            plain[name] = None if value is None and name in ("step", "max_steps") else kind(value)
        except OverflowError:  # an integer beyond all floating-point numbers
            plain[name] = math.inf
        except (TypeError, ValueError) as error:
            raise ValueRangeError(f"option '{name}' is {short_repr(value)}: a number is needed") from error
    return plain


@functools.lru_cache(maxsize=256)
def _checked_options(**options: Any) -> Options:
    """Options from keywords that can be hashed; raises ModelError for one that there is not."""
    names = [f.name for f in fields(Options)]
    for name in options:
        if name not in names:
            raise ModelError(f"there is no option '{name}': {did_you_mean(name, names)}")
    plain = _plain(options)
    if "max_steps" in options:
        plain["max_steps"] = _whole_steps(options["max_steps"], plain["max_steps"])
    return Options(**plain)


UNLIMITED_STEPS = 2**63 - 1
"""As many steps as the runtime can count: no run gets there."""


def _whole_steps(given: Any, number: float | None) -> int:
    """A number of steps as a whole number; None and infinity, and what is too large to count, mean without
    limit."""
    if number is None or number >= UNLIMITED_STEPS:
        return UNLIMITED_STEPS
    if not math.isfinite(number) or number != int(number):
        raise ValueRangeError(
            f"option 'max_steps' is {given}: a whole number is needed, or None for no limit"
        )
    return int(number)


def check_system(system: Any) -> None:
    """Refuse what is no System: raises ModelError. A common slip is the function that makes one, or its
    name."""
    if not isinstance(system, System):
        if type(system).__name__ == "Mechanism":
            raise ModelError(
                f"'{system.name}' is a Mechanism, not a System: simulate mechanism.system(m), or on ground "
                f"contact.rigid(m, ...)"
            )
        hint = (
            "call it, walkers.slip()" if callable(system) else "strut.walkers has functions that make systems"
        )
        raise ModelError(f"{system!r} is not a System: {hint}")


def interval(t: Any) -> tuple[float, float]:
    """The begin and end of a run from `t`: a duration, or a pair."""
    pair = list(t) if isinstance(t, (tuple, list, np.ndarray)) else [0.0, t]
    try:
        begin, end = (float(value) for value in pair)
    except (TypeError, ValueError) as error:
        raise ValueRangeError(
            f"the time is {t!r}: give how long, t=10, or t=(begin, end), in seconds"
        ) from error
    if isinstance(t, str):
        raise ValueRangeError(f"the time is {t!r}, a word: give a number")
    if not (math.isfinite(begin) and math.isfinite(end)):
        raise ValueRangeError(f"the time is {begin:g} to {end:g}: both must be finite")
    if end < begin:
        raise ValueRangeError(
            f"the run would end at {end:g} s, before it begins at {begin:g} s: give t=(begin, end) with "
            f"begin <= end"
        )
    return begin, end


MAX_STIFF_STATES = 4000
"""Most states of a system for implicit methods: their matrices are kept whole, four of them, 0.5 GB at this
size."""


def check_method(system: System, options: Options, velocity_of: list[int]) -> None:
    """Refuse a method that cannot run a system: raises ModelError. velocity_of: for every state the index of
    the one that is its rate, or -1."""
    if options.method in STIFF and system.size("x") > MAX_STIFF_STATES:
        raise ModelError(
            f"method '{options.method}' keeps matrices of {system.size('x')} by {system.size('x')} for "
            f"'{system.name}': it takes "
            f"systems of at most {MAX_STIFF_STATES} states; use 'dop853' or a fixed step, or fewer states"
        )
    if options.method == "leapfrog" and max(velocity_of, default=-1) < 0:
        raise ModelError(
            f"'leapfrog' needs positions whose rate is another state; '{system.name}' has none: use 'rk4' or "
            f"'dop853'"
        )


@checked
@dataclass(frozen=True)
class Hold:
    """A discrete controller: every `every` seconds it sets the inputs, which are held in between.

    It acts at offset + k every, for every whole k, from the beginning of a run to before its end, and before
    the samples of the same instant.

    function: called with the present `Moment`, returns the inputs as a mapping by name or a sequence in
        order; or a C function of type `strut.CONTROLLER`, which is called without Python.
    data: an address that a C function is called with.
    sets: names of the inputs that a C function sets, if not all: the others may have schedules.
    """

    function: Callable[..., Any]
    every: float
    offset: float = 0.0
    data: int | None = None
    sets: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not is_number(self.every) or not self.every > 0:
            raise ValueRangeError(f"a controller is to run every {self.every} s: it must be positive")
