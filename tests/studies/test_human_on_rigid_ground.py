"""Gaits of the human that were found on soft ground, on rigid ground."""

from types import SimpleNamespace

import pytest

from strut.studies import human_on_rigid_ground as study
from strut.studies.known_gaits import known_gait


def ended(status, t1, counts, meaning=""):
    events = SimpleNamespace(counts=lambda: counts)
    return SimpleNamespace(t1=t1, status=status, ending_meaning=meaning, events=events)


def row_of(monkeypatch, run, name="human-step"):
    monkeypatch.setattr(study, "walk_on_rigid_ground", lambda gait: run)
    return study.rigid_ground_row(known_gait(name))


def test_a_run_that_ends_says_how(monkeypatch):
    row = row_of(monkeypatch, ended("topple", 0.4, {"tip_r_touchdown": 3}, "the trunk is over"))
    assert row.quantity == "human-step: torque on rigid ground"
    assert row.published == "108.6, the best of step"
    assert (row.ours, row.remark) == ("ends after 0.40 s: topple", "the trunk is over")


def test_contacts_that_chatter_are_named(monkeypatch):
    counts = {"tip_r_touchdown": 14494, "tip_r_release": 14493, "heel_r_touchdown": 4}
    row = row_of(monkeypatch, ended("too many steps", 0.596, counts))
    assert row.ours == "ends after 0.60 s: too many steps"
    assert row.remark == "contacts chatter: so often landed tip_r 14494 times"
    assert row_of(monkeypatch, ended("too many steps", 9.0, {"tip_r_touchdown": 30})).remark == ""


@pytest.mark.slow  # 65 events on rigid ground: most of a minute to compile, five seconds of walking
def test_a_gait_walks_on_rigid_ground():
    """Slower than on soft ground, where it was found, and with assistance; it does not fall."""
    row = study.rigid_ground_row(known_gait("human-const"))
    torque, speed = (float(word) for word in row.ours.partition(",")[0].replace(" N m at", "").split()[:2])
    assert 0.9 < speed < 1.3
    assert 150 < torque < 300
    assert "its trunk is assisted" in row.ours
