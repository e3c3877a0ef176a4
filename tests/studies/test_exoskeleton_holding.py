"""Of a search's bests the first is told that holds when it is checked; what fails early is asked no further."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from strut.studies import exoskeleton_checks, exoskeleton_holding
from strut.studies.exoskeleton_holding import choice_rows, holding_designs, holding_rival
from strut.studies.exoskeleton_rival import RIVAL
from strut.studies.known_exoskeletons import known_rival, refined_exoskeletons

SOUND = {"ok": 1.0, "strength": 0.6, "regularity": 0.5, "farthest": 0.2, "beyond": 0.3}
FINE = {"stage": 5.0, "time": 10.0, "power_absolute": 241.0, "assist_time": 0.4}
FAILS = {1: "screened", 2: "fine", 3: "walked", 4: "long"}
"""By generation, what the bests before the one that holds fail."""
UNSOUND = {"screened": {"ok": 0.0}, "walked": {**SOUND, "ok": 0.0, "strength": 0.0}}


def group_of(individual, generations):
    """Bests of some generations, the best first."""
    return [replace(individual, generation=k, value=200.0 + k) for k in generations]


@pytest.fixture
def asked(monkeypatch):
    """What was asked, of the generation of whom: a search of which generation 5 holds."""
    told = []

    def answer(way, sound):
        def run(machine, way=way):
            individual = getattr(machine, "individual", machine)
            told.append((individual.generation, way))
            if FAILS.get(individual.generation) != way:
                return sound
            return UNSOUND.get(way, {**FINE, "stage": 4.0})

        return run

    monkeypatch.setattr(exoskeleton_checks, "_screening_answer", answer("screened", {"ok": 1.0}))
    monkeypatch.setattr(exoskeleton_checks, "screen_walk", answer("walked", SOUND))
    monkeypatch.setattr(exoskeleton_checks, "run_again", answer("run", FINE))
    monkeypatch.setattr(exoskeleton_checks, "rival_run_again", answer("run", FINE))
    monkeypatch.setattr(exoskeleton_holding.evolve, "load_evolution", lambda path: None)
    monkeypatch.setattr(exoskeleton_holding, "searched_space", lambda path: None)
    monkeypatch.setattr(exoskeleton_holding, "searched_goals", lambda path: ())
    return told


def of_search(monkeypatch, design, generations):
    group = group_of(design.individual, generations)
    monkeypatch.setattr(exoskeleton_holding, "candidates_of", lambda path, evolution, **_: {0: group})
    monkeypatch.setattr(
        exoskeleton_holding, "found_design", lambda space, each, run, goals: replace(design, individual=each)
    )
    return replace(design, individual=group[0])


def test_the_first_that_holds_is_told(asked, monkeypatch, tmp_path):
    design = of_search(monkeypatch, refined_exoskeletons()["7-13"], range(1, 7))
    for _ in range(2):
        (chosen,) = holding_designs(tmp_path, [design], lambda text: None)
        assert chosen.individual.generation == 5
    assert asked == [  # once: answers are kept
        *[(1, "screened")],
        *[(2, "screened"), (2, "fine")],
        *[(3, "screened"), (3, "fine"), (3, "walked")],
        *[(4, "screened"), (4, "fine"), (4, "walked"), (4, "long")],
        *[(5, "screened"), (5, "fine"), (5, "walked"), (5, "long")],
    ]
    (row,) = choice_rows([design], [chosen], None, None)
    assert row.ours == "205.0, of generation 5"
    assert row.remark.startswith("the search's best, 201.0 of generation 1, loses a goal")


def test_where_none_holds_the_best_is_told(asked, monkeypatch, tmp_path):
    design = of_search(monkeypatch, refined_exoskeletons()["7-13"], range(1, 5))
    assert holding_designs(tmp_path, [design], lambda text: None) == [design]
    assert choice_rows([design], [design], None, None) == []


def test_peaks_count(asked, monkeypatch, tmp_path):
    """Who is above a limit of peaks in fine steps does not hold."""
    design = of_search(monkeypatch, refined_exoskeletons()["7-13"], [5, 6])
    peaks = {5: 700.0, 6: 500.0}
    monkeypatch.setattr(
        exoskeleton_checks,
        "run_again",
        lambda machine, way: {**FINE, "peak_power": peaks[machine.individual.generation]},
    )
    (chosen,) = holding_designs(tmp_path, [design], lambda text: None, {"peak_power": 600.0})
    assert chosen.individual.generation == 6


def test_the_rival_is_chosen_likewise(asked, monkeypatch, tmp_path):
    group = group_of(known_rival(), [2, 4, 5, 6])
    monkeypatch.setattr(
        exoskeleton_holding, "candidates_of", lambda path, evolution, **_: {0: group[::2], 1: group[1::2]}
    )
    monkeypatch.setattr(
        exoskeleton_holding, "replace", lambda evolution, best: SimpleNamespace(best=best, stages=3)
    )
    rival = SimpleNamespace(best=group[0], stages=group[0].stage)
    chosen = holding_rival(tmp_path, rival, lambda text: None)
    assert chosen.best.generation == 5
    assert {generation for generation, _ in asked} == {2, 4, 5}  # by value over all runs
    (row,) = choice_rows([], [], rival, chosen)
    assert row.quantity.startswith(RIVAL)
