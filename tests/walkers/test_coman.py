"""COMAN with its drives: statics of standing, the knee test of the paper, and what is left out."""

import math
import time
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param, actuator, control, mechanism, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import Tree, observe
from strut.walkers.coman import coman_mechanism
from strut.walkers.coman_hulls import HULLS, coman_hulls
from strut.walkers.coman_robot import RANGE_SLACK

WEIGHT = 28.357 * 9.81
FEET = [f"{side}_sole{k}" for side in "rl" for k in range(5)]
KNEE_MOVE = 5.0  # [s]
EXACT = {"rtol": 1e-10, "atol": 1e-11}


@pytest.mark.parametrize(
    ("parts", "base", "count"),
    [("all", "free", 29), ("legs-and-waist", "free", 21), ("legs", "free", 18), ("legs", "planar", 9)],
)
def test_versions_have_their_joints_and_all_the_weight(parts, base, count):
    m = coman_mechanism(walkers.coman_robot.PARTS[parts], base)
    tree = Tree(m)
    assert tree.nv == count
    assert float(observe.mass(tree)) == pytest.approx(28.357, abs=1e-3)
    assert m.limits["l_knee_sag"] == (-0.175, 1.920)


def test_it_stands_on_its_feet_and_squats():
    """In a plane, with its motors: the ground carries the weight, and gives way by 0.137 mm. Its books close,
    standing and squatting, and every loss has a name."""
    bend = Param("bend", 0.0, "rad")
    squat = {joint: wave * bend for joint, wave in walkers.coman_motion("squat", 1.0, 1.0).items()}
    robot = walkers.coman("legs", base="planar", references=squat)
    run = strut.simulate(robot, t=1.2, method="dopri5", rtol=1e-6, atol=1e-8)
    assert run.ok
    end = run.at(1.2)
    assert sum(end[f"{foot}_normal"] for foot in FEET) == pytest.approx(278.2, abs=0.1)
    depth = -np.mean([end[f"{foot}_gap"] for foot in FEET])
    assert depth == pytest.approx(0.137e-3, abs=1e-6)
    assert run.ledger.relative < 1e-7
    assert abs(end["pitch"]) < 0.02
    down = strut.simulate(robot, t=1.0, p={"bend": 0.1}, method="dopri5", rtol=1e-6, atol=1e-8)
    assert down.ok
    assert down["r_knee_sag"].max() > 0.35
    assert down.ledger.relative < 1e-7
    drives = [f"{side}_{joint}_sag" for side in "rl" for joint in ("hip", "knee", "ankle")]
    of_drives = {
        f"{d}_{loss}" for d in drives for loss in ("copper", "viscous", "series_damper", "link_damper")
    }
    of_ground = {f"{foot}_{loss}" for foot in FEET for loss in ("damper", "friction")}
    assert set(down.ledger.dissipated) == of_drives | of_ground
    assert set(down.ledger.lost) == {f"{foot}_{loss}" for foot in FEET for loss in ("slack", "strain")}
    assert set(down.ledger.supplied) == {f"{d}_electrical" for d in drives}
    # steps of a fixed length close them by their order: sixteen times better with a quarter of the step
    rough = strut.simulate(robot, t=1.0, p={"bend": 0.1}, method="rkc", step=1e-3)
    assert 1e-7 < rough.ledger.relative < 1e-3


def test_its_feet_slip_beyond_the_friction_of_its_weight_and_not_before():
    """Both feet are pushed forwards, by 2 % less and more than mu times the weight."""
    robot = walkers.coman("legs", base="planar", pushed=["r_foot", "l_foot"])
    options = {"method": "dopri5", "rtol": 1e-6, "atol": 1e-8}
    start = {**strut.simulate(robot, t=0.6, **options).end}
    del start["u"]
    holds = 0.7 * WEIGHT / 2
    for share in (0.98, 1.02):
        push = {"r_foot_push_x": share * holds, "l_foot_push_x": share * holds}
        run = strut.simulate(robot, t=(0.6, 0.9), **start, u=push, **options)
        end, begin = run.at(0.9), run.at(0.8)
        slips = [end[f"{foot}_slip"] > 0 for foot in FEET]
        ratios = [-end[f"{foot}_friction"] / end[f"{foot}_normal"] for foot in FEET]
        if share < 1:
            assert max(ratios) < 0.7
            assert not any(slips)
        else:
            np.testing.assert_allclose(ratios, 0.7, rtol=1e-9)
            assert all(slips)
            assert end["x"] - begin["x"] > 3e-3  # [m]
        assert run.ledger.relative < 1e-7


GROUND_DEPTHS = {"hertz": (27.82 / 400e3) ** (2 / 3), "geyer": 27.82 / 27818}
"""[m] How deep a tenth of the weight presses a point into each ground, by hand."""


