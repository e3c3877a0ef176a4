"""Rigid contact: feet that stop dead, hold, slide, and let go, in one flow whose rows are switched by
events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca

from strut.checks import checked
from strut.contact.feet import SETTLED, Footing, KneeLock, Standing, StandingFoot
from strut.contact.ground import Ground, ground_of
from strut.contact.resets import LIFTING, MOVING, PARTING, PULLING, STARTED, Landing
from strut.contact.touch import Touch, coefficient, touches_of
from strut.contact.walk import walk_of
from strut.errors import ModelError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system import Arrow, Discrete, Event, Expression, Foot, System, Walk, sx, time

CAUGHT = 1e-8  # [m]: nothing goes deeper into the ground, whatever happened before
BENT = 1e-4  # [rad]: a joint must have opened this far before it can lock again
EDGED = 1e-4  # [m]: ground that is suddenly this far below a foot was left over an edge
# [m]: a foot that is deeper than this in the ground was never on it: it ran into a step, or began there
DEEP = 1e-3
INSIDE = "deep in the ground: the foot ran into a step, or began there"
"""What the events FOOT_inside mean."""
FAINT = 1e-6
"""[m/s^2], a force times a contact's lightness: feet that share a load in many ways push against each other
by rounding, and a foot that carries nothing does not slide for that."""
RELEASES = ("force", "acceleration")


@checked
def ahead_of(frame: str, other: str, margin: Expression = 0.0) -> Callable[[Tree], ca.SX]:
    """For `arm`: how far one frame is in front of another [m], less a margin."""
    return lambda tree: observe.position(tree, frame)[0] - observe.position(tree, other)[0] - sx(margin)


@checked
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
    restitution: Newton's. Landings slower than `rest_speed` [m/s] do not bounce, and feet that a landing
        would lift more slowly than that stay, so that bouncing and rocking end.
    release: a foot lets go when, let go, it would accelerate away from the ground ('acceleration', Duindam's
        rule), or when its normal force would pull ('force'), though it may then sink. With one frictionless
        foot on the ground they are the same. With Coulomb's friction all feet are asked together who holds,
        slides and goes.
    arm: by foot, an expression of the tree. The foot passes through the ground until it has been above the
        ground with that expression positive: stiff-legged walkers scuff in mid-swing. scuffing='stop' ends
        the run there instead, with status FOOT_scuff.
    locks: joints that lock plastically, see `KneeLock`.
    fall: (frame, height [m]); when the frame comes lower over the ground the run ends with status 'fall'.
    symmetry: of the tree, the states with left and right exchanged; discrete states of feet and locks whose
        names differ by _l and _r are exchanged without being named.
    steps: of a machine with two feet, count the steps: discrete states steps, step_length, step_time and
        struck_at, outputs speed (of the last step) and clearance (of the higher foot).
    stabilise: rate [1/s] at which drift into or out of the ground is pulled back.

    Each foot F has discrete states F_on and, with Coulomb's friction, F_slip; events F_touchdown, F_release,
    F_slide, F_stick, F_edge where the ground ends under it, F_settle where it was said to stand, but moved,
    and F_inside, which ends a run that puts a foot deep into the ground; with Coulomb's friction F_jam, where
    no force lets it slide on (Painleve) and it stops dead, and F_painleve, which ends a run where it cannot
    stop either; outputs F_gap, F_normal and F_friction (in space F_friction_x and F_friction_y, along the
    ground). Very many contacts with friction in space take long to compile: `time_stepped` is for those.
    """
    if release not in RELEASES:
        raise ModelError(f"release '{release}' is unknown: {did_you_mean(release, list(RELEASES))}")
    if scuffing not in ("ignore", "stop"):
        raise ModelError(f"scuffing '{scuffing}' is unknown: use 'ignore' or 'stop'")
    if fall is not None and not (
        isinstance(fall, (tuple, list)) and len(fall) == 2 and isinstance(fall[0], str)
    ):
        raise ModelError(f"fall is {fall!r}: give a frame and a height [m], fall=('hip', 0.5)")
    surface, friction = ground_of(ground), coefficient(friction)
    params = mechanism.parameter_set()
    params.add_number(restitution, "the restitution", low=0.0, high=1.0)
    params.add_number(rest_speed, "the rest_speed", low=0.0)
    if fall is not None:
        params.add_number(fall[1], "the height of a fall")
    sinks = release == "force"  # what is let go by force may sink: it lands again after it was off the ground
    footing = Footing(
        touches=touches_of(feet),
        ground=surface,
        friction=friction,
        arm=arm or {},
        locks=locks,
        stabilise=stabilise,
        rearm=sinks,
    )
    stands = Standing(mechanism, footing, params)
    landing = Landing(stands, restitution, rest_speed, _counted(stands) if steps else ())
    return _Rigid(stands, landing, surface, release, scuffing).system(description, fall, symmetry)


