"""A servo in current: a motor whose driver holds the current that a PD law of the joint asks for."""

from __future__ import annotations

import math

from strut.checks import checked, finite
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Expression, Param, System, join, limit_to, sx


@checked
def current_servo(
    system: System,
    drive: str,
    reference: Expression,
    *,
    kp: float,
    kd: float = 0.0,
    limit: float = math.inf,
) -> System:
    """Return a machine with a motor whose current is kp (reference - angle) - kd rate, within a limit.

    system: with a motor of `actuator.dc_motors` whose current is 'absorbed': the driver gives the voltage
        that makes the current, back-EMF included. drive: its name. reference: [rad] an expression of time,
        states, discrete states (which foot stands) and parameters of the machine. kp: [A/rad], kd:
        [A s/rad]: both are parameters of the loop, DRIVE_kp and DRIVE_kd. limit: [A].
    Outputs: DRIVE_voltage, DRIVE_reference [rad] and DRIVE_wanted_current [A].
    """
    inputs, label = [q.name for q in system.u], f"{drive}_voltage"
    if label not in inputs:
        raise UnknownNameError(
            f"'{system.name}' has no motor '{drive}' that is driven by voltage: "
            f"{did_you_mean(label, inputs)}; put one there with actuator.dc_motors"
        )
    states = {q.name for q in system.x}
    numbers = {q.name: q for q in system.p}
    if f"{drive}_current" in states:
        raise ModelError(
            f"the current of '{drive}' of '{system.name}' is a state: a servo in current needs one that "
            f"follows the voltage at once, dc_motors(..., current='absorbed')"
        )
    if drive not in states or f"{drive}_rate" not in states:
        raise ModelError(
            f"a servo in current at '{drive}' of '{system.name}' reads '{drive}' and '{drive}_rate', which "
            f"are no states: use control.servo, and say by angles what it reads"
        )
    if not _is_positive(limit):
        raise ValueRangeError(f"limit of a servo in current is {limit!r}: a positive number is needed [A]")
    gains = [Param(f"{drive}_{word}", finite(word, value)) for word, value in (("kp", kp), ("kd", kd))]
    aim, angle, rate = sx(reference), sx(system[drive]), sx(system[f"{drive}_rate"])
    current = gains[0].sym * (aim - angle) - gains[1].sym * rate
    if math.isfinite(limit):
        bound = Param(f"{drive}_current_bound", limit, "A")
        gains.append(bound)
        current = limit_to(current, bound)
    resistance, constant, ratio = (
        numbers[f"{drive}_{word}"].sym for word in ("resistance", "torque_constant", "gear_ratio")
    )
    voltage = resistance * current + constant * ratio * rate
    part = System("current_servo", p=tuple(gains))
    signals = {f"{drive}_reference": aim, f"{drive}_wanted_current": current}
    loop = join(
        system.name,
        system,
        part,
        connect={label: voltage},
        outputs={label: voltage, **signals},
        description=f"{system.description}; with a servo in current".removeprefix("; "),
    )
    units = {label: "V", f"{drive}_reference": "rad", f"{drive}_wanted_current": "A"}
    return loop.replace(output_units={**loop.output_units, **units})


def _is_positive(value: float) -> bool:
    """Whether something is a number above zero; infinity, no limit, is one."""
    return isinstance(value, int | float) and value > 0


__all__ = ["current_servo"]
