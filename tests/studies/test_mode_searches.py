"""What studies share that search several modes in one folder: what is shown of searches that were stopped, whose files
they are, where runs are done, and what the command refuses before anything is searched."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from strut import Param, State, System, evolve
from strut.cli.app import main
from strut.errors import ModelError, NoGenerationError
from strut.studies import mode_searches
from strut.studies.mode_searches import (
    SearchMark,
    check_continuation,
    load_parts,
    progress_teller,
    run_options,
    runs_of,
    search_if_possible,
    seed_of,
)
from strut.studies.study import SearchOrder
from tests.simulate.fake_card import fake_driver, fake_driver_file
from tests.studies.test_human_gait import Same

__all__ = ["fake_driver", "fake_driver_file"]

MARK = SearchMark("tiny", {"one": ("a",), "two": ("a",)}, 1)
STARTS = evolve.FixedScenarios({"x": (0.0, 1.0)})


def search_tiny(folder, generations=2, *, scenarios=None, seed=1, **options):
    """Two modes, two runs each, of x' = a, whose x is to be small after a second."""
    x, a = State("x", 0.0), Param("a", 0.0, bounds=(0.0, 1e3))
    system = System("tiny", x=(x,), p=(a,), flow={"x": a.sym})
    inner = evolve.of_system(system, 1.0, {"end": "x"}, **{"method": "rk4", "step": 0.5, **options})
    repeats = 1 if scenarios is None else scenarios.count
    evaluation = evolve.EncodedEvaluation(inner, Same(), scenarios)
    problem = evolve.SearchProblem({"a": (0.0, 1e3)}, evaluation, "end", repeats=repeats)
    return evolve.search_side_by_side(
        {"one": problem, "two": problem},
        evolve.Swarm(4),
        generations,
        runs=2,
        seed=seed,
        folder=folder,
        resume=(folder / "one.db").exists(),
    )


def edit(path, *commands):
    """Change a file of a job as no search would."""
    with closing(sqlite3.connect(path)) as database, database:
        for command, values in commands:
            database.execute(command, values)


def forget_generations(folder):
    """Leave files of searches that have begun and finished no generation."""
    for mode in MARK.modes:
        edit(folder / f"{mode}.db", ("DELETE FROM generation", ()), ("DELETE FROM individual", ()))


def test_parts_that_are_finished_are_shown_where_the_next_has_only_begun(tmp_path):
    search_tiny(tmp_path)
    search_tiny(tmp_path / "next")
    marks = {tmp_path: MARK, tmp_path / "next": MARK, tmp_path / "none": MARK}
    assert len(load_parts(marks)) == 2
    forget_generations(tmp_path / "next")
    (part,) = load_parts(marks)
    assert set(part) == {"one", "two"}
    forget_generations(tmp_path)
    with pytest.raises(NoGenerationError, match="no generation of the searches in .* is finished: go on"):
        load_parts(marks)
    with pytest.raises(ModelError, match="there are no searches in .*none: search first"):
        load_parts({tmp_path / "none": MARK})


def test_a_search_that_was_stopped_before_a_generation_ends_nothing_else(tmp_path):
    def stopped():
        raise NoGenerationError("no generation was finished")

    assert not search_if_possible(stopped)
    assert search_if_possible(lambda: search_tiny(tmp_path))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"parameters": {"one": ("a", "b"), "two": ("a",)}}, "1 numbers, not 2"),
        ({"goals": 5}, "1 goals, not 5"),
        ({"scenarios": STARTS.digest}, "other starts or pushes"),
    ],
)
def test_searches_of_another_study_are_refused(tmp_path, other, sentence):
    search_tiny(tmp_path)
    with pytest.raises(ModelError, match=rf"one\.db is no search of tiny \({sentence}\): with -o name"):
        load_parts({tmp_path: replace(MARK, **other)})
    search_tiny(tmp_path / "starts", scenarios=STARTS)
    assert load_parts({tmp_path / "starts": replace(MARK, scenarios=STARTS.digest)})


def test_without_a_card_runs_are_those_of_the_processor(monkeypatch, tmp_path):
    order = SearchOrder(tmp_path, device="cuda", precision="single")
    monkeypatch.setattr(mode_searches, "lack_of_card", lambda: "no card here")
    with pytest.warns(
        RuntimeWarning, match="no card here: runs are done on the processor, .* in single"
    ) as told:
        way = run_options(order)
    assert way == run_options(replace(order, device="cpu")) == {"lanes": "auto", "precision": "single"}
    assert "rtol" not in str(told[0].message)
    monkeypatch.setattr(mode_searches, "lack_of_card", str)
    assert run_options(order) == {"device": "cuda", "crew": "auto", "precision": "single"}


def read_spec(path):
    with closing(sqlite3.connect(path)) as database:
        return json.loads(database.execute("SELECT spec FROM job").fetchone()[0])


def populations(folder):
    return evolve.load_personal_bests(folder / "one.db")


