"""Rigid contact: feet that stop dead, hold, slide, and let go, in one flow whose rows are switched by
events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.contact.exchange import Exchange, exchange_with_flags, opposite_foot
from strut.contact.fall import Fall, add_fall_parameters, fall_events
from strut.contact.feet import MAX_STANDING_SPEED, Footing, KneeLock, StandingFoot, StandingMachine
from strut.contact.grips import grips_of
from strut.contact.ground import Ground, ground_of
from strut.contact.joint_reactions import show_reactions
from strut.contact.resets import (
    LIFTING_ACCELERATION,
    PARTING_SPEED,
    SLIDING_SPEED,
    STEADY_SLIDING_SPEED,
    Landing,
)
from strut.contact.touch import Touch, coefficient, touches_of
from strut.contact.uneven import lowest_ground
from strut.contact.walk import parameter_name, walk_of
from strut.errors import ModelError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system import Arrow, Discrete, Event, Expression, Foot, System, Walk, sx, time

CATCH_DEPTH = 1e-8
"""[m] A foot that is this deep in the ground lands, whatever happened before."""
MIN_BEND = 1e-4
"""[rad] A joint must have opened this far before it can lock again."""
EDGE_DROP = 1e-4
"""[m] A foot that stands and finds the ground this far below it was carried over an edge."""
MAX_DEPTH = 1e-3
"""[m] A foot that is deeper in the ground was never on it: it ran into a step, or began there."""
INSIDE_MEANING = "deep in the ground: the foot ran into a step, or began there"
"""What the events FOOT_inside mean."""
ASK_AGAIN = 0.5
"""[1] The state contact_is_unsolved where all feet are to be asked again; 1 where that did not help."""
RELEASES = ("force", "acceleration")


@checked
def ahead_of(frame: str, other: str, margin: Expression = 0.0) -> Callable[[Tree], ca.SX]:
    """How far one frame is in front of another [m], less a margin: what `arm` takes."""
    return lambda tree: observe.position(tree, frame)[0] - observe.position(tree, other)[0] - sx(margin)


@checked
def rigid(  # noqa: PLR0913 -- options of a public function, by keyword
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
    fall: Fall = None,
    symmetry: Exchange = None,
    steps: bool = False,
    stabilise: Expression = 20.0,
    reactions: Sequence[str] = (),
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
    symmetry: 'auto', what `mechanism.symmetry` returns, or a function of the tree to the states with left and
        right exchanged; discrete states of feet and locks whose names differ by _l and _r are exchanged
        without being named. A step of such a machine is then a gait.
    steps: of a machine with two feet, count the steps: discrete states steps, step_length, step_time and
        struck_at, outputs speed (of the last step) and clearance (of the higher foot).
    stabilise: rate [1/s] at which drift into or out of the ground is pulled back.
    reactions: joints beyond which no foot is, whose force and moment become outputs NAME_reaction_x, ..., as
        of `mechanism.system`.

    Each foot F has discrete states F_on and, with Coulomb's friction, F_slip; events F_touchdown, F_release,
    F_slide, F_stick, F_edge where the ground ends under it, F_settle where it was said to stand, but moved,
    and F_inside, which ends a run that puts a foot deep into the ground; with Coulomb's friction F_jam, where
    no force lets it slide on (Painleve) and it stops dead, and F_painleve, which ends a run where it cannot
    stop either; outputs F_gap, F_normal and F_friction (in space F_friction_x and F_friction_y, along the
    ground). With Coulomb's friction event contact_unsolved ends a run, as a failure, in which the ground
    would have to pull because it was not found out which feet stand, stick, slide and go. A foot of many that
    share a load lets go where equally soft supports would pull at it, though it touches on. In a plane,
    points of one body that stand at once are held along the ground by the first of them alone, where
    friction has no limit: what each of them would take is not determined. Very many contacts with friction
    in space take long to compile: `time_stepped` is for those.
    """
    if release not in RELEASES:
        raise ModelError(f"release '{release}' is unknown: {did_you_mean(release, list(RELEASES))}")
    if scuffing not in ("ignore", "stop"):
        raise ModelError(f"scuffing '{scuffing}' is unknown: use 'ignore' or 'stop'")
    surface, friction = ground_of(ground), coefficient(friction)
    params = mechanism.parameter_set()
    params.add_number(restitution, "the restitution", low=0.0, high=1.0)
    params.add_number(rest_speed, "the rest_speed", low=0.0)
    add_fall_parameters(fall, params)
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
    machine = StandingMachine(mechanism, footing, params)
    landing = Landing(machine, restitution, rest_speed, _step_counters(machine) if steps else (), release)
    return _Rigid(machine, landing, surface, release, scuffing).system(description, fall, symmetry, reactions)


