"""`whole_body`: a controller of all joints at once, by a quadratic program over accelerations and forces
(inverse dynamics with contacts).

    body = control.BodyModel(mechanism)
    controller = control.whole_body(body, every=1e-3, tasks=[...], contacts=[...])
    run = controller.run(machine, t=5.0)        # machine: contact.rigid(mechanism, ...), say
    run.ok, run.kkt, run["knee_torque"], run.trajectory

The unknowns are the accelerations a of the mechanism's velocities and the forces of contacts; joint torques
follow from the actuated rows of M a + h = S tau + J' f, the others are equations of the program. Tasks,
contacts and limits are expressions of `BodyModel`'s sensors, of time, of parameters and of the controller's
memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from strut.checks import checked, number_array
from strut.control.body_model import BodyModel
from strut.control.constants import check_not_negative, check_positive
from strut.control.qp_controller import QpController
from strut.control.qp_program import QpBound, QpGoal, QpRow, QpUnknown, QuadraticProgram
from strut.control.tasks import Task
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import Discrete, Expression, Packed, Quantity, limit_between, sx

TOUCH_GAP = 1e-3
"""[m] Height over the ground below which a contact counts as touching, where nothing else says so."""
NO_LIMIT = 1e30
"""Stands for infinity in bounds that are switched, in their unit: times zero it is zero."""
RANKS = {"range": 1, "contact": 2, "task": 3}
"""Which rows are relaxed first where a program has no solution: hard tasks, then contacts that should not
move, then ranges of joints. Dynamics, friction, forces and torques are never given up."""
RETURN_SAMPLES = 10
"""Samples in which a joint that is beyond the end of its range comes back to it, but for a part 1/e."""
MAX_ACCELERATION = 1000.0
"""[rad/s^2, m/s^2] Largest acceleration of a joint, with which it also brakes before the end of its range."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class PointContact(Packed):
    """A point that may push on the ground.

    frame: at its place. friction: coefficient of Coulomb friction; in a plane the cone is exact, in space
        it is the four-sided pyramid inscribed in it, so no force leaves the cone.
    max_force: of each component along the world's axes [N].
    active: an expression, not 0 while it may push; without any, its height over the ground is below 1 mm. An
        inactive contact has no force.
    motion: 'hard', its acceleration is -damping times its velocity while active; a number or expression, the
        weight of this as a goal [1/(m/s^2)^2]; None, nothing keeps it in place (its own `FrameTask` may).
    damping: [1/s]. normal: of the ground, x, y, z.
    """

    frame: str
    friction: Expression = 0.7
    max_force: Expression = 1e5
    active: Expression | None = None
    motion: Expression | None = "hard"
    damping: Expression = 20.0
    normal: Sequence[Any] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        for word in ("friction", "max_force", "motion", "damping"):
            check_not_negative(f"{word} of contact '{self.frame}'", getattr(self, word))


def _sampled_braking(distance: ca.SX, speed: ca.SX, *, limit: ca.SX, every: float) -> ca.SX:
    """The largest acceleration [rad/s^2, m/s^2] towards an end that is a distance away [rad, m], within the
    limit, after which a joint can still stop before it.

    Held over a sample of length h it gives the speed w, after (v + w) h / 2. Braking in samples too takes
    w^2 / (2 limit) + w h / 2 at most, the second part as the last sample need not be used up. w is the
    largest for which the sum of both is no more than the distance; 0 where there is none. What is beyond the
    end, as torques are held and not accelerations, comes back slowly: within `RETURN_SAMPLES` samples, no
    faster than one sample can make it.
    """
    left = ca.fmax(distance - speed * every / 2, 0)
    after = 2 * left / (every + ca.sqrt(every**2 + 2 * left / limit))
    after = after - ca.fmin(ca.fmax(-distance, 0) / (RETURN_SAMPLES * every), limit * every)
    return ca.fmax(-limit, ca.fmin(limit, (after - speed) / every))


def _on_off_braking(distance: ca.SX, speed: ca.SX, *, limit: ca.SX, every: float) -> ca.SX:
    """As `_sampled_braking`, by the rule of van de Rijt: all or nothing, and blind to the sample's length."""
    del every
    return ca.if_else(ca.logic_and(speed > 0, speed**2 / (2 * limit) >= distance), -limit, limit)


BRAKING_RULES = {"sampled": _sampled_braking, "on-off": _on_off_braking}
"""How joints brake before the ends of their ranges, by name."""


