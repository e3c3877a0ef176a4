"""The gait without motors that a search for a design begins from."""

from __future__ import annotations

import pytest

from strut.optimal.walk import reference
from strut.optimal.walk.reference import find_passive_gait, keeps_walking
from strut.walkers import CATALOGUE


def test_a_large_machine_that_falls_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trunk on two legs, without motors, falls in its second step: derivatives of its step are not made."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a gait was looked for")

    monkeypatch.setattr(reference, "find", refuse)
    monkeypatch.setattr(reference, "find_all", refuse)
    assert find_passive_gait(CATALOGUE["trunk-3d"](), "foot_l_touchdown") is None


def test_a_large_machine_that_walks_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it walks is asked, not how large it is alone."""
    monkeypatch.setattr(reference, "MAX_FALLING_STATES", 3)
    compass = CATALOGUE["compass"]()
    assert keeps_walking(compass, "heel_strike")
    gait = find_passive_gait(compass, "heel_strike")
    assert gait is not None
    assert gait.kind == "stable"


def test_a_gait_of_few_random_starts_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unstable gait found from the first random starts is a reference: no stable one is searched for."""
    asked = []
    real = reference.find_all

    def count(*args: object, starts: int, **options: object) -> object:
        asked.append(starts)
        return real(*args, starts=starts, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(reference, "find_all", count)
    gait = find_passive_gait(CATALOGUE["saurel-d"](), "heel_strike")
    assert gait is not None
    assert gait.kind == "unstable"
    assert asked in ([], [reference.PASSIVE_STARTS[0]])
