"""Garcia's simplest walker: the compass gait in the limit of legs without mass."""

from __future__ import annotations

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.contact.arming import Swing
from strut.contact.fall import foot_pulls, hip_falls
from strut.system import (
    Discrete,
    Event,
    Foot,
    Ledger,
    Param,
    Scene,
    State,
    System,
    Walk,
    ball,
    hinge,
    place,
    rod,
    slope_floor,
    time,
)


@checked
def simplest(**values: float) -> System:
    """A mass at the hip, legs that weigh nothing but swing as if they did, point feet.

    Angles are those of the slope: `stance` from its normal, positive where the hip is behind the foot; `hip`
    from the stance leg to the swing leg. Legs may pass through the ground in mid-swing, as always in this
    model: the swing foot can land only after it has been in front and above the ground.
    """
    leg = Param("leg", 1.0, "m", bounds=(1e-3, 10), description="length of a leg")
    mass = Param("mass", 1.0, "kg", bounds=(1e-6, 1e3), description="at the hip")
    g = Param("g", 1.0, "m/s^2", bounds=(1e-6, 100), description="gravity")
    slope = Param("slope", 0.009, "rad", bounds=(0, 0.5), description="of the ground, positive downhill")
    theta = State("stance", 0.20031090054425, "rad")
    phi = State("hip", 2 * theta.value, "rad")
    rate = State("stance_rate", -0.19983247300495, "rad/s")
    hip_rate = State("hip_rate", -0.19983247300495 * (1 - _cos(2 * 0.20031090054425)), "rad/s")
    x, z = (Discrete(f"foothold_{axis}", 0.0, "m", internal=True) for axis in "xz")
    length, duration, struck = (
        Discrete("step_length", 0.0, "m", internal=True),
        Discrete("step_time", 0.0, "s", internal=True),
        Discrete("struck_at", 0.0, "s", internal=True),
    )
    pull = g.sym / leg.sym
    s, c = ca.sin(theta.sym - slope.sym), ca.cos(theta.sym - slope.sym)
    swing = ca.sin(phi.sym) * (rate.sym**2 - pull * c) + pull * s
    gap = leg.sym * (ca.cos(theta.sym) - ca.cos(theta.sym - phi.sym))
    ahead = leg.sym * (ca.sin(theta.sym - phi.sym) - ca.sin(theta.sym))
    swinging, steps = Swing(gap, ahead - 0.02 * leg.sym, lambda e: e), Discrete("steps", 0.0, internal=True)
    hip_x, hip_z = x.sym - leg.sym * s, z.sym + leg.sym * c
    hip, turned = (hip_x, hip_z), theta.sym - phi.sym - slope.sym
    feet = (x.sym, z.sym), (hip_x + leg.sym * ca.sin(turned), hip_z - leg.sym * ca.cos(turned))
    forward, up = ca.cos(slope.sym), -ca.sin(slope.sym)
    turn = ca.cos(2 * theta.sym)
    strike = {
        theta.name: -theta.sym,
        phi.name: -2 * theta.sym,
        rate.name: turn * rate.sym,
        hip_rate.name: turn * (1 - turn) * rate.sym,
        x.name: x.sym + forward * ahead,
        z.name: z.sym + up * ahead,
        **swinging.flags_after_landing(),
        steps.name: steps.sym + 1,
        length.name: ahead,
        duration.name: time - struck.sym,
        struck.name: time,
    }
    kinetic = mass.sym * (leg.sym * rate.sym) ** 2 / 2
    normal = mass.sym * (
        g.sym * ca.cos(slope.sym) - leg.sym * (pull * s * ca.sin(theta.sym) + rate.sym**2 * ca.cos(theta.sym))
    )
    low = 0.75 * leg.sym - leg.sym * ca.cos(theta.sym)
    return System(
        "simplest",
        x=(theta, phi, rate, hip_rate),
        z=(x, z, *swinging.discrete, steps, length, duration, struck),
        p=(leg, mass, g, slope),
        flow={theta: rate.sym, phi: hip_rate.sym, rate: pull * s, hip_rate: swing},
        events=(
            *swinging.events(),
            Event("heel_strike", guard=-gap, when=swinging.armed.sym, reset=strike, priority=1),
            *hip_falls(low, forward=theta.sym < 0, back=theta.sym >= 0),
            foot_pulls(normal),
        ),
        outputs={
            "hip_x": hip_x,
            "hip_z": hip_z,
            "stance_foot_x": x.sym,
            "stance_foot_z": z.sym,
            "swing_foot_x": feet[1][0],
            "swing_foot_z": feet[1][1],
            "com_x": hip_x,
            "com_z": hip_z,
            "clearance": gap,
            "speed": ca.if_else(duration.sym > 0, length.sym / ca.fmax(duration.sym, 1e-12), 0),
            "stance_normal": normal,
        },
        output_units={
            **{
                f"{point}_{axis}": "m"
                for point in ("hip", "stance_foot", "swing_foot", "com")
                for axis in "xz"
            },
            **{"clearance": "m", "speed": "m/s", "stance_normal": "N"},
        },
        ledger=Ledger({"kinetic": kinetic, "gravity": mass.sym * g.sym * hip_z}),
        scene=Scene(
            (
                rod("stance_leg", feet[0], hip, 0.02 * leg.sym),
                rod("swing_leg", feet[1], hip, 0.02 * leg.sym),
                ball("hip", hip, 0.08 * leg.sym),
            ),
            floor=slope_floor(slope),
            hinges=(hinge("hip", hip),),
            com=place(hip),
            feet={"stance_foot": place(feet[0]), "swing_foot": place(feet[1])},
            points={n: (f"{n}_x", f"{n}_z") for n in ("hip", "stance_foot", "swing_foot", "com")},
            swaps={"stance_leg": "swing_leg"},
        ),
        walk=Walk(
            section="heel_strike",
            feet=(
                Foot(name="stance", normal="stance_normal"),
                Foot(name="swing", lands="heel_strike", gap="clearance", passes="passes", clears="clear"),
            ),
            progress=("foothold_x", "foothold_z"),
            step_length="step_length",
            slope="slope",
            lift="foothold_z",
            weight=mass * g,
            gravity="gravity",
            kinetic="kinetic",
        ),
        scales=("mass", "leg", "g"),
        description=SYSTEM_DESCRIPTIONS["simplest"],
    ).using(values)


def _cos(angle: float) -> float:
    """The cosine of a number."""
    return float(ca.cos(angle))
