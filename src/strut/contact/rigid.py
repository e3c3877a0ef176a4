"""Rigid contact: feet that stop dead, hold, slide, and let go, in one flow whose rows are switched by events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.contact.cone import swept
from strut.contact.ground import Ground, ground_of
from strut.contact.masked import Masked, Sliding
from strut.contact.touch import Spot, Touch, coefficient, reaching, touches_of
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import RANK, drift
from strut.mechanism.constraints import Rows
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system.event import Event
from strut.system.factors import Factors
from strut.system.quantity import Discrete, Expression, sx, time
from strut.system.scene import Arrow
from strut.system.system import System

TOUCHING = 1e-9  # [m]: contacts this near to the ground when another lands land with it
PARTING = 1e-9  # [m/s]: slower than this is no motion towards the ground
CAUGHT = 1e-8  # [m]: nothing goes deeper into the ground, whatever happened before
BENT = 1e-4  # [rad]: a joint must have opened this far before it can lock again
SETTLED = 1e-6  # [m/s]: a foot that stands moves no faster, unless something unforeseen moved it
AIMLESS = 1e-8  # [m/s]: below this the direction of sliding in space is the one in which it began
GAIN = 1e-9  # of the energy an impact moves: less is rounding
EDGE = 1e-6  # of the friction cone: nearer than that is on it
EDGED = 1e-4  # [m]: ground that is suddenly this far below a foot was left over an edge
DEEP = 1e-3  # [m]: a foot that is deeper than this in the ground was never on it: it ran into a step, or began there
MOVING = 1e-7  # [m/s]: a foot in space slides once it is faster, and sticks when it is half as fast again
RELEASES = ("force", "acceleration")


def ahead_of(frame: str, other: str, margin: Expression = 0.0) -> Callable[[Tree], ca.SX]:
    """For `arm`: how far one frame is in front of another [m], less a margin."""
    return lambda tree: observe.position(tree, frame)[0] - observe.position(tree, other)[0] - sx(margin)


def rigid(
    mechanism: Mechanism,
    feet: Sequence[str | Touch | Sequence[Touch]],
    ground: Ground | None = None,
    *,
    friction: Expression | None = None,
    restitution: Expression = 0.0,
    rest_speed: Expression = 1e-6,
    release: str = "acceleration",
    arm: Mapping[str, Callable[[Tree], ca.SX]] | None = None,
    scuffing: str = "ignore",
    locks: Sequence[KneeLock] = (),
    fall: tuple[str, Expression] | None = None,
    symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None = None,
    steps: bool = False,
    stabilise: Expression = 20.0,
    description: str = "",
) -> System:
    """The mechanism on rigid ground, as a system.

    feet: frames' names for points, or `point`, `sphere`, `arc`, `wheel`, `polygon`, `cylinder`.
    friction: None holds without limit, 0 slides freely, a number is Coulomb's coefficient.
    restitution: Newton's. Landings slower than `rest_speed` [m/s] do not bounce, and feet that a landing would lift more
        slowly than that stay, so that bouncing and rocking end.
    release: a foot lets go when, let go, it would accelerate away from the ground ('acceleration', Duindam's rule), or when its
        normal force would pull ('force'), though it may then sink. With one frictionless foot on the ground they are the same. With
        Coulomb's friction all feet are asked together who holds, slides and goes.
    arm: by foot, an expression of the tree. The foot passes through the ground until it has been above the ground with
        that expression positive: stiff-legged walkers scuff in mid-swing. scuffing='stop' ends the run there instead,
        with status FOOT_scuff.
    locks: joints that lock plastically, see `KneeLock`.
    fall: (frame, height [m]); when the frame comes lower over the ground the run ends with status 'fall'.
    symmetry: of the tree, the states with left and right exchanged; discrete states of feet and locks whose names differ
        by _l and _r are exchanged without being named.
    steps: of a machine with two feet, count the steps: discrete states steps, step_length, step_time and struck_at, outputs speed (of
        the last step) and clearance (of the higher foot).
    stabilise: rate [1/s] at which drift into or out of the ground is pulled back.

    Each foot F has discrete states F_on and, with Coulomb's friction, F_slip; events F_touchdown, F_release, F_slide,
    F_stick, F_edge where the ground ends under it, F_settle where it was said to stand, but moved, and F_inside, which ends a run
    that puts a foot deep into the ground; outputs F_gap, F_normal and F_friction (in space F_friction_x and F_friction_y, along
    the ground). Many contacts with friction in space may chatter, which ends a run as 'zeno': `time_stepped` is for those.
    """
    surface, friction = ground_of(ground), coefficient(friction)
    made = _Rigid(mechanism, feet, surface, friction, restitution, rest_speed, release, arm or {}, scuffing, locks, stabilise)
    if steps:
        made.count_steps()
    return made.system(description, fall, symmetry)


@dataclass(frozen=True, eq=False)
class KneeLock:
    """A joint of one coordinate that locks plastically when it comes to `at` from below, after it was open, and opens when `foot`
    leaves the ground. Events JOINT_lock and JOINT_bend, discrete states JOINT_locked and JOINT_bent."""

    joint: str
    foot: str
    at: Expression = 0.0
    locked: bool = False


@dataclass(eq=False)
class _Foot:
    """One contact: where its rows are, and its discrete states."""

    spot: Spot
    rows: range  # normal, tangents
    on: Discrete
    slip: Discrete | None = None
    way: tuple[Discrete, ...] = ()  # in space: the direction in which sliding began
    armed: Discrete | None = None
    arm: ca.SX | None = None

    @property
    def name(self) -> str:
        return self.spot.name

    @property
    def normal(self) -> int:
        return self.rows[0]

    @property
    def tangents(self) -> range:
        return self.rows[1:]


class _Rigid:
    """All expressions of a mechanism on rigid ground."""

    def __init__(
        self,
        mechanism: Mechanism,
        feet: Sequence[str | Touch | Sequence[Touch]],
        ground: Ground,
        friction: Expression | None,
        restitution: Expression,
        rest_speed: Expression,
        release: str,
        arm: Mapping[str, Callable[[Tree], ca.SX]],
        scuffing: str,
        locks: Sequence[KneeLock],
        stabilise: Expression,
    ) -> None:
        if release not in RELEASES:
            raise ModelError(f"release '{release}' is unknown: {did_you_mean(release, list(RELEASES))}")
        if scuffing not in ("ignore", "stop"):
            raise ModelError(f"scuffing '{scuffing}' is unknown: use 'ignore' or 'stop'")
        touches = touches_of(feet)
        for name in arm:
            if name not in [t.name for t in touches]:
                raise UnknownNameError(f"there is no foot '{name}' to arm: {did_you_mean(name, [t.name for t in touches])}")
        for lock in locks:
            if lock.foot not in [t.name for t in touches]:
                known = did_you_mean(lock.foot, [t.name for t in touches])
                raise UnknownNameError(f"the lock of '{lock.joint}' opens with foot '{lock.foot}', which does not exist: {known}")
        numbers = (restitution, rest_speed, stabilise, *ground.numbers, *[t.radius for t in touches], *[lock.at for lock in locks])
        mechanism.note_params(*numbers, 0 if friction is None else friction)
        self.made = Assembly(mechanism)
        self.tree = tree = self.made.tree
        self.friction, self.restitution, self.rest_speed = friction, sx(restitution), sx(rest_speed)
        self.release, self.scuffing, self.stabilise = release, scuffing, sx(stabilise)
        self.ground, self.locks = ground, locks
        self.counters: list[Discrete] = []
        self.locked = [Discrete(f"{lock.joint}_locked", float(lock.locked)) for lock in locks]
        self.bent = [Discrete(f"{lock.joint}_bent", 0.0) for lock in locks]
        self.closure = self.made.closure or Rows((), ca.SX(0, 1), ca.SX(0, tree.nv), ca.SX(0, 1))
        self.frictionless = friction is not None and sx(friction).is_zero()
        self.coulomb = friction is not None and not self.frictionless
        spots = [reaching(tree, t, ground) for t in touches]
        self.closure = self._with_locks(self.closure)
        self.loops = self.closure.K.shape[0]
        self.feet = self._feet(spots, arm)
        used = [s.K[0, :] if self.frictionless else s.K for s in spots]
        self.K = ca.densify(ca.vertcat(self.closure.K, *used))
        self.contacts = Rows(
            (), ca.vertcat(*[self._error(f) for f in self.feet]), ca.vertcat(*used), ca.SX.zeros(self.K.shape[0] - self.loops)
        )
        self.masked = Masked(tree.factors, self.K, self._redundant())
        self.u = self.K @ tree.v
        self.loose = tree.factors.solve(self.made.tau - tree.bias)

    def _feet(self, spots: list[Spot], arm: Mapping[str, Callable[[Tree], ca.SX]]) -> list[_Foot]:
        """What touches and does not move when a run begins, stands; what slides there, slides."""
        found = []
        at = self.loops
        for s in spots:
            width = 1 if self.frictionless else s.K.shape[0]
            speed = s.K[:width, :] @ self.tree.v
            still = (ca.fabs(s.gap) < TOUCHING) * (ca.fabs(speed[0]) < SETTLED)
            across = ca.norm_2(speed[1:]) if width > 1 else ca.SX(0)
            if width > 1 and not self.coulomb:
                still = still * (across < SETTLED)
            foot = _Foot(s, range(at, at + width), Discrete(f"{s.name}_on", self._begin(still)))
            at += width
            if self.coulomb:
                slides = still * (across > SETTLED)
                way = speed[1:] / ca.fmax(across, 1e-300)
                if width == 2:
                    foot.slip = Discrete(f"{s.name}_slip", self._begin(slides * way[0]))
                else:
                    foot.slip = Discrete(f"{s.name}_slip", self._begin(2 * slides))
                    begin = [ca.if_else(slides, way[k], float(k == 0)) for k in (0, 1)]
                    foot.way = tuple(Discrete(f"{s.name}_way_{n}", self._begin(e)) for n, e in zip("xy", begin, strict=True))
            if s.name in arm:
                foot.arm = sx(arm[s.name](self.tree))
                self.made.mechanism.note_params(foot.arm)
                foot.armed = Discrete(f"{s.name}_armed", self._begin((s.gap > 0) * (foot.arm > 0)))
            elif self.release == "force" and not self.coulomb:  # one that is let go may sink: it lands again after it was clear
                foot.arm, foot.armed = ca.SX(1), Discrete(f"{s.name}_armed", 1.0)
            found.append(foot)
        return found

    def _begin(self, expression: ca.SX) -> ca.SX:
        """An initial value, of the states."""
        return self.made.bound([expression])[0]

    def _with_locks(self, loops: Rows) -> Rows:
        """The rows that belong to no foot: loops, which always hold, then locks."""
        tree = self.tree
        K, phi = ca.SX.zeros(len(self.locks), tree.nv), ca.SX.zeros(len(self.locks))
        for k, lock in enumerate(self.locks):
            if lock.joint not in tree.v_of or tree.v_of[lock.joint].stop - tree.v_of[lock.joint].start != 1:
                raise ModelError(
                    f"'{lock.joint}' cannot lock: it is no joint of one coordinate; {did_you_mean(lock.joint, list(tree.v_of))}"
                )
            K[k, tree.v_of[lock.joint].start] = 1
            phi[k] = tree.q[tree.q_of[lock.joint].start] - sx(lock.at)
        self.always = len(loops.labels)
        return Rows(loops.labels, ca.vertcat(loops.phi, phi), ca.vertcat(loops.K, K), ca.vertcat(loops.k0, ca.SX.zeros(len(self.locks))))

    def _error(self, foot: _Foot) -> ca.SX:
        return ca.vertcat(foot.spot.gap, ca.SX.zeros(len(foot.tangents)))

    def _redundant(self) -> bool:
        """Do rows repeat each other, in some posture near the first?"""
        q, v, _ = self.made.start()
        rng = np.random.default_rng(0)
        best = 0
        for trial in range(3):
            there = q + (0.0 if trial == 0 else 0.1) * rng.standard_normal(len(q))
            best = max(best, int(np.linalg.matrix_rank(self.made.evaluate(self.K, there, v), tol=RANK)))
        return best < self.K.shape[0]

    # ---- on the ground ----

    def _switches(self, on: Sequence[ca.SX], locked: Sequence[ca.SX] | None = None) -> ca.SX:
        """The switch of every row, of those of the feet and locks."""
        locks = [z.sym for z in self.locked] if locked is None else locked
        feet = [flag * ca.SX.ones(len(f.rows)) for flag, f in zip(on, self.feet, strict=True)]
        return ca.vertcat(ca.SX.ones(self.always), *locks, *feet)

    def _sliding(self) -> tuple[Sliding, ...]:
        if not self.coulomb:
            return ()
        mu = sx(self.friction)
        found = []
        for f in self.feet:
            assert f.slip is not None
            for k, row in enumerate(f.tangents):
                if f.way:
                    found.append(Sliding(row, f.normal, ca.fmin(f.slip.sym, 1), -mu * self._direction(f)[k]))
                else:
                    found.append(Sliding(row, f.normal, f.slip.sym**2, -mu * f.slip.sym))
        return tuple(found)

    def _direction(self, f: _Foot) -> ca.SX:
        """In space: where a foot slides to."""
        moved = self.u[list(f.tangents)] + AIMLESS * ca.vertcat(*[d.sym for d in f.way])
        return moved / ca.norm_2(moved)

    def _without(self) -> ca.SX:
        """Accelerations along the rows if no force acted along them."""
        turning = ca.vertcat(drift(self.tree, self.closure), drift(self.tree, self.contacts))
        return turning + self.K @ self.loose

    def forces(self, stabilised: bool = True, on: Sequence[ca.SX] | None = None) -> ca.SX:
        """Forces along all rows."""
        on = [f.on.sym for f in self.feet] if on is None else on
        rate = self.stabilise
        phi = ca.vertcat(self.closure.phi, self.contacts.phi)
        slip = self.u - ca.vertcat(self.closure.k0, self.contacts.k0)
        pull = 2 * rate * slip + rate**2 * phi if stabilised else ca.SX.zeros(self.K.shape[0])
        return self.masked.forces(-(self._without() + pull), self._switches(on), self._sliding())

    # ---- events ----

    def _landing(self, lock: int | None = None) -> dict[str, ca.SX]:
        """The state after feet touched, or a lock closed. What falls on the ground stops (or bounces); a foot that is said to stand
        but moves is stopped like one that lands."""
        feet, u = self.feet, self.u
        locked = [ca.SX(1) if k == lock else z.sym for k, z in enumerate(self.locked)]
        near = [(1 - f.on.sym) * (f.armed.sym if f.armed is not None else 1) * (f.spot.gap < TOUCHING) for f in feet]
        falls = [n * (u[f.normal] < -PARTING) for n, f in zip(near, feet, strict=True)]
        bounces = [fall * ca.if_else(-u[f.normal] > self.rest_speed, self.restitution, 0) for fall, f in zip(falls, feet, strict=True)]
        impact = self._sliding_impact if self.coulomb else self._held_impact
        impulse, on, reset = impact(falls, bounces, locked)
        if not (self.restitution.is_constant() and self.restitution.is_zero()):
            plastic, on0, reset0 = impact(falls, [ca.SX(0)] * len(feet), locked)
            size = ca.dot(ca.fabs(impulse), ca.fabs(u))
            gains = ca.dot(impulse, 2 * u + self.masked.A @ impulse) > GAIN * size  # bouncing with friction can: then it does not bounce
            impulse = ca.if_else(gains, plastic, impulse)
            on = [ca.if_else(gains, a, b) for a, b in zip(on0, on, strict=True)]
            reset = {name: ca.if_else(gains, reset0[name], value) for name, value in reset.items()}
        reset |= {f.on.name: flag for f, flag in zip(feet, on, strict=True)}
        if self.counters:
            landed = ca.fmax(falls[0] * on[0], falls[1] * on[1])
            steps, _, _, struck = self.counters
            new = (steps.sym + 1, ca.norm_2(feet[0].spot.point - feet[1].spot.point), time - struck.sym, time)
            reset |= {z.name: ca.if_else(landed, value, z.sym) for z, value in zip(self.counters, new, strict=True)}
        for z, opens in zip(self.locked, self.locks, strict=True):  # a foot that this lifts opens its lock
            foot = next(k for k, f in enumerate(feet) if f.name == opens.foot)
            reset[z.name] = z.sym * (1 - feet[foot].on.sym * (1 - on[foot]))
        reset |= {f.armed.name: f.armed.sym * (1 - flag) for f, flag in zip(feet, on, strict=True) if f.armed is not None}
        v = self.tree.v + self.masked.effect(impulse)
        return reset | {self.made.velocities[k].name: v[k] for k in self.made.kept}

    def _wanted(self, bounces: Sequence[ca.SX]) -> ca.SX:
        """The changes of velocity along the rows that stop them all, or bounce."""
        missing = -self.u + ca.vertcat(self.closure.k0, self.contacts.k0)
        for f, bounce in zip(self.feet, bounces, strict=True):
            missing[f.normal] = -(1 + bounce) * self.u[f.normal]
        return missing

    def _held_impact(self, falls: list[ca.SX], bounces: list[ca.SX], locked: list[ca.SX]) -> tuple[ca.SX, list[ca.SX], dict[str, ca.SX]]:
        """Feet that hold without limit, or slide without any friction. Those that land alone stop first; feet that this lifts are let
        go, feet that it would drive into the ground stop with it (Duindam)."""
        feet = self.feet
        strays = [f.on.sym * (self._strays(f) > SETTLED) for f in feet]
        new = [ca.fmax(fall, stray) for fall, stray in zip(falls, strays, strict=True)]
        missing = self._wanted(bounces)
        after = self.u + self.masked.A @ self.masked.forces(missing, self._switches(new, locked))
        kept = [f.on.sym * (1 - stray) * (after[f.normal] <= self.rest_speed) for f, stray in zip(feet, strays, strict=True)]
        held = [ca.fmax(a, b) for a, b in zip(new, kept, strict=True)]
        impulse = self.masked.forces(missing, self._switches(held, locked))
        return impulse, [keep * (bounce <= 0) for keep, bounce in zip(held, bounces, strict=True)], {}

    def _sliding_impact(self, falls: list[ca.SX], bounces: list[ca.SX], locked: list[ca.SX]) -> tuple[ca.SX, list[ca.SX], dict[str, ca.SX]]:
        """Feet with Coulomb's friction: they answer to one another until it is clear who opens, sticks and slides; then the impulses
        follow exactly."""
        feet, u, mu = self.feet, self.u, sx(self.friction)
        missing = self._wanted(bounces)
        present = [ca.fmax(fall, f.on.sym) for fall, f in zip(falls, feet, strict=True)]
        A, wanted = self._beside(missing, locked)
        rough = swept(A, -wanted, [list(f.rows) for f in feet], present, mu)
        held, slides, ways = self._sorted(rough)
        rules = [
            Sliding(row, f.normal, slide, -mu * way[k])
            for f, slide, way in zip(feet, slides, ways, strict=True)
            for k, row in enumerate(f.tangents)
        ]
        impulse = self.masked.forces(missing, self._switches(held, locked), tuple(rules))
        after = u + self.masked.A @ impulse
        reset: dict[str, ca.SX] = {}
        on = []
        for k, f in enumerate(feet):
            assert f.slip is not None
            stays = ca.fmax(held[k], f.on.sym * (ca.fabs(after[f.normal]) <= self.rest_speed)) * (bounces[k] <= 0)
            on.append(stays)
            reset |= self._slipping(f, after[list(f.tangents)], stays)
        return impulse, on, reset

    def _slipping(self, f: _Foot, across: ca.SX, on: ca.SX) -> dict[str, ca.SX]:
        """The slip of a foot that moves so: along its velocity, or none."""
        assert f.slip is not None
        fast = on * (ca.norm_2(across) > SETTLED)
        if not f.way:
            return {f.slip.name: fast * ca.sign(across)}
        way = across / ca.fmax(ca.norm_2(across), 1e-300)
        return {f.slip.name: 2 * fast} | {d.name: ca.if_else(fast, way[k], d.sym) for k, d in enumerate(f.way)}

    def _beside(self, missing: ca.SX, locked: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
        """A and the wanted changes of the feet's rows, where loops and locks answer by themselves."""
        A, n = self.masked.A, self.loops
        if not n:
            return A, missing
        hold = ca.diag(ca.vertcat(ca.SX.ones(self.always), *locked))
        inner = Factors(hold @ A[:n, :n] @ hold + ca.SX.eye(n) - hold)
        answers = inner.solve(hold @ ca.horzcat(A[:n, :], missing[:n]))
        return A - A[:, :n] @ answers[:, :-1], missing - A[:, :n] @ answers[:, -1]

    def _sorted(self, rough: ca.SX) -> tuple[list[ca.SX], list[ca.SX], list[ca.SX]]:
        """From impulses or forces: who presses, who of them is on the edge of the cone, and where those slide to."""
        mu = sx(self.friction)
        held, slides, ways = [], [], []
        for f in self.feet:
            push = rough[list(f.tangents)]
            size = ca.norm_2(push)
            held.append(rough[f.normal] > 0)
            slides.append(held[-1] * (size >= mu * rough[f.normal] * (1 - EDGE)))
            ways.append(-push / ca.fmax(size, 1e-300))
        return held, slides, ways

    def _modes(self) -> dict[str, ca.SX]:
        """Who stands, sticks and slides from now on, with Coulomb's friction, from the accelerations: for all feet together, because
        one that stops may stop others."""
        feet, mu = self.feet, sx(self.friction)
        A, wanted = self._beside(-self._without(), [z.sym for z in self.locked])
        moving = []
        for f in feet:
            across = self.u[list(f.tangents)]
            moving.append((ca.norm_2(across) > MOVING, across / ca.fmax(ca.norm_2(across), 1e-300)))
        present = [f.on.sym for f in feet]
        rough = swept(A, -wanted, [list(f.rows) for f in feet], present, mu, moving)
        held, slides, ways = self._sorted(rough)
        away = -wanted + A @ rough
        reset: dict[str, ca.SX] = {}
        for f, presses, slide, way, (moves, along) in zip(feet, held, slides, ways, moving, strict=True):
            assert f.slip is not None
            stays = f.on.sym * ca.fmax(presses, away[f.normal] <= 0)
            reset[f.on.name] = stays
            direction = ca.if_else(moves, along, way)
            if f.way:
                reset[f.slip.name] = stays * ca.if_else(moves, 2, slide)
                reset |= {d.name: ca.if_else(ca.fmax(moves, slide), direction[k], d.sym) for k, d in enumerate(f.way)}
            else:
                reset[f.slip.name] = stays * ca.fmax(moves, slide) * ca.sign(direction)
        for z, opens in zip(self.locked, self.locks, strict=True):
            foot = next(f for f in feet if f.name == opens.foot)
            reset[z.name] = z.sym * reset[foot.on.name]
        return reset

    def _strays(self, f: _Foot) -> ca.SX:
        """How fast a foot moves that should not [m/s]."""
        astray = ca.fmax(ca.fabs(self.u[f.normal]) - 2 * self.stabilise * ca.fabs(f.spot.gap), 0)  # being pulled back is no straying
        if not len(f.tangents):
            return astray
        across = ca.norm_2(self.u[list(f.tangents)])
        return astray + (across if f.slip is None else ca.if_else(ca.fabs(f.slip.sym) < 0.5, across, 0))

    def _releases(self, force: ca.SX) -> list[ca.SX]:
        """Guards: positive where a foot should let go."""
        if self.release == "force":
            return [-force[f.normal] for f in self.feet]
        free = self._without()
        away = []
        for k, f in enumerate(self.feet):
            others = [ca.SX(0) if k == i else g.on.sym for i, g in enumerate(self.feet)]
            away.append((free + self.masked.A @ self.forces(False, others))[f.normal])
        alone = free + self.masked.A @ self.forces(False, [ca.SX(0)] * len(self.feet)) if self.loops else free
        presses = [alone[f.normal] <= 0 for f in self.feet]
        guards = []
        for k in range(len(self.feet)):  # the pressing foot stays if another can go
            yields = ca.SX(0)
            for i, g in enumerate(self.feet):
                if i != k:
                    yields = ca.fmax(yields, g.on.sym * (away[i] > 0) * presses[k] * (1 if i > k else 1 - presses[i]))
            guards.append(ca.if_else(yields, -1, away[k]))
        return guards

    def _events(self, force: ca.SX) -> list[Event]:
        found: list[Event] = []
        releases, landing = self._releases(force), self._landing()
        modes = self._modes() if self.coulomb else {}
        for k, f in enumerate(self.feet):
            on = f.on.sym
            ready = f.armed.sym if f.armed is not None else ca.SX(1)
            found.append(
                Event(
                    f"{f.name}_touchdown",
                    guard=ca.fmin(-f.spot.gap, -self.u[f.normal] - PARTING),
                    when=(1 - on) * ready,
                    reset=landing,
                    priority=1,
                )
            )
            caught = -f.spot.gap - CAUGHT
            found.append(Event(f"{f.name}_caught", guard=caught, when=(1 - on) * ready, reset=landing, priority=2, eager=True))
            astray = ca.if_else(on, self._strays(f) - SETTLED, -1)
            found.append(Event(f"{f.name}_settle", guard=astray, reset=landing, priority=0, eager=True))
            inside = ca.if_else(ca.fmax(on, ready), -f.spot.gap - DEEP, -1)
            found.append(Event(f"{f.name}_inside", guard=inside, terminal=True, eager=True, priority=3, description="deep in the ground"))
            leave = {f.on.name: ca.SX(0)} | {
                z.name: ca.SX(0) for z, lock in zip(self.locked, self.locks, strict=True) if lock.foot == f.name
            }
            gone = leave | ({f.slip.name: ca.SX(0)} if f.slip is not None else {})
            found.append(Event(f"{f.name}_edge", guard=ca.if_else(on, f.spot.gap - EDGED, -1), reset=gone, priority=3))
            found.append(Event(f"{f.name}_release", guard=ca.if_else(on, releases[k], -1), reset=modes or leave, priority=3, eager=True))
            if f.armed is not None and f.arm is not None:
                clear = ca.fmin(f.spot.gap - TOUCHING, f.arm)
                found.append(Event(f"{f.name}_clear", guard=clear, when=(1 - on) * (1 - f.armed.sym), reset={f.armed.name: ca.SX(1)}))
                if self.scuffing == "stop":
                    scuff = ca.fmin(-f.spot.gap - CAUGHT, f.arm)
                    found.append(Event(f"{f.name}_scuff", guard=scuff, when=(1 - on) * (1 - f.armed.sym), terminal=True))
            if self.coulomb:
                found += self._friction_events(f, force, modes)
        for k, (lock, z, bent) in enumerate(zip(self.locks, self.locked, self.bent, strict=True)):
            reset = self._landing(lock=k) | {z.name: ca.SX(1), bent.name: ca.SX(0)}
            angle = self.closure.phi[self.always + k]
            open_enough = -angle - BENT
            found.append(
                Event(f"{lock.joint}_bend", guard=open_enough, when=(1 - z.sym) * (1 - bent.sym), reset={bent.name: ca.SX(1)}, eager=True)
            )
            found.append(Event(f"{lock.joint}_lock", guard=angle, when=(1 - z.sym) * bent.sym, reset=reset))
        return found

    def _friction_events(self, f: _Foot, force: ca.SX, modes: dict[str, ca.SX]) -> list[Event]:
        assert f.slip is not None
        mu, on, slip = sx(self.friction), f.on.sym, f.slip.sym
        tangents = list(f.tangents)
        push, moving = force[tangents], self.u[tangents]
        stops = MOVING / 2 - ca.norm_2(moving) if f.way else -slip * moving - PARTING
        beyond = ca.norm_2(push) - mu * force[f.normal]
        slides = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) < 0.5), beyond, -1)
        sticks = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) > (1.5 if f.way else 0.5)), stops, -1)
        found = [
            Event(f"{f.name}_slide", guard=slides, reset=modes, priority=4, eager=True),
            Event(f"{f.name}_stick", guard=sticks, reset=modes, priority=5),
        ]
        if f.way:
            started = ca.if_else(ca.logic_and(slip > 0.5, slip < 1.5), ca.norm_2(moving) - MOVING, -1)
            found.append(Event(f"{f.name}_moves", guard=started, reset={f.slip.name: ca.SX(2)}, priority=4))
        return found

    # ---- together ----

    def count_steps(self) -> None:
        if len(self.feet) != 2:
            raise ModelError(f"'{self.made.mechanism.name}' has {len(self.feet)} feet: steps are counted for two")
        length, duration = Discrete("step_length", 0.0, "m"), Discrete("step_time", 0.0, "s")
        self.counters = [Discrete("steps", 0.0), length, duration, Discrete("struck_at", 0.0, "s")]
        speed = ca.if_else(duration.sym > 0, length.sym / ca.fmax(duration.sym, 1e-12), 0)
        self.made.show("m/s", {"speed": speed})
        self.made.show("m", {"clearance": ca.fmax(self.feet[0].spot.gap, self.feet[1].spot.gap)})

    def discrete(self) -> list[Discrete]:
        found: list[Discrete] = []
        for f in self.feet:
            found += [z for z in (f.on, f.slip, *f.way, f.armed) if z is not None]
        return found + self.locked + self.bent + self.counters

    def _exchanged(self, symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None) -> dict[str, ca.SX]:
        """States with left and right exchanged: what the modeller says of the tree, and the feet and locks in pairs."""
        if symmetry is None:
            return {}
        names = {z.name: z for z in self.discrete()}
        found = dict(symmetry(self.tree))
        for name in names:
            for one, other in (("_l_", "_r_"), ("_r_", "_l_")):
                if one in name and name.replace(one, other) in names:
                    found.setdefault(name, names[name.replace(one, other)].sym)
        return found

    def system(
        self, description: str, fall: tuple[str, Expression] | None, symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None
    ) -> System:
        made = self.made
        force = self.forces()
        acceleration = self.loose + self.masked.effect(force)
        if made.closure is not None:
            made.note_closure(force[: self.always])
        for f in self.feet:
            made.show("m", {f"{f.name}_gap": f.spot.gap})
            made.show("N", {f"{f.name}_normal": force[f.normal]})
            suffixes = ("",) if len(f.tangents) == 1 else ("_x", "_y")
            made.show("N", {f"{f.name}_friction{s}": force[row] for s, row in zip(suffixes, f.tangents, strict=False)})
            if self.coulomb:
                lost = -sum(force[row] * self.u[row] for row in f.tangents)
                assert f.slip is not None
                made.entries["dissipated"][f"{f.name}_friction"] = ca.if_else(f.slip.sym, lost, 0)
        text = description or f"{made.mechanism.name} on rigid ground"
        events = self._events(force)
        if fall is not None:
            made.mechanism.note_params(fall[1])
            low = sx(fall[1]) - self.ground.gap(observe.position(self.tree, fall[0]))
            events.append(Event("fall", guard=low, terminal=True, priority=9))
        arrows = [Arrow(f.name, f.spot.point, f.spot.directions[:, : len(f.rows)] @ force[list(f.rows)]) for f in self.feet]
        return made.build(
            acceleration,
            text,
            z=self.discrete(),
            events=events,
            symmetry=self._exchanged(symmetry),
            arrows=arrows,
            floor=self.ground.floor(),
        )
