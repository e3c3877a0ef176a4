"""The search for exoskeletons: what is searched, screening before walks, restricted searches, and a small search
from its first generation to its page."""

import pickle
import sqlite3
from dataclasses import replace
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest

from strut import evolve, linkage
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.evolve.search import StopRequest
from strut.evolve.streams import Purpose, RandomStream
from strut.studies import kieboom_exoskeleton as study
from strut.studies.exoskeleton_checks import is_stable_gait
from strut.studies.exoskeleton_descent import DesignDescent
from strut.studies.exoskeleton_designs import DesignSpace, WornValues, add_stride, chosen_groups, pin_name
from strut.studies.exoskeleton_evaluation import ExoskeletonEvaluation, divide_runs
from strut.studies.exoskeleton_found import (
    check_screening,
    found_design,
    found_designs,
    run_again,
    visit_counts,
)
from strut.studies.exoskeleton_gait import stride_references
from strut.studies.exoskeleton_rival import rival_run_again
from strut.studies.exoskeleton_screening import FINE_SAMPLES, MIN_SOUNDNESS, screen_designs, sound_designs
from strut.studies.exoskeleton_search import (
    EXPLORE_SCHEDULE,
    OWN_BEST_SCHEDULE,
    SWARM_BEST_SCHEDULE,
    exoskeleton_problem,
    exoskeleton_swarm,
    run_file,
    search_exoskeletons,
)
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.studies.known_exoskeletons import (
    kept_parameters,
    known_exoskeletons,
    known_rival,
    longer_rival,
    refined_exoskeletons,
    rigid_exoskeletons,
)
from strut.studies.study import SearchOrder

GROUP = "2-15"


def test_126_groups_of_parameters():
    """Two actuators of 19 parameters, four springs of 3, pins, and 19 of the ankle that all have."""
    space = DesignSpace(chosen_groups())
    assert len(space.groups) == 126
    for group in space.groups.values():
        pins = len(linkage.pin_parameters(group.topology))
        assert len(space.own_names(group)) == 2 * 19 + 4 * 3 + pins
    in_pools = {name for names in space.pools["design"].values() for name in names}
    common = [name for name in space.names if name not in in_pools]
    assert len(common) == 19
    assert all(name.startswith("ankle_") for name in common)
    bounds = {each.name: (each.low, each.high) for each in space.parameters}
    assert bounds["t2_j1_along"] == (0.0, 1.0)  # of body joints: their rows of table 5.2 are exchanged
    assert bounds["t2_j5_x"] == (-0.15, 0.15)
    assert bounds["t2_j5_z"] == (0.1, 1.3)
    assert bounds["j1_stiffness_1"] == (0.0, 12000.0)
    assert bounds["j1_damping_1"] == (0.0, 60.0)
    assert bounds["j1_reference_1"] == (-np.pi, np.pi)


def test_individuals_are_told_apart_by_what_they_have():
    space = DesignSpace(chosen_groups(["2", "4-13"]))
    problem = evolve.MetamorphicSwarm(space.pools, swarm=evolve.Swarm(26))
    state = problem.begin(
        evolve.space.space_of(list(space.parameters)), RandomStream(1).draws(0, Purpose.BEGIN), 5
    )
    x = problem.ask(state, RandomStream(1).draws(0, Purpose.ASK))
    rows = space.rows_by_group(x)
    names = list(space.groups)
    for name, places in rows.items():
        assert [names[int(g)] for g in state["groups"][places, 0]] == [name] * len(places)
    with pytest.raises(ModelError, match="an individual has the parameters of no exoskeleton"):
        space.rows_by_group(np.full((1, len(space.names)), np.nan))


