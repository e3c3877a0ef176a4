"""What the helps show as examples is read by the commands, and the small ones run."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from strut.cli.app import COMMANDS, application

EXAMPLES = Path(__file__).parents[2] / "examples"
STAND_INS = {
    "biped.toml": "biped.toml",
    "motor.toml": "hoist.toml",
    "robot.urdf": "compass.urdf",
    "oscillators.cdn": "network/05_many.cdn",
    "slip.cdn": "network/15_slip.cdn",
}
"""Files that examples name, and what of ours stands there."""
NOT_RUN = (
    "--watch|--open|--live|--on ray|strut (studio|repl|reproduce k|reproduce d|reproduce r|design|compare)|machine.py"
    "|--wasm|.wasm|strut live|--film|--controller track|--noise|--sweep|--all|--basin|--speed|van-der-pol|h\\{1:5\\}"
    "|slow/|sweep/|walk/design|strut jobs$|--pause|walk.mp4|--resume --gen|pareto"
)
"""Examples that run elsewhere in the tests, wait for a person, or take minutes."""


def examples(command):
    """Lines of the help of a command that begin with strut, in pieces where they are chained."""
    group = typer.main.get_command(application([command]))
    text = group.commands[command].help if hasattr(group, "commands") else group.help
    plain = (re.sub(r"\[/?\w+\]", "", line).strip().replace("\\[", "[") for line in text.splitlines())
    lines = [line for line in plain if line.startswith(("strut ", "echo "))]
    parts = [part.strip() for line in lines for part in re.split(r"&&|\|(?! tr)", line)]
    return [part for part in parts if part.startswith("strut ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_is_read(command):
    """Each option is one, and has a value of its kind."""
    shown = examples(command)
    assert shown
    root = typer.main.get_command(application())
    for example in shown:
        words = shlex.split(example)[1:]
        chosen = root.commands[words[0]]
        with chosen.make_context(words[0], words[1:], parent=None) as context:
            assert context.params


@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=[pytest.mark.slow] if c == "control" else []) for c in COMMANDS]
)
def test_small_examples_run(command, tmp_path, monkeypatch):
    """In their order, as one would type them, with files of ours in the place of one's own."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for name, ours in STAND_INS.items():
        shutil.copy(EXAMPLES / ours, tmp_path / name)
    for example in examples(command):
        if re.search(NOT_RUN, example) or (command == "jobs" and not Path("slip.db").exists()):
            continue
        words = shlex.split(example)[1:]
        if "*" in example:
            words = [words[0], *map(str, sorted(Path().glob(words[1])))]
        if words[0] == "view":
            words.append("--no-open")
        told = CliRunner().invoke(application(), words)
        assert told.exit_code == 0, (example, told.output[-800:])


@pytest.mark.parametrize("command", COMMANDS)
def test_helps_name_what_is_given_and_not_its_type(command):
    told = CliRunner().invoke(application([command]), [command, "--help"])
    assert told.exit_code == 0
    assert re.findall(r"<(?:str|path|int|float|text|integer)>", told.output) == []