def test_what_began_on_a_card_goes_on_on_cores_with_the_same_populations(tmp_path, fake_driver):
    """Particles remember the same places as those of a search that was on cores all the time: the machine adds and
    multiplies alike on both."""
    search_tiny(tmp_path / "card", 2, device="cuda")
    assert read_spec(tmp_path / "card" / "one.db")["problem"]["evaluation"]["of"]["runs on"] == "cuda"
    on_cores = {"lanes": "auto"}
    with pytest.warns(
        RuntimeWarning, match="began on a card and go on on cores: where runs are done is no part"
    ):
        check_continuation(tmp_path / "card", SearchOrder(tmp_path), on_cores, MARK)
    search_tiny(tmp_path / "card", 4, **on_cores)
    search_tiny(tmp_path / "cores", 4)
    np.testing.assert_array_equal(populations(tmp_path / "card"), populations(tmp_path / "cores"))
    assert runs_of(tmp_path / "card", SearchOrder(tmp_path), MARK.modes, 10) == 2
    assert seed_of(tmp_path / "card", SearchOrder(tmp_path), MARK.modes, 7) == 1
    assert seed_of(tmp_path / "none", SearchOrder(tmp_path), MARK.modes, 7) == 7


def test_files_of_before_that_name_crews_and_lanes_are_gone_on_with(tmp_path):
    """As many generations more; other steps are another job."""
    search_tiny(tmp_path)
    for mode, place in (("one", {"crew": "'auto'"}), ("two", {"lanes": "'auto'"})):
        spec = read_spec(tmp_path / f"{mode}.db")
        spec["problem"]["evaluation"]["of"]["options"] |= place
        edit(tmp_path / f"{mode}.db", ("UPDATE job SET spec = ?, sha = ''", (json.dumps(spec),)))
    assert all(each.evaluations == 2 * 4 * 3 for each in search_tiny(tmp_path, 3).values())
    with pytest.raises(ModelError, match=r"options\.step is \"0\.5\", not \"0\.25\""):
        search_tiny(tmp_path, 3, step=0.25)


def test_what_a_folder_was_begun_with_is_asked_for_again(tmp_path):
    search_tiny(tmp_path)
    for changes, sentence in (
        ({"precision": "single"}, "are in double precision: --precision double"),
        ({"runs": 3}, "have --runs 2, and --runs is 3: leave it out"),
        ({"seed": 5}, "have --seed 1, and --seed is 5"),
    ):
        with pytest.raises(ModelError, match=sentence):
            check_continuation(tmp_path, SearchOrder(tmp_path, **changes), {"lanes": "auto"}, MARK)
    check_continuation(tmp_path, SearchOrder(tmp_path, runs=2, seed=1), {"lanes": "auto"}, MARK)


def test_progress_says_which_part_of_how_many_runs():
    at = evolve.SideBySideProgress(4, 500, {"const": (0, 3)}, {"const": 0.5}, 2.0, 360)
    lines = []
    progress_teller(lines.append, ("time", "speed"), runs=3, part=2, parts=3)(at)
    progress_teller(lines.append, ("time", "speed"), runs=1)(at)
    assert lines[0].startswith(
        "part 2 of 3, 3 runs of each mode, generation 5/500, 2.00 s (180 evaluations/s)"
    )
    assert lines[0].endswith("const: 3 at speed, best 0.5")
    assert lines[1].startswith("1 run of each mode, generation 5/500")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--precision", "half"], "--precision is 'half': double or single is allowed"),
        (["--device", "gpu"], "--device is 'gpu': cpu or cuda is allowed"),
        (["--runs", "0"], "invalid value for '--runs': 0 is not in the range x>=1"),
        (["--generations", "0"], "invalid value for '--generations': 0 is not in the range x>=1"),
        (["--minutes", "0"], "--minutes is 0: give a number above 0, or leave it out"),
        (["--minutes", "-1"], "--minutes is -1: give a number above 0"),
        (["--integration-step", "0"], "--integration-step is 0: give a number above 0"),
        (["--crew", "2"], "--crew 2 is of a graphics card: leave it out, or say --device cuda"),
        (["--crew", "3", "--device", "cuda"], "--crew is 3: 1, 2, 4, 8 are allowed"),
        (["-o", "page.html"], "'page.html' is the name of a file: give the name of a folder"),
        (["--parts", "4"], "--parts is 4, and the search of 'kieboom-human' has 3"),
        (["--no-search"], "there are no searches in kieboom-human: search first"),
    ],
)
def test_what_the_command_refuses(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "kieboom-human", *arguments])
    assert left.value.code == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("study", ["kieboom-coman", "kieboom-perturbed"])
def test_a_folder_of_another_study_is_refused(study, tmp_path, capsys):
    search_tiny(tmp_path)
    for mode, name in zip(("const", "step", "ppoly"), ("one", "two", "two"), strict=True):
        (tmp_path / f"{mode}.db").write_bytes((tmp_path / f"{name}.db").read_bytes())
    for more in ([], ["--no-search"]):
        with pytest.raises(SystemExit) as left:
            main(["reproduce", study, "-o", str(tmp_path), *more])
        assert left.value.code == 2
        assert f"const.db is no search of {study} (1 numbers, not 34" in " ".join(
            capsys.readouterr().err.split()
        )
