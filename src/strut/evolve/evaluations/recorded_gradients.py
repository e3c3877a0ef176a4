"""Exact derivatives of a run by parameters, computed along its record: for machines whose variational
equations are too long to be compiled.

Compiled code makes the run. Beside it the dependence of the state on parameters obeys S' = f_x S + f_p; here
f_x and f_p are evaluated at the points of the record, by the implicit function theorem where the machine says
its rates by an equation (`System.implied`), and S goes on from step to step. Events shear it by their
saltation matrices, as in `gait.variational`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked, finite
from strut.errors import ModelError, ShapeError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.flow_slopes import FlowSlopes
from strut.gait.variational import MIN_CAUSED_GUARD, varying_discrete_states
from strut.simulate import Trajectory
from strut.simulate.record import Raw
from strut.system import Expression, System, sx, time

STEPS_PER_CHUNK = 200
"""Steps of a record whose derivatives are evaluated at a time."""
SUBSTEPS = 2
"""Steps of Runge and Kutta's method for one of the record, whose length was chosen for the state alone."""
MIN_PIECES = 500
"""Pieces into which a run is divided at least: long steps of accurate methods are divided, too."""
BISECTIONS = 60
"""Halvings of the step in which a switch changes its sign: what is left of it is below rounding."""
SWITCH_DISTANCE = 1e-6
"""[1] How far from a switch the flow on one side of it is read, as a share of the step."""


@checked
@dataclass(frozen=True, eq=False)
class RecordedGradient:
    """Integrals over a run, and derivatives by directions of parameters. values: of the integrals, by name.
    slopes: their derivatives, by name. state: derivatives of the state at the end, states x directions."""

    values: Mapping[str, float]
    slopes: Mapping[str, np.ndarray]
    state: np.ndarray


class RecordedGradients:
    """Derivatives of integrals over runs of a system by its parameters.

    integrands: by name, expressions of the system that are integrated over time. parameters: labels of those
    that vary. begin: from when on integrals count [s]. switches: expressions of the system at whose zero the
    flow or an integrand jumps or has a kink, though no event is there; those that time alone decides need
    none.

    Raises ModelError for a system with samples, delays or random numbers, or whose events set discrete states
    to what varies.
    """

    @checked
    def __init__(
        self,
        system: System,
        integrands: Mapping[str, Expression],
        parameters: Sequence[str],
        *,
        begin: float = 0.0,
        switches: Sequence[Expression] = (),
    ) -> None:
        self.system, self.begin = system, finite("begin", begin)
        self.names = tuple(integrands)
        labels = list(system.labels("p"))
        for name in parameters:
            if name not in labels:
                raise UnknownNameError(
                    f"'{system.name}' has no parameter '{name}': {did_you_mean(name, labels)}"
                )
        self.places = [labels.index(name) for name in parameters]
        for kind in ("samples", "delays", "randoms"):
            if getattr(system, kind):
                raise ModelError(f"'{system.name}' has {kind}: its runs have no derivatives along a record")
        held_states = varying_discrete_states(system)
        if held_states:
            raise ModelError(
                f"events of '{system.name}' set '{held_states[0].name}' to what varies with the state: "
                "derivatives along a record know nothing of it"
            )
        self.flow_slopes = FlowSlopes(system, [sx(e) for e in integrands.values()], self.places)
        x, _, _, p = groups = system.vectors()
        values = ca.vertcat(*[sx(e) for e in switches], ca.SX(0, 1))
        slopes = [ca.jacobian(values, each) for each in (x, p[self.places], time)]
        self.switches = ca.Function("switches", [time, *groups], [ca.densify(values)])
        self.switch_slopes = ca.Function("slopes", [time, *groups], [ca.densify(each) for each in slopes])
        self._jumps: dict[str, ca.Function] = {}

    @checked
    def along(
        self, run: Trajectory, directions: np.ndarray, initial: np.ndarray | None = None
    ) -> RecordedGradient:
        """Return integrals over a run with their derivatives.

        directions: parameters x directions along which parameters vary. initial: states x directions, how the
        initial state varies; it does not unless given. Raises ModelError for a run that did not reach its
        end.
        """
        if run.status != "done":
            raise ModelError(
                f"the run ended by '{run.status}': derivatives are of runs that reach their time"
            )
        nx = self.system.size("x")
        D = np.asarray(directions, dtype=float)
        if D.ndim != 2 or len(D) != len(self.places):
            raise ShapeError(
                f"directions have the shape {D.shape}: {len(self.places)} parameters x directions are needed"
            )
        S = np.zeros((nx + len(self.names), D.shape[1]))
        if initial is not None:
            S[:nx] = initial
        walk = _RecordWalk(self, run, D, S)
        walk.go()
        slopes = dict(zip(self.names, walk.S[nx:], strict=True))
        return RecordedGradient(
            dict(zip(self.names, walk.totals.tolist(), strict=True)), slopes, walk.S[:nx].copy()
        )

    @checked
    def integrals(self, run: Trajectory) -> dict[str, float]:
        """Return the integrals over a run, without derivatives."""
        walk = _RecordWalk(self, run, np.zeros((len(self.places), 0)), np.zeros((0, 0)))
        walk.integrate()
        return dict(zip(self.names, walk.totals.tolist(), strict=True))

    def jump(self, name: str) -> ca.Function:
        """Return the function of an event: its guard with derivatives by states, time and the parameters that
        vary, and the states after it with theirs."""
        if name not in self._jumps:
            system = self.system
            event = system.event(name)
            after = ca.vertcat(*[sx(event.reset.get(q.name, q.sym)) for q in system.x])
            x, _, _, p = system.vectors()
            both = ca.vertcat(sx(event.guard), after)
            parts = [both, *[ca.jacobian(both, e) for e in (x, p[self.places], time)]]
            self._jumps[name] = ca.Function("jump", [time, *system.vectors()], [ca.densify(e) for e in parts])
        return self._jumps[name]


