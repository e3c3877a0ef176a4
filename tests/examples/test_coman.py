"""COMAN squats, lifts its arms and is pushed: in a plane, in a short form; the whole robot is slow."""

import numpy as np
import pytest

from tests.examples.gallery import check_printed
from tests.examples.test_examples import load

WEIGHT = 28.357 * 9.81
FEET = [f"{side}_sole{k}" for side in "rl" for k in range(5)]


def test_in_a_plane_it_squats_lifts_its_arms_and_withstands_a_push():
    coman = load("coman")
    robot = coman.robot("planar")
    down = coman.squat(robot, t=1.0)
    assert down.ok
    # straight legs shorten by what the bend says: two parts of 0.2258 m and 0.201 m
    bend, legs = 2 * coman.BEND, 0.2258 + 0.201
    assert down["z"][0] - down["z"][-1] == pytest.approx(legs * (1 - np.cos(bend)), abs=2e-3)
    assert coman.electrical_energy(down) > 0
    up = coman.arms_up(robot, t=1.2)
    assert up["r_shoulder_sag"][-1] == pytest.approx(-coman.LIFT, abs=0.02)
    # the arms' weight is before the waist now: the ground answers further in front
    loads = {run: sum(run[f"{f}_normal"][-1] for f in FEET) for run in (down, up)}
    assert all(load == pytest.approx(WEIGHT, rel=0.02) for load in loads.values())
    pushed = coman.push(robot, t=0.6)
    assert pushed.ok
    assert 0.01 < np.abs(pushed["pitch"]).max() < 0.1
    fallen = coman.push(robot, t=2.0, force=4 * coman.PUSH)
    assert (fallen.status, fallen.ok) == ("fall", False)
    assert fallen.ending_meaning == "it fell: waist came down"


@pytest.mark.slow  # compiles the whole robot: a minute
def test_the_whole_robot_does_what_the_gallery_says(tmp_path, capsys):
    runs = load("coman").main(folder=tmp_path)
    assert [run.status for run in runs.values()] == ["done", "done", "done", "fall"]
    check_printed("coman.py", capsys.readouterr().out)
    assert {path.name for path in tmp_path.iterdir()} == {f"coman_{name}.html" for name in runs}
