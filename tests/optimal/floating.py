"""Walkers on a floating base, small enough for tests: a torso on two legs that telescope."""

from strut import Mechanism, Param, contact, joints


def telescopic(
    masses=(2.0, 2.0),
    actuated=True,
    stroke=(-0.25, 0.1),
    heels=False,
    sides=("_l", "_r"),
    legs=(0.0, 0.0),
):
    """A torso of 10 kg; under it, two legs of 0.8 m that swing at the hip and shorten. masses: of both feet
    [kg]. stroke: limits of their telescopes [m]. heels: whether each foot is two points. legs: lengths when a
    run begins, less 0.8 m [m]."""
    m = Mechanism("telescopic", planar=True)
    torso = m.body("torso", mass=10.0, com=(0, 0, 0.2), inertia=0.6)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.78, 0.0), actuated=False)
    for side, mass, hip, begin in zip(sides, masses, (-0.2, 0.2), legs, strict=True):
        thigh = m.body(f"thigh{side}", mass=1.0, com=(0, 0, -0.2), inertia=0.02)
        m.joint(f"hip{side}", torso, thigh, joints.revolute("y"), initial=hip, actuated=actuated)
        shank = m.body(f"shank{side}", mass=mass, com=(0, 0, -0.6), inertia=0.02)
        m.joint(
            f"leg{side}",
            thigh,
            shank,
            joints.prismatic("z"),
            initial=begin,
            actuated=actuated,
            limits=stroke,
        )
        m.frame(f"foot{side}", shank, (0, 0, -0.8))
        if heels:
            m.frame(f"heel{side}", shank, (-0.1, 0, -0.8))
    return m


def five_links():
    """A torso of 6 kg on two legs with knees, 0.75 m long."""
    m = Mechanism("five_links", planar=True)
    torso = m.body("torso", mass=6.0, com=(0, 0, 0.15), inertia=0.42)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.7275, 0.05), actuated=False)
    for side, hip in (("_l", -0.35), ("_r", 0.15)):
        thigh = m.body(f"thigh{side}", mass=3.0, com=(0, 0, -0.14), inertia=0.030625)
        shank = m.body(f"shank{side}", mass=1.5, com=(0, 0, -0.16), inertia=0.02)
        m.joint(f"hip{side}", torso, thigh, joints.revolute("y"), initial=hip)
        m.joint(
            f"knee{side}",
            thigh,
            shank,
            joints.revolute("y"),
            at=(0, 0, -0.35),
            initial=0.2,
            limits=(0.02, 2.0),
        )
        m.frame(f"foot{side}", shank, (0, 0, -0.4))
    return m


def on_rigid_ground(mechanism, feet=("foot_l", "foot_r"), symmetry="auto", **options):
    """A mechanism on a rigid plane with a slope as a parameter."""
    slope = Param("slope", 0.0, "rad", bounds=(-0.5, 0.5))
    return contact.rigid(mechanism, list(feet), contact.plane(slope), symmetry=symmetry, **options)


def on_soft_ground(mechanism, stiffness=1e4, friction=None, law=None, feet=("foot_l", "foot_r")):
    """A mechanism on a plane that gives way [N/m] and hardly throws it back, with a slope as a parameter."""
    slope = Param("slope", 0.0, "rad", bounds=(-0.5, 0.5))
    return contact.compliant(
        mechanism,
        list(feet),
        contact.plane(slope),
        law=law or contact.linear(stiffness, 0.02 * stiffness),
        friction=friction or contact.viscous(3e3),
        symmetry="auto",
        fall=("torso", 0.4),
    )