def _counted(stands: Standing) -> list[Discrete]:
    """Counters of the steps of a machine with two feet, and what is shown of them."""
    if len(stands.feet) != 2:
        raise ModelError(
            f"'{stands.made.mechanism.name}' has {len(stands.feet)} feet: steps are counted for two"
        )
    length, duration = Discrete("step_length", 0.0, "m"), Discrete("step_time", 0.0, "s")
    speed = ca.if_else(duration.sym > 0, length.sym / ca.fmax(duration.sym, 1e-12), 0)
    stands.made.show("m/s", {"speed": speed})
    stands.made.show("m", {"clearance": ca.fmax(*[f.spot.gap for f in stands.feet])})
    return [Discrete("steps", 0.0), length, duration, Discrete("struck_at", 0.0, "s")]


class _Rigid:
    """The events of a mechanism that stands on feet, and the system."""

    def __init__(
        self, stands: Standing, landing: Landing, ground: Ground, release: str, scuffing: str
    ) -> None:
        self.stands, self.landing, self.ground = stands, landing, ground
        self.release, self.scuffing = release, scuffing

    def _events(self, force: ca.SX) -> list[Event]:
        found: list[Event] = []
        releases, landing = self._releases(force), self.landing.landed()
        roles = self.landing.roles() if self.stands.coulomb else {}
        for k, f in enumerate(self.stands.feet):
            on, ready = f.on.sym, f.ready
            found.append(
                Event(
                    f"{f.name}_touchdown",
                    guard=ca.fmin(-f.spot.gap, -self.stands.u[f.normal] - PARTING),
                    when=(1 - on) * ready,
                    reset=landing,
                    priority=1,
                )
            )
            caught = -f.spot.gap - CAUGHT
            found.append(
                Event(
                    f"{f.name}_caught",
                    guard=caught,
                    when=(1 - on) * ready,
                    reset=landing,
                    priority=2,
                    eager=True,
                )
            )
            astray = ca.if_else(on, self.stands.strays(f) - SETTLED, -1)
            found.append(Event(f"{f.name}_settle", guard=astray, reset=landing, priority=0, eager=True))
            inside = ca.if_else(ca.fmax(on, ready), -f.spot.gap - DEEP, -1)
            found.append(
                Event(
                    f"{f.name}_inside",
                    guard=inside,
                    terminal=True,
                    failure=True,
                    eager=True,
                    priority=3,
                    description=INSIDE,
                )
            )
            leave = {f.on.name: ca.SX(0)} | {
                z.name: ca.SX(0)
                for z, lock in zip(self.stands.locked, self.stands.locks, strict=True)
                if lock.foot == f.name
            }
            gone = leave | ({f.slip.name: ca.SX(0)} if f.slip is not None else {})
            found.append(
                Event(f"{f.name}_edge", guard=ca.if_else(on, f.spot.gap - EDGED, -1), reset=gone, priority=3)
            )
            found.append(
                Event(
                    f"{f.name}_release",
                    guard=ca.if_else(on, releases[k], -1),
                    reset=roles or leave,
                    priority=3,
                    eager=True,
                )
            )
            if f.swing is not None:
                found += f.swing.events(1 - on)
                found += (
                    [f.swing.scuff(CAUGHT, 1 - on)]
                    if self.scuffing == "stop" and f.swing.ahead is not None
                    else []
                )
            if self.stands.coulomb:
                found += self._friction_events(f, force, roles) + self._jam_events(f, landing)
        for k, (lock, z, bent) in enumerate(
            zip(self.stands.locks, self.stands.locked, self.stands.bent, strict=True)
        ):
            reset = self.landing.landed(lock=k) | {z.name: ca.SX(1), bent.name: ca.SX(0)}
            angle = self.stands.closure.phi[self.stands.always + k]
            open_enough = -angle - BENT
            found.append(
                Event(
                    f"{lock.joint}_bend",
                    guard=open_enough,
                    when=(1 - z.sym) * (1 - bent.sym),
                    reset={bent.name: ca.SX(1)},
                    eager=True,
                )
            )
            found.append(Event(f"{lock.joint}_lock", guard=angle, when=(1 - z.sym) * bent.sym, reset=reset))
        return found

    def _friction_events(self, f: StandingFoot, force: ca.SX, roles: dict[str, ca.SX]) -> list[Event]:
        assert f.slip is not None
        mu, on, slip = sx(self.stands.friction), f.on.sym, f.slip.sym
        tangents = list(f.tangents)
        push, moving = force[tangents], self.stands.u[tangents]
        stops = MOVING / 2 - ca.norm_2(moving) if f.way else -slip * moving - PARTING
        rounding = FAINT / self.stands.masked.A[f.normal, f.normal] if self.stands.masked.redundant else 0
        beyond = ca.norm_2(push) - mu * force[f.normal] - rounding
        slides = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) < 0.5), beyond, -1)
        if f.way:  # one that begins to slide must not be pushed back against its own friction
            backwards = -ca.dot(moving, ca.vertcat(*[d.sym for d in f.way])) - MOVING / 2
            stops = ca.if_else(slip > 1.5, stops, backwards)
        sticks = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) > 0.5), stops, -1)
        found = [
            Event(f"{f.name}_slide", guard=slides, reset=roles, priority=4, eager=True),
            Event(f"{f.name}_stick", guard=sticks, reset=roles, priority=5),
        ]
        if f.way:
            started = ca.if_else(ca.logic_and(slip > 0.5, slip < 1.5), ca.norm_2(moving) - STARTED, -1)
            found.append(Event(f"{f.name}_moves", guard=started, reset={f.slip.name: ca.SX(2)}, priority=4))
        return found

    def _releases(self, force: ca.SX) -> list[ca.SX]:
        """Guards: positive where a foot should let go."""
        if self.stands.coulomb:
            return [self._release_with_friction(f, force[f.normal]) for f in self.stands.feet]
        if self.release == "force":
            return [-force[f.normal] for f in self.stands.feet]
        free = self.stands.unforced
        away = []
        for k, f in enumerate(self.stands.feet):
            others = [ca.SX(0) if k == i else g.on.sym for i, g in enumerate(self.stands.feet)]
            away.append((free + self.stands.masked.A @ self.stands.forces(others))[f.normal] - LIFTING)
        alone = (
            free + self.stands.masked.A @ self.stands.forces([ca.SX(0)] * len(self.stands.feet))
            if self.stands.loops
            else free
        )
        presses = [alone[f.normal] <= 0 for f in self.stands.feet]
        guards = []
        for k in range(len(self.stands.feet)):  # the pressing foot stays if another can go
            yields = ca.SX(0)
            for i, g in enumerate(self.stands.feet):
                if i != k:
                    yields = ca.fmax(
                        yields, g.on.sym * (away[i] > 0) * presses[k] * (1 if i > k else 1 - presses[i])
                    )
            guards.append(ca.if_else(yields, -1, away[k]))
        return guards

    def _release_with_friction(self, f: StandingFoot, normal: ca.SX) -> ca.SX:
        """Coulomb's friction: where a foot pulls, all feet are asked who holds, slides and goes. One that
        sticks slides before it pulls; one that slides pulls just where, let go, it would accelerate away,
        unless friction jams it: then it is the other way round, and one that would pull but not go away has
            no consistent force (`jams`)."""
        pulls = -normal * self.stands.masked.A[f.normal, f.normal] - PULLING  # as an acceleration
        goes = -pulls - 2 * PULLING if self.release == "acceleration" else ca.SX(-1)
        return ca.if_else(self.stands.slips(f) * (self.stands.switched.gain(f.normal) < 0), goes, pulls)

    def _jam_events(self, f: StandingFoot, landing: dict[str, ca.SX]) -> list[Event]:
        """What happens where no force lets a foot slide on: it stops dead; where it cannot, the run ends."""
        assert self.landing.jammed_at is not None
        guard = self.landing.jams(f)
        again = ca.if_else(ca.logic_and(guard > 0, time <= self.landing.jammed_at.sym), 1, -1)
        return [
            Event(
                f"{f.name}_jam",
                guard=guard,
                reset=landing,
                priority=6,
                eager=True,
                description="no contact force is consistent with sliding on (Painleve): the foot stops dead, "
                "a tangential impact",
            ),
            Event(
                f"{f.name}_painleve",
                guard=again,
                terminal=True,
                eager=True,
                priority=7,
                description="no consistent contact force (Painleve), and stopping the foot would leave its "
                "friction cone",
            ),
        ]

    def _walk(self) -> Walk:
        """The feet as users of the system see them."""
        feet = []
        for f in self.stands.feet:
            swings = f.swing is not None and f.swing.ahead is not None
            suffixes = ("",) if len(f.tangents) == 1 else ("_x", "_y")
            feet.append(
                Foot(
                    name=f.name,
                    lands=f"{f.name}_touchdown",
                    stands=f.on.name,
                    normal=f"{f.name}_normal",
                    friction=tuple(
                        f"{f.name}_friction{s}" for s, _ in zip(suffixes, f.tangents, strict=False)
                    ),
                    gap=f"{f.name}_gap",
                    passes=f"{f.name}_passes" if swings else "",
                    clears=f"{f.name}_clear" if swings else "",
                )
            )
        return walk_of(
            self.stands.made, self.ground, feet, step_length="step_length" if self.landing.counters else ""
        )

    def _discrete(self) -> list[Discrete]:
        jammed = [] if self.landing.jammed_at is None else [self.landing.jammed_at]
        return self.stands.discrete() + jammed + list(self.landing.counters)

    def _exchanged(self, symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None) -> dict[str, ca.SX]:
        """States with left and right exchanged: what the modeller says of the tree, and the feet and locks in
        pairs."""
        if symmetry is None:
            return {}
        names = {z.name: z for z in self._discrete()}
        found = dict(symmetry(self.stands.tree))
        for name in names:
            for one, other in (("_l_", "_r_"), ("_r_", "_l_")):
                if one in name and name.replace(one, other) in names:
                    found.setdefault(name, names[name.replace(one, other)].sym)
        return found

    def system(
        self,
        description: str,
        fall: tuple[str, Expression] | None,
        symmetry: Callable[[Tree], Mapping[str, ca.SX]] | None,
    ) -> System:
        made = self.stands.made
        force = self.stands.force
        acceleration = self.stands.loose + self.stands.masked.effect(force)
        if made.closure is not None:
            made.note_closure(force[: self.stands.always])
        for f in self.stands.feet:
            made.show("m", {f"{f.name}_gap": f.spot.gap})
            there = (
                ca.if_else(self.landing.jams(f) > 0, 0, force) if self.stands.coulomb else force
            )  # no force fits a jam: its impulse does
            made.show("N", {f"{f.name}_normal": there[f.normal]})
            suffixes = ("",) if len(f.tangents) == 1 else ("_x", "_y")
            made.show(
                "N",
                {f"{f.name}_friction{s}": there[row] for s, row in zip(suffixes, f.tangents, strict=False)},
            )
            if self.stands.coulomb:
                lost = -sum(force[row] * self.stands.u[row] for row in f.tangents)
                assert f.slip is not None
                made.entries["dissipated"][f"{f.name}_friction"] = ca.if_else(f.slip.sym, lost, 0)
        text = description or f"{made.mechanism.name} on rigid ground"
        events = self._events(force)
        if fall is not None:
            low = sx(fall[1]) - self.ground.gap(observe.position(self.stands.tree, fall[0]))
            told = f"it fell: {fall[0]} came down"
            events.append(Event("fall", guard=low, terminal=True, failure=True, priority=9, description=told))
        arrows = [
            Arrow(f.name, f.spot.point, f.spot.directions[:, : len(f.rows)] @ force[list(f.rows)])
            for f in self.stands.feet
        ]
        return made.build(
            acceleration,
            text,
            z=self._discrete(),
            events=events,
            symmetry=self._exchanged(symmetry),
            arrows=arrows,
            floor=self.ground.floor(),
            walk=self._walk(),
        )
