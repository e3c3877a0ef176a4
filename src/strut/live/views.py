"""What a live page asks of a machine besides its states: where everything is, what a push does, what a
section makes of a step."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.export.wasm import scene_views, view_function
from strut.gait.exchange import mirrored_states
from strut.gait.return_map import ReturnMap
from strut.gait.section import Section, section_of
from strut.system import System

PUSH_REGULARISATION = 1e-12
"""Added to the diagonal of the matrix that a push inverts, relative to its trace: a machine that cannot
move one way is not pushed that way."""


def push_view(system: System) -> ca.Function | None:
    """Return the states after a push: the smallest change of rates (2-norm) by which the velocity of the
    centre of mass, or of the first part that is drawn, changes as asked, along x and z [m/s]. None where
    nothing moves."""
    scene = system.scene
    place = scene.com
    if place is None and scene.parts:
        values = scene.parts[0].values
        place = values["at"] if "at" in values else values["start"]
    if place is None:
        return None
    x = system.vector("x")
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    velocity = ca.jtimes(place, x, flow)[[0, 2]]
    rates = [i for i in range(x.numel()) if ca.depends_on(velocity, x[i]) and not ca.depends_on(place, x[i])]
    if not rates:
        return None
    asked = ca.SX.sym("asked", 2)
    by_rates = ca.jacobian(velocity, ca.vertcat(*[x[i] for i in rates]))
    gram = by_rates @ by_rates.T
    gram = gram + PUSH_REGULARISATION * ca.trace(gram) * ca.SX.eye(2)
    after = ca.SX(x)
    change = by_rates.T @ ca.solve(gram, asked)
    for k, i in enumerate(rates):
        after[i] = x[i] + change[k]
    return view_function(system, "push", after, asked)


def page_views(system: System) -> dict[str, ca.Function]:
    """Return the views of a page's machine: its scene and ground, what a push does, and what moves along
    with cyclic states of its section."""
    push, section = push_view(system), section_of_page(system)
    sheared = {} if section is None else shear_view(system, section, system)
    return scene_views(system) | ({} if push is None else {"push": push}) | sheared


def section_of_page(system: System) -> Section | None:
    """Return the section of a machine that says what ends its steps; None for others."""
    try:
        return section_of(system)
    except ModelError:
        return None


def shear_view(system: System, section: Section, shown: System) -> dict[str, ca.Function]:
    """Return the view `shear`, what moves along with cyclic states, where something does. shown: the system
    whose module has the view, with the parameters of `system`."""
    if section.shear is None:
        return {}
    return {"shear": view_function(shown, "shear", ca.densify(section.shear(system.vector("p"))))}


def gait_views(step: ReturnMap) -> dict[str, ca.Function]:
    """Return views of the variational system of a return map: `exchange`, the states with left and right
    exchanged and their derivative, and `shear`, what moves along with cyclic states."""
    system, views = step.system, {}
    if system.symmetry:
        x_new, z_new = (mirrored_states(system, group) for group in "xz")
        by_x = ca.densify(ca.jacobian(x_new, system.vector("x")))
        views["exchange"] = view_function(
            step.varied, "exchange", ca.vertcat(ca.densify(x_new), ca.densify(z_new), ca.vec(by_x))
        )
    return views | shear_view(system, step.shape, step.varied)


def section_shape(system: System, shape: Section) -> dict[str, Any]:
    """Return the coordinates of a section, as a page reads them; `plane`: two rates of angles, for a
    basin."""
    units = {label: q.unit for q in system.x for label in q.labels}
    rates = [k for k, name in enumerate(shape.names) if units[name].endswith("rad/s")]
    plane = rates[-2:] if len(rates) >= 2 else list(range(len(shape.names)))[-2:]
    return {
        "section": shape.event,
        "names": list(shape.names),
        "nx": system.size("x"),
        "nz": system.size("z"),
        "free": list(shape.free),
        "cyclic": list(shape.cyclic),
        "spread": np.asarray(shape.spread).tolist(),
        "symmetric": bool(system.symmetry),
        "shear": shape.shear is not None,
        "plane": plane,
    }


__all__ = ["gait_views", "page_views", "push_view", "section_of_page", "section_shape"]
