"""A motion with its variations: beside its state the walker carries how that state depends on where the
motion began (the variational equations), so that the derivative of the return map is an expression at its
end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.section import section_of
from strut.gait.variational import BY_HELD, BY_STATE, variational
from strut.optimal.expression_key import totals_of
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.unknowns import Layout
from strut.optimal.problem import Phase, Problem
from strut.optimal.solver.guess import Curve, Guess, Stretch
from strut.optimal.solver.optimum import COSTATE_ROWS, STATE_GROUPS, MultiplierCurve, OptimumPoint
from strut.optimal.solver.result import Solution
from strut.optimal.totals import Jumps
from strut.optimal.walk.read_walk import changes_motion
from strut.system import System, sx, time

VARIATION_STEPS = 200
"""Steps of the trapezium rule that makes a guess of the variations of a phase."""


@dataclass(frozen=True, eq=False)
class VariedMotion:
    """A problem whose walker carries how its state depends on where the motion began.

    problem: with the variations as further states of its system. derivative: of the return map by its free
    states, an expression at the end of the motion. saltation: the entries of the section's saltation matrix
    in it; totals of a problem are known as long as someone keeps them, and so they are kept here.
    """

    problem: Problem
    derivative: ca.SX
    saltation: tuple[Jumps, ...] = field(repr=False)


def check_variable(problem: Problem) -> str:
    """Return the event that ends a motion; `ModelError` where the motion has no return map."""
    last = problem.phases[-1].until if problem.phases else None
    if problem.repeats is None or last is None:
        raise ModelError(
            "only a motion that repeats and that an event ends can be made stable: this one has another shape"
        )
    if sum(phase.until == last for phase in problem.phases) > 1:
        raise ModelError(
            f"'{last}' ends several steps of the motion, and where the next begins is no section then: only "
            f"one step can be made stable, leave out steps=..."
        )
    return last


def add_variations(problem: Problem) -> VariedMotion:
    """Return a problem with variations. The event at the end sets the dependence back, so that it repeats;
    every event before shears it by its saltation matrix (where inputs wait for the event, by what `restarts`
    of `variational` leaves of that), and tells discrete states that it sets to something that varies, such as
    a foothold, how these vary. A phase that ends by time ends at that time however it is
    disturbed."""
    section, system = check_variable(problem), problem.system
    # What inputs bring about by a jump comes at its time, however the motion is disturbed.
    between = tuple(
        phase.until for phase in problem.phases[:-1] if phase.until is not None and not phase.by_inputs
    )
    # A plan of inputs waits for the events that end its phases, and goes on from there.
    restarts = tuple(name for name in between if system.size("u") and changes_motion(system, name))
    variations = variational(system, section, events=between, restarts=restarts, chains=False)
    nx = system.size("x")
    state = next(q for q in variations.x if q.name == BY_STATE)
    held_states = [q for q in variations.z if q.name == BY_HELD]
    jump, flow = sx(variations.event(section).reset[BY_STATE]), variations.flow[BY_STATE]
    if not between:  # nothing that is held is set before the end, and so nothing of it varies
        jump, flow = ca.substitute(
            [jump, flow], [q.sym for q in held_states], [ca.SX.zeros(q.size) for q in held_states]
        )
        held_states = []
    identity = ca.SX(ca.vec(ca.DM(np.eye(nx))))
    resets: dict[str, dict[str, ca.SX]] = {section: {BY_STATE: identity}}
    for name in between:
        reset = variations.event(name).reset
        resets[name] = {BY_STATE: sx(reset[BY_STATE]), **{q.name: sx(reset[q.name]) for q in held_states}}
    bigger = replace(
        system,
        x=(*system.x, state),
        z=(*system.z, *held_states),
        flow={**system.flow, BY_STATE: flow},
        events=tuple(
            replace(e, reset={**{n: sx(v) for n, v in e.reset.items()}, **resets.get(e.name, {})})
            for e in system.events
        ),
        implied=None,
    )
    phases = tuple(_varied_phase(phase, system, ca.reshape(state.sym, nx, nx)) for phase in problem.phases)
    symbols = {"saltation": state.sym} | ({"held_saltation": held_states[0].sym} if held_states else {})
    derivative, saltation = _return_derivative(system, section, jump, symbols)
    return VariedMotion(replace(problem, system=bigger, phases=phases), derivative, saltation)


def _varied_phase(phase: Phase, system: System, Y: ca.SX) -> Phase:
    """Return a phase whose jump, if it ends by time and has one, tells the variations Y."""
    if not phase.jump:
        return phase
    x = system.vector("x")
    after = ca.vertcat(*[phase.jump.get(q.name, q.sym) for q in system.x])
    return replace(phase, jump={**phase.jump, BY_STATE: ca.vec(ca.densify(ca.jacobian(after, x) @ Y))})


def _return_derivative(
    system: System, section: str, jump: ca.SX, varied: Mapping[str, ca.SX]
) -> tuple[ca.SX, tuple[Jumps, ...]]:
    """Return the derivative of the return map, and the entries of the saltation matrix of the section in it.
    jump: what the section does to the variations, linear in them, column by column. varied: the variations of
    states, and of discrete states that vary, by what their entries are called."""
    nx = system.size("x")
    spread = ca.DM(section_of(system, section).spread)
    derivative: ca.SX | None = None
    saltation: list[Jumps] = []
    for label, symbols in varied.items():
        rows = symbols.numel() // nx
        K = _free_rows(system, section, ca.jacobian(jump[:nx], symbols[:rows]))
        jumps = [
            [Jumps(f"{label}_{i}_{j}", K[i, j], section) for j in range(rows)] for i in range(K.shape[0])
        ]
        entries = ca.vertcat(
            *[
                ca.horzcat(*[ca.SX(0) if K[i, j].is_zero() else jumps[i][j].sym for j in range(rows)])
                for i in range(K.shape[0])
            ]
        )
        part = entries @ ca.reshape(symbols, rows, nx) @ spread
        derivative = part if derivative is None else derivative + part
        saltation += [each for row in jumps for each in row]
    assert derivative is not None
    return derivative, tuple(saltation)


def _free_rows(system: System, section: str, J: ca.SX) -> ca.SX:
    """Return the rows of a Jacobian that belong to free states of the section, left and right exchanged where
    the walker has both."""
    if system.symmetry:
        reset, x = system.event(section).reset, ca.vertcat(*[q.sym for q in system.x])
        exchanged = ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) for q in system.x])
        states = [q for q in (*system.x, *system.z) if q.name in reset]
        turn = ca.substitute(
            [ca.jacobian(exchanged, x)], [q.sym for q in states], [sx(reset[q.name]) for q in states]
        )[0]
        J = turn @ J
    shape = section_of(system, section)
    if shape.shear is not None:
        J = J - shape.shear(system.vector("p")) @ J[list(shape.cyclic), :]
    return ca.densify(J[list(shape.free), :])


def lift_guess(problem: Problem, guess: Guess) -> Guess:
    """Return a guess of the motion with variations that go along with it, from phase to phase. problem: with
    variations."""
    system, phases = problem.system, []
    groups = system.vectors()
    n = system.size("x") - next(q.size for q in system.x if q.name == BY_STATE)
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x if q.name != BY_STATE])
    rates = [ca.densify(ca.jacobian(flow, groups[0][:n])), ca.densify(sx(system.flow[BY_STATE]))]
    rate_function = ca.Function("rates", [time, *groups], rates)
    layout = Layout(problem, Transcription(intervals=1))
    p = layout.start.p.copy()
    p[layout.free] = [guess.parameters[name] for name in problem.parameters]
    begin, first, left = 0.0, np.eye(n), layout.start.z
    for k, (phase, stretch) in enumerate(zip(problem.phases, guess.phases, strict=True)):
        numbers, moving = layout.discrete[k]
        z = numbers.copy()
        z[list(moving)] = left[list(moving)]
        s = np.linspace(0, 1, VARIATION_STEPS + 1)
        t = begin + s * stretch.duration
        still = [np.repeat(part[:, None], len(s), axis=1) for part in (z, p)]
        x, u = stretch.x(s)[:, :n], stretch.u(s)
        lift = np.hstack([x, np.zeros((len(s), n * n))])
        slopes, pushes = rate_function.map(len(s))(t[None], lift.T, still[0], u.T, still[1])
        A = np.array(slopes).reshape(n, len(s), n).transpose(1, 0, 2)
        # What discrete states that vary push variations by: the rate of variations that are zero.
        B = np.array(pushes).reshape(n, n, len(s), order="F").transpose(2, 0, 1)
        Y, h = [first], stretch.duration / VARIATION_STEPS
        for i in range(VARIATION_STEPS):  # the trapezium rule: rough, and never unstable
            right = (np.eye(n) + h / 2 * A[i]) @ Y[-1] + h / 2 * (B[i] + B[i + 1])
            Y.append(np.linalg.solve(np.eye(n) - h / 2 * A[i + 1], right))
        columns = np.array([y.reshape(-1, order="F") for y in Y])
        phases.append(Stretch(stretch.duration, _join_curves(stretch.x, n, s, columns), stretch.u))
        after = [phase.after(system, group) for group in groups[:2]]
        jump = ca.Function("after", [time, *groups], [ca.densify(part) for part in after])
        x_after, z_after = jump(t[-1], np.concatenate([x[-1], columns[-1]]), z, u[-1], p)
        first = np.array(x_after).reshape(-1)[n:].reshape(n, n, order="F")
        left, begin = np.array(z_after).reshape(-1), float(t[-1])
    point = None if guess.optimum is None else _lift_optimum(guess.optimum, n * n)
    return Guess(tuple(phases), dict(guess.parameters), point)


def _lift_optimum(point: OptimumPoint, count: int) -> OptimumPoint:
    """Return an optimum with so many more states, on which nothing depends: their multipliers are zero."""

    def widen(curves: Mapping[Any, MultiplierCurve], has_states: Callable[[Any], bool]) -> dict[Any, Any]:
        return {
            key: replace(each, densities=np.pad(each.densities, ((0, 0), (0, count))))
            if has_states(key)
            else each
            for key, each in curves.items()
        }

    return replace(
        point,
        names=(),  # of another walker: the motion is that of the guess
        bound_curves=widen(point.bound_curves, lambda key: key[0] in STATE_GROUPS),
        row_curves=widen(point.row_curves, lambda key: key[1] in COSTATE_ROWS),
        own_bounds=np.empty(0),
        own_rows=np.empty(0),
    )


def _join_curves(x: Curve, n: int, s: np.ndarray, columns: np.ndarray) -> Curve:
    def at(place: np.ndarray) -> np.ndarray:
        return np.hstack(
            [x(place)[:, :n], np.column_stack([np.interp(place, s, column) for column in columns.T])]
        )

    return at


def drop_variations(result: Solution, problem: Problem) -> Solution:
    """Return the result as one of the walker without variations."""
    n, nz = problem.system.size("x"), problem.system.size("z")
    phases = tuple(
        replace(
            m,
            x=m.x[:, :n],
            z=m.z[:nz],
            slopes=(m.slopes[0][:, :n], m.slopes[1][:, :n]),
            inner=m.inner[:, :, :n],
        )
        for m in result.phases
    )
    return replace(result, problem=problem, phases=phases, optimum=None)


def value_at_end(result: Solution, expression: ca.SX) -> np.ndarray:
    """Return the value of an expression at the end of a motion that carries its variations; sums over events
    in it are those of the event that ends the motion."""
    system, m = result.problem.system, result.phases[-1]
    assert m.until is not None
    sums = [t for t in totals_of(expression) if isinstance(t, Jumps)]
    whole = ca.substitute([expression], [t.sym for t in sums], [t.of(m.until) for t in sums])[0]
    f = ca.Function("at_end", [time, *system.vectors()], [whole])
    return np.array(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], result.p))


__all__ = [
    "VariedMotion",
    "add_variations",
    "check_variable",
    "drop_variations",
    "lift_guess",
    "value_at_end",
]
