"""Commands that the documentation shows are ones that the command line takes: every line and every word in code
that begins with `strut` is parsed, and none is run."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
import typer

from strut.cli.app import COMMANDS, application
from strut.optimal.solver.watch import BUDGET

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(
        p for p in (ROOT / "examples").rglob("*") if p.suffix in (".py", ".toml", ".md", ".cdn", ".urdf")
    ),
    *sorted((ROOT / "src" / "strut").rglob("*.py")),
]
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^[ \t#$>;/*]*(strut (?:[^\n\\]|\\\n)+)", re.MULTILINE)
"""A line of a shell, behind the marks of comments; it goes on after a backslash."""
INLINE = re.compile(r"(?<!`)`(strut [^`\n]+)`(?!`)")
OWN_OPTIONS = {"--version", "--help", "--install-completion"}
"""What `strut` itself takes."""
INVENTED = {"docs/how-to/command.md": "'weigh' is no command", "docs/how-to/requirement.md": "--foot-load"}
"""What pages tell how to add: there is none yet."""


def commands_in(path):
    """The commands of a page: of its blocks of code and its words in code; of other files, of their lines, too."""
    text = path.read_text(encoding="utf-8")
    blocks = FENCE.findall(text) if path.suffix == ".md" else [text]
    found = [match for block in blocks for match in LINE.findall(block)]
    if path.suffix != ".cdn":
        found += INLINE.findall(FENCE.sub("", text) if path.suffix == ".md" else text)
    # Several commands stand in a line, and words about one behind it: in columns, some blanks apart.
    columns = [part for each in found for part in re.split(r"\s{2,}", re.sub(r"\s*\\\n\s*", " ", each))]
    return [part.strip() for part in columns if part.startswith("strut ")]


@cache
def parsers():
    """What reads the words of every command, by its name."""
    group = typer.main.get_command(application())
    return {name: (command, type(group).context_class) for name, command in group.commands.items()}


def fault(line):
    """Why the command line does not take a command; empty where it does, and where it is none: prose that goes
    on after the name, such as 'strut is'."""
    # Of a comment behind it, of words that may be left out, and of a pipe, only the words of the command count.
    line = re.split(r"\s+#|\s+&&|\s+\|\s|;\s|\s>\s", line)[0]
    line = re.sub(r"[\[\]…]|\.\.\.", " ", line)
    try:
        words = shlex.split(line)[1:]
    except ValueError:
        return "quotes are not closed"
    if not words or words[0] in OWN_OPTIONS:
        return ""
    if words[0] not in COMMANDS:
        return f"'{words[0]}' is no command" if re.fullmatch(r"[a-z]+", words[0]) else ""
    if words[-1].startswith("-"):
        words.append("VALUE")  # an option alone, as a text names it; a flag leaves it to the arguments
    command, context_class = parsers()[words[0]]
    try:
        command.make_parser(context_class(command, info_name=words[0])).parse_args(words[1:])
    except Exception as error:  # of typer's own click, whichever it is
        return str(getattr(error, "message", error))
    return ""


def test_wrong_commands_are_found():
    assert "--step" in fault("strut design examples/heron.toml --speed 0.7 --step 0.4")
    assert "no command" in fault("strut desing compass")
    assert fault("strut design compass --speed 0.5 [--free hip_spring=0:100] -o walk/  # a page") == ""
    assert fault("strut --version") == ""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands_in(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_commands_are_taken(page):
    wrong = [f"{line}: {why}" for line in commands_in(page) if (why := fault(line))]
    invented = INVENTED.get(str(page.relative_to(ROOT)))
    assert not [each for each in wrong if invented is None or invented not in each]
    assert bool(wrong) >= (invented is not None)


def test_commands_are_looked_for_where_they_stand():
    assert "strut design examples/rabbit.toml --speed 0.6 -o rabbit/" in commands_in(
        ROOT / "examples" / "rabbit.toml"
    )
    assert sum(len(commands_in(page)) for page in PAGES) > 300


def test_the_guide_says_how_long_a_search_may_work():
    assert f"solution, {BUDGET:g} s unless given" in (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
