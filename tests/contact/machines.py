"""Machines that touch the ground."""

from strut import contact
from strut.mechanism import Mechanism, joints


def box(w=0.5, h=0.5, at=(0.0, 1.0, 0.0), rate=(0.0, 0.0, 0.0), slope=0.0, mass=1.0, inertia=None, **options):
    """A box of 2 w by 2 h that touches with its lower corners."""
    m = Mechanism("box", planar=True)
    body = m.body("box", mass, inertia=mass / 3 * (w * w + h * h) if inertia is None else inertia)
    m.joint("base", m.world, body, joints.planar(), initial=at, rate=rate, actuated=False)
    feet = contact.polygon(m, "box", [(-w, 0, -h), (w, 0, -h)], name="corner")
    return contact.rigid(m, feet, contact.plane(slope), **options)


def block(at=(0.0, 0.0, 0.0), rate=(0.0, 0.0), slope=0.0, **options):
    """A point mass in space."""
    m = Mechanism("block")
    body = None
    parent = m.world
    for k, axis in enumerate("xyz"):
        body = m.body(f"carried_{axis}", 1.0 if axis == "z" else 0.0)
        m.joint(axis, parent, body, joints.prismatic(axis), initial=at[k], rate=rate[k] if k < len(rate) else 0.0, actuated=axis != "z")
        parent = body
    m.frame("foot", body)
    return contact.rigid(m, ["foot"], contact.plane(slope), **options)
