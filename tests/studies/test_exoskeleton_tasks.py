"""Several tasks for one exoskeleton: one machine, controllers of their own, and goals of all."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import evolve
from strut.errors import UnknownNameError
from strut.studies.exoskeleton_tasks import (
    EDGE_WIDTH,
    EVERYDAY_TASKS,
    WalkTask,
    rounded_step,
    task_evaluation,
    task_goals,
    task_parameters,
    task_problem,
)
from strut.studies.kieboom_tasks import (
    begin_design,
    begin_numbers,
    keeps_task,
    task_rows,
    tasks_problem,
)
from strut.system import Param
from tests.studies.test_exoskeleton_refinement import PAIR, topology, walking_numbers

TASKS = {
    "slow": WalkTask(speed=0.8, frequency=0.8),
    "fast": WalkTask(speed=1.0),
    "step": WalkTask(speed=1.0, rise=0.02, edge=0.65),
}
MEASURED = ("time", "speed", "assist_time", "power_absolute")
"""What tables tell of a task."""
DURATION = 1.2
"""[s] Of a walk."""


def test_what_is_shared_and_what_is_of_a_task():
    """Pins and springs once; 19 parameters of each actuator and of the ankle for every task."""
    near = walking_numbers()
    parameters = {q.name: q for q in task_parameters(topology(), PAIR, TASKS, near, 0.1)}
    shared = [name for name in parameters if "." not in name]
    assert len(shared) == 8 + 4 * 3
    assert len(parameters) == len(shared) + 3 * (3 * 19)
    assert {"j1_along", "j2_stiffness", "slow.j1_reference_1", "step.ankle_damping_2"} <= set(parameters)
    first = parameters["fast.ankle_stiffness_1"].first
    assert first == (0.0, 200.0 + 1200.0)


def test_goals_are_of_all_tasks():
    evaluation = task_evaluation(topology(), PAIR, TASKS, duration=DURATION)
    goals = task_goals(evaluation, TASKS, DURATION, {"peak_interaction": 500.0})
    assert goals[0].value == "min(min(slow.time, fast.time), step.time)"
    assert goals[2].until == (
        "max(max(slow.peak_interaction, fast.peak_interaction), step.peak_interaction) <= 500.0"
    )
    assert goals[3].value == "(slow.power_absolute + fast.power_absolute + step.power_absolute)"
    with pytest.raises(UnknownNameError, match="the task needs 'j1_along', which is not searched"):
        evolve.SearchProblem({"j5_x": (0.0, 0.1)}, evaluation, goals)
    # a design that carries no stride fails before it is run
    names = tuple(walking_numbers())
    flat = {**walking_numbers(), "j6_x": 0.0, "j6_z": 0.98}
    answer = evaluation.tasks["slow"].evaluate(
        names, np.array([[flat[name] for name in names]]), np.zeros(1, dtype=np.uint64)
    )
    assert answer.status == ("the linkage comes near a singularity along a stride",)


def test_the_edge_of_a_step_on_soft_ground_is_rounded():
    """Half of the rise at the edge, all of it a width behind, nothing a width before."""
    edge, rise = Param("edge", 2.0, "m"), Param("rise", 0.05, "m")
    x = ca.SX.sym("x")
    height = ca.Function("height", [x, edge.sym, rise.sym], [rounded_step(edge, rise).height(x, ca.SX(0))])
    heights = [float(height(place, 2.0, 0.05)) for place in (2.0 - EDGE_WIDTH, 2.0, 2.0 + EDGE_WIDTH)]
    assert heights[1] == pytest.approx(0.025)
    assert heights[0] == pytest.approx(0.0, abs=0.05 * 0.02)
    assert heights[2] == pytest.approx(0.05, abs=0.05 * 0.02)


def test_what_a_task_asks_for():
    """Each of its three conditions alone makes it fail."""
    task = WalkTask(speed=0.8)
    good = {"slow.time": 10.0, "slow.speed": 0.82, "slow.assist_time": 0.3}
    assert keeps_task(task, "slow", good)
    for name, value in (("time", 9.0), ("speed", 0.7), ("speed", 0.9), ("assist_time", 0.6)):
        assert not keeps_task(task, "slow", {**good, f"slow.{name}": value})


def test_what_a_table_of_tasks_tells():
    """Of a walk that fell before it was measured there is its time alone."""
    names = [f"{task}.{measure}" for task in EVERYDAY_TASKS for measure in MEASURED]
    good = dict.fromkeys(names, 0.4) | {f"{task}.time": 10.0 for task in EVERYDAY_TASKS}
    good |= {f"{name}.speed": task.speed for name, task in EVERYDAY_TASKS.items()}
    table = {row.quantity: row.ours for row in task_rows({**good, "step.time": 1.6}, good)}
    assert table["step: keeps what is asked, before | after"] == "no | yes"
    assert table["step: walks for [s]"] == "1.6 | 10.0"
    assert table["step: speed [m/s]"] == "- | 1.00"
    assert table["fast: speed [m/s]"] == "1.30 | 1.30"


@pytest.mark.timeout(3000)
@pytest.mark.slow  # a machine on soft ground with a step is compiled for lanes
def test_a_refined_design_walks_in_tasks_on_soft_ground():
    """As it is it walks fast as on level ground, slowly a little too fast, and stumbles over 5 cm: what the search
    begins with."""
    problem = tasks_problem(begin_design())
    near = begin_numbers(begin_design())
    names = problem.space.names
    x = np.array([[near[name.rpartition(".")[2]] for name in names]])
    answer = problem.evaluation.evaluate(names, x, np.zeros(1, dtype=np.uint64))
    measures = dict(zip(problem.evaluation.measures, answer.measures[0], strict=True))
    assert answer.status == ("ok",)
    assert measures["fast.power_absolute"] == pytest.approx(241.1, abs=1.0)
    assert 0.85 < measures["slow.speed"] < 1.1
    assert measures["slow.time"] == pytest.approx(10.0)
    assert measures["step.time"] < 3.0


@pytest.mark.timeout(3000)
@pytest.mark.slow  # 19 coordinates on rigid ground with a step are compiled
def test_one_exoskeleton_does_three_tasks():
    """A tiny search around a design that walks: none of its tasks is forgotten, and the step is met."""
    near = walking_numbers()
    problem = task_problem(topology(), PAIR, TASKS, duration=DURATION, near=near, spread=0.002)
    found = evolve.search(problem, evolve.Swarm(3), 2, seed=3)
    best = found.best
    print(best.stage, best.value, dict(best.measures))
    assert best.stage >= 2  # it falls in no task
    for task in TASKS:
        assert best.measures[f"{task}.time"] == pytest.approx(DURATION)
        assert best.measures[f"{task}.peak_interaction"] > best.measures[f"{task}.interaction"] / 6 > 1.0
        assert best.measures[f"{task}.peak_power"] > 10.0
    # the same design walks alone, and stands on the step where it is asked to
    runs = problem.evaluation.tasks["step"]
    names = (*runs.pins, *runs.tables.names)
    own = {name: best.parameters.get(name, best.parameters.get(f"step.{name}")) for name in names}
    numbers = runs._machine_numbers(own)
    machine = runs.inner.system
    states = {name: value for name, value in numbers.items() if name in machine.labels("x")}
    tables: dict[str, list[float]] = {}
    for label, value in numbers.items():
        if label not in states:
            tables.setdefault(label.partition("[")[0], []).append(value)
    run = strut.simulate(machine.using(tables), DURATION, x0=states)
    assert run.status == "done"
    assert np.abs(run["closure_error"]).max() < 1e-8
    points = [(run[f"{point}_x"], run[f"{point}_z"]) for point in ("heel_r", "ball_r", "heel_l", "ball_l")]
    on_step = [z[x > TASKS["step"].edge + 1e-6].min(initial=1.0) for x, z in points]
    assert min(on_step) == pytest.approx(TASKS["step"].rise, abs=1e-6)
