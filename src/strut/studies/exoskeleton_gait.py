"""The human in an exoskeleton that is driven along a phase: one machine for all pairs of actuators of a
topology, and what turns parameters of control into its numbers (Kieboom, sections 5.4 and 5.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from strut import contact, control, linkage, walkers
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
RIGID_FRICTION = 0.8
"""[1] Coulomb's coefficient of rigid ground on which what a search found walks again: that of soft ground."""
ANKLE = "ankle"
"""The joint of the human that is driven directly."""
SPRING_WORDS = {"reference": "rest", "stiffness": "stiffness", "damping": "damping"}
"""What signals of a passive joint are called as parameters of its spring."""
Signals = dict[str, PhaseSignal]
"""Reference, stiffness and damping of a joint."""


def exoskeleton_walker(
    topology: linkage.Topology,
    design: np.ndarray | None = None,
    actuators: Sequence[str] = (),
    *,
    ground: str = "rigid",
    surface: contact.Ground | None = None,
    friction: float | None = None,
) -> System:
    """Return the human in an exoskeleton with its controller: every joint of the linkage and the ankle has a
    torque by impedance along a phase, as a table, so that one machine serves all pairs of actuators; a joint
    without one has a table of zeros, and a spring. ground, surface, friction: as of `walkers.exoskeleton`."""
    body = walkers.exoskeleton(topology, design, actuators, ground=ground, surface=surface, friction=friction)
    return drive_along_phase(body, list(topology.joints))


def drive_along_phase(body: System, motors: Sequence[str]) -> System:
    """Return a worn machine with torques by impedance along a phase, as tables. motors: of both legs, so that
    M stands for the drives M_r_motor and M_l_motor; the ankles are driven besides."""
    joints = {
        joint: control.PhaseJoint((f"{joint}_r_motor", f"{joint}_l_motor"), REFERENCE_RANGE)
        for joint in motors
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
    """Return what turns parameters of control into numbers of the machine of a topology: 19 of each actuator
    and of the ankle, which become tables, and 3 of every other joint, which become springs: what these do is
    stored and dissipated, not supplied by a motor."""
    if tuple(actuators) not in topology.actuator_sets():
        sets = ", ".join("-".join(each) for each in topology.actuator_sets())
        raise ModelError(f"actuators {', '.join(actuators)} do not drive the linkage: {sets} do")
    return phase_encoding([*actuators, ANKLE], [j for j in topology.joints if j not in actuators])


def phase_encoding(
    driven: Sequence[str], sprung: Sequence[str] = (), passed: Sequence[Param] = ()
) -> control.PhaseTables:
    """Return what turns parameters of control into numbers of a machine of `drive_along_phase`: of joints
    that are driven into tables, of sprung ones, whose tables are zeros, into springs. Driven joints have no
    springs where others have some. passed: further parameters of the machine, as they are."""
    parameters: list[Param] = []
    numbers: list[ca.SX] = []
    labels: list[str] = []
    for joint in (*sprung, *driven):
        signals = active_signals(joint) if joint in driven else passive_signals(joint)
        parameters += [q for signal in signals.values() for q in signal.parameters]
        for what in SIGNALS:
            none = phase_signal("none", "const", unit="", bounds=(0.0, 1.0), value=0.0, knots=KNOTS)
            zeros = ca.substitute([none.table], [none.parameters[0].sym], [ca.SX(0)])[0]
            numbers.append(signals[what].table if joint in driven else zeros)
            labels += [f"{joint}_{what}_table[{k}]" for k in range(table_size(KNOTS))]
        if sprung and joint != ANKLE:
            values = (
                [signals[what].parameters[0].sym for what in SIGNALS] if joint in sprung else [ca.SX(0)] * 3
            )
            numbers += values
            labels += [f"{joint}_spring_{SPRING_WORDS[what]}" for what in SIGNALS]
    parameters += passed
    numbers += [q.sym for q in passed]
    labels += [q.name for q in passed]
    symbols = ca.vertcat(*[q.sym for q in parameters])
    encode = ca.Function("phase_tables", [symbols], [ca.densify(ca.vertcat(*numbers))])
    return control.PhaseTables(tuple(parameters), tuple(labels), encode)


def machine_values(
    tables: control.PhaseTables, numbers: Mapping[str, float]
) -> dict[str, float | list[float]]:
    """Return the parameters of the machine that does what these parameters of control say, by name."""
    row = tables.rows(np.array([[numbers[name] for name in tables.names]]))[0]
    values: dict[str, float | list[float]] = {}
    for label, value in zip(tables.labels, row, strict=True):
        name, bracket, _ = label.partition("[")
        if not bracket:
            values[name] = float(value)
            continue
        entries = values.setdefault(name, [])
        assert isinstance(entries, list)
        entries.append(float(value))
    return values


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
    "drive_along_phase",
    "exoskeleton_tables",
    "exoskeleton_walker",
    "machine_values",
    "passive_signals",
    "phase_encoding",
    "stride_references",
]