def test_restricted_searches():
    """A topology, a morphology, or a joint is kept, and the rest is searched."""
    every = DesignSpace(chosen_groups(["2"]))
    assert {group.number for group in every.groups.values()} == {2}
    pins = {
        pin_name(2, each.name): 0.5 * (each.low + each.high)
        for each in linkage.pin_parameters(every.groups[GROUP].topology)
    }
    morphology = DesignSpace(chosen_groups([GROUP]), pins)
    assert not set(morphology.names) & set(pins)
    values, _ = morphology.values(morphology.groups[GROUP], np.zeros((2, len(morphology.names))))
    assert values == pytest.approx(np.tile(list(pins.values()), (2, 1)))
    joint = {name: 0.5 for name in every.names if name.startswith("j1_reference_share")}
    chain = DesignSpace(chosen_groups([GROUP]), joint)
    assert len(chain.names) == len(DesignSpace(chosen_groups([GROUP])).names) - len(joint)
    with pytest.raises(UnknownNameError, match="there is no exoskeleton '2-99'"):
        chosen_groups(["2-99"])
    with pytest.raises(UnknownNameError, match="'t3_j1_along' is fixed, which no chosen exoskeleton has"):
        DesignSpace(chosen_groups([GROUP]), {"t3_j1_along": 0.5})
    with pytest.raises(ModelError, match="'t2_j5_x' is fixed at 3: -0.15 to 0.15 is allowed"):
        DesignSpace(chosen_groups([GROUP]), {"t2_j5_x": 3.0})
    both = {
        name: 0.5
        for number in (5, 7)
        for name in DesignSpace(chosen_groups([str(number)])).names
        if name.startswith(f"t{number}_") and not name.endswith(("_x", "_z"))
    }
    both |= {
        name: (0.0 if name.endswith("_x") else 0.7)
        for number in (5, 7)
        for name in DesignSpace(chosen_groups([str(number)])).names
        if name.startswith(f"t{number}_") and name.endswith(("_x", "_z"))
    }
    with pytest.raises(ModelError, match="cannot be told apart"):
        DesignSpace(chosen_groups(["5-13", "7-13"]), both)


def test_what_is_kept_of_a_known_design():
    """Pins, or what belongs to a joint; everything else is searched, and the design is whole again after it."""
    design = refined_exoskeletons()["7-13"]
    whole = DesignSpace(chosen_groups(["7-13"]))
    pins = kept_parameters("7-13", ["pins"])
    assert set(pins) == {pin_name(7, each.name) for each in linkage.pin_parameters(design.group.topology)}
    joint = kept_parameters("7-13", ["j1"])
    assert {"t7_j1_along", "j1_reference_1", "j1_stiffness_on"} <= set(joint)
    assert len(joint) == 1 + 19
    spring = kept_parameters("7-13", ["j6", "ankle"])
    assert {"t7_j6_x", "t7_j6_z", "j6_reference", "j6_stiffness", "j6_damping"} < set(spring)
    assert len(spring) == 5 + 19
    with pytest.raises(UnknownNameError, match="nothing is kept of '2-15'"):
        kept_parameters("2-15", ["pins"])
    with pytest.raises(UnknownNameError, match="'j9' of 7-13 cannot be kept"):
        kept_parameters("7-13", ["j9"])
    # what a search that kept pins left is the same machine, and knows what it kept
    space = DesignSpace(chosen_groups(["7-13"]), pins)
    own = {name: design.individual.parameters[name] for name in space.names}
    again = found_design(space, replace(design.individual, parameters=own), 1)
    assert again.pins == pytest.approx(design.pins)
    assert again.individual.parameters == design.individual.parameters
    assert set(again.kept_names) == set(pins)
    assert not design.kept_names
    descent = DesignDescent(
        None, whole.parameters, whole.row(own | pins)[0], duration=10.0, goals=[], held=again.kept_names
    )
    assert not {whole.names[k] for k in descent.places} & set(pins)


def test_orders_of_restricted_searches(tmp_path, monkeypatch):
    """The command searches a pair, a topology, or what is not kept; of what is kept it must be said."""
    problems = []

    def problem(groups, fixed, **_):
        problems.append((groups, sorted(fixed)))

    monkeypatch.setattr(study, "exoskeleton_problem", problem)
    for name in ("search_exoskeletons", "search_rival"):
        monkeypatch.setattr(study, name, lambda *_, **__: SimpleNamespace(finished=True))
    for only, keep in (((), ()), (("2",), ()), (("7-13",), ("j1", "ankle"))):
        study._search(SearchOrder(tmp_path, runs=1, only=only, keep=keep), lambda text: None)
    assert problems == [
        (None, []),
        (("2",), []),
        (("7-13",), sorted(kept_parameters("7-13", ["j1", "ankle"]))),
    ]
    with pytest.raises(ValueRangeError, match="say with --only of which, as --only 3-12"):
        study._search(SearchOrder(tmp_path, keep=("pins",)), lambda text: None)
    with pytest.raises(ModelError, match="look at those of the package: strut reproduce kieboom-descent"):
        study.carry_out(SearchOrder(tmp_path / "nowhere", search=False), lambda text: None)


