"""Phases that end by time and are followed by others, jumps given by hand, and costs on where a motion begins."""

import math

import numpy as np
import pytest

from strut import Discrete, Event, Input, Ledger, Param, State, System, optimal
from strut.errors import ModelError, UnknownNameError
from strut.optimal import Integral, Problem, initial
from tests.optimal import textbook

SOLVED = 1e-8  # states and costs of these problems, whose solutions are polynomials: exact on any mesh


def rocket():
    """A rocket of two stages: the force counts by a discrete state, `stage`, and nothing but time ends a stage."""
    x, v, force = State("x", 0.0, "m"), State("v", 0.0, "m/s"), Input("force", 0.0, "N")
    stage = Discrete("stage", 1.0)
    return System(
        "rocket",
        x=(x, v),
        u=(force,),
        z=(stage,),
        flow={x: v, v: stage.sym * force.sym},
        ledger=Ledger(stored={"kinetic": v.sym**2 / 2}, supplied={"force": stage.sym * force.sym * v.sym}),
    )


def test_a_phase_follows_one_that_ends_by_time():
    """One motion in two phases of given durations is the same motion: 12 J s of least effort, from rest to rest."""
    system = textbook.sled(most=100.0)
    effort = Integral("effort", system["force"] ** 2)
    problem = Problem(system).phase("first", duration=0.3).phase("second", duration=0.7)
    problem = problem.begin(x=0, v=0).end(x=1, v=0).minimise(effort)
    found = problem.solve(intervals=4, control="linear", backend="virtual")
    assert found.ok, found.status
    assert found.cost == pytest.approx(12.0, abs=1e-7)
    first, second = found.phases
    assert np.abs(first.x[-1] - second.x[0]).max() < SOLVED
    assert first.x[-1] == pytest.approx([3 * 0.3**2 - 2 * 0.3**3, 6 * 0.3 - 6 * 0.3**2], abs=1e-7)
    assert optimal.replay(found).stays


def test_discrete_states_of_a_phase_that_ends_by_time_are_followed_in_the_simulator():
    """The second stage pushes twice as well: least effort is in proportion to the square of that, by hand.

    From rest over 1 m to rest in 1 + 1 s, with a = s u and cost u^2: the costate of v is linear, u = s (a + b t).
    """
    system = rocket()
    effort = Integral("effort", system["force"] ** 2)
    problem = Problem(system).phase("lower", duration=1.0).phase("upper", duration=1.0, z={"stage": 2.0})
    found = (
        problem.begin(x=0, v=0)
        .end(x=1, v=0)
        .minimise(effort)
        .solve(intervals=3, control="linear", backend="virtual")
    )
    assert found.ok, found.status
    # v(2) = 0 and x(2) = 1 as two linear equations of a and b; s^2 weighs each stage.
    t, s2 = np.polynomial.legendre.leggauss(8)[0], (1.0, 4.0)
    w = np.polynomial.legendre.leggauss(8)[1] / 2
    moments = np.array(
        [
            sum(
                s * (w * (2 - place) ** k * place**j).sum()
                for s, place in zip(s2, ((t + 1) / 2, (t + 3) / 2), strict=True)
            )
            for k in (0, 1)
            for j in (0, 1)
        ]
    ).reshape(2, 2)
    a, b = np.linalg.solve(moments, [0.0, 1.0])
    by_hand = sum(
        s * (w * (a + b * place) ** 2).sum() for s, place in zip(s2, ((t + 1) / 2, (t + 3) / 2), strict=True)
    )
    assert found.cost == pytest.approx(by_hand, rel=1e-8)
    again = optimal.replay(found)
    assert again.stays, again.outcome_text
    assert "lower_ends" in again.run.events.names
    assert again.pieces.agrees(again.planned_events)
    assert abs(again.balance.residual) < 1e-9  # J; from rest to rest nothing is left over


def test_a_jump_by_hand_is_planned_and_replayed():
    """A ball that is hit after 1 s: half its speed, turned round. It has to begin at 2 m/s to be back at 1 s more."""
    system = textbook.sled(most=100.0)
    v = system["v"]
    problem = Problem(system).phase("there", duration=1.0, jump={"v": -0.5 * v}).phase("back", duration=2.0)
    effort = Integral("effort", system["force"] ** 2)
    problem = problem.begin(x=0).end(x=0, v=-1.0).minimise(effort)
    found = problem.solve(intervals=3, control="linear", backend="virtual")
    assert found.ok, found.status
    assert found.cost == pytest.approx(0.0, abs=SOLVED)
    assert found.x0["v"] == pytest.approx(2.0, abs=1e-6)
    again = optimal.replay(found)
    assert again.stays, again.outcome_text
    assert again.run.at(1.5)["v"] == pytest.approx(-1.0, abs=1e-6)
    assert again.pieces.agrees([])


