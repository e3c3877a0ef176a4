"""COMAN that learns to walk: its start, its parameters and goals, pushes against swing feet and their draws, first
populations of known solutions."""

from dataclasses import dataclass, replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from strut import State, System, control, evolve, simulate
from strut.control.phase_signal import table_value
from strut.errors import ModelError
from strut.evolve.goals import StagedGoals
from strut.studies import coman_gait, coman_search, kieboom_perturbed
from strut.studies.coman_gait import (
    JOINTS,
    MODES,
    STARTS,
    FrequencyTables,
    coman_goals,
    coman_parameters,
    coman_problems,
    coman_walker,
)
from strut.studies.coman_pictures import coman_with, draw_walks, pushed_coman_with
from strut.studies.coman_pushes import FRESH_SEED, PushedWalks, bear_pushes, draw_seeds, search_seeds
from strut.studies.coman_table import coman_rows
from strut.studies.gait_pictures import impedance_curves, part_plots, progress_plots
from strut.studies.gait_verification import WAYS, Verified
from strut.studies.mode_searches import has_searches, mutated_populations
from strut.studies.nested_modes import average_impedance, embed_constant
from strut.studies.swing_pushes import SwingPushes, uniform_numbers, with_swing_pushes
from strut.system import Disturbance, Foot, Param, Walk, start, time
from tests.studies.test_human_gait import Same

SAMPLES = 4000  # of draws: means are then known to deviation / 200
SURE = 4  # standard errors


def test_a_run_begins_with_a_foot_on_the_ground():
    """In every start the lowest of four points is at the height of the ground, to rounding."""
    walker = coman_walker("const")
    names = [f"{point}_{side}_gap" for point in ("heel", "toe") for side in "rl"]
    gaps = walker.function("gaps", [walker[name] for name in names], ["x", "p"])
    for k in range(STARTS.count):
        values = start(walker.using({name: each[k] for name, each in STARTS.values.items()}))
        heights = [float(gap) for gap in gaps(0.0, values.x, values.p)]
        assert min(heights) == pytest.approx(0.0, abs=1e-12)


def test_numbers_and_limits_are_those_of_the_thesis():
    counts = {mode: len(coman_parameters(control.phase_tables(JOINTS, mode))) for mode in MODES}
    assert counts == {"const": 34, "step": 46, "ppoly": 82}
    bounds = {
        each.name: (each.low, each.high) for each in coman_parameters(control.phase_tables(JOINTS, "const"))
    }
    assert bounds["frequency"] == (0.4, 1.2)
    assert bounds["knee_stiffness"] == (0.0, 1500.0)
    assert bounds["ankle_damping"] == (0.0, 30.0)
    tables = FrequencyTables(control.phase_tables(JOINTS, "const"))
    rows = tables.rows(np.full((2, 34), 0.7))
    assert rows.shape == (2, len(tables.labels))
    assert rows[:, -1].tolist() == [0.7, 0.7]


def test_goals_are_reached_in_their_order():
    names = ("time", "speed", "assist_time", "cost")
    good = {"time": 10.0, "speed": 0.31, "assist_time": 0.0, "cost": 40.0}
    rows = [{**good, **each} for each in ({"time": 9.0}, {"speed": 0.2}, {"assist_time": 0.1}, {})]
    goals = StagedGoals(coman_goals(), names)
    keys = goals.keys({name: np.array([row[name] for row in rows]) for name in names})
    assert goals.stage(keys).tolist() == [0, 1, 2, 3]
    assert goals.stage_and_value(keys[-1]) == (4, 40.0)


def test_joints_may_be_asked_to_keep_the_limits_of_their_motors():
    names = ("time", "speed", "assist_time", "fast_time", "cost")
    row = {"time": 10.0, "speed": 0.31, "assist_time": 0.0, "fast_time": 0.02, "cost": 40.0}
    goals = StagedGoals(coman_goals(limits=True), names)
    keys = goals.keys(
        {name: np.array([row[name], 0.0 if name == "fast_time" else row[name]]) for name in names}
    )
    assert goals.stage(keys).tolist() == [3, 4]
    assert coman_gait.LIMITED_GOAL_NAMES[goals.stage(keys)[0]] == "joint rates"


