"""`Guess`: a motion to begin the search from, whatever it was made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait.gait import Gait
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import tableau
from strut.optimal.problem import Problem
from strut.optimal.solver.optimum import OptimumPoint
from strut.optimal.solver.scaling import nominal_scales
from strut.simulate import Trajectory, simulate
from strut.system import start, time

MAX_RUN_TIME = 20.0
"""A run that should serve as a guess and has not ended by then [s] is none."""
Curve = Callable[[np.ndarray], np.ndarray]
"""Rows of values, of places."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A phase of a guess: its duration [s], and states and inputs (rows) over places from 0 to 1."""

    duration: float
    x: Curve
    u: Curve


@checked
@dataclass(frozen=True, eq=False)
class Guess:
    """A motion to begin from.

    phases: of the motion. parameters: of those that are free; what is not named begins with the system's own
        value. optimum: where a solver ended with this motion, so that a search begins warm; None of others.
    """

    phases: tuple[Stretch, ...]
    parameters: Mapping[str, float] = field(default_factory=dict)
    optimum: OptimumPoint | None = None


def make_guess(problem: Problem, given: Any) -> Guess:
    """Return a guess mesh of: nothing (the system runs by itself, if it gets through its phases), a `Guess`,
    a result, a gait, a trajectory, or a
    mapping: of states and inputs to numbers, (begin, end) or functions of the place 0 to 1; 'duration' to one
    number or one for each phase; and of free parameters to numbers."""
    if isinstance(given, Guess):
        return given
    if hasattr(given, "guess"):  # a result or a design
        guess: Guess = given.guess()
        return guess
    if isinstance(given, Gait):
        return _of_run(problem, given.trajectory) or _constant(problem, {})
    if isinstance(given, Trajectory):
        guess_of_run = _of_run(problem, given)
        if guess_of_run is None:
            event_names = ", ".join(str(phase.until) for phase in problem.phases)
            raise ModelError(
                f"the run given as a guess has not the phases of the problem: it needs the events "
                f"{event_names} in this order"
            )
        return guess_of_run
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"{given!r} is no guess: give a mapping, a Trajectory, a Gait or a result")
    if given is None and all(phase.until is not None for phase in problem.phases):
        run = simulate(problem.system, t=MAX_RUN_TIME, max_steps=100_000)
        if (guess_of_run := _of_run(problem, run)) is not None:
            return guess_of_run
    return _constant(problem, given or {})


def _of_run(problem: Problem, run: Trajectory) -> Guess | None:
    """Return a run as a guess, cut at the events that end phases; None where one of these does not come."""
    begin, phases, times = run.t0, [], list(zip(run.events.names, run.events.t, strict=True))
    labels = problem.system.labels
    values = dict(zip(run.names.p, run.p, strict=True))
    for phase in problem.phases:
        if phase.until is None:
            end = begin + phase.duration[0] if phase.duration[0] == phase.duration[1] else run.t1
        else:
            later = [t for name, t in times if name == phase.until and t > begin + 1e-9]
            if not later:
                return None
            end = later[0]

        def curve(group: str, begin: float = begin, end: float = end) -> Curve:
            def at(s: np.ndarray) -> np.ndarray:
                t = begin + (end - begin) * np.clip(
                    s, 1e-9, 1 - 1e-9
                )  # neither what was before nor what comes after
                moments = run.at(t)
                return np.column_stack([moments[n] for n in labels(group)] or [np.empty((len(t), 0))])

            return at

        phases.append(Stretch(end - begin, curve("x"), curve("u")))
        begin = end
    known_values = {name: float(values[name]) for name in problem.parameters if name in values}
    return Guess(tuple(phases), known_values)


def _constant(problem: Problem, given: Mapping[str, Any]) -> Guess:
    """Return a guess with states where they begin, or on straight lines between what is known of both
    ends."""
    system, values = problem.system, start(problem.system)
    names = {*system.labels("x"), *system.labels("u"), *problem.parameters, "duration"}
    for name in given:
        if name not in names:
            raise UnknownNameError(
                f"the guess names '{name}', which is no state, input or free parameter: "
                f"{did_you_mean(name, sorted(names))}"
            )
    durations = np.broadcast_to(
        given.get("duration", [_inside(p.duration) for p in problem.phases]), len(problem.phases)
    )
    whole = durations.sum()
    phases = []
    for k in range(len(problem.phases)):
        before, share = durations[:k].sum() / whole, durations[k] / whole

        def curve(group: str, before: float = before, share: float = share) -> Curve:
            defaults = getattr(values, group)

            def at(s: np.ndarray) -> np.ndarray:
                place = before + share * np.asarray(s)
                columns = [
                    _profile(problem, n, given.get(n), float(defaults[i]), place)
                    for i, n in enumerate(system.labels(group))
                ]
                return np.column_stack(columns or [np.empty((len(place), 0))])

            return at

        phases.append(Stretch(float(durations[k]), curve("x"), curve("u")))
    own = dict(zip(system.labels("p"), values.p, strict=True))
    return Guess(tuple(phases), {name: float(given.get(name, own[name])) for name in problem.parameters})


