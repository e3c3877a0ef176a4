"""Rigid contact: feet that stop dead, hold, slide, and let go, in one flow whose rows are switched by events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.contact.ground import Ground, plane
from strut.contact.masked import Masked, Sliding
from strut.contact.touch import Spot, Touch, spot, touches_of
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import RANK, drift
from strut.mechanism.constraints import Rows
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system.event import Event
from strut.system.quantity import Discrete, Expression, sx
from strut.system.scene import Arrow
from strut.system.system import System

TOUCHING = 1e-9  # [m]: contacts this near to the ground when another lands land with it
PARTING = 1e-9  # [m/s]: slower than this is no motion towards the ground
CAUGHT = 1e-8  # [m]: nothing goes deeper into the ground, whatever happened before
SETTLED = 1e-6  # [m/s]: a foot that stands moves no faster, unless something unforeseen moved it
AIMLESS = 1e-8  # [m/s]: below this the direction of sliding in space is the one in which it began
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
    release: str = "force",
    arm: Mapping[str, Callable[[Tree], ca.SX]] | None = None,
    scuffing: str = "ignore",
    locks: Sequence[KneeLock] = (),
    fall: tuple[str, Expression] | None = None,
    symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None = None,
    stabilise: Expression = 20.0,
    description: str = "",
) -> System:
    """The mechanism on rigid ground, as a system.

    feet: frames' names for points, or `point`, `sphere`, `arc`, `wheel`, `polygon`, `cylinder`.
    friction: None holds without limit, 0 slides freely, a number is Coulomb's coefficient.
    restitution: Newton's. Landings slower than `rest_speed` [m/s] do not bounce, and feet that a landing would lift more
        slowly than that stay, so that bouncing and rocking end.
    release: a foot lets go when its normal force would pull ('force'), or when, let go, it would accelerate away from the
        ground ('acceleration', Duindam's rule). With one frictionless foot on the ground they are the same.
    arm: by foot, an expression of the tree. The foot passes through the ground until it has been above the ground with
        that expression positive: stiff-legged walkers scuff in mid-swing. scuffing='stop' ends the run there instead,
        with status FOOT_scuff.
    locks: joints that lock plastically, see `KneeLock`.
    fall: (frame, height [m]); when the frame comes lower over the ground the run ends with status 'fall'.
    symmetry: of the tree, the states with left and right exchanged; discrete states of feet and locks whose names differ
        by _l and _r are exchanged without being named.
    stabilise: rate [1/s] at which drift into or out of the ground is pulled back.

    Each foot F has discrete states F_on and, with Coulomb's friction, F_slip; events F_touchdown, F_release, F_slide,
    F_stick, and F_settle where it was said to stand, but moved; outputs F_gap, F_normal and F_friction (in space
    F_friction_x and F_friction_y, along the ground).
    """
    made = _Rigid(mechanism, feet, ground or plane(), friction, restitution, rest_speed, release, arm or {}, scuffing, locks, stabilise)
    return made.system(description, fall, symmetry)


@dataclass(frozen=True, eq=False)
class KneeLock:
    """A joint of one coordinate that locks plastically when it comes to `at` from below, and opens when `foot` leaves the
    ground. Events JOINT_lock, discrete state JOINT_locked."""

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
        self.locked = [Discrete(f"{lock.joint}_locked", float(lock.locked)) for lock in locks]
        self.closure = self.made.closure or Rows((), ca.SX(0, 1), ca.SX(0, tree.nv), ca.SX(0, 1))
        self.frictionless = friction is not None and sx(friction).is_zero()
        self.coulomb = friction is not None and not self.frictionless
        spots = [spot(tree, t, ground) for t in touches]
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
        q, v, _ = self.made.start()
        found = []
        at = self.loops
        for s in spots:
            width = 1 if self.frictionless else s.K.shape[0]
            gap, speed = (self.made.evaluate(e, q, v).item() for e in (s.gap, s.K[0, :] @ self.tree.v))
            touching = abs(gap) < TOUCHING and abs(speed) < 1e-6
            foot = _Foot(s, range(at, at + width), Discrete(f"{s.name}_on", float(touching)))
            at += width
            if self.coulomb:
                foot.slip = Discrete(f"{s.name}_slip", 0.0)
                foot.way = () if width == 2 else (Discrete(f"{s.name}_way_x", 1.0), Discrete(f"{s.name}_way_y", 0.0))
            if s.name in arm:
                foot.arm = sx(arm[s.name](self.tree))
                self.made.mechanism.note_params(foot.arm)
                ready = gap > 0 and self.made.evaluate(foot.arm, q, v).item() > 0
                foot.armed = Discrete(f"{s.name}_armed", float(ready))
            found.append(foot)
        return found

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
                    found.append(Sliding(row, f.normal, f.slip.sym, -mu * self._direction(f)[k]))
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

    def _landing(self, j: int | None, lock: int | None = None) -> dict[str, ca.SX]:
        """The state after foot j touches, or a lock closes: it stops (or bounces), feet that would be pulled up by it are
        let go, feet that would be driven into the ground stop with it; beyond the friction cone they slide."""
        feet, u = self.feet, self.u
        locked = [ca.SX(1) if k == lock else z.sym for k, z in enumerate(self.locked)]
        new, bounces = [], []
        for k, f in enumerate(feet):
            falls = u[f.normal] < -PARTING
            ready = f.armed.sym if f.armed is not None else ca.SX(1)
            new.append(ca.SX(1) if k == j else (1 - f.on.sym) * ready * (f.spot.gap < TOUCHING) * falls)
            bounces.append(ca.if_else(-u[f.normal] > self.rest_speed, self.restitution, 0))
        missing = -u + ca.vertcat(self.closure.k0, self.contacts.k0)
        for k, f in enumerate(feet):
            missing[f.normal] = -(1 + new[k] * bounces[k]) * u[f.normal]
        alone = self.masked.forces(missing, self._switches(new, locked))
        after = u + self.masked.A @ alone
        kept = [f.on.sym * (after[f.normal] <= self.rest_speed) for f in feet]
        held = [ca.fmax(a, b) for a, b in zip(new, kept, strict=True)]
        reset: dict[str, ca.SX] = {}
        if self.coulomb:
            impulse, reset = self._sliding_impulse(missing, held, locked)
            after = u + self.masked.A @ impulse  # friction may have turned what seemed to lift
            held = [ca.fmax(flag, f.on.sym * (after[f.normal] < -PARTING)) for flag, f in zip(held, feet, strict=True)]
            impulse, reset = self._sliding_impulse(missing, held, locked)
        else:
            impulse = self.masked.forces(missing, self._switches(held, locked))
        settled = [keep * (bounce.is_zero() or bounce <= 0) for keep, bounce in zip(held, bounces, strict=True)]
        reset |= {f.on.name: on for f, on in zip(feet, settled, strict=True)}
        for z, opens in zip(self.locked, self.locks, strict=True):  # a foot that this lifts opens its lock
            foot = next(k for k, f in enumerate(feet) if f.name == opens.foot)
            reset[z.name] = z.sym * (1 - feet[foot].on.sym * (1 - settled[foot]))
        reset |= {f.armed.name: f.armed.sym * (1 - flag) for f, flag in zip(feet, held, strict=True) if f.armed is not None}
        v = self.tree.v + self.masked.effect(impulse)
        return reset | {self.made.velocities[k].name: v[k] for k in self.made.kept}

    def _sliding_impulse(self, missing: ca.SX, held: list[ca.SX], locked: list[ca.SX]) -> tuple[ca.SX, dict[str, ca.SX]]:
        """Impulses, with those that leave the friction cone brought back to it, and who slides then."""
        mu = sx(self.friction)
        switches = self._switches(held, locked)
        stuck = self.masked.forces(missing, switches)
        rules, slides, ways = [], [], []
        for f, flag in zip(self.feet, held, strict=True):
            tangents = list(f.tangents)
            push, moving = stuck[tangents], self.u[tangents]
            leaves = flag * (ca.norm_2(push) > mu * ca.fmax(stuck[f.normal], 0))
            way = ca.if_else(
                ca.norm_2(moving) > PARTING, moving / ca.fmax(ca.norm_2(moving), 1e-300), -push / ca.fmax(ca.norm_2(push), 1e-300)
            )
            slides.append(leaves)
            ways.append(way)
            rules += [Sliding(row, f.normal, leaves, -mu * way[k]) for k, row in enumerate(f.tangents)]
        impulse = self.masked.forces(missing, switches, tuple(rules))
        reset: dict[str, ca.SX] = {}
        for f, leaves, way in zip(self.feet, slides, ways, strict=True):
            assert f.slip is not None
            if f.way:
                reset |= {f.slip.name: leaves} | {d.name: ca.if_else(leaves, way[k], d.sym) for k, d in enumerate(f.way)}
            else:
                reset[f.slip.name] = leaves * way[0]
        return impulse, reset

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
        releases = self._releases(force)
        for k, f in enumerate(self.feet):
            on = f.on.sym
            ready = f.armed.sym if f.armed is not None else ca.SX(1)
            landing = self._landing(k)
            lands = landing[f.on.name] * (self.u[f.normal] < -PARTING)
            gentle = {name: ca.if_else(self.u[f.normal] < -PARTING, value, self._now(name)) for name, value in landing.items()}
            gentle[f.on.name] = ca.if_else(self.u[f.normal] < -PARTING, lands, on)
            found.append(Event(f"{f.name}_touchdown", guard=-f.spot.gap, when=(1 - on) * ready, reset=gentle, priority=1))
            found.append(Event(f"{f.name}_caught", guard=-f.spot.gap - CAUGHT, when=(1 - on) * ready, reset=landing, priority=2))
            leave = {f.on.name: ca.SX(0)} | ({f.slip.name: ca.SX(0)} if f.slip is not None else {})
            leave |= {z.name: ca.SX(0) for z, lock in zip(self.locked, self.locks, strict=True) if lock.foot == f.name}
            found.append(Event(f"{f.name}_release", guard=ca.if_else(on, releases[k], -1), reset=leave, priority=3, eager=True))
            if f.armed is not None and f.arm is not None:
                clear = ca.fmin(f.spot.gap, f.arm)
                found.append(Event(f"{f.name}_clear", guard=clear, when=(1 - on) * (1 - f.armed.sym), reset={f.armed.name: ca.SX(1)}))
                if self.scuffing == "stop":
                    scuff = ca.fmin(-f.spot.gap - CAUGHT, f.arm)
                    found.append(Event(f"{f.name}_scuff", guard=scuff, when=(1 - on) * (1 - f.armed.sym), terminal=True))
            if self.coulomb:
                found += self._friction_events(f, force)
            found.append(self._settling(k))
        for k, (lock, z) in enumerate(zip(self.locks, self.locked, strict=True)):
            reset = self._landing(None, lock=k) | {z.name: ca.SX(1)}
            found.append(Event(f"{lock.joint}_lock", guard=self.closure.phi[self.always + k], when=1 - z.sym, reset=reset))
        return found

    def _settling(self, k: int) -> Event:
        """A foot that is said to stand but moves, as where a run begins so or a push is sudden: it stops, or it slides."""
        f = self.feet[k]
        landing = self._landing(k)
        across = ca.norm_2(self.u[list(f.tangents)]) if len(f.tangents) else ca.SX(0)
        moves = ca.fabs(self.u[f.normal])
        if f.slip is None:
            moves = moves + across
        else:
            fast = ca.logic_and(across > SETTLED, ca.fabs(f.slip.sym) < 0.5)
            moves = moves + ca.if_else(ca.fabs(f.slip.sym) < 0.5, across, 0)
            way = self.u[list(f.tangents)] / ca.fmax(across, 1e-300)
            gently = ca.fabs(self.u[f.normal]) < SETTLED
            slides = {name: ca.if_else(gently, self._now(name), value) for name, value in landing.items()}
            if f.way:
                slides |= {d.name: ca.if_else(fast, way[i], slides[d.name]) for i, d in enumerate(f.way)}
            slides[f.slip.name] = ca.if_else(fast, ca.SX(1) if f.way else way[0], slides[f.slip.name])
            landing = slides
        return Event(f"{f.name}_settle", guard=ca.if_else(f.on.sym, moves - SETTLED, -1), reset=landing, priority=0, eager=True)

    def _now(self, name: str) -> ca.SX:
        """The present value of a state that a landing changes."""
        for k in self.made.kept:
            if self.made.velocities[k].name == name:
                return self.tree.v[k]
        return next(z.sym for z in self.discrete() if z.name == name)

    def _friction_events(self, f: _Foot, force: ca.SX) -> list[Event]:
        assert f.slip is not None
        mu, on, slip = sx(self.friction), f.on.sym, f.slip.sym
        tangents = list(f.tangents)
        push, moving = force[tangents], self.u[tangents]
        if f.way:
            size = ca.norm_2(push)
            begin = {f.slip.name: ca.SX(1)} | {d.name: -push[k] / ca.fmax(size, 1e-300) for k, d in enumerate(f.way)}
            stops = 10 * AIMLESS - ca.norm_2(moving)
        else:
            size = ca.fabs(push)
            begin = {f.slip.name: -ca.sign(push)}
            stops = -slip * moving - PARTING
        slides = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) < 0.5), size - mu * force[f.normal], -1)
        sticks = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) > 0.5), stops, -1)
        return [
            Event(f"{f.name}_slide", guard=slides, reset=begin, priority=4, eager=True),
            Event(f"{f.name}_stick", guard=sticks, reset={f.slip.name: ca.SX(0)}, priority=5),
        ]

    # ---- together ----

    def discrete(self) -> list[Discrete]:
        found: list[Discrete] = []
        for f in self.feet:
            found += [z for z in (f.on, f.slip, *f.way, f.armed) if z is not None]
        return found + self.locked

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
