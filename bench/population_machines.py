"""The machines of `python -m bench populations`: a chain, people, an exoskeleton, a humanoid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca

from strut import Mechanism, System, constraints, contact, joints, mechanism, walkers
from strut.mechanism import urdf
from strut.walkers.anthropometry import segment

STATURE, MASS = 1.75, 70.0  # [m], [kg]
HEEL_TO_TOE = (
    ("foot", -0.05),
    ("foot", 0.0),
    ("foot", 0.12),
    ("toe", 0.0),
    ("toe", 0.06),
)  # [m] along each part
LEG = (("hip", "thigh"), ("knee", "shank"), ("ankle", "foot"))


def chain(links: int = 10) -> System:
    """A chain of links in space, hinged about x, y and z in turn."""
    m = Mechanism("chain")
    parent = m.world
    for k in range(links):
        link = m.body(f"link{k}", mass=1.0, com=(0, 0, -0.1), inertia=0.01)
        at = (0, 0, -0.2 if k else 0)
        m.joint(f"hinge{k}", parent, link, joints.revolute("xyz"[k % 3]), at=at, initial=0.3, actuated=False)
        parent = link
    return mechanism.system(m)


def _add_person(m: Mechanism) -> None:
    """Add a planar person with 11 degrees of freedom, held by springs at its joints, to a mechanism."""
    parts = {name: segment(name, STATURE, MASS) for _, name in LEG}
    trunk = m.body("trunk", mass=45.0, com=(0, 0, 0.3), inertia=2.5)
    m.joint("base", m.world, trunk, joints.planar(), initial=(0, 0.93, 0), actuated=False)
    for side in ("left", "right"):
        below, at = trunk, (0.0, 0.0, 0.0)
        for joint, name in LEG:
            part = parts[name]
            com = (float(part.com[0]), 0, float(part.com[2]))
            body = m.body(f"{name}_{side}", mass=float(part.mass), com=com, inertia=float(part.inertia[1, 1]))
            m.joint(f"{joint}_{side}", below, body, joints.revolute("y"), at=at, damping=1.0, spring=300.0)
            below, at = body, (0.0, 0.0, -float(part.length))
        toe = m.body(f"toe_{side}", mass=0.2, com=(0.03, 0, 0), inertia=1e-3)
        m.joint(
            f"toes_{side}", below, toe, joints.revolute("y"), at=(0.15, 0, -0.06), damping=0.5, spring=20.0
        )


def human(events: bool) -> System:
    """A planar person with 11 degrees of freedom on ten soft points, held by springs at its joints."""
    m = Mechanism("human", planar=True)
    _add_person(m)
    feet = []
    for side in ("left", "right"):
        for k, (part, x) in enumerate(HEEL_TO_TOE):
            z = -0.07 if part == "foot" else -0.01
            feet.append(m.frame(f"point{k}_{side}", m.bodies[f"{part}_{side}"], (x, 0, z)).name)
    law, friction = contact.hunt_crossley(1e6, 0.5), contact.coulomb(0.8, 0.05)
    return contact.compliant(m, feet, law=law, friction=friction, events=events)


def exoskeleton() -> System:
    """The person in an exoskeleton on rigid ground: 19 coordinates, four closed loops. Shells hang at the
    trunk, a little above the hips; cuffs slide along them and are pinned to thighs and shanks."""
    m = Mechanism("exoskeleton", planar=True)
    _add_person(m)
    for side in ("left", "right"):
        worn, at = m.bodies["trunk"], (0.0, 0.0, 0.05)
        for joint, name in LEG[:2]:
            half = 0.5 * float(segment(name, STATURE, MASS).length)
            shell = m.body(f"shell_{name}_{side}", mass=2.0, com=(0, 0, -half), inertia=0.02)
            m.joint(f"exo_{joint}_{side}", worn, shell, joints.revolute("y"), at=at, damping=0.5)
            cuff = m.body(f"cuff_{name}_{side}", mass=0.3, inertia=1e-3)
            m.joint(
                f"slide_{name}_{side}",
                shell,
                cuff,
                joints.prismatic("z"),
                initial=-half,
                damping=20.0,
                actuated=False,
            )
            pins = f"cuff_{name}_{side}_pin", f"{name}_{side}_pin"
            m.frame(pins[0], cuff, (0, 0, 0))
            m.frame(pins[1], m.bodies[f"{name}_{side}"], (0, 0, -half))
            m.constrain(constraints.point(f"strap_{name}_{side}", *pins))
            worn, at = shell, (0.0, 0.0, -2 * half)
    feet = [
        m.frame(f"{point}_{side}", m.bodies[f"foot_{side}"], (x, 0, -0.07)).name
        for side in ("left", "right")
        for point, x in (("heel", -0.05), ("ball", 0.14))
    ]
    return contact.rigid(m, feet, fall=("trunk", 0.5))


def coman() -> System:
    """The humanoid COMAN, 29 velocities, on ten soft points without events; its joints hold nothing."""
    m = walkers.coman_mechanism()
    feet = [f"{side}_sole{k}" for side in "rl" for k in range(5)]
    law, friction = contact.hunt_crossley(2e5, 0.5), contact.coulomb(0.8, 0.05)
    return contact.compliant(m, feet, law=law, friction=friction, events=False)


STANCE = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}  # [rad] of a quadruped's joints
SHANK = 0.22  # [m] from its knee to its foot


def quadruped(file: Path) -> System:
    """The quadruped A1 of a URDF file on four soft points without events, held in its stance by springs."""
    m = urdf.load(file, base="free")
    for k, connection in list(m.connections.items()):
        angle = next((a for kind, a in STANCE.items() if connection.name.endswith(f"_{kind}_joint")), None)
        if angle is not None:
            m.connections[k] = replace(
                connection, spring=ca.SX(100.0), rest=ca.SX(angle), damping=ca.SX(2.0), initial=(angle,)
            )
    legs = ("FR", "FL", "RR", "RL")
    feet = [m.frame(f"{leg}_tip", m.bodies[f"{leg}_calf"], (0, 0, -SHANK)).name for leg in legs]
    law, friction = contact.hunt_crossley(1e5, 0.5), contact.coulomb(0.8, 0.02)
    return contact.compliant(m, feet, law=law, friction=friction, events=False)
