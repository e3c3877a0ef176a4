"""Time-stepped contact: impulses over fixed steps, found contact by contact, for many contacts without
events.

After Hwangbo et al. (2018), as van de Rijt uses it in a plane: each contact in turn opens, sticks or slides
while the others keep their impulses (projected Gauss-Seidel). Differences: a contact counts before it closes,
with just the speed that would close it within the step, so feet land on the ground and not in it; and the
iteration begins with the impulses of the step before (warm start).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.contact.cone import Cone
from strut.contact.fall import Fall, add_fall_parameters, fall_events
from strut.contact.ground import Ground, even_ground
from strut.contact.touch import Spot, Touch, add_contact_parameters, coefficient, spot, touches_of
from strut.contact.walk import parameter_name, walk_of
from strut.errors import ModelError
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import LOOP_SOFTNESS
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.tree import Tree
from strut.system import Arrow, Discrete, Event, Expression, Foot, Sample, System, solve_ltdl, sx


@checked
def time_stepped(  # noqa: PLR0913 -- options of a public function, by keyword
    mechanism: Mechanism,
    feet: Sequence[str | Touch | Sequence[Touch]],
    ground: Ground | None = None,
    *,
    friction: Expression | None = None,
    dt: Expression = 1e-3,
    sweeps: int = 10,
    relaxation: Expression = 1.0,
    recover: Expression = 0.2,
    fall: Fall = None,
    description: str = "",
) -> System:
    """The mechanism on hard ground, moved in steps of `dt` [s], as a system without events.

    feet: frames' names for points, or `point`, `sphere`, `arc`, `wheel`, `polygon`, `cylinder`.
    friction: None holds without limit, 0 slides freely, a number is Coulomb's coefficient.
    sweeps, relaxation: how often every contact has its turn in a step, and how much of its new impulse is
        taken.
    recover: the part of a penetration, and of the error of closed loops, that is undone per step.
    fall: a frame and a height [m]: below it a run ends, with status 'fall'.

    One sample, `step`, does everything: velocities with impulses, then positions with the new velocities;
    states do not flow, and what is seen from a step on is what the step leads to. Landings are plastic.
    Springs and dampers of joints act with the new velocities, so that stiff ones do no harm; inputs and what
    velocities cause act with the old. Errors are of order dt. Discrete states F_normal and F_friction (in
    space F_friction_x and F_friction_y), and those named after constraints, are the mean forces over the
    step; F_gap is an output.

    In the books everything is lost or, negative, gained in steps: F_contact at a foot, dampers, inputs under
    their names, and `stepping`, the error of the method.
    """
    if sweeps < 1:
        raise ModelError(f"stepped contact with {sweeps} sweeps does nothing: at least one is needed")
    surface, touches, friction = even_ground(ground, "time_stepped"), touches_of(feet), coefficient(friction)
    params = mechanism.parameter_set()
    add_contact_parameters(params, surface, touches, friction)
    params.add_number(dt, "the step dt", low=0.0, above=True)
    params.add_number(relaxation, "the relaxation", low=0.0, above=True)
    params.add_number(recover, "recover, the part of a penetration undone per step,", low=0.0, high=1.0)
    add_fall_parameters(fall, params)
    assembly = Assembly(mechanism, params)
    steps = _Stepped(assembly, surface, touches, friction=friction, dt=sx(dt), recover=sx(recover))
    falls = fall_events(fall, assembly.tree, surface)
    text = description or f"{mechanism.name} on hard ground, in steps"
    return steps.system(sweeps, sx(relaxation), text, falls)


@dataclass(eq=False)
class _Contact:
    """Where a foot's rows are, and its mean forces."""

    spot: Spot
    rows: list[int]  # normal, tangents
    means: list[Discrete]


