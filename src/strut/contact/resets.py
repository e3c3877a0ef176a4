"""Landing: what becomes of velocities and flags when feet touch, locks close, and feet begin or cease to
hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce

import casadi as ca

from strut.contact.cone import MIN_LENGTH, STOP_SLACK, sweep_contacts
from strut.contact.feet import MAX_STANDING_SPEED, TOUCH_GAP, StandingFoot, StandingMachine
from strut.contact.switched_rows import SlidingRow, SwitchedRows
from strut.system import Discrete, Expression, Factors, sx, time

PARTING_SPEED = 1e-9
"""[m/s] A foot that comes down more slowly does not move towards the ground."""
LANDING_SPEED = PARTING_SPEED / 2
"""[m/s] A foot that comes down faster when a landing is due lands. Less than what makes it due: a foot that
turns round inside the ground is exactly that fast then, and rounding would decide."""
SLIDING_SPEED = 1e-7
"""[m/s] A foot that is faster slides already; in space it sticks when it is half as fast."""
STEADY_SLIDING_SPEED = 2e-5
"""[m/s] A foot in space that began to slide keeps to the way in which it began until it is this fast."""
ENERGY_GAIN_SLACK = 1e-9
"""[1] Of the energy that an impact moves: a gain that is less is rounding."""
LIFTING_ACCELERATION = 1e-10
"""[m/s^2] A foot that would part more slowly than this stays; what repeats other feet parts by rounding
alone."""
CONE_EDGE_SLACK = 1e-6
"""[1] Of the friction cone: a force that is nearer to its edge is on it."""
PULLING_ACCELERATION = 10 * LIFTING_ACCELERATION
"""[m/s^2], a foot's force times its lightness: a foot that pulls more than this asks who goes. Above
`LIFTING_ACCELERATION`, so that it does go then."""
MAX_PULLING_ACCELERATION = 1e-4
"""[m/s^2], a force times a contact's lightness: beyond this a foot that stands pulls by no rounding."""
JAM_LIGHTNESS_RATIO = 1e-5
"""[1] Of a contact's own lightness along the normal: a foot that slides and is lighter than this has no
bounded force."""
JAM_NEARNESS = 2.0
"""[1] Where one foot in space jams, others within this factor of jamming stop with it."""
EXCESS_GROWTH = 2.0
"""[1] By how much a foot's force beyond its friction cone grows before the foot is asked again."""
PRESSING_ACCELERATION = 0.1
"""[m/s^2] A foot that, let go, would fall faster than this needs that force. Where both vanish together it
may also let go."""
SLIDING_LIGHTNESS_RATIO = 1e-6
"""[1] Of a contact's own lightness along the normal, under which that of one that slides does not count."""
SLIDE_SLACK = 1e-6
"""[m/s^2], a force times a contact's lightness: feet that share a load in many ways push against each other
by rounding, and a foot that carries nothing does not slide for that."""
NO_JAM_TIME = -1e30
"""[s] The time of what has not happened."""

Role = tuple[ca.SX, ca.SX, ca.SX]
"""Of a foot: whether it stands, whether it slides, and where to."""
Impact = Callable[[list[ca.SX], list[ca.SX], list[ca.SX]], tuple[ca.SX, list[ca.SX], dict[str, ca.SX]]]
"""Of who falls, by how much each bounces and what is locked: impulses along all rows [N s], who stands then,
and further resets."""