@pytest.mark.parametrize("mode", ["step", "ppoly"])
def test_a_constant_impedance_is_one_of_every_mode(mode):
    """The same references, stiffness and damping all along the phase, wherever knots and steps are."""
    constant, other = control.phase_tables(JOINTS, "const"), control.phase_tables(JOINTS, mode)
    random = np.random.default_rng(2)

    def draw(tables, count):
        low, high = np.array([q.bounds for q in tables.parameters]).T
        return random.uniform(low, high, (count, len(low)))

    rows, spread = draw(constant, 3), draw(other, 3)
    alike = embed_constant(constant.names, rows, other.names, spread)
    table = ca.SX.sym("table", 24)
    phase = ca.SX.sym("phase")
    value = ca.Function("value", [table, phase], [table_value(table, phase)])
    phases = np.linspace(0, 1, 41, endpoint=False)[None]
    for before, after in zip(constant.rows(rows), other.rows(alike), strict=True):
        for begin in range(0, len(before), 24):
            own, others = before[begin : begin + 24], after[begin : begin + 24]
            np.testing.assert_allclose(value(others, phases), value(own, phases), rtol=1e-9, atol=1e-12)
    with pytest.raises(ModelError, match="'elbow_stiffness_1' is nothing that a constant impedance has"):
        embed_constant(constant.names, rows, ["elbow_stiffness_1"])


def test_half_of_a_population_are_constant_gaits():
    """Of the modes that contain them, from the run of the same number; of const all are its own."""
    problems = coman_problems(coman_walker("table"), coman_gait.STARTS, method="rk4", step=1e-3)
    known = {mode: np.array([np.tile(problems[mode].space.low, (120, 1))] * 2) for mode in MODES}
    known["const"] = known["const"] + problems["const"].space.span / 4
    first = coman_search._with_constant_gaits(problems, known, "step")
    assert first.shape == (2, 120, len(problems["step"].space))
    np.testing.assert_array_equal(first[:, :60], known["step"][:, :60])
    at = problems["step"].space.names.index("hip_stiffness_2")
    assert set(first[:, 60:, at].ravel()) == {coman_gait.MAX_STIFFNESS / 4}
    assert coman_search._with_constant_gaits(problems, known, "const") is known["const"]


def test_pushes_are_drawn_as_published():
    pushes = SwingPushes(count=1)
    rows = pushes.rows(np.zeros(SAMPLES, dtype=int), np.arange(SAMPLES, dtype=np.uint64))
    columns = dict(zip(pushes.labels, rows.T, strict=True))
    for name, mean, deviation in (("force", 80.0, 5.0), ("duration", 0.15, 0.05), ("onset", 0.5, 12**-0.5)):
        for side in "rl":
            own = columns[f"push_{name}_{side}[3]"]
            assert abs(own.mean() - mean) < SURE * deviation / SAMPLES**0.5
            assert own.std() == pytest.approx(deviation, rel=0.1)
    assert (
        abs(np.corrcoef(columns["push_force_r[0]"], columns["push_force_l[0]"])[0, 1]) < SURE / SAMPLES**0.5
    )
    again = pushes.rows(np.zeros(1, dtype=int), np.array([7], dtype=np.uint64))
    np.testing.assert_array_equal(again[0], rows[7])  # the seed alone decides
    # SplitMix64 of seed 0: its first word is published with the generator
    assert uniform_numbers(np.zeros(1, dtype=np.uint64), 1)[0] == (0xE220A8397B1DCDAF >> 11) * 2.0**-53


