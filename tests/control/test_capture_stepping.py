"""Stepping in space: which foot goes where, and a biped of one's own that catches itself by steps."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import contact
from strut.control import BodyModel, CaptureGains, CaptureStepping, capture_stepping
from strut.control.spatial_stepping import SpatialState, spatial_stepping_signals
from strut.errors import ModelError, StrutError, UnknownNameError
from strut.mechanism import Mechanism, joints

from .bipeds import HALF_SOLE, biped, spatial_biped

STEPS = {"step_time": 0.3, "swing_height": 0.06, "longest": 0.5, "narrowest": 0.16}
GAINS = {"torque_limit": 200.0, "force_limit": 800.0}
RATE = 3.4
"""[1/s] Of the pendulum, in the tests of decisions."""
FORCE_SLACK = 1e-8 * GAINS["force_limit"]
"""[N] What the solver's check of a row allows: 1e-8 of its size."""
SOLES = {f"sole_{s}": [f"sole_{s}_{k}" for k in range(4)] for s in "lr"}


def decide(xcom, left=(0.0, 0.1), right=(0.0, -0.1), **changes):
    """What is remembered after a sample in which both soles stand, of a mass at rest at the XcoM."""
    feet = {"left": ca.SX([*left, 0.0]), "right": ca.SX([*right, 0.0])}
    state = SpatialState(
        com=ca.SX([*xcom, 0.8]),
        com_velocity=ca.SX.zeros(3),
        soles=feet,
        gaps={"left": ca.SX(0.0), "right": ca.SX(0.0)},
        half_sizes=ca.SX(HALF_SOLE),
        rate=ca.SX(RATE),
    )
    s = spatial_stepping_signals(CaptureStepping(**STEPS | changes), state, t=ca.SX(0.0), first=feet)
    symbols, values = [z.sym for z in s.memory], [ca.DM(ca.evalf(ca.SX(z.value))) for z in s.memory]
    now = ca.Function("now", symbols, list(s.memory.values()))(*values)
    return {z.name: float(value) for z, value in zip(s.memory, now, strict=True)}


def test_it_stands_while_the_capture_point_is_between_the_soles():
    for inside in ((0.0, 0.0), (0.109, 0.0), (-0.109, 0.1), (0.0, 0.149), (0.0, -0.149)):
        assert decide(inside)["swinging"] == 0
    for outside in ((0.111, 0.0), (-0.111, 0.1), (0.0, 0.151), (0.1, 0.145)):  # the last: at a corner
        assert decide(outside)["swinging"] > 0
    assert decide((0.111, 0.0), leave=1.1)["swinging"] == 0


def test_a_foot_lands_where_the_capture_point_will_be():
    """Forward: the foot that stands pushes at its toe, 0.8 of the way to the edge; the XcoM runs away from
    there by e^(rate time)."""
    after = decide((0.15, 0.01))  # the right foot is the farther one
    assert after["swinging"] == 2
    grows = math.exp(RATE * 0.3)
    toe, inner = 0.8 * HALF_SOLE[0], 0.1 - 0.8 * HALF_SOLE[1]
    assert after["landing_x"] == pytest.approx(toe + (0.15 - toe) * grows)
    assert after["landing_y"] == pytest.approx(inner + (0.01 - inner) * grows)
    # a foot in front: the rear one goes, around it, and not closer to it than the least distance
    after = decide((0.45, 0.08), left=(0.3, 0.1))
    assert after["swinging"] == 2
    assert after["landing_y"] == pytest.approx(0.1 - 0.16)
    assert decide((0.6, 0.0), left=(0.3, 0.1))["landing_x"] == pytest.approx(0.3 + 0.5)  # the longest


@pytest.mark.parametrize(("y", "foot"), [(0.2, 1), (-0.2, 2)])
def test_to_the_side_the_foot_of_that_side_goes(y, foot):
    assert decide((0.0, y))["swinging"] == foot
    assert np.sign(decide((0.0, y))["landing_y"]) == np.sign(y)


def test_what_it_cannot_do_is_said():
    body = BodyModel(spatial_biped())
    settings = {"chest": "torso", "stepping": CaptureStepping(**STEPS), "gains": CaptureGains(**GAINS)}
    with pytest.raises(ModelError, match="'biped' moves in a plane.*take `momentum_stepping`"):
        capture_stepping(BodyModel(biped()), soles={"foot_r": ("a",), "foot_l": ("b",)}, **settings)
    with pytest.raises(ModelError, match="has 1 soles, sole_l: it steps with two"):
        capture_stepping(body, soles={"sole_l": SOLES["sole_l"]}, **settings)
    with pytest.raises(ModelError, match="sole 'sole_r' has 2 corners: three or more"):
        capture_stepping(body, soles=SOLES | {"sole_r": ["sole_r_0", "sole_r_1"]}, **settings)
    with pytest.raises(ModelError, match="soles sole_l and sole_r are not alike"):
        capture_stepping(body, soles=SOLES | {"sole_r": ["sole_r_0", "sole_r_1", "sole_r"]}, **settings)
    with pytest.raises(ModelError, match="sole 'sole_r' is not level: its corners differ in height"):
        capture_stepping(body, soles=SOLES | {"sole_r": ["sole_r_0", "sole_r_1", "torso"]}, **settings)
    with pytest.raises(StrutError, match="step_time of capture stepping is 0: a positive number"):
        CaptureStepping(**STEPS | {"step_time": 0.0})
    with pytest.raises(StrutError, match="torque_limit of capture stepping is -1"):
        CaptureGains(**GAINS | {"torque_limit": -1.0})
    with pytest.raises(UnknownNameError, match="no swing profile 'cosine'"):
        CaptureStepping(**STEPS, profile="cosine")