@dataclass(frozen=True)
class _RecordPiece:
    """A part of a step of the record. step: its number in the record. first, last: where the part begins and
    ends, as shares of the step [1]. switch: the number of the switch that is at its end, -1 where none is.
    jumps: events at its end, by their number in the record."""

    step: int
    first: float
    last: float
    switch: int = -1
    jumps: tuple[int, ...] = ()


class _RecordWalk:
    """One way along a record, with the dependence S of states and integrals on directions of parameters."""

    def __init__(self, gradients: RecordedGradients, run: Trajectory, D: np.ndarray, S: np.ndarray) -> None:
        self.gradients, self.run, self.D, self.S = gradients, run, D, S
        self.raw: Raw = run.raw
        self.nx = gradients.system.size("x")
        self.totals = np.zeros(len(gradients.names))
        self.timing = np.zeros(D.shape[1])  # of the last event
        self.last_time = -np.inf

    def go(self) -> None:
        """Go from the beginning to the end, in chunks of steps."""
        for first in np.flatnonzero(self.raw.jump_after == 0).tolist():
            self._pass_jump(first)
        pieces = self._pieces()
        for begin in range(0, len(pieces), STEPS_PER_CHUNK):
            chunk = pieces[begin : begin + STEPS_PER_CHUNK]
            moments, places = _moments(chunk)
            rates, A, B = self._slopes(moments)
            for piece, at in zip(chunk, places, strict=True):
                self._pass_piece(piece, rates[at], A[at], B[at])
                if piece.switch >= 0:
                    self._pass_switch(piece)
                for jump in piece.jumps:
                    self._pass_jump(jump)

    def integrate(self) -> None:
        """Add up the integrals alone."""
        pieces, rates_of = self._pieces(), self.gradients.flow_slopes.rates
        for begin in range(0, len(pieces), STEPS_PER_CHUNK):
            chunk = pieces[begin : begin + STEPS_PER_CHUNK]
            moments, places = _moments(chunk)
            t, x, z, u = self._points(moments)
            groups = t[None], x.T, z.T, u.T, np.tile(self.run.p[:, None], len(t))
            rates = np.array(rates_of.map(len(t))(*groups)[0]).T
            for piece, at in zip(chunk, places, strict=True):
                self._add_integrals(piece, rates[at])

    def _add_integrals(self, piece: _RecordPiece, rates: np.ndarray) -> None:
        """Add what a piece has of the integrals, by Simpson's rule."""
        if self._counts(piece):
            length = (piece.last - piece.first) * self.raw.h[piece.step]
            self.totals += length / 6 * (np.array([1.0, 4.0, 1.0]) @ rates[:, self.nx :])

    def _pieces(self) -> list[_RecordPiece]:
        """Steps, divided where integrals begin and where switches change their signs."""
        raw = self.raw
        count = len(raw.t)
        after: list[list[int]] = [[] for _ in range(count + 1)]
        for jump, steps in enumerate(raw.jump_after.tolist()):
            after[steps].append(jump)
        signs = [self._switch_values([(k, a) for k in range(count)]) > 0 for a in (0.0, 1.0)]
        pieces = []
        for k in range(count):
            changing = np.flatnonzero(signs[0][:, k] != signs[1][:, k]).tolist()
            cuts = [(self._crossing_share(k, switch), switch) for switch in changing]
            if raw.t[k] < self.gradients.begin < raw.t[k] + raw.h[k]:
                cuts.append(((self.gradients.begin - raw.t[k]) / raw.h[k], -1))
            parts = int(np.ceil(raw.h[k] * MIN_PIECES / self.run.t1))
            cuts += [(part / parts, -1) for part in range(1, parts)]
            first = 0.0
            for a, switch in sorted(cuts):
                pieces.append(_RecordPiece(k, first, a, switch))
                first = a
            pieces.append(_RecordPiece(k, first, 1.0, jumps=tuple(after[k + 1])))
        return pieces

    def _crossing_share(self, step: int, switch: int) -> float:
        """Where in a step a switch changes its sign, as a share of it, by bisection."""
        low, high = 0.0, 1.0
        begins = self._switch_values([(step, 0.0)])[switch, 0] > 0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if (self._switch_values([(step, middle)])[switch, 0] > 0) == begins:
                low = middle
            else:
                high = middle
        return high

    def _switch_values(self, moments: Sequence[tuple[int, float]]) -> np.ndarray:
        """Values of all switches at moments, switches x moments."""
        switches = self.gradients.switches
        count = switches.size1_out(0)
        if not count or not moments:
            return np.zeros((count, len(moments)))
        t, x, z, u = self._points(moments)
        p = np.tile(self.run.p[:, None], len(t))
        return np.array(switches.map(len(t))(t[None], x.T, z.T, u.T, p))

    def _slopes(self, moments: Sequence[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rates and their derivatives at moments, pairs of step and share."""
        return self.gradients.flow_slopes.at(*self._points(moments), self.run.p, self.D)

    def _points(
        self, moments: Sequence[tuple[int, float]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times, states, discrete states and inputs at moments, a row each."""
        raw, steps = self.raw, [step for step, _ in moments]
        shares = np.array([a for _, a in moments])
        poly = raw.poly[steps, :, : self.nx]
        x = poly[:, -1]
        for power in range(poly.shape[1] - 2, -1, -1):
            x = x * shares[:, None] + poly[:, power]
        return raw.t[steps] + shares * raw.h[steps], x, raw.z[steps], raw.u[steps]

    def _counts(self, piece: _RecordPiece) -> bool:
        """Whether integrals count in a piece."""
        middle = (piece.first + piece.last) / 2
        return bool(self.raw.t[piece.step] + middle * self.raw.h[piece.step] >= self.gradients.begin)

    def _pass_piece(self, piece: _RecordPiece, rates: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """Integrate S over a piece by Runge and Kutta's method, with derivatives that are quadratic in time
        between its begin, middle and end."""
        self._add_integrals(piece, rates)
        length = (piece.last - piece.first) * self.raw.h[piece.step]
        nx = self.nx
        if not self._counts(piece):
            A, B = A.copy(), B.copy()
            A[:, nx:], B[:, nx:] = 0.0, 0.0
        h, S = length / SUBSTEPS, self.S
        at = np.linspace(0, 1, 2 * SUBSTEPS + 1)
        weights = np.column_stack([(1 - at) * (1 - 2 * at), 4 * at * (1 - at), at * (2 * at - 1)])
        A = (weights @ A.reshape(3, -1)).reshape(-1, *A.shape[1:])
        B = (weights @ B.reshape(3, -1)).reshape(-1, *B.shape[1:])
        for k in range(0, 2 * SUBSTEPS, 2):
            one = A[k] @ S[:nx] + B[k]
            two = A[k + 1] @ (S + h / 2 * one)[:nx] + B[k + 1]
            three = A[k + 1] @ (S + h / 2 * two)[:nx] + B[k + 1]
            four = A[k + 2] @ (S + h * three)[:nx] + B[k + 2]
            S = S + h / 6 * (one + 2 * two + 2 * three + four)
        self.S = S

    def _rates(self, t: float, x: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Rates of states and, where they count, of integrals."""
        rates = np.array(self.gradients.flow_slopes.rates(t, x, z, u, self.run.p)[0])[:, 0]
        if t < self.gradients.begin:
            rates[self.nx :] = 0.0
        return rates

    def _pass_switch(self, piece: _RecordPiece) -> None:
        """Shear S where a switch changes the flow: a neighbour meets it earlier or later."""
        k, p = piece.step, self.run.p
        sides = self._points(
            [(k, a) for a in (max(piece.last - SWITCH_DISTANCE, 0.0), min(piece.last + SWITCH_DISTANCE, 1.0))]
        )
        before, after = (self._rates(*[group[side] for group in sides]) for side in (0, 1))
        at = [group[0] for group in self._points([(k, piece.last)])]
        by_x, by_p, by_t = (np.array(e)[piece.switch] for e in self.gradients.switch_slopes(*at, p))
        rate = float(by_x @ before[: self.nx] + by_t[0])
        later = -(by_x @ self.S[: self.nx] + by_p @ self.D) / rate
        self.S = self.S + np.outer(before - after, later)

    def _pass_jump(self, jump: int) -> None:
        """Shear S by the saltation matrix of an event. One that another causes comes when that one does."""
        raw, nx, p = self.raw, self.nx, self.run.p
        name, t = self.run.names.jumps[int(raw.jump[jump])], float(raw.jump_t[jump])
        x, z = raw.x_before[jump], raw.z_before[jump]
        u = raw.u[min(int(raw.jump_after[jump]), len(raw.u)) - 1] if len(raw.u) else raw.u_end
        values, by_x, by_p, by_t = (np.array(e) for e in self.gradients.jump(name)(t, x, z, u, p))
        before = self._rates(t, x, z, u)
        after = self._rates(t, raw.x_after[jump], raw.z_after[jump], u)
        along = by_x @ self.S[:nx] + by_p @ self.D  # of the guard, then of the states after it
        rate = by_x @ before[:nx] + by_t[:, 0]
        caused = t == self.last_time and float(values[0, 0]) > MIN_CAUSED_GUARD
        later = self.timing if caused else -along[0] / rate[0]
        S = self.S + np.outer(before - after, later)  # of integrals, which go on
        S[:nx] = along[1:] + np.outer(rate[1:] - after[:nx], later)
        self.S, self.timing, self.last_time = S, later, t


def _moments(pieces: Sequence[_RecordPiece]) -> tuple[list[tuple[int, float]], list[list[int]]]:
    """Return moments, pairs of step and share, and for each piece the places among them of its begin, middle
    and end. Where nothing happens between two pieces they share one. Beside a switch each is read on its own
    side."""
    moments: list[tuple[int, float]] = []
    places: list[list[int]] = []
    before: _RecordPiece | None = None
    for piece in pieces:
        goes_on = before is not None and before.switch < 0 and not before.jumps
        begin = len(moments) - 1 if goes_on else len(moments)
        if not goes_on:
            moments.append((piece.step, piece.first + SWITCH_DISTANCE if piece.first else 0.0))
        middle, last = (
            (piece.first + piece.last) / 2,
            piece.last - (SWITCH_DISTANCE if piece.switch >= 0 else 0.0),
        )
        moments += [(piece.step, middle), (piece.step, last)]
        places.append([begin, len(moments) - 2, len(moments) - 1])
        before = piece
    return moments, places


__all__ = ["RecordedGradient", "RecordedGradients"]
