"""Series elastic actuators: a motor that turns one end of a spring, whose other end turns the joint.

    inertia * motor_rate' = torque - spring            spring = stiffness (motor - angle) + damping
    (motor_rate - rate)

The motor (after its gear) has an angle and a rate of its own, as in Saurel's thesis. A motor without inertia
would give exactly the spring's torque: its work could be less than that of a rigid one, its torque never.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from strut.actuator.drives import Drive, common_name, drives
from strut.actuator.exchange import (
    Places,
    after_event,
    after_mirroring,
    motor_images,
    sides_of_joints,
)
from strut.checks import checked
from strut.system import Event, Input, Ledger, Param, State, System, join, sx

DEFAULT_STIFFNESS = 100.0
"""[N m/rad] Stiffness of the spring, unless another is given."""
DEFAULT_DAMPING = 0.5
"""[N m s/rad] Damping of the spring, unless another is given: a twelfth of what would keep such a motor from
swinging. Without any, a search finds motors that ring on their springs for nothing."""
DEFAULT_INERTIA = 0.1
"""[kg m^2] Inertia of a motor behind its gear, unless another is given: a rotor of 1e-5 kg m^2 behind a gear
of 100."""


@checked
def series(
    system: System,
    of: Sequence[str] | None = None,
    *,
    stiffness: float = DEFAULT_STIFFNESS,
    damping: float = DEFAULT_DAMPING,
    inertia: float = DEFAULT_INERTIA,
) -> System:
    """The system with a spring between each of its motors and what it turned before. of: names of drives,
    else all.

    An input HIP_torque becomes HIP_motor_torque; HIP_torque is an output, what the spring gives. New states
    are HIP_motor and HIP_motor_rate; parameters HIP_series_spring, HIP_series_damping and HIP_motor_inertia,
    one of each for both sides of a joint. Where legs change names the motors do, too; an impact does not
    reach a motor but through its spring. The rotor turns as if its housing did not, as is usual for high gear
    ratios.
    """
    chosen = drives(system, of)
    if not chosen:
        return system
    elements: dict[int, SeriesElement] = {}
    for sides in sides_of_joints(system, chosen):
        first, name = chosen[sides.members[0]], common_name([chosen[i].name for i in sides.members])
        spring, damper, rotor = _motor_constants(
            first,
            name,
            both_sides=len(sides.members) > 1,
            values={"stiffness": stiffness, "damping": damping, "inertia": inertia},
        )
        shared = SeriesElement(spring.sym, damper.sym, rotor.sym, (spring, damper, rotor))
        elements |= dict.fromkeys(sides.members, shared)
    return join_springs(system, chosen, [elements[i] for i in range(len(chosen))])


@dataclass(frozen=True, eq=False)
class SeriesElement:
    """What stands between a motor and its joint, and the motor's inertia, as expressions of parameters.

    stiffness, damping: of the spring [N m/rad, N m s/rad]. inertia: of the motor behind its gear [kg m^2].
    params: the parameters that these are made of.
    link_damping: of the joint itself [N m s/rad].
    printed: the motor feels the damping of the joint, too, as Dallali et al. print their equation (5).
    """

    stiffness: ca.SX
    damping: ca.SX
    inertia: ca.SX
    params: tuple[Param, ...]
    link_damping: ca.SX | None = None
    printed: bool = False


def join_springs(system: System, chosen: Sequence[Drive], elements: Sequence[SeriesElement]) -> System:
    """The system with a motor and a spring at each of the chosen drives, joined, exchanged where legs change
    names, and booked."""
    motors = [_Motor(d, element) for d, element in zip(chosen, elements, strict=True)]
    part = System(
        "motors",
        x=tuple(q for m in motors for q in (m.angle, m.rate)),
        u=tuple(q for m in motors for q in (m.torque, m.load)),
        p=tuple(dict.fromkeys(q for m in motors for q in m.element.params)),
        flow={k: e for m in motors for k, e in m.flow.items()},
    )
    gives = {m.drive.input.name: m.gives for m in motors}
    whole = join(
        system.name,
        system,
        part,
        connect={**gives, **{m.load.name: m.feels for m in motors}},
        outputs=gives,
        description=f"{system.description}; springs in series with the motors".removeprefix("; "),
    )
    return whole.replace(
        ledger=_books(whole.ledger, motors),
        events=tuple(
            _with(event, motors, after_event(system, chosen, old))
            for event, old in zip(whole.events, system.events, strict=True)
        ),
        symmetry={
            **whole.symmetry,
            **(_exchange(motors, after_mirroring(system, chosen)) if system.symmetry else {}),
            **motor_images(system, chosen, [m.torque for m in motors]),
        },
        output_units={**whole.output_units, **{m.drive.input.name: m.drive.input.unit for m in motors}},
    )


def _motor_constants(
    drive: Drive, name: str, *, both_sides: bool, values: Mapping[str, float]
) -> tuple[Param, Param, Param]:
    """Stiffness and damping of the spring of a joint, and inertia of its motor, as parameters named after
    it."""
    about = "of each side" if both_sides else ""
    where = f"between motor and joint {about}".strip()
    unit = "kg" if drive.unit == "m" else "kg m^2"
    return (
        Param(f"{name}_series_spring", values["stiffness"], drive.stiffness_unit, (0.0, 1e5), where),
        Param(f"{name}_series_damping", values["damping"], drive.damping_unit, (0.0, 1e4), where),
        Param(
            f"{name}_motor_inertia",
            values["inertia"],
            unit,
            (1e-9, 1e3),
            f"of the motor behind its gear {about}".strip(),
        ),
    )


class _Motor:
    """One motor: its states, its input, and what its spring gives to the joint. gives, feels: the torque on
    the joint, and that on the motor, which is its negative but for the damping of the joint."""

    def __init__(self, drive: Drive, element: SeriesElement) -> None:
        self.drive, self.element = drive, element
        name, unit = drive.name, drive.unit
        self.angle = State(
            f"{name}_motor", _number(drive.begin), unit, description="of the motor, behind its gear"
        )
        self.rate = State(f"{name}_motor_rate", _number(drive.begin_rate), f"{unit}/s")
        self.torque = drive.motor()
        self.load = Input(f"{name}_motor_load", 0.0, drive.input.unit)
        self.flow = {self.angle: self.rate.sym, self.rate: (self.torque - self.load) / element.inertia}
        self.stretch = self.angle.sym - drive.angle
        self.shear = self.rate.sym - drive.rate
        spring = element.stiffness * self.stretch + element.damping * self.shear
        drag = None if element.link_damping is None else element.link_damping * drive.rate
        self.gives = spring if drag is None else spring - drag
        self.feels = self.gives if element.printed else spring
        self.link_loss: ca.SX | None = None
        if drag is not None:
            self.link_loss = drag * (drive.rate - self.rate.sym if element.printed else drive.rate)


def _number(expression: ca.SX) -> float | ca.SX:
    """An expression as a number where it is constant."""
    return float(expression) if expression.is_constant() else expression


def _books(ledger: Ledger, motors: list[_Motor]) -> Ledger:
    """What was supplied to the joint comes from the motor, through the spring; a rotor's energy is
    kinetic."""
    stored, supplied, dissipated = dict(ledger.stored), dict(ledger.supplied), dict(ledger.dissipated)
    for m in motors:
        del supplied[m.drive.power]
        supplied[m.torque.name] = m.torque * m.rate.sym
        stored[f"{m.drive.name}_series_spring"] = m.element.stiffness * m.stretch**2 / 2
        stored["kinetic"] = stored.get("kinetic", ca.SX(0)) + m.element.inertia * m.rate.sym**2 / 2
        dissipated[f"{m.drive.name}_series_damper"] = m.element.damping * m.shear**2
        if m.link_loss is not None:
            dissipated[f"{m.drive.name}_link_damper"] = m.link_loss
    return Ledger(stored, supplied, dissipated, electrical=ledger.electrical)


def _exchange(motors: list[_Motor], places: Places) -> dict[str, ca.SX]:
    """New values of the motors' states, of those that change places."""
    values: dict[str, ca.SX] = {}
    for i, (m, (j, sign)) in enumerate(zip(motors, places, strict=True)):
        if (i, 1.0) != (j, sign):
            values |= {m.angle.name: sign * motors[j].angle.sym, m.rate.name: sign * motors[j].rate.sym}
    return values


def _with(event: Event, motors: list[_Motor], places: Places) -> Event:
    """The event with the motors in the places they have after it."""
    more: Mapping[str, Any] = _exchange(motors, places)
    return (
        replace(event, reset={**{str(k): sx(e) for k, e in event.reset.items()}, **more}) if more else event
    )


__all__ = [
    "DEFAULT_DAMPING",
    "DEFAULT_INERTIA",
    "DEFAULT_STIFFNESS",
    "SeriesElement",
    "join_springs",
    "series",
]
