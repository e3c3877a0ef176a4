"""Kieboom's studies of walking in one piece: searched for a generation of four that begin with kept gaits, run again in
every way, judged, and shown. Whole searches are `strut reproduce`."""

import numpy as np
import pytest

from strut import evolve
from strut.studies import (
    coman_search,
    human_refinement,
    kieboom_coman,
    kieboom_human,
    kieboom_perturbed,
)
from strut.studies.gait_verification import VERIFICATION_FILE
from strut.studies.human_stability import STABILITY_FILE
from strut.studies.known_gaits import known_gait
from strut.studies.study import SearchOrder

MODES = ("const", "step", "ppoly")
POPULATION = 4
IMPEDANCES = [f"{joint} {what}" for joint in ("hip", "knee", "ankle") for what in ("stiffness", "damping")]
ANGLES = [f"{joint} angle" for joint in ("hip", "knee", "ankle")]
TORQUES = [f"{joint} torque" for joint in ("hip", "knee", "ankle")]
FORCES = ["vertical ground force", "horizontal ground force"]


@pytest.fixture
def small_searches(monkeypatch):
    """Populations of four, which begin with the kept gaits of a body unless a study begins elsewhere."""

    def begin_with(body):
        search = evolve.search_side_by_side

        def begin(problems, method, generations, **how):
            gaits = {mode: known_gait(f"{body}-{mode}").parameters for mode in problems}
            rows = {mode: [gaits[mode][name] for name in each.space.names] for mode, each in problems.items()}
            first = {mode: np.tile(row, (how["runs"], POPULATION, 1)) for mode, row in rows.items()}
            return search(problems, method, generations, **({"first": first} | how))

        monkeypatch.setattr(evolve, "search_side_by_side", begin)
        for place in (kieboom_human, human_refinement, coman_search):
            monkeypatch.setattr(place, "POPULATION", POPULATION)

    return begin_with


def check_parts(outcome, *, walks=MODES):
    """The film of these walks, and curves of them."""
    assert outcome.film.status == "done"
    assert {name.partition(".")[0] for name in outcome.film.names.x} == set(walks)
    plots = {plot.title: plot for plot in outcome.plots}
    assert any("goals over time" in title for title in plots)
    assert set(ANGLES + TORQUES + FORCES + IMPEDANCES) <= set(plots)
    for title in ANGLES + TORQUES + FORCES:
        curves = plots[title].curves
        assert set(curves) == set(walks), title
        assert all(np.isfinite(curve).all() and np.ptp(curve) > 0 for curve in curves.values()), title
    return plots


def rows_by_name(rows):
    assert len({row.quantity for row in rows}) == len(rows)
    return {row.quantity: row for row in rows}


def order_of(folder):
    return SearchOrder(folder, runs=1, generations=1)


@pytest.mark.timeout(1800)
@pytest.mark.slow  # three parts, every best in three ways and its multipliers: minutes
def test_the_human_is_searched_verified_judged_and_shown(small_searches, tmp_path):
    small_searches("human")
    lines = []
    outcome = kieboom_human.carry_out(order_of(tmp_path), lines.append)
    plots = check_parts(outcome)
    assert all(plots[title].band is not None for title in ANGLES)  # of normal gait
    parts = [title.partition(":")[0] for title in plots if "goals over time" in title]
    assert parts == ["part 1", "part 2", "part 3"]
    rows = rows_by_name(outcome.rows)
    for mode in MODES:
        assert rows[f"{mode}: runs that reach the last goal"].ours == "1 of 1"
        assert rows[f"{mode}: keep all goals in all ways"].ours == "1 of 1"
        assert rows[f"{mode}, from the same gaits: keep all goals in all ways"].ours == "1 of 1"
        assert rows[f"{mode}: what lands first, of those that keep all goals"].ours == "heel of 1"
        assert f"{mode}: in curves and in motion" not in rows  # nobody falls
    assert (tmp_path / VERIFICATION_FILE).is_file()
    assert any("part 3 of 3" in line for line in lines)
    later = rows_by_name(outcome.with_later_rows().rows)
    assert (tmp_path / STABILITY_FILE).is_file()
    for mode in MODES:
        assert later[f"{mode}: is the gait stable?"].ours.startswith("1 of 1 come to a gait; 1 of these")
        assert f"{mode}: pushes that are survived, backwards and forwards" in later


@pytest.mark.timeout(1800)
@pytest.mark.slow  # two parts from three starts, every best in three ways and its multipliers: minutes
def test_coman_is_searched_verified_judged_and_shown(small_searches, tmp_path):
    small_searches("coman")
    outcome = kieboom_coman.carry_out(order_of(tmp_path), lambda _: None)
    plots = check_parts(outcome)
    assert all("COMAN is no human" in plots[title].remark for title in ANGLES)
    rows = rows_by_name(outcome.rows)
    for mode in MODES:
        assert rows[f"{mode}: runs that reach the last goal, joints within their limits"].ours == "1 of 1"
        held = f"{mode}: keep all goals at 0.1 ms, with located contacts, and over 30 s"
        assert rows[held].ours == "1 of 1"
        assert f"{mode}: in curves and in motion" not in rows
    later = rows_by_name(outcome.with_later_rows().rows)
    assert {f"{mode}: is the gait stable?" for mode in MODES} <= set(later)


@pytest.mark.timeout(1800)
@pytest.mark.slow  # fifty draws of pushes of each mode in three ways: a minute, and compiling
def test_pushed_coman_is_searched_pushed_again_and_shown(small_searches, tmp_path):
    small_searches("coman")
    outcome = kieboom_perturbed.carry_out(order_of(tmp_path), lambda _: None)
    rows = rows_by_name(outcome.rows)
    fallen = {name.partition(":")[0] for name in rows if name.endswith("in curves and in motion")}
    plots = check_parts(outcome, walks=set(MODES) - fallen)
    assert min(min(curve) for curve in plots["push against the right foot"].curves.values()) < -60  # [N]
    for mode in MODES:
        for name in (
            "50 draws that no search has seen",
            "these draws, steps of 0.1 ms in double precision",
            "50 further draws, 30 s of steps of 0.1 ms",
        ):
            assert rows[f"{mode}: {name}"].ours.endswith("% do not fall")  # none broke off
        fine = rows[f"{mode}: the draws of its search, steps of 0.1 ms in double precision"]
        located = rows[f"{mode}: the draws of its search, located contacts, controlled steps"]
        assert fine.ours.split()[:3] == located.ours.split()[:3]  # they come as far
