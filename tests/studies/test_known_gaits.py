"""Gaits that searches found and that are kept: their parameters are whole and within bounds, and populations that
begin with them contain them in every mode."""

import numpy as np
import pytest

from strut import control
from strut.errors import UnknownNameError
from strut.studies import coman_gait, human_gait
from strut.studies.coman_pushes import PushedWalks, bear_pushes
from strut.studies.coman_verification import coman_ways
from strut.studies.gait_verification import Verified
from strut.studies.human_beyond import first_contact_rows, likeness_rows
from strut.studies.human_impacts import FIRST_GAIT, impact_problems
from strut.studies.human_verification import human_ways
from strut.studies.kieboom_gaits import (
    as_individual,
    gaits_for,
    human_row,
    pushed_row,
    verify_known,
    walk_known,
)
from strut.studies.kieboom_landings import landing_of
from strut.studies.known_gaits import known_gait, known_gaits
from strut.studies.mode_searches import MUTATION, mutated_populations
from strut.studies.nested_modes import embed_populations


def bounds_of(gait):
    """Bounds of the parameters of a gait, by name."""
    if gait.body == "human":
        return {q.name: q.bounds for q in control.phase_tables(human_gait.JOINTS, gait.mode).parameters}
    tables = control.phase_tables(coman_gait.JOINTS, gait.mode)
    return {each.name: (each.low, each.high) for each in coman_gait.coman_parameters(tables)}


def verified_ways(gait, measures):
    """A gait that was run again, with measures by way."""
    return Verified(gait.mode, as_individual(gait), measures, dict.fromkeys(measures, 5), 5)


@pytest.mark.parametrize("name", list(known_gaits()))
def test_parameters_are_whole_and_within_bounds(name):
    gait = known_gait(name)
    bounds = bounds_of(gait)
    assert set(gait.parameters) == set(bounds)
    for each, value in gait.parameters.items():
        low, high = bounds[each]
        assert low <= value <= high, each
    assert gait.source


def test_an_unknown_gait_is_told():
    with pytest.raises(UnknownNameError, match="no known gait 'human-cons-first'"):
        known_gait("human-cons-first")


def test_variations_begin_with_the_known_gait_and_its_mutations():
    problems = impact_problems(("const", "ppoly"), method="rk4", step=1e-3)
    constant, other = problems["torque_const"], problems["torque_ppoly"]
    known = known_gait(FIRST_GAIT).parameters
    row = np.array([[known[name] for name in constant.space.names]])
    populations = mutated_populations(constant, row, runs=2, population=5, seed=3)
    np.testing.assert_array_equal(populations[:, 0], [row[0], row[0]])
    moved = np.abs(populations - row) / constant.space.span
    assert 0.9 * MUTATION < moved.max() <= MUTATION + 1e-12
    alike = embed_populations(constant, other, populations, seed=3)
    assert alike.shape == (2, 5, len(other.space))
    at = {name: k for k, name in enumerate(other.space.names)}
    assert {alike[1, 0, at[f"knee_stiffness_{k}"]] for k in range(1, 5)} == {known["knee_stiffness"]}
    assert (alike[0, 0, at["knee_stiffness_share_0"]] != alike[1, 0, at["knee_stiffness_share_0"]]).all()


def test_a_row_says_what_is_kept_and_where_it_is_from():
    gait = known_gait(FIRST_GAIT)
    long = {"torque": 151.31, "speed": 1.238, "stance": 0.596}
    verified = Verified("const", as_individual(gait), {"long": long}, {"fine": 6, "long": 6, "located": 5}, 6)
    row = human_row(gait, verified)
    assert row.published == "161.6, the best of const"
    assert row.ours == "151.3 N m at 1.238 m/s, stance 60 %"
    assert row.remark.startswith("at goals fine 6, long 6, located 5 of 6")
    fallen = human_row(gait, Verified("const", as_individual(gait), {}, {"long": 1}, 6))
    assert fallen.ours == "falls"


def test_how_a_gait_bears_pushes_is_of_those_that_do_not_fall():
    measures = {"time": [10.0, 4.0, 10.0], "cost": [70.0, 900.0, 90.0], "speed": [0.4, 0.1, 0.42]}
    walk = PushedWalks(1 / 3, 2 / 3, {k: np.array(v) for k, v in (measures | {"pushes": [1, 0, 1]}).items()})
    row = pushed_row(known_gait("coman-step"), walk)
    assert row.published == "154 J/m at 0.38 m/s, the best of step"
    assert row.ours == (
        "33 % keep all goals, 67 % do not fall; 80 J/m at 0.41 m/s, 1.00 pushes of a foot in a cycle (medians "
        "of those that do not fall)"
    )
    fallen = PushedWalks(0.0, 0.0, {"time": np.array([3.0])})
    assert pushed_row(known_gait("coman-step"), fallen).ours.endswith("; all fall")