def _step_counters(machine: StandingMachine) -> list[Discrete]:
    """Counters of the steps of a machine with two feet, and what is shown of them."""
    if len(machine.feet) != 2:
        raise ModelError(
            f"'{machine.assembly.mechanism.name}' has {len(machine.feet)} feet: steps are counted for two"
        )
    length = Discrete("step_length", 0.0, "m", internal=True)
    duration = Discrete("step_time", 0.0, "s", internal=True)
    speed = ca.if_else(duration.sym > 0, length.sym / ca.fmax(duration.sym, 1e-12), 0)
    machine.assembly.show("m/s", {"speed": speed})
    machine.assembly.show("m", {"clearance": ca.fmax(*[f.spot.gap for f in machine.feet])})
    counters = Discrete("steps", 0.0, internal=True), Discrete("struck_at", 0.0, "s", internal=True)
    return [counters[0], length, duration, counters[1]]


class _Rigid:
    """The events of a mechanism that stands on feet, and the system."""

    def __init__(
        self, machine: StandingMachine, landing: Landing, ground: Ground, release: str, scuffing: str
    ) -> None:
        self.machine, self.landing, self.ground = machine, landing, ground
        self.release, self.scuffing = release, scuffing

    def _events(self, force: ca.SX) -> list[Event]:
        """All events, foot by foot, then those of the locks. force: along all rows."""
        events: list[Event] = []
        releases, landing = self._releases(force), self.landing.landing_reset()
        roles = self.landing.roles() if self.machine.coulomb else {}
        for k, f in enumerate(self.machine.feet):
            on = f.on.sym
            events += self._landing_events(f, landing) + self._leaving_events(f, releases[k], roles)
            if f.swing is not None:
                events += f.swing.events(1 - on)
                if self.scuffing == "stop" and f.swing.ahead is not None:
                    events.append(f.swing.scuff(CATCH_DEPTH, 1 - on))
            if self.machine.coulomb:
                events += self._friction_events(f, force, roles) + self._jam_events(f, landing)
        if self.machine.coulomb:
            events += self._unsolved_events(roles)
        return events + self._lock_events()

    def _landing_events(self, f: StandingFoot, landing: dict[str, ca.SX]) -> list[Event]:
        """A foot that comes down lands, also where its landing was missed or where it moves though it stands;
        one that is deep in the ground ends the run. landing: the reset of all feet."""
        on, ready = f.on.sym, f.ready
        astray = ca.if_else(on, self.machine.strays(f) - MAX_STANDING_SPEED, -1)
        return [
            Event(
                f"{f.name}_touchdown",
                guard=ca.fmin(-f.spot.gap, -self.machine.u[f.normal] - PARTING_SPEED),
                when=(1 - on) * ready,
                reset=landing,
                priority=1,
            ),
            Event(
                f"{f.name}_caught",
                guard=-f.spot.gap - CATCH_DEPTH,
                when=(1 - on) * ready,
                reset=landing,
                priority=2,
                eager=True,
            ),
            Event(f"{f.name}_settle", guard=astray, reset=landing, priority=0, eager=True),
            Event(
                f"{f.name}_inside",
                guard=ca.if_else(ca.fmax(on, ready), -f.spot.gap - MAX_DEPTH, -1),
                terminal=True,
                failure=True,
                eager=True,
                priority=3,
                description=INSIDE_MEANING,
            ),
        ]

    def _leaving_events(self, f: StandingFoot, release: ca.SX, roles: dict[str, ca.SX]) -> list[Event]:
        """A foot leaves the ground over an edge, or where `release` is positive; its locks open. With
        Coulomb's friction `roles`, a reset, says who stands on."""
        leave = {f.on.name: ca.SX(0)} | {
            z.name: ca.SX(0)
            for z, lock in zip(self.machine.locked, self.machine.locks, strict=True)
            if lock.foot == f.name
        }
        slip = {f.slip.name: ca.SX(0)} if f.slip is not None else {}
        dropped, parting = (ca.if_else(f.on.sym, e, -1) for e in (f.spot.gap - EDGE_DROP, release))
        return [
            Event(f"{f.name}_edge", guard=dropped, reset=leave | slip, priority=3),
            Event(f"{f.name}_release", guard=parting, reset=roles or leave, priority=3, eager=True),
        ]

    def _lock_events(self) -> list[Event]:
        """A joint that has opened may lock, and locks when it comes back: an impact, like a landing."""
        events: list[Event] = []
        for k, (lock, z, bent) in enumerate(
            zip(self.machine.locks, self.machine.locked, self.machine.bent, strict=True)
        ):
            reset = self.landing.landing_reset(lock=k) | {z.name: ca.SX(1), bent.name: ca.SX(0)}
            angle = self.machine.closure.phi[self.machine.always + k]
            open_enough = -angle - MIN_BEND
            events.append(
                Event(
                    f"{lock.joint}_bend",
                    guard=open_enough,
                    when=(1 - z.sym) * (1 - bent.sym),
                    reset={bent.name: ca.SX(1)},
                    eager=True,
                )
            )
            events.append(Event(f"{lock.joint}_lock", guard=angle, when=(1 - z.sym) * bent.sym, reset=reset))
        return events

    def _friction_events(self, f: StandingFoot, force: ca.SX, roles: dict[str, ca.SX]) -> list[Event]:
        """A foot begins to slide where its force leaves the friction cone, and sticks where it stops."""
        assert f.slip is not None
        on, slip, moving = f.on.sym, f.slip.sym, self.machine.u[list(f.tangents)]
        stops = SLIDING_SPEED / 2 - ca.norm_2(moving) if f.way else -slip * moving - PARTING_SPEED
        beyond = self.landing.begins_to_slide(f)
        slides = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) < 0.5), beyond, -1)
        if f.way:  # one that begins to slide must not be pushed back against its own friction
            backwards = -ca.dot(moving, ca.vertcat(*[d.sym for d in f.way])) - SLIDING_SPEED / 2
            stops = ca.if_else(slip > 1.5, stops, backwards)
        sticks = ca.if_else(ca.logic_and(on > 0, ca.fabs(slip) > 0.5), stops, -1)
        events = [
            Event(f"{f.name}_slide", guard=slides, reset=roles, priority=4, eager=True),
            Event(f"{f.name}_stick", guard=sticks, reset=roles, priority=5),
        ]
        if f.way:
            started = ca.if_else(
                ca.logic_and(slip > 0.5, slip < 1.5), ca.norm_2(moving) - STEADY_SLIDING_SPEED, -1
            )
            events.append(Event(f"{f.name}_moves", guard=started, reset={f.slip.name: ca.SX(2)}, priority=4))
        return events

    def _releases(self, force: ca.SX) -> list[ca.SX]:
        """Guards: positive where a foot should let go."""
        if self.machine.coulomb:
            return [self._release_with_friction(f, force[f.normal]) for f in self.machine.feet]
        if self.release == "force":
            return [-force[f.normal] for f in self.machine.feet]
        free = self.machine.free_accelerations
        away = []
        for k, f in enumerate(self.machine.feet):
            others = [ca.SX(0) if k == i else g.on.sym for i, g in enumerate(self.machine.feet)]
            away.append(
                (free + self.machine.masked.A @ self.machine.forces(others))[f.normal] - LIFTING_ACCELERATION
            )
        alone = (
            free + self.machine.masked.A @ self.machine.forces([ca.SX(0)] * len(self.machine.feet))
            if self.machine.loops
            else free
        )
        presses = [alone[f.normal] <= 0 for f in self.machine.feet]
        guards = []
        for k in range(len(self.machine.feet)):  # the pressing foot stays if another can go
            yields = ca.SX(0)
            for i, g in enumerate(self.machine.feet):
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
        gain = self.machine.gains[self.machine.feet.index(f)]
        return self.landing.wants_to_go(f, normal, self.machine.slips(f), gain)

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

    def _unsolved_events(self, roles: dict[str, ca.SX]) -> list[Event]:
        """Where a foot pulls though it was asked who goes, all are asked once more; where one that stands on
        would pull even then, the run ends. Neither happens unless sweeps decide wrongly."""
        unsolved = self.landing.unsolved
        assert unsolved is not None
        asks = ca.fabs(unsolved.sym - ASK_AGAIN) < ASK_AGAIN / 2
        asked: dict[str, Any] = {"eager": True, "internal": True, "priority": 8}
        return [
            Event(
                "ground_pulls", guard=self.landing.pulls(), reset={unsolved.name: ca.SX(ASK_AGAIN)}, **asked
            ),
            Event("feet_asked_again", guard=ca.if_else(asks, 1, -1), reset=roles, **asked),
            Event(
                "contact_unsolved",
                guard=unsolved.sym - 1.5 * ASK_AGAIN,
                terminal=True,
                failure=True,
                eager=True,
                priority=9,
                description="the ground would have to pull: it was not found out which feet stand, stick, "
                "slide and go, so that forces, friction and accelerations agree",
            ),
        ]

    def _walk(self, exchange: Mapping[str, ca.SX]) -> Walk:
        """The feet as users of the system see them."""
        feet, by_flag = [], {f.on.name: f.name for f in self.machine.feet}
        for f, body in zip(self.machine.feet, self.machine.bodies, strict=True):
            swings = f.swing is not None and f.swing.ahead is not None
            suffixes = ("",) if len(f.tangents) == 1 else ("_x", "_y")
            feet.append(
                Foot(
                    name=f.name,
                    lands=f"{f.name}_touchdown",
                    lifts=f"{f.name}_release",
                    stands=f.on.name,
                    normal=f"{f.name}_normal",
                    friction=tuple(
                        f"{f.name}_friction{s}" for s, _ in zip(suffixes, f.tangents, strict=False)
                    ),
                    coefficient=parameter_name(self.machine.friction) if self.machine.coulomb else "",
                    gap=f"{f.name}_gap",
                    passes=f"{f.name}_passes" if swings else "",
                    clears=f"{f.name}_clear" if swings else "",
                    at=self.machine.assembly.in_states([f.spot.point])[0],
                    body=body,
                    opposite=opposite_foot(exchange, f.on, by_flag),
                    ground="" if f.ground_height is None else f.ground_height.name,
                    armed="" if swings or f.swing is None else f.swing.armed.name,
                )
            )
        return walk_of(
            self.machine.assembly,
            self.ground,
            feet,
            step_length="step_length" if self.landing.counters else "",
            grips=grips_of(self.machine, self.landing),
        )

    def _lowest_ground(self) -> Ground:
        """The ground, where it is uneven as low as under the lowest foot."""
        return lowest_ground(self.ground, self.machine.heights)

    def _discrete(self) -> list[Discrete]:
        """All discrete states: of feet and locks, of jams, and counters of steps."""
        of_friction = [z for z in (self.landing.jammed_at, self.landing.unsolved) if z is not None]
        of_friction += self.landing.excess.values()
        return self.machine.discrete() + of_friction + list(self.landing.counters)

    def system(
        self,
        description: str,
        fall: Fall,
        symmetry: Exchange,
        reactions: Sequence[str] = (),
    ) -> System:
        """Add forces, outputs and energies of the feet to the assembly, and build the system."""
        assembly = self.machine.assembly
        exchange = exchange_with_flags(symmetry, assembly, self._discrete())
        force = self.machine.force
        acceleration = self.machine.loose + self.machine.masked.effect(force)
        if assembly.closure is not None:
            assembly.note_closure(force[: self.machine.always])
        loops = force[: self.machine.always]
        show_reactions(assembly, reactions, self.machine.bodies, acceleration, loops)
        for f in self.machine.feet:
            assembly.show("m", {f"{f.name}_gap": f.spot.gap})
            # No force fits a jam: its impulse does.
            there = ca.if_else(self.landing.jams(f) > 0, 0, force) if self.machine.coulomb else force
            assembly.show("N", {f"{f.name}_normal": there[f.normal]})
            suffixes = ("",) if len(f.tangents) == 1 else ("_x", "_y")
            assembly.show(
                "N",
                {f"{f.name}_friction{s}": there[row] for s, row in zip(suffixes, f.tangents, strict=False)},
            )
            if self.machine.coulomb:
                lost = -sum(force[row] * self.machine.u[row] for row in f.tangents)
                assert f.slip is not None
                assembly.entries["dissipated"][f"{f.name}_friction"] = ca.if_else(f.slip.sym, lost, 0)
        text = description or f"{assembly.mechanism.name} on rigid ground"
        events = self._events(force) + fall_events(fall, self.machine.tree, self._lowest_ground())
        arrows = [
            Arrow(f.name, f.spot.point, f.spot.directions[:, : len(f.rows)] @ force[list(f.rows)])
            for f in self.machine.feet
        ]
        return assembly.build(
            acceleration,
            text,
            z=self._discrete(),
            events=events,
            symmetry=exchange,
            arrows=arrows,
            floor=self.ground.floor(),
            walk=self._walk(exchange),
            residual=None if self.machine.masked.redundant else self.machine.residual,
            forces=ca.vertcat(force, self.machine.loose),
        )