def stepping_foot():
    """A foot that is up for 0.6 s of each second, from 0.2 s on, and says which impulse it was given; and how
    far it is in front of the hips: it goes forwards from -0.1 to 0.1 m while it is up, and back on the
    ground."""
    frequency = Param("frequency", 1.0, "Hz")
    push, up = Disturbance("foot_r_push_x", 0.0, "N"), Disturbance("foot_r_push_z", 0.0, "N")
    impulse = State("impulse", 0.0, "N s")
    part = time - ca.floor(time)
    gap = (part > 0.2) * (part < 0.8) - 0.5
    since_landing = part + 0.2 - ca.floor(part + 0.2)
    ahead = ca.if_else(gap > 0, -0.1 + 0.2 * (part - 0.2) / 0.6, 0.1 - 0.2 * since_landing / 0.4)
    foot = System(
        "foot",
        x=(impulse,),
        u=(push, up),
        p=(frequency,),
        flow={"impulse": push.sym},
        outputs={"heel_r_gap": gap, "heel_r_normal": ca.SX(1)},
        walk=Walk(feet=(Foot(name="heel_r", normal="heel_r_normal", gap="heel_r_gap"),)),
    )
    return foot, ahead


def test_a_swing_foot_is_pushed_once_a_swing():
    """Three swings with pushes of their own, then the draws begin anew: impulses are force times duration, also of
    the third, during which the foot lands."""
    foot, ahead = stepping_foot()
    walker = with_swing_pushes(foot, {"r": ("heel_r",)}, {"r": ahead}, 3)
    asked = {
        "push_force_r": [10.0, 20.0, 40.0],
        "push_onset_r": [0.1, 0.5, 0.9],
        "push_duration_r": [0.1, 0.2, 0.3],
    }
    run = simulate(walker.using(asked), 4.0, method="rk4", step=1e-4)
    impulses = np.diff(run.at([0.0, 1.0, 2.0, 3.0, 4.0])["impulse"])
    np.testing.assert_allclose(impulses, [-1.0, -4.0, -12.0, -1.0], atol=0.02)
    # an onset of 0.5 is where it passes the hips, in the middle of its swing; of 0.9 is 0.04 m in front of them
    for begin in (1.5, 2.5 + 0.6 * 0.04 / 0.2):
        assert np.all(run.at(np.linspace(np.floor(begin), begin - 1e-3, 50))["push_r"] == 0)
        assert run.at(begin + 1e-3)["push_r"] < 0


def test_a_foot_that_is_hardly_lifted_or_pushed_back_is_pushed_once_a_swing():
    """One that drags forwards on the ground, and one that goes back behind the place of its push in the air: both
    bear the whole push, and no second one."""
    foot, ahead = stepping_foot()
    asked = {"push_force_r": [10.0], "push_onset_r": [0.5], "push_duration_r": [0.2]}
    dragging = foot.replace(outputs={**foot.outputs, "heel_r_gap": ca.SX(-1)})
    part = time - ca.floor(time)
    thrown_back = ca.if_else(ca.fabs(part - 0.6) < 0.05, ca.SX(-0.02), ahead)  # for a tenth of a second
    for machine, place in ((dragging, ahead), (foot, thrown_back)):
        walker = with_swing_pushes(machine, {"r": ("heel_r",)}, {"r": place}, 1).using(asked)
        run = simulate(walker, 3.0, method="rk4", step=1e-4)
        np.testing.assert_allclose(np.diff(run.at([0.0, 1.0, 2.0, 3.0])["impulse"]), -2.0, atol=0.01)


def test_first_populations_are_known_solutions_and_their_mutations():
    space = {"a": (0.0, 1.0), "b": (0.0, 10.0)}
    problem = evolve.SearchProblem(space, evolve.of_function(lambda a, b: a + b), "value")
    known = np.array([[0.5, 5.0], [0.0, 10.0]])
    first = mutated_populations(problem, known, runs=2, population=120, seed=1)
    assert first.shape == (2, 120, 2)
    np.testing.assert_array_equal(first[:, :2], [known, known])
    moved = np.abs(first[:, 2:] - known[np.arange(118) % 2])
    assert (moved <= [0.1, 1.0]).all()
    assert moved.max() > 0.09
    assert (first[0] != first[1]).any()


