"""A system from scratch: a mass hung on a spring, dropped, with a floor to hit.

Read it top to bottom; every line is something strut lets you say about a machine.
"""

import strut
from strut import Discrete, Event, Ledger, Param, State, System

# Quantities have a name, a value to start from, a unit, and bounds that any value you set must obey.
height = State("height", 2.2, "m")
velocity = State("velocity", 0.0, "m/s")
mass = Param("mass", 0.5, "kg", bounds=(0, 100))
stiffness = Param("stiffness", 8.0, "N/m", bounds=(0, 1e6))
damping = Param("damping", 0.05, "N s/m", bounds=(0, 1e3))
hook = Param("hook", 1.5, "m", description="height at which the spring is relaxed")
g = Param("g", 9.81, "m/s^2")
hits = Discrete("hits", 0)

# They are used like numbers, and stay symbols: nothing is computed yet.
pull = stiffness * (hook - height)
drag = damping * velocity

system = System(
    "hanging_mass",
    x=(height, velocity),
    z=(hits,),
    p=(mass, stiffness, damping, hook, g),
    flow={height: velocity, velocity: (pull - drag) / mass - g},
    events=(
        # When the height falls through zero, reverse the velocity with a loss, and say how much energy that
        # costs.
        Event(
            "floor",
            guard=height,
            direction="down",
            reset={velocity: -0.7 * velocity, hits: hits + 1},
            loss={"floor": (1 - 0.7**2) * mass * velocity**2 / 2},
        ),
    ),
    outputs={"pull": pull},
    ledger=Ledger(
        stored={
            "kinetic": mass * velocity**2 / 2,
            "gravity": mass * g * height,
            "spring": stiffness * (hook - height) ** 2 / 2,
        },
        dissipated={"drag": drag * velocity},
    ),
)


def main() -> strut.Trajectory:
    run = strut.simulate(system, t=10)
    print(run)
    print("hit the floor at", run.events.times("floor").round(4))
    print("height after 2.5 s:", run.at(2.5)["height"])
    for where, joules in run.ledger.summary().items():
        print(f"  {where:28s} {joules:+.6f} J")

    # Another parameter needs no new compilation, and ten thousand need no Python.
    import numpy as np

    many = strut.simulate_batch(system, t=10, p={"stiffness": np.linspace(5, 50, 10_000)})
    print(
        many,
        "in",
        round(many.wall, 3),
        "s; hits:",
        dict(zip(*np.unique(many["hits"], return_counts=True), strict=True)),
    )
    return run


if __name__ == "__main__":
    main()
