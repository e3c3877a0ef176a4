"""How far a walker comes and what it weighs: each stated once, as expressions of its `Walk`; and the costs of
transport by name."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.gait.exchange import HybridState, mirror, mirrored_states
from strut.gait.section import Section, section_of
from strut.system import System, memo, start, sx

COST_MEANINGS = {
    "losses": "energy lost in impacts and dampers, over weight and distance",
    "signed-work": (
        "net work of all motors, over weight and distance: what they give less what they take back"
    ),
    "positive-work": (
        "work of the motors while they drive, over weight and distance; what they take back is wasted"
    ),
    "absolute-work": (
        "work of the motors with its sign removed, over weight and distance: taking back costs "
        "as much as driving"
    ),
    "electrical": (
        "electrical energy that the motors draw together, over weight and distance; motors that brake feed "
        "others, and what is more than these need is lost"
    ),
    "squared-torque": (
        "integral of the squared torques, over weight and distance [N m s]: what heats the "
        "motors, up to a constant"
    ),
    "absolute-work-per-metre": (
        "work of the motors with its sign removed, over distance [J/m] (Saurel's thesis, actuators)"
    ),
    "squared-torque-per-metre": (
        "integral of the squared torques of the motors, over distance [N^2 m s] (Saurel's thesis, actuators)"
    ),
    "paper": (
        "sine of the slope, and over weight and distance the impact's norm of change of velocity and the "
        "signed work of the motors (Saurel, eq. 9; the units of its two terms differ)"
    ),
    "energy": (
        "sine of the slope, and over weight and distance the energy that the impact takes and the signed "
        "work of the motors; as 'paper', with energies alone"
    ),
    "none": "nothing: any motion that meets the constraints will do",
}
"""Costs of transport by name, and what is meant by each. Distances are along the ground. `Energetics` has the
first eight of a gait, 'electrical' of one whose ledger calls powers electrical, and those of torques of one
that torques drive; `optimal.design` can minimise those from 'positive-work' on."""


@checked
def weight(system: System) -> ca.SX:
    """Mass times g [N], as an expression of parameters. Raises ModelError where the walk does not say."""
    if system.walk is None or system.walk.weight is None:
        raise ModelError(
            f"the weight of '{system.name}' is unknown, and so a cost of transport: say it in its walk, "
            "walk=Walk(weight=mass * g, ...)"
        )
    return sx(system.walk.weight)


@checked
def weight_of(system: System) -> float:
    """Mass times g [N], as a number. Raises ModelError where the walk does not say."""
    return evaluate_parameters(system, weight(system))


def evaluate_parameters(system: System, expression: ca.SX) -> float:
    """The number that an expression of parameters has for the system's own."""
    numbers = np.concatenate([np.asarray(q.value, dtype=float) for q in system.p] or [np.empty(0)])
    return float(ca.Function("value", [system.vector("p")], [expression])(numbers))


@checked
def has_slope(system: System) -> bool:
    """Whether the walk of a system names a parameter that inclines the ground."""
    return system.walk is not None and bool(system.walk.slope)


@checked
def on_slope(system: System, slope: float) -> System:
    """The system on ground of another slope [rad], positive downhill. Raises ModelError where its walk names
    no parameter that inclines the ground."""
    if system.walk is None or not system.walk.slope:
        raise ModelError(
            f"a slope is asked, but '{system.name}' has none: put it on contact.plane(slope) with slope a "
            "Param, or name the parameter in its walk, walk=Walk(slope=..., ...)"
        )
    return system.using({system.walk.slope: slope})


def forward_states(system: System, section: Section) -> list[int]:
    """Indices of the continuous states that say how far a machine has come: those along which it can be
    shifted without noticing, of which its walk, if it says, counts as progress only some (and so never a
    sideways one)."""
    labels = system.labels("x")
    counted = system.walk.progress if system.walk is not None else ()
    return [i for i in section.cyclic if not counted or labels[i] in counted]


def footholds(system: System, event: str) -> list[int]:
    """Indices of the discrete states that the walk counts as progress and that an event sets: where a foot
    stands."""
    counted, reset = system.walk.progress if system.walk is not None else (), system.event(event).reset
    feet = [system.slices("z")[q.name] for q in system.z if q.name in counted and q.name in reset]
    return [k for foot in feet for k in range(foot.start, foot.stop)]


def ground_stretch(system: System, section: Section, forward: list[int]) -> ca.SX:
    """By how much more a machine comes along the ground than each of these states does, as an expression of
    parameters: on a slope others, such as its height, move along."""
    if section.shear is None:
        return ca.SX.ones(len(forward))
    labels = system.labels("x")
    counted = system.walk.progress if system.walk is not None else ()
    along = section.shear(system.vector("p"))
    rows = [i for i in range(along.shape[0]) if not counted or labels[i] in counted]
    columns = [section.cyclic.index(i) for i in forward]
    return sx(ca.vertcat(*[ca.sqrt(1 + ca.sumsqr(along[rows, k])) for k in columns]))


@checked
def distance_between(
    system: System, begin: HybridState, end: HybridState, p: np.ndarray, section: Section
) -> float:
    """How far a machine has come along the ground [m] from one state to another, with parameters `p`,
    negative backwards; nan where nothing says so."""
    forward = forward_states(system, section)
    stretch = np.ones(len(forward))
    if section.shear is not None:
        f = ca.Function("stretch", [system.vector("p")], [ground_stretch(system, section, forward)])
        stretch = np.array(f(p)).reshape(-1)
    if system.symmetry and forward:
        after, _ = mirror(system, *end, p)
        return _signed_length(stretch * (after[forward] - begin[0][forward]))
    feet = memo(system, footholds, section.event)
    moved = np.concatenate([stretch * (end[0][forward] - begin[0][forward]), end[1][feet] - begin[1][feet]])
    return _signed_length(moved) if len(moved) else math.nan


def _signed_length(moved: np.ndarray) -> float:
    """How far something came [m]: positive forwards, as of `signed_distance`."""
    return float(np.copysign(np.linalg.norm(moved), moved[0] + 0.0))


@checked
def distance(system: System, event: str) -> ca.SX:
    """How far a step comes along the ground [m] until just after the event that ends it, negative backwards,
    as an expression of the state before it. Raises ModelError where nothing says how far it comes."""
    reset = system.event(event).reset
    length = "" if system.walk is None else system.walk.step_length
    says_length = bool(length) and length in reset
    section = section_of(system, event)
    forward = [] if says_length and not system.symmetry else forward_states(system, section)
    if not forward and says_length:
        return sx(reset[length])
    if not forward:
        raise ModelError(
            f"how far '{system.name}' comes is unknown: say in its walk which discrete state '{event}' "
            "sets to the length of a step, walk=Walk(step_length=..., ...)"
        )
    moved = system.after(event, mirrored_states(system)[forward]) - start(system).x[forward]
    return signed_distance(moved * ground_stretch(system, section, forward))


def signed_distance(moved: ca.SX) -> ca.SX:
    """How far something came [m], as an expression: positive forwards, along the first of the ways that it
    moved. The length of several alone would have a machine walk backwards as well."""
    return moved if moved.numel() < 2 else ca.if_else(moved[0] < 0, -1, 1) * ca.norm_2(moved)


__all__ = [
    "COST_MEANINGS",
    "distance",
    "distance_between",
    "evaluate_parameters",
    "ground_stretch",
    "has_slope",
    "on_slope",
    "weight",
    "weight_of",
]
