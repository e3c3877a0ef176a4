"""How near to the gait a motion ends that leads into one."""

from __future__ import annotations

from strut.optimal.walk.replay import Replay

IN_GAIT = "as in the gait"
"""What the names of requirements end with by which a motion ends in a gait."""
MAX_GAIT_ERROR = 1e-3
"""A motion that leads into a gait ends within this of it in the simulator, relative to 1 + |state|: as
exactly as a replay follows its plan."""


def gait_error(replay: Replay) -> float | None:
    """Return by how much the replay of a motion that leads into a gait misses it, the largest difference of a
    state, relative to 1 + |state|; None where it leads into none."""
    problem, last = replay.result.problem, replay.result.phases[-1]
    asked = [r for r in problem.requirements if r.at == "after" and r.name.endswith(IN_GAIT)]
    hits = [e for e in replay.runs[-1].events if e.name == last.until]
    if not asked or not hits:
        return None
    system, after = problem.system, hits[-1].after
    f = system.function("reached", [r.expression for r in asked], clock=False)
    x, z = ([after[name] for name in system.labels(group)] for group in "xz")
    values = f(x, z, [0.0] * system.size("u"), replay.result.p)
    numbers = [float(v) for v in (values if isinstance(values, (tuple, list)) else [values])]
    return max(abs(v - r.low) / (1 + abs(r.low)) for v, r in zip(numbers, asked, strict=True))


__all__ = ["IN_GAIT", "MAX_GAIT_ERROR", "gait_error"]