@pytest.mark.slow  # a hundred and fifty walks of ten seconds in small steps: a few seconds, and compiling
def test_kept_gaits_that_were_pushed_bear_pushes():
    """Of draws that no search has seen; before, 80, 96 and 20 % of those of the gaits that they began with, and none
    unassisted."""
    gaits = {gait.mode: gait for gait in gaits_for("kieboom-perturbed")}
    borne = bear_pushes({mode: as_individual(gait) for mode, gait in gaits.items()})
    assert set(borne) == {"const", "step", "ppoly"}
    assert all(walk.upright_share > 0.95 for walk in borne.values())
    kept = {mode: walk.kept_share for mode, walk in borne.items()}
    assert kept["const"] < kept["step"] < kept["ppoly"]
    assert kept["const"] > 0.2
    assert kept["step"] > 0.5
    assert kept["ppoly"] > 0.75
    costs = [borne[mode].medians["cost"] for mode in ("const", "step", "ppoly")]
    assert costs == pytest.approx([160, 115, 91], rel=0.1)  # [J/m]; published 165, 154, 192


def test_which_gaits_are_run_in_which_way_is_said_as_it_begins(monkeypatch):
    lines = []

    def run_all_ways(todo, ways):
        for make_way in ways.values():
            make_way()
            lines.append("runs")
        return {k: {"measures": {}, "stages": {"fine": 6}, "goals": 6} for k in range(len(todo))}

    monkeypatch.setattr("strut.studies.kieboom_gaits.run_all_ways", run_all_ways)
    gaits = gaits_for("kieboom-human")[:2]
    verified = verify_known(gaits, dict.fromkeys(("fine", "located"), lambda: None), lines.append)
    assert list(verified) == ["human-const-first", "human-const"]
    assert lines == [
        "human-const-first, human-const: steps of 0.1 ms in double precision",
        "runs",
        "human-const-first, human-const: located contacts, controlled steps",
        "runs",
    ]


@pytest.mark.timeout(1800)
@pytest.mark.slow  # every known gait in three ways, one of which locates all contacts: minutes
def test_known_gaits_hold():
    """At 0.1 ms, over 30 s and with located contacts; the first one, of another program, keeps all goals over
    30 s alone."""
    of_humans = verify_known(gaits_for("kieboom-human"), human_ways())
    of_comans = verify_known(gaits_for("kieboom-coman"), coman_ways(limits=True))
    assert of_humans[FIRST_GAIT].stages["long"] == 6
    held = {name: each.holds for name, each in {**of_humans, **of_comans}.items() if name != FIRST_GAIT}
    assert len(held) >= 6
    assert all(held.values()), held
    stances = {name: each.measures["long"]["stance"] for name, each in of_humans.items()}
    assert all(0.57 < stance < 0.61 for stance in stances.values()), stances  # people: about 60 %


def test_the_known_gait_lands_on_its_heel_with_sharp_peaks():
    """As was seen beforehand: heel first, peaks of 2 to 3.1 weights. A stride of the force's mean is half the
    weight, the other foot carries the other half."""
    force = landing_of(walk_known(known_gait(FIRST_GAIT)))
    assert force.first_point == "heel"
    assert 2.0 < max(force.peaks) < 3.2
    assert len(force.peaks) >= 3
    assert force.force.mean() == pytest.approx(0.5, abs=0.01)
    assert force.total_variation > 2 * sum(force.peaks) - 2 * len(force.peaks)


@pytest.mark.slow  # five walks of 14 s, every step kept: a quarter of a minute of processor
def test_gaits_of_every_mode_land_on_the_heel():
    """Of those that keep all goals; others are not counted."""
    gaits = gaits_for("kieboom-human")
    kept = [Verified(gait.mode, as_individual(gait), {}, {"long": 6}, 6) for gait in gaits]
    broken = Verified("const", as_individual(gaits[0]), {}, {"long": 5}, 6)
    rows = {row.quantity.partition(":")[0]: row.ours for row in first_contact_rows([*kept, broken])}
    assert rows == {"const": "heel of 3", "step": "heel of 1", "ppoly": "heel of 1"}


def test_gaits_are_compared_with_people():
    """As was seen beforehand of the first gait: hip and knee go as people's do, the ankle does not."""
    walk = walk_known(known_gait(FIRST_GAIT))
    (row,) = likeness_rows({"first": walk}, {"first": "const"})
    assert row.published == "0.98, 0.68, 0.17; heel"
    correlations, first = row.ours.split("; ")
    hip, knee, ankle = map(float, correlations.split(", "))
    assert first == "heel"
    assert hip > 0.85
    assert knee > 0.85
    assert ankle < 0.5