def test_a_part_of_the_searches_is_refused(tmp_path):
    (tmp_path / "const.db").write_text("")
    with pytest.raises(ModelError, match=r"no step\.db"):
        has_searches(tmp_path, MODES)
    assert not has_searches(tmp_path / "none", MODES)
    assert coman_gait.GOAL_NAMES[-1] == "cost"


def made_up_evolution(mode, costs, last=4):
    """What two generations of some runs left, the last with these costs at the last goal."""
    parameters = {each.name: 0.7 for each in coman_parameters(control.phase_tables(JOINTS, mode))}
    measures = {"speed": 0.35, "cost": 1.0, "fast_time": 0.1}
    bests = tuple(
        evolve.Individual(run, 1, 0, parameters, {**measures, "cost": cost}, last, cost)
        for run, cost in enumerate(costs)
    )
    runs = np.repeat(np.arange(len(costs)), 2)
    history = {
        "run": runs,
        "generation": np.tile([0, 1], len(costs)),
        "stage": np.tile([2, last], len(costs)),
        "best_stage": np.tile([2, last], len(costs)),
        "best_value": np.ravel([[0.1, cost] for cost in costs]),
    }
    best = min(bests, key=lambda each: each.value)
    return evolve.Evolution(best, bests, True, 240, {}, last, (), history=history, seconds=60.0)


def test_the_table_has_published_beside_ours():
    evolutions = {mode: made_up_evolution(mode, costs) for mode, costs in zip(MODES, COSTS, strict=True)}
    long = {
        "speed": 0.35,
        "cost": 50.0,
        "power_positive": 10.0,
        "power_net": 3.5,
        "stance": 0.5,
        "fast_time": 0.15,
    }
    measures = {"long": long, "fine": {**long, "cost": 40.2}, "located": {**long, "cost": 40.4}}
    answer = Verified("const", evolutions["const"].best, measures, dict.fromkeys(WAYS, 4), 4)
    rows = {row.quantity: row for row in coman_rows(Path("here"), [evolutions], {("const", 0): answer})}
    assert rows["const: runs that reach the last goal"].ours == "2 of 2"
    assert rows["const: its cost [J/m]"].published == "40.5"
    assert rows["const: its cost [J/m]"].ours == "50.0"
    assert "positive work alone 28.6, net 10.0; over the weight 0.186" in rows["const: its cost [J/m]"].remark
    assert rows["const: its stride [m]"].ours == "0.500"
    exact = rows["const: run again, located contacts, controlled steps"]  # the search had measured 40 J/m
    assert exact.ours == "1 of 1 keep all goals"
    assert exact.remark == "cost: from the search's it differs by 1.00 % in the median, 1.00 % at most"
    assert "6 rad/s for 1.00 % of the time" in rows["const: its motors"].ours
    rates = rows["const: time in which a joint is beyond 6 rad/s, run by run [%]"]
    assert (rates.ours, rates.remark) == ("2, 2", "0 of 2 keep the limit")
    rows = {row.quantity: row for row in coman_rows(Path("here"), [evolutions, evolutions], {})}
    assert rows["step: cost saved against const, run by run, from the same gaits [%]"].ours == "25, 32"
    assert (
        "mean 28.5 +- 3.5"
        in rows["step: cost saved against const, run by run, from the same gaits [%]"].remark
    )
    assert (
        rows["evaluations, and how long they took"].ours == "720 and 720 from three starts each, in 6.0 min"
    )
    assert rows["order of the bests' costs [J/m]"].ours == "step 30.0 < const 40.0 < ppoly 60.0"
    both = part_plots([evolutions, evolutions], "cost [J/m]")
    assert [plot.title for plot in both[::2]] == ["part 1: goals over time", "part 2: goals over time"]
    alone = part_plots([evolutions], "cost [J/m]")
    assert [each.title for each in alone] == [
        "goals over time",
        "cost over time, median of runs at the last goal",
    ]
    goals, costs = progress_plots(evolutions, "cost [J/m]")
    assert goals.curves["step"] == [2.0, 4.0]
    assert costs.curves["const"][-1] == 45.0
    curves = {plot.title: plot for plot in impedance_curves({"const": evolutions["const"].best}, JOINTS)}
    assert set(curves["hip stiffness"].curves["const"]) == {0.7}