@checked
def whole_body(  # noqa: PLR0913 what a controller can be asked, each by its own name
    body: BodyModel,
    *,
    every: float,
    tasks: Sequence[Task],
    contacts: Sequence[PointContact] = (),
    torque_limit: Expression | Mapping[str, Expression] | None = None,
    acceleration_limit: Expression = MAX_ACCELERATION,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    braking: str = "sampled",
    acceleration_weight: Expression = 1e-4,
    force_weight: Expression = 1e-6,
    torque_weight: Expression = 0.0,
    slack: bool = False,
    sensors: Sequence[Quantity] = (),
    memory: Sequence[Discrete] = (),
    update: Mapping[Any, Expression] | None = None,
    outputs: Mapping[str, Expression] | None = None,
    safe_damping: Expression = 1.0,
    name: str = "whole_body",
) -> QpController:
    """Return a controller that finds joint torques for tasks, within contacts and limits.

    every: the period [s].
    torque_limit: of every actuated joint, or by joint [N m or N]; those of the mechanism's `effort` without
        any given. acceleration_limit: [rad/s^2 or m/s^2] of every actuated joint, and with which it brakes
        before the end of its range: give no more than its motor can do, or the range is relaxed, and told.
        ranges: by joint, `limits` of the mechanism without any given; {} for none.
    braking: 'sampled', a joint can still stop before its end after each sample, which keeps ranges; 'on-off',
        it brakes fully once v^2 / (2 limit) reaches the end (van de Rijt, eq. 4.32), and may pass it by a
        sample's way.
    acceleration_weight, force_weight, torque_weight: of half the squares of all unknowns and torques
        [1/(rad/s^2)^2, 1/N^2, 1/(N m)^2]: small, they choose between solutions that serve the tasks alike.
    slack: see `QuadraticProgram`. sensors: further ones that memory or tasks read, such as flags of contact.
    memory, update, outputs: see `QpController`; `update` and `outputs` may use the unknowns of
        `body_unknowns(body, contacts)`. Each task's error is an output, NAME_error.
    safe_damping: [N m s/rad] of the torques -damping v that are given after too many samples without a
        solution.
    """
    weights = {"acceleration": acceleration_weight, "force": force_weight, "torque": torque_weight}
    for word, weight in weights.items():
        check_not_negative(f"{word}_weight of '{name}'", weight)
    check_not_negative(f"torque_limit of '{name}'", torque_limit, infinite=True)
    check_not_negative(f"safe_damping of '{name}'", safe_damping)
    check_positive(f"acceleration_limit of '{name}'", acceleration_limit)
    unknowns = body_unknowns(body, contacts)
    a, forces = unknowns[0], dict(zip([each.frame for each in contacts], unknowns[1:], strict=True))
    parts = _ProgramParts(body, a)
    push = ca.SX.zeros(body.nv)
    for contact in contacts:
        push = push + parts.add_contact(contact, forces[contact.frame])
    total = body.M @ a.sym + body.h - push
    driven = sorted(body.inputs)
    free = [k for k in range(body.nv) if k not in body.inputs]
    if free:
        parts.rows.append(QpRow("dynamics", total[free], 0.0, 0.0))
    torque = total[driven] if driven else ca.SX(0, 1)
    limits = _torque_limits(body, torque_limit)
    limited = [k for k, column in enumerate(driven) if column in limits]
    if limited:
        low, up = (ca.vertcat(*[limits[driven[k]][side] for k in limited]) for side in (0, 1))
        parts.rows.append(QpRow("torques", torque[limited], low, up))
    if braking not in BRAKING_RULES:
        raise ModelError(f"braking is '{braking}': give one of {', '.join(BRAKING_RULES)}")
    most_towards = functools.partial(BRAKING_RULES[braking], limit=sx(acceleration_limit), every=every)
    parts.bounds.append(_range_bound(body, a, sx(acceleration_limit), ranges, most_towards))
    for task in tasks:
        parts.add_task(task)
    cost = sx(acceleration_weight) * ca.sumsqr(a.sym) / 2
    for force in unknowns[1:]:
        cost = cost + sx(force_weight) * ca.sumsqr(force.sym) / 2
    if not (sx(torque_weight).is_constant() and sx(torque_weight).is_zero()):
        last_level = max((goal.level for goal in parts.goals), default=1)
        parts.goals.append(QpGoal("torque", torque, torque_weight, last_level))
    program = QuadraticProgram(unknowns, cost, parts.goals, parts.rows, parts.bounds, slack)
    command, shared = _commands(body, program, torque, limits)
    velocities = {body.inputs[k].name: body.v[k] for k in driven}
    return QpController(
        name=name,
        every=every,
        sensors=(*body.sensors, *sensors),
        program=program,
        command=command,
        memory=memory,
        update=update or {},
        outputs={**{f"{n}_error": e for n, e in parts.errors.items()}, **(outputs or {})},
        safe={n: -sx(safe_damping) * v for n, v in velocities.items()},
        shared=shared,
    )