def test_a_cost_on_where_the_motion_begins():
    """Speed v0 costs v0^2 / 2, to be at 1 m after 1 s costs force: v0 = 3 / 4 of u = 3/4 (1 - t) by hand.

    Minimise v0^2 / 2 + integral of u^2 / 2 with x(1) = 1: u = c (1 - t), v0 = c, c + c / 3 = 1, cost c / 2.
    """
    system, begin = textbook.sled(most=100.0), initial("v")
    effort = Integral("effort", system["force"] ** 2 / 2)
    problem = Problem(system).phase(duration=1.0).begin(x=0).end(x=1)
    found = problem.minimise(begin**2 / 2 + effort).solve(intervals=3, control="linear", backend="virtual")
    assert found.ok, found.status
    assert found.x0["v"] == pytest.approx(0.75, abs=SOLVED)
    assert found.cost == pytest.approx(0.375, abs=SOLVED)
    assert found.totals["initial_v"] == pytest.approx(found.x0["v"])


@pytest.mark.parametrize("phases", [1, 2])
def test_requirements_compare_the_end_with_the_beginning(phases):
    """It comes 2 m further than it began, wherever that is, and ends as fast as it began: 2 m/s, no force."""
    system = textbook.sled(most=100.0)
    problem = Problem(system)
    for k in range(phases):
        problem = problem.phase(f"part {k}", duration=1.0 / phases)
    problem = problem.begin(x=0.3).require("far", system["x"] - initial("x"), equal=2.0, at="end")
    problem = problem.require("as fast", system["v"] - initial("v"), equal=0.0, at="after")
    effort = Integral("effort", system["force"] ** 2)
    found = problem.minimise(effort).solve(intervals=2, control="linear", backend="virtual")
    assert found.ok, found.status
    assert found.phases[-1].x[-1] == pytest.approx([2.3, 2.0], abs=SOLVED)
    assert found.cost == pytest.approx(0.0, abs=SOLVED)


def test_a_linear_cost_of_the_beginning_needs_no_unknown():
    system = textbook.sled(most=100.0)
    problem = Problem(system).phase(duration=1.0).begin(x=(-1, 1), v=0)
    effort = Integral("effort", system["force"] ** 2)
    found = problem.minimise(3 * initial("x") + effort).solve(
        intervals=2, control="constant", backend="virtual"
    )
    assert found.cost == pytest.approx(-3.0, abs=1e-6)


def test_discrete_states_are_carried_through_phases_that_do_not_use_them():
    """A ball remembers where it bounced, while it rises and falls again; the last phase asks for it."""
    height, velocity = State("height", 1.0, "m"), State("velocity", 0.0, "m/s")
    x, struck, g = State("x", 0.0, "m"), Discrete("struck", 0.0, "m"), Param("g", 9.81, "m/s^2")
    bounce = Event("bounce", -height.sym, reset={velocity: -velocity.sym, struck: x})
    ball = System(
        "ball",
        x=(height, velocity, x),
        z=(struck,),
        p=(g,),
        flow={height: velocity, velocity: -g.sym, x: 1.0},
        events=(bounce, Event("apex", -velocity.sym), Event("low", 0.1 - height.sym)),
    )
    problem = (
        Problem(ball).phase("down", until="bounce").phase("up", until="apex").phase("again", until="low")
    )
    problem = problem.begin(velocity=0, x=0).require("place", ball["struck"], equal=0.2, at="end")
    found = problem.solve({"duration": 0.3}, intervals=3, backend="virtual")
    assert found.ok, found.status
    assert found.phases[0].duration == pytest.approx(0.2, abs=SOLVED)
    assert found.x0["height"] == pytest.approx(9.81 * 0.2**2 / 2, abs=SOLVED)


def test_what_is_refused():
    system = textbook.sled(most=100.0)
    problem = Problem(system)
    with pytest.raises(UnknownNameError, match=r"jump of phase 'one' sets 'w', which is no state of 'sled'"):
        problem.phase("one", duration=1.0, jump={"w": 0.0})
    with pytest.raises(ModelError, match="gives 'v' 2 numbers: it has 1"):
        problem.phase("one", duration=1.0, jump={"v": [0.0, 1.0]})
    with pytest.raises(ModelError, match="uses a total of the motion for 'v'"):
        problem.phase("one", duration=1.0, jump={"v": initial("v")})
    with pytest.raises(ModelError, match="ends with 'bounce' and has a jump of its own: the event says what"):
        Problem(textbook.bouncer()).phase("one", until="bounce", jump={"height": 0.0})
    with pytest.raises(UnknownNameError, match="'speed' is no state of 'sled'"):
        problem.minimise(initial("speed"))
    with pytest.raises(
        ModelError, match="uses the initial value 'initial_x', which is known at the end only"
    ):
        problem.require("r", initial("x"), high=1.0)
    with pytest.raises(ModelError, match="give the name of a state"):
        initial("")
    assert initial("x") is initial("x")
    assert math.isinf(initial("x").bounds[1])
