"""Tests keep their compiled systems in one directory of their own, so that a user's cache is neither used nor filled."""

import os
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("STRUT_CACHE", str(Path(tempfile.gettempdir()) / f"strut-tests-{os.getuid()}"))
os.environ.pop("STRUT_BACKEND", None)


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    """An empty cache directory."""
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
