"""The human in an exoskeleton that is driven along a phase: one machine for all pairs of actuators of a
topology, and what turns parameters of control into its numbers (Kieboom, sections 5.4 and 5.5)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut import control, linkage, walkers
from strut.control.phase_impedance import SIGNALS
from strut.control.phase_signal import PhaseSignal, phase_signal, table_size
from strut.errors import ModelError
from strut.system import Param, System

KNOTS = 5
"""Points of a reference."""
FREQUENCY = 0.9
"""[Hz] Of the gait."""
MAX_STIFFNESS, MAX_DAMPING = 12000.0, 60.0
"""[N m/rad, N m s/rad] Of impedances (table 5.2)."""
REFERENCE_RANGE = (-np.pi, np.pi)
"""[rad] Of references."""
ANKLE = "ankle"
"""The joint of the human that is driven directly."""
Signals = dict[str, PhaseSignal]
"""Reference, stiffness and damping of a joint."""


def exoskeleton_walker(
    topology: linkage.Topology,
    design: np.ndarray | None = None,
    actuators: Sequence[str] = (),
    *,
    friction: float | None = None,
) -> System:
    """Return the human in an exoskeleton with its controller: every joint of the linkage and the ankle has a
    torque by impedance along a phase, as a table, so that active and passive joints are the same code."""
    body = walkers.exoskeleton(topology, design, actuators, friction=friction)
    joints = {
        joint: control.PhaseJoint((f"{joint}_r_motor", f"{joint}_l_motor"), REFERENCE_RANGE)
        for joint in topology.joints
    }
    joints[ANKLE] = control.PhaseJoint((f"{ANKLE}_r", f"{ANKLE}_l"), REFERENCE_RANGE)
    return control.phase_impedance(body, joints, "table", frequency=FREQUENCY, knots=KNOTS)


def active_signals(joint: str) -> Signals:
    """Return the signals of a joint with an actuator: a reference through five points, and stiffness and
    damping in two steps, each between phases of its own (eq. 5.9 to 5.11): 19 parameters."""
    signals = {
        "reference": phase_signal(
            f"{joint}_reference", "ppoly", unit="rad", bounds=REFERENCE_RANGE, value=0.0, knots=KNOTS
        )
    }
    for what, most, unit in (
        ("stiffness", MAX_STIFFNESS, "N m/rad"),
        ("damping", MAX_DAMPING, "N m s/rad"),
    ):
        steps = tuple(
            Param(f"{joint}_{what}_{word}", value, bounds=(0.0, 1.0))
            for word, value in (("on", 0.0), ("off", 0.5))
        )
        signal = phase_signal(
            f"{joint}_{what}",
            "step",
            unit=unit,
            bounds=(0.0, most),
            value=0.1 * most,
            knots=KNOTS,
            steps=(steps[0], steps[1]),
        )
        signals[what] = PhaseSignal("step", (*steps, *signal.parameters), signal.table)
    return signals


def passive_signals(joint: str) -> Signals:
    """Return the signals of a joint with a spring and a damper alone: rest angle, stiffness and damping."""
    ranges = {
        "reference": (REFERENCE_RANGE, "rad"),
        "stiffness": ((0.0, MAX_STIFFNESS), "N m/rad"),
        "damping": ((0.0, MAX_DAMPING), "N m s/rad"),
    }
    return {
        what: phase_signal(f"{joint}_{what}", "const", unit=unit, bounds=bounds, value=0.0, knots=KNOTS)
        for what, (bounds, unit) in ranges.items()
    }


def exoskeleton_tables(topology: linkage.Topology, actuators: Sequence[str]) -> control.PhaseTables:
    """Return what turns parameters of control into the tables of the machine of a topology: 19 of each
    actuator and of the ankle, 3 of every other joint."""
    if tuple(actuators) not in topology.actuator_sets():
        sets = ", ".join("-".join(each) for each in topology.actuator_sets())
        raise ModelError(f"actuators {', '.join(actuators)} do not drive the linkage: {sets} do")
    parameters: list[Param] = []
    tables: list[ca.SX] = []
    labels: list[str] = []
    for joint in (*topology.joints, ANKLE):
        driven = joint in actuators or joint == ANKLE
        signals = active_signals(joint) if driven else passive_signals(joint)
        parameters += [q for signal in signals.values() for q in signal.parameters]
        for what in SIGNALS:
            tables.append(signals[what].table)
            labels += [f"{joint}_{what}_table[{k}]" for k in range(table_size(KNOTS))]
    symbols = ca.vertcat(*[q.sym for q in parameters])
    encode = ca.Function("phase_tables", [symbols], [ca.densify(ca.vertcat(*tables))])
    return control.PhaseTables(tuple(parameters), tuple(labels), encode)


def stride_references(motion: linkage.LinkageMotion, design: int = 0) -> dict[str, dict[str, float]]:
    """Return by joint references that follow a stride: parameters of `active_signals` with points at even
    shares of it. motion: along even phases of the stride, without those around."""
    tree = linkage.spanning_tree(motion.topology)
    angles = motion.coordinates[design, : motion.along] @ tree.joint_turns().T
    phases = np.arange(motion.along + 1) / motion.along
    at = np.arange(1, KNOTS + 1) / (KNOTS + 1)
    references = {}
    for k, joint in enumerate(motion.topology.joints):
        values = np.interp(at, phases, np.append(angles[:, k], angles[0, k]))
        references[joint] = {f"{joint}_reference_{n + 1}": float(value) for n, value in enumerate(values)}
    return references


__all__ = [
    "active_signals",
    "exoskeleton_tables",
    "exoskeleton_walker",
    "passive_signals",
    "stride_references",
]
