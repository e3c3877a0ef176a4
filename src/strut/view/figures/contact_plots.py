"""Forces of contact: over time, and in the cone of friction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.view.figures.curves import curves, drawn_indices
from strut.view.figures.figure import NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.figures.name_groups import MAX_CURVES
from strut.view.figures.plots import figures_by_unit
from strut.view.units import title_with_unit

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory


def contacts(trajectory: Trajectory) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Feet by name: the labels of their normal force and of their friction, of those whose walk says so."""
    return {foot.name: (foot.normal, foot.friction) for foot in trajectory.names.feet if foot.normal}


@checked
def contact_forces(trajectory: Trajectory) -> Figure:
    """The normal force of every foot and its friction [N], over time: see `drawn_forces` for many feet."""
    feet = contacts(trajectory)
    if not feet:
        raise ModelError(
            f"'{trajectory.system_name}' has no contact forces: its walk names no foot with a normal force, "
            f"Foot(normal=...)"
        )
    labels = drawn_forces(trajectory)
    (figure,) = figures_by_unit(trajectory, labels, {*trajectory.names.z}, unit="N", mark_names=True)
    return replace(figure, code="strut.view.contact_forces(run)")


def drawn_forces(trajectory: Trajectory) -> list[str]:
    """Labels of the forces that one figure can hold: all of them; of many the normal forces alone; of very
    many those of the feet that are pressed hardest."""
    feet = contacts(trajectory)
    labels = [label for normal, friction in feet.values() for label in (normal, *friction)]
    if len(labels) <= MAX_CURVES:
        return labels
    normals = [normal for normal, _ in feet.values()]
    if len(normals) <= MAX_CURVES:
        return normals
    peaks = {
        name: float(np.nanmax(values, initial=0.0))
        for name, (_, values) in curves(trajectory, normals).items()
    }
    hardest = sorted(normals, key=lambda name: -peaks[name])[:MAX_CURVES]
    return [name for name in normals if name in hardest]


@checked
def friction_cone(trajectory: Trajectory, foot: str | None = None, mu: float | str | None = None) -> Figure:
    """The forces of a foot, friction against normal force [N], and the cone in which it holds.

    foot: its name; the first that has friction unless given. mu: the coefficient of friction, or the name of
    its parameter; else the one that the walk names, Foot(coefficient=...). Without any, the narrowest cone
    that holds the forces is drawn: what the ground must offer.
    """
    feet = {name: pair for name, pair in contacts(trajectory).items() if pair[1]}
    if foot is None and feet:
        foot = next(iter(feet))
    if foot not in feet:
        raise UnknownNameError(
            f"'{trajectory.system_name}' has no foot '{foot}' with friction: "
            f"{did_you_mean(str(foot), list(feet))}"
        )
    normal, friction = feet[foot]
    curve = curves(trajectory, [normal, *friction])
    push = curve[normal][1]
    pull = curve[friction[0]][1] if len(friction) == 1 else np.hypot(*(curve[label][1] for label in friction))
    drawn_points = np.unique(np.concatenate([drawn_indices(push), drawn_indices(pull)]))
    least = float(np.max(np.abs(pull[push > 0]) / push[push > 0], initial=0.0))
    if mu is None:
        mu = next((f.coefficient for f in trajectory.names.feet if f.name == foot), "") or None
    coefficient = float(trajectory[mu]) if isinstance(mu, str) else mu
    slope, name = (
        (least, f"least friction that holds, {least:.3g}")
        if coefficient is None
        else (coefficient, f"friction cone, {coefficient:.3g}")
    )
    top = float(np.max(push, initial=0.0)) * 1.05
    sides = (-1, 1) if len(friction) == 1 else (1,)
    edge_x = np.concatenate([[side * slope * top, 0.0, np.nan] for side in sides])
    edge_y = np.concatenate([[top, 0.0, np.nan] for _ in sides])
    return Figure(
        (
            Line(name, edge_x, edge_y, NEUTRAL, "dash", 1.2),
            Points(foot, pull[drawn_points], push[drawn_points], PALETTE[0], size=4),
        ),
        title_with_unit(trajectory, f"{foot} friction", "N"),
        title_with_unit(trajectory, normal, "N"),
        height=340,
        code=f"strut.view.friction_cone(run, {foot!r})",
    )


__all__ = ["contact_forces", "contacts", "drawn_forces", "friction_cone"]