class Landing:
    """Resets of a mechanism that stands on feet. `counters` (steps, length, duration, time) are kept where
    given."""

    def __init__(
        self,
        machine: StandingMachine,
        restitution: Expression,
        rest_speed: Expression,
        counters: Sequence[Discrete] = (),
        release: str = "acceleration",
    ) -> None:
        self.machine, self.restitution, self.rest_speed, self.counters = (
            machine,
            sx(restitution),
            sx(rest_speed),
            counters,
        )
        self.release = release
        self.jammed_at = Discrete("jammed_at", NO_JAM_TIME, "s", internal=True) if machine.coulomb else None
        self.unsolved = Discrete("contact_is_unsolved", 0.0, internal=True) if machine.coulomb else None
        shares = machine.coulomb and machine.masked.redundant
        # by foot, how far its share was beyond its own cone when it was last asked
        self.excess = {
            f.name: Discrete(f"{f.name}_excess", 0.0, "N", internal=True)
            for f in machine.feet
            if shares and f.way
        }

    def jams(self, f: StandingFoot, nearness: float = 1.0) -> ca.SX:
        """Positive [m/s^2] where a foot slides and no force is consistent with that (Painleve): it would
        pull, though it would not go away if it were let go. In space the way of sliding turns, and a foot
        comes there with a force that grows without bound: that counts as there, so many times earlier as
        `nearness` [1] says."""
        pulls = (
            -self.machine.force[f.normal] * self.machine.masked.A[f.normal, f.normal] - PULLING_ACCELERATION
        )
        gain = self.machine.gains[self.machine.feet.index(f)]
        own = self.machine.masked.A[f.normal, f.normal]
        almost_jams = (nearness * gain * own > 1 / JAM_LIGHTNESS_RATIO) * (
            self.machine.force[f.normal] > PRESSING_ACCELERATION * gain
        )
        return ca.if_else(
            self.machine.slips(f), ca.if_else(gain < 0, pulls, ca.if_else(almost_jams, 1, -1)), -1
        )

    def wants_to_go(self, f: StandingFoot, normal: ca.SX, slides: ca.SX, gain: ca.SX) -> ca.SX:
        """Positive [m/s^2] where a foot with this normal force [N] and gain lets go: where it pulls. Where it
        slides and friction jams it, it is the other way round: where, let go, it would accelerate away. So it
        is in a plane where it comes to the edge of that region with a bounded force (Genot and Brogliato's
        singular point): lightness and acceleration vanish together there, and the force is lost in
        rounding."""
        own = self.machine.masked.A[f.normal, f.normal]
        pulls = -normal * own - PULLING_ACCELERATION
        if self.release != "acceleration":
            return ca.if_else(slides * (gain < 0), -1, pulls)
        if f.way:
            return ca.if_else(slides * (gain < 0), normal * own - PULLING_ACCELERATION, pulls)
        at_edge = (gain * own > 1 / JAM_LIGHTNESS_RATIO) * (normal <= PRESSING_ACCELERATION * gain)
        return ca.if_else(
            slides * (normal > 0) * ca.fmax(gain < 0, at_edge),
            normal * own - PULLING_ACCELERATION,
            ca.if_else(slides * (gain < 0), -1, pulls),
        )

    def cone_rounding(self, f: StandingFoot) -> ca.SX:
        """By how much a force may leave the friction cone by rounding [N], where feet share a load in many
        ways."""
        if not self.machine.masked.redundant:
            return ca.SX(0)
        return SLIDE_SLACK / self.machine.masked.A[f.normal, f.normal]

    def begins_to_slide(self, f: StandingFoot) -> ca.SX:
        """Positive [N] where the force of a foot that sticks leaves the friction cone. In space feet that
        stick share friction in many ways: where sweeps found one within all cones, the foot sticks on with
        a share beyond its own, and is asked again where that excess has doubled. Asked at the edge of its
        cone alone, it would answer the same whenever rounding takes the share across, again and again."""
        beyond = self._beyond_cone(f, self.machine.force)
        return beyond - EXCESS_GROWTH * self.excess[f.name].sym if f.name in self.excess else beyond

    def _beyond_cone(self, f: StandingFoot, force: ca.SX) -> ca.SX:
        """By how much a foot's force leaves the friction cone [N], more than rounding makes of it."""
        push = ca.norm_2(force[list(f.tangents)])
        return push - sx(self.machine.friction) * force[f.normal] - self.cone_rounding(f)

    def landing_reset(self, lock: int | None = None) -> dict[str, ca.SX]:
        """The state after feet touched, or a lock closed. What falls on the ground stops (or bounces); a foot
        that is said to stand but moves is stopped like one that lands."""
        return self._state_after(
            self._sliding_impact if self.machine.coulomb else self._sticking_impact, lock
        )[1]

    def holding_landing(self) -> tuple[ca.SX, dict[str, ca.SX]]:
        """The impulses along all rows [N s], and the state after feet touched, if every foot that stands then
        held, whatever friction that takes."""
        impulse, reset = self._state_after(self._sticking_impact, None)
        slips = [z for f in self.machine.feet for z in (f.slip,) if z is not None]
        return impulse, reset | {z.name: ca.SX(0) for z in slips}

    def _state_after(self, impact: Impact, lock: int | None) -> tuple[ca.SX, dict[str, ca.SX]]:
        """The impulses along all rows [N s] of a landing, or of a lock that closes, and the state after
        it."""
        feet, u = self.machine.feet, self.machine.u
        locked = [ca.SX(1) if k == lock else z.sym for k, z in enumerate(self.machine.locked)]
        near = [(1 - f.on.sym) * f.ready * (f.spot.gap < TOUCH_GAP) for f in feet]
        falls = [n * (u[f.normal] < -LANDING_SPEED) for n, f in zip(near, feet, strict=True)]
        bounces = [
            fall * ca.if_else(-u[f.normal] > self.rest_speed, self.restitution, 0)
            for fall, f in zip(falls, feet, strict=True)
        ]
        impulse, on, reset = impact(falls, bounces, locked)
        if not (self.restitution.is_constant() and self.restitution.is_zero()):
            plastic, on0, reset0 = impact(falls, [ca.SX(0)] * len(feet), locked)
            size = ca.dot(ca.fabs(impulse), ca.fabs(u))
            gains = (
                ca.dot(impulse, 2 * u + self.machine.masked.A @ impulse) > ENERGY_GAIN_SLACK * size
            )  # bouncing with friction can: then it does not bounce
            impulse = ca.if_else(gains, plastic, impulse)
            on = [ca.if_else(gains, a, b) for a, b in zip(on0, on, strict=True)]
            reset = {name: ca.if_else(gains, reset0[name], value) for name, value in reset.items()}
        reset |= {f.on.name: flag for f, flag in zip(feet, on, strict=True)}
        if self.counters:
            landed = ca.fmax(falls[0] * on[0], falls[1] * on[1])
            steps, _, _, struck = self.counters
            new = (steps.sym + 1, ca.norm_2(feet[0].spot.point - feet[1].spot.point), time - struck.sym, time)
            reset |= {
                z.name: ca.if_else(landed, value, z.sym) for z, value in zip(self.counters, new, strict=True)
            }
        for z, opens in zip(
            self.machine.locked, self.machine.locks, strict=True
        ):  # a foot that this lifts opens its lock
            foot = next(k for k, f in enumerate(feet) if f.name == opens.foot)
            reset[z.name] = z.sym * (1 - feet[foot].on.sym * (1 - on[foot]))
        for f, flag in zip(feet, on, strict=True):
            reset |= f.swing.flags_after_landing(flag) if f.swing is not None else {}
        reset |= {z.name: ca.SX(0) for z in self.excess.values()}
        v = self.machine.tree.v + self.machine.masked.effect(impulse)
        velocities = {self.machine.assembly.velocities[k].name: v[k] for k in self.machine.assembly.kept}
        return impulse, reset | velocities

    def _velocity_changes(self, bounces: Sequence[ca.SX]) -> ca.SX:
        """The changes of velocity along the rows that stop them all, or bounce."""
        missing = -self.machine.u + ca.vertcat(self.machine.closure.k0, self.machine.contacts.k0)
        for f, bounce in zip(self.machine.feet, bounces, strict=True):
            missing[f.normal] = -(1 + bounce) * self.machine.u[f.normal]
        return missing

    def _sticking_impact(
        self, falls: list[ca.SX], bounces: list[ca.SX], locked: list[ca.SX]
    ) -> tuple[ca.SX, list[ca.SX], dict[str, ca.SX]]:
        """Feet that hold without limit, or slide without any friction. Those that land alone stop first; feet
        that this lifts are let go, feet that it would drive into the ground stop with it (Duindam)."""
        feet = self.machine.feet
        strays = [f.on.sym * (self.machine.strays(f) > MAX_STANDING_SPEED) for f in feet]
        new = [ca.fmax(fall, stray) for fall, stray in zip(falls, strays, strict=True)]
        missing = self._velocity_changes(bounces)
        after = self.machine.u + self.machine.masked.A @ self.machine.masked.forces(
            missing, self.machine.switches(new, locked)
        )
        stays = [
            f.on.sym * (1 - stray) * (after[f.normal] <= self.rest_speed)
            for f, stray in zip(feet, strays, strict=True)
        ]
        stops = [ca.fmax(a, b) for a, b in zip(new, stays, strict=True)]
        impulse = self.machine.masked.forces(missing, self.machine.switches(stops, locked))
        return impulse, [stop * (bounce <= 0) for stop, bounce in zip(stops, bounces, strict=True)], {}

    def _sliding_impact(
        self, falls: list[ca.SX], bounces: list[ca.SX], locked: list[ca.SX]
    ) -> tuple[ca.SX, list[ca.SX], dict[str, ca.SX]]:
        """Feet with Coulomb's friction: they answer to one another until it is clear who opens, sticks and
        slides; then the impulses follow exactly."""
        feet, u, mu = self.machine.feet, self.machine.u, sx(self.machine.friction)
        missing = self._velocity_changes(bounces)
        present = [ca.fmax(fall, f.on.sym) for fall, f in zip(falls, feet, strict=True)]
        A, needed_change = self._beside(missing, locked)
        # Two feet in space that jam at one time stop together, whichever of them rounding finds first.
        stops = [self.jams(f, JAM_NEARNESS if f.way else 1.0) > -PULLING_ACCELERATION for f in feet]
        rows = [list(f.rows) for f in feet]
        rough = sweep_contacts(A, -needed_change, rows, present=present, mu=mu, stops=stops)
        presses, slides, ways = self._contact_roles(rough)
        for k, f in enumerate(
            feet
        ):  # what stops dead is on the edge of its cone, or beyond it by rounding, and does not slide
            within = ca.norm_2(rough[list(f.tangents)]) <= mu * rough[f.normal] * (1 + 2 * STOP_SLACK)
            slides[k] = slides[k] * (1 - stops[k] * within)
        rules = [
            SlidingRow(row, f.normal, slide, -mu * way[k])
            for f, slide, way in zip(feet, slides, ways, strict=True)
            for k, row in enumerate(f.tangents)
        ]
        impulse = self.machine.masked.forces(missing, self.machine.switches(presses, locked), tuple(rules))
        after = u + self.machine.masked.A @ impulse
        assert self.jammed_at is not None
        reset = {self.jammed_at.name: ca.if_else(reduce(ca.fmax, stops), time, self.jammed_at.sym)}
        on = []
        for k, f in enumerate(feet):
            assert f.slip is not None
            stays = ca.fmax(presses[k], f.on.sym * (ca.fabs(after[f.normal]) <= self.rest_speed)) * (
                bounces[k] <= 0
            )
            on.append(stays)
            reset |= self._slip_flags(f, after[list(f.tangents)], stays)
        return impulse, on, reset

    def _slip_flags(self, f: StandingFoot, across: ca.SX, on: ca.SX) -> dict[str, ca.SX]:
        """The slip of a foot that moves so: along its velocity, or none."""
        assert f.slip is not None
        fast = on * (ca.norm_2(across) > MAX_STANDING_SPEED)
        if not f.way:
            return {f.slip.name: fast * ca.sign(across)}
        way = across / ca.fmax(ca.norm_2(across), MIN_LENGTH)
        return {f.slip.name: 2 * fast} | {
            d.name: ca.if_else(fast, way[k], d.sym) for k, d in enumerate(f.way)
        }

    def _beside(self, missing: ca.SX, locked: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
        """A and the wanted changes of the feet's rows, where loops and locks answer by themselves."""
        A, n = self.machine.masked.A, self.machine.loops
        if not n:
            return A, missing
        hold = ca.diag(ca.vertcat(ca.SX.ones(self.machine.always), *locked))
        inner = Factors(hold @ A[:n, :n] @ hold + ca.SX.eye(n) - hold)
        answers = inner.solve(hold @ ca.horzcat(A[:n, :], missing[:n]))
        return A - A[:, :n] @ answers[:, :-1], missing - A[:, :n] @ answers[:, -1]

    def _contact_roles(self, rough: ca.SX) -> tuple[list[ca.SX], list[ca.SX], list[ca.SX]]:
        """From impulses or forces: who presses, who of them is on the edge of the cone, and where those slide
        to."""
        mu = sx(self.machine.friction)
        presses, slides, ways = [], [], []
        for f in self.machine.feet:
            push = rough[list(f.tangents)]
            size = ca.norm_2(push)
            presses.append(rough[f.normal] > 0)
            slides.append(presses[-1] * (size >= mu * rough[f.normal] * (1 - CONE_EDGE_SLACK)))
            ways.append(-push / ca.fmax(size, MIN_LENGTH))
        return presses, slides, ways

    def roles(self) -> dict[str, ca.SX]:
        """Decide from the accelerations which feet stand, stick and slide from now on (Coulomb's friction):
        for all feet together, because one that stops may stop others. Says also whether one that stands on
        would pull even then."""
        reset: dict[str, ca.SX] = {}
        for f, (stays, slides, way) in zip(self.machine.feet, self._decided_roles, strict=True):
            assert f.slip is not None
            reset[f.on.name] = stays
            if f.way:
                moves, _ = self._sliding_way(f)
                reset[f.slip.name] = stays * ca.if_else(moves, 2, slides)
                reset |= {d.name: ca.if_else(slides, way[k], d.sym) for k, d in enumerate(f.way)}
            else:
                reset[f.slip.name] = stays * slides * ca.sign(way)
            if f.swing is not None and f.way:
                reset |= f.swing.flags_after_landing(stays * (1 - f.on.sym))
        for z, opens in zip(self.machine.locked, self.machine.locks, strict=True):
            foot = next(f for f in self.machine.feet if f.name == opens.foot)
            reset[z.name] = z.sym * reset[foot.on.name]
        equations, force = self._exact_forces(self._decided_roles)
        for f, (stays, slides, _) in zip(self.machine.feet, self._decided_roles, strict=True):
            if f.name in self.excess:
                beyond = ca.fmax(self._beyond_cone(f, force), 0)
                reset[self.excess[f.name].name] = stays * (1 - slides) * beyond
        assert self.unsolved is not None
        pulls = self._still_pull(self._decided_roles, equations, force)
        reset[self.unsolved.name] = pulls > MAX_PULLING_ACCELERATION / 2
        return reset

    def _still_pull(self, roles: Sequence[Role], equations: SwitchedRows, force: ca.SX) -> ca.SX:
        """How much feet in these roles pull [m/s^2], the one that pulls most."""
        gains = self.machine.gains_in(equations)
        return reduce(
            ca.fmax,
            [
                stands * self._pulls(f, force[f.normal], slides * (gain < 0))
                for f, gain, (stands, slides, _) in zip(self.machine.feet, gains, roles, strict=True)
            ],
        )

    def pulls(self) -> ca.SX:
        """Positive [m/s^2] where the ground pulls at a foot, more than rounding makes of it."""
        each = [
            f.on.sym * self._pulls(f, self.machine.force[f.normal], self.machine.jam_flag(f))
            for f in self.machine.feet
        ]
        return reduce(ca.fmax, each) - MAX_PULLING_ACCELERATION

    def _pulls(self, f: StandingFoot, normal: ca.SX, jammed: ca.SX) -> ca.SX:
        """How much a foot pulls [m/s^2]; one that friction jams stops dead instead."""
        return ca.if_else(jammed, 0, -normal * self.machine.masked.A[f.normal, f.normal])

    def _sliding_way(self, f: StandingFoot) -> tuple[ca.SX, ca.SX]:
        """Does a foot slide already, and where to?"""
        across = self.machine.u[list(f.tangents)]
        return ca.norm_2(across) > SLIDING_SPEED, across / ca.fmax(ca.norm_2(across), MIN_LENGTH)

    def _standing_candidates(self) -> list[ca.SX]:
        """Which feet are asked who stands: those that do. In space, where one that slid stops, those besides
        that touch and are as still: a foot that let go because others shared the load otherwise while they
        slid stands again."""
        feet, u = self.machine.feet, self.machine.u
        if not all(f.way for f in feet):
            return [f.on.sym for f in feet]
        moves = [self._sliding_way(f)[0] for f in feet]
        stops = [f.on.sym * (f.slip.sym > 1.5) * (1 - m) for f, m in zip(feet, moves, strict=True) if f.slip]
        touch = [f.ready * (f.spot.gap < TOUCH_GAP) * (ca.fabs(u[f.normal]) < PARTING_SPEED) for f in feet]
        return [
            ca.fmax(f.on.sym, reduce(ca.fmax, stops) * near * (1 - m))
            for f, near, m in zip(feet, touch, moves, strict=True)
        ]

    @cached_property
    def _decided_roles(self) -> list[Role]:
        """Which feet stand and slide from now on, and where to: from sweeps, then held against the forces
        that follow exactly."""
        feet, mu = self.machine.feet, sx(self.machine.friction)
        # What pulls drift back counts here as it does in the forces: a reset without it may answer that a
        # foot stands which pulls already, and the guard, positive by then, would not cross zero again.
        needed = self.machine.needed_accelerations
        A, needed_change = self._beside(needed, [z.sym for z in self.machine.locked])
        moving, candidates = [self._sliding_way(f) for f in feet], self._standing_candidates()
        # to begin with, what does not slide already sticks: where several feet can, they share the load
        # evenly
        _, begin = self._exact_forces(
            [(there, moves, along) for there, (moves, along) in zip(candidates, moving, strict=True)]
        )
        rough = sweep_contacts(
            A,
            -needed_change,
            [list(f.rows) for f in feet],
            present=candidates,
            mu=mu,
            moving=moving,
            begin=begin,
        )
        away = -needed_change + A @ rough
        roles = []
        for f, there, presses, slide, way, (moves, along) in zip(
            feet, candidates, *self._contact_roles(rough), moving, strict=True
        ):
            own = A[f.normal, f.normal]
            light = ca.if_else(
                moves,
                ca.fmax(
                    own - mu * ca.dot(A[f.normal, list(f.tangents)].T, along), SLIDING_LIGHTNESS_RATIO * own
                )
                / own,
                1,
            )
            stays = there * ca.fmax(presses, away[f.normal] <= LIFTING_ACCELERATION * ca.fmin(light, 1))
            roles.append((stays, ca.fmax(moves, slide), ca.if_else(moves, along, way)))
        return self._confirmed_roles(roles)

    def _exact_forces(self, roles: Sequence[Role]) -> tuple[SwitchedRows, ca.SX]:
        """The equations of the forces of feet in these roles, and the forces along all rows."""
        mu = sx(self.machine.friction)
        rules = [
            SlidingRow(row, f.normal, slides, -mu * way[k])
            for f, (_, slides, way) in zip(self.machine.feet, roles, strict=True)
            for k, row in enumerate(f.tangents)
        ]
        switches = self.machine.switches([stands for stands, _, _ in roles])
        equations = self.machine.masked.row_equations(switches, tuple(rules))
        return equations, equations.forces(self.machine.needed_accelerations)

    def _confirmed_roles(self, roles: Sequence[Role]) -> list[Role]:
        """Roles held against the forces that follow exactly: a foot that pulls goes, one that sticks outside
        of its cone slides. Sweeps end with an error, which is large where points of one body share a load,
        and larger than a force that has only just become negative.

        A foot of many that pulls only because the load is shared as equally soft supports would goes too, as
        from those: it touches on, the others carry all, and nothing accelerates. In space none begins to
        slide here: friction between feet that stick is shared in many ways as well, sweeps have found one
        within all cones, and a foot that slid all the same would stop at once, again and again."""
        mu = sx(self.machine.friction)
        equations, force = self._exact_forces(roles)
        gains, confirmed = self.machine.gains_in(equations), []
        for f, gain, (stands, slides, way) in zip(self.machine.feet, gains, roles, strict=True):
            normal, push = force[f.normal], force[list(f.tangents)]
            goes = self.wants_to_go(f, normal, slides, gain) > -PULLING_ACCELERATION / 2
            if f.way:  # one that jams beside others stops dead; let go, it would leave a jam to them
                goes = goes * (1 - slides * (gain < 0))
            beyond = ca.norm_2(push) - mu * normal * (1 - CONE_EDGE_SLACK) - self.cone_rounding(f) > 0
            begins = ca.SX(0) if f.way else (1 - slides) * beyond
            new_way = ca.if_else(begins, -push / ca.fmax(ca.norm_2(push), MIN_LENGTH), way)
            confirmed.append((stands * (1 - goes), ca.fmax(slides, begins), new_way))
        return confirmed
