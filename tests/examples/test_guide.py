"""Every block of the guide, the tutorial and the README runs, in order, and what it asserts is true."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("plotly")
pytest.importorskip("matplotlib")
pytest.importorskip("PIL")
ROOT = Path(__file__).parents[2]
EVOLVE = ROOT / "docs" / "evolve.md"
GUIDE, TUTORIAL, README = ROOT / "docs" / "guide.md", ROOT / "docs" / "tutorial.md", ROOT / "README.md"


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


def needs_torque(design):
    """An example of a design shows a motor at work: on level ground it gives what the impacts take."""
    balance = design.replay.balance
    assert design.ok
    assert abs(design.result["hip_torque"]).max() > 1.0  # [N m]
    assert balance.work > 1.0  # [J]
    assert balance.work == pytest.approx(balance.lost, rel=1e-4)


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(README)
    assert names["walk"].status == names["swing"].status == "done"
    assert names["walk"].ledger.residual < 1e-8
    assert len(names["many"]) == 500
    needs_torque(names["design"])
    assert {path.name for path in tmp_path.iterdir()} == {"walk.h5", "walk.html", "firmware", "design"}


def test_the_page_of_bond_graphs_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "bond-graphs.md"
    assert len(list(blocks(page.read_text(encoding="utf-8")))) > 4
    run(page)


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    assert len(list(blocks(text))) == text.count("```python") == text.count("```") / 2
    run(GUIDE)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("run.h5", "run.csv", "run.html", "firmware"),
        *("walk.svg", "phase.pdf", "walk.html", "walk", "report.html", "better", "gait.html"),
        *("walk.gif", "step.svg", "angles.csv", "made.h5", "robust.h5"),
    }


def test_the_page_of_population_search_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = EVOLVE.read_text(encoding="utf-8")
    assert len(list(blocks(text))) == text.count("```python") == text.count("```") / 2
    names = run(EVOLVE)
    assert names["evolution"].stages == 2
    assert len(names["front"]) >= 3
    assert {path.name for path in tmp_path.iterdir()} == {"run.db"}


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = TUTORIAL.read_text(encoding="utf-8")
    assert len(list(blocks(text))) == text.count("```python")
    names = run(TUTORIAL)
    assert {path.name for path in tmp_path.iterdir()} == {"strider", "firmware"}
    assert (tmp_path / "strider" / "index.html").is_file()
    if shutil.which("cc") and shutil.which("make"):  # what the tutorial's last shell block does
        subprocess.run(["make"], cwd=tmp_path / "firmware", check=True, capture_output=True)
        said = subprocess.run(
            ["./strider"], cwd=tmp_path / "firmware", check=True, capture_output=True, text=True
        ).stdout
        last = [float(word) for word in said.splitlines()[-1].split()]
        assert last[0] == 10
        names_of_states = [
            name + rate for rate in ("", "_rate") for name in ("stance", "swing", "swing_shank")
        ]
        assert last[1:7] == pytest.approx([names["walked"][name][-1] for name in names_of_states], abs=1e-5)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.stem)
def test_how_to_pages_are_true(page, tmp_path, monkeypatch):
    """What a page has in Python runs, and the files that it sends the reader to are there."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tests|docs|examples)/[\w/.-]+)`", text):
        assert name.endswith("NAME.py") or (ROOT / name).is_file(), f"{page.name} names {name}"
    run(page)


def test_small_changes_touch_few_files():
    """The table "where do I add" says what the pages say, and nothing needs more than three files."""
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| \[how-to\]\((.+?)\) \|$",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert {page for _, _, page in rows} == {
        f"docs/how-to/{page.name}" for page in (ROOT / "docs" / "how-to").glob("*.md")
    }
    for thing, files, page in rows:
        names = set(re.findall(r"`([\w/]+\.py)`", files))
        table = (ROOT / page).read_text(encoding="utf-8").split("|---|---|\n", 1)[1].split("\n\n", 1)[0]
        told = set(re.findall(r"`src/strut/([\w/]+\.py)`", table))
        assert 1 <= len(names) <= 3, thing
        assert names <= told, f"{page} does not name {names - told}"
        assert names == told or "how-to/picture.md" in page, f"{page} names {told - names} too"


def test_the_integrator_page_quotes_the_code():
    """Lines that its diffs leave as they are stand in the code."""
    page = (ROOT / "docs" / "how-to" / "integrator.md").read_text(encoding="utf-8")
    diffs = "".join(re.findall(r"```diff\n(.*?)```", page, flags=re.DOTALL))
    context = re.findall(r"^ (.*)$", diffs, flags=re.MULTILINE)
    runtime = ROOT / "src" / "strut" / "codegen" / "runtime"
    code = "\n".join(
        (runtime / name).read_text(encoding="utf-8") for name in ("tableau.py", "integrators.py")
    ).splitlines()
    assert len(context) == 4
    assert all(line in code for line in context)


def test_the_front_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run(ROOT / "docs" / "index.md")
    assert names["walk"].status == "done"
    assert names["cycle"].stable
    needs_torque(names["design"])
    assert (tmp_path / "firmware" / "compass.c").is_file()
