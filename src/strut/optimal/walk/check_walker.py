"""`check_walker`: whether a walker can be designed without a gait to begin from, asked before anything is
searched for.

Walkers whose feet land wherever they touch the ground, such as those on a floating base, begin from an even
stride by inverse kinematics. That needs two feet that are each other's mirror image, of one point each or, on
rigid ground in a plane, of several, and motors; what lacks one of these is refused here, with what to do.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states
from strut.optimal.walk.hold_feet import grips, hold_feet
from strut.optimal.walk.read_walk import flow_flags
from strut.system import System, start, stops_dead, sx

SYMMETRY_POINTS = 3
"""Random states at which the exchange of left and right is checked."""
MAX_ASYMMETRY = 1e-6
"""[1] by which rates may differ when left and right are exchanged, relative to 1 + the largest of them."""
SYMMETRY_ADVICE = "contact.rigid(..., symmetry='auto') works it out"


def check_walker(walker: System, section: str, alike: bool = True) -> None:
    """Raise `ModelError` unless a step of a walker can be planned without a gait to begin from. Walkers whose
    walk says when the swing foot passes the other, and those that exchange their legs, always can. alike:
    whether left and right must be; they need not where the motion repeats after two steps."""
    walk = walker.walk
    foot = None if walk is None else walk.foot_of(section)
    if walk is None or foot is None or not foot.stands or foot.passes:
        return
    of_feet = tuple(f"{f.name}_" for f in walk.feet)
    others = flow_flags(walker) - {f.stands for f in walk.feet}
    slides = sorted(name for name in others if name.startswith(of_feet))
    planned = {name for grip in grips(walker) for name in grip.slides}
    slides = [name for name in slides if name not in planned]
    if set(slides) & set(walker.event(section).reset) and stops_dead(walker, foot):
        raise ModelError(
            f"feet of '{walker.name}' hold or slide ({', '.join(slides)}), as every landing on rigid ground "
            f"with Coulomb's friction decides anew, and a plan is of feet that hold: leave friction out of "
            f"contact.rigid, or out of the table [contact], and give the coefficient to the design, "
            f"friction=0.7 (--friction 0.7), which then keeps within it"
        )
    feet = [f for f in walk.feet if f.stands]
    if len(feet) < 2:
        return  # one leg hops: it needs no other side
    names = ", ".join(f"'{f.name}'" for f in feet)
    if not walker.u:
        raise ModelError(
            f"nothing drives '{walker.name}': let its joints be actuated (Mechanism.joint(..., "
            f"actuated=True)), or find its passive gait first and give it as guess"
        )
    bodies = {f.body or f.name for f in feet}
    if len(bodies) > 2:
        raise ModelError(
            f"'{walker.name}' touches the ground with {len(bodies)} bodies ({names}): an even stride is "
            f"known for two feet, each one point or, on rigid ground in a plane, several points of one body. "
            f"Give a gait as guess"
        )
    if len(feet) > 2 and not (stops_dead(walker, foot) and len(foot.friction) == 1):
        raise ModelError(
            f"'{walker.name}' touches the ground at {len(feet)} points ({names}): feet of several points are "
            f"planned on rigid ground in a plane. Let each foot be one point, or give a gait as guess"
        )
    if not walker.symmetry:
        raise ModelError(
            f"'{walker.name}' stands on its feet {names} in turn, but nothing says what it is with left and "
            f"right exchanged: {SYMMETRY_ADVICE}"
        )
    if not foot.opposite:
        raise ModelError(
            f"the symmetry of '{walker.name}' exchanges no other foot with '{foot.name}', of {names}: let "
            f"their names differ by _l and _r"
        )
    if alike:
        check_symmetry(walker)


def check_symmetry(walker: System) -> None:
    """Raise `ModelError` unless a walker with left and right exchanged moves as its mirror image does."""
    walker = hold_feet(walker)
    groups = [walker.vector(group) for group in "xzu"]
    images = [
        mirrored_states(walker, "x"),
        mirrored_states(walker, "z"),
        ca.vertcat(*[sx(walker.symmetry.get(q.name, q.sym)) for q in walker.u], ca.SX(0, 1)),
    ]
    flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
    p = walker.vector("p")
    rates = ca.Function("rates", [*groups, p], [flow])
    turn = ca.Function("turn", [*groups, p], [*images, ca.jtimes(images[0], groups[0], flow)])
    begin, random = start(walker), np.random.default_rng(2)
    for _ in range(SYMMETRY_POINTS):
        x = begin.x + random.uniform(-0.2, 0.2, len(begin.x))
        z, u = random.integers(0, 2, walker.size("z")).astype(float), random.uniform(-1, 1, walker.size("u"))
        *turned, expected = turn(x, z, u, begin.p)
        apart = np.array(rates(*turned, begin.p) - expected).reshape(-1)
        worst, size = int(np.abs(apart).argmax()), float(np.abs(np.array(expected)).max())
        if not np.abs(apart[worst]) <= MAX_ASYMMETRY * (1 + size):
            raise ModelError(
                f"left and right of '{walker.name}' are not alike: exchanged, '{walker.labels('x')[worst]}' "
                f"changes at another rate (by {apart[worst]:.3g}). Let both sides have the same masses, "
                f"lengths and springs, correct the symmetry ({SYMMETRY_ADVICE}, and names what differs), or "
                f"plan two steps, which may differ: steps=2 (--steps 2)"
            )


__all__ = ["check_symmetry", "check_walker"]
