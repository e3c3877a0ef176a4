"""Every example runs, and what it shows is true."""

import importlib.util
import math
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_system(capsys):
    run = load("first_system").main()
    assert run.status == "done"
    assert run["hits"][-1] >= 1
    assert run.ledger.residual < 1e-8
    rest = 1.5 - 0.5 * 9.81 / 8.0
    longer = load("first_system")
    import strut

    assert strut.simulate(longer.system, t=300)["height"][-1] == pytest.approx(rest, abs=1e-6)
    assert "lost in events" in capsys.readouterr().out


def test_slip_map(capsys):
    steps = load("slip_map").main()
    assert abs(int((steps >= 24).sum()) - 581) <= 15
    assert "reach 24 steps" in capsys.readouterr().out


def test_controlled_pendulum(capsys):
    run = load("controlled_pendulum").main()
    assert abs(math.remainder(run["angle"][-1] - math.pi, 2 * math.pi)) < 1e-6
    assert run.ledger.residual < 1e-6
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_no_example_is_forgotten():
    tested = {"first_system", "slip_map", "controlled_pendulum", "demo"}  # demo: tests/view/test_demo.py
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested
