"""Pictures of a machine that steps: strips of stick figures with what its controller knows, and histories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strut.checks import checked
from strut.control import ControlledRun
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.view.figures.figure import NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.motion.frames import require_frames

METRES_PER_NEWTON = 5e-4
"""[m/N] How long forces are drawn: 1000 N half a metre."""
COLOURS = {"com": "#D62728", "path": "#9467BD", "xcom": "#009E73", "net": "#CC79A7"}
"""Of the centre of mass, its path, the extrapolated centre of mass, and all forces together."""
FOOT_COLOURS = ("#D62728", "#17BECF")
"""Of the feet's references and forces, in their order."""


@checked
def stepping_strip(
    run: ControlledRun, feet: Sequence[str], between: tuple[float, float], poses: int = 8
) -> Figure:
    """Stick figures between two times [s], with centre of mass, its path, the extrapolated centre of mass,
    the feet's references and the ground's forces.

    run: of a controller of `control.momentum_stepping`. feet: the frames that step.
    """
    first, last = between
    end = float(run.trajectory.t[-1])
    if not run.t[0] <= first < last <= end + 1e-9 or poses < 2:
        raise ValueRangeError(
            f"a strip of {poses} poses from {first:g} to {last:g} s cannot be drawn: two or more within "
            f"{run.t[0]:g} to {end:g} s are needed"
        )
    _require_feet(run, feet)
    stage = require_frames(run.trajectory, rate=240.0)
    moments = np.linspace(first, last, poses)
    samples = [int(np.argmin(np.abs(run.t - t))) for t in moments]
    traces: list[Line | Points] = []
    sticks = []  # of all poses, with gaps between them
    for t in moments:
        k = int(np.argmin(np.abs(stage.t - t)))
        for piece in stage.pieces:
            if "start" in piece.values:
                sticks += [piece.values["start"][k], piece.values["end"][k], np.full(3, np.nan)]
    x, _, z = np.array(sticks).T
    traces.append(Line(run.trajectory.system_name, x, z, NEUTRAL, width=2.0))
    for name, key, symbol in (("CoM", "com", "circle"), ("CoM reference", "path", "diamond")):
        xz = run["com" if key == "com" else "com_reference"][samples]
        traces.append(Points(name, xz[:, 0], xz[:, 1], COLOURS[key], symbol))
    traces.append(Points("XcoM", run["xcom"][samples], np.zeros(poses), COLOURS["xcom"], "diamond"))
    nets = np.zeros((poses, 2))
    for foot, shade in zip(feet, FOOT_COLOURS, strict=False):
        reference = run[f"{foot}_reference"][samples]
        traces.append(Points(f"{foot} reference", reference[:, 0], reference[:, 1], shade, "cross"))
        force, at = run[f"{foot}_force"][samples], run[f"{foot}_place"][samples]
        nets += force
        traces.append(_arrows(f"{foot} force", at, force, shade))
    traces.append(_arrows("both forces", run["com"][samples], nets, COLOURS["net"]))
    return Figure(tuple(traces), "x [m]", "z [m]", equal=True, height=360)


@checked
def stepping_histories(run: ControlledRun, feet: Sequence[str]) -> dict[str, Figure]:
    """Places over time, along x and up: centre of mass, path, XcoM and feet. A step begins where the XcoM
    leaves what lies between the feet."""
    _require_feet(run, feet)
    figures = {}
    for k, axis in enumerate("xz"):
        traces = [
            Line("CoM", run.t, run["com"][:, k], COLOURS["com"]),
            Line("CoM reference", run.t, run["com_reference"][:, k], COLOURS["path"], "dash"),
        ]
        if axis == "x":
            traces.append(Line("XcoM", run.t, run["xcom"], COLOURS["xcom"]))
        traces += [
            Line(foot, run.t, run[f"{foot}_place"][:, k], shade)
            for foot, shade in zip(feet, PALETTE, strict=False)
        ]
        figures[axis] = Figure(tuple(traces), "t [s]", f"{axis} [m]", over_time=True)
    return figures


def _arrows(name: str, at: np.ndarray, force: np.ndarray, shade: str) -> Line:
    """Forces as lines from where they act, with gaps between them."""
    tips = at + METRES_PER_NEWTON * force
    gap = np.full(len(at), np.nan)
    x, z = (np.column_stack([at[:, k], tips[:, k], gap]).ravel() for k in (0, 1))
    return Line(name, x, z, shade, width=1.4)


def _require_feet(run: ControlledRun, feet: Sequence[str]) -> None:
    """Refuse runs whose controller recorded no references of feet."""
    recorded_feet = [name.split("_reference")[0] for name in run.labels if name.endswith("_reference[0]")]
    for foot in feet:
        if foot not in recorded_feet:
            raise UnknownNameError(
                f"the run has no reference of a foot '{foot}': {did_you_mean(foot, recorded_feet)}; "
                f"pictures of stepping are of runs under control.momentum_stepping"
            )


__all__ = ["stepping_histories", "stepping_strip"]