class _Stepped:
    """All expressions of one step."""

    def __init__(
        self,
        assembly: Assembly,
        ground: Ground,
        touches: Sequence[Touch],
        *,
        friction: Expression | None,
        dt: ca.SX,
        recover: ca.SX,
    ) -> None:
        self.assembly, self.tree, self.dt = assembly, assembly.tree, dt
        self.ground = ground
        self.coefficient = parameter_name(friction)
        self.mu = None if friction is None else sx(friction)
        plain = self.mu is not None and self.mu.is_zero()
        self.contacts: list[_Contact] = []
        blocks, at = [], 0
        for s in (spot(assembly.tree, t, ground) for t in touches):
            K = s.K[0, :] if plain else s.K
            blocks.append(K)
            labels = ("normal", "friction") if K.shape[0] == 2 else ("normal", "friction_x", "friction_y")
            means = [Discrete(f"{s.name}_{label}", 0.0, "N") for label in labels[: K.shape[0]]]
            self.contacts.append(_Contact(s, list(range(at, at + K.shape[0])), means))
            at += K.shape[0]
        self.K = ca.densify(ca.vertcat(*blocks))
        inertia, push = self._implicit()
        self.spread = solve_ltdl(inertia, self.K.T)
        self.free = assembly.tree.v + solve_ltdl(inertia, dt * push)
        self.loops = _Loops(assembly.closure, inertia, recover / dt) if assembly.closure is not None else None
        self.free_of_loops, self.loose = self.free, self.spread
        if self.loops is not None:
            self.free = self.loops.closed_velocity(self.free)
            self.spread = self.loops.constrained_spread(self.spread)
        self.A = self.K @ self.spread
        bias = ca.SX.zeros(at)  # a gap may close within the step; a penetration is undone bit by bit
        for c in self.contacts:
            gap = c.spot.gap
            bias[c.rows[0]] = ca.if_else(gap > 0, gap, recover * gap) / dt
        self.bias = bias

    def _implicit(self) -> tuple[ca.SX, ca.SX]:
        """The inertia that a step feels, springs and dampers of joints included, and the force on it."""
        tree, tau = self.tree, self.assembly.tau
        damping = -ca.jacobian(tau, tree.v)
        stiffness = -ca.jacobian(tau, tree.q) @ ca.jacobian(tree.qdot, tree.v)
        inertia = tree.mass_matrix + self.dt * damping + self.dt**2 * stiffness
        return inertia, tau - tree.bias - self.dt * stiffness @ tree.v

    def impulses(self, sweeps: int, relaxation: ca.SX) -> ca.SX:
        """Impulses of all contacts after a number of sweeps that begin with those of the step before."""
        impulses = self.dt * ca.vertcat(*[m.sym for c in self.contacts for m in c.means])
        u = self.K @ self.free + self.bias + self.A @ impulses
        cones = [Cone(self.A[c.rows, c.rows], self.mu) for c in self.contacts]
        for _ in range(sweeps):
            for c, cone in zip(self.contacts, cones, strict=True):
                own = impulses[c.rows]
                change = relaxation * (cone.resolve(u[c.rows] - cone.G @ own, own) - own)
                impulses[c.rows] = own + change
                u = u + self.A[:, c.rows] @ change
        return impulses

    def system(
        self, sweeps: int, relaxation: ca.SX, description: str, events: Sequence[Event] = ()
    ) -> System:
        """The system whose one sample does a step."""
        assembly, tree, dt = self.assembly, self.tree, self.dt
        impulse = self.impulses(sweeps, relaxation)
        v = self.free + self.spread @ impulse
        q = _normalise_quaternions(tree, tree.q + dt * ca.substitute([tree.qdot], [tree.v], [v])[0])
        reset = assembly.states(q, v)
        for c in self.contacts:
            reset |= {m.name: impulse[row] / dt for m, row in zip(c.means, c.rows, strict=True)}
            assembly.show("m", {f"{c.spot.name}_gap": c.spot.gap})
        z = [m for c in self.contacts for m in c.means]
        if self.loops is not None:
            z += self.loops.means
            reset |= self.loops.forces(self.free_of_loops + self.loose @ impulse, dt)
            assembly.show("", {"closure_error": ca.norm_2(self.loops.closure.phi)})
        sample = Sample("step", every=dt, set=reset, loss=self._losses(q, v, impulse))
        assembly.entries["supplied"], assembly.entries["dissipated"] = {}, {}
        assembly.qdot = ca.SX.zeros(tree.nq)
        arrows = [
            Arrow(
                c.spot.name,
                c.spot.point,
                c.spot.directions[:, : len(c.rows)] @ ca.vertcat(*[mean.sym for mean in c.means]),
            )
            for c in self.contacts
        ]
        feet = [
            Foot(
                name=c.spot.name,
                normal=c.means[0].name,
                friction=tuple(m.name for m in c.means[1:]),
                coefficient=self.coefficient,
                gap=f"{c.spot.name}_gap",
            )
            for c in self.contacts
        ]
        walk = walk_of(assembly, self.ground, feet)
        return assembly.build(
            ca.SX.zeros(tree.nv),
            description,
            z=z,
            samples=[sample],
            events=events,
            floor=self.ground.floor(),
            arrows=arrows,
            walk=walk,
        )

    def _losses(self, q: ca.SX, v: ca.SX, impulse: ca.SX) -> dict[str, ca.SX]:
        """What the step takes from the stored energy, by where it goes."""
        tree, entries = self.tree, self.assembly.entries
        losses: dict[str, ca.SX] = {}
        for sign, group in ((-1, "supplied"), (1, "dissipated")):
            names = list(entries[group])
            powers = ca.substitute([entries[group][n] for n in names], [tree.v], [v]) if names else []
            losses |= {n: sign * self.dt * power for n, power in zip(names, powers, strict=True)}
        if self.loops is not None:
            losses |= self.loops.drives(self.free_of_loops + self.loose @ impulse)
        mean = self.K @ (tree.v + v) / 2
        for c in self.contacts:
            losses[f"{c.spot.name}_contact"] = -ca.dot(impulse[c.rows], mean[c.rows])
        stored = sum(entries["stored"].values(), ca.SX(0))
        released = stored - ca.substitute([stored], [tree.q, tree.v], [q, v])[0]
        losses["stepping"] = released - sum(losses.values(), ca.SX(0))
        return losses


