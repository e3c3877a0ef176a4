"""Running and hopping: a flight in every step, of the ready-made runner and of machines of one's own."""

import contextlib
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from examples.running import main

from strut import Mechanism, contact, joints, optimal, simulate, walkers
from strut.errors import ModelError, NoStrideError
from strut.gait.return_map import ReturnMap
from strut.optimal.walk.flight_stride import flight_stride
from strut.system import start, sx
from tests.examples.gallery import check_printed

SPEED = 2.0  # m/s
AIR = 0.1  # s
G = 9.81
CLOSED = 1e-6  # relative: energies of a replayed step
TANGENT_STEP = 1e-6  # of central differences of the return map, along states it can reach


def test_the_search_begins_with_a_thrown_body_and_torques_that_nearly_move_it():
    """Inverse kinematics and dynamics: in the guess the base falls freely, and the foot stays where it is."""
    walker = walkers.runner()
    stride = flight_stride(walker, "foot_l_touchdown", optimal.StepGoal(speed=SPEED, flight=AIR))
    stance, flight = stride.guess.phases
    assert flight.duration == pytest.approx(AIR)
    assert stride.step_length == pytest.approx(SPEED * stride.period)
    rates = flight.x(np.array([0.0, 1.0]))
    up = walker.labels("x").index("base.z")
    middle = flight.x(np.array([0.5]))[0, up]
    assert middle - rates[:, up].mean() == pytest.approx(G * AIR**2 / 8, rel=1e-6)
    gap = walker.function("gap", [walker["foot_r_gap"]], clock=False)
    begin = start(walker)
    for x in stance.x(np.array([0.0, 0.5, 1.0])):
        assert float(gap(x, begin.z, begin.u, begin.p)) == pytest.approx(0.0, abs=1e-6)
    assert np.abs(stance.u(np.array([0.5]))).max() > 10.0  # [N m]: a bent knee carries the body


@pytest.fixture(scope="module")
def run():
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        design = main()
    check_printed("running.py", said.getvalue())
    return design


def test_a_runner_runs_as_fast_as_asked_with_the_flight_that_was_asked(run):
    assert run.ok, run.wrong
    assert run.speed == pytest.approx(SPEED, abs=1e-6)
    stance, flight = run.result.phases
    assert (stance.until, flight.until) == ("foot_r_release", "foot_l_touchdown")
    assert flight.duration == pytest.approx(AIR, abs=1e-7)
    assert run.replay.stays
    assert run.gait is not None
    assert run.replay.balance.relative < CLOSED
    active = {each.name: each for each in run.active_limits}
    assert active["flight"].source == "asked"
    assert active["flight"].slope > 0  # a shorter flight is cheaper


def test_its_flight_is_ballistic(run):
    """No force but gravity: the centre of mass falls freely, whatever the motors do."""
    system, flight = run.system, run.result.phases[1]
    com = sx(system.scene.com)
    place = system.function("place", [com], clock=False)
    at = [np.array(place(x, flight.z, np.zeros(4), run.result.p)).ravel() for x in flight.x]
    T = flight.t - flight.t[0]
    path = np.array(at)
    speed = (path[-1] - path[0]) / T[-1]
    assert path[:, 0] == pytest.approx(path[0, 0] + speed[0] * T, abs=1e-7)
    rise = speed[2] + G * T[-1] / 2  # at take-off, m/s
    assert path[:, 2] == pytest.approx(path[0, 2] + rise * T - G * T**2 / 2, abs=1e-7)


def test_a_foot_stands_still_and_pushes_until_it_is_let_go(run):
    stance = run.result.phases[0]
    moments = run.replay.run.at(np.linspace(0.002, stance.duration - 0.002, 200))
    assert moments["foot_r_normal"].min() > 0
    assert np.abs(moments["foot_r_gap"]).max() < 1e-7
    release = next(e for e in run.replay.run.events if e.name == "foot_r_release")
    assert release.t == pytest.approx(stance.duration, abs=1e-6)
    weight = 28.0 * G
    impulse = np.trapezoid(moments["foot_r_normal"], np.linspace(0.002, stance.duration - 0.002, 200))
    assert impulse < weight * run.step_time  # the landing has the rest of what carries the weight over a step


def test_left_and_right_take_turns_in_the_air(run):
    steps = simulate(run.machine, t=2.2 * run.step_time, rtol=1e-11, atol=1e-12)
    names = [e.name for e in steps.events if e.name.endswith(("_release", "_touchdown"))]
    assert names[:4] == ["foot_r_release", "foot_l_touchdown", "foot_l_release", "foot_r_touchdown"]


