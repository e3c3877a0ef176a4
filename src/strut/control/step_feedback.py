"""Laws that act once a step: what is measured at an instant of the step decides where a foot goes, which way
the line of walking turns, or how much a push-off gives."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.checks import checked, finite
from strut.control.adjust import add_changes, change_name, set_by_events
from strut.control.constants import has_nan
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Event, Expression, Param, System, limit_to, sx

MEASURING_EVENT = "measured"
"""Name of the event that is added where a law says by a guard when it measures."""


@checked
def step_feedback(
    system: System,
    laws: Mapping[str, Expression],
    *,
    at: str | ca.SX,
    limits: Mapping[str, float] | None = None,
    parameters: tuple[Param, ...] = (),
) -> System:
    """Return a machine whose parameters or inputs are changed once a step, by what is measured at one instant
    of it; the change holds until the next measurement.

    laws: by the name of a parameter or an input of one number, what is added to it: an expression of states,
        parameters and time, read at that instant. at: the event of the machine at which it is read, or a
        guard, an expression that becomes positive then. limits: by name, the largest change to either side.
        parameters: of the laws, such as gains.
    Changes are states of the loop, NAME_change, 0 when a run begins: a gait has them, and its multipliers are
    those of the machine with its laws. Energy that a law puts into storage, such as by a stiffer spring, is
    booked as a loss below zero, NAME_change.
    """
    names = tuple(laws)
    if not names:
        raise ModelError(f"'{system.name}' has no law to act by: give what is changed, {{'step_width': ...}}")
    allowed = [q.name for q in (*system.u, *system.p) if q.size == 1]
    for name in names:
        if name not in allowed:
            raise UnknownNameError(
                f"'{name}' is no input or parameter of '{system.name}' that a law could change: "
                f"{did_you_mean(name, allowed)}"
            )
    for name, law in laws.items():
        if has_nan(sx(law)):
            raise ValueRangeError(f"the law of '{name}' has a part that is no number (nan): mend it")
    for name, value in (limits or {}).items():
        if name not in names:
            raise UnknownNameError(f"a limit of '{name}', which no law changes: {did_you_mean(name, names)}")
        if not finite(f"limit of '{name}'", value) > 0:
            raise ValueRangeError(f"limit of '{name}' is {value:g}: a positive number is needed")
    with_event, event = _with_measuring_event(system, at)
    changes = {
        change_name(name): limit_to(sx(law), limits[name]) if limits and name in limits else sx(law)
        for name, law in laws.items()
    }
    own = {q.name for q in system.p}
    loop = add_changes(with_event, names)
    return set_by_events(
        loop, {event: changes}, tuple(changes), tuple(q for q in parameters if q.name not in own)
    )


@checked
def foot_placement(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    placement: str,
    *,
    rate: Expression,
    gain: float,
    at: str | ca.SX,
    position: Expression | None = None,
    velocity: Expression = 0.0,
    target: Expression = 0.0,
    position_gain: float | None = None,
    velocity_gain: float = 0.0,
    rate_limit: float = 0.3,
) -> System:
    """Return a walker that places its feet by how it moves sideways in the middle of a step, and so does not
    fall to the side (Duindam, 5.40 to 5.42): placement = nominal + gain (reference - rate).

    placement: the parameter or input that says where the next foot goes to the side. rate: what is measured,
        the rate at which the machine tips to the side [rad/s]. gain: [s] for a placement in rad. at: the
        event or guard at which it is measured: where the hip is over the foot.
    position: how far the machine is to the side [m]; with it, it follows a line: the reference of the rate is
        position_gain (position - target) + velocity_gain velocity, within rate_limit [rad/s]. Without it the
        reference is 0. velocity: of the position [m/s]. target: where the line is [m], an expression of time,
        states and parameters. All are seen as the placement is: by a machine that sees every other step in a
        mirror, mirrored.
    Gains are parameters of the loop: PLACEMENT_gain, and with a position PLACEMENT_position_gain,
    PLACEMENT_velocity_gain and PLACEMENT_rate_limit.
    """
    numbers = {"gain": (gain, "s")}
    if (position is None) != (position_gain is None):
        missing = "position" if position is None else "position_gain"
        raise ModelError(
            f"foot placement of '{system.name}' along a line needs position and position_gain: give "
            f"{missing} too"
        )
    if position is not None:
        assert position_gain is not None
        numbers |= {
            "position_gain": (position_gain, "rad/s/m"),
            "velocity_gain": (velocity_gain, "rad/m"),
            "rate_limit": (rate_limit, "rad/s"),
        }
    if not finite("rate_limit of foot placement", rate_limit) > 0:
        raise ValueRangeError(f"rate_limit of foot placement is {rate_limit:g}: a positive number is needed")
    gains = {
        word: Param(f"{placement}_{word}", finite(f"{word} of foot placement", value), unit)
        for word, (value, unit) in numbers.items()
    }
    reference = ca.SX(0)
    if position is not None:
        tipping = gains["position_gain"].sym * (sx(position) - sx(target))
        tipping += gains["velocity_gain"].sym * sx(velocity)
        reference = limit_to(tipping, gains["rate_limit"])
    law = gains["gain"].sym * (reference - sx(rate))
    return step_feedback(system, {placement: law}, at=at, parameters=tuple(gains.values()))


def _with_measuring_event(system: System, at: str | ca.SX) -> tuple[System, str]:
    """Return the machine, and the name of its event at which laws measure: one that is added for a guard."""
    names = [e.name for e in system.events]
    if isinstance(at, str):
        if at not in names:
            raise UnknownNameError(
                f"'{at}' is no event of '{system.name}' at which a law could measure: "
                f"{did_you_mean(at, names)}; or give a guard, an expression that becomes positive then"
            )
        return system, at
    label = next(
        n for n in (MEASURING_EVENT, *(f"{MEASURING_EVENT}_{k}" for k in range(2, 100))) if n not in names
    )
    moment = Event(label, guard=at, loss={}, description="what is measured here decides what changes")
    return system.replace(events=(*system.events, moment)), label


__all__ = ["foot_placement", "step_feedback"]
