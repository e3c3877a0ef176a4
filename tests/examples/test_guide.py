"""Every block of the guide runs, in order, and what it asserts is true."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("plotly")
GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def blocks(text):
    """The Python blocks, each with its line number in the file, so that an error points there."""
    for block in re.finditer(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    assert len(list(blocks(text))) == text.count("```python") == text.count("```") / 2
    names = {}
    for block in blocks(text):
        exec(compile(block, str(GUIDE), "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} == {"run.h5", "run.csv", "run.html", "firmware"}
