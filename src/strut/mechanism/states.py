"""States and inputs of a mechanism's joints: their names, units and where they begin."""

from __future__ import annotations

from strut.checks import checked
from strut.mechanism.parts import Connection
from strut.mechanism.tree import Tree
from strut.system import UNBOUNDED, Input, State


def coordinate_names(c: Connection) -> list[str]:
    """Names of the states of a joint's coordinates: 'hip', or 'base.x', 'base.z', ..."""
    return [c.name if not suffix else f"{c.name}.{suffix}" for suffix in c.joint.coordinates]


def velocity_names(c: Connection) -> list[str]:
    """Names of the states of a joint's velocities: 'hip_rate', or 'base.vx', ..."""
    return [f"{c.name}_rate" if not suffix else f"{c.name}.{suffix}" for suffix in c.joint.velocities]


def _rate_units(c: Connection) -> tuple[str, ...]:
    """Units of a joint's velocities."""
    if c.joint.rate_units:
        return c.joint.rate_units
    return tuple(f"{unit}/s" if unit else "1/s" for unit in c.joint.units)


def push_names(c: Connection) -> list[tuple[str, str]]:
    """Names and units of the forces along a joint's velocities: 'hip_torque' [N m], 'rail_force' [N]."""
    pushes = []
    for name, unit in zip(velocity_names(c), _rate_units(c), strict=True):
        push, force_unit = ("torque", "N m") if unit == "rad/s" else ("force", "N")
        pushes.append((f"{c.name if c.joint.nv == 1 else name}_{push}", force_unit))
    return pushes


@checked
def quantities_of(tree: Tree) -> tuple[list[State], list[State], dict[int, Input]]:
    """States of the coordinates and of the velocities of a tree, in its order, and the inputs of actuated
    joints by the place of the velocity they push along."""
    positions, velocities, inputs = [], [], {}
    for node in tree.nodes:
        c = node.connection
        if c.joint.gear:
            continue
        for name, value, unit in zip(coordinate_names(c), c.initial, c.joint.units, strict=True):
            limits = tree.mechanism.limits.get(c.name, UNBOUNDED) if c.joint.nq == 1 else UNBOUNDED
            positions.append(State(name, value, unit, limits=limits))
        for name, value, unit in zip(velocity_names(c), c.initial_rate, _rate_units(c), strict=True):
            velocities.append(State(name, value, unit))
        if c.actuated and not c.joint.floating:
            efforts = tree.mechanism.efforts.get(c.name, UNBOUNDED) if c.joint.nv == 1 else UNBOUNDED
            for k, (name, unit) in enumerate(push_names(c)):
                meaning = f"of the motor of joint '{c.name}'"
                inputs[tree.v_of[c.name].start + k] = Input(
                    name, 0.0, unit, limits=efforts, description=meaning
                )
    return positions, velocities, inputs
