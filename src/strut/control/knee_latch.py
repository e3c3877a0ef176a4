"""Latches: stiff springs that hold a joint straight while its leg stands, and let go when its foot lifts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import casadi as ca

from strut.actuator import drives
from strut.checks import checked, finite
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Discrete, Event, Foot, Param, System, join, sx

STOP_PLAY = 1e-6
"""[rad] Angle beyond straight at which a stop begins to push. A knee that is latched where it is straight is
then not at the edge of its stop, and rounding does not decide what moved it before."""


@checked
def knee_latches(
    system: System,
    feet: Mapping[str, str],
    *,
    stiffness: float,
    damping: float,
    locked: Collection[str] = (),
) -> System:
    """Return a machine whose knees are latched while their leg stands, and else swing freely up to a stop.

    system: with a torque at each of these knees, which the latch takes the place of, and with feet whose walk
        says when they lift, stand, and where they are: as `contact.compliant` makes it.
    feet: by the knee (its drive's name), the foot of its leg. A knee is straight at 0, and bends to negative
        angles. stiffness: [N m/rad], damping: [N m s/rad], of the latch, and of the stop against bending the
        other way; parameters of the machine, latch_stiffness and latch_damping.
    locked: knees that are latched when a run begins.

    A latch opens when its foot leaves the ground while another foot stands in front of it, and closes when
    the knee comes back to straight. Discrete states KNEE_latched, events KNEE_latch, outputs KNEE_torque.
    Power of the latches is in the ledger where that of the torques was.
    """
    for word, value in (("stiffness", stiffness), ("damping", damping)):
        if not finite(f"{word} of a latch", value) > 0:
            raise ValueRangeError(f"{word} of a latch is {value:g}: a positive number is needed")
    own = {f.name: f for f in (system.walk.feet if system.walk is not None else ())}
    for knee, foot in feet.items():
        if foot not in own:
            raise UnknownNameError(
                f"the latch of '{knee}' names a foot '{foot}' of '{system.name}': "
                f"{did_you_mean(foot, list(own))}"
            )
    for knee in locked:
        if knee not in feet:
            raise UnknownNameError(f"'{knee}' is locked and has no latch: {did_you_mean(knee, list(feet))}")
    k, d = Param("latch_stiffness", stiffness, "N m/rad"), Param("latch_damping", damping, "N m s/rad")
    flags = {knee: Discrete(f"{knee}_latched", float(knee in locked)) for knee in feet}
    sources = dict(zip(feet, drives(system, list(feet)), strict=True))
    torques = {}
    for knee, source in sources.items():
        grip = -(k.sym * source.angle + d.sym * source.rate)
        stop = ca.if_else(source.angle > STOP_PLAY, ca.fmin(grip, 0), 0)
        torques[source.input.name] = ca.if_else(flags[knee].sym > 0, grip, stop)
    part = System("latches", z=tuple(flags.values()), p=(k, d))
    loop = join(system.name, system, part, connect=torques, outputs=torques, description=system.description)
    resets: dict[str, dict[str, ca.SX]] = {}
    for knee, name in feet.items():
        opens = _stands_in_front_of(own[name], list(own.values()), system)
        resets.setdefault(own[name].lifts, {})[flags[knee].name] = ca.if_else(opens, 0, flags[knee].sym)
    events = [
        replace(e, reset={**{n: sx(v) for n, v in e.reset.items()}, **resets[e.name]})
        if e.name in resets
        else e
        for e in loop.events
    ]
    closing = [
        Event(f"{knee}_latch", sources[knee].angle, when=1 - flag.sym, reset={flag.name: 1.0}, loss={})
        for knee, flag in flags.items()
    ]
    units = {source.input.name: source.input.unit for source in sources.values()}
    return loop.replace(events=(*events, *closing), output_units={**loop.output_units, **units})


def _stands_in_front_of(foot: Foot, feet: list[Foot], system: System) -> ca.SX:
    """Whether another foot stands in front of one, which must say when it lifts and where it is."""
    if not foot.lifts or foot.at is None:
        raise ModelError(
            f"foot '{foot.name}' of '{system.name}' does not say when it lifts and where it is: latches need "
            f"Foot(lifts=..., at=...), as contact.compliant fills them"
        )
    others = [f for f in feet if f.name != foot.name and f.stands and f.at is not None]
    in_front = [
        ca.logic_and(system[f.stands] > 0, sx(f.at)[0] > sx(foot.at)[0]) for f in others if f.at is not None
    ]
    if not in_front:
        raise ModelError(
            f"'{system.name}' has no foot besides '{foot.name}' that says when it stands: a latch opens when "
            f"another foot stands"
        )
    return sx(ca.logic_or(*in_front) if len(in_front) == 2 else ca.mmax(ca.vertcat(*in_front)))


__all__ = ["knee_latches"]