def _inside(bounds: tuple[float, float]) -> float:
    """Return a duration within bounds."""
    low, high = bounds
    return (low + high) / 2 if np.isfinite(high) else max(low, 1.0)


def _profile(problem: Problem, name: str, profile: Any, default: float, place: np.ndarray) -> np.ndarray:
    """Return a state or input at places 0 to 1: of a function, of a number, of numbers that are joined by
    straight lines, or of what the problem says of both ends."""
    if callable(profile):
        return np.array([float(profile(s)) for s in place])
    if profile is None:
        first, last = (problem.begins.get(name), problem.ends.get(name))
        if first is None and last is None:
            return np.full(len(place), default)
        a = _middle(first, default) if first else _middle(last, default)
        b = _middle(last, a) if last else a
        profile = (a, b)
    ends = np.atleast_1d(np.asarray(profile, dtype=float))
    return (
        np.interp(place, np.linspace(0, 1, len(ends)), ends)
        if len(ends) > 1
        else np.full(len(place), ends[0])
    )


def _middle(bounds: tuple[float, float] | None, default: float) -> float:
    """Return the middle of bounds, or what is nearest to the default within them."""
    low, high = bounds or (-np.inf, np.inf)
    return (low + high) / 2 if np.isfinite(low) and np.isfinite(high) else float(np.clip(default, low, high))


def fill_unknowns(mesh: Transcribed, guess: Guess) -> np.ndarray:
    """Return the unknowns of a mesh, from a guess."""
    v = np.zeros(len(mesh.unknowns.names))
    own = dict(zip(mesh.system.labels("p"), mesh.start.p, strict=True))
    v[mesh.p_at] = [guess.parameters.get(name, own[name]) for name in mesh.problem.parameters]
    how, begin = mesh.how, 0.0
    for k, (span, stretch) in enumerate(zip(mesh.spans, guess.phases, strict=True)):
        nodes = span.nodes
        v[span.duration] = stretch.duration
        v[span.discrete] = _discrete_states(mesh, v, k, begin)[list(span.moving)]
        v[span.x] = stretch.x(nodes)
        places = np.linspace(0, 1, how.degree + 1) if how.degree else np.array([0.5])
        s = (nodes[:-1, None] + span.fractions[:, None] * places).reshape(-1)
        if mesh.nu:
            v[span.w] = stretch.u(s).reshape(span.w.shape)
        if span.inner.size:
            c = np.array([c for c in tableau(how.method, how.stages).c if 0 < c < 1])
            s = (nodes[:-1, None] + span.fractions[:, None] * c).reshape(-1)
            v[span.inner] = stretch.x(s).reshape(span.inner.shape)
        begin += stretch.duration
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    return _fit_slacks(mesh, np.clip(v, low, high))


def _discrete_states(mesh: Transcribed, v: np.ndarray, k: int, begin: float) -> np.ndarray:
    """Return the discrete states in which phase k of a guess begins: as the event that ends the phase before
    leaves them, by the unknowns `v` of that. begin: when phase k does [s]."""
    z = mesh.discrete[k][0].copy()
    if k == 0 or not mesh.spans[k].moving:
        return z
    before = mesh.spans[k - 1]
    last = mesh.discrete[k - 1][0].copy()
    last[list(before.moving)] = v[before.discrete]
    p = mesh.start.p.copy()
    p[mesh.free] = v[mesh.p_at]
    left = before.phase.after(mesh.system, mesh.vectors[1])
    f = ca.Function("left", [time, *mesh.vectors], [ca.densify(left)])
    values = np.array(f(begin, v[before.x[-1]], last, v[before.w[-1, -1]], p)).reshape(-1)
    moving = list(mesh.spans[k].moving)
    z[moving] = np.where(np.isfinite(values[moving]), values[moving], z[moving])
    return z


def _fit_slacks(mesh: Transcribed, v: np.ndarray) -> np.ndarray:
    """Return the unknowns with slacks and totals that fit the rest: what the rows that define them leave
    over."""
    g = np.array(mesh.assembled.functions["nlp"](v, mesh.numbers())[1]).reshape(-1)
    for span in mesh.spans:
        for pair in span.slack.reshape(-1, 2):
            row = mesh.slack_row[int(pair[0])] - 1
            power = g[row] + v[pair[0]] - v[pair[1]]
            v[pair] = max(power, 0.0), max(-power, 0.0)
    g = np.array(mesh.assembled.functions["nlp"](v, mesh.numbers())[1]).reshape(-1)
    for name, at in mesh.total_at.items():
        v[at] -= g[mesh.total_row[name][0] - 1]
    return v


def shake_unknowns(
    v: np.ndarray, mesh: Transcribed, spread: float, random: np.random.Generator
) -> np.ndarray:
    """Return another start near this one, within bounds; spread: standard deviation relative to the scale of
    an unknown and its size."""
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    size = nominal_scales(mesh, v).unknowns + np.abs(v)
    return np.asarray(np.clip(v + spread * size * random.standard_normal(len(v)), low, high))


__all__: Sequence[str] = [
    "Guess",
    "Stretch",
    "fill_unknowns",
    "make_guess",
    "shake_unknowns",
]
