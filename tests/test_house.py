"""The house: describing never imports using, and nothing below the waist knows what stands on it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "strut"
COMMON = {"checks", "confine", "errors", "extras", "files", "html", "units", "version"}
MAY_IMPORT = {  # room -> rooms it may read, besides itself and what all share
    "system": set(),
    "mechanism": {"system"},
    "actuator": {"system"},
    "network": {"system"},
    "contact": {"system", "mechanism"},
    "gait": {"system", "simulate"},
    "simulate": {"system"},
    "linear": {"system"},
    "optimal": {"system", "simulate", "gait"},
    "studies": {"system", "actuator", "simulate", "gait", "optimal", "walkers"},
    "export": {"system"},
    "view": {"simulate", "system"},
    "walkers": {"system", "mechanism", "contact"},
}


def rooms_read(path):
    """The rooms of strut that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("strut."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "strut":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2].split(".")[0] for alias in node.names if alias.name.startswith("strut"))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_read_only_what_they_may(room):
    files = list((SOURCE / room).rglob("*.py"))
    assert files
    for path in files:
        strangers = set(rooms_read(path)) - COMMON - {room} - MAY_IMPORT[room]
        assert not strangers, f"{path.name} reads {strangers}"


def test_every_room_is_listed():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert rooms - {"cli"} == set(MAY_IMPORT)
