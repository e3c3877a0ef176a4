"""Every block of the guide and of the README runs, in order, and what it asserts is true."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("plotly")
pytest.importorskip("matplotlib")
pytest.importorskip("PIL")
ROOT = Path(__file__).parents[2]
GUIDE, README = ROOT / "docs" / "guide.md", ROOT / "README.md"


def blocks(text):
    """The Python blocks, each with its line number in the file, so that an error points there."""
    for block in re.finditer(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


def run(path):
    """All Python blocks of a file, one after the other; the names they leave."""
    names = {}
    for block in blocks(path.read_text(encoding="utf-8")):
        exec(compile(block, str(path), "exec"), names)
    return names


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(README)
    assert names["walk"].status == names["swing"].status == "done"
    assert names["walk"].ledger.residual < 1e-8
    assert len(names["many"]) == 500
    assert {path.name for path in tmp_path.iterdir()} == {"walk.h5", "walk.html", "firmware", "design"}


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    assert len(list(blocks(text))) == text.count("```python") == text.count("```") / 2
    run(GUIDE)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("run.h5", "run.csv", "run.html", "firmware"),
        *("walk.svg", "phase.pdf", "walk.html", "walk", "report.html", "better", "gait.html"),
        *("walk.gif", "step.svg"),
    }