def test_the_multipliers_of_a_run_are_derivatives_of_its_return_map(run):
    """By central differences along a state that a step can end in. The moment of take-off depends on inputs
    that jump there: the plan must wait for it, else the map has a kink at the gait itself."""
    assert run.gait is not None
    step = ReturnMap(run.machine, "foot_l_touchdown")
    y = step.free(start(run.machine).x)
    whole = step(y)
    along = whole.by_y @ np.random.default_rng(0).standard_normal(len(y))
    along /= np.abs(along).max()
    ahead, behind = step(y + TANGENT_STEP * along), step(y - TANGENT_STEP * along)
    slope = (ahead.y - behind.y) / (2 * TANGENT_STEP)
    assert slope == pytest.approx(whole.by_y @ along, rel=1e-3, abs=1e-3 * np.abs(slope).max())


# ---- a machine of one's own ----


def hopper(spring=0.0, **options):
    """One leg: a body, a hip, and a leg that telescopes, on a spring [N/m]."""
    m = Mechanism("hopper", planar=True)
    torso = m.body("torso", mass=8.0, com=(0, 0, 0.1), inertia=0.4)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.8, 0.0), actuated=False)
    leg = m.body("leg", mass=1.0, com=(0, 0, -0.2), inertia=0.02)
    m.joint("hip", torso, leg, joints.revolute("y"))
    toe = m.body("toe", mass=0.3, com=(0, 0, -0.6), inertia=0.005)
    m.joint("stroke", leg, toe, joints.prismatic("z"), limits=(-0.05, 0.35), spring=spring)
    m.frame("foot", toe, (0, 0, -0.75))
    return contact.rigid(m, ["foot"], contact.plane(0.0), release="force", fall=("torso", 0.3), **options)


def test_one_leg_hops_forwards():
    hops = optimal.design(hopper(), speed=1.0, step_length=0.4, flight=AIR, intervals=6)
    assert hops.ok, hops.wrong
    assert hops.speed == pytest.approx(1.0, abs=1e-6)
    assert [m.until for m in hops.result.phases] == ["foot_release", "foot_touchdown"]
    assert hops.result.phases[1].duration == pytest.approx(AIR, abs=1e-7)
    assert hops.replay.balance.relative < CLOSED
    # What motors give, the landing takes.
    assert hops.replay.balance.lost == pytest.approx(hops.replay.balance.work, rel=1e-5)


def test_a_leg_on_a_spring_neither_pulls_early_nor_skims_the_ground():
    """It lands at the length of rest, without load: the plan let its foot pull there, and then drag through the air."""
    hops = optimal.design(hopper(spring=3000.0), speed=1.0, step_length=0.4, flight=AIR, intervals=6)
    assert hops.ok, hops.wrong
    assert hops.replay.stays
    stance, flight = hops.result.phases
    t = np.linspace(0, hops.result.duration, 400)[1:-1]
    moments = hops.replay.run.at(t)
    standing = t < stance.t[-1] - 1e-3
    assert moments["foot_normal"][standing].min() > 0
    middle = (t > flight.t[0] + 0.1 * AIR) & (t < flight.t[-1] - 0.1 * AIR)
    assert moments["foot_gap"][middle].min() > 1e-3
    assert hops.replay.balance.relative < CLOSED


# ---- what is refused ----


def test_a_walker_that_is_held_on_its_foot_cannot_fly():
    with pytest.raises(NoStrideError, match="says when it lifts, .* as contact.rigid"):
        optimal.design(walkers.compass(), slope=0.0, speed=0.5, flight=0.1)


def test_a_machine_without_a_floating_base_cannot_fly():
    system = hopper()
    grounded = system.replace(walk=replace(system.walk, lift=""))
    with pytest.raises(NoStrideError, match=r"cannot leave the ground: .* Let it float \(joints.planar\(\)"):
        optimal.design(grounded, speed=1.0, flight=0.1)


def test_legs_too_short_for_a_stride_are_named():
    with pytest.raises(
        NoStrideError, match="no postures of 'hopper' make a step of .* with 0.1 s in the air"
    ):
        optimal.design(hopper(), speed=1.0, step_length=3.0, flight=0.1)


def test_phases_of_a_walk_have_no_flight():
    with pytest.raises(ModelError, match="a flight of 0.1 s is asked, but 'runner' always stands"):
        optimal.design(walkers.runner(), speed=SPEED, flight=0.1, phases=["foot_l_touchdown"])


@pytest.mark.slow  # a minute: guides are widened, and the gait of a machine of fourteen states is compiled
def test_a_slow_run_downhill_magnifies_and_is_a_gait():
    """At 0.8 m/s a plan of torques alone magnifies an error by more than 1e6 in a step: no run in one go comes
    back. Piece by piece its gait is found, and it goes down as the ground does."""
    slope = math.radians(3)
    design = optimal.design(walkers.runner(), speed=0.8, slope=slope)
    assert design.ok, design.wrong
    assert not design.replay.stays
    assert abs(design.gait.multipliers[0]) > 1e6
    assert design.gait.residual < 1e-8
    assert design.verdict == "ok, unstable in open loop"
    fallen = design.weight * design.step_length * math.sin(slope)
    assert design.replay.balance.fallen == pytest.approx(fallen, rel=1e-5)
