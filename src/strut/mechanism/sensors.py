"""Sensors: what instruments on a mechanism read, as outputs of any system that was made of it.

Frames are the anchor points. `sense` adds outputs to a `System` whose states have the mechanism's names,
on any ground and with any drives; they are recorded, plotted and exported like others, and a controller
may read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from strut.checks import checked, is_number, short_repr
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.spatial import cross
from strut.mechanism.states import coordinate_names, velocity_names
from strut.mechanism.tree import Tree
from strut.system import Arrow, System, nearest_step, sx

QUANTITIES = ("position", "rotation", "velocity", "spin", "acceleration", "angular_acceleration", "jacobian")
"""What can be read of an anchor point."""
UNITS = {
    "position": "m",
    "velocity": "m/s",
    "spin": "rad/s",
    "acceleration": "m/s^2",
    "angular_acceleration": "rad/s^2",
}
"""Units of what can be read; the others have none, or several."""
MIN_LOAD = 1e-6
"""[N] Below this load there is no centre of pressure: 0 stands in its place."""

Readings = dict[str, tuple[ca.SX, str]]
"""Outputs by name, each with its unit."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A system with the tree of its mechanism. acceleration: of the tree's velocities, in the states."""

    system: System
    tree: Tree
    acceleration: ca.SX

    def in_states(self, expression: ca.SX) -> ca.SX:
        """An expression of the tree, with the system's states in it."""
        q, v = _state_symbols(self.system, self.tree)
        return ca.densify(ca.substitute([expression], [self.tree.q, self.tree.v], [q, v])[0])

    def rate(self, expression: ca.SX) -> ca.SX:
        """How fast an expression of the tree changes."""
        tree = self.tree
        return ca.jtimes(expression, tree.q, tree.qdot) + ca.jtimes(expression, tree.v, self.acceleration)


class Sensor(Protocol):
    """What reads something of a machine."""

    def read(self, bench: Bench) -> Readings:
        """The outputs, as expressions of the tree."""
        ...


@checked
@dataclass(frozen=True)
class Anchor:
    """What a frame does, relative to the world or to a body, along that one's axes: outputs FRAME_position,
    FRAME_rotation (nine numbers, column by column), FRAME_velocity, FRAME_spin, FRAME_acceleration,
    FRAME_angular_acceleration, FRAME_jacobian (of angular and linear velocity, column by column).

    frame: or a body's name, for its own frame. of: some of `QUANTITIES`. name: in the place of the frame's.
    """

    frame: str
    of: Sequence[str] = QUANTITIES[:-1]
    relative_to: str = "world"
    name: str = ""

    def __post_init__(self) -> None:
        for quantity in self.of:
            if quantity not in QUANTITIES:
                raise UnknownNameError(
                    f"an anchor has no '{quantity}' to read: {did_you_mean(quantity, list(QUANTITIES))}"
                )

    def read(self, bench: Bench) -> Readings:
        """Read the frame as it moves relative to the other one."""
        tree, base = bench.tree, self.relative_to
        pose, J = observe.pose(tree, self.frame), observe.world_jacobian(tree, self.frame)
        R, p, spin_rows, velocity_rows = pose.R, pose.p, J[:3, :], J[3:, :]
        if base != "world":
            base_pose, base_J = observe.pose(tree, base), observe.world_jacobian(tree, base)
            arm = p - base_pose.p
            # the place moves with the base, too, which turns
            carried_rows = ca.horzcat(*[cross(base_J[:3, k], arm) for k in range(tree.nv)])
            velocity_rows = base_pose.R.T @ (velocity_rows - base_J[3:, :] - carried_rows)
            spin_rows = base_pose.R.T @ (spin_rows - base_J[:3, :])
            R, p = base_pose.R.T @ R, base_pose.R.T @ arm
        velocity, spin = velocity_rows @ tree.v, spin_rows @ tree.v
        values = {
            "position": lambda: p,
            "rotation": lambda: ca.vec(R),
            "velocity": lambda: velocity,
            "spin": lambda: spin,
            "acceleration": lambda: bench.rate(velocity),
            "angular_acceleration": lambda: bench.rate(spin),
            "jacobian": lambda: ca.vec(ca.densify(ca.vertcat(spin_rows, velocity_rows))),
        }
        label = self.name or (self.frame if base == "world" else f"{self.frame}_from_{base}")
        return {f"{label}_{each}": (values[each](), UNITS.get(each, "")) for each in self.of}