@dataclass(eq=False)
class _ProgramParts:
    """Goals, rows and bounds of a whole-body program, as they come together. a: the accelerations. errors: of
    tasks, by name."""

    body: BodyModel
    a: QpUnknown
    goals: list[QpGoal] = field(default_factory=list)
    rows: list[QpRow] = field(default_factory=list)
    bounds: list[QpBound] = field(default_factory=list)
    errors: dict[str, ca.SX] = field(default_factory=dict)

    def add_contact(self, contact: PointContact, force: QpUnknown) -> ca.SX:
        """Bound the force of a contact and keep it in its cone and its point in place; return its generalised
        force."""
        body, places = self.body, [3 + k for k in self.body.axes]
        J, bias = body.jacobian(contact.frame)
        active = _active(contact, body)
        limit = ca.if_else(active, sx(contact.max_force), 0)
        self.bounds.append(QpBound(force, -limit, limit))
        # Without force the cone says nothing new, and its rows would only make the solver go round in
        # circles.
        wide = ca.if_else(active, 0, NO_LIMIT)
        self.rows.append(QpRow(f"{contact.frame}_cone", _cone(contact, body, force.sym), -NO_LIMIT, wide))
        if contact.motion is not None:
            miss = J[places, :] @ self.a.sym + bias[places] + sx(contact.damping) * (J[places, :] @ body.v)
            if not isinstance(contact.motion, str):
                weight = ca.if_else(active, sx(contact.motion), 0)
                self.goals.append(QpGoal(f"{contact.frame}_stays", miss, weight))
            elif contact.motion == "hard":
                self.rows.append(QpRow(f"{contact.frame}_stays", miss, -wide, wide, rank=RANKS["contact"]))
            else:
                raise ModelError(
                    f"motion of contact '{contact.frame}' is '{contact.motion}': give 'hard', a weight or "
                    f"None"
                )
        return J[places, :].T @ force.sym

    def add_task(self, task: Task) -> None:
        """Ask for a task: as an equation where it is hard, else as a goal."""
        asked = task.rows(self.body)
        if asked.name in self.errors:
            raise ModelError(f"two tasks are called '{asked.name}': give one another name")
        self.errors[asked.name] = asked.error
        miss = asked.J @ self.a.sym + asked.bias - asked.desired
        if task.hard:
            self.rows.append(QpRow(asked.name, miss, 0.0, 0.0, rank=RANKS["task"]))
        else:
            self.goals.append(QpGoal(asked.name, miss, task.weight, task.level))


@checked
def body_unknowns(body: BodyModel, contacts: Sequence[PointContact]) -> tuple[QpUnknown, ...]:
    """The unknowns of a whole-body program: `acceleration`, one for each velocity, and FRAME_force of each
    contact, along x and z in a plane, x, y and z in space. Made once for a model, so that outputs may use
    them."""
    unknowns: dict[str, QpUnknown] = body.__dict__.setdefault("_unknowns", {})
    unknowns.setdefault("acceleration", QpUnknown("acceleration", [0.0] * body.nv, "rad/s^2, m/s^2"))
    for contact in contacts:
        label = f"{contact.frame}_force"
        unknowns.setdefault(label, QpUnknown(label, [0.0] * len(body.axes), "N"))
    return (unknowns["acceleration"], *(unknowns[f"{contact.frame}_force"] for contact in contacts))


def _active(contact: PointContact, body: BodyModel) -> ca.SX:
    """Whether a contact may push: an expression that is not 0 then."""
    if contact.active is not None:
        return sx(contact.active)
    normal = ca.vertcat(*[sx(each) for each in contact.normal])
    return ca.dot(normal, body.position(contact.frame)) <= TOUCH_GAP