@pytest.mark.slow  # compiles its legs for each ground
@pytest.mark.parametrize("ground", GROUND_DEPTHS)
def test_it_stands_on_nonlinear_ground(ground):
    robot = walkers.coman("legs", base="planar", ground=ground)
    run = strut.simulate(robot, t=5.0, method="dopri5", rtol=1e-6, atol=1e-8)
    assert run.ok
    end = run.at(5.0)
    assert sum(end[f"{foot}_normal"] for foot in FEET) == pytest.approx(278.2, abs=0.1)
    depth = -np.mean([end[f"{foot}_gap"] for foot in FEET])
    assert depth == pytest.approx(GROUND_DEPTHS[ground], rel=0.05)  # of the mean: points bear unlike parts
    assert run.ledger.relative < 1e-7


@pytest.mark.slow  # 400 points: a minute to describe and compile
def test_it_stands_on_a_mesh_of_200_points_a_foot():
    robot = walkers.coman("legs", base="planar", ground="geyer", feet="mesh", events=False)
    run = strut.simulate(robot, t=0.5, method="rkc", step=1e-3, ledger=False)
    normals = [name for name in run.names.outputs if name.endswith("_normal")]
    assert len(normals) == 400
    assert sum(run[name][-1] for name in normals) == pytest.approx(278.2, rel=2e-3)
    with pytest.raises(ModelError, match="without events: give events=False and ground='linear'"):
        walkers.coman("legs", base="planar", feet="mesh")


def test_it_falls_and_the_run_says_so():
    """Without torques its knees give way; the run ends where the waist is 0.30 m high, as in the paper."""
    limp = walkers.coman("legs", base="planar", motors=False, kp=0, ranges="record")
    limp = limp.using(r_knee_sag=0.05, l_knee_sag=0.05)
    run = strut.simulate(limp, t=3, method="dopri5", rtol=1e-7, atol=1e-9)
    assert run.status == "fall"
    assert not run.ok
    assert run["z"][-1] == pytest.approx(0.30, abs=1e-9)
    assert run.ledger.relative < 1e-7
    assert run.ending_meaning == "it fell: waist came down"
    # both knees had bent too far before, which was recorded alone
    left = [e for e in run.events.names if e.endswith("_out_of_range")]
    assert left == ["r_knee_sag_out_of_range", "l_knee_sag_out_of_range"]
    assert run["r_knee_sag"][-1] > 1.92 + RANGE_SLACK


def test_a_joint_that_leaves_its_range_ends_the_run():
    """The robot suspended, its knees asked to bend by more than they can."""
    too_far = {"r_knee_sag": control.minimum_jerk(0, 2.5, 1.0), "l_knee_sag": 1.5}
    robot = walkers.coman("legs", base="fixed", ground="none", motors=False, references=too_far)
    run = strut.simulate(robot, t=2, rtol=1e-7, atol=1e-9, backend="virtual", ledger=False)
    assert (run.status, run.ok) == ("r_knee_sag_out_of_range", False)
    assert run["r_knee_sag"][-1] == pytest.approx(1.92 + RANGE_SLACK, abs=1e-9)
    assert run.ending_meaning == "joint r_knee_sag left its range of -0.185 to 1.93"


def test_legs_that_cross_end_the_run_and_are_named():
    """The robot suspended, its right leg swung inwards: where the hulls meet, by points along their axes."""
    swing = {"r_hip_lat": control.minimum_jerk(0, 0.4, 1.0)}
    robot = walkers.coman("legs", base="fixed", ground="none", motors=False, references=swing, kp=400, kd=40)
    run = strut.simulate(robot, t=2, rtol=1e-7, atol=1e-9, backend="virtual", ledger=False)
    assert (run.status, run.ok) == ("self_collision", False)
    assert run.ending_meaning == "it struck itself: r_foot and l_foot"
    machine = coman_mechanism(walkers.coman_robot.PARTS["legs"], "fixed")
    tree = Tree(machine)
    states = [run[name][-1] for name in mechanism.system(machine).labels("x")[: tree.nv]]
    along, axes = np.linspace(0, 1, 401)[:, None], []
    for side in "rl":
        pose = observe.pose(tree, f"{side}_foot")
        place = ca.Function("place", [tree.q], [pose.p, pose.R])
        p, R = (np.array(each) for each in place(states))
        _, start, end = HULLS["r_foot"]
        axes.append(p.T + (np.array(start) + along * (np.array(end) - np.array(start))) @ R.T)
    apart = np.linalg.norm(axes[0][:, None] - axes[1][None], axis=-1).min()
    assert apart == pytest.approx(2 * HULLS["r_foot"][0], abs=2e-6)  # of points 0.3 mm apart, near a minimum