@pytest.mark.parametrize("kept", [["j1"], ["j1", "j6"], ["pins"]])
def test_searched_pins_fit_to_those_that_are_kept(kept):
    """With a part of the pins fixed the others of a first population are of designs that carry the stride."""
    fixed = kept_parameters("7-13", kept)
    problem = exoskeleton_problem(["7-13"], fixed, processes=1)
    space = problem.evaluation.space
    draws = RandomStream(1).draws(0, Purpose.BEGIN)
    x = exoskeleton_swarm(problem, 12).begin(problem.space, draws, 5)["x"]
    group = space.groups["7-13"]
    screened = screen_designs([WornValues(group, *space.values(group, x))])[0]
    assert screened.walks.all()
    searched_pins = [k for k, name in enumerate(space.names) if name.startswith("t7_")]
    assert all(len(np.unique(x[:, k])) > 1 for k in searched_pins)


def test_references_count_from_the_stride():
    """With even shares and no deviation they are those that follow the stride, found elsewhere."""
    group = chosen_groups([GROUP])[GROUP]
    design = linkage.sketch_values(group.topology)
    motion = linkage.follow_postures(group.topology, design, linkage.stride_postures(60))
    tables = WornValues(group, design, np.empty(0)).tables
    tree = linkage.spanning_tree(group.topology)
    angles = motion.coordinates[:, : motion.along] @ tree.joint_turns().T
    joints = list(group.topology.joints)
    flat = np.array([[1.0 if "_share_" in name else 0.0 for name in tables.names]])
    for joint in group.actuators:
        counted = add_stride(tables.names, flat, joint, angles[:, :, joints.index(joint)])
        numbers = dict(zip(tables.names, counted[0], strict=True))
        for name, value in stride_references(motion)[joint].items():
            assert numbers[name] == pytest.approx(value, abs=1e-12)


def test_screening_leads_towards_what_passes():
    """Soundness is 1 of what passes; of what assembles on a part of the stride it grows with that part."""
    designs, passing = sound_designs(2)
    group = chosen_groups([GROUP])[GROUP]
    tables = WornValues(group, designs, np.empty(0)).tables
    good = designs[passing[group.actuators]][:5]
    assert len(good)
    bad = good.copy()
    names = [each.name for each in linkage.pin_parameters(group.topology)]
    bad[:, names.index("j5_x")] = bad[:, names.index("j6_x")] = (
        0.0  # all pins in a line: singular from the start
    )
    pins = np.vstack([good, bad])
    control = np.full((len(pins), len(tables.names)), 0.5)
    found = screen_designs([WornValues(group, pins, control)])[0]
    assert found.walks[: len(good)].all()
    assert (found.longest[: len(good)] <= MAX_BAR_LENGTH).all()
    assert (found.soundness[len(good) :] < MIN_SOUNDNESS).all()
    assert not found.walks[len(good) :].any()
    for label, column in found.begin.items():  # loops are closed where a run begins
        assert np.isfinite(column[: len(good)]).all(), label


def test_screening_along_more_samples_is_of_the_same_machine():
    """References do not depend on how many samples are looked at; what lies between those of the search may
    be nearer to a singularity, never farther."""
    designs, passing = sound_designs(7)
    group = chosen_groups(["7-13"])["7-13"]
    values = WornValues(group, designs[passing[group.actuators]][:4], np.zeros(0))
    control = np.full((4, len(values.tables.names)), 0.5)
    worn = WornValues(group, values.pins, control)
    coarse, fine = screen_designs([worn])[0], screen_designs([worn], samples=FINE_SAMPLES)[0]
    assert fine.values.controls == pytest.approx(coarse.values.controls, abs=1e-10)
    assert (fine.regularity <= coarse.regularity + 1e-12).all()
    assert (fine.regularity < coarse.regularity - 1e-3).any()
    assert (fine.strength <= coarse.strength + 1e-12).all()
    with pytest.raises(ModelError, match="samples is 15: a multiple of 10 is needed"):
        screen_designs([worn], samples=15)


