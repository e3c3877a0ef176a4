"""`check_clearance`, `check_stiff_legs`: whether the swing foot of a walker can be as high as is asked, or
above the ground at all, where it passes the other; asked of its geometry before anything is searched for."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.section import section_of
from strut.optimal.walk.read_walk import landing_foot, swing_foot
from strut.system import System, position_places, start, sx, time

RANDOM_POSTURES = 2000
"""Random postures that are tried."""
MAX_DEVIATION = 0.8
"""[rad, m] By how much a posture may be away from the described one, at most."""
MAX_GUARD = 1e-9
"""Size of the guard of the passing, in its unit, up to which a foot passes in a posture."""
NEWTON_STEPS = 8
"""Steps of Newton's method to a posture in which the foot passes."""
MAX_STIFF_LIFT = 1e-6
"""[m] A foot that can be no higher than this beside the other is at the end of a leg that does not bend."""


def check_clearance(walker: System, section: str, clearance: float | None) -> None:
    """Raise `ModelError` where a clearance [m] is asked that no posture has in which the swing foot passes
    the other: legs that do not bend leave the foot on the ground, whatever motors do."""
    foot = swing_foot(walker, section)
    if foot is None or not clearance:
        return
    guard, height = sx(walker.event(foot.passes).guard), sx(walker[foot.gap])
    highest = highest_passing(walker, section, guard, height)
    if highest is not None and highest < clearance:
        raise ModelError(
            f"a clearance of {clearance:g} m is asked, but where the swing foot of '{walker.name}' passes "
            f"the other it is {max(highest, 0.0):.2g} m above the ground at most: legs that do not bend are "
            f"not shortened. Ask for less, leave out clearance (such a foot then scuffs, and the ground is "
            f"not asked), or give it knees"
        )


def check_stiff_legs(walker: System, section: str) -> None:
    """Raise `ModelError` where a foot that lands wherever it touches the ground cannot be above it beside the
    other, on which the walker stands: legs of equal length that do not bend."""
    foot = landing_foot(walker, section)
    opposite = [f for f in walker.walk.feet if f.name == foot.opposite] if foot and walker.walk else []
    if foot is None or not opposite or not opposite[0].gap or foot.at is None or opposite[0].at is None:
        return
    beside = sx(foot.at)[0] - sx(opposite[0].at)[0]
    lift = sx(walker[foot.gap]) - sx(walker[opposite[0].gap])
    highest = highest_passing(walker, section, beside, lift)
    if highest is not None and highest <= MAX_STIFF_LIFT:
        one, other = foot.name, opposite[0].name
        raise ModelError(
            f"legs of '{walker.name}' do not bend: '{one}' is never above the ground where it passes "
            f"'{other}', and it lands wherever it touches the ground. Give it knees, or let feet pass "
            f"through the ground until they are in front: contact.rigid(..., arm={{'{one}': "
            f"contact.ahead_of('{one}', '{other}'), '{other}': contact.ahead_of('{other}', '{one}')}}), in a "
            f'file [contact] arm.{one} = {{ ahead_of = "{other}" }}, and the other foot alike'
        )


def highest_passing(walker: System, section: str, guard: ca.SX, height: ca.SX) -> float | None:
    """Return how high a foot is at most [m] where it passes the other, over random postures; None where none
    of them leads to one in which it passes. guard: zero where it passes. height: of the foot [m]."""
    begin, x = start(walker), walker.vector("x")
    travelled = section_of(walker, section).cyclic
    places = [i for i in position_places(walker) if i not in travelled]
    inputs = [time, *walker.vectors()]
    ahead = ca.Function("ahead", inputs, [guard, ca.gradient(guard, x)])
    heights = ca.Function("height", inputs, [height])
    columns = np.repeat(begin.x[:, None], RANDOM_POSTURES, axis=1)
    random = np.random.default_rng(0)
    columns[places] += random.uniform(-MAX_DEVIATION, MAX_DEVIATION, (len(places), RANDOM_POSTURES))
    still = [
        np.repeat(np.reshape(part, (-1, 1)), RANDOM_POSTURES, axis=1) for part in (begin.z, begin.u, begin.p)
    ]
    t = np.zeros((1, RANDOM_POSTURES))
    for _ in range(NEWTON_STEPS):
        value, slope = (np.array(each) for each in ahead(t, columns, *still))
        slope = slope[places]
        columns[places] -= value * slope / np.maximum((slope**2).sum(axis=0), MAX_GUARD)
    there = np.abs(np.array(ahead(t, columns, *still)[0])).reshape(-1) <= MAX_GUARD
    there &= (np.abs(columns - begin.x[:, None]) <= MAX_DEVIATION)[places].all(axis=0)
    return float(np.array(heights(t, columns, *still)).reshape(-1)[there].max()) if there.any() else None


__all__ = ["check_clearance", "check_stiff_legs", "highest_passing"]
