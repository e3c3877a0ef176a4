"""`strut design MODEL --goal FILE`: what is asked, as a file."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from strut import optimal, walkers
from strut.cli import main
from strut.cli.goal_file import read_goal_file
from strut.errors import ModelError, StorageError, UnknownNameError
from strut.optimal import OwnCost, StepGoal
from strut.optimal.walk.goal_field import goal_fields
from strut.system.known_names import MAX_SHOWN_OTHERS

EXAMPLE = Path(__file__).parents[2] / "examples" / "compass_goal.toml"


@pytest.fixture(scope="module")
def compass():
    return walkers.compass()


def ran(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main(["design", *words])
    return left.value.code, capsys.readouterr()


def written(tmp_path, text, name="goal.toml"):
    file = tmp_path / name
    file.write_text(text)
    return file


def test_the_example_is_kept_and_listed(capsys, tmp_path):
    code, said = ran(capsys, "compass", "--goal", str(EXAMPLE), "--json", "-o", str(tmp_path / "out"))
    document = json.loads(said.out)["result"]
    assert code == 0
    asked = document["goal"]["asked"]
    assert asked["slope"] == pytest.approx(math.radians(3))
    assert asked["step_length"] == [0.3, 0.8]
    assert [each["name"] for each in asked["require"]] == [
        "the legs part slowly",
        "the push is over when the foot lands",
    ]
    assert asked["require"][0]["expression"] == "swing_rate - stance_rate"
    assert asked["within"]["swing"] == pytest.approx([-math.radians(40), math.radians(40)])
    assert set(document["cost_parts"]) == {"squared-torque", "sway"}
    assert document["cost_name"] == "squared-torque + sway"
    # What was planned keeps them.
    lines = (tmp_path / "out" / "plan.csv").read_text().splitlines()
    columns = dict(zip(lines[0].split(","), np.loadtxt(lines[1:], delimiter=",").T, strict=True))
    assert (columns["swing_rate"] - columns["stance_rate"]).max() < 2.25 + 1e-3
    assert abs(columns["hip_torque"][-1]) < 1e-6
    page = (tmp_path / "out" / "index.html").read_text()
    assert f"strut design compass --goal {EXAMPLE}" in page
    # The Python that the page gives does the same.
    again = json.loads((tmp_path / "out" / "result.json").read_text())["again"]
    scope = {}
    exec(again, scope)
    assert scope["made"].result.cost == pytest.approx(document["cost"], rel=1e-6)


def test_flags_stand_before_the_file(compass, tmp_path, monkeypatch):
    asked = {}

    def stop(system, **arguments):
        asked.update(arguments)
        raise ModelError("asked")

    monkeypatch.setattr(optimal, "design", stop)
    file = written(tmp_path, 'speed = 0.8\nfree = ["hip_spring"]\ncost = "energy"\n')
    for words, speed, cost in (
        (["--speed", "0.6"], 0.6, "energy"),
        (["--cost", "positive-work"], 0.8, "positive-work"),
        ([], 0.8, "energy"),
    ):
        with pytest.raises(SystemExit):
            main(["design", "compass", "--goal", str(file), *words])
        assert (asked["speed"], asked["cost"]) == (speed, cost)
        assert list(asked["free"]) == ["hip_spring"]


def test_every_field_of_a_goal_is_a_key(compass, tmp_path):
    values = {
        "speed": "[0.5, 0.8]",
        "slope": '"3deg"',
        "step_length": '"30cm:60cm"',
        "duration": "0.7",
        "torque": "{ hip_torque = 12 }",
        "friction": "inf",
        "clearance": '"2cm"',
        "stability": "0.9",
        "stair": '"5cm"',
        "steps": "2",
        "flight": "0.1",
    }
    assert set(values) == set(goal_fields(StepGoal))
    file = written(tmp_path, "\n".join(f"{name} = {text}" for name, text in values.items()))
    assert read_goal_file(file, compass) == {
        "speed": (0.5, 0.8),
        "slope": pytest.approx(math.radians(3)),
        "step_length": (0.3, 0.6),
        "duration": 0.7,
        "torque": {"hip_torque": 12.0},
        "friction": math.inf,
        "clearance": 0.02,
        "stability": 0.9,
        "stair": 0.05,
        "steps": 2,
        "flight": 0.1,
    }


def test_json_says_the_same(compass, tmp_path):
    data = {
        "speed": 0.8,
        "free": {"hip_spring": [0, 100]},
        "within": {"hip_torque": [-5, 5]},
        "require": [{"name": "a", "expression": "swing + stance", "high": "20deg", "unit": "rad"}],
        "cost": {"energy": 1, "own": {"expression": "absolute_integral(hip_torque) / (weight * distance)"}},
    }
    arguments = read_goal_file(written(tmp_path, json.dumps(data, indent=1), "goal.json"), compass)
    assert arguments["free"] == {"hip_spring": (0.0, 100.0)}
    assert arguments["within"] == {"hip_torque": (-5.0, 5.0)}
    assert arguments["require"][0].high == pytest.approx(math.radians(20))
    own = arguments["cost"]["own"]
    assert isinstance(own, OwnCost)
    assert own.totals[0].split == "absolute"
    assert arguments["cost"]["energy"] == 1.0


def test_recordings_stand_beside_costs(compass, tmp_path):
    (tmp_path / "angles.csv").write_text("time,swing [deg]\n0,-10\n0.5,0\n1,10\n")
    alone = read_goal_file(written(tmp_path, 'track = "angles.csv"\n'), compass)
    assert list(alone["cost"]) == ["track"]
    file = written(
        tmp_path,
        'cost = "squared-torque"\n[[track]]\nfile = "angles.csv"\nweight = 3\nname = "leg"\n',
    )
    both = read_goal_file(file, compass)["cost"]
    assert (both["squared-torque"], both["leg"].weight) == (1.0, 3.0)
    instead = read_goal_file(file, compass, cost={"energy": 2.0})["cost"]
    assert list(instead) == ["energy", "leg"]


def test_an_unknown_name_is_answered_with_near_ones_and_all_by_their_kinds(tmp_path):
    file = written(tmp_path, '[[require]]\nname = "a"\nexpression = "2 * stance_kne"\nhigh = 1\n')
    rabbit = walkers.rabbit()
    with pytest.raises(ModelError) as caught:
        read_goal_file(file, rabbit)
    sentence = str(caught.value).splitlines()[0]
    near = sentence.partition("did you mean ")[2].partition("?")[0].split(" or ")
    assert near[0] == "'stance_knee'"
    assert set(near) <= {f"'{name}'" for name in (*rabbit.labels("x"), *rabbit.labels("u"))}
    assert (
        f"states: {', '.join(rabbit.labels('x'))}; inputs: {', '.join(rabbit.labels('u'))}; outputs: "
        in sentence
    )
    assert "; parameters: g, shank_mass, " in sentence
    assert "; also: time, distance, weight; 'strut show MODEL' lists them with values and units" in sentence
    # Long lists are cut, and say by how much; the joints are not, however many a machine has.
    assert "swing_foot_z, head_x, head_z, com_x, com_z" in sentence
    assert "discrete states: " in sentence


def test_what_nothing_resembles_is_listed_all_the_same(tmp_path):
    robot = walkers.saurel_e()
    with pytest.raises(UnknownNameError) as caught:
        robot["zzz"]
    sentence = str(caught.value)
    assert "did you mean" not in sentence
    assert f"states: {', '.join(q.name for q in robot.x)}" in sentence
    count = len(robot.p) - MAX_SHOWN_OTHERS
    assert count > 0
    assert f"{robot.p[MAX_SHOWN_OTHERS - 1].name} and {count} more" in sentence


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sped = 1\n", ["line 1: 'sped' is unknown here: did you mean 'speed'?", "    sped = 1\n    ^"]),
        ('speed = "1kg"\n', ["line 1: speed: '1kg' does not fit a quantity in m/s"]),
        ("speed = [1]\n", ["line 1: speed is [1]: two numbers [LOW, HIGH] are needed"]),
        ("speed = true\n", ["line 1: speed is True: a number is needed"]),
        ("speed = \n", ["line 1, is not TOML", "    speed = \n            ^"]),
        (
            "[within]\nswng = [0, 1]\n",
            ["line 2: [within] 'swng' is no state or input: did you mean 'swing'?"],
        ),
        ('free = ["hip_sprng"]\n', ["free: 'hip_sprng' is no parameter: did you mean 'hip_spring'?"]),
        (
            '[[require]]\nname = "a"\nexpression = "swing + stanze"\nhigh = 1\n',
            [
                "line 3: [require] expression: 'stanze' is no state, output, input or parameter: did you mean "
                "'stance'?",
                '    expression = "swing + stanze"\n                          ^',
            ],
        ),
        (
            '[[require]]\nname = "a"\nexpression = "swing.__class__"\nhigh = 1\n',
            ["'swing.__class__' is no state"],
        ),
        (
            '[[require]]\nname = "a"\nexpression = "open(1)"\nhigh = 1\n',
            ["'open' is no function"],
        ),
        ('[[require]]\nexpression = "swing"\n', ["[require] 'name' is missing"]),
        ('[[require]]\nname = "a"\nexpression = "swing"\n', ["line 2: [require]", "give low, high or equal"]),
        (
            '[[require]]\nname = "a"\nexpression = "swing"\nhigh = "3kg"\n',
            ["line 4: [require] high: '3kg' does not fit a quantity in rad"],
        ),
        (
            '[[require]]\nname = "a"\nexpression = "swing"\nhigh = 1\nat = "pth"\n',
            ["line 5: [require] at is 'pth': did you mean 'path'?"],
        ),
        ('[[require]]\nname = "a"\nexpression = "swing"\nhigh = 1\nto = 2\n', ["'to' is unknown here"]),
        ("cost = 3\n", ["line 1: cost is 3: give a name, or a table of several"]),
        ('[cost]\nsway = "swing"\n', ["[cost] sway is 'swing': give its weight, or"]),
        ('[cost.sway]\nexpression = "integral(1, 2)"\n', ["[cost.sway] expression: integral takes 1 number"]),
        ('track = "none.csv"\n', ["line 1: cannot read the recording"]),
        ('track = "../none.csv"\n', ["track is '../none.csv', which leads outside of the model's folder"]),
    ],
)
def test_mistakes_name_file_key_and_place(compass, tmp_path, text, parts):
    file = written(tmp_path, text)
    with pytest.raises((ModelError, StorageError)) as caught:
        read_goal_file(file, compass)
    assert str(file) in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_mistakes_of_json_and_of_names(compass, tmp_path):
    with pytest.raises(ModelError, match="line 2, is not JSON"):
        read_goal_file(written(tmp_path, '{"speed": 1,\n}', "goal.json"), compass)
    with pytest.raises(ModelError, match=r"holds \[\]: an object of keys is needed"):
        read_goal_file(written(tmp_path, "[]", "goal.json"), compass)
    with pytest.raises(ModelError, match=r"its name must end with .toml or .json"):
        read_goal_file(written(tmp_path, "", "goal.txt"), compass)
    with pytest.raises(StorageError, match="cannot read"):
        read_goal_file(tmp_path / "none.toml", compass)
    data = {"require": [{"name": "a", "expression": "swng", "high": 1}]}
    with pytest.raises(ModelError, match="'swng' is no state") as caught:
        read_goal_file(written(tmp_path, json.dumps(data), "goal.json"), compass)
    assert "[require] expression" in str(caught.value)
    assert "\n    swng\n    ^" in str(caught.value)
