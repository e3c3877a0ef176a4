"""`kinematic_stride`: a step to begin a search from, of a walker that has no passive gait.

Inverse kinematics give a posture in which a step of the wanted length begins, the one in which it ends (the
same with left and right exchanged), and one between, with the swing foot lifted. The walker moves evenly
through the three. Where a foot lands on rigid ground, the branch of the landing is the one that the contact
sequence means: the new foot holds, the old one leaves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import NoStrideError
from strut.gait.exchange import mirrored_states
from strut.gait.section import section_of
from strut.gait.transport import distance, forward_states
from strut.optimal.solver.guess import Curve
from strut.optimal.solver.interrupt_warning import hide_interrupt_warning
from strut.optimal.solver.mesh_solve import EXCEPTION
from strut.optimal.walk.even_stride import PERIOD_FACTOR, EvenStride
from strut.optimal.walk.frozen_branch import Point, compares, freeze_at
from strut.optimal.walk.read_walk import gravity_of
from strut.system import Foot, System, position_places, start, sx, time

STEP_PER_ROOT_SPEED = 1.2
"""[1] Length of a step over the height h of the centre of mass, by the root of the speed over sqrt(g h): as
people choose it from strolling to brisk walking."""
STEP_PER_HEIGHT = (0.15, 0.7)
"""[1] Least and largest length of a step over the height of the centre of mass, where no length is asked."""
DEFAULT_STEP = 0.4
"""[1] Length of a step over the height of the centre of mass, where neither length nor speed is asked."""
LIFT_PER_HEIGHT = 0.05
"""[1] Height of the swing foot in mid-step over the height of the centre of mass."""
STRIDE_SAMPLES = 21
"""Points of the stride at which states are given."""
MAX_LANDINGS = 2000
"""Random velocities with which a landing is tried until it does what the contact sequence means."""
MIN_LANDING_SPEED = 0.01
"""[m/s] A foot that lands comes down at least so fast, when landings are tried."""
POSTURE_STARTS = 6
"""Postures from which a stride is looked for: the walker's own, and others around it."""
POSTURE_SPREAD = 0.4
"""[m, rad] by which these others differ from its own."""
MAX_POSTURE_ERROR = 1e-6
"""[m, rad] by which the postures of a stride may miss what is asked of them."""


def kinematic_stride(
    walker: System, section: str, step_length: float | None = None, speed: float | None = None
) -> EvenStride:
    """An even step of a walker that ends with the event `section`, of the length [m] that is asked, or that
    goes with a speed [m/s]. Raises `NoStrideError` where no such posture exists, where its landing never lets
    the old foot go, or where positions and velocities cannot be told apart."""
    return Kinematics(walker, section).stride(step_length, speed)