COSTS = ([40.0, 50.0], [30.0, 34.0], [60.0, 61.0])


def test_the_table_of_pushed_gaits():
    calm = {mode: made_up_evolution(mode, costs, 5).best for mode, costs in zip(MODES, COSTS, strict=True)}
    pushed = {
        mode: made_up_evolution(mode, np.multiply(costs, 4), 5)
        for mode, costs in zip(MODES, COSTS, strict=True)
    }
    measures = {
        "time": np.array([10.0, 10.0, 4.0]),
        "cost": np.array([100.0, 120.0, 9e9]),
        "pushes": np.array([0.7, 0.8, 0.1]),
    }
    walk = PushedWalks(0.5, 2 / 3, measures)
    fine = PushedWalks(0.4, 2 / 3, measures, worst=(5, 110.0))
    longer = PushedWalks(0.0, 0.0, {"time": np.array([12.0])}, duration=30.0, broken=1)
    located = PushedWalks(0.0, 1.0, measures, worst=(3, 0.0411))
    again = kieboom_perturbed.PushedBest(
        individual=pushed["const"].best,
        fresh={"search": walk, "fine": fine, "long": longer},
        own={"fine": fine, "located": located},
    )
    table = kieboom_perturbed._rows(pushed, calm, dict.fromkeys(MODES, again), dict.fromkeys(MODES, walk))
    rows = {row.quantity: row for row in table}
    assert rows["step: cost of the best [J/m]"].published == "154"
    assert rows["step: cost of the best [J/m]"].ours == "120.0"
    assert "4.0 times the undisturbed one" in rows["step: cost of the best [J/m]"].remark
    assert rows["const: part of generations whose best is at the last goal"].ours == "50 %"
    told = rows["const: 50 draws that no search has seen"]
    assert told.ours == "50 % keep all goals, 67 % do not fall"
    assert told.remark.startswith(
        "of 2 runs the one that bears most of 50 other draws; of those upright: cost"
    )
    assert "cost 110 J/m" in told.remark
    assert "0.75 pushes of a foot in a cycle" in told.remark
    exact = rows["const: these draws, steps of 0.1 ms in double precision"]
    assert exact.ours == "40 % keep all goals, 67 % do not fall"
    long = rows["const: 50 further draws, 30 s of steps of 0.1 ms"]
    assert (long.ours, long.remark) == ("0 % keep all goals, 0 % do not fall, 1 broke off", "all fall")
    own = "const: the draws of its search, "
    assert rows[f"{own}steps of 0.1 ms in double precision"].ours == "all goals kept, cost 110.0 J/m"
    remark = rows[f"{own}steps of 0.1 ms in double precision"].remark
    assert remark.endswith("the search, by goals with margins: all goals kept, cost 160.0 J/m")
    assert rows[f"{own}located contacts, controlled steps"].ours == "at goal 3 of 5 (assistance), 0.0411"
    assert rows["const: the undisturbed best with the 50 draws"].ours == walk.text


def test_who_is_chosen_by_draws_is_told_of_with_others(monkeypatch, tmp_path):
    """Of two runs the second bears more of the draws of the choice; of one run nothing is chosen, nothing run."""
    asked = []

    def bear(bests, seeds):
        asked.append(seeds["const"])
        share = 0.2 * next(iter(bests.values())).run
        return {mode: PushedWalks(share, 1.0, {}) for mode in bests}

    def candidates(path, evolution):
        return {best.run: [best] for best in evolution.best_of_run}

    monkeypatch.setattr(kieboom_perturbed, "bear_pushes", bear)
    monkeypatch.setattr(kieboom_perturbed, "candidates_of", candidates)
    lines = []
    two = {"const": made_up_evolution("const", [40.0, 41.0], 5)}
    chosen = kieboom_perturbed.choose_bests(tmp_path, two, lines.append)
    assert chosen["const"].run == 1
    assert len(asked) == 2
    assert lines == ["of 2 runs the bests are chosen by 50 draws"]
    assert set(asked[0].tolist()).isdisjoint(draw_seeds(FRESH_SEED).tolist())
    one = {"const": made_up_evolution("const", [40.0], 5)}
    assert kieboom_perturbed.choose_bests(tmp_path, one, lines.append)["const"].run == 0
    assert len(asked) == 2


