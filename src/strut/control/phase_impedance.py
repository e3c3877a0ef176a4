"""`phase_impedance`: springs and dampers that motors play along a phase, which time drives (Kieboom, section
4.1.2), and landings of feet may set right."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from strut.actuator.drives import Drive, drives
from strut.checks import checked, integer, ordered_pair, positive, short_repr
from strut.control.phase_clock import LEGS, PHASE, TouchdownReset, phase_clock
from strut.control.phase_signal import KINDS, PhaseSignal, phase_signal, table_size, table_value
from strut.errors import ModelError, did_you_mean
from strut.system import Param, System, join, limit_to

SIGNALS = ("reference", "stiffness", "damping")
"""What a joint has along the phase."""
MAX_STIFFNESS, MAX_DAMPING = 12000.0, 60.0
"""[N m/rad, N m s/rad] Bounds of the thesis for a human."""
FREQUENCY_BOUNDS = (0.05, 5.0)
"""[Hz] Between which a frequency may be chosen."""


@checked
@dataclass(frozen=True)
class PhaseJoint:
    """A joint that is driven along the phase.

    drives: names of the drives, or their inputs; the k-th of n is k/n of a period behind the first: the right
    leg, then the left. range: of its reference [rad, or m]. stiffness, damping: their upper bounds; the lower
    ones are 0.
    """

    drives: Sequence[str]
    range: tuple[float, float]
    stiffness: float = MAX_STIFFNESS
    damping: float = MAX_DAMPING

    def __post_init__(self) -> None:
        if isinstance(self.drives, str) or not len(self.drives):
            raise ModelError(
                f"the drives of a joint are {short_repr(self.drives)}: give a list of names, "
                f"['hip_r', 'hip_l']"
            )
        ordered_pair("the range of a reference", self.range)
        positive("the bound of a stiffness", self.stiffness)
        positive("the bound of a damping", self.damping)


@checked
def phase_impedance(
    system: System,
    joints: Mapping[str, PhaseJoint],
    mode: str = "const",
    *,
    frequency: float,
    knots: int = 4,
    limit: float = math.inf,
    clock: str = "time",
    touchdown: TouchdownReset | None = None,
) -> System:
    """The system with torques k (reference - angle) - b rate in some joints, all three along a phase that
    goes from 0 to 1 again and again, so many times a second as the frequency says.

    joints: by a name of your own, what is driven alike. mode: of stiffness and damping: 'const', 'step' (one
        value between two phases, another elsewhere, both joint by joint) or 'ppoly' (a periodic monotone
        cubic); or 'table', where all signals are given as numbers of a phase table (see `phase_tables`), so
        that one compiled machine serves every mode. frequency: [Hz]. knots: points of the cubics; references
        are cubics in every mode. limit: of every torque [N m]. clock: what drives the phase: 'time', phase =
        frequency t; or 'state', so that it may begin anywhere, and `gait.find` finds gaits: a step ends with
        the event phase_mark_l, at 3/4 of the cycle, or phase_mark_r, at 1/4. touchdown: of a phase that is a
        state, how landings set it right.

    Everything is a parameter: frequency; of a joint J the J_reference, J_stiffness and J_damping, with
    endings as `phase_signal` says, and of steps J_on and J_off, phases; touchdown_phase, touchdown_gain and
    touchdown_window. The torques become outputs, and so does phase where it is no state. With touchdowns each
    foot F has the events F_arm and F_touchdown. Left and right of a machine that has both are exchanged half
    a cycle later, where every joint has two drives.
    """
    integer("knots", knots, 2)
    rate = Param("frequency", positive("frequency", frequency), "Hz", bounds=FREQUENCY_BOUNDS)
    alike = all(len(joint.drives) == LEGS for joint in joints.values())
    running = phase_clock(system, rate, clock, touchdown=touchdown, alike=alike)
    system = running.system
    connect: dict[str, ca.SX] = {}
    own: list[Param] = [*running.parameters]
    displayed_outputs: dict[str, ca.SX] = {} if running.is_state else {PHASE: running.phase}
    units: dict[str, str] = {}
    signals: Mapping[str, Callable[[ca.SX], ca.SX]]
    for name, joint in _checked_joints(system, joints).items():
        sources = drives(system, list(joint.drives))
        if mode == "table":
            tables = {what: _table_param(name, what, knots) for what in SIGNALS}
            own += tables.values()
            signals = {what: partial(table_value, q.sym) for what, q in tables.items()}
        else:
            described, steps = _signals(name, joint, mode, knots, sources[0])
            own += [*steps, *[q for each in described.values() for q in each.parameters]]
            signals = {what: each.value for what, each in described.items()}
        for k, source in enumerate(sources):
            at = running.of_leg(k, len(sources))
            reference = signals["reference"](at)
            torque = (
                signals["stiffness"](at) * (reference - source.angle) - signals["damping"](at) * source.rate
            )
            connect[source.input.name] = limit_to(torque, limit) if math.isfinite(limit) else torque
            displayed_outputs[f"{source.name}_reference"] = reference
            units |= {f"{source.name}_reference": source.unit, source.input.name: source.input.unit}
    extended = system.replace(p=(*system.p, *own))
    outputs = displayed_outputs | connect
    loop = join(system.name, extended, connect=connect, outputs=outputs, description=system.description)
    return loop.replace(output_units={**loop.output_units, **units})


@checked
def phase_tables(joints: Mapping[str, PhaseJoint], mode: str, *, knots: int = 4) -> PhaseTables:
    """Return what turns the parameters of a mode into the tables of the machine of mode 'table'."""
    parameters: list[Param] = []
    tables: list[ca.SX] = []
    labels: list[str] = []
    for name, joint in joints.items():
        described, steps = _signals(name, joint, mode, knots, None)
        parameters += [*steps, *[q for each in described.values() for q in each.parameters]]
        for what in SIGNALS:
            tables.append(described[what].table)
            labels += [f"{name}_{what}_table[{k}]" for k in range(table_size(knots))]
    symbols = ca.vertcat(*[q.sym for q in parameters])
    encode = ca.Function("phase_tables", [symbols], [ca.densify(ca.vertcat(*tables))])
    return PhaseTables(tuple(parameters), tuple(labels), encode)


@dataclass(frozen=True, eq=False)
class PhaseTables:
    """Turns parameters of a mode into those of the machine of mode 'table'. parameters: of the mode. labels:
    of the numbers of the tables, as the machine names its parameters."""

    parameters: tuple[Param, ...]
    labels: tuple[str, ...]
    function: ca.Function

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters of the mode."""
        return tuple(q.name for q in self.parameters)

    @property
    def digest(self) -> str:
        """What tells these tables from others: the same for those that do the same."""
        return hashlib.sha256(self.function.serialize().encode()).hexdigest()[:16]

    def rows(self, x: np.ndarray) -> np.ndarray:
        """Return the numbers of the tables, a row for each row of parameters."""
        return np.array(self.function(np.asarray(x, dtype=float).T)).T