@checked
@dataclass(frozen=True)
class Imu:
    """An inertial measurement unit at a frame, along the frame's axes: outputs FRAME_gyro [rad/s] and
    FRAME_accelerometer [m/s^2], which at rest reads g upwards."""

    frame: str

    def read(self, bench: Bench) -> Readings:
        """Read the angular velocity and the specific force."""
        tree = bench.tree
        R, twist = observe.pose(tree, self.frame).R, observe.twist(tree, self.frame)
        acceleration = bench.rate(observe.velocity(tree, self.frame))
        force = R.T @ (acceleration + ca.vertcat(0, 0, tree.mechanism.gravity))
        return {
            f"{self.frame}_gyro": (twist[:3], "rad/s"),
            f"{self.frame}_accelerometer": (force, "m/s^2"),
        }


@checked
@dataclass(frozen=True)
class Encoder:
    """An encoder on a joint, or on its motor before the spring: output JOINT_encoder or JOINT_motor_encoder,
    the angle in steps of `resolution` [rad]."""

    joint: str
    resolution: float
    motor: bool = False

    def __post_init__(self) -> None:
        if not is_number(self.resolution) or not 0 < self.resolution < math.inf:
            raise ValueRangeError(
                f"resolution of the encoder on '{self.joint}' is {short_repr(self.resolution)}: a positive "
                f"number in rad is needed"
            )

    def read(self, bench: Bench) -> Readings:
        """Read the nearest step of the angle."""
        label = f"{self.joint}_motor" if self.motor else self.joint
        state = next((q for q in bench.system.x if q.name == label and q.size == 1), None)
        if state is None:
            names = [q.name for q in bench.system.x]
            raise UnknownNameError(
                f"the encoder reads '{label}', which is no state of '{bench.system.name}': "
                f"{did_you_mean(label, names)}"
            )
        return {f"{label}_encoder": (nearest_step(state.sym, self.resolution), state.unit)}


@checked
@dataclass(frozen=True)
class FootForce:
    """A six-axis force sensor in a foot, which reads the wrench of its contacts: outputs FRAME_force,
    what the ground gives to the contacts [N], and FRAME_moment about the frame [N m], along the frame's axes;
    and FRAME_pressure_x and FRAME_pressure_y, the centre of pressure in the frame's x-y plane [m], 0 while
    nothing is loaded.

    contacts: the feet of the system, points of contact, whose forces it feels.
    """

    frame: str
    contacts: Sequence[str]

    def read(self, bench: Bench) -> Readings:
        """Sum up the forces that the system shows as arrows."""
        force, moment = _contact_wrench(bench, self.contacts, observe.position(bench.tree, self.frame))
        R = observe.pose(bench.tree, self.frame).R
        force, moment = R.T @ force, R.T @ moment
        return {
            f"{self.frame}_force": (force, "N"),
            f"{self.frame}_moment": (moment, "N m"),
            f"{self.frame}_pressure_x": (_ratio(-moment[1], force[2]), "m"),
            f"{self.frame}_pressure_y": (_ratio(moment[0], force[2]), "m"),
        }


@checked
@dataclass(frozen=True)
class ZeroMomentPoint:
    """The zero moment point on level ground, which is the centre of pressure of all contacts: outputs
    zmp_x and zmp_y [m], 0 while nothing is loaded.

    contacts: the feet of the system that count; all without any named.
    """

    contacts: Sequence[str] = ()

    def read(self, bench: Bench) -> Readings:
        """Read the mean place of contacts, weighted with their loads."""
        arrows = _arrows(bench, self.contacts)
        load = sum((arrow.force[2] for arrow in arrows), ca.SX(0))
        return {
            f"zmp_{axis}": (_ratio(sum((a.at[k] * a.force[2] for a in arrows), ca.SX(0)), load), "m")
            for k, axis in enumerate("xy")
        }