def test_neighbours_may_touch_and_all_others_are_watched():
    watcher = coman_hulls(coman_mechanism(), ends=True)
    pairs = {frozenset((a.body, b.body)) for a, b in watcher.pairs(coman_mechanism())}
    assert len(pairs) == 12 * 11 / 2 - 11  # a tree of twelve hulls has eleven neighbours
    assert frozenset(("r_foot", "l_foot")) in pairs
    assert frozenset(("torso", "r_elbow_link")) in pairs
    assert frozenset(("waist", "torso")) not in pairs
    assert frozenset(("r_shank", "r_foot")) not in pairs
    legs = coman_mechanism(walkers.coman_robot.PARTS["legs"])
    bodies = [{a.body, b.body} for a, b in coman_hulls(legs, ends=True).pairs(legs)]
    assert {"torso", "r_elbow_link"} not in bodies  # one rigid body there


@pytest.mark.slow  # describes and compiles all ways in which toes and heels touch: a minute and a half
def test_in_a_plane_it_stands_on_rigid_ground():
    robot = walkers.coman("legs", base="planar", ground="rigid")
    run = strut.simulate(robot, t=0.6, method="dopri5", rtol=1e-8, atol=1e-10)
    assert run.ok
    end = run.at(0.6)
    normals = [name for name in run.names.outputs if name.endswith("_normal")]
    assert len(normals) == 4
    assert sum(end[name] for name in normals) == pytest.approx(278.2, abs=0.1)
    assert run.ledger.relative < 1e-7


@pytest.mark.slow  # describes and compiles all ways in which eight corners touch: two minutes, more where busy
@pytest.mark.timeout(1200)
def test_in_space_the_whole_robot_stands_on_rigid_ground():
    """With its 23 motors, on the four corners of each foot, which repeat each other: twelve rows a foot, of
    which six say something new. Nothing chatters, and the corners share the load evenly."""
    robot = walkers.coman(ground="rigid")
    run = strut.simulate(robot, t=1.0, method="dopri5", rtol=1e-8, atol=1e-10)
    assert run.ok
    assert len(run.events.names) == 0
    end = run.at(1.0)
    corners = [f"{side}_sole{k}" for side in "rl" for k in (1, 2, 3, 4)]
    assert sum(end[f"{name}_normal"] for name in corners) == pytest.approx(278.2, abs=0.1)
    assert all(15 < end[f"{name}_normal"] < 55 for name in corners)
    assert max(abs(run[f"{name}_gap"]).max() for name in corners) < 1e-9
    assert run.ledger.relative < 1e-7


def knee(coulomb=0.0, spring=415.0):
    """The robot suspended, its right knee alone moving: 0 to 90 degrees, PD 200/10, as in section 5.1 of the
    reference; link damping 8, spring damping 0.8."""
    machine = mechanism.system(coman_mechanism(["r_knee_sag"], "fixed"))
    motor = replace(actuator.MOTORS["rbe1211-csd17"], coulomb=coulomb)
    driven = actuator.dc_motors(machine, motor, spring=spring, spring_damping=0.8, link_damping=8.0)
    return control.servo(
        driven, {"r_knee_sag": control.minimum_jerk(0, math.pi / 2, KNEE_MOVE)}, kp=200, kd=10
    )


def test_the_knee_at_90_degrees_needs_684_mV():
    run = strut.simulate(knee(), t=12, **EXACT)
    end = run.at(12.0)
    assert end["r_knee_sag_voltage"] == pytest.approx(0.684, rel=0.01)
    assert end["r_knee_sag_error"] == pytest.approx(3.4e-3, abs=0.05e-3)
    assert end["r_knee_sag_torque"] == pytest.approx(4.22, abs=0.01)
    peak = np.abs(run.at(np.linspace(0, 12, 2001))["r_knee_sag_voltage"]).max()
    # (25.5 + 8) of damping at the fastest rate, and the weight
    assert peak == pytest.approx((25.52 + 8) * 15 / 8 * math.pi / 2 / KNEE_MOVE / 6.175, rel=0.2)
    books = run.ledger
    spent = {name: float(v[-1]) for name, v in books.dissipated.items()}
    stored = sum(float(v[-1] - v[0]) for v in books.stored.values())
    given = float(books.supplied["r_knee_sag_electrical"][-1])
    assert given == pytest.approx(sum(spent.values()) + stored, rel=1e-7)
    assert set(spent) == {
        f"r_knee_sag_{loss}" for loss in ("copper", "viscous", "series_damper", "link_damper")
    }


