"""Tests keep their compiled systems in one directory of their own, so that a user's cache is neither used nor filled."""

import os
import tempfile
import time as clock
from pathlib import Path

import pytest

SLOW_MACHINE = (
    10.0  # by how many times a machine may be slower than usual before the time of a search decides a test
)

os.environ.setdefault("STRUT_CACHE", str(Path(tempfile.gettempdir()) / f"strut-tests-{os.getuid()}"))
os.environ.pop("STRUT_BACKEND", None)
os.environ["STRUT_LIVE"] = "off"  # pages come without live ones, which take time: tests/live asks for them


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    """An empty cache directory."""
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session", autouse=True)
def patient_searches():
    """Let searches whose budget nobody chose go on longer, so that a busy machine finds what a quiet one does."""
    from strut.optimal.solver.watch import BUDGET, SearchWatch

    count_down = SearchWatch.count_down

    def count_down_patiently(watch):
        if watch.budget == BUDGET and watch.deadline == float("inf"):
            watch.deadline = clock.perf_counter() + SLOW_MACHINE * BUDGET
        count_down(watch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SearchWatch, "count_down", count_down_patiently)
        yield
