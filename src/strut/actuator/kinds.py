"""Actuators by name, as the command line knows them."""

from __future__ import annotations

from collections.abc import Callable

from strut.actuator.drives import drives, together
from strut.actuator.exchange import alike
from strut.actuator.parallel import parallel
from strut.actuator.series import series
from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import System

KINDS: dict[str, str] = {
    "rigid": "motors turn the joints themselves",
    "series": "a spring between each motor, which has an inertia, and its joint",
    "parallel": "a spring beside each motor",
}
"""What is meant by each."""

_MAKE: dict[str, Callable[[System], System]] = {
    "rigid": lambda system: system,
    "series": series,
    "parallel": parallel,
}
_FREE = {"rigid": (), "series": ("series_spring",), "parallel": ("spring", "rest")}
STIFFEST = 2000.0
"""Bound of springs that are to be found [N m/rad]: beyond, a spring is as good as rigid, and the equations
become stiff."""
SOFTEST = 1.0
"""The same, of springs that must carry all torque."""
RESTS = (-1.0, 1.0)
"""Bounds of angles of rest that are to be found [rad]."""


@checked
def driven(system: System, kind: str) -> System:
    """The system driven otherwise: a name of `KINDS`."""
    if kind not in KINDS:
        raise UnknownNameError(f"there is no drive '{kind}': {did_you_mean(kind, list(KINDS))}")
    if kind != "rigid" and not system.u:
        raise ModelError(f"'{system.name}' has no motors: there is nothing to drive it by springs in {kind}")
    return _MAKE[kind](system)


@checked
def constants(system: System, kind: str) -> dict[str, tuple[float, float]]:
    """Parameters of the springs of a system that is driven so, with the bounds within which a design finds
    them. `system` is the one before `driven`."""
    if not _FREE.get(kind):
        return {}
    made, chosen = driven(system, kind), drives(system)
    known, found = {q.name: q for q in made.p}, {}
    for sides in alike(system, chosen):
        name = together([chosen[i].name for i in sides.members])
        for what in _FREE[kind]:
            q = known.get(f"{name}_{what}")
            if q is not None:
                low, high = RESTS if what == "rest" else (SOFTEST if kind == "series" else 0.0, STIFFEST)
                found[q.name] = (max(low, q.bounds[0]), min(high, q.bounds[1]))
    return found


__all__ = ["KINDS", "constants", "driven"]
