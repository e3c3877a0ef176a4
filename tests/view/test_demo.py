"""The demo designs a compass walker, and leaves a report behind."""

import importlib.util
import re
from pathlib import Path

import pytest

from strut import gait
from tests.examples.gallery import check_printed

pytest.importorskip("plotly")
DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture
def demo():
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_demo_finds_a_spring_that_beats_the_motor(demo, tmp_path, capsys):
    found = demo.main(tmp_path / "new" / "demo")
    said = capsys.readouterr().out
    alone, both = (float(v) for v in re.findall(r"cost ([\d.]+) N s", said))
    assert both < 0.7 * alone
    check_printed("demo.py", said)
    assert len(re.findall("the simulator agrees", said)) == 2
    assert found.ok
    assert found.gait.stable
    walks = gait.find(
        found.machine, found.result.x0
    )  # without the optimiser: the machine that was found does walk like this
    assert walks.speed == pytest.approx(demo.SPEED, abs=1e-6)
    assert found.replay.balance.relative < 1e-6
    assert found.replay.balance.lost > 0.5  # [J]: level ground gives nothing, the motor everything
    assert found.replay.balance.work == pytest.approx(found.replay.balance.lost, rel=1e-5)
    page = tmp_path / "new" / "demo" / "index.html"
    assert str(page) in said
    text = page.read_text(encoding="utf-8")
    assert "<h1>A compass walks on level ground, a spring in its hip</h1>" in text
    for heading in (
        "In motion",
        "The design",
        "The plan",
        "Stability",
        "States",
        "Energy",
        "Contact forces",
        "How far to trust it",
    ):
        assert f"<h2>{heading}</h2>" in text, heading
    for name in ("torques.svg", "plan_rad.png", "multipliers.svg", "result.json", "result.h5"):
        assert (page.parent / name).is_file()
