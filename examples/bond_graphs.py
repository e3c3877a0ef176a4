"""Bond graphs: five machines whose parts exchange power, each a system with its account of energy.

A hoist: motor, winding, drum and load. A cart that is held by a PD controller, which is a spring and a
damper. A snakeboard, reduced to three momenta that its wheels and torso drive. A leg that a hydraulic
cylinder lifts. A ball that lands on the ground through a contact that is one more part. Run it with `python
examples/bond_graphs.py`; it leaves bond_graphs.svg, the hoist with the power that flows through it."""

from __future__ import annotations

import sys
from pathlib import Path

import casadi as ca

import strut
from strut import joints, mechanism, ports, report

GRAVITY = 9.81
"""[m/s^2]"""


def hoist() -> ports.BondGraph:
    """A DC motor lifts a load of 5 kg with a drum of 2 cm."""
    g = ports.BondGraph("hoist")
    g.effort_source("supply", strut.Input("voltage", 24.0, "V"), domain="electrical")
    g.one("current")
    g.inertia("winding", 1e-3, domain="electrical")
    g.resistor("copper", strut.Param("R", 0.5, "Ohm"), domain="electrical")
    g.gyrator("motor", strut.Param("kt", 0.1, "N m/A"), domains=("electrical", "rotation"))
    g.one("speed")
    g.inertia("rotor", 1e-3, domain="rotation")
    g.transformer("drum", strut.Param("radius", 0.02, "m"), domains=("rotation", "translation"))
    g.one("lift")
    mass = strut.Param("mass", 5.0, "kg")
    g.inertia("load", mass, domain="translation")  # follows the rotor: derivative causality
    g.compliance("height", energy=lambda z: mass * GRAVITY * z, domain="translation")
    g.bond("supply", "current")
    g.bond("current", "winding", "copper", "motor")
    g.bond("motor", "speed")
    g.bond("speed", "rotor", "drum")
    g.bond("drum", "lift")
    g.bond("lift", "load", "height")
    return g


def held_cart() -> ports.PortHamiltonian:
    """A cart of 2 kg with friction, and a PD controller as a physical system, joined by their ports: the
    controller is told the velocity, and answers with the force of a spring and a damper."""
    cart = ports.BondGraph("cart")
    cart.effort_source("push", 0.0, domain="translation")
    cart.one("velocity")
    cart.inertia("cart", 2.0, domain="translation")
    cart.resistor("friction", 0.4, domain="translation")
    cart.bond("push", "velocity")
    cart.bond("velocity", "cart", "friction")
    control = ports.BondGraph("pd")
    control.flow_source("hand", 0.0, domain="translation")
    control.one("error_rate")
    control.compliance("kp", stiffness=50.0, domain="translation", initial=0.3)
    control.resistor("kd", 12.0, domain="translation")
    control.bond("hand", "error_rate")
    control.bond("error_rate", "kp", "kd")
    forms = ports.port_hamiltonian(cart), ports.port_hamiltonian(control)
    return ports.interconnect(*forms, ports={"push": "hand"}, name="held_cart")


def snakeboard(m: float = 6.0, r: float = 0.2, torso: float = 0.03, wheels: float = 0.005) -> ports.BondGraph:
    """A snakeboard in reduced momenta: of the ride, of the torso and of the wheels, which exchange no power
    with the rest but modulate how the torso's torque drives the ride. m [kg], r half the length [m], torso
    and wheels moments of inertia [kg m^2]; all of the board's is m r^2. Duindam, example 2.21, with the sign
    of (2.111) mended."""
    g = ports.BondGraph("snakeboard")

    def integrator(name: str, domain: str) -> ca.SX:
        """A displacement that stores nothing: it only integrates a flow."""
        return g.compliance(name, energy=lambda q: 0 * q, domain=domain).state

    steer, heading, _ = (integrator(name, "rotation") for name in ("steer", "heading", "torso_angle"))
    root = ca.sqrt(m * r**2 - torso * ca.sin(steer) ** 2)
    g.inertia("ride", 1.0, domain="rotation")  # its momentum is scaled so that its inertia is 1
    g.inertia("torso", torso, domain="rotation")
    g.inertia("wheels", wheels, domain="rotation")
    for name in ("riding", "torso_joint", "twisting", "steering"):
        g.one(name)
    # the wheels: a motor turns them, and no power goes from there to the rest
    g.effort_source("wheel_motor", strut.Input("wheel_torque", 0.0, "N m"), domain="rotation")
    g.bond("wheel_motor", "steering")
    g.bond("steering", "wheels", "steer")
    # the torso: its joint turns with its own momentum, less what riding turns the board below it
    g.effort_source("torso_motor", strut.Input("torso_torque", 0.0, "N m"), domain="rotation")
    g.zero("torso_torque")
    g.transformer("coupling", ca.sin(steer) / root)
    g.bond("torso_motor", "torso_joint")
    g.bond("torso_joint", "torso_angle", "torso_torque")
    g.bond("torso_torque", "twisting")
    g.bond("twisting", "torso")
    g.bond("riding", "ride", "coupling")
    g.bond("coupling", "torso_torque")
    # where the board is
    for name, domain, ratio in (
        ("x", "translation", r / root * ca.cos(heading) * ca.cos(steer)),
        ("y", "translation", r / root * ca.sin(heading) * ca.cos(steer)),
        ("heading", "rotation", ca.sin(steer) / root),
    ):
        if name != "heading":
            integrator(name, domain)
        g.transformer(f"to_{name}", ratio)
        g.bond("riding", f"to_{name}")
        g.bond(f"to_{name}", name)
    return g


