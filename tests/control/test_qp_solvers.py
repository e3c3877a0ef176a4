"""Solvers by name: one minimiser whoever finds it, alike in levels and relaxation, and refused by name."""

import numpy as np
import pytest

from strut import control, mechanism
from strut.codegen import QpShape, QpStatus, solve_qp
from strut.control.named_qp_solver import NamedQpSolver
from strut.errors import MissingExtraError, UnknownNameError
from strut.mechanism import Mechanism, joints

from .test_qp_programs import MAX_KKT, random_program

SOLVERS = ["clarabel", "osqp", "piqp", "proxqp", "quadprog"]
SAME_MINIMISER = 1e-8
"""Relative to 1 + the size of the unknowns."""


def solve_by(name, program, levels=None, ranks=None):
    goals, all_rows = len(program.get("target", ())), len(program["low"])
    n = len(program["g"])
    shape = QpShape(n, tuple(levels or [1] * goals), tuple(ranks or [0] * all_rows))
    keys = ("H", "g", "T", "target", "w", "A", "low", "up")
    return NamedQpSolver(shape, name).solve(*(program.get(key, ()) for key in keys))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_finds_the_minimiser_of_daqp(name):
    rng = np.random.default_rng(4)
    for _ in range(20):
        program = random_program(rng)
        ours, _ = solve_qp(**program)
        theirs, report = solve_by(name, program)
        assert report.status == QpStatus.SOLVED
        assert max(report.stationarity, report.feasibility, report.complementarity) < MAX_KKT
        assert abs(theirs - ours).max() < SAME_MINIMISER * (1 + abs(ours).max())


@pytest.mark.parametrize("name", SOLVERS)
def test_levels_and_ranks_are_those_of_daqp(name):
    """Two goals of two levels that contradict each other; two bounds that a row contradicts."""
    levels = {
        "H": 1e-3 * np.eye(2), "g": [0, 0], "T": [[1, 0], [1, 1]], "target": [1, 5], "w": [1, 1],
        "low": [-9, -9], "up": [9, 3],
    }  # fmt: skip
    ours, _ = solve_qp(**levels, levels=[1, 2])
    theirs, report = solve_by(name, levels, levels=[1, 2])
    assert report.status == QpStatus.SOLVED
    assert theirs == pytest.approx(ours, abs=1e-6)  # Tikhonov's damping of the first level is 1e-9
    impossible = {"H": np.eye(2), "g": [0, 0], "low": [-1, -1, 3], "up": [1, 1, 3], "A": [[1, 1]]}
    for ranks in ([0, 0, 1], [2, 2, 1]):
        ours, of_daqp = solve_qp(**impossible, ranks=ranks)
        theirs, report = solve_by(name, impossible, ranks=ranks)
        assert (report.status, report.relaxed) == (QpStatus.RELAXED, of_daqp.relaxed)
        assert theirs == pytest.approx(ours, abs=1e-6)  # misses are held wider by 1e-7
        assert report.relaxation == pytest.approx(of_daqp.relaxation, abs=1e-6)
        assert of_daqp.missed_row in ((2,) if ranks[0] == 0 else (0, 1))
        assert report.missed_row in ((2,) if ranks[0] == 0 else (0, 1))
    assert solve_by(name, impossible)[1].status == QpStatus.FAILED
    assert solve_by(name, impossible | {"g": [np.nan, 0]})[1].status == QpStatus.BAD_DATA


def arm_of_two_links():
    m = Mechanism("arm", planar=True)
    upper = m.body("upper", 2.0, (0, 0, -0.2), 0.03)
    lower = m.body("lower", 1.0, (0, 0, -0.2), 0.02)
    m.joint("shoulder", m.world, upper, joints.revolute("y"), limits=(-2.0, 2.0))
    m.joint("elbow", upper, lower, joints.revolute("y"), at=(0, 0, -0.4), limits=(-0.5, 0.8))
    return m


@pytest.fixture(scope="module")
def lift():
    """An arm of two links that lifts its hand; its elbow is asked to go beyond its range."""
    m = arm_of_two_links()
    controller = control.whole_body(
        control.BodyModel(m),
        every=1e-2,
        tasks=[
            control.JointTask(joint="shoulder", target=0.6, stiffness=100.0),
            control.JointTask(joint="elbow", target=1.2, stiffness=100.0),  # beyond its range
        ],
        torque_limit=12.0,
        acceleration_limit=50.0,
    )
    return controller, mechanism.system(m)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_loop_is_the_same_whoever_solves(lift, name):
    controller, machine = lift
    ours = controller.run(machine, 0.5)
    theirs = controller.run(machine, 0.5, solver=name)
    assert theirs.ok, theirs.faults
    assert theirs.solver == name
    assert theirs.kkt < MAX_KKT
    for torque in controller.command:
        assert theirs[torque] == pytest.approx(ours[torque], abs=1e-6)  # 1e-8 a sample, over 50 of them


def test_a_solver_that_is_not_there_is_refused_by_name(lift, monkeypatch):
    controller, machine = lift
    assert set(SOLVERS) | {"daqp"} <= set(control.qp_solver_names())
    with pytest.raises(
        UnknownNameError, match="no solver 'quadprg' .*did you mean 'quadprog'.*Installed are daqp, clarabel"
    ):
        controller.run(machine, 0.1, solver="quadprg")
    monkeypatch.setattr("strut.control.qp_solvers.importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"solver 'piqp' needs qpsolvers.*strut\[qp\]"):
        controller.run(machine, 0.1, solver="piqp")
    assert control.qp_solver_names() == ["daqp"]
