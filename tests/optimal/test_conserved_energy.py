"""Machines that keep their energy: one state of a motion that repeats follows from the others."""

import numpy as np
import pytest

from strut import optimal, walkers
from strut.errors import ValueRangeError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.system import Event, Ledger

REPEATED = 1e-9  # m and m/s; the plan is integrated to about 1e-10
DRAG = 1e-3  # 1/s


def spring_mass_run(runner=None):
    problem = optimal.Problem(runner or walkers.slip(), repeats=False)
    return problem.phase("flight", until="touchdown").phase("stance", until="takeoff")


def repeated_states(problem):
    rows = Transcribed(problem, Transcription(intervals=(4, 4)), backend="virtual").rows.names
    return [name.removesuffix(" repeats") for name in rows if name.endswith(" repeats")]


def test_energy_takes_the_place_of_one_row():
    assert len(repeated_states(spring_mass_run())) == 2  # of y, vx and vy


def test_a_run_whose_energy_is_not_kept_repeats_in_all_states():
    of = walkers.slip()
    dragged = of.replace(
        flow={name: rate - (DRAG * of["vx"] if name == "vx" else 0) for name, rate in of.flow.items()}
    )
    assert repeated_states(spring_mass_run(dragged)) == ["y", "vx", "vy"]
    bare = of.replace(ledger=Ledger(), walk=None)
    assert repeated_states(spring_mass_run(bare)) == ["y", "vx", "vy"]
    lossy = [
        Event("touchdown", e.guard, when=e.when, reset=e.reset) if e.name == "touchdown" else e
        for e in of.events
    ]
    assert repeated_states(spring_mass_run(of.replace(events=tuple(lossy)))) == ["y", "vx", "vy"]


def test_a_motion_that_is_asked_for_exactly_is_solved_without_a_word_of_the_solver(capfd):
    made = optimal.design(walkers.slip(), free={"attack": (0.9, 1.5)}, speed=5.5, duration=0.3)
    assert made.ok, made.wrong
    assert made.result.defect < REPEATED
    last = made.result.phases[-1].x[-1]
    labels = list(made.system.labels("x"))
    moved = dict(zip(labels, last - made.result.phases[0].x[0], strict=True))
    assert max(abs(moved[name]) for name in ("y", "vx", "vy")) < REPEATED  # the one without a row, too
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_its_rows_are_independent():
    """Unknowns that are free are at least as many as equations, and these are of full rank."""
    made = optimal.design(walkers.slip(), free={"attack": (0.9, 1.5)}, speed=5.5, duration=0.3)
    point = made.result.optimum
    mesh = Transcribed(made.result.problem, made.result.how, point.fractions, "virtual")
    rows = np.array(mesh.rows.low[1:]) == np.array(mesh.rows.high[1:])
    free = np.array(mesh.unknowns.low) < np.array(mesh.unknowns.high)
    jacobian = np.array(mesh.assembled.functions["jac_g"](point.unknowns, mesh.numbers())[1].full())
    equations = jacobian[rows][:, free]
    assert equations.shape[0] <= equations.shape[1]
    # Each row by its largest entry: masses and stiffnesses are of quite different size.
    equations /= np.abs(equations).max(axis=1, keepdims=True)
    assert np.linalg.svd(equations, compute_uv=False)[-1] > 1e-6


def test_more_equations_than_unknowns_are_said_in_words(capfd):
    problem = spring_mass_run().begin(y=1.0, vx=5.0, vy=0.5)
    for name, value in {"x": 2.0, "y": 1.0, "vx": 4.0, "vy": 0.5, "leg": 0.9, "force": 10.0}.items():
        problem = problem.require(name, name, equal=value, at="end")
    solution = problem.solve(accuracy=None, intervals=4)
    assert not solution.ok
    assert "more is asked than is free" in solution.status
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_bounds_that_leave_nothing_are_refused_by_name():
    problem = spring_mass_run().within(y=(0.5, 2.0)).begin(y=3.0)
    with pytest.raises(
        ValueRangeError, match="y at flight, node 0 must be at least 3 and at most 2: nothing is both"
    ):
        problem.solve(accuracy=None, intervals=4)