@dataclass(frozen=True)
class DrawnPlaces:
    """Draws another middle of a bowl from every seed."""

    count: int = 3
    labels: tuple = ("b",)
    digest: str = "drawn places"

    def rows(self, places, seeds):
        return uniform_numbers(seeds, 1)


@pytest.mark.parametrize("keep", ["best", "all"])
def test_the_draws_of_a_best_are_found_again(tmp_path, keep):
    """Evaluated with them once more it has the value that its search left, to the last digit; with others not."""
    a, b, x = Param("a", 0.0), Param("b", 0.0), State("x", 0.0)
    system = System("bowl", x=(x,), p=(a, b), flow={"x": (a.sym - b.sym) ** 2})
    inner = evolve.of_system(system, 1.0, {"loss": "x"}, method="rk4", step=0.5)
    problem = evolve.SearchProblem(
        {"a": (-3.0, 3.0)},
        evolve.EncodedEvaluation(inner, Same(), DrawnPlaces()),
        "loss",
        repeats=3,
        combine="worst",
    )
    searched = evolve.search_side_by_side(
        {"one": problem}, evolve.Swarm(9), 12, runs=3, seed=8, folder=tmp_path, keep=keep
    )["one"]
    for best in searched.best_of_run:
        seeds = search_seeds(tmp_path / "one.db", best)
        assert seeds.shape == (3,)
        x = np.array([list(best.parameters.values())])
        assert problem.evaluate(x, seeds[None]).measures[0, 0] == best.value
        assert problem.evaluate(x, seeds[None] + np.uint64(1)).measures[0, 0] != best.value
    nowhere = replace(searched.best, parameters={"a": 0.123})
    with pytest.raises(ModelError, match="no particle of run . in .*one.db remembers the best of generation"):
        search_seeds(tmp_path / "one.db", nowhere)


def test_no_curve_is_drawn_of_a_goal_that_nobody_reached():
    reached = {"const": made_up_evolution("const", [40.0], 4)}
    assert [plot.title for plot in progress_plots(reached, "cost [J/m]")] == [
        "goals over time",
        "cost over time, median of runs at the last goal",
    ]
    evolution = reached["const"]
    early = replace(evolution, stages=5)  # of five goals none is at the last
    assert [plot.title for plot in progress_plots({"const": early}, "cost [J/m]")] == ["goals over time"]


def test_the_first_draw_that_leaves_it_upright_is_shown():
    def walk(*times):
        return PushedWalks(0.0, 0.0, {"time": np.array(times)})

    assert kieboom_perturbed.shown_seed(walk(3.0, 10.0, 10.0)) == FRESH_SEED + 1
    assert kieboom_perturbed.shown_seed(walk(3.0, 4.0)) == FRESH_SEED


