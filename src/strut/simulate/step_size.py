"""How long the next step of an adaptive method is, from the errors of those before (a PI controller), and the
time at which a step ends."""

from __future__ import annotations

import math

from strut.codegen import INTEGRATORS

STEP_SAFETY_FACTOR = 0.9
"""Part of the length at which the error would be just allowed."""
MIN_ERROR, MIN_ERROR_BEFORE = 1e-10, 1e-4
"""Errors below these count as these, so that one lucky step does not make the next one endless."""
MIN_GROWTH, MAX_GROWTH = 0.2, 6.0
"""By how much the length changes after a step that is accepted."""
MIN_SHRINKAGE, MAX_SHRINKAGE = 0.1, 0.9
"""By how much the length changes after a step that is rejected."""


class StepSize:
    """The length `h` of the next step [s], 0 before the first. Errors are relative to what is allowed. A
    method of fixed step has only the length."""

    def __init__(self, method: str) -> None:
        # the power of a step's length by which its error grows, and the exponent of the error before
        self.order, self.damping = INTEGRATORS[method].order, INTEGRATORS[method].damping
        self.h, self.error_before = 0.0, MIN_ERROR_BEFORE

    def accept(self, h: float, error: float, *, shortened: bool, after_rejection: bool) -> None:
        """Note that a step of length `h` [s] was good. shortened: it was made to end at a given time, and
        says little of how long a step may be. after_rejection: it was rejected before, and does not grow."""
        factor = (
            STEP_SAFETY_FACTOR
            / max(error, MIN_ERROR) ** (1 / self.order - 0.75 * self.damping)
            * self.error_before**self.damping
        )
        factor = min(max(factor, MIN_GROWTH), 1.0 if after_rejection else MAX_GROWTH)
        self.error_before = max(error, MIN_ERROR_BEFORE)
        if not shortened or h * factor > self.h or factor < 1:
            self.h = h * factor

    def reject(self, h: float, error: float) -> None:
        """Note that a step of length `h` [s] had too large an error, or none that is a number."""
        factor = STEP_SAFETY_FACTOR / error ** (1 / self.order) if math.isfinite(error) else MIN_SHRINKAGE
        self.h = h * min(max(factor, MIN_SHRINKAGE), MAX_SHRINKAGE)


class StepTimes:
    """The times at which steps end. Fixed steps are `counted`, not added up, so that rounding does not grow.

    begin: of the run [s]. step: the length of a fixed step [s].
    """

    def __init__(self, begin: float, step: float, *, counted: bool) -> None:
        self.begin, self.count, self.step, self.counted = begin, 0, step, counted

    def after(self, t: float, length: float, *, tried: float, target: float) -> float:
        """The time [s] at which a step from `t` ends: exactly the `target` where it was made to reach it.
        tried: its length before an event shortened it."""
        if tried == target - t and length == tried:
            end = target
        elif length == self.step and self.counted:
            self.count += 1
            end = self.begin + self.count * length
        else:
            end = t + length
        if end != self.begin + self.count * self.step:
            self.begin, self.count = end, 0
        return end


__all__ = ["StepSize", "StepTimes"]