def test_a_controller_of_ones_own_machine_is_described_without_compiling():
    m = Mechanism("box")
    box = m.body("box", 1.0, (0, 0, 0), (1, 1, 1))
    m.joint("base", m.world, box, joints.free())
    with pytest.raises(StrutError, match="sole_l"):
        capture_stepping(
            BodyModel(m),
            soles=SOLES,
            chest="box",
            stepping=CaptureStepping(**STEPS),
            gains=CaptureGains(**GAINS),
        )


@pytest.mark.slow  # compiles a biped of 18 velocities on eight corners in space: a minute
def test_a_biped_in_space_catches_itself_by_steps():
    """Standing, it survives what keeps the XcoM within its soles: mass times rate times the way to the toe,
    and a little more by its angular momentum. By steps it survives more than twice that."""
    m = spatial_biped()
    body = BodyModel(m)
    machine = contact.time_stepped(
        m, [corner for corners in SOLES.values() for corner in corners], friction=0.8, fall=("torso", 0.4)
    )
    steps = capture_stepping(
        body, soles=SOLES, chest="torso", stepping=CaptureStepping(**STEPS), gains=CaptureGains(**GAINS)
    )
    stands = steps.using(leave=100.0)  # it never leaves

    def pushed(controller, impulse, along=(1.0, 0.0)):
        force = [10 * impulse * each for each in (*along, 0.0)]  # over 0.1 s
        return controller.run(machine, 4.0, u=strut.push("torso", (0.3, 0.4), force))

    def survives(run):
        at_rest = np.abs(np.diff(run["com"], axis=0)[-1]).max() / steps.every < 0.05
        return run.trajectory.ok and at_rest and run["com"][-1, 2] > 0.7

    com, mass = body.at(body.com), float(body.at(body.mass))
    toe = 0.02 + HALF_SOLE[0] - com[0]
    limit = mass * math.sqrt(9.81 / com[2]) * toe  # [N s] of a pendulum: 22.7
    assert limit == pytest.approx(22.7, abs=0.2)
    assert survives(pushed(stands, 0.95 * limit))
    assert not survives(pushed(stands, 1.3 * limit))
    caught = pushed(steps, 2.5 * limit)
    assert survives(caught)
    assert caught.ok, caught.faults
    assert caught.kkt < 1e-8
    assert caught["steps"][-1] >= 1
    assert survives(pushed(steps, 1.7 * limit, along=(-1.0, 0.0)))
    aside = pushed(steps, 1.3 * limit, along=(0.5, -0.8))
    assert survives(aside)
    # torques and cones are kept in every sample
    for run in (caught, aside):
        assert max(abs(run[name]).max() for name in steps.command) <= 200.0
        for corner in SOLES["sole_l"]:
            x, y, z = run[f"{corner}_force"].T
            assert z.min() >= -FORCE_SLACK
            assert np.all(np.hypot(x, y) <= 0.6 * z + FORCE_SLACK)
    # standing alone is left where it was; a step is where the reference asked for
    left_alone = pushed(steps, 0.0)
    assert left_alone["steps"][-1] == 0
    assert np.abs(left_alone["com"] - left_alone["com"][0]).max() < 0.005


@pytest.mark.slow(reason="COMAN's controller and machine of 29 velocities are compiled: a minute or two")
def test_coman_catches_itself_by_steps():
    """Standing it survives 13 N s forward and falls at 14; a step of 0.3 m at most catches 24, and 16 backwards. All
    programs are solved as they stand, and what they command keeps torques and cones."""
    from bench.whole_body import FEET, POSTURE

    from strut import walkers

    m = walkers.coman_mechanism()
    m.push("waist")
    for side in "rl":
        m.frame(f"{side}_sole", m.bodies[f"{side}_foot"], (0.035, 0.0, -0.0793))
    body = BodyModel(m)
    q = np.array([POSTURE.get(s.name, 0.0) for s in body.positions])
    q[2] = -body.at(body.position("r_sole0"), q)[2]
    steps = capture_stepping(
        body,
        soles={f"{side}_sole": [f"{side}_sole{k}" for k in (1, 2, 3, 4)] for side in "rl"},
        chest="waist",
        com_height=float(body.at(body.com, q)[2]),
        posture={s.name: POSTURE.get(s.name, 0.0) for s in body.positions[6:]},
        stepping=CaptureStepping(step_time=0.19, swing_height=0.033, longest=0.3, narrowest=0.1, brake=0.9),
        gains=CaptureGains(torque_limit=60.0, force_limit=400.0, spin_weight=0.01),
    )
    machine = contact.time_stepped(m, FEET, friction=0.7, fall=("waist", 0.25))

    def pushed(controller, impulse):
        push = strut.push("waist", (0.3, 0.4), (10 * impulse, 0.0, 0.0))
        x0 = {**POSTURE, "z": float(q[2])}
        return controller.run(machine, 3.5, x0=x0, u=push, ledger=False, method="euler", step=1e-3)

    stands = steps.using(leave=100.0)  # it never leaves
    assert pushed(stands, 12.0).ok
    assert pushed(stands, 16.0).trajectory.status == "fall"
    for impulse in (16.0, 20.0, 24.0, -16.0):
        run = pushed(steps, impulse)
        assert run.ok, run.faults
        assert run.kkt < 1e-8
        assert run["steps"][-1] == 1
        assert np.abs(np.diff(run["com"], axis=0)[-1]).max() / steps.every < 1e-3  # it stands again
        assert run["com"][-1, 2] > 0.48
        assert max(abs(run[name]).max() for name in steps.command) <= 60.0
        for corner in FEET:
            x, y, z = run[f"{corner}_force"].T
            assert z.min() >= -1e-8 * 400
            assert np.all(np.hypot(x, y) <= 0.6 * z + 1e-6)
