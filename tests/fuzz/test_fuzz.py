"""Wrong values and damaged files end in errors of our own, quickly; `python -m tests.fuzz calls 10000` makes many more."""

from pathlib import Path

import pytest

from tests.fuzz import calls, files, guard
from tests.fuzz.guard import fault, nonsense

CALLS = 1000
FILES = 700
"""In the suite; together about half a minute."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("schedule", "count"), [(calls.schedule, CALLS), (files.schedule, FILES)], ids=["calls", "files"]
)
@pytest.mark.timeout(600)
def test_only_errors_of_our_own(schedule, count):
    files.samples.cache_clear()
    faults = [
        f"{text}\n    {wrong}" for _, text, call in schedule(count, seed=2024) if (wrong := fault(call))
    ]
    assert not faults, f"{len(faults)} of {count}:\n" + "\n".join(faults[:20])


def test_whole_files_are_read():
    """What is damaged in the fuzz is read while it is whole: else the fuzz would only see refusals."""
    files.samples.cache_clear()
    suffixes = []
    for wholes, suffix, reader in files.samples().values():
        for k, data in enumerate(wholes):
            path = Path(f"whole{k}{suffix}")
            path.write_bytes(data)
            reader(path)
            suffixes.append(suffix)
    assert {".toml", ".urdf", ".xml", ".cdn", ".h5"} <= set(suffixes)


def forever():
    while True:
        pass


def test_the_judge_sees_what_is_wrong(monkeypatch):
    assert fault(lambda: 1 / 0).startswith("ZeroDivisionError at ")
    assert nonsense(float("nan")) == "the result is not a number"
    monkeypatch.setattr(guard, "LONGEST", 0.2)
    assert fault(forever) == "took more than 0.2 s of processor time"


def test_every_room_is_called():
    titles = set(calls.public())
    for name in (
        "strut.simulate",
        "strut.join",
        "strut.export",
        "strut.gait.find",
        "strut.optimal.design",
        "strut.linear.linearise",
    ):
        assert name in titles
    assert len(titles) > 200