def _checked_joints(system: System, joints: Mapping[str, PhaseJoint]) -> Mapping[str, PhaseJoint]:
    """The joints, if there are some, and each drive is in one of them."""
    if not joints:
        raise ModelError(f"no joint of '{system.name}' is driven: give joints, {{'hip': PhaseJoint(...)}}")
    seen: dict[str, str] = {}
    for name, joint in joints.items():
        for source in drives(system, list(joint.drives)):
            if source.name in seen:
                raise ModelError(f"the drive '{source.name}' is in '{seen[source.name]}' and in '{name}'")
            seen[source.name] = name
    return joints


def _signals(
    name: str, joint: PhaseJoint, mode: str, knots: int, source: Drive | None
) -> tuple[dict[str, PhaseSignal], tuple[Param, ...]]:
    """Return the signals of a joint by what they are, and the phases between which they step."""
    if mode not in KINDS:
        raise ModelError(f"the mode of an impedance is '{mode}': {did_you_mean(mode, [*KINDS, 'table'])}")
    along = source is not None and source.unit == "m"
    units = ("m", "N/m", "N s/m") if along else ("rad", "N m/rad", "N m s/rad")
    steps = (
        tuple(
            Param(f"{name}_{word}", value, bounds=(0.0, 1.0)) for word, value in (("on", 0.0), ("off", 0.5))
        )
        if mode == "step"
        else ()
    )
    low, high = joint.range
    signals = {
        "reference": phase_signal(
            f"{name}_reference",
            "ppoly",
            unit=units[0],
            bounds=joint.range,
            value=min(max(0.0, low), high),
            knots=knots,
        )
    }
    for what, most, unit in (("stiffness", joint.stiffness, units[1]), ("damping", joint.damping, units[2])):
        signals[what] = phase_signal(
            f"{name}_{what}",
            mode,
            unit=unit,
            bounds=(0.0, most),
            value=0.1 * most,
            knots=knots,
            steps=(steps[0], steps[1]) if steps else None,
        )
    return signals, steps


def _table_param(name: str, what: str, knots: int) -> Param:
    """The parameter that holds the phase table of a signal, zero throughout."""
    values = np.zeros(table_size(knots))
    values[knots : 2 * knots] = 1.0  # one over lengths of pieces
    return Param(f"{name}_{what}_table", values, description=f"phase table of the {what}")


__all__ = ["PhaseJoint", "PhaseTables", "phase_impedance", "phase_tables"]
