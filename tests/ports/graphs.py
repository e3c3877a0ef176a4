"""Graphs that several tests use."""

import strut
from strut import ports


def gears(J1=2.0, J2=3.0, n=0.25, d=0.1):
    """Two inertias through a gear: the second one's momentum follows from the first's."""
    g = ports.BondGraph("gears")
    g.effort_source("motor", strut.Input("torque", 1.0, "N m"), domain="rotation")
    g.one("fast")
    g.inertia("rotor", strut.Param("J1", J1, "kg m^2"), domain="rotation", initial=0.3)
    g.resistor("bearing", strut.Param("d", d, "N m s/rad"), domain="rotation")
    g.transformer("gear", strut.Param("n", n))
    g.one("slow")
    g.inertia("wheel", strut.Param("J2", J2, "kg m^2"), domain="rotation")
    g.bond("motor", "fast")
    g.bond("fast", "rotor", "bearing", "gear")
    g.bond("gear", "slow")
    g.bond("slow", "wheel")
    return g


BRIDGE = {"r1": 1.0, "r2": 2.0, "r3": 3.0, "r4": 4.0, "r5": 5.0}
"""[Ohm]"""


def bridge(values=BRIDGE, voltage=10.0):
    """Wheatstone's bridge: r1 and r2 from the battery to both sides, r5 between them, r3 and r4 to the ground."""
    g = ports.BondGraph("bridge")
    g.effort_source("battery", strut.Input("voltage", voltage, "V"), domain="electrical")
    for name, value in values.items():
        g.resistor(name, value, domain="electrical")
    for node in ("top", "left", "right"):
        g.zero(node)
    g.bond("battery", "top")
    for name, a, b in (("r1", "top", "left"), ("r2", "top", "right"), ("r5", "left", "right")):
        g.one(f"through_{name}")
        g.bond(a, f"through_{name}")
        g.bond(f"through_{name}", name, b)
    g.bond("left", "r3")
    g.bond("right", "r4")
    return g


def motor(inertia=0.01):
    """A DC motor: winding, gyrator, rotor, bearing."""
    g = ports.BondGraph("motor")
    g.effort_source("supply", strut.Input("voltage", 12.0, "V"), domain="electrical")
    g.one("current")
    g.inertia("winding", 0.5e-3, domain="electrical")
    g.resistor("copper", 0.3, domain="electrical")
    g.gyrator("motor", strut.Param("kt", 0.05, "N m/A"), domains=("electrical", "rotation"))
    g.one("speed")
    g.inertia("rotor", inertia, domain="rotation")
    g.resistor("bearing", 1e-3, domain="rotation")
    g.bond("supply", "current")
    g.bond("current", "winding", "copper", "motor")
    g.bond("motor", "speed")
    g.bond("speed", "rotor", "bearing")
    g.expose("shaft", "speed")
    return g
