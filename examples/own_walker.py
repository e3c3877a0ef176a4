"""A walker written by hand: equations of one's own, names of one's own, and a `Walk` that says what they
mean.

Nothing in strut looks at names. A `System` that says which event ends a step, what its foot feels and how far
it comes goes through gaits, designs, reports and disturbances like a ready-made one. This one is a mass on
two stiff legs a fixed angle apart, pushed at the ankle.

    python examples/own_walker.py [DIRECTORY]
"""

from __future__ import annotations

import sys

import casadi as ca

from strut import Discrete, Event, Foot, Input, Ledger, Param, State, System, Walk, deg, gait, optimal, report


def stilts() -> System:
    """Two stilts under a mass. lean: of the standing one from the vertical [rad], forward positive."""
    mass, length = Param("bulk", 60.0, "kg", bounds=(1, 200)), Param("stilt", 0.9, "m", bounds=(0.3, 2))
    half = Param(
        "half_spread", 0.3, "rad", bounds=(0.05, 0.6), description="half the angle between the stilts"
    )
    fall, g = (
        Param("hill", 0.08, "rad", bounds=(-0.3, 0.3), description="of the ground, positive downhill"),
        Param("pull", 9.81, "m/s^2"),
    )
    lean, spin = State("lean", -0.2, "rad"), State("spin", 1.3, "rad/s")
    ankle = Input("ankle", 0.0, "N m")
    height, rise = (
        Discrete("footing", 0.0, "m", description="height of the standing foot"),
        Discrete("rise", 0.0, "m"),
    )
    stride, total = Discrete("stride", 0.0, "m"), Discrete("way", 0.0, "m")

    m, L, a, rate = mass.sym, length.sym, lean.sym, spin.sym
    other = a - 2 * half.sym  # the stilt in the air, from the vertical
    forward, up = (
        L * (ca.sin(a) - ca.sin(other)),
        L * (ca.cos(a) - ca.cos(other)),
    )  # its foot, seen from the one on the ground
    gap = (up + rise.sym + ca.tan(fall.sym) * forward) * ca.cos(fall.sym)
    fraction_kept = ca.cos(2 * half.sym)  # of the velocity, in the impact: what points along the new circle
    turning = g.sym / L * ca.sin(a) + ankle.sym / (m * L**2)
    push_x = m * L * (turning * ca.cos(a) - rate**2 * ca.sin(a))
    push_z = m * (g.sym - L * (turning * ca.sin(a) + rate**2 * ca.cos(a)))
    length_of_step = forward * ca.cos(fall.sym) - up * ca.sin(fall.sym)
    strike = {
        lean: other,
        spin: fraction_kept * rate,
        height: height.sym + up,
        rise: 0,
        stride: length_of_step,
        total: total.sym + length_of_step,
    }
    return System(
        "stilts",
        x=(lean, spin),
        z=(height, rise, stride, total),
        u=(ankle,),
        p=(mass, length, half, fall, g),
        flow={lean: rate, spin: turning},
        events=(
            Event("foot_strike", guard=-gap, reset=strike),
            Event("toppled", guard=-a - 1.2, terminal=True, description="it fell over backwards"),
        ),
        outputs={
            "push": push_x * ca.sin(fall.sym) + push_z * ca.cos(fall.sym),
            "grip": push_x * ca.cos(fall.sym) - push_z * ca.sin(fall.sym),
            "toe_height": gap,
        },
        output_units={"push": "N", "grip": "N", "toe_height": "m"},
        ledger=Ledger(
            stored={"motion": m * (L * rate) ** 2 / 2, "weight": m * g.sym * (height.sym + L * ca.cos(a))},
            supplied={"ankle": ankle.sym * rate},
        ),
        walk=Walk(
            section="foot_strike",
            feet=(
                Foot(name="stilt", lands="foot_strike", normal="push", friction=("grip",), gap="toe_height"),
            ),
            progress=("way",),
            step_length="stride",
            slope="hill",
            lift="rise",
            weight=mass * g,
            gravity="weight",
            kinetic="motion",
        ),
        description="a mass on two stiff legs, pushed at the ankle",
    )


def main(directory: str = "") -> tuple[gait.Gait, gait.Survived, optimal.Design]:
    """Its gait downhill, the step down it survives, and the least torque that carries it over level
    ground."""
    walker = stilts()
    downhill = gait.find(walker)
    survived = gait.step_down(downhill, most=2.0)
    print(
        f"downhill: {downhill.speed:.4f} m/s, largest multiplier {abs(downhill.multipliers[0]):.4f}, "
        f"{survived}"
    )
    level = optimal.design(walker, free={"half_spread": (0.1, 0.5)}, speed=0.8, step_length=0.5, slope=deg(0))
    print(
        f"level: {'ok' if level.ok else level.wrong}, half spread {level.parameters['half_spread']:.4f} rad, "
        f"cost {level.result.cost:.5g}"
    )
    if directory:
        print(report.design_result(level).folder(directory).directory / "index.html")
    return downhill, survived, level


if __name__ == "__main__":
    main(*sys.argv[1:])