@checked
def sense(system: System, mechanism: Mechanism, sensors: Iterable[Sensor]) -> System:
    """The system with what sensors read as further outputs.

    mechanism: of which the system was made; its joints' states must be the system's. sensors: `Anchor`,
    `Imu`, `Encoder`, `FootForce`, `ZeroMomentPoint`, or what has a function `read` as these do. Raises
    ModelError where the system has not the mechanism's states, and UnknownNameError for frames and
    contacts it has not.
    """
    bench = bench_of(system, mechanism)
    outputs: dict[str, ca.SX] = {}
    units: dict[str, str] = {}
    for sensor in sensors:
        for name, (expression, unit) in sensor.read(bench).items():
            if name in outputs or name in system.outputs:
                raise ModelError(
                    f"two sensors or outputs of '{system.name}' are called '{name}': give one another name"
                )
            outputs[name] = bench.in_states(expression)
            units[name] = unit
    return system.replace(
        outputs={**system.outputs, **outputs}, output_units={**system.output_units, **units}
    )


def bench_of(system: System, mechanism: Mechanism) -> Bench:
    """The system with its mechanism's tree; raises ModelError where it has not the mechanism's states."""
    tree = Tree(mechanism)
    _state_symbols(system, tree)
    rates = [sx(system.flow[name]) for name in _state_names(tree)[1]]
    return Bench(system, tree, ca.vertcat(*rates, ca.SX(0, 1)))


def _state_names(tree: Tree) -> tuple[list[str], list[str]]:
    """The names of a tree's coordinates and velocities, in its order."""
    connections = [node.connection for node in tree.nodes if not node.connection.joint.gear]
    coordinates = [name for c in connections for name in coordinate_names(c)]
    return coordinates, [name for c in connections for name in velocity_names(c)]


def _state_symbols(system: System, tree: Tree) -> tuple[ca.SX, ca.SX]:
    """The symbols of the system's states that are the tree's coordinates and velocities."""
    symbols = {q.name: q.sym for q in system.x}
    coordinates, velocities = _state_names(tree)
    for label in (*coordinates, *velocities):
        if label not in symbols:
            raise ModelError(
                f"'{system.name}' has no state '{label}' of mechanism '{tree.mechanism.name}': a system with "
                f"all its joints' states is needed, of mechanism.system, contact.rigid or contact.compliant"
            )
    return (
        ca.vertcat(*[symbols[label] for label in coordinates], ca.SX(0, 1)),
        ca.vertcat(*[symbols[label] for label in velocities], ca.SX(0, 1)),
    )


def _ratio(moment: ca.SX, load: ca.SX) -> ca.SX:
    """A moment over a load, 0 where nothing is loaded."""
    return ca.if_else(load > MIN_LOAD, moment / ca.fmax(load, MIN_LOAD), 0)


def _arrows(bench: Bench, contacts: Sequence[str]) -> list[Arrow]:
    """The forces of contacts, as the system shows them."""
    arrows = {arrow.name: arrow for arrow in bench.system.scene.arrows}
    for name in contacts:
        if name not in arrows:
            raise UnknownNameError(
                f"'{bench.system.name}' has no contact '{name}': {did_you_mean(name, list(arrows))}"
            )
    if not arrows:
        raise ModelError(f"'{bench.system.name}' touches nothing: there is no force of contact to sense")
    return [arrow for name, arrow in arrows.items() if not contacts or name in contacts]


def _contact_wrench(bench: Bench, contacts: Sequence[str], about: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Force and moment of contacts about a place, along the world's axes."""
    force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
    for arrow in _arrows(bench, contacts):
        force = force + arrow.force
        moment = moment + cross(arrow.at - about, arrow.force)
    return force, moment


__all__ = ["Anchor", "Bench", "Encoder", "FootForce", "Imu", "Sensor", "ZeroMomentPoint", "bench_of", "sense"]
