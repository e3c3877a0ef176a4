"""Rough ground: how many steps a gait makes where every step lands at another height."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from strut.checks import checked, integer, positive, seed_number
from strut.errors import ModelError
from strut.gait.foot_ground import change_after_leaving, feet_on_own_ground
from strut.gait.gait import Gait
from strut.gait.lifting import lifting_state
from strut.simulate import simulate_batch
from strut.system import Discrete, Param, Random, System, start, sx
from strut.tabular import Tabular

MAX_TIME_FACTOR = 1.5
"""[1] Longest time of a walk over rough ground, over that of as many steps of the gait: after it the walk
counts as stopped."""


@dataclass(frozen=True, eq=False)
class RoughWalk(Tabular):
    """Walks over ground whose height is random from step to step.

    height: the ground lies between minus and plus this [m]. steps: that were asked. steps_made: by each walk,
    at most those asked. ended: how each ended: 'walks on', or what made it fall.
    """

    height: float
    steps: int
    steps_made: np.ndarray = field(repr=False)
    ended: tuple[str, ...] = field(repr=False)

    @property
    def whole_walks(self) -> int:
        """How many walks made all steps."""
        return int(np.sum(self.steps_made >= self.steps))

    def columns(self) -> dict[str, Any]:
        """Return of every walk the steps that it made, and how it ended."""
        return {"steps made": self.steps_made, "ended": self.ended}

    def __str__(self) -> str:
        falls = sorted({why for why in self.ended if why != "walks on"})
        fewer = self.steps_made[self.steps_made < self.steps]
        who = "the others" if self.whole_walks else "they"
        others = (
            f"; {who} made {int(fewer.min())} to {int(fewer.max())} and ended by {', '.join(falls)}"
            if falls
            else ""
        )
        return (
            f"over ground of +-{100 * self.height:.3g} cm, {self.whole_walks} of {len(self.steps_made)} "
            f"walks made {self.steps} steps{others}"
        )


@checked
def walk_over(
    gait: Gait,
    height: float,
    steps: int = 1000,
    walks: int = 1,
    seed: int = 0,
    *,
    device: str = "cpu",
) -> RoughWalk:
    """Let a gait walk over rough ground: every step lands at a height drawn evenly from -height to height
    [m], whatever the one before was.

    steps: to be made. walks: how many, each over other ground. seed: of the random numbers. device:
    where they are done, see `simulate_batch`. Raises ModelError for a machine that nothing lifts over the
    ground (see `Walk.lift`) and that has no heights of the ground under its feet (`contact.uneven`).
    """
    positive("height", height, "m")
    integer("steps", steps, 1)
    integer("walks", walks, 1)
    seed_number(seed)
    system, values = rough_ground(gait.system, gait.section), start(gait.system)
    z0 = np.array(list(gait.z0.values()))
    z0 = np.concatenate([z0, np.zeros(len(system.labels("z")) - len(z0))])  # it begins on even ground
    batch = simulate_batch(
        system,
        MAX_TIME_FACTOR * steps * gait.period / gait.steps,
        x0=np.repeat(gait.vector[None], walks, axis=0),
        z0=z0,
        u=values.u,
        p=np.concatenate([values.p, [height]]),
        seed=seed,
        device=device,
        rtol=1e-8,
        atol=1e-10,
    )
    steps_made = np.minimum(np.sum([batch.counts[name] for name in step_events(gait)], axis=0), steps)
    ended = np.where(
        steps_made >= steps, "walks on", np.where(batch.status == "done", "stopped", batch.status)
    )
    return RoughWalk(
        height=height, steps=steps, steps_made=steps_made, ended=tuple(str(why) for why in ended)
    )


def step_events(gait: Gait) -> tuple[str, ...]:
    """Return the events that end a step: the section, and what the walk says."""
    walk = gait.system.walk
    return tuple(dict.fromkeys((gait.section, *(walk.step_events if walk is not None else ()))))


def rough_ground(system: System, section: str) -> System:
    """Return a walker on ground whose height is random from step to step: the parameter `ground_height` [m]
    says how much, up and down.

    Where the walk names heights of the ground under its feet (`contact.uneven`), that under a foot is drawn
    when it leaves. Otherwise the ground of the next step is lower than that of the last, and so the machine
    is lifted over it, as in `step_down`.
    """
    if system.randoms:
        raise ModelError(
            f"'{system.name}' draws random numbers of its own: its ground is not made random too"
        )
    height = Param("ground_height", 0.0, "m", description="of rough ground, up and down")
    drawn = Random("ground_drawn")
    next_height = height.sym * (2 * drawn.sym - 1)
    rough = system.replace(p=(*system.p, height), randoms=(drawn,))
    if feet_on_own_ground(system):
        return rough.replace(events=change_after_leaving(system, next_height))
    lift = lifting_state(system)
    if lift in system.labels("x"):
        raise ModelError(
            f"the ground of '{system.name}' is not made rough: what lifts it, '{lift}', is a continuous "
            f"state, and a foot that stands would be put into the ground; describe ground with a height of "
            f"its own under each foot, contact.uneven(ground), for contact.rigid"
        )
    own_height = Discrete("ground_here", 0.0, "m", description="height of the ground of this step")
    walk = system.walk
    ends = {section, *(walk.step_events if walk is not None else ())}
    place = next(q for q in (*system.x, *system.z) if q.name == lift)
    events = tuple(
        replace(
            e,
            reset={
                **{k: sx(v) for k, v in e.reset.items()},
                lift: sx(e.reset.get(lift, place.sym)) + own_height.sym - next_height,
                own_height.name: next_height,
            },
            loss=None,
        )
        if e.name in ends
        else e
        for e in system.events
    )
    return rough.replace(z=(*system.z, own_height), events=events)


__all__ = ["RoughWalk", "rough_ground", "walk_over"]