def _cone(contact: PointContact, body: BodyModel, force: ca.SX) -> ca.SX:
    """What must not be positive: the pull, and tangential forces less friction times the normal one."""
    number_array(
        f"the normal of contact '{contact.frame}'",
        [float(each) for each in contact.normal if isinstance(each, (int, float))],
    )
    n = ca.vertcat(*[sx(each) for each in contact.normal])
    mu = sx(contact.friction)
    if body.mechanism.planar:
        across = ca.vertcat(n[2], -n[0])
        tangent, normal = ca.dot(across, force), ca.dot(ca.vertcat(n[0], n[2]), force)
        return ca.vertcat(-normal, tangent - mu * normal, -tangent - mu * normal)
    first = ca.vertcat(n[2], 0, -n[0])
    first = first / ca.norm_2(first)
    second = ca.cross(n, first)
    normal = ca.dot(n, force)
    sides = [mu / ca.sqrt(2) * normal - sign * ca.dot(e, force) for e in (first, second) for sign in (1, -1)]
    return -ca.vertcat(normal, *sides)


def _torque_limits(body: BodyModel, given: Any) -> dict[int, tuple[ca.SX, ca.SX]]:
    """Lower and upper limits of the torques, by the place of the velocity."""
    place_of = {name: where.start for name, where in body.tree.v_of.items() if where.stop - where.start == 1}
    if given is None:
        efforts = {place_of[name]: pair for name, pair in body.mechanism.efforts.items() if name in place_of}
        return {k: (sx(low), sx(high)) for k, (low, high) in efforts.items() if k in body.inputs}
    if not isinstance(given, Mapping):
        return {k: (-sx(given), sx(given)) for k in body.inputs}
    for name in given:
        if name not in place_of or place_of[name] not in body.inputs:
            names = [n for n, k in place_of.items() if k in body.inputs]
            raise UnknownNameError(
                f"'{name}' has a torque limit and is no actuated joint of '{body.mechanism.name}': "
                f"{did_you_mean(name, names)}"
            )
    return {place_of[name]: (-sx(value), sx(value)) for name, value in given.items()}


def _range_bound(
    body: BodyModel,
    a: QpUnknown,
    most: ca.SX,
    ranges: Mapping[str, tuple[float, float]] | None,
    most_towards: Callable[[ca.SX, ca.SX], ca.SX],
) -> QpBound:
    """Bounds of the accelerations: of actuated joints the limit, and towards the ends of their ranges what
    the rule of braking allows at a distance and a speed."""
    low = [-most if k in body.inputs else ca.SX(-NO_LIMIT) for k in range(body.nv)]
    up = [most if k in body.inputs else ca.SX(NO_LIMIT) for k in range(body.nv)]
    for joint, (first, last) in (body.mechanism.limits if ranges is None else ranges).items():
        k = body.velocity_place(joint)
        if k not in body.inputs:
            continue
        q, v = body.coordinate(joint), body.v[k]
        up[k] = most_towards(last - q, v)
        low[k] = -most_towards(q - first, -v)
    joint_of = {where.start: name for name, where in body.tree.v_of.items() if where.stop - where.start == 1}
    names = [f"range of {joint_of.get(k, a.labels[k])}" for k in range(body.nv)]
    return QpBound(a, ca.vertcat(*low), ca.vertcat(*up), rank=RANKS["range"], names=names)


def _commands(
    body: BodyModel, program: QuadraticProgram, torque: ca.SX, limits: Mapping[int, tuple[ca.SX, ca.SX]]
) -> tuple[dict[str, ca.SX], list[tuple[ca.SX, ca.SX]]]:
    """Torques as B y + c, clipped at their limits to the last bit, where B and c are computed with the
    program; and these shared values."""
    B = ca.jacobian(torque, program.y)
    c = ca.substitute([torque], [program.y], [ca.SX.zeros(program.y.numel())])[0]
    symbols = ca.SX.sym("torque_rows", B.nnz()), ca.SX.sym("torque_rest", c.numel())
    value = ca.SX(B.sparsity(), symbols[0]) @ program.y + symbols[1]
    command = {}
    for k, column in enumerate(sorted(body.inputs)):
        one = value[k]
        if column in limits:
            one = limit_between(one, *limits[column])
        command[body.inputs[column].name] = one
    return command, [(symbols[0], ca.vertcat(*B.nonzeros(), ca.SX(0, 1))), (symbols[1], ca.densify(c))]
