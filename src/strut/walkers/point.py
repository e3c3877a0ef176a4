"""Duindam's walker in space reduced to what foot placement needs: a point mass on legs that weigh nothing."""

from __future__ import annotations

import casadi as ca

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
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
    place,
    rod,
    slope_floor,
    time,
)


@checked
def point_3d(**values: float) -> System:
    """A hip mass on two massless legs in space, a spherical inverted pendulum that pushes off when it changes
    legs (Duindam, section 5.4).

    The swing leg is where `swing_pitch` and `swing_roll` put it when it lands: how it comes there is not
    modelled. `pitch` and `roll` are those of the standing leg, of a right one: after every step the machine
    is seen in a mirror, so that a gait is one step. The push-off along the old leg (his 5.37) gives back what
    the impact of the new one takes, and `push_off_work` more [J].

    `turn` [rad] turns the line of walking after each step, towards the leg that stands next; all angles are
    those of the line. `foothold_x` counts along it, `foothold_y` is how far the foot is to its left, seen in
    the mirror; outputs `hip_x`, `hip_y` and `heading` are of the world.
    """
    length = Param("leg", 1.0, "m", bounds=(1e-3, 10), description="length of a leg")
    mass = Param("mass", 1.0, "kg", bounds=(1e-6, 1e3), description="at the hip")
    g = Param("g", 9.81, "m/s^2", bounds=(1e-6, 100), description="gravity")
    swing_pitch = Param(
        "swing_pitch", -0.3, "rad", bounds=(-1.2, 0), description="of the leg that lands; negative: in front"
    )
    swing_roll = Param(
        "swing_roll", 0.1, "rad", bounds=(-1.2, 1.2), description="of the leg that lands; positive: outwards"
    )
    work = Param("push_off_work", 0.0, "J", description="of each push-off, beyond what the impact takes")
    turn = Param("turn", 0.0, "rad", bounds=(-1.2, 1.2), description="of the line of walking, each step")
    pitch = State("pitch", -0.3, "rad", description="of the standing leg, forward positive")
    roll = State("roll", -0.1, "rad", description="of the standing leg, negative where it stands outwards")
    pitch_rate, roll_rate = State("pitch_rate", 2.0, "rad/s"), State("roll_rate", 0.09666, "rad/s")
    along = Discrete("foothold_x", 0.0, "m", description="of the standing foot, along the line of walking")
    sideways = State(
        "foothold_y", -ca.sin(swing_roll.sym) * length.sym, "m", description="to its left, mirrored"
    )
    side = Discrete("side", 1.0, description="1: the right leg stands; -1: the left one")
    heading = Discrete("heading", 0.0, "rad", description="of the line of walking")
    at_x, at_y = Discrete("stands_x", 0.0, "m"), Discrete("stands_y", -ca.sin(0.1), "m")
    stride, duration = Discrete("step_length", 0.0, "m"), Discrete("step_time", 0.0, "s")
    landed_at, steps = (Discrete(n, 0.0, u, internal=True) for n, u in (("landed_at", "s"), ("steps", "")))

    q, rates = ca.vertcat(pitch.sym, roll.sym), ca.vertcat(pitch_rate.sym, roll_rate.sym)
    leg, landing = _direction(q[0], q[1]), _direction(swing_pitch.sym, swing_roll.sym)
    velocity = length.sym * ca.jtimes(leg, q, rates)
    push, stopped = _push_off_and_impact(leg, landing, velocity, 2 * work.sym / mass.sym)
    after = velocity + push * leg - stopped * landing
    # in the mirror, and along the line as it turns
    turned = ca.vertcat(_in_frame(landing, turn.sym) * ca.DM([1, -1, 1]))
    moving = _in_frame(after, turn.sym) * ca.DM([1, -1, 1]) / length.sym
    new_pitch, new_roll = ca.atan2(turned[0], turned[2]), -ca.asin(turned[1])
    new_roll_rate = -moving[1] / ca.cos(new_roll)
    new_pitch_rate = (ca.cos(new_pitch) * moving[0] - ca.sin(new_pitch) * moving[2]) / ca.cos(new_roll)
    ahead = length.sym * (leg - landing)
    ahead_world = _to_world(ahead, heading.sym, side.sym)
    mirror_turn = side.sym * turn.sym

    hip = ca.vertcat(at_x.sym, at_y.sym, 0) + _to_world(length.sym * leg, heading.sym, side.sym)
    swinging = hip - _to_world(length.sym * _direction(-q[0], swing_roll.sym), heading.sym, side.sym)
    speed = _to_world(velocity, heading.sym, side.sym)
    kinetic = mass.sym * ca.sumsqr(velocity) / 2
    squared_rate = ca.sumsqr(velocity) / length.sym**2
    force = mass.sym * (g.sym * leg[2] - length.sym * squared_rate)
    return System(
        "point_3d",
        x=(pitch, roll, pitch_rate, roll_rate, sideways),
        z=(along, side, heading, at_x, at_y, stride, duration, landed_at, steps),
        p=(length, mass, g, swing_pitch, swing_roll, work, turn),
        flow={
            pitch: rates[0],
            roll: rates[1],
            pitch_rate: 2 * ca.tan(q[1]) * rates[0] * rates[1]
            + g.sym / length.sym * ca.sin(q[0]) / ca.cos(q[1]),
            roll_rate: -ca.sin(q[1]) * ca.cos(q[1]) * rates[0] ** 2
            + g.sym / length.sym * ca.cos(q[0]) * ca.sin(q[1]),
            sideways: 0.0,
        },
        events=(
            Event("midstance", guard=q[0], loss={}, description="the hip is over the foot"),
            Event(
                "landing",
                guard=landing[2] - leg[2],
                reset={
                    pitch: new_pitch,
                    roll: new_roll,
                    pitch_rate: new_pitch_rate,
                    roll_rate: new_roll_rate,
                    sideways: -(sideways.sym + ahead[1]),
                    along: along.sym + ahead[0],
                    side: -side.sym,
                    heading: heading.sym + mirror_turn,
                    at_x: at_x.sym + ahead_world[0],
                    at_y: at_y.sym + ahead_world[1],
                    stride: ahead[0],
                    duration: time - landed_at.sym,
                    landed_at: time,
                    steps: steps.sym + 1,
                },
                loss={
                    "impact": mass.sym * stopped**2 / 2,
                    "push_off": -mass.sym * push**2 / 2,
                },
                priority=1,
            ),
            *_failures(q, rates, leg, force),
        ),
        outputs={
            **{f"hip_{axis}": hip[k] for k, axis in enumerate("xyz")},
            **{f"hip_v{axis}": speed[k] for k, axis in enumerate("xyz")},
            "hip_sideways": sideways.sym + length.sym * leg[1],
            "hip_sideways_rate": velocity[1],
            "energy": kinetic + mass.sym * g.sym * hip[2],
            "push_off_speed": push,
            "clearance": length.sym * (leg[2] - landing[2]),
            "stance_force": force,
            "stance_normal": force * leg[2],
        },
        output_units={
            **{f"hip_{axis}": "m" for axis in "xyz"},
            **{f"hip_v{axis}": "m/s" for axis in "xyz"},
            **{"hip_sideways": "m", "hip_sideways_rate": "m/s", "energy": "J", "push_off_speed": "m/s"},
            **{"clearance": "m", "stance_force": "N", "stance_normal": "N"},
        },
        ledger=Ledger({"kinetic": kinetic, "gravity": mass.sym * g.sym * hip[2]}),
        scene=Scene(
            (
                rod("stance_leg", (at_x.sym, at_y.sym, 0), hip.elements(), 0.02 * length.sym),
                rod("swing_leg", swinging.elements(), hip.elements(), 0.015 * length.sym),
                ball("hip", hip.elements(), 0.08 * length.sym),
            ),
            floor=slope_floor(0),
            planar=False,
            com=hip,
            feet={"stance_foot": place((at_x.sym, at_y.sym, 0)), "swing_foot": swinging},
            swaps={"stance_leg": "swing_leg"},
        ),
        walk=Walk(
            section="landing",
            feet=(
                Foot(name="stance", normal="stance_normal"),
                Foot(name="swing", lands="landing"),
            ),
            progress=("foothold_x",),
            step_length="step_length",
            weight=mass * g,
            gravity="gravity",
            kinetic="kinetic",
        ),
        scales=("mass", "leg", "g"),
        description=SYSTEM_DESCRIPTIONS["point-3d"],
    ).using(values)


