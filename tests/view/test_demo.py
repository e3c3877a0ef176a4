"""The demo finds the closed form, and leaves a page behind."""

import importlib.util
import re
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("plotly")
DEMO = Path(__file__).parents[2] / "examples" / "demo.py"
RATE = 1.095462839648  # sqrt(4 (g/l) sin(alpha) sin(slope) c^2 / (1 - c^2)) by hand, for 8 spokes on 0.08 rad


@pytest.fixture
def demo():
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_demo_finds_the_closed_form(demo, tmp_path, capsys):
    path = demo.main(tmp_path / "new" / "demo")
    said = capsys.readouterr().out
    settled, closed = (float(re.search(rf"{row}\s+([\d.]+) rad/s", said)[1]) for row in (r"after \d+ steps", "closed form"))
    assert closed == pytest.approx(RATE, abs=1e-12)
    assert settled == pytest.approx(RATE, abs=1e-8)
    rates = [float(v) for v in re.findall(r"^ +\d+ +[\d.]+ +([\d.]+) +\S+$", said, flags=re.MULTILINE)]
    off = [rate**2 - RATE**2 for rate in rates]
    assert len(off) == 8
    assert [b / a for a, b in pairwise(off)] == pytest.approx([0.5] * 7, abs=1e-6)  # cos(2 alpha)^2 remains after a step
    assert float(re.search(r"residual +(\S+)", said)[1]) < 1e-8
    assert path == tmp_path / "new" / "demo" / "index.html"
    assert str(path) in said
    film = path.with_name("compass.html")
    assert str(film) in said
    assert "<h1>A compass gait walks down a slope</h1>" in film.read_text(encoding="utf-8")
    assert "<h1>A rimless wheel walks down a slope</h1>" in path.read_text(encoding="utf-8")
