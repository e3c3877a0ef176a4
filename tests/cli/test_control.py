"""`strut control`: what it says, and that no option is left unused in silence."""

import json

import pytest

import strut
from strut import control, gait, walkers
from strut.cli import main


def run(capsys, *arguments, code=0):
    """Run the command and return what it printed and what it noted."""
    with pytest.raises(SystemExit) as end:
        main(["control", *arguments])
    captured = capsys.readouterr()
    assert end.value.code == code, captured.err
    return captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--controller", "step", "--by", "hip_torque", "--index", "time"], "--index time is for"),
        (["--controller", "step"], "--controller step needs --by"),
        (["--controller", "track"], "--controller track needs --stiffness"),
        (["--by", "hip_torque"], "is for --controller step"),
        (["--controller", "pid"], "controller 'pid' is unknown"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(capsys, arguments, sentence):
    _, said = run(capsys, "compass", *arguments, code=2)
    assert sentence in " ".join(said.split())


def test_what_is_not_known_says_why(capsys):
    printed, _ = run(
        capsys, "compass", "--set", "slope=4.5deg", "--controller", "step", "--by", "hip_torque", "--json"
    )
    data = json.loads(printed)["result"]
    assert data["stable"] == {"before": False, "after": True}
    assert all(row["note"] for row in data["comparison"] if row["after"] is None)


def test_a_file_that_holds_neither_says_both(capsys, tmp_path):
    wrong = tmp_path / "wrong.h5"
    wrong.write_bytes(b"no result")
    _, said = run(capsys, str(wrong), code=2)
    assert "holds neither a design nor a gait: " in " ".join(said.split())


def test_a_result_that_is_not_there_is_said_once(capsys):
    _, said = run(capsys, "none.h5", code=2)
    assert " ".join(said.split()).count("cannot read none.h5: there is no such file") == 1


def test_gaits_are_held_over_a_parameter(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["compass", "--sweep", "slope=3deg,5deg", "-o", "held"]
    printed, _ = run(capsys, *words)
    assert {"slope", "[deg]"} <= set(printed.split())  # a narrow table breaks its headings
    rows = json.loads((tmp_path / "held" / "result.json").read_text())["data"]["held_sweep"]["rows"]
    for row, slope in zip(rows, (3, 5), strict=True):
        held = control.lqr(gait.find(walkers.compass(slope=strut.deg(slope))))
        assert row["value"] == pytest.approx(strut.deg(slope))
        assert row["held"] == "yes"
        assert row["largest multiplier before"] == pytest.approx(abs(held.before.multipliers[0]), rel=1e-6)
        assert row["largest multiplier after"] == pytest.approx(abs(held.gait.multipliers[0]), rel=1e-6)
        (effort,) = (c.after for c in held.costs if c.name.endswith("after a push of 1 %, at most"))
        assert row["hip_torque for a push of 1 % [N m]"] == pytest.approx(effort, rel=1e-4)
    # beyond the doubling at 4.4 degrees the gait alone is unstable
    assert rows[1]["largest multiplier before"] > 1 > rows[1]["largest multiplier after"]
    pushes = {c.name: c.after for c in held.comparison if "push survived" in c.name}
    assert rows[1]["push survived, of all rates"] == pytest.approx(min(pushes.values()), abs=0.01)
    assert len((tmp_path / "held" / "sweep.csv").read_text().splitlines()) == 3
    assert (tmp_path / "held" / "multipliers_over_slope.svg").exists()


def test_a_value_without_a_gait_is_a_row(capsys):
    printed, said = run(capsys, "compass", "--sweep", "slope=3deg,-3deg", "--json", code=1)
    rows = json.loads(printed)["result"]["rows"]
    assert [row["held"] for row in rows] == ["yes", "no"]
    assert rows[1]["largest multiplier after"] is None
    assert rows[1]["note"]
    assert "not held everywhere" in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compass", "--sweep", "slope=3deg:5deg:2", "--export", "firmware"], "leave one of them out"),
        (
            ["walk.h5", "--sweep", "slope=3deg:5deg:2"],
            "'walk.h5' is one gait, and --sweep holds one for each value",
        ),
        (["compass", "--sweep", "slop=3deg:5deg:2"], "there is no 'slop': did you mean 'slope'"),
    ],
)
def test_sweeps_that_cannot_be_are_refused(capsys, arguments, sentence):
    _, said = run(capsys, *arguments, code=2)
    assert sentence in " ".join(said.split())


def test_what_is_survived_can_be_left_out_and_efforts_are_said_in_words_of_the_command_line(capsys, tmp_path):
    words = ("compass", "--set", "slope=4.5deg", "--limit", "hip_torque=0.1", "--no-survival")
    printed, _ = run(capsys, *words, "--json", "-o", str(tmp_path / "held"))
    answer = json.loads(printed)
    names = [row["name"] for row in answer["result"]["comparison"]]
    assert names[0] == "largest multiplier"
    assert not any("survived" in name for name in names)
    assert "survived" not in (tmp_path / "held" / "index.html").read_text()
    assert not any(
        "survived" in name for name, *_ in control.HeldGait.load(tmp_path / "held" / "held.h5").rows()
    )
    (warning,) = [each["text"] for each in answer["messages"] if each["kind"] == "warning"]
    assert warning.startswith("the loop asks more than it can have: hip_torque: one acceptable deviation")
    assert warning.endswith("a smaller --effort hip_torque=NUMBER makes a softer loop")
    assert "{" not in warning
    assert "effort={" not in str(answer)


def test_leaving_out_what_is_survived_is_of_one_gait(capsys):
    _, said = run(capsys, "compass", "--sweep", "slope=3deg,5deg", "--no-survival", code=2)
    assert "--no-survival is for one gait" in " ".join(said.split())


@pytest.mark.parametrize(
    ("words", "meant"), [(["--slope", "0"], "0"), (["--slope=-2deg"], "-2deg"), (["--slope"], "3deg")]
)
def test_a_slope_is_hinted_at_with_the_value_that_was_given(capsys, words, meant):
    _, said = run(capsys, "compass-driven", *words, code=2)
    assert f"did you mean '--set slope={meant}'?" in said