def test_migration_follows_the_curves():
    """P_e is 1/20 at first and none later, P_g begins at 500 of 800 generations, and all add up to 1 at
    most."""
    swarm = evolve.MetamorphicSwarm(
        {"p": {"a": ["x"], "b": ["y"]}},
        explore=EXPLORE_SCHEDULE,
        own=OWN_BEST_SCHEDULE,
        social=SWARM_BEST_SCHEDULE,
    )
    rates = np.array([swarm.migration_probabilities(2, k, 800) for k in range(800)])
    assert rates[0, 0] == pytest.approx(0.05, rel=1e-3)
    assert rates[600:, 0].max() < 0.001
    assert rates[:480, 2].max() < 0.01 < rates[520, 2]
    assert rates[-1, 2] == pytest.approx(0.2, rel=1e-3)
    assert rates.sum(axis=1).max() <= 1


def test_a_search_may_keep_bests_alone(tmp_path):
    """It finds the same, also when it is stopped and gone on with; visits of all subspaces are counted."""
    problem = evolve.SearchProblem(
        {"x": (-3, 3), "y": (-3, 3)},
        evolve.of_function(lambda x=None, y=None: (x - 1) ** 2 if y is None else 1 + (y + 1) ** 2),
        "value",
    )
    swarm = evolve.MetamorphicSwarm({"p": {"a": ["x"], "b": ["y"]}}, swarm=evolve.Swarm(6))
    whole = evolve.search(problem, swarm, 7, output=tmp_path / "all.db")
    seen = []

    def stop(at):
        seen.append(at.generation)
        if at.generation == 2:
            raise KeyboardInterrupt

    first = evolve.search(problem, swarm, 7, output=tmp_path / "best.db", keep="best", progress=stop)
    assert not first.finished
    bests = evolve.search(problem, swarm, 7, output=tmp_path / "best.db", keep="best", resume=True)
    assert bests.finished
    assert bests.best.parameters == whole.best.parameters
    assert bests.evaluations == whole.evaluations == 42
    assert np.array_equal(bests.history["best_value"], whole.history["best_value"])
    rows = sqlite3.connect(tmp_path / "best.db").execute("SELECT count(*) FROM individual").fetchone()
    assert rows == (7,)
    with evolve.store.closing(evolve.store.JobStore(tmp_path / "best.db", read_only=True)) as store:
        state = store.read(0, 6).state
    assert state["visits"].sum() == 42


def test_evaluations_travel_to_workers():
    """A copy in another process is the same evaluation, and one of many workers takes one core; what is not
    sound is measured without a run."""
    problem = exoskeleton_problem([GROUP], processes=1)
    evaluation = problem.evaluation
    assert evaluation.divisible  # shares of a generation may go to a cluster
    assert not exoskeleton_problem([GROUP], processes=1, lanes="auto").evaluation.divisible
    copy = pickle.loads(pickle.dumps(evaluation.on_one_core()))
    assert copy.processes == 1
    assert copy.settings() == evaluation.settings()
    x = np.array([[0.5 * (each.low + each.high) for each in evaluation.space.parameters]])  # pins in a line
    answer = copy.evaluate(evaluation.space.names, x, np.zeros(1, dtype=int))
    measures = dict(zip(copy.measures, answer.measures[0], strict=True))
    assert measures["soundness"] < MIN_SOUNDNESS
    assert measures["time"] == 0.0
    assert problem.staged_goals.stage(problem.keys(x, answer.measures))[0] == 0