class _Loops:
    """Closed loops and prescribed motions, kept by impulses of their own."""

    def __init__(self, closure: ConstraintRows, inertia: ca.SX, rate: ca.SX) -> None:
        self.closure, self.rate = closure, rate
        self.spread = solve_ltdl(inertia, closure.K.T)
        A = closure.K @ self.spread
        self.A = A + LOOP_SOFTNESS * ca.trace(A) / A.shape[0] * ca.SX.eye(A.shape[0])
        self.means = [Discrete(label, 0.0) for label in closure.labels]

    def _impulse(self, v: ca.SX) -> ca.SX:
        """Impulses that close the loops, of a machine that would move with v without them."""
        c = self.closure
        return -solve_ltdl(self.A, c.K @ v - c.k0 + self.rate * c.phi)

    def closed_velocity(self, v: ca.SX) -> ca.SX:
        """The velocity with the loops' impulses."""
        return v + self.spread @ self._impulse(v)

    def constrained_spread(self, spread: ca.SX) -> ca.SX:
        """What other impulses do when the loops resist."""
        return spread - self.spread @ solve_ltdl(self.A, self.closure.K @ spread)

    def forces(self, v: ca.SX, dt: ca.SX) -> dict[str, ca.SX]:
        """Mean forces over a step whose velocity without them would be v."""
        impulse = self._impulse(v)
        return {m.name: impulse[k] / dt for k, m in enumerate(self.means)}

    def drives(self, v: ca.SX) -> dict[str, ca.SX]:
        """The energies that moving constraints take in a step, by name."""
        impulse, k0 = self._impulse(v), self.closure.k0
        return {
            f"{m.name}_drive": -impulse[k] * k0[k] for k, m in enumerate(self.means) if not k0[k].is_zero()
        }


def _normalise_quaternions(tree: Tree, q: ca.SX) -> ca.SX:
    """Coordinates with their quaternions brought to length 1."""
    unit_q = ca.SX(q)
    for node in tree.nodes:
        if node.connection.joint.quaternion:
            last = tree.q_of[node.connection.name].stop
            unit_q[last - 4 : last] = q[last - 4 : last] / ca.norm_2(q[last - 4 : last])
    return unit_q
