"""Parallel elastic actuators: a spring and a damper beside each motor, which has to give only what they do
not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from strut.actuator.drives import Drive, common_name, drives
from strut.actuator.exchange import motor_images, sides_of_joints
from strut.checks import checked
from strut.system import Input, Ledger, Param, System, join


@dataclass(frozen=True, eq=False)
class _Sprung:
    """A drive with what acts beside its motor. rest: times `sign`, that is."""

    drive: Drive
    motor: Input
    spring: Param
    damper: Param
    rest: Param | None
    sign: float

    @property
    def stretch(self) -> ca.SX:
        """The angle of the spring from where it is at rest."""
        return self.drive.angle if self.rest is None else self.drive.angle - self.sign * self.rest


@checked
def parallel(
    system: System,
    of: Sequence[str] | None = None,
    *,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
) -> System:
    """The system with HIP_motor_torque - HIP_spring (angle - HIP_rest) - HIP_damping rate where HIP_torque
    was, which becomes an output.
    of: names of drives, else all.

    There is one parameter of each for both sides of a joint; where these count opposite ways, HIP_rest is the
    first one's. A spring between the legs themselves, whose angle changes its sign when legs change names, is
    at rest at zero and has no HIP_rest. A drive whose HIP_spring exists already is elastic in parallel: it
    stays as it is.
    """
    chosen = drives(system, of)
    names = {q.name for q in system.p}
    sprung: list[_Sprung] = []
    for sides in sides_of_joints(system, chosen):
        name, first = common_name([chosen[i].name for i in sides.members]), chosen[sides.members[0]]
        if f"{name}_spring" in names:
            continue
        about = "beside the motor" if len(sides.members) == 1 else "beside the motor of each side"
        spring = Param(f"{name}_spring", stiffness, first.stiffness_unit, (0.0, 1e5), about)
        damper = Param(f"{name}_damping", damping, first.damping_unit, (0.0, 1e4), about)
        at = (
            None
            if sides.turns
            else Param(f"{name}_rest", rest, first.unit, (-10.0, 10.0), "where the spring is at rest")
        )
        for i, sign in zip(sides.members, sides.signs, strict=True):
            sprung.append(_Sprung(chosen[i], chosen[i].motor(), spring, damper, at, sign))
    return _join_springs(system, sprung) if sprung else system


def _join_springs(system: System, sprung: Sequence[_Sprung]) -> System:
    """The system with springs and dampers beside its motors, joined and booked."""
    params = [q for s in sprung for q in (s.spring, s.damper, s.rest) if q is not None]
    part = System("springs", u=tuple(s.motor for s in sprung), p=tuple(dict.fromkeys(params)))
    gives, stored, dissipated = {}, dict(system.ledger.stored), dict(system.ledger.dissipated)
    supplied = {
        name: power
        for name, power in system.ledger.supplied.items()
        if name not in {s.drive.power for s in sprung}
    }
    for s in sprung:
        stretch, rate = s.stretch, s.drive.rate
        gives[s.drive.input.name] = s.motor - s.spring * stretch - s.damper * rate
        supplied[s.motor.name] = s.motor * rate
        for book, name, entry in (
            (stored, "spring", s.spring * stretch**2 / 2),
            (dissipated, "damper", s.damper * rate**2),
        ):
            book[f"{s.drive.name}_{name}"] = (
                book.get(f"{s.drive.name}_{name}", ca.SX(0)) + entry
            )  # a joint may have one of its own
    described = f"{system.description}; springs beside the motors".removeprefix("; ")
    whole = join(system.name, system, part, connect=gives, outputs=gives, description=described)
    units = {s.drive.input.name: s.drive.input.unit for s in sprung}
    images = motor_images(system, [s.drive for s in sprung], [s.motor for s in sprung])
    return whole.replace(
        ledger=Ledger(stored, supplied, dissipated, electrical=system.ledger.electrical),
        symmetry={**whole.symmetry, **images},
        output_units={**whole.output_units, **units},
    )


__all__ = ["parallel"]
