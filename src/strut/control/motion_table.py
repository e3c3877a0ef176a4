"""The table of a held motion: where its pieces lie, and states and inputs at their places, past the ends of
phases too."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.control.reference_motion import ReferenceMotion, ReferencePhase, continue_flow
from strut.errors import ModelError
from strut.system import start

DEGREE = 5
"""[1] Degree of the polynomial that a piece is."""
OVERTIME = 0.3
"""[1] Part of a step for which the reference of a phase goes on if its event does not come."""
OVERTIME_PIECES = 3
"""Pieces into which the reference of a phase past its end is divided, and that before its beginning."""
PLACES = np.linspace(0, 1, DEGREE + 1)
"""[1] Places of a piece, 0 to 1, at which its polynomial is known."""
PLACE_BASIS = np.linalg.inv(np.vander(PLACES, DEGREE + 1, increasing=True))
"""[1] From values at the places of a piece to the coefficients of its polynomial."""
STEADY_PART = 0.1
"""[1] An index is chosen where its rate never falls below this part of its largest in a step."""
MIN_PIECE_WIDTH = 1e-12
"""Least width of the piece that is held at the end of a phase, in the unit of the index."""


@dataclass(frozen=True, eq=False)
class TablePiece:
    """One piece: its states and inputs at the places of its polynomial.

    begin, end: of the index. phase: the number of the phase that it belongs to. inside: whether it is part of
    the gait, and not of what comes where an event is early or late. times: of its places [s], in the step.
    """

    begin: float
    end: float
    phase: int
    inside: bool
    times: np.ndarray
    x: np.ndarray
    u: np.ndarray


@dataclass(frozen=True, eq=False)
class MotionTable:
    """All pieces of a motion, in order.

    index: what they are indexed by: None for time, else an expression of the states that grows in a step.
    first: of each phase, the number of the piece in which it begins. holds: of each phase, the number of its
    last piece, which lasts until its event comes.
    """

    motion: ReferenceMotion
    pieces: tuple[TablePiece, ...]
    index: ca.SX | None
    first: tuple[int, ...]
    holds: tuple[int, ...]

    def inside_pieces(self, phase: int) -> list[TablePiece]:
        """Return the pieces of a phase that are part of the gait."""
        return [piece for piece in self.pieces if piece.phase == phase and piece.inside]

    @property
    def states(self) -> np.ndarray:
        """The states of the gait at all places of its pieces, rows."""
        return np.vstack([piece.x for piece in self.pieces if piece.inside])

    @property
    def times(self) -> np.ndarray:
        """Where pieces begin and end [s, or the unit of the index], one more than there are pieces."""
        return np.array([*[piece.begin for piece in self.pieces], self.pieces[-1].end])


def read_index(motion: ReferenceMotion, index: str | ca.SX) -> tuple[ca.SX | None, str]:
    """Return what a motion is to be indexed by, None for time, else an expression that grows in a step; and
    its name.

    index: 'auto', 'time', the name of a state or output, or an expression of the states. One that falls is
    taken with the opposite sign. 'auto' takes the angle or length whose rate changes least in a step, if it
    never falls below `STEADY_PART` of its largest, else time. Raises ModelError where an index does not
    change in one direction all the time.
    """
    plant = motion.plant
    if isinstance(index, str) and index == "auto":
        labels = [label for q in plant.x for label in q.labels if not q.unit.endswith("/s")]
        spans = {label: _rates(motion, _state(motion, label)) for label in labels}
        steadiness = {n: min(abs(r)) / max(abs(r)) if min(r) * max(r) > 0 else 0.0 for n, r in spans.items()}
        index = max(steadiness, key=lambda n: steadiness[n], default="time")
        index = index if steadiness.get(index, 0.0) >= STEADY_PART else "time"
    if isinstance(index, str) and index == "time":
        return None, "time"
    expression = index if not isinstance(index, str) else _state(motion, index)
    name = index if isinstance(index, str) else str(expression)
    if ca.depends_on(expression, ca.vertcat(plant.vector("u"), plant.vector("z"))):
        raise ModelError(
            f"the index '{name}' depends on more than the states and parameters of '{plant.name}'"
        )
    rates = _rates(motion, expression)
    if not (min(rates) > 0 or max(rates) < 0):
        raise ModelError(
            f"the index '{name}' does not grow, or fall, all through a step of '{plant.name}': its rate goes "
            f"from {min(rates):.3g} to {max(rates):.3g} per second; index by 'time', or by another state"
        )
    return expression if min(rates) > 0 else -expression, name


def _state(motion: ReferenceMotion, name: str) -> ca.SX:
    """Return what a name stands for, also that of one component of a state."""
    places = motion.plant.slices("x")
    return motion.plant.vector("x")[places[name]] if name in places else motion.plant[name]


def _rates(motion: ReferenceMotion, expression: ca.SX) -> np.ndarray:
    """Return the rate of an expression of the states all through a step [per s]."""
    plant = motion.plant
    flow = ca.vertcat(*[plant.flow[q.name] for q in plant.x])
    rate = plant.function("rate", [ca.jtimes(expression, plant.vector("x"), flow)])
    p, rates = start(plant).p, []
    for phase in motion.phases:
        for a, b in pairwise(phase.breaks):
            states, inputs = motion.piece_samples(a, b, PLACES)
            rates += [float(rate(0.0, s, phase.z, u, p)) for s, u in zip(states, inputs, strict=True)]
    return np.array(rates)


def motion_table(motion: ReferenceMotion, index: ca.SX | None) -> MotionTable:
    """Divide a motion into pieces, with more of them where an event comes late (by time), or a step begins
    elsewhere (by a phase of the machine)."""
    pieces: list[TablePiece] = []
    first, holds, offset = [], [], 0.0
    overtime = OVERTIME * motion.gait.period / motion.gait.steps
    for number, phase in enumerate(motion.phases):
        # the gait itself, then the motion past the end of the phase, and last a piece that is held
        parts = [
            (phase.begin + places, True, *motion.piece_samples(a, b, PLACES))
            for a, b in pairwise(phase.breaks)
            for places in [a - phase.begin + (b - a) * PLACES]
        ]
        later = phase.end + overtime * (np.arange(OVERTIME_PIECES * DEGREE + 1) / (OVERTIME_PIECES * DEGREE))
        beyond = motion.states_beyond(phase, later)
        parts += [
            (later[k : k + DEGREE + 1], False, beyond[k : k + DEGREE + 1], _repeat(phase.u_end))
            for k in range(0, OVERTIME_PIECES * DEGREE, DEGREE)
        ]
        last = np.repeat(beyond[-1:], DEGREE + 1, axis=0)
        parts.append((later[-1] + overtime * PLACES, False, last, _repeat(phase.u_end)))
        if index is not None:
            parts = [*_parts_before(motion, phase, parts[0], overtime), *parts]
        first.append(len(pieces) + (0 if index is None else OVERTIME_PIECES))
        pieces += _table_pieces(parts, motion, number, index, offset - phase.begin)
        holds.append(len(pieces) - 1)
        offset += phase.end - phase.begin + 2 * overtime
    pieces = _join_pieces(pieces, holds)
    return MotionTable(motion, tuple(pieces), index, tuple(first), tuple(holds))


Part = tuple[np.ndarray, bool, np.ndarray, np.ndarray]
"""Times [s], whether it is part of the gait, states and inputs at the places of a piece."""


def _repeat(row: np.ndarray) -> np.ndarray:
    return np.repeat(row[None], DEGREE + 1, axis=0)


def _parts_before(motion: ReferenceMotion, phase: ReferencePhase, begin: Part, overtime: float) -> list[Part]:
    """Return pieces before the beginning of a phase: the flow backwards, with the first inputs."""
    count = OVERTIME_PIECES * DEGREE
    before = -overtime * np.arange(count + 1) / count
    u = begin[3][0]
    states = continue_flow(motion.plant, begin[2][0], (phase.z, u), before)
    times, states = (phase.begin + before)[::-1], states[::-1]
    return [
        (times[k : k + DEGREE + 1], False, states[k : k + DEGREE + 1], _repeat(u))
        for k in range(0, count, DEGREE)
    ]


def _table_pieces(
    parts: list[Part], motion: ReferenceMotion, number: int, index: ca.SX | None, shift: float
) -> list[TablePiece]:
    """Return the parts of a phase as pieces, with where each begins and ends. shift: of the clock [s]."""
    value = None if index is None else motion.plant.function("index", [index], "xp", clock=False)
    p, origin = start(motion.plant).p, motion.phases[number].origin
    pieces = []
    for times, inside, own_states, u in parts:
        ends = [t + shift for t in (times[0], times[-1])]
        x = own_states - origin
        if value is not None:
            ends = [float(value(x[k], p)) for k in (0, -1)]
            x, u = _at_equal_index(value, p, x, u) if ends[1] > ends[0] else (x, u)
        pieces.append(TablePiece(ends[0], ends[1], number, inside, times, x, u))
    return pieces


def _at_equal_index(
    value: ca.Function, p: np.ndarray, x: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return states and inputs of a piece at equal steps of the index instead of time: the polynomials over
    time, inverted by Newton's method on those of the index."""
    at = np.array([float(value(row, p)) for row in x])
    even = np.linspace(at[0], at[-1], len(at))
    inverse = np.linalg.inv(np.vander(PLACES, len(at), increasing=True))
    powers = inverse @ at
    places = PLACES.copy()
    for _ in range(30):
        rate = np.vander(places, len(at) - 1, increasing=True) @ (powers[1:] * np.arange(1, len(at)))
        places = np.clip(places - (np.vander(places, len(at), increasing=True) @ powers - even) / rate, 0, 1)
    rows = np.vander(places, len(at), increasing=True) @ inverse
    return rows @ x, rows @ u


def _join_pieces(pieces: list[TablePiece], holds: list[int]) -> list[TablePiece]:
    """Return pieces of which every one ends where the next begins: the last of a phase, which is constant,
    reaches to the next phase."""
    joined = []
    for k, piece in enumerate(pieces):
        following = pieces[k + 1].begin if k + 1 < len(pieces) else piece.begin + 1.0
        end = following if abs(following - piece.begin) > MIN_PIECE_WIDTH else piece.begin + MIN_PIECE_WIDTH
        joined.append(TablePiece(piece.begin, end, piece.phase, piece.inside, piece.times, piece.x, piece.u))
    return joined


__all__ = ["DEGREE", "PLACES", "PLACE_BASIS", "MotionTable", "TablePiece", "motion_table", "read_index"]
