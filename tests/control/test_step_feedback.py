"""Laws that act once a step: foot placement, headings, push-offs; against closed forms."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Discrete, Event, Foot, Param, State, System, Walk, control, gait, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load

BEGIN = {"pitch_rate": 2.0}
"""[rad/s] At what speed a gait of the point in space is looked for: there is one at any."""


def linear_pendulum(step_time=0.6, width=0.12, speed=0.8):
    """A machine of one's own: the linear inverted pendulum seen from the front, that steps by the clock, in the
    mirror after every step."""
    omega2 = Param("omega2", 9.81 / 0.9, "1/s^2")
    placed = Param("placed", width, "m", description="of the next foot, outwards from the mass")
    T = Param("step_time", step_time, "s")
    y, v = State("y", width, "m"), State("v", -0.3, "m/s")
    clock = State("clock", 0.0, "s")
    way = Discrete("way", 0.0, "m")
    return System(
        "linear_pendulum",
        x=(y, v, clock),
        z=(way,),
        p=(omega2, placed, T),
        flow={y: v, v: omega2 * y, clock: 1.0},
        events=(
            Event(
                "step",
                guard=clock - T,
                reset={y: placed.sym, v: -v.sym, clock: 0.0, way: way + speed * T},
            ),
        ),
        walk=Walk(section="step", feet=(Foot(name="foot", lands="step"),), progress=("way",)),
    )


@pytest.mark.parametrize("gain", [0.05, 0.2])
def test_foot_placement_of_a_machine_of_ones_own_has_the_multipliers_of_its_closed_form(gain):
    """y+ = u + K v(T/2), v+ = -(w sinh(w T) y + cosh(w T) v): eigenvalues of a matrix of two rows."""
    machine = linear_pendulum()
    half = machine["clock"] - machine["step_time"] / 2
    loop = control.foot_placement(machine, "placed", rate=-machine["v"], gain=gain, at=half)
    w, T = np.sqrt(9.81 / 0.9), 0.6
    A = np.array(
        [
            [gain * w * np.sinh(w * T / 2), gain * np.cosh(w * T / 2)],
            [-w * np.sinh(w * T), -np.cosh(w * T)],
        ]
    )
    fixed = np.linalg.solve(np.eye(2) - A, [0.12, 0.0])
    expected = sorted(np.linalg.eigvals(A), key=abs)[::-1]
    cycle = gait.find(loop, {"y": fixed[0], "v": fixed[1]})
    assert np.allclose([cycle.x0["y"], cycle.x0["v"]], fixed, atol=1e-9)
    assert np.allclose(cycle.multipliers[:2], expected, atol=1e-6)
    # that feedback moved the multiplier: open loop -cosh(w T)
    assert abs(cycle.multipliers[0]) < np.cosh(w * T) - 0.01


@pytest.mark.parametrize(("gain", "largest"), [(0.0, 1.515), (0.3, 0.680)])
def test_multipliers_of_duindams_foot_placement(gain, largest):
    """His lateral law, computed anew with another integrator: -1.515 without, modulus 0.680 with K_l = 0.3."""
    walker = walkers.point_3d()
    loop = control.foot_placement(walker, "swing_roll", rate=walker["roll_rate"], gain=gain, at="midstance")
    cycle = gait.find(loop, BEGIN)
    lateral = [m for m in cycle.multipliers if abs(m - 1) > 1e-6]
    assert abs(lateral[0]) == pytest.approx(largest, abs=5e-4)
    if gain == 0:
        assert lateral[0] == pytest.approx(-1.515, abs=5e-4)


def test_the_push_off_gives_back_what_the_impact_takes():
    """Equation 5.37, and the books: what the push-off gives is what the impact takes, at every landing."""
    walker = walkers.point_3d()
    run = strut.simulate(walker, t=2.0)
    lost = run.ledger.lost
    assert lost["impact"][-1] > 0.5
    assert lost["impact"][-1] == pytest.approx(-lost["push_off"][-1], rel=1e-12)
    assert run.ledger.residual < 1e-9
    q4, q5, w4, w5, q6, q7 = 0.31, -0.09, 1.9, -0.2, -0.3, 0.1
    formula = (
        w5 * np.cos(q4 - q6) * np.cos(q7) * np.sin(q5)
        + np.cos(q5) * (w4 * np.cos(q7) * np.sin(q4 - q6) - w5 * np.sin(q7))
    ) / (1 + np.cos(q5) * np.cos(q4 - q6) * np.cos(q7) + np.sin(q5) * np.sin(q7))
    push = walker.function("push", [walker["push_off_speed"]], "xp", clock=False)
    value = float(push([q4, q5, w4, w5, 0.0], strut.system.start(walker).p))
    assert value == pytest.approx(formula, rel=1e-12)


def test_energy_that_a_push_off_regulates_has_its_own_multiplier():
    """Half of what is missing is given back in every step: the multiplier 1 of the energy becomes 1/2."""
    walker = walkers.point_3d()
    kept = control.foot_placement(walker, "swing_roll", rate=walker["roll_rate"], gain=0.3, at="midstance")
    wanted = float(strut.simulate(walker, t=0.01)["energy"][0])
    loop = control.step_feedback(kept, {"push_off_work": 0.5 * (wanted - kept["energy"])}, at="midstance")
    cycle = gait.find(loop, BEGIN)
    assert cycle.stable
    assert np.abs(cycle.multipliers - 0.5).min() < 1e-6
    assert cycle.trajectory["energy"][0] == pytest.approx(wanted, abs=1e-8)


def test_energy_that_a_law_puts_into_a_spring_is_booked_under_its_name():
    """A spring that is stiffened by 3 N/m at x stores 3 x^2 / 2 more; what the event itself loses stays as it is."""
    x, v, k = State("x", 0.4), State("v", -1.0), Param("k", 5.0)
    ball = System(
        "ball",
        x=(x, v),
        p=(k,),
        flow={x: v, v: -k * x},
        events=(Event("wall", guard=0.1 - x, reset={v: -0.5 * v}),),
        ledger=strut.Ledger(stored={"motion": v**2 / 2, "spring": k * x**2 / 2}),
    )
    for at, event in (("wall", "wall"), (0.2 - x.sym, "measured")):
        loop = control.step_feedback(ball, {"k": 3.0}, at=at)
        assert set(strut.simulate(loop, t=0.2).ledger.lost) == {"wall", "k_change"}
        lost = strut.simulate(loop, t=0.4).ledger
        place = {"wall": 0.1, "measured": 0.2}[event]
        assert lost.lost["k_change"][-1] == pytest.approx(-3 * place**2 / 2, rel=1e-9)
        before = 1.0 + 5 * 0.4**2 - (5 * 0.1**2 if event == "wall" else 8 * 0.1**2)
        before += 3 * 0.2**2 if event == "measured" else 0.0
        assert lost.lost["wall"][-1] == pytest.approx(0.75 * before / 2, rel=1e-8)  # of v^2 / 2 at the wall
        assert lost.residual < 1e-9


def test_heading_goes_to_its_target_by_the_gain():
    """Each step turns by a quarter of what is missing: what is left is a geometric series; within its limit."""
    walker = walkers.point_3d()
    kept = control.foot_placement(walker, "swing_roll", rate=walker["roll_rate"], gain=0.3, at="midstance")
    law = {"turn": 0.25 * (0.2 - kept["heading"]) * kept["side"]}
    loop = control.step_feedback(kept, law, at="midstance", limits={"turn": 0.04})
    run = strut.simulate(loop, t=10.0)
    assert run.ok
    headings = np.array([e.after["heading"] for e in run.events if e.name == "landing"])
    assert headings[0] == pytest.approx(0.04)  # the limit: a quarter of 0.2 is 0.05
    assert np.allclose(0.2 - headings[1:10], 0.75 * (0.2 - headings[:9]), atol=1e-12)
    late = run.at(np.array([run.t1 - 3, run.t1]))
    ways = [late[f"hip_{axis}"][1] - late[f"hip_{axis}"][0] for axis in "xy"]
    assert np.arctan2(ways[1], ways[0]) == pytest.approx(0.2, abs=0.02)


def test_a_line_that_is_followed_is_part_of_the_gait():
    """Where a law reads the place to the side, that is no more a direction in which nothing is noticed."""
    walker = walkers.point_3d()
    loop = control.foot_placement(
        walker,
        "swing_roll",
        rate=walker["roll_rate"],
        gain=0.3,
        at="midstance",
        position=walker["hip_sideways"],
        position_gain=0.3,
    )
    cycle = gait.find(loop, BEGIN)
    assert "foothold_y" in cycle.names
    assert "foothold_y" not in gait.find(walker, BEGIN).names
    # all but the energy, which the push-off keeps
    assert sorted(abs(m) for m in cycle.multipliers)[-2] < 0.85
    run = strut.simulate(loop, t=15.0, x0={"foothold_y": 0.1}, z0={"stands_y": 0.1})
    assert abs(run["hip_y"][0]) > 0.15
    assert np.abs(run.at(np.linspace(13, 15, 100))["hip_y"]).max() < 0.02


def test_the_example_walks_around_a_corner(capsys):
    run = load("foot_placement").main()
    assert run.ok
    assert np.degrees(run["heading"][-1]) == pytest.approx(45, abs=1)
    check_printed("foot_placement.py", capsys.readouterr().out)


def test_what_is_refused():
    walker = walkers.point_3d()
    with pytest.raises(
        UnknownNameError, match="'swing_rol' is no input or parameter of 'point_3d'.*swing_roll"
    ):
        control.foot_placement(walker, "swing_rol", rate=0.0, gain=0.3, at="midstance")
    with pytest.raises(UnknownNameError, match="'midstanc' is no event of 'point_3d'.*midstance"):
        control.foot_placement(walker, "swing_roll", rate=0.0, gain=0.3, at="midstanc")
    with pytest.raises(ValueRangeError, match="limit of 'turn' is -1: a positive number is needed"):
        control.step_feedback(walker, {"turn": 0.1}, at="midstance", limits={"turn": -1})
    with pytest.raises(UnknownNameError, match="a limit of 'leg', which no law changes"):
        control.step_feedback(walker, {"turn": 0.1}, at="midstance", limits={"leg": 1.0})
    with pytest.raises(ModelError, match="give position_gain too"):
        control.foot_placement(
            walker, "swing_roll", rate=0.0, gain=0.3, at="midstance", position=walker["hip_sideways"]
        )
    with pytest.raises(ModelError, match="no law to act by"):
        control.step_feedback(walker, {}, at="midstance")
    assert isinstance(walker["pitch"], ca.SX)
