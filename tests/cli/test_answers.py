"""Every command answers alike: one JSON envelope, files announced in one place, digits, tables that fit."""

import json
import math
from pathlib import Path

import pytest
import typer

from strut.cli import answer as answers
from strut.cli import main
from strut.cli.answer import CommandAnswer, announce_files, answer_scope, number_text, plain_data
from strut.cli.app import COMMANDS, OTHER_WORDS, REPEATING, WITHOUT_NUMBERS, application
from strut.cli.tables import table
from strut.codegen import find_wasm_compiler
from strut.version import VERSION

EXAMPLES = Path(__file__).parents[2] / "examples"
NETWORK = str(EXAMPLES / "network" / "11_hopf.cdn")
JOB = (
    (EXAMPLES / "slip_job.toml")
    .read_text(encoding="utf-8")
    .replace("generations = 25", "generations = 2")
    .replace("population = 40", "population = 6")
    .replace("runs = 3", "runs = 1")
)
ENVELOPE = ["strut", "command", "ok", "result", "files", "messages", "error"]
CHEAP = {
    "list": ["compass"],
    "show": ["pendulum"],
    "run": ["pendulum", "-t", "1", "-o", "a.csv"],
    "gait": ["simplest"],
    "design": ["compass", "--slope", "0", "--speed", "0.5", "--starts", "1", "--intervals", "5"],
    "control": ["compass", "--set", "slope=4.5deg", "--controller", "step", "--by", "hip_torque"],
    "evolve": ["job.toml", "-o", "job.db"],
    "jobs": ["ready.db"],
    "compare": ["job.toml", "--searches", "genetic", "--seeds", "1", "--evaluations", "60"],
    "pareto": ["merits.csv", "--less", "cost", "--more", "speed"],
    "export": ["pendulum", "-o", "c"],
    "view": ["run.csv", "--no-open"],
    "live": ["pendulum", "--no-gait"],
    "studio": ["no-such-folder"],
    "reproduce": ["--list"],
    "check": [NETWORK],
    "monitor": [NETWORK, "-t", "0:0.1:0.5"],
    "graph": [NETWORK, "-o", "graph.svg"],
    "repl": [NETWORK],
    "doctor": [],
}
"""Arguments with which every command answers soon."""
FILES = {
    "run": ["a.csv"],
    "evolve": ["job.db"],
    "pareto": ["merits.csv.pareto.html"],
    "view": ["run.csv.html"],
    "live": ["pendulum-live.html"],
    "graph": ["graph.svg"],
}
"""What these write."""


