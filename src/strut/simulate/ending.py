"""How a run ended, as a sentence: the same for compiled, virtual and stiff runs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from strut.codegen import RunStatus
from strut.simulate.names import Names
from strut.simulate.record import STATUS

STATUS_EXPLANATIONS = {
    **{
        status.word: status.explanation
        for status in RunStatus
        if status not in (RunStatus.RUNNING, RunStatus.TERMINAL)
    },
    "interrupted": "stopped from the keyboard; what was computed is kept",
    "not run": "the batch was interrupted before this run began",
}
"""What each status means."""


CHOICE_PATTERN = re.compile(r"\{([\w.\[\]]+): ([^{}]*)\}")
"""In the description of an event: what stands there for each value of a discrete state, {NAME: 1 a; 2 b}."""


def spell_choices(text: str, values: Mapping[str, float]) -> str:
    """What an event says of itself, with the words for the values that discrete states have. values: by
    name. Where a value has no word, all of them stand."""

    def word(match: re.Match[str]) -> str:
        words = dict(entry.strip().partition(" ")[::2] for entry in match[2].split(";"))
        value = values.get(match[1], math.nan)
        return words.get(f"{value:.0f}", match[0]) if math.isfinite(value) else match[0]

    return CHOICE_PATTERN.sub(word, text)


def ending_message(
    status: str, names: Names, t: float, *, cause: int, culprit: int, states: list[float]
) -> str:
    """Say in one sentence how a run ended.

    status: its word. t: when it ended [s]. cause: the number of the jump that ended it, or -1.
    culprit: the number of the state that is not finite, among x and then z, or -1. states: x and z at the
        end.
    """
    if status == "not finite":
        return _not_finite_message(names, t, cause, culprit, states)
    if status == "zeno" and cause >= 0:
        return f"event '{names.jumps[cause]}' accumulates at t = {t:.9g} s: {STATUS_EXPLANATIONS['zeno']}"
    if status in STATUS_EXPLANATIONS and status in (*STATUS, "interrupted", "not run"):
        return f"t = {t:.9g} s: {STATUS_EXPLANATIONS[status]}"
    return f"t = {t:.9g} s: event '{status}' ended the run"


def _not_finite_message(names: Names, t: float, cause: int, culprit: int, states: list[float]) -> str:
    """Say which state, rate or guard is not finite, and what made it so; see `ending_message`."""
    jump = "" if cause < 0 else f"{'sample' if names.clocked[cause] else 'event'} '{names.jumps[cause]}'"
    if culprit < 0:
        if not jump:
            return (
                f"the stored energy is infinite or not a number at t = {t:.9g} s: something is divided by "
                f"zero there, look at its parameters"
            )
        return f"the guard of {jump} is not a number at t = {t:.9g} s: keep its expression defined there"
    kind = "state" if culprit < len(names.x) else "discrete state"
    name, value = (*names.x, *names.z)[culprit], states[culprit]
    if jump:
        return (
            f"{kind} '{name}' is {value} at t = {t:.9g} s, set by {jump}: a finite number is needed, mend "
            f"its reset"
        )
    if not math.isfinite(value):
        return (
            f"{kind} '{name}' begins with {value} at t = {t:.9g} s: a finite number is needed, mend its "
            f"initial value"
        )
    return (
        f"{kind} '{name}' does not stay finite after t = {t:.9g} s: its rate is infinite or not a number "
        f"there, or the step is too long"
    )
