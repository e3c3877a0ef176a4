"""`strut design` as a user types it."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from strut import optimal, view
from strut.cli import design as commands
from strut.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def ran(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main(["design", *words])
    return left.value.code, capsys.readouterr()


def test_prints_a_table(capsys):
    code, said = ran(
        capsys,
        "compass",
        "--free",
        "hip_spring=0:100",
        "--cost",
        "squared-torque",
        "--speed",
        "0.8",
        "--slope",
        "3deg",
    )
    assert code == 0
    for word in (
        "hip_spring",
        "7.860",
        "speed",
        "largest multiplier",
        "energy balance",
        "agrees",
        "time to compile",
        "verdict",
        "3 of 3 starts agree",
        "slope, downhill",
    ):
        assert word in said.out
    notes = [line for line in said.err.splitlines() if not line.startswith(("compiling ", "progress: "))]
    assert notes == []  # the spring walks by itself: no limit decides


def test_says_what_decides_the_answer(capsys):
    words = ["compass", "--speed", "0.5", "--slope", "0"]
    code, said = ran(capsys, *words)
    assert code == 0
    assert "speed is exactly 0.5 m/s (asked): a metre per second less would save 14.8" in said.err
    code, said = ran(capsys, *words, "--json", "--starts", "1")
    data = json.loads(said.out)["result"]
    assert (data["ok"], data["wrong"], data["starts"]) == (True, [], 1)
    assert data["verdict"].startswith("ok")
    assert [(each["name"], each["source"]) for each in data["active_limits"]] == [("speed", "asked")]


def test_says_what_the_machine_costs(capsys, tmp_path):
    words = ("compass", "--speed", "0.5", "--slope", "0", "--free", "hip_spring=0:100", "--sensitivity")
    code, said = ran(capsys, *words)
    assert code == 0
    assert "What the machine costs" in said.out
    assert re.search(r"more of \w+ would (cost|save) ", said.err)
    code, said = ran(capsys, *words, "--json", "-o", str(tmp_path / "out"))
    slopes = {each["name"]: each for each in json.loads(said.out)["result"]["sensitivities"]}
    assert slopes["hip_mass"]["unit"] == "kg"
    assert "hip_spring" not in slopes
    assert "What the machine costs" in (tmp_path / "out" / "index.html").read_text()
    code, said = ran(capsys, "compass", "--sweep", "speed=0.4:0.5:2", "--sensitivity")
    assert code != 0
    assert "--sensitivity is of one design and --sweep finds several" in " ".join(said.err.split())


def test_one_machine_for_several_slopes(capsys, tmp_path, monkeypatch):
    words = ("compass", "--speed", "0.8", "--free", "hip_spring=0:100", "--robust", "slope=2.5deg:3.5deg:2")
    code, said = ran(capsys, *words, "-o", str(tmp_path / "out"))
    assert code == 0
    assert "expected cost" in said.out
    assert "below which no single one gets" in said.out
    assert "slope 0.06109: speed is exactly 0.8 m/s (asked): a metre per second" in said.err
    document = json.loads((tmp_path / "out" / "robust.json").read_text())
    assert len(document["scenarios"]) == 2
    assert document["least_cost"] <= document["expected_cost"]
    assert (tmp_path / "out" / "scenario_2" / "index.html").exists()
    saved = optimal.load(tmp_path / "out" / "robust.h5")
    assert [each.result.cost for each in saved.designs] == [
        optimal.load(tmp_path / "out" / f"scenario_{k}" / "design.h5").result.cost for k in (1, 2)
    ]
    code, said = ran(capsys, *words, "--export", str(tmp_path / "c"))
    assert code != 0
    assert "--robust finds one machine and a plan for each scenario: leave out --export" in said.err
    stopped = replace(saved, designs=saved.designs[:1], success=False, status="interrupted")
    monkeypatch.setattr(optimal, "robust_design", lambda *_, **__: stopped)
    code, said = ran(capsys, *words, "-o", str(tmp_path / "stopped"))
    assert code == 130, said.err
    assert "no expected cost: not every walk was found" in said.out
    assert "interrupted: of 2 machines for one scenario 2 were found" in said.err.replace("\n", " ")
    names = {str(path.relative_to(tmp_path / "stopped")) for path in (tmp_path / "stopped").rglob("*.*")}
    assert {"robust.json", "robust.h5", "scenario_1/design.h5"} <= names
    assert not any("scenario_2" in name or name.endswith(".html") for name in names)


def test_prints_json_and_writes_files(capsys, tmp_path):
    words = [
        "compass",
        "--free",
        "hip_spring=0:100",
        "--cost",
        "squared-torque",
        "--speed",
        "0.8",
        "--slope",
        "3deg",
    ]
    code, said = ran(capsys, *words, "--json", "-o", str(tmp_path / "out"))
    assert code == 0
    document = json.loads(said.out)["result"]
    assert document["ok"]
    assert document["stable"]
    assert abs(document["parameters"]["hip_spring"] - 7.8604) < 1e-3
    assert document["replay"]["ok"]
    assert document["balance"]["relative"] < 1e-6
    assert str(tmp_path / "out" / "index.html") in json.loads(said.out)["files"]
    assert (document["starts"], document["agreeing"]) == (3, 3)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "3 of 3 starts agree" in page
    assert "starts=3," in page  # Python asks for one unless told
    assert (
        "strut design compass --free hip_spring=0:100 --cost squared-torque --speed 0.8 --slope 3deg" in page
    )
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"design.json", "plan.csv", "index.html", "result.json", "result.h5", "torques.svg"} <= files
    assert json.loads((tmp_path / "out" / "design.json").read_text())["parameters"] == document["parameters"]
    header, *rows = (tmp_path / "out" / "plan.csv").read_text().splitlines()
    assert header == "t,stance,swing,stance_rate,swing_rate,hip_torque"
    assert len(rows) == 201


def test_mistakes_are_one_sentence(capsys):
    code, said = ran(capsys, "compass", "--free", "hip_sprin")
    assert code == 2
    assert "did you mean 'hip_spring'?" in said.err.replace("\n", " ")
    code, said = ran(capsys, "compass", "--free", "hip_spring=3")
    assert code == 2
    assert "LOW:HIGH" in said.err


def test_sweeps(capsys, tmp_path):
    words = [
        "compass",
        "--free",
        "hip_spring=0:100",
        "--cost",
        "squared-torque",
        "--slope",
        "0deg",
        "--sweep",
        "speed=0.45:0.5:2",
    ]
    code, said = ran(capsys, *words, "--json", "--workers", "1", "-o", str(tmp_path / "curve"))
    assert code == 0
    points = json.loads(said.out)["result"]["points"]
    assert [round(p["speed"], 6) for p in points] == [0.45, 0.5]
    assert points[0]["cost"] < points[1]["cost"]
    files = {path.name for path in (tmp_path / "curve").iterdir()}
    assert {"sweep.sqlite", "sweep.csv", "index.html", "cost.svg", "hip_spring.png"} <= files
    code, said = ran(capsys, *words[:-1], "speed=0.45")
    assert code == 2
    assert "write --sweep NAME=A:B:N" in said.err


def test_a_sweep_is_shown_in_the_unit_in_which_it_was_asked(capsys, tmp_path):
    """Degrees in the table, on the page, its axes and its walks; SI units in what programs read."""
    words = ["compass", "--speed", "0.5", "--sweep", "slope=0deg:1deg:2", "--workers", "1"]
    code, said = ran(capsys, *words, "-o", str(tmp_path))
    assert code == 0
    assert {"slope", "[deg]"} <= set(said.out.split())  # a narrow table breaks its headings
    assert re.search(r"\n +1 +yes", said.out)
    saved = view.Result.load(tmp_path / "result.json")
    over = next(chapter for chapter in saved.chapters if chapter.heading == "Over slope")
    assert {figure.x for figure in over.figures.values()} == {"slope [deg]"}
    for trace in over.figures["cost"].traces:
        assert trace.x == pytest.approx([0.0, 1.0])
    assert [title.split(",")[0] for title in over.films] == ["slope 0 deg", "slope 1 deg"]
    table = saved.chapters[-1].tables[0]
    assert table.head[0] == "slope [deg]"
    assert [row[0] for row in table.rows] == pytest.approx([0.0, 1.0])
    assert (tmp_path / "sweep.csv").read_text().startswith('"slope [rad]"')


def examples() -> list[str]:
    return [
        line.strip()
        for line in (commands.design.__doc__ or "").splitlines()
        if line.strip().startswith("strut ")
    ]


def example_cases():
    """Two motors with a gear to be found take half a minute: `test_which_motor_costs_least` is the same."""
    return [pytest.param(line, marks=[pytest.mark.slow] if "--motor" in line else []) for line in examples()]


@pytest.mark.parametrize("example", example_cases())
def test_what_the_help_shows_works(example, tmp_path, monkeypatch, capsys):
    """Sweeps of two points; files of examples are there, as for whoever has them."""
    shutil.copytree(EXAMPLES, tmp_path / EXAMPLES.name)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(re.sub(r"(--sweep \S+):\d+", r"\1:2", example))[2:]
    code, said = ran(capsys, *words)
    assert code == 0, said


@pytest.mark.parametrize("command", ["design", "gait"])
def test_help_names_the_files_that_a_walker_may_come_from(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "FILE.toml" in capsys.readouterr().out


def test_no_example_is_missing():
    assert len(examples()) >= 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--step-length", "0.5:0.2"], "step_length is (0.5, 0.2)"),
        (["--step-time", "0"], "duration is 0.0"),
        (["--friction", "-1"], "friction is -1.0"),
        (["--torque", "-5"], "torque is -5.0"),
        (["--speed", "-1"], "speed is -1.0"),
        (["--stability", "-1"], "stability is -1.0"),
        (["--clearance", "-1"], "clearance is -1.0"),
        (["--cost", "energy=-1"], "the weight of cost 'energy' is -1.0"),
        (["--free", "hip_spring=0:9", "--sweep", "hip_spring=0:9:3"], "swept and free"),
        (
            ["--sweep", "speed=0.5:0.6:2", "--workers", "-3"],
            "invalid value for '--workers': -3 is not in the range",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(words, said, capsys):
    code, told = ran(capsys, "compass", *words)
    assert code == 2
    assert said in told.err


def test_drives(capsys, tmp_path):
    words = [
        "compass",
        "--drive",
        "series",
        "--cost",
        "squared-torque-per-metre",
        "--speed",
        "0.5",
        "--step-length",
        "0.35",
        "--slope",
        "0deg",
    ]
    words += ["--torque", "100"]
    code, said = ran(capsys, *words, "--json", "-o", str(tmp_path / "out"))
    assert code == 0
    document = json.loads(said.out)["result"]
    assert document["ok"]
    assert document["parameters"] == {
        "hip_series_spring": pytest.approx(92.98, rel=1e-3)
    }  # free without being named
    page = (tmp_path / "out" / "index.html").read_text()
    assert "--torque 100 --drive series" in page
    assert "hip_motor_torque" in (tmp_path / "out" / "plan.csv").read_text().splitlines()[0]
    words[2] = "parallel"
    code, said = ran(capsys, *words, "--set", "hip_spring=8", "--json")
    assert code == 0
    assert json.loads(said.out)["result"]["parameters"] == {}  # what is set stays
    code, said = ran(capsys, "compass", "--drive", "serial")
    assert code == 2
    assert "did you mean 'series'?" in said.err.replace("\n", " ")


def test_other_commands_know_drives(capsys, tmp_path):
    def asked(*words):
        with pytest.raises(SystemExit) as left:
            main([*words])
        return left.value.code, capsys.readouterr()

    code, said = asked(
        "run", "pendulum", "--drive", "series", "--set", "drive_series_spring=50", "-t", "1", "--json"
    )
    assert code == 0
    assert "drive_motor" in json.loads(said.out)["result"]["final"]
    code, said = asked("gait", "compass", "--set", "slope=3deg", "--drive", "series", "--json")
    assert code == 0
    assert "hip_motor_rate" in json.loads(said.out)["result"]["gaits"][0]["x0"]
    code, said = asked("export", "compass", "--drive", "parallel", "-o", str(tmp_path / "c"), "--json")
    assert code == 0
    assert "compass.c" in json.loads(said.out)["result"]["files"]
    code, said = asked("export", "coman", "--drive", "series", "--dynamics", "-o", str(tmp_path / "d"))
    assert code == 2
    assert "leave one out" in said.err.replace("\n", " ")


def test_a_start_from_standing(capsys, tmp_path):
    words = ["compass-driven", "--slope", "0", "--speed", "0.5", "--start", "1", "--starts", "1"]
    code, said = ran(capsys, *words, "-o", str(tmp_path))
    assert code == 0
    assert "ends away from the gait by" in said.out
    assert "stance_rate at the beginning, exactly 0 rad/s, which every such motion keeps" in said.err
    data = json.loads((tmp_path / "design.json").read_text())
    assert data["ok"]
    assert data["gait_error"] < 1e-3
    assert "optimal.start(made, 1" in (tmp_path / "index.html").read_text()
    # The gait that it leads to is written, too, and what was asked is asked of it.
    assert "--speed is asked of it, not of the start" in said.err
    gait = json.loads((tmp_path / "gait" / "design.json").read_text())
    assert gait["ok"]
    assert gait["gait_error"] is None
    assert "optimal.start" not in (tmp_path / "gait" / "index.html").read_text()
    start, walk = optimal.load(tmp_path / "design.h5"), optimal.load(tmp_path / "gait" / "design.h5")
    assert walk.speed == pytest.approx(0.5)
    assert start.result.problem.repeats is None


def test_what_start_and_stop_refuse(capsys):
    for words, why in (
        (["--start", "2", "--stop", "1"], "--start 2 and --stop 1 are two motions: leave one out"),
        (["--stop", "-1"], "--stop -1: a number of steps is needed, 1 or more"),
        (["--start", "2", "--sweep", "speed=0.3:0.5:2"], "--start is of one gait and --sweep finds several"),
    ):
        code, said = ran(capsys, "compass", *words)
        assert code == 2
        assert why in said.err


@pytest.mark.parametrize(
    ("words", "event"),
    [
        (["slip", "--free", "attack", "--speed", "5.5", "--step-time", "0.3"], "takeoff"),
        pytest.param(
            ["rabbit", "--stair", "0.05", "--speed", "0.5"],
            "heel_strike",
            marks=pytest.mark.slow,  # ten seconds: a walker with knees, upstairs
        ),
        pytest.param(
            ["runner", "--speed", "2", "--flight", "0.1"],
            "foot_l_touchdown",
            marks=pytest.mark.slow,  # ten seconds: five links, stance and flight
        ),
    ],
)
def test_motions_beyond_a_walk(capsys, words, event):
    code, said = ran(capsys, *words, "--starts", "1", "--json")
    assert code == 0, said.err
    data = json.loads(said.out)["result"]
    assert data["ok"]
    assert data["replay"]["ended"] == event


def test_where_a_search_stopped_is_not_replayed(capsys, monkeypatch):
    """It is no motion of the machine: its energies and forces say nothing, and warned of their account."""
    monkeypatch.setattr("strut.optimal.walk.design.replay", lambda *_: pytest.fail("replayed"))
    code, said = ran(capsys, "simplest", "--speed", "3", "--starts", "1", "--json")
    document = json.loads(said.out)
    assert code == 1
    assert not document["result"]["ok"]
    assert not {"replay", "balance", "foot_loads", "multipliers"} & set(document["result"])


def test_stairs_that_one_motor_does_not_climb_are_refused_before_the_search(capsys, monkeypatch):
    searched = []
    monkeypatch.setattr(
        optimal, "design", lambda *_, **__: searched.append(1) or (_ for _ in ()).throw(KeyboardInterrupt)
    )
    code, said = ran(capsys, "kneed", "--stair", "0.05")
    assert code == 2
    assert not searched
    sentence = said.err.replace("\n", " ")
    assert "'kneed' has one motor, between its legs, and cannot push off the ground" in sentence
    assert "strut design rabbit --stair 0.05" in sentence
    assert "--stair 0.02 on a slope that goes down" in sentence
    assert "the search nonetheless: --anyway" in sentence
    # Who wants it is doubted and has it; low stairs are doubted, others are not.
    for words, doubted in (
        (["kneed", "--stair", "0.05", "--anyway"], True),
        (["kneed", "--stair", "0.02"], True),
        (["kneed", "--stair", "-0.05"], False),
        (["rabbit", "--stair", "0.05"], False),
    ):
        code, said = ran(capsys, *words)
        assert code == 130
        assert said.err.strip().endswith("interrupted: no motion was found yet")
        assert ("cannot push off the ground" in said.err) == doubted
    assert len(searched) == 4


def test_stairs_on_a_floating_base_are_refused_with_the_walker_that_climbs_them(capsys):
    code, said = ran(capsys, str(EXAMPLES / "rabbit.toml"), "--stair", "0.04", "--speed", "0.5")
    assert code == 2
    sentence = said.err.replace("\n", " ")
    assert "the base of 'rabbit' floats, and stairs are not planned for floating bases" in sentence
    assert "the ready-made rabbit, on its foot, climbs them (strut design rabbit --stair 0.04)" in sentence


def test_a_program_that_only_has_functions_is_told_which(capsys, tmp_path):
    program = tmp_path / "mine.py"
    program.write_text(
        "from strut import System, walkers\n"
        "def strider() -> System:\n    return walkers.compass()\n"
        "def hopper():\n    return walkers.slip()\n"
        "def speed() -> float:\n    return 0.5\n"
        "def scaled(size):\n    return walkers.compass()\n"
        "def _hidden():\n    return walkers.compass()\n"
    )
    code, said = ran(capsys, str(program))
    said = said.err.replace("\n", "")
    assert code == 2
    assert "defines 0 systems (none); functions that may return one: strider, hopper: say which" in said
    assert said.rstrip().endswith("mine.py:strider")
    code, said = ran(capsys, f"{program}:speed")
    assert code == 2
    assert "there are: strider, hopper" in said.err.replace("\n", " ")


def test_stiff_legs_are_told_before_the_search_that_they_have_no_clearance(capsys):
    code, said = ran(capsys, "compass", "--clearance", "0.05", "--speed", "0.5")
    assert code == 2
    said = said.err.replace("\n", " ")
    assert (
        "a clearance of 0.05 m is asked, but where the swing foot of 'compass' passes the other it is" in said
    )
    assert "legs that do not bend are not shortened. Ask for less, leave out clearance" in said


MOTOR_TASK = ("--speed", "0.5", "--step-length", "0.35", "--slope", "0")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--motor", "rbe1211"), "there is no motor 'rbe1211' in the catalogue: did you mean 'rbe1211-csd17'"),
        (("--motor", " , "), "names no motor: there are rbe1211-csd17"),
        (("--gear", "10:300"), "--gear 10:300 is of motors, and --motor names none"),
        (("--motor-spring", "300"), "--motor-spring 300 is of motors, and --motor names none"),
        (("--motor", "rbe1211-csd17", "--gear", "300"), "--gear 300: bounds are LOW:HIGH, both above zero"),
        (("--motor", "rbe1211-csd17", "--gear", "0:300"), "--gear 0:300: bounds are LOW:HIGH, both above zero"),
        (("--motor", "rbe1211-csd17", "--motor-spring", "soft"), "--motor-spring soft: write its stiffness"),
        (("--motor", "rbe1211-csd17", "--drive", "series"), "--drive series does something else with these"),
        (("--motor", "rbe1211-csd17", "--sweep", "speed=0.4:0.5:2"), "and --sweep is of one machine"),
        (("--motor", "rbe1211-csd17", "--set", "hip_ratio=3"), "has no 'hip_ratio': did you mean"),
    ],
)  # fmt: skip
def test_motors_that_cannot_be_tried_are_refused(words, sentence, capsys):
    code, said = ran(capsys, "compass", *MOTOR_TASK, *words)
    assert code == 2
    assert sentence in " ".join(said.err.split())


def test_a_motor_behind_a_rigid_gear_is_refused_where_there_are_impacts(capsys):
    words = ("--motor", "maxon-re40-gp42c", "--motor-spring", "inf", "--json")
    code, said = ran(capsys, "compass", *MOTOR_TASK, *words)
    assert code == 2
    assert "armature" in said.err


@pytest.mark.slow  # two motors, each with a gear to be found: half a minute
def test_which_motor_costs_least(capsys, tmp_path):
    words = ("--motor", "rbe1211-csd17,maxon-re40-gp42c", "-o", str(tmp_path / "out"))
    code, said = ran(capsys, "compass", *MOTOR_TASK, *words)
    assert code == 0
    assert "maxon-re40-gp42c costs least, with hip_gear_ratio 21" in said.out
    assert "each motor behind a spring of 300 N m/rad, damped by 1 N m s/rad (--motor-spring)" in " ".join(
        said.out.split()
    )
    data = json.loads((tmp_path / "out" / "motors.json").read_text())
    costs = {name: each["cost"] for name, each in data["motors"].items()}
    assert (data["best"], data["ok"], data["failures"]) == ("maxon-re40-gp42c", True, {})
    assert costs["maxon-re40-gp42c"] == pytest.approx(0.0650, abs=2e-4)
    assert costs["rbe1211-csd17"] == pytest.approx(0.0790, abs=2e-4)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "maxon-re40-gp42c" in page
    assert "strut design compass" in page
    for name in costs:
        assert (tmp_path / "out" / name / "design.json").is_file()
