"""`strut run --sweep`: one run for each value, against closed forms."""

import json
import math
import re

import pytest
import typer

import strut
from strut.cli import main
from strut.cli.app import SWEEPING, application
from strut.view.pages.sheet import unpack_text


def run(capsys, *arguments):
    """Exit status, standard output, standard error."""
    with pytest.raises(SystemExit) as left:
        main(["run", *arguments])
    said = capsys.readouterr()
    return left.value.code, said.out, said.err


def test_a_walk_pays_what_the_slope_gives(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("compass", "--sweep", "slope=2.5deg:3.5deg:3", "-t", "20", "-o", "out", "--json")
    code, out, _ = run(capsys, *words)
    document = json.loads(out)
    assert code == 0
    first = ["sweep.csv", "run_1.h5", "run_2.h5", "run_3.h5", "result.json", "index.html"]
    assert document["files"][:6] == [f"out/{name}" for name in first]
    result = document["result"]
    assert result["values"] == pytest.approx([math.radians(each) for each in (2.5, 3.0, 3.5)])
    # of a periodic walk without motors, energy lost over weight and distance is the sine of the slope
    costs = result["columns"]["cost of transport"]
    assert costs == pytest.approx([math.sin(value) for value in result["values"]], rel=1e-4)
    assert result["columns"]["speed [m/s]"] == sorted(result["columns"]["speed [m/s]"])
    saved = strut.Trajectory.load(tmp_path / "out" / "run_2.h5")
    assert saved.ok
    assert len((tmp_path / "out" / "sweep.csv").read_text().splitlines()) == 4


def test_the_page_shows_the_steps_of_every_run(capsys, tmp_path):
    page = tmp_path / "diagram.html"
    code, _, _ = run(capsys, "compass", "--sweep", "slope=3deg,3.5deg,5deg", "-t", "12", "-o", str(page))
    assert code == 1  # one falls
    text = page.read_text(encoding="utf-8")
    for words in ("2 of 3 runs", "bifurcation diagram", "slope 3.5 deg", "slope 5 deg, fall"):
        assert words in text
    result = strut.report.runs_result(
        [strut.simulate(strut.walkers.compass(slope=each), t=60) for each in (0.05236, 0.0611)],
        "slope",
        [0.05236, 0.0611],
    )
    times = result.chapters[0].figures["over_slope_step_time"].traces[0]
    for value in (0.05236, 0.0611):  # stable gaits of one step: all points are the gait's period
        period = strut.gait.find(strut.walkers.compass(slope=value)).period
        assert times.y[times.x == value] == pytest.approx(period, rel=1e-6)
    with pytest.raises(strut.errors.ModelError, match="each run needs its value"):
        strut.report.runs_result([], "slope", [])


def test_a_run_that_falls_is_a_row_and_not_well(capsys):
    code, out, _ = run(capsys, "compass", "--sweep", "slope=3deg,5deg", "-t", "8")
    assert code == 1
    assert "done" in out
    assert "fall" in out


def test_what_is_printed_is_that_of_the_end(capsys):
    code, out, _ = run(capsys, "pendulum", "--sweep", "angle=0.1,0.2", "--print", "rate", "-t", "1", "--json")
    assert code == 0
    ends = json.loads(out)["result"]["columns"]["rate [rad/s]"]
    for angle, end in zip((0.1, 0.2), ends, strict=True):
        alone = strut.simulate(strut.walkers.pendulum().using(angle=angle), t=1.0, rtol=1e-10, atol=1e-12)
        assert end == pytest.approx(alone["rate"][-1], abs=1e-12)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sweep", "slop=1:2:3"], "there is no 'slop': did you mean 'slope'?"),
        (["--sweep", "slope=1:2:3"], "allowed are -0.5 to 0.5 rad"),
        (
            ["--sweep", "slope=2deg:3deg:3", "-o", "a.h5"],
            "write -o FILE.csv for a table of them, -o FILE.html for a page",
        ),
        (["--sweep", "slope=2deg"], "is one value and no sweep"),
    ],
)
def test_what_makes_no_sense_is_refused(words, sentence, capsys):
    code, _, err = run(capsys, "compass", *words)
    assert code == 2
    assert sentence in " ".join(err.split())


def test_what_was_varied_is_shown_in_the_unit_in_which_it_was_asked(capsys, tmp_path):
    page, data = tmp_path / "page.html", tmp_path / "table.csv"
    words = ("compass", "--sweep", "slope=3deg:4deg:3", "-t", "3")
    code, out, _ = run(capsys, *words, "-o", str(page), "-o", str(data))
    assert code == 0
    assert "slope [deg]" in out
    assert re.search(r"\n +3\.5 +done", out)
    text = page.read_text(encoding="utf-8")
    assert "slope [deg]</th>" in text
    assert '<td class="number">3.5</td>' in text
    assert "slope [rad]" not in text
    figures = json.loads(unpack_text(re.search(r'id="figures" class="packed">([^<]+)', text)[1]))
    assert {f["x"] for f in figures if f["x"].startswith("slope")} == {"slope [deg]"}
    # what programs read stays in SI units
    assert data.read_text().splitlines()[0].startswith("slope [rad]")
    _, out, _ = run(capsys, *words, "--json")
    assert json.loads(out)["result"]["values"] == pytest.approx([math.radians(v) for v in (3, 3.5, 4)])


@pytest.mark.parametrize("command", ["export", "live", "monitor"])
def test_commands_that_do_not_sweep_say_which_do(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "compass", "--sweep", "slope=2deg:3deg:3"])
    said = " ".join(capsys.readouterr().err.split())
    assert "has no option '--sweep': the commands that sweep are run, gait, design and control;" in said
    assert "did you mean" not in said


def test_the_commands_that_are_said_to_sweep_are_those_that_do():
    commands = typer.main.get_command(application()).commands
    sweeping = {name for name, each in commands.items() if any("--sweep" in p.opts for p in each.params)}
    assert sweeping == set(SWEEPING)
