"""`check_creep`: whether feet on ground that gives way creep enough for a search, asked before it begins.

Smoothed Coulomb friction (`contact.coulomb`) is nearly mu times the load from a small speed on, and in
proportion to the speed below it. The smaller that speed is, the more sudden is the change, and the fewer
searches from an even stride end.
"""

from __future__ import annotations

import numpy as np

from strut.errors import ModelError
from strut.gait.section import section_of
from strut.gait.transport import forward_states
from strut.optimal.walk.compliant_stride import depth_at_rest
from strut.optimal.walk.contact_sequence import lift_places
from strut.optimal.walk.kinematic_stride import Kinematics
from strut.optimal.walk.read_walk import gives_way
from strut.system import System, sx

MIN_CREEP_SPEED = 0.02
"""[m/s] Range of speeds in which friction may change its sign; less is refused, of friction that hardly grows
with speed. From an even stride, a five-link walker takes 194 iterations with 0.1 m/s, 387 with 0.03 m/s; with
0.01 m/s, even from the latter design, it had not ended after 37 s of processor time."""
EASY_CREEP_SPEED = 0.1
"""[m/s] A speed with which a search is not hard, to be recommended."""
SLOW_SPEED, FAST_SPEED = 1e-7, 1.0
"""[m/s] Speeds of a foot along the ground at which friction is compared: how it begins, and what it comes
to."""
MIN_GROWTH = 2.0
"""[1] Factor from a tenth of `FAST_SPEED` to `FAST_SPEED`: friction that grows by less hardly grows with
speed."""


def check_creep(walker: System, section: str) -> None:
    """Raise `ModelError` where feet of a walker on ground that gives way hold by friction which hardly grows
    with speed, and changes its sign within less than `MIN_CREEP_SPEED`. section: the event that ends a step.
    Walkers on other ground, and feet whose friction nobody knows, pass."""
    if not gives_way(walker, section):
        return
    kinematics = Kinematics(walker, section)
    stance, positions = kinematics.stance, kinematics.positions
    carried = [
        positions.index(i) for i in forward_states(walker, section_of(walker, section)) if i in positions
    ]
    if stance is None or not stance.friction or not carried or not lift_places(walker):
        return
    posture = kinematics.even_postures(None, None)[0][:1]
    depth = depth_at_rest(kinematics, stance, kinematics.states_with(posture, 0 * posture)[0])
    force = walker.function("friction", [sx(walker[stance.friction[0]])], clock=False)

    def friction(speed: float) -> float:
        rates = np.zeros_like(posture)
        rates[0, carried[0]] = speed
        state = kinematics.states_with(posture, rates)[0]
        state[lift_places(walker)] -= depth
        return abs(float(force(state, kinematics.z, kinematics.begin.u, kinematics.begin.p)))

    most = friction(FAST_SPEED)
    if not most > 0 or most > MIN_GROWTH * friction(FAST_SPEED / 10):
        return
    creep = most * SLOW_SPEED / max(friction(SLOW_SPEED), 1e-300)
    if creep < MIN_CREEP_SPEED:
        raise ModelError(
            f"the friction under '{stance.name}' of '{walker.name}' turns over within {creep:.2g} m/s: on "
            f"ground that gives way no search from an even stride finds a step then. Let it creep faster, "
            f"contact.coulomb(mu, speed={EASY_CREEP_SPEED:g}), and give that design as guess for smaller "
            f"speeds; or give contact.viscous(damping) and ask the design for friction=mu, which keeps its "
            f"feet within the cone"
        )


__all__ = ["check_creep"]
