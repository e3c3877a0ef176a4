"""A hopper: a body on a spring leg, a foot that is not sprung, a motor along the leg, and a controller at 200
Hz.

Read it top to bottom: the machine, its books, its controller twice, and what can be done with them.
Run it with `python examples/hopper.py`; files go to demo/hopper unless you name another directory.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import casadi as ca
import numpy as np

import strut
from strut import Discrete, Event, Hold, Input, Ledger, Param, Sample, State, System

PERIOD = 1 / 200  # of the controller [s]
WANTED, REACH, STRONGEST = (
    0.8,
    0.02,
    400.0,
)  # apex to keep [m]; length over which a lack of energy is made up [m]; of the motor [N]

# ---- the machine ----

mass = Param("mass", 10.0, "kg", bounds=(1e-3, 1e3), description="of the body")
foot = Param("foot", 0.5, "kg", bounds=(0, 1e3), description="below the spring: what the ground stops")
length = Param("length", 0.5, "m", bounds=(1e-3, 10), description="of the leg at rest, where it has a stop")
stiffness = Param("stiffness", 5e3, "N/m", bounds=(0, 1e7))
damping = Param("damping", 10.0, "N s/m", bounds=(0, 1e5))
g = Param("g", 9.81, "m/s^2")

height = State("height", 0.6, "m", description="of the body")
velocity = State("velocity", 0.0, "m/s")
stance = Discrete("stance", 0, description="1 while the foot is on the ground, 0 in flight")
apex = Discrete("apex", 0.0, "m", description="height of the last apex")
thrust = Input("thrust", 0.0, "N", description="of the motor, along the leg, positive up on the body")

# In flight the leg rests on its stop, and body and foot fall as one. In stance the leg carries the body, and
# the foot rests.
squeezed = length - height
leg = stance * (stiffness * squeezed - damping * velocity + thrust)

machine = System(
    "hopper",
    x=(height, velocity),
    z=(stance, apex),
    u=(thrust,),
    p=(mass, foot, length, stiffness, damping, g),
    flow={height: velocity, velocity: leg / mass - g},
    events=(
        # `when` says in which of the two modes an event is looked for. The foot stops at once; its energy is
        # gone.
        Event(
            "touchdown",
            guard=height - length,
            direction="down",
            when=1 - stance,
            reset={stance: 1},
            loss={"foot stopped": foot * velocity**2 / 2},
        ),
        # The body comes to the stop and takes the foot along: momentum stays, energy does not.
        Event(
            "liftoff",
            guard=height - length,
            direction="up",
            when=stance,
            reset={stance: 0, velocity: mass / (mass + foot) * velocity},
            loss={"foot jerked": mass * foot / (mass + foot) * velocity**2 / 2},
        ),
        Event("apex_reached", guard=velocity, direction="down", when=1 - stance, reset={apex: height}),
        Event("crashed", guard=height, direction="down", terminal=True),
    ),
    outputs={"ground": leg + stance * foot * g},  # [N]; the model holds while the ground pushes
    ledger=Ledger(
        stored={
            "kinetic": (mass + (1 - stance) * foot) * velocity**2 / 2,
            "gravity": mass * g * height + (1 - stance) * foot * g * (height - length),
            "spring": stance * stiffness * squeezed**2 / 2,
        },
        supplied={"motor": stance * thrust * velocity},
        dissipated={"damper": stance * damping * velocity**2},
    ),
    description="body on a spring leg with an unsprung foot and a motor",
)

# ---- the controller, as expressions ----

# It is a system of its own: what it sees comes in by inputs, what it commands is held in a discrete state.
# Its parameters of
# the machine are the same objects, so they stay one when the two are joined. An expression has no `if`:
# ca.if_else instead.
command = Discrete("command", 0.0, "N")
sees_height, sees_velocity, sees_stance = (
    Input("sees_height", 0.0, "m"),
    Input("sees_velocity", 0.0, "m/s"),
    Input("sees_stance"),
)
wanted = Param("wanted", WANTED, "m", bounds=(0, 10), description="apex to keep")
strongest = Param("strongest", STRONGEST, "N", bounds=(0, 1e5), description="force of the motor")

needed_speed = (1 + foot / mass) * ca.sqrt(2 * g * (wanted - length))  # before the foot is taken along
needed = mass * needed_speed**2 / 2 + mass * g * length
present = mass * sees_velocity**2 / 2 + mass * g * sees_height + stiffness * (length - sees_height) ** 2 / 2
push = (needed - present) / REACH + damping * sees_velocity
pushing = ca.logic_and(sees_stance > 0, sees_velocity > 0)
controller = System(
    "controller",
    z=(command,),
    u=(sees_height, sees_velocity, sees_stance),
    p=(mass, foot, length, stiffness, damping, g, wanted, strongest),
    samples=(
        Sample(
            "think", every=PERIOD, set={command: ca.if_else(pushing, ca.fmin(ca.fmax(push, 0), strongest), 0)}
        ),
    ),
)
hopper = strut.join(
    "hopper",
    machine,
    controller,
    connect={
        "thrust": "command",
        "sees_height": "height",
        "sees_velocity": "velocity",
        "sees_stance": "stance",
    },
)


# ---- the same controller, in Python ----


def keep_apex(now: strut.Moment) -> dict[str, float]:
    """The thrust [N] to hold until the next tick. It runs on the plain machine, which has an input for it."""
    if now["stance"] == 0 or now["velocity"] <= 0:
        return {"thrust": 0.0}
    m, h, v = now["mass"], now["height"], now["velocity"]
    speed = (1 + now["foot"] / m) * math.sqrt(2 * now["g"] * (WANTED - now["length"]))
    needed = m * speed**2 / 2 + m * now["g"] * now["length"]
    present = m * v**2 / 2 + m * now["g"] * h + now["stiffness"] * (now["length"] - h) ** 2 / 2
    return {"thrust": min(max((needed - present) / REACH + now["damping"] * v, 0.0), STRONGEST)}


def main(directory: str | Path = "demo/hopper") -> strut.Trajectory:
    directory = Path(directory)
    run = strut.simulate(hopper, t=8)
    times = np.linspace(0, 8, 801)
    print(run)

    tops = [top.before["height"] for top in run.events if top.name == "apex_reached"]
    print(f"apex [m]: {', '.join(f'{top:.4f}' for top in tops[:5])}, ... {tops[-1]:.4f}; wanted {WANTED}")
    print(
        f"on the ground {100 * run.at(times)['stance'].mean():.0f} % of the time, with up to "
        f"{run['ground'].max():.0f} N"
    )

    # The same law in Python moves the plain machine in the same way.
    in_python = strut.simulate(machine, t=8, control=Hold(keep_apex, every=PERIOD))
    apart = np.abs(run.at(times)["height"] - in_python.at(times)["height"]).max()
    print(
        f"controller in Python: {in_python.statistics['wall'] / run.statistics['wall']:.0f} times slower, "
        f"{apart:.1g} m apart"
    )

    print("energy over the run:")
    for where, joules in run.ledger.summary().items():
        print(
            f"  {where:28s} {joules:+10.4f} J" if where != "residual" else f"  {where:28s} {joules:10.0e} J"
        )

    # What does an unsprung kilogram cost? Many hoppers at once, each with its own foot, from the apex they
    # want. By hand: the
    # foot stops from the speed of the fall, and jerks the body from a speed 1 + foot / mass times as large.
    feet = np.linspace(0, 2, 201)
    many = strut.simulate_batch(hopper, t=8, x0={"height": WANTED}, p={"foot": feet}, ledger=True)
    cost = (
        many.lost["foot stopped"] / many.counts["touchdown"]
        + many.lost["foot jerked"] / many.counts["liftoff"]
    )
    print(f"{many} in {many.wall:.2f} s")
    for k in range(0, len(feet), 50):
        by_hand = feet[k] * run["g"] * (WANTED - run["length"]) * (2 + feet[k] / run["mass"])
        print(
            f"  a foot of {feet[k]:.1f} kg costs {cost[k]:7.4f} J a hop, by hand {by_hand:7.4f} J; apex "
            f"{many['apex'][k]:.5f} m"
        )

    # Keep the run, read it again, go on from where it ended.
    directory.mkdir(parents=True, exist_ok=True)
    loaded = strut.Trajectory.load(run.save(directory / "hopper.h5"), hopper)
    more = strut.simulate(hopper, t=(loaded.t1, 10), **loaded.end)
    print(f"saved, loaded, went on to {more.t1:g} s: apex {more['apex'][-1]:.4f} m")

    # The whole machine, controller included, as C for whatever has a compiler.
    written = strut.export(hopper, directory / "firmware")
    print(
        f"C in {written.directory}: one evaluation of the flow takes {written.operations['flow']} operations"
    )
    return run


if __name__ == "__main__":
    main(*sys.argv[1:2])