def test_stiction_offsets_the_voltage_of_the_knee_by_what_the_paper_says():
    """Friction of 0.6 V: the motor stops before it is there, and holds what it has: the voltage differs by as much."""
    stiction = 0.6 * 0.041 / 0.664
    run = strut.simulate(knee(stiction), t=12, **EXACT)
    end = run.at(12.0)
    assert end["r_knee_sag_turning"] == 0.0
    assert end["r_knee_sag_motor_rate"] == 0.0
    # it came from below: friction adds to the weight until it sticks
    assert end["r_knee_sag_voltage"] - 0.684 == pytest.approx(0.6, abs=0.02)
    assert run.ledger.dissipated["r_knee_sag_friction"][-1] == pytest.approx(
        0.6 * 6.1747 * end["r_knee_sag_motor"], rel=1e-3
    )


def test_what_it_has_not_is_said():
    with pytest.raises(UnknownNameError, match="COMAN has no joint 'knee': did you mean"):
        coman_mechanism(["knee"])
    with pytest.raises(UnknownNameError, match="COMAN has no base 'air'"):
        coman_mechanism(base="air")
    with pytest.raises(UnknownNameError, match="COMAN has no ground 'mud'"):
        walkers.coman(ground="mud")
    with pytest.raises(UnknownNameError, match="COMAN has no motion 'jump'"):
        walkers.coman_motion("jump", 0.1, 1.0)
    with pytest.raises(ValueRangeError, match="has no arms to lift"):
        walkers.coman_motion("arms-up", 0.1, 1.0, parts="legs")
    with pytest.raises(UnknownNameError, match="COMAN has no joint 'r_elbow' that moves"):
        walkers.coman("legs", base="planar", references={"r_elbow": 0.1})
    for word in ("ranges", "collisions"):
        with pytest.raises(UnknownNameError, match=f"COMAN has no {word} 'stop'"):
            walkers.coman("legs", base="planar", **{word: "stop"})
        sentence = f"which {word}='end' asks for: give events=True, or {word}='ignore'"
        with pytest.raises(ModelError, match=sentence):
            walkers.coman("legs", base="planar", events=False, **{word: "end"})
    with pytest.raises(ModelError, match=r"without servos \(kp=0\) follows nothing: r_knee_sag"):
        walkers.coman("legs", base="planar", kp=0, references={"r_knee_sag": 0.1})


@pytest.mark.slow  # compiles the whole robot: a minute
def test_the_whole_robot_stands_on_its_published_ground():
    """23 motors, ten points: when it has come to rest, the ground carries the weight to 0.1 N and gives way by
    0.137 mm. At rest, what a step of `rkc` errs is nothing."""
    run = strut.simulate(walkers.coman(), t=6.0, method="rkc", step=1e-3)
    assert run.ok
    end = run.at(6.0)
    assert max(abs(end[name]) for name in run.names.x if name.endswith("_rate")) < 1e-5
    assert sum(end[f"{foot}_normal"] for foot in FEET) == pytest.approx(278.2, abs=0.1)
    assert -np.mean([end[f"{foot}_gap"] for foot in FEET]) == pytest.approx(0.137e-3, abs=1e-6)


@pytest.mark.slow  # compiles the whole robot: a minute
def test_the_whole_robot_stands_squats_and_sways():
    motion = {**walkers.coman_motion("squat", 0.1, 0.5), **walkers.coman_motion("sway", 0.05, 0.4)}
    run = strut.simulate(walkers.coman(references=motion), t=3.0, rtol=1e-5, atol=1e-7)
    assert run.ok
    assert len(list(run.system.x)) == 104 + 20  # and two strains at each point
    assert run.ledger.relative < 1e-7
    end = run.at(np.linspace(1, 3, 50))
    assert end["z"].min() > 0.4
    assert np.mean(sum(end[f"{foot}_normal"] for foot in FEET)) == pytest.approx(WEIGHT, rel=0.05)


@pytest.mark.slow  # compiles the whole robot, and runs it to 1e-10: a minute
def test_the_whole_robot_runs_ten_times_as_fast_as_it_is_to_1e_4():
    """Squatting and swaying for a second, in processor time of one core, against a tolerance of 1e-10."""
    motion = {**walkers.coman_motion("squat", 0.1, 0.5), **walkers.coman_motion("sway", 0.05, 0.4)}
    robot, times = walkers.coman(references=motion), np.linspace(0, 1, 101)
    options = {"ledger": False, "backend": "native"}
    exact = strut.simulate(robot, 1.0, method="dopri5", rtol=1e-10, atol=1e-10, **options).at(times)
    spent = []
    for _ in range(5):
        began = time.process_time()
        run = strut.simulate(robot, 1.0, method="rkc", step=1e-3, **options)
        spent.append(time.process_time() - began)
    names = ["x", "y", "z", "roll", "pitch", "yaw", *coman_mechanism().limits]
    reached = run.at(times)
    assert max(np.abs(reached[name] - exact[name]).max() for name in names) < 1e-4
    assert min(spent) < 0.1  # [s]
