"""`step_lqr`: a gait held from step to step: what may change is set once per step, by the linear-quadratic
regulator of the return map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.control.adjust import add_changes, change_name, set_by_events, substitute_symbols
from strut.control.closed_loop import FeedbackLaw, close_loop
from strut.control.effort import largest_efforts
from strut.control.held_gait import HeldGait, find_held_gait
from strut.control.input_limits import unkept_requirements, warn_of_unkept
from strut.control.kalman import EstimateQuality, Kalman, kalman_observer
from strut.control.motion_table import MotionTable, motion_table
from strut.control.observer import Observer
from strut.control.read_motion import gait_and_plant, read_motion, reference_motion
from strut.control.riccati import check_controllable, discrete_riccati
from strut.control.weights import chosen_values, deviations
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait import Gait
from strut.gait.exchange import mirrored_states, opposite_events
from strut.optimal import Design
from strut.optimal.walk.with_plan import step_end_events
from strut.system import Param, System, sx

SAMPLED_MOMENTS = 200
"""Moments of a step from which the ranges of its states are read."""


@checked
def step_lqr(
    source: Gait | Design,
    by: Sequence[str],
    *,
    deviation: Mapping[str, float] | None = None,
    change: Mapping[str, float] | None = None,
    observer: Kalman | None = None,
) -> HeldGait:
    """Hold a gait from step to step: when a step ends, what may change is set for the next one to
    p* - K (y - y*), with the gains K of the linear-quadratic regulator (LQR) of the return
    map, from its discrete Riccati equation.

    source: a gait, or a design. by: names of inputs, to which something constant is added for a step, and of
        parameters: a push-off, the rest length of a spring, the angle at which a leg is put down.
    deviation: the largest acceptable deviation of a state after a step, by name and in its unit; by default a
        tenth of the largest range that a state of its unit goes through. change: the largest acceptable
        change of each of `by`; by default that which moves the state after the step by one acceptable
        deviation. Their squares are the weights (Bryson's rule).
    observer: what is measured and what disturbs the machine, see `Kalman`: what is set for the next step
        then follows from an estimate of the states after a step, which knows what was changed (LQG). None:
        every state is measured.
    The derivatives of the step are exact, and the multipliers that are returned are those of the closed loop
    itself. Raises ModelError where what grows is not moved by any of `by`.
    """
    gait, plant = gait_and_plant(source)
    if gait.steps != 1:
        raise ModelError(
            f"the gait of '{plant.name}' repeats after {gait.steps} steps: from step to step, what is held "
            f"repeats after one; `control.lqr` and `control.track` hold several, from moment to moment"
        )
    names = check_adjustable(plant, by)
    estimator, quality = None, None
    if observer is None:
        base = _open_loop(source, gait, plant, names)
    else:
        base, estimator, quality = _observed_loop(gait, plant, names, observer)
    changes = tuple(change_name(name) for name in names)
    own = {n: v for n, v in gait.x0.items() if n in base.labels("x")}
    open_gait = find_held_gait(base, own, gait)
    # the return map linearised, y' = A y + B change, in the states of the machine itself
    step = open_gait.map(changes)(open_gait.y0)
    rows = [k for k, name in enumerate(open_gait.names) if name in plant.labels("x")]
    A, B = step.by_y[np.ix_(rows, rows)], step.by_p[rows]
    labels = [open_gait.names[k] for k in rows]
    # in units in which acceptable deviations and changes are one (Bryson's rule)
    moments = gait.trajectory.at(np.linspace(0, gait.period * (1 - 1e-9), SAMPLED_MOMENTS))
    x = np.column_stack([moments[name] for name in plant.labels("x")])
    acceptable = dict(zip(plant.labels("x"), deviations(plant, x, deviation), strict=True))
    D = np.array([acceptable[name] for name in labels])
    A, B = A * D / D[:, None], B / D[:, None]
    sizes = np.linalg.norm(B, axis=0)
    natural = np.where(sizes > 0, 1 / np.maximum(sizes, 1e-300), 1.0)
    U = _chosen_changes(plant, names, change, natural)
    B = B * U
    check_controllable(A, B @ B.T, labels, " and ".join(names), plant.name)
    X = discrete_riccati(A, B, np.eye(len(A)), np.eye(len(U)))
    K = np.linalg.solve(np.eye(len(U)) + B.T @ X @ B, B.T @ X @ A)
    gains = Param("step_gains", (U[:, None] * K / D).reshape(-1, order="F"))
    target = Param("step_target", open_gait.y0[rows], description="the state after a step that is held")
    # every event that ends a step sets the changes for the next one
    laws = {
        event: _law(
            _seen_after(base, event, labels, first=k == 0, observer=estimator), target, gains, changes
        )
        for k, event in enumerate(_law_events(plant, gait.section))
        if event is not None
    }
    loop = set_by_events(base, laws, changes, (gains, target))
    settings = {
        **{f"acceptable deviation of {n}": v for n, v in zip(labels, D, strict=True)},
        **{f"acceptable change of {n}": v for n, v in zip(names, U, strict=True)},
        **(observer.settings() if observer is not None else {}),
    }
    loop_gait = find_held_gait(loop, own, gait)
    unkept = unkept_requirements(source, plant, limited=False) if set(names) & set(plant.labels("u")) else ()
    warn_of_unkept(unkept, plant.name, limited=False)
    efforts = largest_efforts(U[:, None] * K[None] / D, D)
    return HeldGait(
        before=gait,
        gait=loop_gait,
        method=f"{'LQR' if observer is None else 'LQG'} from step to step",
        settings=settings,
        inputs=names,
        estimate=quality,
        efforts=dict(zip(names, efforts.tolist(), strict=True)),
        unkept=unkept,
    )


def check_adjustable(plant: System, by: Sequence[str]) -> tuple[str, ...]:
    """Return the names of what may change from step to step, each an input or a parameter of one number."""
    names = (by,) if isinstance(by, str) else tuple(by)
    allowed = [q.name for q in (*plant.u, *plant.p) if q.size == 1]
    if not names:
        raise ModelError(
            f"nothing may change from step to step: name inputs or parameters, of {', '.join(allowed)}"
        )
    for name in names:
        if name not in allowed:
            raise UnknownNameError(
                f"'{name}' is no input or parameter of '{plant.name}' that could change from step to step: "
                f"{did_you_mean(name, allowed)}"
            )
    if len(set(names)) < len(names):
        raise ModelError(f"{', '.join(names)}: one of these is named twice")
    return names


def _chosen_changes(
    plant: System, names: tuple[str, ...], chosen: Mapping[str, float] | None, natural: np.ndarray
) -> np.ndarray:
    """Return the acceptable changes, those chosen and defaults."""
    for name in chosen or {}:
        if name not in names:
            raise UnknownNameError(
                f"a change of '{name}' is given, which is not among what may change: "
                f"{did_you_mean(name, list(names))}"
            )
    values = dict(zip(names, natural, strict=True))
    for group in "up":
        own = {n: v for n, v in (chosen or {}).items() if n in plant.labels(group)}
        numbers = chosen_values(plant, group, "change", own, np.zeros(plant.size(group)))
        values |= {n: float(numbers[plant.labels(group).index(n)]) for n in own}
    return np.array([values[name] for name in names])


def _open_loop(source: Gait | Design, gait: Gait, plant: System, names: tuple[str, ...]) -> System:
    """Return the machine with parameters NAME_change, 0, that are added to what may change."""
    inputs = [name for name in names if name in plant.labels("u")]
    others = tuple(name for name in names if name not in inputs)
    planned = isinstance(source, Design) and plant.size("u")
    mirrored_inputs = inputs and len(step_end_events(plant, gait.section)) > 1
    if planned or mirrored_inputs:
        motion = reference_motion(source)
        base = _with_offsets(motion_table(motion, None), inputs)
        return add_changes(base, others) if others else base
    return add_changes(plant, names)


def _observed_loop(
    gait: Gait, plant: System, names: tuple[str, ...], kalman: Kalman
) -> tuple[System, Observer, EstimateQuality]:
    """Return the machine with parameters NAME_change, 0, an estimate of its states beside it that knows of
    them, the estimator, and how good it is."""
    inputs = [name for name in names if name in plant.labels("u")]
    others = tuple(name for name in names if name not in inputs)
    motion = read_motion(gait, plant)
    table = motion_table(replace(motion, plant=add_changes(plant, others)) if others else motion, None)
    estimator, quality = kalman_observer(table, kalman)
    base = _with_offsets(table, inputs, estimator)
    known_changes = [(estimator.parameters[change_name(n)], base[change_name(n)]) for n in others]
    believed_symbols, symbols = [q.sym for q, _ in known_changes], [change for _, change in known_changes]
    base = substitute_symbols(base, believed_symbols, symbols)
    believed = {q.name for q, _ in known_changes}
    return base.replace(p=tuple(q for q in base.p if q.name not in believed)), estimator, quality


def _with_offsets(table: MotionTable, inputs: list[str], observer: Observer | None = None) -> System:
    """Return the machine that follows its plan, with something added to some inputs."""
    plant = table.motion.plant
    offsets = {
        q.name: Param(change_name(q.name), 0.0, q.unit, description=f"of {q.name}, for a step")
        for q in plant.u
        if q.name in inputs
    }

    def feedback(signals: ca.SX, seen: ca.SX) -> ca.SX:
        return ca.vertcat(
            *[offsets[q.name].sym if q.name in offsets else ca.SX.zeros(q.size) for q in plant.u]
        )

    planned = [piece.u for piece in table.pieces]
    return close_loop(table, FeedbackLaw(planned, feedback, tuple(offsets.values()), observer=observer))


def _seen_after(
    system: System, event: str, labels: list[str], first: bool, observer: Observer | None
) -> ca.SX:
    """Return states after an event that ends a step, or what an observer takes them for. first: whether it is
    the section, after which a machine with left and right is seen mirrored."""
    own = system if observer is None else observer.plant
    states = mirrored_states(own) if own.symmetry and first else own.vector("x")
    if observer is not None:
        states = observer.believe([states])[0]
    places = [own.labels("x").index(name) for name in labels]
    return system.after(event, states)[places]


def _law_events(plant: System, section: str) -> tuple[str | None, ...]:
    """Return the events at which a law acts: those that end a step. Of a machine with left and right whose
    section is no landing, such as a mark of a phase, the section and the same on the other side."""
    if plant.symmetry and plant.walk is not None and plant.walk.foot_of(section) is None:
        return (section, *opposite_events(plant, section))
    return step_end_events(plant, section)


def _law(after: ca.SX, target: Param, gains: Param, changes: tuple[str, ...]) -> dict[str, ca.SX]:
    """Return what an event that ends a step sets the changes to, from the states after it."""
    values = ca.reshape(gains.sym, len(changes), after.numel()) @ (target.sym - after)
    return {name: sx(values[k]) for k, name in enumerate(changes)}


__all__ = ["check_adjustable", "step_lqr"]