def strict(text):
    """Parse JSON as the standard has it: no NaN, no Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def run(capsys, *arguments):
    """Exit status, standard output, standard error."""
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    said = capsys.readouterr()
    return left.value.code, said.out, said.err


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory):
    """The file of a job that was run."""
    place = tmp_path_factory.mktemp("job")
    (place / "job.toml").write_text(JOB, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["evolve", str(place / "job.toml"), "-o", str(place / "ready.db"), "--json"])
    return place / "ready.db"


def test_no_command_is_left_out():
    assert set(CHEAP) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_in_one_envelope(command, capsys, tmp_path, finished_job, monkeypatch):
    capsys.readouterr()
    (tmp_path / "ready.db").write_bytes(finished_job.read_bytes())
    (tmp_path / "run.csv").write_text("t,x\n0,1\n1,2\n", encoding="utf-8")
    (tmp_path / "merits.csv").write_text("cost,speed\n1,1\n2,3\n3,2\n", encoding="utf-8")
    if command == "repl":
        monkeypatch.setattr("sys.stdin", (tmp_path / "lines").open("x+", encoding="utf-8"))
        Path("lines").write_text("step\n", encoding="utf-8")
    code, out, err = run(capsys, command, *CHEAP[command], "--json")
    document = strict(out)
    assert list(document) == ENVELOPE
    if command == "live" and find_wasm_compiler() is None:
        assert code == 2
        assert "no compiler for WebAssembly found: install" in document["error"]["text"]
        return
    assert document["strut"] == VERSION
    assert document["command"] == command
    assert document["ok"] == (code == 0)
    assert document["files"] == FILES.get(command, document["files"])
    for message in document["messages"]:
        assert set(message) == {"kind", "text"}
        assert message["kind"] in ("note", "warning", "hint", "error")
    if command == "studio":  # one that runs would not end
        assert document["error"]["kind"] == "StorageError"
        assert document["result"] is None
    else:
        assert document["error"] is None
        assert isinstance(document["result"], dict)
    assert "wrote" not in err  # the envelope says so


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_in_the_same_envelope(command, capsys):
    code, out, err = run(capsys, command, "--no-such-option", "--json")
    document = strict(out)
    assert code == 2
    assert list(document) == ENVELOPE
    assert not document["ok"]
    assert document["command"] == command
    assert f"strut {command} has no option '--no-such-option'" in document["error"]["text"]
    assert document["error"]["text"] in " ".join(err.split())


def test_an_error_of_a_model_is_in_the_envelope(capsys):
    code, out, err = run(capsys, "run", "compas", "--json")
    document = strict(out)
    assert code == 2
    assert document["error"]["kind"] == "UnknownNameError"
    assert document["error"]["text"].startswith("there is no model 'compas': did you mean 'compass'?")
    assert "error: there is no model 'compas'" in err


def test_a_run_that_fails_has_its_result_and_is_not_ok(capsys):
    code, out, _ = run(capsys, "run", "bouncing-ball", "-t", "10", "--json")
    document = strict(out)
    assert code == 1
    assert not document["ok"]
    assert document["error"] is None
    assert document["result"]["status"] == "zeno"


def test_what_json_cannot_say_is_null():
    data = plain_data({"a": math.nan, "b": [math.inf, 1.5], "c": Path("x") / "y", 3: (True, None)})
    assert strict(json.dumps(data, allow_nan=False)) == {
        "a": None,
        "b": [None, 1.5],
        "c": str(Path("x") / "y"),
        "3": [True, None],
    }


# ---- one vocabulary ----


def options():
    """All options: by command, their flags and what they say."""
    group = typer.main.get_command(application())
    for name, command in group.commands.items():
        for option in command.params:
            if option.param_type_name == "option":
                yield name, option


def test_shared_words_mean_the_same_everywhere():
    by_flag = {}
    for _, option in options():
        by_flag.setdefault(max(option.opts, key=len), []).append(option)
    own = {"--output", "--export", "--starts", "--generations", "--seed", "--stop", "--gait", "--speed"}
    for flag, several in by_flag.items():
        if len(several) > 1 and flag not in own:
            assert len({option.help for option in several}) == 1, flag
            assert len({option.metavar for option in several}) == 1, flag
    assert {"--step-time", "--step-length", "--transcription", "--integrator"} <= set(by_flag)
    assert not {"--method", "--step", "--points", "--show", "--monitor"} & set(by_flag)


def test_every_command_has_its_shared_options():
    flags = {name: set() for name in COMMANDS}
    for name, option in options():
        flags[name] |= set(option.opts)
    for name, words in flags.items():
        assert "--json" in words
        assert ("--digits" in words) == (name not in WITHOUT_NUMBERS)
        assert ("--watch" in words) == (name in REPEATING)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["run", "compass", "--method", "radau"], "--integrator"),
        (["run", "compass", "--integrater", "radau"], "--integrator"),
        (["design", "compass", "--method", "gauss"], "--transcription"),
        (["design", "compass", "--step", "0.4"], "--step-length"),
        (["design", "compass", "--time", "0.4"], "--step-time"),
        (["design", "compass", "--spead", "1"], "--speed"),
        (["gait", "compass", "--points", "9"], "--sweep NAME=A:B:N"),
        (["control", "compass", "--method", "step"], "--controller"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_one(words, meant, capsys):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert f"did you mean '{meant}'?" in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["desgin", "compass"], "strut has no command 'desgin': did you mean 'design'?"),
        (["run"], "missing argument 'MODEL'; strut run --help says more"),
        (["run", "compass", "--watch", "stance"], "to print 'stance' over time, --print"),
        (["run", "compass", "--set", "slope=3kg"], "--set slope=3kg: '3kg' does not fit a quantity in rad"),
        (["run", "gone.toml"], "gone.toml"),
        (["run", "compass", "--digits", "0"], "0 is not in the range 1<=x<=17"),
        (["design", "compass", "--sweep", "speed=1:2"], "does not say how many values there are"),
        (["design", "compass", "--sweep", "sped=1:2:3"], "there is no 'sped': did you mean 'speed'?"),
        (["design", "compass", "--sweep", "speed=1:2:one"], "'one' is no number of values, 2 or more"),
        (["run", "compass", "--watch"], "no file is given here"),
    ],
)
def test_typical_mistakes(words, sentence, capsys):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert err.startswith("error: ")


# ---- files ----


def test_files_are_announced_at_the_end(capsys):
    code, _, err = run(capsys, "run", "pendulum", "-t", "1", "-o", "a.csv", "-o", "b.h5")
    assert code == 0
    assert err.splitlines() == ["wrote b.h5", "wrote a.csv"] or err.splitlines() == [
        "wrote a.csv",
        "wrote b.h5",
    ]


def test_a_folder_of_many_is_announced_with_its_page(capsys):
    made = CommandAnswer(
        "run", files=[Path("out") / name for name in ("a.svg", "b.svg", "index.html", "run.h5")]
    )
    made.files += [Path("out") / "gait" / "c.svg", Path("alone.csv")]
    made.hints.append("do this")
    announce_files(made)
    assert capsys.readouterr().err.splitlines() == [
        f"wrote 5 files to out/; open {Path('out') / 'index.html'}",
        "wrote alone.csv",
        "do this",
    ]


def test_what_was_written_before_an_error_is_announced(capsys):
    code, _, err = run(capsys, "run", "bouncing-ball", "-t", "10", "-o", "ball.csv")
    assert code == 1
    assert "wrote ball.csv" in err


# ---- digits ----


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (math.pi, None, "3.1416"),
        (math.pi, 3, "3.14"),
        (0.000123456789, None, "0.00012346"),
        (150000.0, None, "150000"),
        (1234567.8, None, "1234568"),
        (1.5e12, None, "1.5e+12"),
        (math.nan, None, "nan"),
        (20.0, None, "20"),
    ],
)
def test_numbers_have_four_to_five_digits_unless_asked(value, digits, text):
    with answer_scope(CommandAnswer(digits=digits)):
        assert number_text(value) == text


def test_digits_on_the_command_line(capsys):
    _, few, _ = run(capsys, "gait", "simplest", "--digits", "3")
    _, usual, _ = run(capsys, "gait", "simplest")
    _, many, _ = run(capsys, "gait", "simplest", "--digits", "9")

    def period(text):
        return next(line.split()[1] for line in text.splitlines() if line.startswith("period"))

    exact = float(period(many))
    assert period(few) == f"{exact:.3g}"
    assert period(usual) == f"{exact:.5g}"
    assert len(period(many)) > len(period(usual)) > len(period(few))


def test_columns_in_a_file_keep_their_digits(capsys):
    _, out, _ = run(capsys, "run", "pendulum", "-t", "0:0.5:1", "--print", "angle")
    assert len(out.splitlines()[2].split("\t")[1]) > 8
    _, out, _ = run(capsys, "run", "pendulum", "-t", "0:0.5:1", "--print", "angle", "--digits", "3")
    assert len(out.splitlines()[2].split("\t")[1].lstrip("-")) <= 6


# ---- tables ----

WIDE = (
    ["name", "value", "largest multiplier", "unit", "allowed", "second value", "what it is"],
    [
        ["hip_spring_stiffness", 12.3456789, 0.123456789, "N m s/rad", "0.001 to 1000", 1e-9, "word " * 12],
        ["slope", -0.5, 123456.789, "rad", "", 3, "of the ground"],
    ],
)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_tables_fit_and_keep_numbers_and_names_whole(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    table("a table", *WIDE)
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= columns
    for whole in ("hip_spring_stiffness", "12.346", "0.12346", "123457", "1e-09", "0.001 to 1000"):
        assert whole in out
    assert out.count("word") == 12


def test_a_table_in_a_pipe_has_one_line_per_row(capsys):
    table("", *WIDE)
    assert len(capsys.readouterr().out.strip().splitlines()) == 3


@pytest.mark.parametrize("columns", ["60", "80"])
@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "compass"],
        ["show", "rabbit"],
        ["run", "compass", "-t", "3", "--no-page"],
        ["gait", "compass", "--set", "slope=3deg"],
        ["reproduce", "--list"],
        ["doctor"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_what_commands_print_fits_the_terminal(words, columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = run(capsys, *words)
    headings = ("[", "events:", "outputs:", "stored:", "supplied:", "dissipated:")
    rows = [line for line in out.splitlines() if "  " in line and not line.startswith(headings)]
    assert rows
    assert max(len(line) for line in rows) <= int(columns)


def test_the_answer_of_no_command_is_harmless():
    assert answers.current_answer().command == ""


@pytest.mark.parametrize(("command", "tried"), list(OTHER_WORDS))
def test_an_option_that_a_hint_names_exists(command, tried, capsys):
    meant = OTHER_WORDS[command, tried].split()[0]
    code, _, err = run(capsys, command, tried, "1")
    assert code == 2
    assert f"did you mean '{meant}" in err
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert meant in out
