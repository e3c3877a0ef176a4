"""Pieces: signals over time, or over a phase of the machine, as polynomials one after the other, held in the
parameters and discrete states of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import casadi as ca
import numpy as np

from strut.system import Discrete, Event, Param, State

MIN_PIECES = 32
"""Tables are filled up to so many pieces, or twice, four times, ... as many, so that few lengths, and so few
programs, occur. A program of 256 takes a tenth longer to compile than one of 64 (measured)."""


JUMP_TIME = 1e-10
"""[s] Within which of the beginning of a piece an event is taken to come because signals jump there: a clock
that is integrated beside the state is exact to 1e-15 s."""


@dataclass(frozen=True, eq=False)
class PieceTable:
    """Signals as pieces, each a polynomial of what they are indexed by.

    values: by piece, the signals at the places of its polynomial. times: where pieces begin and end [s, or
    the unit of the index]. used: how many there are; the rest only fills up.
    """

    values: np.ndarray
    times: np.ndarray
    used: int

    @property
    def count(self) -> int:
        """Pieces, those that fill up included."""
        return len(self.values)


def fill_up(values: np.ndarray, times: np.ndarray) -> PieceTable:
    """Return pieces filled up to `MIN_PIECES`, doubled until they fit, with copies of the last. times: where
    they begin and end, one more than there are pieces."""
    used, count = len(values), MIN_PIECES
    while count < used:
        count *= 2
    return PieceTable(
        values=np.vstack([values, np.repeat(values[-1:], count - used, axis=0)]),
        times=np.concatenate([times, np.full(count - used, times[-1])]),
        used=used,
    )


@dataclass(frozen=True, eq=False)
class PlanQuantities:
    """What holds a table of pieces in a system: its numbers as parameters, what it is indexed by, and the
    piece that it is in.

    values: the signals at the places of all pieces. times: where pieces begin and end [s, or the unit of the
        index]. used: how many pieces there are; the rest only fills up. holds: numbers of the pieces that
        last until an event comes.
    clock: the time since the table began [s]; None where `phase`, an expression of the state that grows in a
        step, is what it is indexed by.
    piece, begin, end, now: the number of the piece that the table is in, where that begins and ends, and its
        signals.
    """

    values: Param
    times: Param
    used: Param
    holds: Param | None
    clock: State | None
    piece: Discrete
    begin: Discrete
    end: Discrete
    now: Discrete
    phase: ca.SX | None = None

    @property
    def index(self) -> ca.SX:
        """What the pieces are indexed by."""
        if self.clock is not None:
            return self.clock.sym
        assert self.phase is not None
        return self.phase

    @property
    def states(self) -> tuple[State | Discrete, ...]:
        """What is set when the table begins anew."""
        clock = () if self.clock is None else (self.clock,)
        return (self.piece, *clock, self.begin, self.end, self.now)

    def first_piece(self, count: int) -> dict[str, ca.SX]:
        """Return what these are when the table, of so many pieces, begins anew by its clock."""
        assert self.clock is not None
        return {
            self.piece.name: ca.SX(0),
            self.clock.name: ca.SX(0),
            self.begin.name: ca.SX(0),
            self.end.name: self.times.sym[1],
            self.now.name: self.table(count)[:, 0],
        }

    def piece_at(self, number: ca.SX, count: int) -> dict[str, ca.SX]:
        """Return what these are, but for the clock, when a piece of this number, of so many, begins."""
        chosen = ca.vertcat(*[number == k for k in range(count)])
        return {
            self.piece.name: number,
            self.begin.name: ca.dot(chosen, self.times.sym[:-1]),
            self.end.name: ca.dot(chosen, self.times.sym[1:]),
            self.now.name: ca.mtimes(self.table(count), chosen),
        }

    def begin_piece(self, number: ca.SX, count: int) -> dict[str, ca.SX]:
        """Return what these are when a piece of this number, of so many, begins by its clock; where the
        number is negative, what they are already."""
        stays = number < -0.5
        begin = self.piece_at(ca.if_else(stays, self.piece.sym, number), count)
        if self.clock is None:
            return begin
        return {**begin, self.clock.name: ca.if_else(stays, self.clock.sym, begin[self.begin.name])}

    def next_number(self, count: int, holds: Sequence[ca.SX], otherwise: float = -1) -> ca.SX:
        """Return the number of the piece that comes after the next one of `holds`, or `otherwise` where none
        of them is to come."""
        later = [ca.if_else(k >= self.piece.sym - 0.5, k, count) for k in holds]
        comes = reduce(ca.fmin, later, ca.SX(count))
        return ca.if_else(comes < count - 0.5, ca.fmin(comes + 1, self.used.sym - 1), otherwise)

    def next_phase(self, count: int, holds: Sequence[ca.SX]) -> dict[str, ca.SX]:
        """Return what these are when the piece begins that comes after the next one of `holds`; where none of
        them is to come, what they are already."""
        return self.begin_piece(self.next_number(count, holds), count)

    def time_by_clock(self, guard: ca.SX) -> ca.SX:
        """Return a guard of the same sign for an event that signals bring about where they jump from piece to
        piece. Such an event comes when the clock says, whatever the rate of its guard: at that moment the
        clock is the guard, and its derivatives are right."""
        assert self.clock is not None
        since = self.clock.sym - self.begin.sym
        jumps = ca.logic_and(guard > 0, ca.fabs(since) < JUMP_TIME)
        return ca.if_else(jumps, since + 2 * JUMP_TIME, guard)

    def table(self, count: int) -> ca.SX:
        """Return the values, a column for each of so many pieces."""
        return ca.reshape(self.values.sym, self.now.size, count)

    def signals(self, basis: np.ndarray) -> ca.SX:
        """Return the signals as the polynomials of the piece that the table is in. basis: their
        coefficients, see `lagrange`."""
        width = self.now.size // len(basis)
        place = (self.index - self.begin.sym) / (self.end.sym - self.begin.sym)
        column = ca.SX.zeros(width, 1)
        for i in range(len(basis)):
            factor = sum((float(c) * place**j for j, c in enumerate(basis[i])), ca.SX(0))
            column = column + factor * self.now.sym[i * width : (i + 1) * width]
        return column

    def next_piece_event(self, count: int) -> Event:
        """Return the event in which one piece ends and the next begins."""
        goes_on = (self.used.sym - 1.5) - self.piece.sym
        for number in () if self.holds is None else ca.vertsplit(self.holds.sym):
            goes_on = ca.fmin(goes_on, ca.fabs(self.piece.sym - number) - 0.5)
        return Event(
            "next_piece",
            guard=self.index - self.end.sym,
            when=goes_on,
            reset={**self.piece_at(self.piece.sym + 1, count), self.begin.name: self.end.sym},
            priority=-1,
            internal=True,
        )


__all__ = ["MIN_PIECES", "PieceTable", "PlanQuantities", "fill_up"]