@pytest.mark.slow  # two machines compiled, one for lanes: a quarter of a minute
def test_a_pushed_walk_is_shown_as_it_was_counted():
    """Its mean speed is that of the same draws among those that no search has seen, and its pushes are drawn
    as arrows at the ankles while they act."""
    best = kieboom_perturbed.kept_gaits()["ppoly"]
    counted = bear_pushes({"ppoly": best})["ppoly"]
    seed = kieboom_perturbed.shown_seed(counted)
    shown = pushed_coman_with("ppoly", best.parameters, seed)
    duration = coman_gait.DURATION
    run = simulate(shown, duration, method="rk4", step=coman_gait.STEP, ledger=False)
    moments = run.at(np.linspace(duration / 2, duration, 20001))
    speed = np.trapezoid(moments["speed"], moments.t) / (duration / 2)
    assert speed == pytest.approx(counted.measures["speed"][seed - FRESH_SEED], abs=1e-4)  # of sampling
    pushes = np.concatenate([moments["push_r"], moments["push_l"]])
    assert pushes.max() == 0
    assert -100 < pushes.min() < -60  # [N], 80 with a deviation of 5
    impulse = -np.trapezoid(moments["push_r"] + moments["push_l"], moments.t)
    cycles = 2 * duration / 2 * best.parameters["frequency"]  # of both feet; a push has 12 N s in the mean
    assert impulse / 12 / cycles == pytest.approx(counted.measures["pushes"][seed - FRESH_SEED], rel=1e-2)
    arrows = {arrow.name: arrow for arrow in shown.scene.arrows}
    force = shown.function("force", [arrows["push_r"].force, shown["push_r"]], "xp")
    values = start(shown)
    along, push = force(0.0, values.x, values.p)
    np.testing.assert_array_equal(np.array(along).ravel(), [float(push), 0, 0])


@pytest.mark.slow  # three machines in one run, compiled: half a minute
def test_bests_walk_beside_each_other():
    gaits = kieboom_perturbed.kept_gaits()
    machines = {mode: coman_with(mode, gait.parameters) for mode, gait in gaits.items()}
    plots, film, unshown = draw_walks(machines, gaits, begin=8.0)
    assert film.status == "done"
    assert not unshown
    end = film.at(14.0)
    places = [end[f"{mode}.x"] for mode in MODES]
    assert all(0.3 * 6 - k * 0.9 < x < 0.5 * 6 - k * 0.9 for k, x in enumerate(places))  # 0.3 to 0.5 m/s
    titles = [plot.title for plot in plots]
    assert titles[:2] == ["hip angle", "hip torque"]
    remarks = {plot.title: plot.remark for plot in plots}
    assert "COMAN is no human" in remarks["knee angle"]
    assert not remarks["knee torque"]
    weight = next(plot for plot in plots if plot.title == "vertical ground force")
    for curve in weight.curves.values():  # of a foot, the other one carries the other half
        assert np.mean(curve[:-1]) == pytest.approx(0.5, abs=0.05)


def test_pushes_begin_with_gaits_within_the_limits_of_rates():
    gaits = kieboom_perturbed.kept_gaits()
    assert set(gaits) == set(MODES)
    for gait in gaits.values():
        assert gait.stage == len(coman_gait.LIMITED_GOAL_NAMES)
        assert gait.measures["fast_time"] == 0
        assert 0.3 < gait.measures["speed"] < 0.5  # [m/s] that of the published walks
    rows = kieboom_perturbed.as_rows(gaits)
    assert {mode: len(own) for mode, own in rows.items()} == dict.fromkeys(MODES, len(MODES))
    np.testing.assert_array_equal(rows["step"][0], list(gaits["step"].parameters.values()))


def test_gaits_of_other_modes_keep_references_and_frequency_and_have_means_of_their_impedances():
    """Also where a mode contains another: what is constant comes back as it was."""
    names = {mode: FrequencyTables(control.phase_tables(JOINTS, mode)).names for mode in MODES}
    row = np.arange(1.0, 1 + len(names["ppoly"]))[None]
    own = dict(zip(names["ppoly"], row[0], strict=True))
    means = average_impedance(names["ppoly"], row, names["const"])
    level = dict(zip(names["const"], means[0], strict=True))
    assert level["knee_stiffness"] == np.mean([own[f"knee_stiffness_{k}"] for k in (1, 2, 3, 4)])
    for name in ("frequency", "ankle_reference_2", "hip_reference_share_0"):
        assert level[name] == own[name]
    for mode in ("step", "ppoly"):
        there = embed_constant(names["const"], means, names[mode])
        np.testing.assert_array_equal(average_impedance(names[mode], there, names["const"]), means)
    with pytest.raises(ModelError, match="'hip_stiffness' is not among the 1 numbers"):
        average_impedance(["a"], np.ones((1, 1)), ["hip_stiffness"])
