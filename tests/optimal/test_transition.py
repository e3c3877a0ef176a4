"""Starting and stopping: from standing into a gait and back, replayed in the simulator."""

import numpy as np
import pytest

from strut import gait, optimal, simulate, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.optimal.walk.end_state import MAX_GAIT_ERROR
from strut.optimal.walk.standing import FOOT_HEIGHT, SystemPoint, gait_states, independent_states
from tests.optimal.floating import five_links, on_rigid_ground

SPEED = 0.5  # m/s
AT_REST = 1e-6  # rad/s, and rad/s^2 to which a solver has it


@pytest.fixture(scope="module")
def walk():
    """A compass with a motor in its hip alone, on the level: it stands upright or not at all."""
    return optimal.design(walkers.compass(), slope=0.0, speed=SPEED)


@pytest.fixture(scope="module")
def starting(walk):
    return optimal.start(walk, 2)


@pytest.fixture(scope="module")
def stopping(walk):
    return optimal.stop(walk, 1, torque=200.0)


def rates(design, motion, end):
    """States and their rates at the beginning (0) or the end (-1) of a phase of a plan, by name."""
    system = design.result.problem.system
    flow = system.function("flow", [*system.flow.values()], clock=False)
    u = motion.inputs(motion.t[[end]])[0]
    values = [float(v) for v in flow(motion.x[end], motion.z, u, design.result.p)]
    return dict(zip(system.labels("x"), motion.x[end], strict=True)), dict(
        zip(system.flow, values, strict=True)
    )


def test_a_start_begins_at_rest_held_by_its_motor(starting):
    assert starting.ok, starting.wrong
    x, slopes = rates(starting, starting.result.phases[0], 0)
    assert (x["stance_rate"], x["swing_rate"]) == (0.0, 0.0)
    assert max(map(abs, slopes.values())) < AT_REST
    run = starting.replay.run
    assert abs(run["clearance"][0]) <= FOOT_HEIGHT + 1e-9
    assert run.ledger.stored["kinetic"][0] == pytest.approx(0.0, abs=1e-12)


def test_a_start_ends_in_the_gait_and_its_machine_goes_on(walk, starting):
    assert [m.until for m in starting.result.phases].count("heel_strike") == starting.steps == 2
    assert starting.gait_error < MAX_GAIT_ERROR
    rows = {name: value for name, value, _ in starting.rows()}
    assert rows["ends away from the gait by"] == starting.gait_error == starting.data()["gait_error"]
    strike = starting.replay.run.events[-1]
    begin = {name: strike.after[name] for name in walk.result.x0}
    again = simulate(walk.machine, t=1.05 * walk.result.duration, x0=begin, rtol=1e-11, atol=1e-12)
    landing = next(e for e in again.events if e.name == "heel_strike")
    assert landing.t == pytest.approx(walk.result.duration, abs=1e-5)
    assert landing.after["stance"] == pytest.approx(walk.result.x0["stance"], abs=1e-5)


def test_work_and_fall_become_the_speed_of_the_gait(starting):
    """It begins with nothing: what motor and gravity give is what impacts take and what it has in the end."""
    balance, run = starting.replay.balance, starting.replay.run
    assert balance.relative < 1e-6
    kept = sum(v[-1] - v[0] for n, v in run.ledger.stored.items() if n == starting.system.walk.kinetic)
    assert balance.stored == pytest.approx(kept, abs=1e-9)
    assert balance.fallen + balance.work - balance.lost == pytest.approx(kept, abs=1e-6)


def test_a_stop_ends_at_rest_held_by_its_motor(walk, stopping):
    assert stopping.ok, stopping.wrong
    assert stopping.result.x0 == pytest.approx(walk.result.x0)
    last = stopping.result.phases[-1]
    assert last.until is None
    x, slopes = rates(stopping, last, -1)
    assert max(abs(x["stance_rate"]), abs(x["swing_rate"])) < AT_REST
    assert max(map(abs, slopes.values())) < AT_REST
    end = stopping.replay.run
    assert end.ledger.stored[stopping.system.walk.kinetic][-1] < 1e-6  # J, of some ten that it had
    assert stopping.gait_error is None


def test_a_given_posture_is_where_it_stands(walk):
    """Leaning forwards and let go: nothing holds it there, and gravity does the work."""
    lean = {"stance": -0.02, "swing": -0.1}
    design = optimal.start(walk, 1, posture=lean)
    assert design.ok, design.wrong
    assert {name: design.result.x0[name] for name in lean} == pytest.approx(lean)
    assert design.result.x0["stance_rate"] == 0.0


def test_it_is_saved_and_shown_like_other_designs(starting, tmp_path):
    starting.save(tmp_path / "start.h5")
    back = optimal.load(tmp_path / "start.h5")
    assert back.ok
    assert back.gait_error == pytest.approx(starting.gait_error, abs=1e-9)
    assert "2" in starting.table()


def test_states_that_follow_from_others_are_not_asked(walk):
    """Both feet on the ground leave one angle of two; of a foot that holds, no velocity."""
    first = walk.result.phases[0]
    point = SystemPoint(first.x[0], first.z, walk.result.p)
    assert len(gait_states(walk.system, "heel_strike", point)) == 3
    system = walk.system
    same = system["stance_rate"] - system["swing_rate"]
    kept = independent_states(system, same, point, [2, 3])
    assert len(kept) == 1


def test_what_cannot_start_or_stop_is_refused(walk, starting):
    with pytest.raises(ModelError, match="nothing drives 'simplest': it cannot start by itself"):
        optimal.start(gait.find(walkers.simplest()))
    with pytest.raises(UnknownNameError, match="posture names 'hip', which is no state of 'compass'"):
        optimal.start(walk, posture={"hip": 0.0})
    with pytest.raises(UnknownNameError, match="'flight' is nothing that a stop can be asked"):
        optimal.stop(walk, flight=0.1)
    with pytest.raises(ValueRangeError, match="steps"):
        optimal.start(walk, 0)
    with pytest.raises(ModelError, match="does not repeat: give a design of a gait"):
        optimal.stop(starting)


@pytest.mark.slow  # two minutes: a five-link walker on a floating base, its gait, a start and a stop
def test_a_machine_on_a_floating_base_starts_and_stops():
    walk = optimal.design(on_rigid_ground(five_links(), fall=("torso", 0.3)), speed=0.6)
    assert walk.ok, walk.wrong
    starting = optimal.start(walk, 2)
    assert starting.ok, starting.wrong
    assert starting.gait_error < MAX_GAIT_ERROR
    x, slopes = rates(starting, starting.result.phases[0], 0)
    assert max(map(abs, slopes.values())) < 1e-5
    assert np.array([v for n, v in x.items() if n.endswith(("_rate", ".vx", ".vz", ".rate"))]).max() == 0.0
    stopping = optimal.stop(walk, 2)
    assert stopping.ok, stopping.wrong
    _, slopes = rates(stopping, stopping.result.phases[-1], -1)
    assert max(map(abs, slopes.values())) < 1e-5