def test_every_core_has_about_as_many_runs():
    """Runs of topologies are divided among cores, none is lost, and no piece is longer than a core's share
    but for lanes that would stay empty."""
    for counts in ([200], [120, 40, 20, 10, 5, 5], [1] * 10, [0, 7]):
        for cores in (1, 2, 16):
            pieces = divide_runs(dict(enumerate(counts)), cores=cores, lanes=4)
            for number, count in enumerate(counts):
                own = np.concatenate([np.empty(0, int), *[rows for each, rows in pieces if each == number]])
                assert np.array_equal(np.sort(own), np.arange(count))
            share = max(4, -(-sum(counts) // cores))
            assert max(len(rows) for _, rows in pieces) <= share
            lengths = [len(rows) for _, rows in pieces]
            assert lengths == sorted(lengths, reverse=True)  # long ones first: no core waits for one


def test_known_exoskeletons_are_what_was_asked_for():
    """Short runs and whole ones found some: bars up to 0.7 m, about 14 kg, hundreds of watts. The rival of as
    few evaluations needs less than theirs; that of a whole search lies between those of whole searches."""
    designs = known_exoskeletons()
    assert len(designs) == 5
    for name, design in designs.items():
        assert design.group.name == name
        assert is_stable_gait(design.worn_design())
    best, second = (designs.pop(name).individual.value for name in ("3-12", "6-13"))
    assert known_rival().value < min(design.individual.value for design in designs.values())
    assert best < longer_rival().value < second < known_rival().value


@pytest.mark.parametrize("designs", [known_exoskeletons, refined_exoskeletons, rigid_exoskeletons])
def test_known_exoskeletons_pass_the_finer_screening(designs):
    """All of them carry the stride along more samples than the search looked at."""
    assert {name: check_screening(design) for name, design in designs().items()} == dict.fromkeys(
        designs(), True
    )


@pytest.mark.slow  # machines of two topologies are compiled, about a minute each
def test_a_small_search_to_its_page(tmp_path):
    """Ten particles over two topologies: stopped after a generation and gone on with, told in rows, drawn."""
    problem = exoskeleton_problem(["2", "5"], duration=2.0, processes=2, lanes="auto")
    swarm = exoskeleton_swarm(problem, 10)
    space = problem.evaluation.space
    state = swarm.begin(problem.space, RandomStream(1).draws(0, Purpose.BEGIN), 2)
    rows = space.rows_by_group(swarm.ask(state, RandomStream(1).draws(0, Purpose.ASK)))
    assert {space.groups[name].number for name in rows} == {2, 5}
    part = search_exoskeletons(tmp_path, problem, generations=2, population=10, minutes=1e-9)
    assert not part.finished
    whole = search_exoskeletons(tmp_path, problem, generations=2, population=10)
    assert whole.finished
    assert whole.evaluations == 20
    alone = search_exoskeletons(tmp_path / "alone", problem, generations=2, population=10)
    assert alone.best.parameters == whole.best.parameters
    assert alone.best.measures == whole.best.measures
    assert whole.best.stage >= 3  # it walks
    design = found_design(space, whole.best, 1)
    assert design.walks
    machine = design.machine("soft")
    assert machine.name == "exoskeleton"
    visits = visit_counts(tmp_path)
    assert sum(visits.values()) == 20
    outcome = study.carry_out(SearchOrder(tmp_path, search=False, verify=False), lambda _: None)
    table = {row.quantity: row for row in outcome.rows}
    assert table["evaluations of a run"].ours == "20"
    assert table["run 1"].ours == design.group.name
    assert "best 1: added mass [kg]" in table
    assert 12.0 < float(table["best 1: added mass [kg]"].ours) < 20.0
    assert outcome.pictures
    assert outcome.maps
    assert run_file(tmp_path, 1).is_file()


@pytest.mark.timeout(3000)
@pytest.mark.slow  # a machine in lanes and the rival's are compiled
def test_a_restricted_search_to_its_table(tmp_path):
    """The control of a known design is searched anew, its pins are kept; the folder is read without a search,
    and the design in it has pins and walks."""
    order = SearchOrder(
        tmp_path, runs=1, generations=1, population=8, only=("7-13",), keep=("pins",), verify=False
    )
    searched = study.carry_out(order, lambda text: None)
    read = study.carry_out(SearchOrder(tmp_path, search=False, verify=False), lambda text: None)
    assert read.rows == searched.rows
    assert {row.quantity: row.ours for row in read.rows}["run 1"] == "7-13"
    (design,) = found_designs(tmp_path)
    kept = kept_parameters("7-13", ["pins"])
    assert kept.items() <= design.individual.parameters.items()
    assert design.kept_names == tuple(kept)
    assert design.pins == pytest.approx(refined_exoskeletons()["7-13"].pins)
    assert design.walks


@pytest.mark.slow  # two machines are compiled, a minute each
def test_known_exoskeletons_walk():
    """What was found in single precision with steps of 0.25 ms keeps its goals in double with 0.1 ms, and so
    does the rival."""
    best = known_exoskeletons()["7-13"]
    rival = known_rival()
    for individual, measures in (
        (best.individual, run_again(best, "fine")),
        (rival, rival_run_again(rival, "fine")),
    ):
        assert measures["stage"] == 5
        for name in ("speed", "power_absolute", "torque"):
            assert measures[name] == pytest.approx(individual.measures[name], rel=0.02)


@pytest.mark.timeout(3000)
@pytest.mark.slow  # a machine is compiled in lanes, alone and on rigid ground, and walks for 30 s in fine steps
def test_the_best_of_whole_searches_keeps_its_goals_everywhere():
    """In fine steps with less power than the rival of as many evaluations, for 30 s, and on rigid ground."""
    best = known_exoskeletons()["3-12"]
    fine, long, rigid = (run_again(best, way) for way in ("fine", "long", "rigid"))
    assert [each["stage"] for each in (fine, long, rigid)] == [5, 5, 5]
    rival = rival_run_again(longer_rival(), "fine")
    assert rival["stage"] == 5
    assert fine["power_absolute"] < rival["power_absolute"]


def test_an_interrupted_search_begins_nothing_else(tmp_path, monkeypatch):
    """Ctrl-C ends the study, not one of its runs: neither the next run nor the rival is begun."""
    begun = []

    def stop(*_, run, **__):
        begun.append(run)
        return SimpleNamespace(finished=False)

    monkeypatch.setattr(study, "exoskeleton_problem", lambda *_, **__: None)
    monkeypatch.setattr(study, "search_exoskeletons", stop)
    monkeypatch.setattr(study, "search_rival", lambda *_, **__: begun.append("rival"))
    study._search(SearchOrder(tmp_path, runs=3), lambda text: None)
    assert begun == [1]
    begun.clear()
    study._search(SearchOrder(tmp_path, runs=3, minutes=1e-9), lambda text: None)
    assert begun == [1]  # the time is over for the rival too


def test_a_seed_is_of_the_rival_too(tmp_path, monkeypatch):
    """Runs count from the seed that is asked for; the rival begins with it."""
    seeds = []

    def search(*_, seed, **__):
        seeds.append(seed)
        return SimpleNamespace(finished=True)

    monkeypatch.setattr(study, "exoskeleton_problem", lambda *_, **__: None)
    monkeypatch.setattr(study, "search_exoskeletons", search)
    monkeypatch.setattr(study, "search_rival", search)
    study._search(SearchOrder(tmp_path, runs=1, seed=7), lambda text: None)
    study._search(SearchOrder(tmp_path, runs=1), lambda text: None)
    assert seeds == [7, 7, 1, 1]


def test_on_a_card_runs_go_side_by_side(tmp_path, monkeypatch):
    """All of them are under way at once, after the machines are compiled; the rival follows where all ended,
    and a run that fails ends the others."""
    begun, together = [], Barrier(3, timeout=60)

    def search(*_, run, minutes, progress, **__):
        assert minutes is None
        begun.append(run)
        together.wait()  # nobody comes past it alone
        progress(SimpleNamespace(stage=0, generation=0, generations=1, evaluations_per_second=1.0, value=0.0))
        return SimpleNamespace(finished=True)

    problem = exoskeleton_problem(["7-13"])
    monkeypatch.setattr(study, "exoskeleton_problem", lambda *_, **__: problem)
    monkeypatch.setattr(ExoskeletonEvaluation, "compile", lambda _: begun.append("compiled"))
    monkeypatch.setattr(study, "search_exoskeletons", search)
    monkeypatch.setattr(study, "search_rival", lambda *_, **__: begun.append("rival"))
    order, told = SearchOrder(tmp_path, runs=3, device="cuda"), []
    study._search(order, told.append)
    assert begun[0] == "compiled"
    assert sorted(begun[1:4]) == [1, 2, 3]
    assert begun[4:] == ["rival"]
    assert sum("generation 1/1" in each for each in told) == 3

    def fail_once(*_, run, progress, **__):
        together.wait()
        if run == 1:
            raise ValueError("the first fails")
        while True:  # until it is told to stop
            progress(
                SimpleNamespace(stage=0, generation=0, generations=1, evaluations_per_second=1.0, value=0.0)
            )

    def until_stopped(*arguments, **keywords):
        try:
            return fail_once(*arguments, **keywords)
        except StopRequest:
            return SimpleNamespace(finished=False)

    monkeypatch.setattr(study, "search_exoskeletons", until_stopped)
    with pytest.raises(ValueError, match="the first fails"):
        study._search(order, lambda text: None)
    assert begun[5:] == ["compiled"]
