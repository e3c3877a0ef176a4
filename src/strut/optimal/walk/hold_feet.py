"""`hold_feet`: a walker whose feet friction holds only up to a limit, as a plan is made of it: they hold.

Whether a landing on ground with Coulomb's friction holds or slides is decided by all feet together. A plan
means feet that hold: its landings are those of a walker without that limit, their impulses and all forces are
required to be inside the friction cone, and the plan is replayed with the friction that the walker has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.system import Expression, Grip, System, start, sx

IMPULSE_MARGIN = 0.01
"""[1] The part of the friction cone by which impulses of landings keep away from its edge."""


def grips(walker: System) -> tuple[Grip, ...]:
    """Return what a walker says of feet that friction holds only up to a limit."""
    return () if walker.walk is None else walker.walk.grips


def hold_feet(walker: System) -> System:
    """Return a walker whose feet hold wherever they stand; the same one where nothing limits that."""
    own = grips(walker)
    if not own or walker.walk is None:
        return walker
    resets: dict[str, Mapping[str, Expression]] = {}
    for grip in own:
        foot = next(f for f in walker.walk.feet if f.name == grip.foot)
        resets |= {foot.lands: grip.landing, foot.lifts: grip.lifting}
    slides = {name for grip in own for name in grip.slides}
    flags = [q.sym for q in walker.z if q.name in slides]

    def still(expression: ca.SX) -> ca.SX:
        return ca.substitute([sx(expression)], flags, [ca.SX(0)] * len(flags))[0]

    without_slip = walker.replace(
        events=tuple(
            replace(e, reset={name: still(sx(value)) for name, value in resets[e.name].items()})
            if e.name in resets
            else e
            for e in walker.events
        ),
        flow={name: still(sx(rate)) for name, rate in walker.flow.items()},
        outputs={name: still(sx(value)) for name, value in walker.outputs.items()},
    )
    return without_slip.using(dict.fromkeys(slides, 0.0))


def landing_cones(walker: System, event: str) -> list[ca.SX]:
    """Return what is positive where the impulse of a landing is inside the friction cone: [N s], in space
    [N^2 s^2]. Nothing of events that are no landing, or where nothing limits friction."""
    inside: list[ca.SX] = []
    for grip in grips(walker):
        assert walker.walk is not None
        if next(f.lands for f in walker.walk.feet if f.name == grip.foot) != event:
            continue
        push = sx(grip.impulse)
        edge = (1 - IMPULSE_MARGIN) * sx(grip.coefficient) * push[0]
        flat = push.numel() == 2
        inside += [edge - push[1], edge + push[1]] if flat else [edge**2 - ca.sumsqr(push[1:])]
    return inside


def friction_limit(walker: System) -> float | None:
    """Return Coulomb's coefficient under the feet of a walker, the smallest; None where none limits them."""
    own = grips(walker)
    if not own:
        return None
    f = ca.Function("mu", [walker.vector("p")], [ca.vertcat(*[sx(grip.coefficient) for grip in own])])
    return float(np.array(f(start(walker).p)).min())


def check_friction(walker: System, asked: float | None) -> None:
    """Raise `ModelError` where more friction is asked for than the ground of a walker gives."""
    limit = friction_limit(walker)
    if limit is not None and asked is not None and asked > limit:
        raise ModelError(
            f"friction is {asked:g}, and the ground of '{walker.name}' gives {limit:g}: ask for at most "
            f"that, or give the ground more, contact.rigid(..., friction={asked:g}) or friction = {asked:g} "
            f"in the table [contact]"
        )


__all__ = ["check_friction", "friction_limit", "grips", "hold_feet", "landing_cones"]
