"""`verified_gait`: the gait at a fixed point of a return map, if the simulator agrees."""

from __future__ import annotations

import numpy as np

from strut.gait.gait import Gait, spectrum
from strut.gait.replay import why_no_gait
from strut.gait.return_map import ReturnMap
from strut.gait.search_log import SearchLog


def verified_gait(step: ReturnMap, y: np.ndarray, log: SearchLog) -> Gait | None:
    """Return the gait at a fixed point, if the simulator agrees that it is one; None, and the log has why,
    where it does not."""
    once = step(y)
    multipliers, vectors = spectrum(once.by_y)
    why, distance = why_no_gait(step, y, once.period, float(np.linalg.norm(once.by_y, 2)))
    if why:
        log.refused[why] += 1
        return None
    system = step.system
    gait = Gait(
        system=system,
        section=step.section,
        steps=step.steps,
        x0=dict(zip(system.labels("x"), step.whole(y).tolist(), strict=True)),
        z0=dict(zip(system.labels("z"), step.start.z.tolist(), strict=True)),
        period=once.period,
        step_length=distance,
        residual=float(np.abs(once.y - y).max()),
        jacobian=once.by_y,
        multipliers=multipliers,
        eigenvectors=vectors,
        names=step.names,
    )
    log.gaits.append(gait)
    return gait


__all__ = ["verified_gait"]
