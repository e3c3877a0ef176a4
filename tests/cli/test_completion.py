"""What the tab key offers, asked for as a shell asks for it."""

import os
import subprocess
import sys

import pytest

from strut.catalogue import STUDY_NAMES
from strut.cli import app
from strut.cli.completion import words_to_complete
from strut.studies import STUDIES


def completions(line, capsys, monkeypatch):
    """The words that bash would offer where a line ends."""
    monkeypatch.setenv("_STRUT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    monkeypatch.setattr(sys, "argv", ["strut"])
    with pytest.raises(SystemExit):
        app.main()
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("strut ev", {"evolve"}),
        ("strut run coman", {"coman", "coman-planar"}),
        ("strut list ro", {"round-foot"}),
        ("strut reproduce kieboom-c", {"kieboom-camel", "kieboom-coman"}),
        ("strut run compass --integrator r", {"rk4", "rkc", "radau"}),
        ("strut design compass --cost sq", {"squared-torque", "squared-torque-per-metre"}),
        ("strut design compass --cost energy,el", {"energy,electrical"}),
        ("strut design compass --transcription h", {"hermite-simpson"}),
        ("strut design compass --control c", {"constant", "cubic"}),
        ("strut design compass --motor rbe", {"rbe1211-csd17"}),
        ("strut design compass --sweep step", {"step_length=", "step_time=", "steps="}),
        ("strut control compass --controller ", {"lqr", "step", "track"}),
        ("strut gait compass --drive s", {"series"}),
        ("strut gait compass --device c", {"cpu", "cuda"}),
        ("strut gait compass --sweep sl", {"slope="}),
        ("strut run compass --set sl", {"slope="}),
        ("strut run compass -t 3 --print stance_r", {"stance_rate"}),
        ("strut run own.py --set sl", set()),
        ("strut run w", {"walk.py", "walks/"}),
        ("strut view w", {"walk.h5", "walk.json", "walks/"}),
        ("strut view walks", {"walks/", "walks/run.h5"}),
        ("strut live wal", {"walk.h5", "walk.json", "walk.py", "walks/"}),
        ("strut view walk.h5 --camera si", {"side"}),
    ],
)
def test_the_tab_key_offers_names_and_files(line, offered, capsys, monkeypatch, tmp_path):
    for name in ("walk.h5", "walk.json", "walk.py", "walk.txt"):
        (tmp_path / name).touch()
    (tmp_path / "walks").mkdir()
    (tmp_path / "walks" / "run.h5").touch()
    (tmp_path / "own.py").write_text("raise SystemExit('programs are not run for the tab key')\n")
    monkeypatch.chdir(tmp_path)
    assert set(completions(line, capsys, monkeypatch)) == offered


def test_the_names_of_studies_are_those_that_there_are():
    assert list(STUDY_NAMES) == list(STUDIES)


def test_the_tab_key_imports_the_command_of_its_line_alone():
    code = (
        "import sys\nfrom strut.cli import app\nsys.argv = ['strut']\n"
        "try:\n    app.main()\nfinally:\n    print(*sys.modules, sep='\\n', file=sys.stderr)\n"
    )
    asked = {"_STRUT_COMPLETE": "complete_bash", "COMP_WORDS": "strut reproduce garcia", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **asked}
    )
    assert done.stdout.split() == ["garcia-simplest"]
    modules = done.stderr.split()
    assert "strut.cli.reproduce" in modules
    assert not {"casadi", "numpy", "strut.cli.run", "strut.studies"} & set(modules)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, None),
        ({"COMP_WORDS": "strut run"}, None),
        ({"_STRUT_COMPLETE": "complete_bash", "COMP_WORDS": "strut run com"}, ["run", "com"]),
        ({"_STRUT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "strut gait "}, ["gait"]),
        ({"_STRUT_COMPLETE": "source_fish"}, []),
    ],
)
def test_a_shell_says_which_line_it_completes(environment, words):
    assert words_to_complete(environment) == words
