"""Duindam's port-based curve tracking: a puck on a circle, and a compass that steps down further."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.control import curve_of, fitted_field, nearest_point_field, port_tracking, track
from strut.gait import Gait, find
from strut.simulate import simulate
from strut.studies.study import Row, Study
from strut.system import Event, Input, Ledger, Param, State, System, sx
from strut.walkers import compass_driven

ANGLES = ("stance", "swing")
"""The coordinates of the compass."""
BETWEEN_LEGS = np.array([[1.0, 0.0], [-1.0, 1.0]])
"""The matrix that measures the swing leg from the standing one, as he does."""
PULL, FITTED_PULL = 3.0, 4.0
"""[1/rad] How strongly the fields, of nearest points and fitted, lead to the curve; not published."""
TRANSFER, ENERGY_GAIN = 0.1, 1.0
"""[s/(rad kg^.5 m), 1/rad] His a_0 and K_p."""
HEIGHTS = np.arange(0.0, 0.1525, 0.0025)
"""[m] Steps down that are tried."""
WATCHED_TIME = 12.0
"""[s] How long it must walk after a step down: about 15 steps."""
STEP_ACCURACY = 1e-8
"""[1] Relative accuracy of runs that ask only whether a machine falls."""


def puck_on_circle() -> System:
    """Return a puck that is led around the origin (his examples 5.2 and 5.4)."""
    mass = Param("mass", 1.0, "kg")
    x, y = State("x", 1.0, "m"), State("y", 0.3, "m")
    vx, vy = State("vx", 0.5, "m/s"), State("vy", 1.0, "m/s")
    fx, fy = Input("x_force", 0.0, "N"), Input("y_force", 0.0, "N")
    puck = System(
        "puck",
        x=(x, y, vx, vy),
        u=(fx, fy),
        p=(mass,),
        flow={x: vx, y: vy, vx: fx / mass, vy: fy / mass},
        ledger=Ledger({"kinetic": mass * (vx**2 + vy**2) / 2}, {"x_force": fx * vx, "y_force": fy * vy}),
    )
    return port_tracking(puck, lambda q: ca.vertcat(-q[1], q[0]), transfer=1.0)


def tracked_compass(passive: Gait, *, fitted: bool = False) -> System:
    """Return the compass that follows the curve of its passive gait at its energy."""
    curve = curve_of(passive, ANGLES)
    field = (
        fitted_field(curve, pull=FITTED_PULL, measure=BETWEEN_LEGS)
        if fitted
        else nearest_point_field(curve, pull=PULL, measure=BETWEEN_LEGS)
    )
    return port_tracking(
        passive.system, field, transfer=TRANSFER, energy=energy_of(passive), energy_gain=ENERGY_GAIN
    )


def energy_of(passive: Gait) -> float:
    """Return the energy of a gait [J], counted from its standing foot: the same all through a step."""
    stored = simulate(passive.system, t=1e-3, x0=passive.x0).ledger.stored
    return float(sum(entry[0] for entry in stored.values()))


def release_acceleration(walker: System) -> ca.SX:
    """Return the acceleration [m/s^2], away from the slope, that the standing foot of a compass would have if
    nothing held it (3.55): he lets it go where this is positive."""
    length, mass, hip_mass, g = (walker[n] for n in ("leg_length", "leg_mass", "hip_mass", "g"))
    place, rate = ca.SX.sym("place", 4), ca.SX.sym("rate", 4)
    stance, swing = place[2], place[3]
    foot = place[:2]
    leg = ca.vertcat(-ca.sin(stance), ca.cos(stance))
    hip = foot + length * leg
    middles = (foot + length / 2 * leg, hip + length / 2 * ca.vertcat(ca.sin(swing), -ca.cos(swing)))
    bodies = ((hip_mass, hip), *((mass, middle) for middle in middles))
    kinetic = sum((m * ca.sumsqr(ca.jtimes(r, place, rate)) / 2 for m, r in bodies), ca.SX(0))
    potential = sum((m * g * r[1] for m, r in bodies), ca.SX(0))
    M = ca.hessian(kinetic, rate)[0]
    momentum = M @ rate
    hip_torque, ankle_torque = (_torque(walker, name) for name in ("hip_torque", "ankle_torque"))
    torques = ca.vertcat(0, 0, ankle_torque - hip_torque, hip_torque)
    forces = torques + ca.gradient(kinetic - potential, place) - ca.jtimes(momentum, place, rate)
    away = ca.vertcat(ca.sin(walker["slope"]), ca.cos(walker["slope"]), 0, 0)
    acceleration = ca.dot(away, ca.solve(M, forces))
    own = ca.vertcat(0, 0, *[walker[n] for n in ANGLES])
    own_rates = ca.vertcat(0, 0, *[walker[f"{n}_rate"] for n in ANGLES])
    return sx(ca.substitute([acceleration], [place, rate], [own, own_rates])[0])


def _torque(walker: System, name: str) -> ca.SX:
    """Return a torque of a compass with or without control."""
    if name in walker.outputs or name in walker.labels("u"):
        return sx(walker[name])
    return sx(walker[f"{name}_planned"]) + sx(walker[f"{name}_feedback"])


def with_his_release(loop: System) -> System:
    """Return a compass whose run ends where his rule would let the standing foot go."""
    rule = Event(
        "released",
        release_acceleration(loop),
        terminal=True,
        failure=True,
        priority=4,
        description="nothing holds the standing foot: it would accelerate away from the ground",
    )
    return loop.replace(events=(*loop.events, rule))


def step_downs(loop: System, begin: Gait) -> tuple[float, str]:
    """Return the largest step down [m] that is survived with all smaller ones, and what ends the next."""
    largest = 0.0
    for height in HEIGHTS:
        z0 = {**begin.z0, "foothold_z": begin.z0["foothold_z"] + height}
        run = simulate(loop, t=WATCHED_TIME, x0=begin.x0, z0=z0, rtol=STEP_ACCURACY)
        if run.status != "done":
            return largest, run.status
        largest = float(height)
    return largest, "more was not tried"


def rows() -> list[Row]:
    """Compare energies, steps down and torques with what Duindam says of them."""
    table = _puck_rows()
    walker = compass_driven()
    passive = find(walker)
    table.append(
        _step_row(
            "without control",
            "2",
            walker,
            passive,
            "he sees it fall at 5 cm; some steps of 2 cm are survived beyond the first that is not",
        )
    )
    loop = tracked_compass(passive)
    nominal = simulate(loop, t=8.0, x0=passive.x0)
    torques = ", ".join(f"{np.abs(nominal[n]).max():.2f}" for n in ("ankle_torque", "hip_torque"))
    supplied = nominal.ledger.supplied
    table.append(Row("largest torques of the nominal walk, ankle and hip [N m]", "-", torques))
    powers = ", ".join(f"{float(np.abs(supplied[n]).max()):.0e}" for n in ("nominal", "transfer"))
    table.append(
        Row(
            "energy that the power-continuous terms supply in 8 s, at most [J]",
            "0",
            powers,
            f"potential {supplied['potential'][-1]:+.2f} J, energy {supplied['energy'][-1]:+.2f} J",
        )
    )
    laws = [
        ("curve tracking, his gains", "11, tuned", loop, f"nearest point, pull {PULL:g}/rad"),
        ("curve tracking, a_0 0.3", "-", loop.using(transfer_gain=0.3), ""),
        ("curve tracking, a_0 1", "-", loop.using(transfer_gain=1.0), ""),
        (
            "curve tracking, fitted polynomial",
            "11, tuned",
            tracked_compass(passive, fitted=True),
            "15 coefficients",
        ),
    ]
    for stiffness, damping in ((30.0, 3.0), (100.0, 10.0), (100.0, 30.0)):
        pd_loop = track(passive, stiffness, damping, index="time")
        laws.append(
            (f"PD in time, {stiffness:g} N m/rad, {damping:g} N m s/rad", "falls at 5", pd_loop.system, "")
        )
    for label, published, machine, remark in laws:
        table.append(_step_row(label, published, machine, passive, remark))
        released = with_his_release(machine)
        table.append(_step_row(f"{label}, his rule of release", published, released, passive))
    return table


def _puck_rows() -> list[Row]:
    """Return what is said of the puck on a circle."""
    run = simulate(puck_on_circle(), t=100.0, rtol=1e-14, atol=1e-16)
    kinetic = run.ledger.stored["kinetic"]
    radius = np.hypot(run["x"], run["y"])
    late = radius[run.t > 50]
    return [
        Row(
            "puck on a circle: largest change of its kinetic energy over 100 s, relative",
            "0",
            f"{np.abs(kinetic / kinetic[0] - 1).max():.1e}",
            "the law's power is zero by its form; what is left is from integrating: order 8, rtol 1e-14",
        ),
        Row(
            "its radius: begins at, ends at [m], and changes after 50 s by",
            "converges to a circle",
            f"{radius[0]:.4f}, {radius[-1]:.4f}, {np.ptp(late):.0e}",
        ),
    ]


def _step_row(label: str, published: str, machine: System, passive: Gait, remark: str = "") -> Row:
    """Return the row of a largest step down."""
    largest, ending = step_downs(machine, passive)
    return Row(f"largest step down [cm], {label}", published, f"{100 * largest:.2f}, then {ending}", remark)


STUDY = Study(
    "duindam-tracking",
    "Port-based modeling and control for efficient bipedal walking robots, section 5.2",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
