"""Gaits of COMAN that were found on soft ground, on rigid ground."""

from types import SimpleNamespace

import pytest

from strut.studies import coman_on_rigid_ground as study
from strut.studies.known_gaits import known_gait


def test_a_gait_walks_on_rigid_ground_and_costs_what_it_costs():
    """Of 'const'; its speed is that on soft ground to a hundredth."""
    row = study.rigid_ground_row(known_gait("coman-const"))
    cost, speed = (float(word) for word in row.ours.replace(" J/m at", "").split()[:2])
    assert row.ours.endswith("m/s, unassisted")
    assert speed == pytest.approx(0.48, abs=0.005)
    assert 15 < cost < 30
    assert row.published == "40.5 J/m at 0.48 m/s and 0.64 Hz, the best of const"


def test_a_run_that_ends_says_how(monkeypatch):
    ended = SimpleNamespace(t1=0.4, status="topple", ending_meaning="the trunk is over")
    monkeypatch.setattr(study, "walk_on_rigid_ground", lambda gait: ended)
    row = study.rigid_ground_row(known_gait("coman-step"))
    assert row.ours == "ends after 0.40 s: topple"
    assert row.remark == "the trunk is over"
