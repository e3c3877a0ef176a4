"""`strut control`: what it says, and that no option is left unused in silence."""

import json

import pytest

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
    assert "holds neither" in " ".join(said.split())
