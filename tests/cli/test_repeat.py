"""`--watch`: a command runs again when a file that it read changes. Progress: seen also in a file."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strut.cli import progress
from strut.cli.answer import CommandAnswer
from strut.cli.command import files_given
from strut.cli.repeat import FilesRead, file_stamp

MODEL = """
from strut import State, System
from values import RATE

x = State("x", 1.0)
decay = System("decay", x=[x], flow={x: -RATE * x})
"""
PATIENCE = 60.0
"""Time [s] to wait for an answer: machines may be busy."""


@pytest.fixture
def watching(tmp_path):
    """A process that watches a model of two files, and what it prints, line by line."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "values.py").write_text("RATE = 1.0\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ["run", "model.py", "-t", "1", "--watch", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "strut", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a script, Ctrl-C is ignored, by what they start, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        yield process, tmp_path
        if process.poll() is None:
            process.kill()


def replace_file(path, text):
    """Write a file as editors do, whole at once: half of one would be run, too."""
    path.with_suffix(".new").write_text(text, encoding="utf-8")
    path.with_suffix(".new").replace(path)


def next_line(stream):
    """The next line of a process, which must still be there."""
    line = stream.readline()
    assert line, "the process has ended"
    return line


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another signal there")
def test_a_change_runs_it_again(watching):
    process, folder = watching
    first = json.loads(next_line(process.stdout))
    assert first["result"]["final"]["x"] == pytest.approx(0.36788, abs=1e-4)
    replace_file(folder / "values.py", "RATE = 2.0  # a module that the model imports\n")
    second = json.loads(next_line(process.stdout))
    assert second["result"]["final"]["x"] == pytest.approx(0.13534, abs=1e-4)
    replace_file(folder / "model.py", "this is no Python\n")
    third = json.loads(next_line(process.stdout))
    assert not third["ok"]
    assert "SyntaxError" in third["error"]["text"]
    replace_file(folder / "model.py", MODEL + "\n# mended\n")
    assert json.loads(next_line(process.stdout))["ok"]
    said = []
    while sum("watching" in line for line in said) < 4:
        said.append(next_line(process.stderr))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 0
    assert "watching model.py, values.py: Ctrl-C ends\n" in said


def test_files_that_are_read_are_noted(tmp_path):
    given, included = tmp_path / "a.toml", tmp_path / "b.csv"
    given.write_text("1")
    included.write_text("2")
    files = FilesRead([given])

    def command():
        included.read_text()
        (tmp_path / "out.csv").write_text("3")
        return CommandAnswer()

    files.record(command)
    assert list(files.stamps) == [given, included]
    assert not files.changed_files()
    included.write_text("22")
    assert files.changed_files() == [included]
    assert file_stamp(tmp_path / "none") == (0, 0)


def test_files_among_the_arguments(tmp_path):
    model, goal = tmp_path / "m.py", tmp_path / "goal.toml"
    for path in (model, goal):
        path.write_text("")
    arguments = {"model": f"{model}:walker", "goal_file": goal, "output": model, "files": [goal], "seed": 0}
    assert files_given(arguments) == [model, goal, goal]


def run_slowly(folder, *words, **environment):
    """Run a program that takes three seconds as a command; what it says with standard error in a file."""
    script = (
        "import sys, time, typer\n"
        "from strut.cli import app, answer, progress\n"
        "def slow() -> None:\n"
        "    progress.tell_progress('thinking', 0.25)\n"
        "    time.sleep(3)\n"
        "    answer.present({'a': 1}, lambda: print('ready'))\n"
        "module = sys.modules['slow'] = type(sys)('slow')\n"
        "module.slow = slow\n"
        "app.COMMANDS['slow'] = 'slow:slow'\n"
        "app.main(sys.argv[1:])\n"
    )
    with Path(folder / "errors").open("w") as errors:
        done = subprocess.run(
            [sys.executable, "-c", script, "slow", *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=True,
            env={**os.environ, **environment},
        )
    return done.stdout, (folder / "errors").read_text()


def test_work_that_takes_long_says_so_in_a_file(tmp_path):
    out, err = run_slowly(tmp_path)
    assert out == "ready\n"
    assert err.splitlines() == ["progress: thinking, 25%, 2 s"]


def test_progress_is_never_in_the_document(tmp_path):
    out, err = run_slowly(tmp_path, "--json", STRUT_PROGRESS="lines")
    assert json.loads(out)["result"] == {"a": 1}
    assert len(err.splitlines()) >= 3  # whoever asks for lines gets more of them
    assert all(line.startswith("progress: thinking, 25%") for line in err.splitlines())


def test_short_work_says_nothing(capsys):
    with progress.ACTIVITY.show_while():
        progress.tell_progress("quick")
    assert not capsys.readouterr().err


def test_a_copy_of_the_process_shows_nothing(monkeypatch):
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    with progress.ACTIVITY.show_while():
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            free = progress.ACTIVITY.lock.acquire(timeout=5)
            progress.ACTIVITY.tell("in the child")
            os._exit(0 if free else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_terminal_has_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress.notes, "is_interactive", True)
    monkeypatch.setattr(type(progress.notes), "is_terminal", property(lambda self: True))
    with progress.ACTIVITY.show_while():
        progress.tell_progress("turning", 0.5)
        time.sleep(0.6)
        progress.hide_progress()
    assert "turning" in capsys.readouterr().err
