"""A walker in a plane on feet with heel and toe, as small as can be: a torso on two legs that telescope, with
motors in the ankles."""

from strut import Mechanism, joints

POINTS = ("heel_l", "toe_l", "heel_r", "toe_r")


def heel_toe(heel=-0.06, toe=0.14):
    """A torso of 10 kg; under it, two legs of 0.75 m that swing at the hip and shorten, on feet whose heels and
    toes are so far [m] from under their ankles."""
    m = Mechanism("heel_toe", planar=True)
    torso = m.body("torso", mass=10.0, com=(0, 0, 0.2), inertia=0.6)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.78, 0.0), actuated=False)
    for side, hip in (("_l", -0.2), ("_r", 0.2)):
        thigh = m.body(f"thigh{side}", mass=1.0, com=(0, 0, -0.2), inertia=0.02)
        m.joint(f"hip{side}", m.bodies["torso"], thigh, joints.revolute("y"), initial=hip)
        shank = m.body(f"shank{side}", mass=1.5, com=(0, 0, -0.55), inertia=0.02)
        m.joint(f"leg{side}", thigh, shank, joints.prismatic("z"), limits=(-0.25, 0.1))
        foot = m.body(f"sole{side}", mass=0.8, com=(0.03, 0, -0.03), inertia=0.008)
        m.joint(f"ankle{side}", shank, foot, joints.revolute("y"), at=(0, 0, -0.75), limits=(-0.8, 0.8))
        m.frame(f"heel{side}", foot, (heel, 0, -0.05))
        m.frame(f"toe{side}", foot, (toe, 0, -0.05))
    return m
