"""What a search that fails says: which limits are violated and missed, in which unit; and limits that every
step keeps, in words that say which foot is meant."""

import re
from dataclasses import replace

import numpy as np
import pytest

from strut import optimal, walkers
from strut.errors import NoGaitError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.solver.limit_units import row_words, unit_of, violations
from strut.optimal.walk.active_limits import find_active_limits
from strut.optimal.walk.limit_origins import limit_origins
from strut.optimal.walk.no_gait import explain_no_gait
from strut.report import design_result
from tests.optimal.floating import on_rigid_ground, telescopic

IMPOSSIBLE = 50.0  # m/s, of a walker that comes to 2


@pytest.fixture(scope="module")
def level():
    return optimal.design(walkers.compass(), speed=0.5)


@pytest.fixture(scope="module")
def impossible():
    return optimal.design(walkers.compass(), speed=IMPOSSIBLE)


# ---- units ----


def test_every_number_of_a_mesh_has_the_unit_of_its_state_or_requirement(level):
    mesh = Transcribed(level.result.problem, Transcription(intervals=(3,)), backend="virtual")
    units = {q.name: q.unit for q in level.planned_system.x}
    for name in mesh.unknowns.names[len(level.parameters) :]:
        label = name.split(" ")[0]
        expected = {**units, "hip_torque": "N m", "duration": "s", "squared_torque": ""}[label]
        assert unit_of(level.result.problem, name) == expected
    for label, unit in units.items():
        of_state = [n for n in mesh.rows.names if re.match(rf"(flow of )?{label} (in|repeats)", n)]
        assert of_state
        assert {unit_of(level.result.problem, n) for n in of_state} == {unit}
    for row, unit in {
        "speed (end of step)": "m/s",
        "step time (end of step)": "s",
        "step length (end of step)": "m",
    }.items():
        assert row in mesh.rows.names
        assert unit_of(level.result.problem, row) == unit
    assert unit_of(level.result.problem, "heel_strike at the end of step") == ""


def test_a_machine_without_units_has_none():
    problem = optimal.Problem(walkers.simplest()).require("speed", "stance", low=0.0, unit="rad")
    assert problem.system.dimensionless
    assert unit_of(problem, "speed") == ""


def test_what_cannot_be_is_said_with_units_and_what_was_asked(impossible):
    sentence = impossible.wrong[0]
    speed = re.search(
        r"'speed' is missed by ([\d.]+) m/s \(it must be 50 m/s: asked by speed, --speed\)", sentence
    )
    assert speed, sentence
    # It is what the nearest motion of the machine misses: that one walks at the rest.
    assert 0 < IMPOSSIBLE - float(speed[1]) < 10
    assert "in the nearest motion found that the machine can do, " in sentence
    assert re.search(
        r"'step time' is missed by [\d.]+ s \(it must be [\d.]+ to [\d.]+ s: by default, unless you ask "
        r"duration, --step-time\)",
        sentence,
    )
    stopped = violations(impossible.result)
    assert len(stopped) == 3
    for text, (name, amount) in zip(stopped, impossible.result.worst.items(), strict=True):
        assert text == f"{row_words(name)} by {amount:.3g} {unit_of(impossible.result.problem, name)}"
    assert "Violated where the search stopped: " + "; ".join(stopped) in design_result(impossible).verdict


def test_who_asked_what_cannot_be_is_said():
    """What the user required keeps the user's name; what every step keeps says so."""
    own = [("slow leg", "swing_rate", -0.1, 0.1)]
    made = optimal.design(walkers.compass(), speed=0.8, require=own)
    origins = limit_origins(made.result, made.limits)
    assert origins["slow leg"] == "required by you"
    assert origins["speed"] == "asked by speed, --speed"
    assert origins["step length"] == "by default, unless you ask step_length, --step-length"
    assert set(origins) == {r.name for r in made.result.problem.requirements}
    assert "which every such motion keeps" in origins.values()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("stance repeats", "stance does not return to where the step began,"),
        ("flow of hip in step, interval 2", "hip moves as the machine cannot (step, interval 2)"),
        ("heel_strike at the end of step", "event 'heel_strike', which ends step, does not come"),
        ("hip after heel_strike", "hip after 'heel_strike' is not what that event makes,"),
        ("step time (end of step)", "step time (end of step)"),
    ],
)
def test_rows_of_the_large_problem_are_told_in_words(row, words):
    assert row_words(row) == words


def test_of_a_search_that_failed_no_replay_is_told(impossible, level):
    rows = {name for name, _, _ in impossible.rows()}
    ends = {"ends later than planned by", "ends earlier than planned by"}
    of_replays = {"replay", "largest multiplier", "lost in impacts"}
    assert not rows & (of_replays | ends)
    told = {name: (value, unit) for name, value, unit in level.rows()}
    assert of_replays <= set(told)
    ((late, unit),) = [told[name] for name in ends & set(told)]
    assert late == abs(level.replay.late)  # a word for its sign, not 'later by -2.5e-09'
    assert unit == "s"
    assert not [name for name in told if "[" in name]  # units have a column of their own
    assert {unit for name, (_, unit) in told.items() if name.endswith("smallest normal force")} == {"N"}
    assert "nan" not in impossible.table()


# ---- why there is no gait ----


def test_an_event_that_ends_steps_is_no_multiplier(level, monkeypatch):
    fallen = NoGaitError("none", fell={"take_off": 3, "done": 1, "no gait: stood still": 2})
    walker = walkers.simplest()
    why = explain_no_gait(fallen, walker, "heel_strike")
    meaning = walker.event("take_off").description
    assert why == (
        f"steps begun there end with 'take_off: {meaning}', or without 'heel_strike'; Newton's method finds a "
        f"motion that is none (stood still)"
    )
    assert (
        explain_no_gait(NoGaitError("no step was completed"), walker, "heel_strike")
        == "no step was completed"
    )
    again = replace(level)
    monkeypatch.setattr(optimal.Replay, "_gait", (None, why))
    assert {name: value for name, value, _ in again.rows()}["largest multiplier"] == f"none: {why}"


# ---- limits that every step keeps ----


def test_a_foot_that_is_hardly_held_is_named():
    """A walker so quick that its foot nearly leaves the ground: the multiplier of what presses it there."""
    made = optimal.design(on_rigid_ground(telescopic(), fall=("torso", 0.4)), speed=0.5)
    (held,) = {r.name for r in made.result.problem.requirements if r.name.startswith("what presses")}
    assert held == "what presses 'foot_r' to the ground"
    (group,) = [g for g in made.result.multipliers if g.name == held]
    # As where it presses: at one place the value comes to the limit, and has a multiplier.
    first = np.arange(len(group.value)) == 0
    pressed = replace(
        group,
        value=np.where(first, group.low, group.value),
        multiplier=np.where(first, -0.05 * made.result.cost, 0.0),
    )
    result = replace(
        made.result, multipliers=tuple(pressed if g.name == held else g for g in made.result.multipliers)
    )
    (limit,) = [each for each in find_active_limits(result, made.limits) if each.name == held]
    assert limit.sentence == (
        f"what presses 'foot_r' to the ground, at least 0.0981 m/s^2, which every such motion keeps: a metre per second "
        f"squared less would save {0.05 * made.result.cost:.3g}, at this rate"
    )


def test_every_limit_of_a_step_is_named_by_words():
    made = optimal.design(walkers.kneed(), speed=0.5)
    names = {r.name for r in made.result.problem.requirements}
    assert not [name for name in names if name.startswith("no ") or "comes once" in name]