class Kinematics:
    """Postures of a walker: its states of position, and where its feet are."""

    def __init__(self, walker: System, section: str) -> None:
        self.walker, self.section = walker, section
        self.x, self.others = walker.vector("x"), [walker.vector(group) for group in "zup"]
        flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
        self.positions = position_places(walker)
        self.velocities = [i for i in range(self.x.numel()) if i not in self.positions]
        self.rates = ca.Function(
            "rates", [self.x, *self.others], [ca.jacobian(flow[self.positions], self.x[self.velocities])]
        )
        self.begin = start(walker)
        self.swing = None if walker.walk is None else walker.walk.foot_of(section)
        self.stance = self._stance()
        self.z = self._discrete()

    def _stance(self) -> Foot | None:
        """The foot that stands while the other swings, of a walker whose feet are on the ground in turn."""
        if self.swing is None or not self.swing.stands or self.walker.walk is None:
            return None
        others = [f for f in self.walker.walk.feet if f.name == self.swing.opposite]
        return others[0] if others and others[0].at is not None else None

    def _discrete(self) -> np.ndarray:
        """Discrete states when the step begins: those of the start, with one foot on the ground, and flags of
        feet that pass each other as a landing leaves them."""
        z = self.begin.z.copy()
        labels = self.walker.labels("z")
        if self.stance is not None and self.swing is not None:
            for foot in (f for f in (self.stance, self.swing) if f.passes):
                for name in self.walker.event(foot.passes).reset:
                    z[labels.index(name)] = 0.0
            z[labels.index(self.stance.stands)], z[labels.index(self.swing.stands)] = 1.0, 0.0
        return z

    def stride(self, step_length: float | None, speed: float | None) -> EvenStride:
        """See `kinematic_stride`."""
        swing = "the swing foot" if self.swing is None else f"'{self.swing.name}'"
        postures, length, period = self.even_postures(step_length, speed)
        states = self.states_through(postures, period)
        landing = self._landing_point(states[-1])
        if landing is None and compares(self.walker, self.section):
            raise NoStrideError(
                f"however '{self.walker.name}' comes down at the end of a step of {length:.3g} m, the "
                f"landing of {swing} does not let the other foot go: ask for another step_length, or let it "
                f"begin (initial) in another posture"
            )
        stride = EvenStride(period, length, self.guess_of(states))
        return stride if landing is None else self._with_branches(stride, states, landing)

    def guess_of(self, states: np.ndarray) -> dict[str, Any]:
        """States in rows as a guess: a column for each name."""
        return {label: states[:, k] for k, label in enumerate(self.walker.labels("x"))}

    def even_postures(
        self, step_length: float | None, speed: float | None
    ) -> tuple[np.ndarray, float, float]:
        """Positions at the beginning, in the middle and at the end of a step, as rows; its length [m] and
        its duration [s]. Raises `NoStrideError` where there is none."""
        name = self.walker.name
        if not self.positions or not self.velocities:
            raise NoStrideError(
                f"no even stride of '{name}' is known: its states are not positions and velocities of a "
                f"mechanism. Give a gait or a motion as guess"
            )
        length, period = self.usual_step(step_length, speed)
        postures = self._postures(length, self.height(), period)
        if postures is None:
            raise NoStrideError(
                f"no posture of '{name}' ends a step of {length:.3g} m with both feet on the ground, within "
                f"the limits of its joints: ask for another step_length, give longer legs or wider limits, "
                f"or let it begin (initial) in a posture nearer to a step"
            )
        return postures, length, period

    def usual_step(self, step_length: float | None, speed: float | None) -> tuple[float, float]:
        """Length [m] and duration [s] of a step: as asked, or as they go with what is asked."""
        gravity = gravity_of(self.walker)
        length = step_length or _usual_length(self.height(), speed, gravity)
        return length, length / speed if speed else PERIOD_FACTOR * math.sqrt(length / gravity)

    def height(self) -> float:
        """[m]: of the centre of mass over the ground when a run begins, by the account of energy."""
        walk, stored = self.walker.walk, self.walker.ledger.stored if self.walker.ledger is not None else {}
        if walk is None or walk.weight is None or walk.gravity not in stored:
            return 1.0
        f = self.walker.function("height", [sx(stored[walk.gravity]) / sx(walk.weight)], clock=False)
        height = float(f(self.begin.x, self.begin.z, self.begin.u, self.begin.p))
        return height if height > 0 else 1.0

    def expressions_at(self, expressions: list[ca.SX], q: ca.SX) -> list[ca.SX]:
        """Expressions of the state in a posture, at rest, during the step."""
        x = ca.SX(self.begin.x)
        x[self.velocities] = 0
        x[self.positions] = q
        old = [self.x, *self.others]
        new = [x, ca.SX(self.z), ca.SX(self.begin.u), ca.SX(self.begin.p)]
        return ca.substitute(expressions, old, new)

    def _postures(self, length: float, height: float, period: float) -> np.ndarray | None:
        """Positions at the beginning, in the middle and at the end of a step, as rows."""
        walker, n = self.walker, len(self.positions)
        begin, end = ca.SX.sym("begin", n), ca.SX.sym("end", n)
        own = self.begin.x[self.positions]
        section = section_of(walker, self.section)
        carried = set(forward_states(walker, section))
        placed = [k for k, i in enumerate(self.positions) if i in carried]
        repeats = [k for k, i in enumerate(self.positions) if i not in carried and not section.moves_along(i)]
        after = walker.after(self.section, mirrored_states(walker))[self.positions]
        reached, came = self.expressions_at([after, distance(walker, self.section)], end)
        rows = [(reached - begin)[repeats], came - length]
        if self.stance is not None and self.swing is not None:
            place, gap = sx(self.stance.at), walker[self.stance.gap]
            at_begin, at_end = (
                self.expressions_at([place, gap], begin),
                self.expressions_at([place, gap], end),
            )
            rows += [at_begin[1], at_end[0] - at_begin[0], begin[placed]]
        if self.swing is not None and self.swing.gap:
            rows += self.expressions_at([walker[self.swing.gap]], end)
        else:
            rows += self.expressions_at([sx(walker.event(self.section).guard)], end)
        ahead = own.copy()
        ahead[placed[:1]] += length
        first = nearest_posture(ca.vertcat(begin, end), rows, np.concatenate([own, ahead]), self.bounds(2))
        if first is None:
            return None
        ends = first.reshape(2, n)
        return self._relax(np.vstack([ends[0], self._middle(ends, height, period), ends[1]]))

    def _relax(self, postures: np.ndarray) -> np.ndarray:
        """The postures with motors that are behind springs where these hold no torque. Such motors are the
        positions of which neither the ground nor gravity knows anything."""
        walker, q = self.walker, ca.SX.sym("q", len(self.positions))
        walk, stored = walker.walk, walker.ledger.stored if walker.ledger is not None else {}
        if walk is None or walk.gravity not in stored:
            return postures
        outside = [stored[walk.gravity], *[walker[f.gap] for f in walk.feet if f.gap]]
        seen_outside = self.expressions_at([ca.vertcat(*[sx(e) for e in outside])], q)[0]
        behind = [k for k in range(q.numel()) if not ca.depends_on(seen_outside, q[k])]
        if not behind:
            return postures
        potential = self.expressions_at([sum((sx(e) for e in stored.values()), ca.SX(0))], q)[0]
        stiffness, torque = ca.hessian(potential, q[behind])
        newton = ca.Function("newton", [q], [stiffness, torque])
        at_rest = postures.copy()
        for row in at_rest:  # springs are linear in their motors' angles: one Newton step
            matrix, gradient = (np.array(e) for e in newton(row))
            row[behind] -= np.linalg.lstsq(matrix, gradient, rcond=None)[0].reshape(-1)
        return at_rest

    def _middle(self, ends: np.ndarray, height: float, period: float) -> np.ndarray:
        """Positions in mid-step: the stance foot where it was, the swing foot lifted and, in space, the base
        over towards the stance foot, if the legs can."""
        halfway: np.ndarray = ends.mean(axis=0)
        if self.swing is None or not self.swing.gap:
            return halfway
        q = ca.SX.sym("q", len(self.positions))
        lifted = self.expressions_at([self.walker[self.swing.gap]], q)[0] - LIFT_PER_HEIGHT * height
        rows, sways = [lifted], list[ca.SX]()
        if self.stance is not None:
            place = sx(self.stance.at)
            stood = ca.substitute(self.expressions_at([place], q)[0], q, ca.SX(ends[0]))
            rows.append(self.expressions_at([place], q)[0] - stood)
            sway = self._sway(float(ca.DM(stood[1])), height, period)
            sways = [q[k] - halfway[k] - sway for k in self._sideways()]
        for more in ([sways] if sways else []) + [[]]:
            posture = nearest_posture(q, [*rows, *more], halfway, self.bounds(1))
            if posture is not None:
                return posture
        return halfway

    def _sway(self, beside: float, height: float, period: float) -> float:
        """How far [m] the base is to the side in mid-step, towards a stance foot that is `beside` [m] it: as
        an inverted pendulum with a point mass at that height (linear inverted pendulum) that begins and ends
        a step in the middle, y = beside (1 - cosh(w t) / cosh(w period / 2)), t from mid-step."""
        return beside * (1 - 1 / math.cosh(math.sqrt(gravity_of(self.walker) / height) * period / 2))

    def _sideways(self) -> list[int]:
        """The positions, by number, along which the whole machine can be shifted and which are no progress:
        in space, to the side."""
        section = section_of(self.walker, self.section)
        forward = forward_states(self.walker, section)
        lift = "" if self.walker.walk is None else self.walker.walk.lift
        labels = self.walker.labels("x")
        return [
            k
            for k, i in enumerate(self.positions)
            if i in section.cyclic and i not in forward and labels[i] != lift
        ]

    def bounds(self, times: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the positions, of so many postures."""
        ends = np.vstack([np.broadcast_to(q.range, (q.size, 2)) for q in self.walker.x])[self.positions]
        return np.tile(ends[:, 0], times), np.tile(ends[:, 1], times)

    def states_through(self, postures: np.ndarray, period: float) -> np.ndarray:
        """States along the parabola through three postures, as rows."""
        s = np.linspace(0, 1, STRIDE_SAMPLES)[:, None]
        begin, middle, end = postures
        positions = begin * (1 - s) * (1 - 2 * s) + middle * 4 * s * (1 - s) + end * s * (2 * s - 1)
        rates = (begin * (4 * s - 3) + middle * (4 - 8 * s) + end * (4 * s - 1)) / period
        return self.states_with(positions, rates)

    def states_with(self, positions: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """States with given positions and rates of them, as rows; velocities by least squares."""
        states = np.tile(self.begin.x, (len(positions), 1))
        states[:, self.positions] = positions
        for row, rate in zip(states, rates, strict=True):
            row[self.velocities] = 0.0
            effect = np.array(self.rates(row, self.z, self.begin.u, self.begin.p))
            row[self.velocities] = np.linalg.lstsq(effect, rate, rcond=None)[0]
        return states

    def inputs_along(self, states: np.ndarray, duration: float, z: np.ndarray) -> np.ndarray:
        """Inputs that come nearest to moving through states (inverse dynamics, by least squares), as rows. z:
        the discrete states."""
        walker = self.walker
        flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])[self.velocities]
        f = walker.function("dynamics", [flow, ca.jacobian(flow, walker.vector("u"))], clock=False)
        accelerations = np.gradient(states[:, self.velocities], duration / (len(states) - 1), axis=0)
        rows, still = [], np.zeros(walker.size("u"))
        for x, acceleration in zip(states, accelerations, strict=True):
            by_itself, effect = (np.array(e) for e in f(x, z, still, self.begin.p))
            rows.append(np.linalg.lstsq(effect, acceleration - by_itself.ravel(), rcond=None)[0])
        return np.array(rows)

    def foot_velocities(self, foot: Foot, x: np.ndarray) -> np.ndarray:
        """The matrix that gives the velocity of a foot in the world, three rows, from the velocities among
        the states; in the posture of a state."""
        flow = ca.vertcat(*[sx(self.walker.flow[q.name]) for q in self.walker.x])
        moves = ca.jacobian(flow[self.positions], self.x[self.velocities])
        rows = ca.jacobian(sx(foot.at), self.x[self.positions]) @ moves
        return np.array(
            ca.Function("foot", [self.x, *self.others], [rows])(x, self.z, self.begin.u, self.begin.p)
        )

    def _discrete_before_landing(self, end: np.ndarray) -> np.ndarray:
        """Discrete states just before the swing foot lands: it has passed the other and come out of the
        ground, where its walk knows events of that. end: the states there."""
        z, places = self.z.copy(), self.walker.slices("z")
        names = [] if self.swing is None else [self.swing.passes, self.swing.clears]
        for event in (self.walker.event(name) for name in names if name):
            for q in (q for q in self.walker.z if q.name in event.reset):
                f = ca.Function("flag", [time, self.x, *self.others], [sx(event.reset[q.name])])
                z[places[q.name]] = np.array(f(0.0, end, z, self.begin.u, self.begin.p)).reshape(-1)
        return z

    def _with_branches(self, stride: EvenStride, states: np.ndarray, landing: Point) -> EvenStride:
        """The stride with its branches: in one phase that ends with a landing, and, where it is known when
        the swing foot passes the other, in two. states: of the stride, as rows; in its middle that foot is
        lifted."""
        branch, passing_branch = freeze_at(self.walker, {self.section: landing}, self.z), None
        if self.swing is not None and self.swing.passes:
            passing = (0.0, states[len(states) // 2], self.z, self.begin.u, self.begin.p)
            points = {self.swing.passes: passing, self.section: landing}
            passing_branch = freeze_at(self.walker, points, self.z)
        return replace(stride, branch=branch, passing_branch=passing_branch)

    def _landing_point(self, end: np.ndarray) -> Point | None:
        """A landing after which the new foot stands and the old one does not; None where none of many
        velocities leads to it, or the landing asks nothing."""
        if self.stance is None or self.swing is None or not compares(self.walker, self.section):
            return None
        walker, labels = self.walker, self.walker.labels("z")
        reset = walker.event(self.section).reset
        new_z = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in walker.z])
        groups = [self.x, *self.others]
        flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
        moves = ca.jacobian(flow[self.positions], self.x[self.velocities])
        feet = [ca.jacobian(sx(f.at), self.x[self.positions]) @ moves for f in (self.stance, self.swing)]
        outcome = ca.Function("outcome", [time, *groups], [new_z])
        jacobians = ca.Function("feet", groups, feet)
        values = (self._discrete_before_landing(end), self.begin.u, self.begin.p)
        old, new = labels.index(self.stance.stands), labels.index(self.swing.stands)
        stance, swing = (np.array(J) for J in jacobians(end, *values))
        hold = np.eye(len(self.velocities)) - np.linalg.pinv(stance) @ stance
        random, spread = np.random.default_rng(0), np.abs(end[self.velocities]).max()
        for trial in range(MAX_LANDINGS):
            point = end.copy()
            shake = spread * random.standard_normal(len(self.velocities)) if trial else 0.0
            point[self.velocities] = hold @ (end[self.velocities] + shake)
            if (swing @ point[self.velocities])[2] > -MIN_LANDING_SPEED:
                continue
            after = np.array(outcome(0.0, point, *values)).reshape(-1)
            if after[new] > 0.5 > after[old]:
                return (0.0, point, *values)
        return None


def curve_through(rows: np.ndarray) -> Curve:
    """Rows at even places from 0 to 1 as a function of the place."""
    places = np.linspace(0, 1, len(rows))
    return lambda s: np.column_stack([np.interp(s, places, column) for column in rows.T])


def _usual_length(height: float, speed: float | None, gravity: float) -> float:
    """[m]: the step that goes with a speed, as people walk; within what legs allow."""
    if speed is None:
        return DEFAULT_STEP * height
    low, high = (factor * height for factor in STEP_PER_HEIGHT)
    usual = STEP_PER_ROOT_SPEED * height * math.sqrt(abs(speed) / math.sqrt(gravity * height))
    return min(max(usual, low), high)


def nearest_posture(
    q: ca.SX, rows: list[ca.SX], own: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> np.ndarray | None:
    """The point nearest to one's own at which rows are zero, within bounds; None where there is none. Of more
    rows than positions, as stiff legs have, some say nothing or repeat others: then any point at which all
    are zero, by least squares."""
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "error_on_fail": False}
    asked = ca.vertcat(*rows)
    problem, limits = {"x": q, "f": ca.sumsqr(q - own), "g": asked}, {"lbg": 0, "ubg": 0}
    if asked.numel() > q.numel():  # which the solver refuses
        problem, limits = {"x": q, "f": ca.sumsqr(asked)}, {}
    solve, random = ca.nlpsol("posture", "ipopt", problem, options), np.random.default_rng(0)
    missed = ca.Function("missed", [q], [ca.norm_inf(asked)])
    for k in range(POSTURE_STARTS):
        begin = own + k / POSTURE_STARTS * POSTURE_SPREAD * random.standard_normal(len(own))
        with hide_interrupt_warning():
            solution = solve(x0=begin, lbx=bounds[0], ubx=bounds[1], **limits)
        if solve.stats()["return_status"] == EXCEPTION:  # somebody pressed Ctrl-C
            raise KeyboardInterrupt
        # Of a search that broke off, the solver does not say by how much the rows are missed.
        if float(missed(solution["x"])) <= MAX_POSTURE_ERROR:
            return np.array(solution["x"]).reshape(-1)
    return None


__all__ = ["Kinematics", "curve_through", "kinematic_stride", "nearest_posture"]
