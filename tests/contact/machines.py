"""Small bodies to drop, push and slide."""

from strut.mechanism import Mechanism, joints

G = 9.81


def weight(mass=1.0, height=1.0):
    """A mass that moves along x and z without turning, with a foot at its origin."""
    m = Mechanism("weight", planar=True)
    carrier, body = m.body("carrier"), m.body("body", mass)
    m.joint("x", m.world, carrier, joints.prismatic("x"), actuated=False)
    m.joint("z", carrier, body, joints.prismatic("z"), actuated=False, initial=height)
    m.frame("foot", body)
    return m


def rod(mass=1.0, length=1.0, height=1.0, pitch=0.5):
    """A thin rod that falls in a plane, with a foot at each end."""
    m = Mechanism("rod", planar=True)
    body = m.body("rod", mass, inertia=mass * length**2 / 12)
    m.joint("base", m.world, body, joints.planar("y"), actuated=False, initial=(0, height, pitch))
    m.frame("left", body, (-length / 2, 0, 0))
    m.frame("right", body, (length / 2, 0, 0))
    return m


def box(mass=2.0, size=0.2, height=0.3, points=2, x=0.0):
    """A box in a plane, with `points` feet along its bottom."""
    m = Mechanism("box", planar=True)
    body = m.body("box", mass, inertia=mass * size**2 / 6)
    m.joint("base", m.world, body, joints.planar("y"), actuated=False, initial=(x, height, 0))
    for k in range(points):
        m.frame(f"foot{k}", body, ((k / (points - 1) - 0.5) * size, 0, -size / 2))
    return m, [f"foot{k}" for k in range(points)]


def brick(mass=2.0, size=0.2, at=(0, 0, 0.1)):
    """A cube in space, with a foot at each lower corner."""
    m = Mechanism("brick")
    body = m.body("brick", mass, inertia=mass * size**2 / 6)
    m.joint("base", m.world, body, joints.free(), initial=(*at, 0, 0, 0, 1))
    corners = [(sx * size / 2, sy * size / 2, -size / 2) for sx in (-1, 1) for sy in (-1, 1)]
    for k, corner in enumerate(corners):
        m.frame(f"foot{k}", body, corner)
    return m, [f"foot{k}" for k in range(4)]


def ball(mass=1.0, radius=0.1, at=(0, 0, 1.0), damping=None):
    """A homogeneous ball in space, in air of some viscosity."""
    m = Mechanism("ball")
    body = m.body("ball", mass, inertia=0.4 * mass * radius**2)
    m.joint("base", m.world, body, joints.free(), initial=(*at, 0, 0, 0, 1), damping=damping)
    return m
