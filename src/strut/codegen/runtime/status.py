"""`RunStatus`: how a run stands or ended, with number, word and meaning; and what the entry points answer."""

from __future__ import annotations

from enum import IntEnum


class RunStatus(IntEnum):
    """How a run stands. Each has its number in C, `enum strut_status`, and

    word: what users read as `status`; a run that a terminal event ended has the event's name instead.
    meaning: what happened. advice: what may have caused it, or what to do.
    """

    word: str
    meaning: str
    advice: str

    def __new__(cls, number: int, word: str, meaning: str, advice: str = "") -> RunStatus:
        """Make a member of its number, and give it the rest."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.word, member.meaning, member.advice = word, meaning, advice
        return member

    RUNNING = 0, "running", "the run goes on"
    DONE = 1, "done", "the run reached its end"
    TERMINAL = 2, "terminal", "a terminal event ended the run; `cause` is its jump"
    ZENO = (
        3,
        "zeno",
        "infinitely many events in finite time",
        "the run ended where they accumulate",
    )
    NOT_FINITE = (
        4,
        "not finite",
        "a state became infinite or not a number",
        "the model diverges, or its step is too long",
    )
    TOO_SMALL = (
        5,
        "step too small",
        "the step fell below what the clock resolves",
        "the model is singular there, or stiff (try method radau)",
    )
    MAX_STEPS = (
        6,
        "too many steps",
        "the allowed number of steps is used up",
        "raise max_steps, or try method radau if the model is stiff",
    )
    NO_HISTORY = (
        7,
        "history full",
        "the delay reaches further back than memory allows",
        "use a longer step or a shorter delay",
    )

    @property
    def explanation(self) -> str:
        """Meaning and advice as one sentence."""
        return f"{self.meaning}: {self.advice}" if self.advice else self.meaning


STATUS_WORDS = tuple(status.word for status in RunStatus)
"""The word of each status, by its number."""


class Advance(IntEnum):
    """What one call of `advance` did: `enum strut_result`."""

    STOPPED = 0
    STEP = 1
    JUMP = 2


class RecordingEnd(IntEnum):
    """Why `strut_go` came back: `enum strut_recording_end`."""

    STOPPED = 0
    FULL = 1
    BUDGET = 2


class RunCounter(IntEnum):
    """Places in what `strut_see` counts: `enum strut_counter`."""

    STATUS = 0
    CAUSE = 1
    STEPS = 2
    REJECTED = 3
    FLOWS = 4
    JUMPS = 5
    CULPRIT = 6


RESULT_SIZES = {
    "flow": "NX",
    "powers": "NW",
    "outputs": "NY",
    "energies": "NE",
    "guards": "NG",
    "signals": "ND",
}
"""The functions of a model that `strut_eval` evaluates, each with the size of what it gives; their numbers
are their places."""
