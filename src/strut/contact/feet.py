"""Feet on rigid ground and the forces that hold them: one expression for what stands, sticks and slides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.contact.arming import Swing
from strut.contact.cone import MIN_LENGTH
from strut.contact.ground import Ground
from strut.contact.switched_rows import MaskedRows, SlidingRow, SwitchedRows
from strut.contact.touch import Spot, Touch, add_contact_parameters, reachable_spot
from strut.contact.uneven import different_heights, foot_heights, raise_ground
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import RANK_TOLERANCE, drift
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree
from strut.system import Discrete, Expression, sx

TOUCH_GAP = 1e-9
"""[m] A foot whose gap is smaller touches the ground."""
MAX_STANDING_SPEED = 1e-6
"""[m/s] A foot that stands moves no faster, unless something unforeseen moved it."""
MIN_SLIDING_SPEED = 1e-8
"""[m/s] A foot in space that is slower slides in the direction in which it began to."""


@checked
@dataclass(frozen=True, eq=False)
class KneeLock:
    """A joint of one coordinate that locks plastically when it comes to `at` from below, after it was open,
    and opens when `foot` leaves the ground. Events JOINT_lock and JOINT_bend, discrete states JOINT_locked
    and JOINT_bent."""

    joint: str
    foot: str
    at: Expression = 0.0
    locked: bool = False


@dataclass(eq=False)
class StandingFoot:
    """One contact: where its rows are, and its discrete states."""

    spot: Spot
    rows: range  # normal, tangents
    on: Discrete
    slip: Discrete | None = None
    way: tuple[Discrete, ...] = ()  # in space: the direction in which sliding began
    swing: Swing | None = None  # when it may land
    ground_height: Discrete | None = None  # of uneven ground

    @property
    def name(self) -> str:
        """The name of the contact."""
        return self.spot.name

    @property
    def ready(self) -> ca.SX:
        """1 where the foot lands if it touches."""
        return ca.SX(1) if self.swing is None else self.swing.armed.sym

    @property
    def normal(self) -> int:
        """The row of the normal."""
        return self.rows[0]

    @property
    def tangents(self) -> range:
        """The rows of the tangents; none where feet slide freely."""
        return self.rows[1:]


@dataclass(frozen=True, eq=False)
class Footing:
    """What stands on which ground, and how: the feet, Coulomb's coefficient of friction (None holds without
    limit), what arms feet and which joints lock, as `rigid` is told them.

    stabilise: rate [1/s] of Baumgarte stabilisation.
    rearm: a foot that was let go lands again only after it was off the ground.
    """

    touches: Sequence[Touch]
    ground: Ground
    friction: Expression | None
    arm: Mapping[str, Callable[[Tree], ca.SX]]
    locks: Sequence[KneeLock]
    stabilise: Expression
    rearm: bool

    def check(self) -> None:
        """Raise UnknownNameError where `arm` or a lock names a foot that is not there."""
        names = [t.name for t in self.touches]
        for name in self.arm:
            if name not in names:
                raise UnknownNameError(f"there is no foot '{name}' to arm: {did_you_mean(name, names)}")
        for lock in self.locks:
            if lock.foot not in names:
                hint = did_you_mean(lock.foot, names)
                raise UnknownNameError(
                    f"the lock of '{lock.joint}' opens with foot '{lock.foot}', which does not exist: {hint}"
                )


class StandingMachine:
    """A mechanism that stands on its feet: rows of loops, which always hold, then those of locks and feet,
    which events switch.

    params: the parameters collected so far; those of ground, feet, friction and locks are added.
    """

    def __init__(self, mechanism: Mechanism, footing: Footing, params: ParameterSet) -> None:
        footing.check()
        touches, ground, friction, locks = footing.touches, footing.ground, footing.friction, footing.locks
        add_contact_parameters(params, ground, touches, friction=friction, stabilise=footing.stabilise)
        for lock in locks:
            params.add_number(lock.at, f"the angle at which '{lock.joint}' locks")
        self.assembly = Assembly(mechanism, params)
        self.tree = tree = self.assembly.tree
        self.friction, self.stabilise, self.locks = friction, sx(footing.stabilise), locks
        self.locked = [Discrete(f"{lock.joint}_locked", float(lock.locked), internal=True) for lock in locks]
        self.bent = [Discrete(f"{lock.joint}_bent", 0.0, internal=True) for lock in locks]
        self.frictionless = friction is not None and sx(friction).is_zero()
        self.coulomb = friction is not None and not self.frictionless
        self.heights = foot_heights(tree, touches, ground)
        spots = [
            reachable_spot(tree, t, ground if z is None else raise_ground(ground, z.sym))
            for t, z in zip(touches, self.heights, strict=True)
        ]
        self.closure = self._with_locks(
            self.assembly.closure or ConstraintRows((), ca.SX(0, 1), ca.SX(0, tree.nv), ca.SX(0, 1))
        )
        self.loops = self.closure.K.shape[0]
        self.feet = self._feet(spots, footing.arm, footing.rearm)
        self.bodies = [observe.frame_of(tree, t.frame).body.name for t in touches]
        used = [s.K[0, :] if self.frictionless else s.K for s in spots]
        self.K = ca.densify(ca.vertcat(self.closure.K, *used))
        self.contacts = ConstraintRows(
            (),
            ca.vertcat(*[self._error(f) for f in self.feet]),
            ca.vertcat(*used),
            ca.SX.zeros(self.K.shape[0] - self.loops),
        )
        self.masked = MaskedRows(tree.factors, self.K, self._redundant())
        self.u = self.K @ tree.v
        self.loose = tree.factors.solve(self.assembly.tau - tree.bias)

    def _feet(
        self, spots: list[Spot], arm: Mapping[str, Callable[[Tree], ca.SX]], rearm: bool
    ) -> list[StandingFoot]:
        """What touches and does not move when a run begins, stands; what slides there, slides."""
        feet = []
        at = self.loops
        for s, height in zip(spots, self.heights, strict=True):
            width = 1 if self.frictionless else s.K.shape[0]
            speed = s.K[:width, :] @ self.tree.v
            still = (ca.fabs(s.gap) < TOUCH_GAP) * (ca.fabs(speed[0]) < MAX_STANDING_SPEED)
            across = ca.norm_2(speed[1:]) if width > 1 else ca.SX(0)
            if width > 1 and not self.coulomb:
                still = still * (across < MAX_STANDING_SPEED)
            foot = StandingFoot(
                s,
                range(at, at + width),
                Discrete(f"{s.name}_on", self._begin(still), internal=True),
                ground_height=height,
            )
            at += width
            if self.coulomb:
                slides = still * (across > MAX_STANDING_SPEED)
                way = speed[1:] / ca.fmax(across, MIN_LENGTH)
                if width == 2:
                    foot.slip = Discrete(f"{s.name}_slip", self._begin(slides * way[0]), internal=True)
                else:
                    foot.slip = Discrete(f"{s.name}_slip", self._begin(2 * slides), internal=True)
                    begin = [ca.if_else(slides, way[k], float(k == 0)) for k in (0, 1)]
                    foot.way = tuple(
                        Discrete(f"{s.name}_way_{n}", self._begin(e), internal=True)
                        for n, e in zip("xy", begin, strict=True)
                    )
            ahead = sx(arm[s.name](self.tree)) if s.name in arm else None
            # With friction feet that a landing lifts may come back from less than anything is off the ground.
            disarms = ahead is not None or (rearm and not self.coulomb)
            if disarms or height is not None:
                self.assembly.params.add(0 if ahead is None else ahead)
                foot.swing = Swing(s.gap, ahead, self._begin, f"{s.name}_", disarms=disarms)
            feet.append(foot)
        return feet

    def _begin(self, expression: ca.SX) -> ca.SX:
        """An initial value, of the states, on ground that is not yet uneven."""
        heights = [z.sym for z in different_heights(self.heights)]
        even = ca.substitute([expression], heights, [ca.SX(0)] * len(heights))
        return self.assembly.in_states(even)[0]

    def _with_locks(self, loops: ConstraintRows) -> ConstraintRows:
        """The rows that belong to no foot: loops, which always hold, then locks."""
        tree = self.tree
        K, phi = ca.SX.zeros(len(self.locks), tree.nv), ca.SX.zeros(len(self.locks))
        for k, lock in enumerate(self.locks):
            if lock.joint not in tree.v_of or tree.v_of[lock.joint].stop - tree.v_of[lock.joint].start != 1:
                raise ModelError(
                    f"'{lock.joint}' cannot lock: it is no joint of one coordinate; "
                    f"{did_you_mean(lock.joint, list(tree.v_of))}"
                )
            K[k, tree.v_of[lock.joint].start] = 1
            phi[k] = tree.q[tree.q_of[lock.joint].start] - sx(lock.at)
        self.always = len(loops.labels)
        return ConstraintRows(
            loops.labels,
            ca.vertcat(loops.phi, phi),
            ca.vertcat(loops.K, K),
            ca.vertcat(loops.k0, ca.SX.zeros(len(self.locks))),
        )

    def _error(self, foot: StandingFoot) -> ca.SX:
        """The errors of a foot's rows that stabilisation pulls back: its gap [m], and nothing along the
        ground."""
        return ca.vertcat(foot.spot.gap, ca.SX.zeros(len(foot.tangents)))

    def held_along_ground(self, k: int) -> list[int]:
        """The feet before foot `k`, by number, that hold it along the ground if they stand: in a plane, those
        on the same body, where feet hold without limit. Two points of a body that do not leave the ground do
        not turn, so that what holds one holds the other."""
        if self.friction is not None or not self.tree.mechanism.planar:
            return []
        return [j for j in range(k) if self.bodies[j] == self.bodies[k]]

    def _redundant(self) -> bool:
        """Do rows that are on at once repeat each other, in some posture near the first?"""
        repeating = {row for k, f in enumerate(self.feet) if self.held_along_ground(k) for row in f.tangents}
        return self._rows_repeat([row for row in range(self.K.shape[0]) if row not in repeating])

    @cached_property
    def _normals_repeat(self) -> bool:
        """Can feet share their load in many ways, because their normal rows, and those of loops and locks,
        repeat each other?"""
        return self._rows_repeat([*range(self.loops), *[f.normal for f in self.feet]])

    def _rows_repeat(self, rows: Sequence[int]) -> bool:
        """Do these rows repeat each other, in some posture near the first?"""
        q, v, _ = self.assembly.start()
        K = self.K[list(rows), :]
        rng = np.random.default_rng(0)
        best = 0
        for trial in range(3):
            there = q + (0.0 if trial == 0 else 0.1) * rng.standard_normal(len(q))
            best = max(
                best, int(np.linalg.matrix_rank(self.assembly.evaluate(K, there, v), tol=RANK_TOLERANCE))
            )
        return best < K.shape[0]

    def switches(self, on: Sequence[ca.SX], locked: Sequence[ca.SX] | None = None) -> ca.SX:
        """The switch of every row, of those of the feet and locks."""
        locks = [z.sym for z in self.locked] if locked is None else locked
        rows: list[ca.SX] = []
        for k, (flag, f) in enumerate(zip(on, self.feet, strict=True)):
            along = flag
            for j in self.held_along_ground(k):
                along = along * (1 - on[j])
            rows += [flag, *[along] * len(f.tangents)]
        return ca.vertcat(ca.SX.ones(self.always), *locks, *rows)

    def _sliding_rows(self) -> tuple[SlidingRow, ...]:
        """With Coulomb's friction: the rows of the tangents, whose force follows from the normal one while a
        foot slides."""
        if not self.coulomb:
            return ()
        mu = sx(self.friction)
        rows = []
        for f in self.feet:
            assert f.slip is not None
            for k, row in enumerate(f.tangents):
                if f.way:
                    rows.append(
                        SlidingRow(row, f.normal, ca.fmin(f.slip.sym, 1), -mu * self._direction(f)[k])
                    )
                else:
                    rows.append(SlidingRow(row, f.normal, f.slip.sym**2, -mu * f.slip.sym))
        return tuple(rows)

    def _direction(self, f: StandingFoot) -> ca.SX:
        """In space: where a foot slides to. One that begins to slide keeps to the way in which it began: that
        of its velocity turns the faster the slower it is, which costs an integrator thousands of steps."""
        assert f.slip is not None
        way = ca.vertcat(*[d.sym for d in f.way])
        moved = self.u[list(f.tangents)] + MIN_SLIDING_SPEED * way
        return ca.if_else(f.slip.sym > 1.5, moved / ca.norm_2(moved), way)

    @cached_property
    def free_accelerations(self) -> ca.SX:
        """Accelerations along the rows if no force acted along them."""
        return self._row_drift + self.K @ self.loose

    @cached_property
    def _row_drift(self) -> ca.SX:
        """Accelerations along the rows that come from their turning."""
        return ca.vertcat(drift(self.tree, self.closure), drift(self.tree, self.contacts))

    @cached_property
    def row_equations(self) -> SwitchedRows:
        """The equations of the forces for what stands, sticks and slides now."""
        return self.masked.row_equations(self.switches([f.on.sym for f in self.feet]), self._sliding_rows())

    @cached_property
    def gains(self) -> list[ca.SX]:
        """How much more normal force a foot needs to change its own acceleration by one unit more, see
        `SwitchedRows.gain`."""
        return self.gains_in(self.row_equations)

    def gains_in(self, equations: SwitchedRows) -> list[ca.SX]:
        """Every foot's gain [kg] in the roles that the equations have; 0 where its row repeats others."""
        normals = [f.normal for f in self.feet]
        if self._normals_repeat:
            return equations.gains_of_repeating_rows(normals)
        return [equations.gain(row) for row in normals]

    def jam_flag(self, f: StandingFoot) -> ca.SX:
        """1 where a foot slides and friction makes it heavier than its push makes it lighter."""
        return self.slips(f) * (self.gains[self.feet.index(f)] < 0)

    @cached_property
    def needed_accelerations(self) -> ca.SX:
        """What the forces change the accelerations along the rows by: all that would be there without them,
        and what pulls drift back (Baumgarte's stabilisation)."""
        return -(self.free_accelerations + self._pulled_back)

    @cached_property
    def force(self) -> ca.SX:
        """Forces along all rows, those that pull drift back included."""
        return self.row_equations.forces(self.needed_accelerations)

    @cached_property
    def _pulled_back(self) -> ca.SX:
        """By how much rows are decelerated that have drifted (Baumgarte's stabilisation)."""
        rate = self.stabilise
        phi = ca.vertcat(self.closure.phi, self.contacts.phi)
        slip = self.u - ca.vertcat(self.closure.k0, self.contacts.k0)
        return 2 * rate * slip + rate**2 * phi

    def residual(self, acceleration: ca.SX, further: ca.SX) -> ca.SX:
        """Return what is zero for the right accelerations, forces along all rows, and accelerations without
        these forces (`loose`): the equations of motion by inverse dynamics, those of the rows, which hold,
        let go or slide, and what the forces accelerate. Not where rows repeat each other, for many forces
        solve these."""
        tree, (force, loose) = self.tree, ca.vertsplit(further, [0, self.K.shape[0], further.numel()])
        switch, on = self.row_equations.switch, self.switches([f.on.sym for f in self.feet])
        motion = tree.inverse(acceleration) - self.assembly.tau - self.K.T @ force
        at_rest = ca.substitute(
            [tree.inverse(acceleration - loose, gravity=False)], [tree.v], [ca.SX.zeros(tree.nv)]
        )[0]
        rows = switch * (self.K @ acceleration + self._row_drift + self._pulled_back) + (1 - switch) * force
        for s in self._sliding_rows():
            rows[s.row] = rows[s.row] - s.on * on[s.row] * s.ratio * force[s.normal]
        return ca.vertcat(motion, rows, at_rest - self.K.T @ force)

    def forces(self, on: Sequence[ca.SX]) -> ca.SX:
        """Forces along all rows if these feet stood, without any that pull drift back."""
        return self.masked.forces(-self.free_accelerations, self.switches(on), self._sliding_rows())

    def slips(self, f: StandingFoot) -> ca.SX:
        """1 where a foot with Coulomb's friction stands and slides, or begins to."""
        assert f.slip is not None
        return ca.logic_and(f.on.sym > 0, ca.fabs(f.slip.sym) > 0.5)

    def strays(self, f: StandingFoot) -> ca.SX:
        """How fast a foot moves that should not [m/s]."""
        astray = ca.fmax(
            ca.fabs(self.u[f.normal]) - 2 * self.stabilise * ca.fabs(f.spot.gap), 0
        )  # being pulled back is no straying
        if not len(f.tangents):
            return astray
        across = ca.norm_2(self.u[list(f.tangents)])
        return astray + (across if f.slip is None else ca.if_else(ca.fabs(f.slip.sym) < 0.5, across, 0))

    def discrete(self) -> list[Discrete]:
        """All flags."""
        flags: list[Discrete] = []
        for f in self.feet:
            flags += [z for z in (f.on, f.slip, *f.way, f.ground_height) if z is not None and z not in flags]
            flags += f.swing.discrete if f.swing is not None else []
        return flags + self.locked + self.bent