def hydraulic_leg() -> ports.BondGraph:
    """A shank that a cylinder at its knee lifts: pump, relief valve, oil that gives way, piston, lever."""
    leg = strut.Mechanism("leg", planar=True)
    shank = leg.body("shank", mass=3.5, com=(0, 0, -0.2), inertia=0.05)
    leg.joint("knee", leg.world, shank, joints.revolute("y"), damping=8.0)
    machine = mechanism.system(leg)
    g = ports.BondGraph("hydraulic_leg")
    begins = ca.fmin(strut.time / 0.1, 1)  # over 0.1 s
    pump_flow = strut.Input("pump_flow", 2e-5, "m^3/s")
    g.flow_source("pump", pump_flow * begins, domain="hydraulic")
    g.zero("chamber")
    g.compliance("oil", stiffness=1.4e9 / 2e-4, domain="hydraulic")  # bulk modulus / volume
    g.resistor("relief", flow=lambda e: 1e-10 * ca.fmax(e - 4e6, 0), domain="hydraulic")  # opens at 4 MPa
    g.resistor("leak", conductance=1e-13, domain="hydraulic")
    area, arm = 3e-4, 0.05
    # positive angles swing the shank back; the lever's arm shortens as it turns
    knee_rate_to_flow = area * arm * ca.cos(machine["knee"])
    g.one("joint")
    g.transformer("cylinder", 1 / knee_rate_to_flow, domains=("hydraulic", "rotation"))
    g.machine("leg", machine, {"knee": "knee_torque"})
    g.bond("pump", "chamber")
    g.bond("chamber", "oil", "relief", "leak", "cylinder")
    g.bond("cylinder", "joint")
    g.bond("joint", "leg.knee")
    return g


def landing_ball(stiffness: float = 2e4, dissipation: float = 0.2) -> ports.BondGraph:
    """A ball of 1 kg that falls from 0.3 m on a contact by Hunt and Crossley: a spring with one side, and a
    damper that the depth modulates. Stiffness [N/m^1.5], dissipation [s/m]."""
    ball = strut.Mechanism("ball", planar=True)
    body = ball.body("ball", mass=1.0, inertia=0.01)
    ball.joint("fall", ball.world, body, joints.prismatic("z"), initial=0.3)
    g = ports.BondGraph("landing_ball")
    g.machine("ball", mechanism.system(ball), {"centre": "fall_force"})
    g.one("touch")

    def depth(height: ca.SX) -> ca.SX:
        return ca.fmax(-height, 0)

    gap = g.compliance(
        "spring", energy=lambda q: stiffness * depth(q) ** 2.5 / 2.5, domain="translation", initial=0.3
    )
    damping = 1.5 * dissipation * stiffness * depth(gap.state) ** 1.5
    g.resistor("damper", damping, domain="translation")
    g.bond("touch", "ball.centre", "spring", "damper")
    return g


def main(picture: str | Path = "bond_graphs.svg") -> dict[str, strut.Trajectory]:
    """Run all five, and say of each what it does and how well its energy is accounted for."""
    lift = hoist()
    runs = {
        "hoist": strut.simulate(ports.system(lift), 2.0),
        "held_cart": strut.simulate(held_cart().system(), 3.0),
        "hydraulic_leg": strut.simulate(ports.system(hydraulic_leg()), 0.4),
        "landing_ball": strut.simulate(ports.system(landing_ball()), 1.0, rtol=1e-12, atol=1e-14),
    }
    board = ports.system(snakeboard())
    drive = {
        "wheel_torque": strut.Schedule([0.0, 1.0], [0.002, -0.002]),
        "torso_torque": strut.Schedule([0.0, 1.0], [1.0, -1.0]),
    }
    runs["snakeboard"] = strut.simulate(board, 2.0, u=drive)
    print(f"the load rises {runs['hoist'].at(2.0)['height.q']:.4f} m in 2 s")
    print(f"the cart is {1000 * runs['held_cart'].at(3.0)['kp.q']:.3f} mm from where it should be after 3 s")
    print(f"the snakeboard rides {runs['snakeboard'].at(2.0)['x.q']:.4f} m")
    print(f"the knee turns {runs['hydraulic_leg'].at(0.4)['knee']:.4f} rad in 0.4 s")
    print(f"the ball falls back from {runs['landing_ball'].at(1.0)['fall']:.4f} m after 1 s")
    worst = max(run.ledger.residual / run.ledger.turnover for run in runs.values())
    print(f"of the energy that moved, at most {worst:.0e} is unaccounted for")
    Path(picture).write_text(ports.svg(lift, report.power_samples(lift, runs["hoist"], frames=40)))
    return runs


if __name__ == "__main__":
    main(*sys.argv[1:])
