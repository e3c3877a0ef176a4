"""A hopper in the coordinates that suit each phase: its leg, by length and angle, while it stands; its mass,
by place and height, while it flies. Two systems that take turns, each with states of its own.

Run it: python examples/polar_hopper.py
"""

import math
from typing import Any

import casadi as ca
import numpy as np

import strut
from strut import Discrete, Event, Input, Ledger, Param, State, Switch, System, Walk, gait, optimal

MASS, LENGTH = Param("mass", 80.0, "kg"), Param("length", 1.0, "m", description="of the leg at rest")
STIFFNESS = Param("stiffness", 20e3, "N/m")
ATTACK = Param("attack", math.radians(68), "rad", description="angle of the leg from the ground at landing")
G = Param("g", 9.81, "m/s^2")


def flight() -> System:
    """The mass in the air: a throw. It ends where the leg, held at the angle of attack, meets the ground."""
    x, y = State("x", 0.0, "m"), State("y", 1.0, "m")
    vx, vy = State("vx", 5.0, "m/s"), State("vy", 0.0, "m/s")
    return System(
        "flight",
        x=(x, y, vx, vy),
        p=(MASS, LENGTH, ATTACK, G),
        flow={x: vx, y: vy, vx: 0.0, vy: -G},
        events=(Event("touchdown", LENGTH * ca.sin(ATTACK) - y),),
        outputs={"mass_x": x, "mass_y": y},
        ledger=Ledger(stored={"kinetic": MASS * (vx**2 + vy**2) / 2, "gravity": MASS * G * y}),
    )


def stance() -> System:
    """The mass on its spring, about a foot that holds. push: a force along the leg."""
    leg, angle = State("leg", 1.0, "m"), State("angle", 1.2, "rad", description="from the ground in front")
    leg_rate, angle_rate = State("leg_rate", 0.0, "m/s"), State("angle_rate", 0.0, "rad/s")
    foot, push = Discrete("foot", 0.0, "m"), Input("push", 0.0, "N")
    force = STIFFNESS * (LENGTH - leg) + push
    return System(
        "stance",
        x=(leg, angle, leg_rate, angle_rate),
        z=(foot,),
        u=(push,),
        p=(MASS, LENGTH, STIFFNESS, G),
        flow={
            leg: leg_rate,
            angle: angle_rate,
            leg_rate: leg * angle_rate**2 - G * ca.sin(angle) + force / MASS,
            angle_rate: -(2 * leg_rate * angle_rate + G * ca.cos(angle)) / leg,
        },
        events=(Event("takeoff", leg - LENGTH),),
        outputs={"mass_x": foot - leg * ca.cos(angle), "mass_y": leg * ca.sin(angle)},
        ledger=Ledger(
            stored={
                "kinetic": MASS * (leg_rate**2 + (leg * angle_rate) ** 2) / 2,
                "gravity": MASS * G * leg * ca.sin(angle),
                "spring": STIFFNESS * (LENGTH - leg) ** 2 / 2,
            },
            supplied={"push": push * leg_rate},
        ),
    )


def hopper() -> System:
    """Return both, taking turns: each event says where the states of the other begin."""
    air, ground = flight(), stance()
    x, vx, vy = air["x"], air["vx"], air["vy"]
    leg, angle, leg_rate, angle_rate = (ground[n] for n in ("leg", "angle", "leg_rate", "angle_rate"))
    attack = ATTACK.sym
    lands = {
        "leg": LENGTH,
        "angle": ATTACK,
        "leg_rate": vy * ca.sin(attack) - vx * ca.cos(attack),
        "angle_rate": (vx * ca.sin(attack) + vy * ca.cos(attack)) / LENGTH,
        "foot": x + LENGTH * ca.cos(attack),
    }
    leaves = {
        "x": ground["foot"] - leg * ca.cos(angle),
        "y": leg * ca.sin(angle),
        "vx": leg * angle_rate * ca.sin(angle) - leg_rate * ca.cos(angle),
        "vy": leg * angle_rate * ca.cos(angle) + leg_rate * ca.sin(angle),
    }
    whole = strut.alternate(
        "polar_hopper",
        air,
        ground,
        switches={"touchdown": Switch("stance", lands), "takeoff": Switch("flight", leaves)},
    )
    walk = Walk(section="takeoff", progress=("x",), weight=MASS * G, gravity="gravity", kinetic="kinetic")
    return whole.replace(walk=walk)


def higher_hop(hop: System, rise: float, **options: Any) -> optimal.Solution:
    """Return the hop from a height of 1 m at 5 m/s to one higher by `rise` [m], as fast, with the least push.

    Three phases: down, on the ground, up. While it flies, nothing pushes. options: of the solver."""
    effort = optimal.Integral("effort", hop["push"] ** 2 / 1e6)
    problem = (
        optimal.Problem(hop)
        .phase("down", until="touchdown", part="flight")
        .phase("ground", until="takeoff", part="stance")
        .phase("up", part="flight", duration=(0.05, 1.0))  # it ends by time, at the highest point
        .begin(x=0.0, y=1.0, vx=5.0, vy=0.0)
        .end(y=1.0 + rise, vx=5.0, vy=0.0)
        .free(attack=(1.0, 1.4))
        .minimise(effort)
    )
    return problem.solve(strut.simulate(hop, 0.4), intervals=8, **options)


def settled_gait(hop: System) -> gait.Gait:
    """Return the gait that the hopper comes to by itself."""
    leaves = [event.after for event in strut.simulate(hop, 3.0).events if event.name == "takeoff"]
    return gait.find(hop, {name: leaves[-1][name] for name in hop.labels("x")})


def main() -> optimal.Solution:
    """Print and return the hop to a height of 1.05 m; print the gait of the hopper without a push."""
    hop = hopper()
    higher = higher_hop(hop, 0.05)
    angle = math.degrees(higher.parameters["attack"])
    print(f"5 cm higher: {higher.status}, cost {higher.cost:.6f}, landing at {angle:.2f} deg")
    passive = settled_gait(hop)
    print(f"without a push: {passive.speed:.4f} m/s, multipliers {np.abs(passive.multipliers[:2]).round(4)}")
    return higher


if __name__ == "__main__":
    main()
