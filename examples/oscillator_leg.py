"""Two oscillators drive a leg: a network holds a mechanism, and the leg pulls the oscillators along.

Each joint has a phase oscillator whose cosine is the angle it wants; the knee follows the hip by a quarter
turn, and the hip's oscillator feels where the leg is. The leg, near its own rhythm, swings further than
asked, and the oscillators give way. To the
network the leg is a node like any other: what is called like one of its motors drives it, and what has the
flag `in` shows one of its angles.
Run it with `python examples/oscillator_leg.py`.
"""

from __future__ import annotations

import numpy as np

import strut
from strut import Mechanism, mechanism, network
from strut.mechanism import joints

TEXT = """
integrator { method = "runge-kutta" }
templates {
    node "oscillator" {
        phase = 0
        frequency = 1.2    # [Hz]
        amplitude = 0.4    # [rad]
        wanted = "amplitude * cos(phase)"
        phase' = "2 * pi * frequency"
    }
    edge "follows" {
        weight = 8
        bias = 0
        phase' += "weight * sin(input.phase - output.phase - bias)"
    }
}

node "hip" : oscillator { }
node "knee" : oscillator { amplitude = 0.25  phase = 1 }
edge from "hip" to "knee" : follows { bias = "pi / 2" }

node "leg" {
    "{hip,knee}" = 0 | in
    "{hip,knee}_rate" = 0 | in
    "{hip,knee}_torque" = 0
}
edge "motor" from "{hip,knee}" to "leg" {
    stiffness = 60     # [N m/rad]
    damping = 2        # [N m s/rad]
    "@@0_torque" <= "stiffness * (input.wanted - output.@@@0) - damping * output.@@@0_rate"
}
edge "felt" from "leg" to "hip" {
    gain = 2
    phase' += "-gain * (output.wanted - input.hip) * sin(output.phase)"
}
"""


def leg() -> strut.System:
    """A thigh and a shank that hang from a hip, with a motor in each joint."""
    machine = Mechanism("leg", planar=True)
    thigh = machine.body("thigh", mass=6.0, com=(0, 0, -0.2), inertia=0.1)
    shank = machine.body("shank", mass=3.0, com=(0, 0, -0.2), inertia=0.05)
    machine.joint("hip", machine.world, thigh, joints.revolute("y"), damping=0.1)
    machine.joint("knee", thigh, shank, joints.revolute("y"), at=(0, 0, -0.45), damping=0.1)
    machine.frame("foot", shank, (0, 0, -0.45))
    return mechanism.system(machine)


def main(seconds: float = 20.0) -> strut.Trajectory:
    net = network.loads(TEXT, "oscillator_leg")
    together = net.system(machines={"leg": leg()})
    run = strut.simulate(together, t=seconds, **net.options())
    late = run.at(np.linspace(seconds - 5, seconds, 2001))
    for joint in ("hip", "knee"):
        print(f"{joint}: from {late[f'leg.{joint}'].min():+.3f} to {late[f'leg.{joint}'].max():+.3f} rad")
    lag = np.mean(late["hip.phase"] - late["knee.phase"])
    print(f"the knee is {lag / (2 * np.pi):.3f} turns behind the hip")
    turns = (late["hip.phase"][-1] - late["hip.phase"][0]) / (2 * np.pi) / 5
    print(f"the hip turns {turns:.3f} times a second; alone it would 1.2 times")
    return run


if __name__ == "__main__":
    main()
