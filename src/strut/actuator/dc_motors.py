"""Motors that are driven by voltage, in the place of torques: winding, gear, friction, rotor and, where
the gear or a spring gives way, a motor's angle of its own.

    J motor_rate' = ratio k i - ratio^2 b motor_rate - friction - spring          J = ratio^2 (rotor + gear)
    L i' = voltage - R i - ratio k motor_rate                                     or i from this with L = 0
    joint torque  = spring - link_damping rate       spring = K (motor - angle) + D (motor_rate - rate)

Everything is behind the gear, at the joint (Dallali et al., equations 3 to 5, where D and V_T absorb the
winding). The damping of the link acts on the link; the paper prints it on both sides, which is an option.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca

from strut.actuator.drives import Drive, drives
from strut.actuator.exchange import Places, after_event, after_mirroring, motor_images
from strut.actuator.motor import DcMotor, motor_named
from strut.actuator.motor_parameters import MotorOptions, joint_inertia, motor_parameters
from strut.actuator.reflected import torques_behind_rotors
from strut.actuator.series import SeriesElement, join_springs
from strut.actuator.stiction import Stiction, smooth_friction
from strut.actuator.winding import Winding
from strut.checks import checked
from strut.errors import ModelError
from strut.system import Event, Input, Ledger, Param, System, join, sx
from strut.units import LIMIT_FLAG


@checked
def dc_motors(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    motor: DcMotor | str,
    of: Sequence[str] | None = None,
    *,
    spring: float = math.inf,
    spring_damping: float = 0.0,
    link_damping: float = 0.0,
    printed_damping: bool = False,
    current: str = "absorbed",
    smooth: bool = False,
    armature: bool = False,
) -> System:
    """The system with a motor, driven by voltage, at each of its drives. of: names of drives, else all.

    motor: a `DcMotor`, or the name of one in `MOTORS`.
    spring: between gear and joint [N m/rad], in series with the gear's own stiffness; infinite for none.
    spring_damping: of spring and gear together [N m s/rad]. link_damping: of the joint [N m s/rad].
    printed_damping: the damping of the joint acts on the motor, too, as Dallali et al. print it.
    current: 'absorbed', or 'state' for the winding's inductance.
    smooth: for plans and fixed steps: dry friction is a smooth law without events, which creeps where it
        should hold, and nothing is clipped. Limits of the driver then hold in plans alone: that of the
        voltage always, that of the current where it is a state, or where it is required.
    armature: of a rigid gear: the joint carries the rotor's inertia already.

    An input HIP_torque becomes HIP_voltage, and HIP_torque an output, what the joint gets. Elastic drives
    have states HIP_motor and HIP_motor_rate, and an output HIP_motor_torque. Each number of the motor is a
    parameter, HIP_gear_ratio and so on, one for both sides of a joint: a design may find it. The account of
    energy has HIP_electrical (supplied), HIP_copper, HIP_viscous and HIP_friction (dissipated), the spring
    and its damper; HIP_power is an output, the mechanical power that the joint gets [W]. Where the driver has
    limits, HIP_applied_voltage is what it gives [V], and HIP_driver_at_limit is 1 while a limit decides; a
    run says for how long.
    """
    if not isinstance(motor, DcMotor):
        motor = motor_named(motor)
    options = MotorOptions(spring, spring_damping, link_damping, printed_damping, current, smooth)
    options.check(motor)
    chosen = drives(system, of)
    if not chosen:
        raise ModelError(f"'{system.name}' has no drives: there is nothing to put motors to")
    params = motor_parameters(system, chosen, motor, options)
    elastic = math.isfinite(motor.gear_stiffness) or math.isfinite(spring)
    if elastic:
        sprung = join_springs(system, chosen, [_series_element(p, printed=printed_damping) for p in params])
        motor_drives = drives(sprung, [d.motor().name for d in chosen])
    else:
        sprung, motor_drives = system, chosen
    motors = [
        _Motor(sprung, joint, at, p, with_inductance=current == "state", limits=motor, smooth=smooth)
        for joint, at, p in zip(chosen, motor_drives, params, strict=True)
    ]
    # what motors give to the joints: less what a rigid gear's rotor takes, and less what the link drags
    torques = [m.torque for m in motors]
    if not elastic and not armature:
        torques = torques_behind_rotors(sprung, motor_drives, torques, [joint_inertia(p) for p in params])
    drags = [
        p["link_damping"].sym * d.rate if "link_damping" in p and not elastic else None
        for d, p in zip(chosen, params, strict=True)
    ]
    torques = [t if drag is None else t - drag for t, drag in zip(torques, drags, strict=True)]
    driven = _join_motors(sprung, motors, torques, params)
    # the books, the events and the mirror image follow
    book = _books(driven.ledger, motors, params, rotors=not elastic and not armature)
    for d, drag in zip(chosen, drags, strict=True):
        if drag is not None:
            book = replace(book, dissipated={**book.dissipated, f"{d.name}_link_damper": drag * d.rate})
    described = f"{system.description}; motors driven by voltage".removeprefix("; ")
    exchanged = after_mirroring(system, chosen) if system.symmetry else []
    powers = {f"{d.name}_power": driven[d.input.name] * d.rate for d in chosen}
    turning = {m.stiction.turning.name: m.stiction.initial_state() for m in motors if m.stiction is not None}
    return driven.replace(
        ledger=book,
        z=tuple(turning.get(q.name, q) for q in driven.z),
        flow=_frozen_flow(driven, motors),
        events=(*_events(system, chosen, driven, motors), *_stiction_events(motors, params)),
        symmetry={
            **driven.symmetry,
            **(_exchange(motors, exchanged) if exchanged else {}),
            **motor_images(system, chosen, [m.voltage for m in motors]),
        },
        outputs={**driven.outputs, **powers},
        output_units={**_units(driven, motors), **dict.fromkeys(powers, "W")},
        description=described,
    )


def _series_element(params: Mapping[str, Param], *, printed: bool) -> SeriesElement:
    """Gear and spring in series, with the rotor before them."""
    stiffnesses = [params[key].sym for key in ("series_spring", "gear_stiffness") if key in params]
    one = stiffnesses[0]
    stiffness = one if len(stiffnesses) == 1 else one * stiffnesses[1] / (one + stiffnesses[1])
    used = (
        "series_spring",
        "gear_stiffness",
        "series_damping",
        "link_damping",
        "gear_ratio",
        "rotor_inertia",
    )
    return SeriesElement(
        stiffness=stiffness,
        damping=params["series_damping"].sym,
        inertia=joint_inertia(params),
        params=tuple(params[key] for key in used if key in params),
        link_damping=params["link_damping"].sym if "link_damping" in params else None,
        printed=printed,
    )


class _Motor:
    """One motor: its voltage, its winding and its friction. torque: what it gives, behind its gear."""

    def __init__(
        self,
        system: System,
        joint: Drive,
        at: Drive,
        params: Mapping[str, Param],
        *,
        with_inductance: bool,
        limits: DcMotor,
        smooth: bool,
    ) -> None:
        self.name, self.at = joint.name, at
        self.voltage = Input(
            f"{joint.name}_voltage",
            0.0,
            "V",
            description="at the motor's driver",
            limits=(-limits.voltage_limit, limits.voltage_limit),
        )
        self.winding = Winding(
            joint.name,
            at.rate,
            params,
            self.voltage,
            with_inductance=with_inductance,
            current_limit=limits.current_limit,
        )
        ratio = params["gear_ratio"].sym
        self.viscous = ratio**2 * params["viscous"].sym * at.rate
        torque = self.winding.torque - self.viscous
        self.stiction: Stiction | None = None
        self.friction: ca.SX | None = None
        if "coulomb" in params and not smooth:
            self.stiction = Stiction(
                system,
                at,
                name=joint.name,
                torque=torque,
                coulomb=ratio * params["coulomb"].sym,
                breakaway=ratio * params["stiction"].sym,
            )
            self.friction = self.stiction.torque
        elif "coulomb" in params:
            self.friction = smooth_friction(ratio * params["coulomb"].sym, at.rate)
        self.torque = torque if self.friction is None else torque - self.friction


def _join_motors(
    system: System,
    motors: Sequence[_Motor],
    torques: Sequence[ca.SX],
    params: Sequence[Mapping[str, Param]],
) -> System:
    """Return the system with windings and voltages in the place of torques; these stay as outputs."""
    names = {q.name for q in system.p}
    currents = {s: rate for m in motors for s, rate in m.winding.rates.items()}
    part = System(
        "windings",
        x=tuple(currents),
        z=tuple(m.stiction.turning for m in motors if m.stiction is not None),
        u=tuple(m.voltage for m in motors),
        p=tuple(dict.fromkeys(q for each in params for q in each.values() if q.name not in names)),
        flow=dict.fromkeys(currents, 0.0),
    )
    joint_torques = {m.at.input.name: torque for m, torque in zip(motors, torques, strict=True)}
    observables = {f"{m.name}_current": m.winding.current for m in motors if m.winding.state is None}
    observables |= {f"{m.name}_friction": m.friction for m in motors if m.friction is not None}
    for m in motors:
        if m.winding.limit_flag is not None:
            observables[f"{m.name}_applied_voltage"] = m.winding.terminal
            observables[f"{m.name}_driver_at_limit"] = m.winding.limit_flag
    return join(
        system.name,
        system,
        part,
        connect=joint_torques,
        couplings={state.name: rate for state, rate in currents.items()},
        outputs={**joint_torques, **observables},
    )


def _units(whole: System, motors: Sequence[_Motor]) -> dict[str, str]:
    """The units of the outputs that motors add."""
    units = dict(whole.output_units) | {m.at.input.name: m.at.input.unit for m in motors}
    units |= {f"{m.name}_friction": m.at.input.unit for m in motors if m.friction is not None}
    limited = [m.name for m in motors if m.winding.limit_flag is not None]
    units |= {f"{name}_applied_voltage": "V" for name in limited}
    units |= {f"{name}_driver_at_limit": LIMIT_FLAG for name in limited}
    return units | {f"{m.name}_current": "A" for m in motors if m.winding.state is None}


def _books(
    ledger: Ledger, motors: Sequence[_Motor], params: Sequence[Mapping[str, Param]], *, rotors: bool
) -> Ledger:
    """What was supplied as a torque's power is supplied as voltage times current, less what winding and
    friction take. rotors: the joints carry rotors, whose energy is kinetic."""
    stored, supplied, dissipated = dict(ledger.stored), dict(ledger.supplied), dict(ledger.dissipated)
    electrical = list(ledger.electrical)
    for m, p in zip(motors, params, strict=True):
        del supplied[m.at.power]
        electrical.append(f"{m.name}_electrical")
        supplied[electrical[-1]] = m.winding.supplied
        dissipated[f"{m.name}_copper"] = m.winding.copper_loss
        dissipated[f"{m.name}_viscous"] = m.viscous * m.at.rate
        if m.friction is not None:
            dissipated[f"{m.name}_friction"] = m.friction * m.at.rate
        if m.winding.stored is not None:
            stored[f"{m.name}_inductance"] = m.winding.stored
        if rotors:
            stored["kinetic"] = stored.get("kinetic", ca.SX(0)) + joint_inertia(p) * m.at.rate**2 / 2
    return Ledger(stored, supplied, dissipated, electrical=tuple(electrical))


def _frozen_flow(whole: System, motors: Sequence[_Motor]) -> dict[str, Any]:
    """The flow, in which motors that are stuck do not turn."""
    flow = dict(whole.flow)
    for m in motors:
        if m.stiction is not None:
            name = m.stiction.rate_state.name
            flow[name] = m.stiction.freeze(sx(flow[name]))
    return flow


def _stiction_events(motors: Sequence[_Motor], params: Sequence[Mapping[str, Param]]) -> list[Event]:
    """Return the events of motors: breaking away and sticking."""
    return [
        event
        for m, p in zip(motors, params, strict=True)
        if m.stiction is not None
        for event in m.stiction.events(joint_inertia(p))
    ]


def _events(system: System, chosen: Sequence[Drive], whole: System, motors: Sequence[_Motor]) -> list[Event]:
    """The events of the machine, after which currents and friction are with the motors they belong to."""
    events = []
    for event, old in zip(whole.events, system.events, strict=True):
        more = _exchange(motors, after_event(system, chosen, old))
        for m in motors:
            if m.stiction is None or m.stiction.turning.name in more:
                continue
            if m.stiction.rate_state.name in event.reset:  # struck: it turns the way it is sent
                more[m.stiction.turning.name] = ca.sign(sx(event.reset[m.stiction.rate_state.name]))
        reset = {**{str(k): sx(e) for k, e in event.reset.items()}, **more}
        events.append(replace(event, reset=reset) if more else event)
    return events


def _exchange(motors: Sequence[_Motor], places: Places) -> dict[str, ca.SX]:
    """New values of currents and ways of turning, of those motors that change places."""
    values: dict[str, ca.SX] = {}
    for i, (m, (j, sign)) in enumerate(zip(motors, places, strict=True)):
        other = motors[j]
        if (i, 1.0) == (j, sign):
            continue
        if m.winding.state is not None and other.winding.state is not None:
            values[m.winding.state.name] = sign * other.winding.state.sym
        if m.stiction is not None and other.stiction is not None:
            values[m.stiction.turning.name] = sign * other.stiction.turning.sym
    return values


__all__ = ["dc_motors"]
