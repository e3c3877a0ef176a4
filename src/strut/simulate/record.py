"""What a run leaves behind, before it gets names: steps with their dense output, and jumps between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from strut.codegen import JUMP_FIELDS as RUNTIME_JUMP_FIELDS
from strut.codegen import STATUS_WORDS, RunStatus
from strut.codegen import STEP_FIELDS as RUNTIME_STEP_FIELDS

STATUS = STATUS_WORDS
"""How a run ended, in words, by the runtime's number. A run that a terminal event ended carries the event's
name instead of 'terminal'."""
RUNNING, DONE, TERMINAL, ZENO, NOT_FINITE, TOO_SMALL, MAX_STEPS, HISTORY_FULL = RunStatus

STEP_FIELDS = tuple(field.name for field in RUNTIME_STEP_FIELDS)
"""Arrays of a record with a row per step."""
JUMP_FIELDS = tuple(field.name for field in RUNTIME_JUMP_FIELDS)
"""Arrays of a record with a row per jump."""


@dataclass
class Raw:
    """The arrays of a run.

    t, h, poly, z, u: of every step its begin and length [s], the powers of its dense output, and the discrete
        states and inputs during it.
    jump_t, x_before, ..., loss: of every jump its time [s], the states before and after, and the energies
        lost [J]. jump: its number. jump_after: how many steps came before it.
    t_end, x_end, z_end, u_end: where the run ended. status: the number of its `STATUS`.
    """

    t: np.ndarray
    h: np.ndarray
    poly: np.ndarray
    z: np.ndarray
    u: np.ndarray
    jump_t: np.ndarray
    x_before: np.ndarray
    z_before: np.ndarray
    x_after: np.ndarray
    z_after: np.ndarray
    loss: np.ndarray
    jump: np.ndarray
    jump_after: np.ndarray
    t_end: float = 0.0
    x_end: np.ndarray = field(default_factory=lambda: np.empty(0))
    z_end: np.ndarray = field(default_factory=lambda: np.empty(0))
    u_end: np.ndarray = field(default_factory=lambda: np.empty(0))
    status: int = 0
    cause: int = -1  # the jump that ended the run
    culprit: int = -1  # the state that is not finite: of x, then of z
    interrupted: bool = False
    counters: dict[str, int] = field(default_factory=dict)
    balance: tuple[float, float] = (0.0, 0.0)  # imbalance of the energy account at the end, and its scale [J]


def shapes(width: int, degree: int, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of one row of every array."""
    x, z, u, loss = (sizes["NX"],), (sizes["NZ"],), (sizes["NU"],), (sizes["NL"],)
    return {
        "t": (),
        "h": (),
        "poly": (degree + 1, width),
        "z": z,
        "u": u,
        "jump_t": (),
        "x_before": x,
        "z_before": z,
        "x_after": x,
        "z_after": z,
        "loss": loss,
        "jump": (),
        "jump_after": (),
    }


_INTEGERS: dict[str, type] = {"jump": np.int32, "jump_after": np.int64}
"""Types of the arrays that hold whole numbers."""


def kind_of(name: str) -> type:
    """The type of the numbers of an array, by its name."""
    return _INTEGERS.get(name, np.float64)


def join_chunks(chunks: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the pieces of a record; there is at least one, if only an empty one."""
    if len(chunks) == 1:
        return chunks[0]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in (*STEP_FIELDS, *JUMP_FIELDS)}
