"""Actuators by name, as the command line knows them."""

from __future__ import annotations

from collections.abc import Callable

from strut.actuator.dc_motors import dc_motors
from strut.actuator.drives import common_name, drives
from strut.actuator.exchange import sides_of_joints
from strut.actuator.motor import MOTORS
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
"""The kinds of drive by name, and what each means."""

_BUILDERS: dict[str, Callable[[System], System]] = {
    "rigid": lambda system: system,
    "series": series,
    "parallel": parallel,
}
_FREE_PARAMETERS = {"rigid": (), "series": ("series_spring",), "parallel": ("spring", "rest")}
MAX_STIFFNESS = 2000.0
"""[N m/rad] Upper bound of springs that a design finds: a stiffer one is as good as rigid, and the equations
become stiff."""
MIN_STIFFNESS = 1.0
"""[N m/rad] Lower bound of springs in series that a design finds: they must carry all torque."""
REST_BOUNDS = (-1.0, 1.0)
"""[rad] Bounds of angles of rest that a design finds."""


@checked
def driven(system: System, kind: str) -> System:
    """The system with its motors and joints connected as `kind` says, a name of `KINDS`; or driven by
    motors of the catalogue, a name of `MOTORS`, as `dc_motors` does. Raises UnknownNameError for another
    name, and ModelError where there is no motor to put a spring to."""
    if kind in MOTORS:
        return dc_motors(system, kind)
    if kind not in KINDS:
        raise UnknownNameError(f"there is no drive '{kind}': {did_you_mean(kind, [*KINDS, *MOTORS])}")
    if kind != "rigid" and not system.u:
        raise ModelError(f"'{system.name}' has no motors: there is nothing to drive it by springs in {kind}")
    return _BUILDERS[kind](system)


@checked
def constants(system: System, kind: str) -> dict[str, tuple[float, float]]:
    """Return the parameters of the springs of `driven(system, kind)` by name, with the bounds within which a
    design finds them: what `optimal.design` takes as `free`. system: as it is before it is driven."""
    if not _FREE_PARAMETERS.get(kind):
        return {}
    variant, chosen = driven(system, kind), drives(system)
    params, bounds = {q.name: q for q in variant.p}, {}
    for sides in sides_of_joints(system, chosen):
        name = common_name([chosen[i].name for i in sides.members])
        for what in _FREE_PARAMETERS[kind]:
            q = params.get(f"{name}_{what}")
            if q is not None:
                low, high = (
                    REST_BOUNDS
                    if what == "rest"
                    else (MIN_STIFFNESS if kind == "series" else 0.0, MAX_STIFFNESS)
                )
                bounds[q.name] = (max(low, q.bounds[0]), min(high, q.bounds[1]))
    return bounds


__all__ = ["KINDS", "constants", "driven"]
