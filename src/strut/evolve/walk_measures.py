"""Measures of a walk over a run: how long it lasts, how fast and how steadily it goes, what its feet and its
motors do; the beginning left out, where it is not yet what it will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked, finite, positive
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.metabolic import muscle_metabolic_power, work_metabolic_power
from strut.system import Foot, System, sx

OUTPUT_PREFIX = "walk"
"""What names of the outputs begin with that measures integrate."""


@dataclass(frozen=True, eq=False)
class WalkMeasures:
    """A machine with outputs that measures integrate, and the measures by name, as `of_system` takes them.

    time [s] until it fell or ended; speed, its mean [m/s]; speed_spread, its standard deviation over time
    [m/s]; airborne_time without any foot on the ground [s]; torque, the mean of the sum of all sizes [N m];
    power_absolute, power_positive and power_net, means of the sums over motors of |P|, of P where it is
    positive, and of P [W]; stance, the share of time that a foot is on the ground, the mean of all feet;
    double_support, the share of time that all of them are; assist_time [s], where there is assistance. Where
    the frequency of strides is given: step_length, the mean advance in the duration of a stride,
    divided by the number of feet [m]. Where rates of muscles are given: metabolic_work and metabolic_muscle,
    means of the metabolic power of all motors if they were muscles [W], as `gait.work_metabolic_power` and
    `gait.muscle_metabolic_power` say.

    The length of a step is told by the clock: where feet land is not looked at, so that a limp, or a step
    that is left out, does not show in it.
    """

    system: System
    expressions: Mapping[str, str]


@checked
def walk_measures(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    duration: float,
    *,
    feet: Mapping[str, Sequence[str]],
    torques: Sequence[str],
    begin: float | None = None,
    speed: str = "speed",
    near_speed: float = 0.0,
    assisting: str = "",
    stride_frequency: str | float | None = None,
    muscle_rates: Mapping[str, str] | None = None,
    max_muscle_rate: float | None = None,
) -> WalkMeasures:
    """Return the measures of a walk.

    duration: of the run [s]. feet: by a name of your own, the contacts of a foot, as `system.walk` names
    them. torques: outputs, or inputs, by which motors supply power: entries of the ledger have their names.
    begin: from when on everything but the time is measured [s]; half the duration unless given. speed: an
    output or state [m/s]. near_speed: about how large it is [m/s], so that little is lost of its spread.
    assisting: an output that is 1 while the machine is helped. stride_frequency: how often every foot should
    land [Hz], a number or the name of a parameter; with it the advance in the time of a step is measured,
    whether feet land so often or not. muscle_rates: of each torque, the state that is the rate of its joint
    [rad/s]; with it metabolic powers are measured. max_muscle_rate: of a joint whose muscle shortens as fast
    as it can [rad/s].

    Integrals are divided by the time from `begin` to the duration: those of a run that ends before are too
    small, and its time says so.
    """
    positive("duration", duration, "s")
    first = duration / 2 if begin is None else finite("begin", begin)
    if not 0 <= first < duration:
        raise ValueRangeError(
            f"begin is {first:g} s: it must be from 0 to below the duration, {duration:g} s"
        )
    powers = {name: _power(system, name) for name in torques}
    if not powers:
        raise ModelError("no torque is measured: name the outputs of the motors, torques=['hip_torque']")
    downs = {name: _is_down(system, name, contacts) for name, contacts in feet.items()}
    if not downs:
        raise ModelError("no foot is measured: give the contacts of each, feet={'right': ['heel_r']}")
    _check_is_known(system, "speed", speed)
    if assisting:
        _check_is_known(system, "assisting", assisting)
    none_down = ca.SX(1)
    for down in downs.values():
        none_down = none_down * (1 - down)
    all_down = ca.SX(1)
    for down in downs.values():
        all_down = all_down * down
    signals = {
        "airborne": none_down,
        "double_support": all_down,
        "stance": sum(downs.values(), ca.SX(0)) / len(downs),
        "torque": sum((ca.fabs(_expression(system, name)) for name in torques), ca.SX(0)),
        "power_absolute": sum((ca.fabs(p) for p in powers.values()), ca.SX(0)),
        "power_positive": sum((ca.fmax(p, 0) for p in powers.values()), ca.SX(0)),
        "power_net": sum(powers.values(), ca.SX(0)),
    }
    if stride_frequency is not None:  # in a stride every foot makes a step
        signals["step_length"] = system[speed] / (_frequency(system, stride_frequency) * len(downs))
    if muscle_rates is not None:
        signals |= _metabolic_powers(system, powers, muscle_rates, max_muscle_rate)
    outputs = {f"{OUTPUT_PREFIX}_{name}": signal for name, signal in signals.items()}
    extended = system.replace(outputs={**system.outputs, **outputs})

    def mean(text: str) -> str:
        return f"integral_after({text}, {first!r}) / {duration - first!r}"

    off = f"({speed} - {near_speed!r})"
    expressions = {
        "time": "end.time",
        "speed": f"{near_speed!r} + {mean(off)}",
        "speed_spread": f"sqrt(max({mean(f'{off}**2')} - ({mean(off)})**2, 0))",
        **({"assist_time": f"integral_after({assisting}, {first!r})"} if assisting else {}),
        "airborne_time": f"integral_after({OUTPUT_PREFIX}_airborne, {first!r})",
        **{name: mean(f"{OUTPUT_PREFIX}_{name}") for name in signals if name != "airborne"},
    }
    return WalkMeasures(extended, expressions)


def _expression(system: System, name: str) -> ca.SX:
    """The expression of a state, input or output."""
    labels = [*system.labels("x"), *system.labels("u"), *system.labels("outputs")]
    if name not in labels:
        raise UnknownNameError(f"'{system.name}' has no '{name}': {did_you_mean(name, labels)}")
    return system[name]


def _check_is_known(system: System, argument: str, name: str) -> None:
    """Raise UnknownNameError where an argument names what the system does not have."""
    try:
        _expression(system, name)
    except UnknownNameError as error:
        raise UnknownNameError(f"{argument} is '{name}', and {error}") from None


def _frequency(system: System, frequency: str | float) -> ca.SX:
    """The frequency of strides, a number or a parameter."""
    if not isinstance(frequency, str):
        return ca.SX(positive("stride_frequency", frequency, "Hz"))
    if frequency not in system.labels("p"):
        raise UnknownNameError(
            f"stride_frequency is '{frequency}', which is no parameter of '{system.name}': "
            f"{did_you_mean(frequency, list(system.labels('p')))}"
        )
    return system[frequency]


def _power(system: System, name: str) -> ca.SX:
    """The power that a motor supplies, as the ledger says it."""
    supplied = system.ledger.supplied
    if name not in supplied:
        raise UnknownNameError(
            f"the ledger of '{system.name}' has no power of '{name}': {did_you_mean(name, list(supplied))}"
        )
    _expression(system, name)
    return sx(supplied[name])


def _metabolic_powers(
    system: System, powers: Mapping[str, ca.SX], rates: Mapping[str, str], max_rate: float | None
) -> dict[str, ca.SX]:
    """The metabolic powers of all motors together, by the names of the measures."""
    if max_rate is None:
        raise ModelError(
            "muscle_rates are given and no max_muscle_rate: say how fast a joint turns whose muscle shortens "
            "without a load, about 20 rad/s in a leg of a human"
        )
    for name in powers:
        if name not in rates:
            raise ModelError(f"muscle_rates has no '{name}': give the rate of the joint of every torque")
    muscles = [
        muscle_metabolic_power(_expression(system, name), _expression(system, rates[name]), max_rate)
        for name in powers
    ]
    return {
        "metabolic_work": sum((work_metabolic_power(p) for p in powers.values()), ca.SX(0)),
        "metabolic_muscle": sum(muscles, ca.SX(0)),
    }


def _is_down(system: System, foot: str, contacts: Sequence[str]) -> ca.SX:
    """1 while one of the contacts of a foot is on the ground."""
    contacts_by_name = {} if system.walk is None else {each.name: each for each in system.walk.feet}
    up = ca.SX(1)
    for contact in contacts:
        if contact not in contacts_by_name:
            raise UnknownNameError(
                f"foot '{foot}' has the contact '{contact}': {did_you_mean(contact, list(contacts_by_name))}"
            )
        up = up * (1 - _stands(system, contacts_by_name[contact]))
    if not len(contacts):
        raise ModelError(f"foot '{foot}' has no contacts: name some, as system.walk.feet has them")
    return 1 - up


def _stands(system: System, contact: Foot) -> ca.SX:
    """1 while a contact is on the ground: by its flag, as on rigid ground the gap of a standing foot is
    rounding of either sign; else by its gap, where the ground gives way. A walker whose legs change places in
    a landing, and that has no flags, always stands on the foot that never lands, and never on the other,
    which may dip below the ground on its way."""
    if contact.stands:
        return sx(system[contact.stands] > 0)
    if not contact.gap:
        return ca.SX(1)
    states = {q.name for q in system.x}
    changes_places = bool(contact.lands) and bool(states & set(system.event(contact.lands).reset))
    return ca.SX(0) if changes_places else sx(system[contact.gap] <= 0)


__all__ = ["WalkMeasures", "walk_measures"]