def _push_off_and_impact(leg: ca.SX, landing: ca.SX, velocity: ca.SX, gained: ca.SX) -> tuple[ca.SX, ca.SX]:
    """What the hip's speed changes by along the old leg before the landing, and what the new one stops [m/s]
    (his 5.37). leg, landing: directions. gained: twice the work beyond what the impact takes, by mass."""
    toward, between = ca.dot(landing, velocity), ca.dot(leg, landing)
    root = ca.sqrt(ca.fmax(0, toward**2 + (1 - between**2) * gained))
    push = -ca.sign(toward) * (toward**2 + gained) / (root + ca.fabs(toward) * between)
    return push, toward + between * push


def _failures(q: ca.SX, rates: ca.SX, leg: ca.SX, force: ca.SX) -> tuple[Event, ...]:
    """The events that end a walk. q, rates: pitch and roll; leg: its direction; force: along it [N]."""
    return (
        Event(
            "fall",
            guard=0.5 - leg[2],
            terminal=True,
            failure=True,
            priority=2,
            description="it fell: the hip is lower than half a leg",
        ),
        Event(
            "fell_back",
            guard=ca.if_else(q[0] < 0, -rates[0], -1),
            terminal=True,
            failure=True,
            priority=2,
            description="it fell back: it was too slow to get over its foot",
        ),
        Event(
            "take_off",
            guard=-force,
            terminal=True,
            failure=True,
            priority=3,
            description="the foot would pull at the ground: it is too fast to walk",
        ),
    )


def _direction(pitch: ca.SX, roll: ca.SX) -> ca.SX:
    """The direction of a leg from its foot to the hip: e(a, b) = (sin a cos b, -sin b, cos a cos b)."""
    return ca.vertcat(ca.sin(pitch) * ca.cos(roll), -ca.sin(roll), ca.cos(pitch) * ca.cos(roll))


def _in_frame(vector: ca.SX, angle: ca.SX) -> ca.SX:
    """A vector seen from a frame that is turned about the vertical by an angle [rad]."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], vector[2])


def _to_world(vector: ca.SX, heading: ca.SX, side: ca.SX) -> ca.SX:
    """A vector of the line of walking, seen in the mirror when the left leg stands, in the world."""
    return _in_frame(ca.vertcat(vector[0], side * vector[1], vector[2]), -heading)
