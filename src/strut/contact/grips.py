"""`grips_of`: how feet with Coulomb's friction land and leave while it holds them, for plans whose feet do
not slide."""

from __future__ import annotations

import casadi as ca

from strut.contact.feet import StandingFoot, StandingMachine
from strut.contact.resets import Landing
from strut.system import Grip, sx


def grips_of(machine: StandingMachine, landing: Landing) -> tuple[Grip, ...]:
    """Return how each foot lands and leaves while friction holds all of them; nothing of feet that hold
    without limit, or slide freely."""
    if not machine.coulomb:
        return ()
    impulse, reset = landing.holding_landing()
    names = list(reset)
    at = machine.assembly.in_states([*[reset[name] for name in names], impulse])
    landing_states = dict(zip(names, at[:-1], strict=True))
    return tuple(
        Grip(
            foot=f.name,
            landing=landing_states,
            lifting=_flags_after_leaving(f, machine),
            impulse=at[-1][list(f.rows)],
            coefficient=sx(machine.friction),
            slides=() if f.slip is None else (f.slip.name,),
        )
        for f in machine.feet
    )


def _flags_after_leaving(f: StandingFoot, machine: StandingMachine) -> dict[str, ca.SX]:
    """The discrete states that are 0 once a foot has left: its flags, and the locks that open with it."""
    flags = [f.on, *([] if f.slip is None else [f.slip])]
    opened = [z for z, lock in zip(machine.locked, machine.locks, strict=True) if lock.foot == f.name]
    return {z.name: ca.SX(0) for z in (*flags, *opened)}


__all__ = ["grips_of"]
