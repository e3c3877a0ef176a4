"""Flows that jump: located, their derivatives are those of central differences; not located, they are wrong."""

import casadi as ca
import numpy as np
import pytest

from strut import gait, walkers
from strut.errors import ModelError, UnknownNameError
from strut.simulate import simulate
from strut.studies.human_stability import without_contact_times
from strut.system import Event, Param, State, System

DIFFERENCE = 1e-5  # of a state, on both sides
AGREEMENT = 1e-7  # central differences of runs to 1e-12 have errors of about 1e-9 here


def damped_beyond():
    """A mass on a spring, pushed once a turn, with a damper that acts beyond a place alone."""
    q, v, phase = State("q", 0.3), State("v", 0.1, "1/s"), State("phase", 0.0)
    damping = Param("damping", 3.0)
    rate = -4 * q.sym + 2 * ca.sin(2 * np.pi * phase.sym) - damping.sym * (q.sym > 0.1) * v.sym
    return System(
        "damped_beyond",
        x=(q, v, phase),
        p=(damping,),
        flow={"q": v.sym, "v": rate, "phase": 0.5},
        events=(Event("turn", guard=phase.sym - 1, reset={"phase": phase.sym - 1}),),
    )


def turn_by_differences(system):
    """The derivative of a turn by q and v, by central differences of runs."""
    columns = []
    for name in ("q", "v"):
        ends = []
        for sign in (1, -1):
            x0 = {"q": 0.3, "v": 0.1, "phase": 0.0}
            x0[name] += sign * DIFFERENCE
            run = simulate(system, 2.0, x0=x0, rtol=1e-12, atol=1e-14)
            ends.append(np.array([run["q"][-1], run["v"][-1]]))
        columns.append((ends[0] - ends[1]) / (2 * DIFFERENCE))
    return np.array(columns).T


def test_a_damper_that_begins_somewhere_is_located():
    system = damped_beyond()
    located = gait.locate_jumps(system)
    assert [q.name for q in located.z] == ["jump_1"]
    assert {"jump_1_on", "jump_1_off"} < {event.name for event in located.events}
    exact = turn_by_differences(located)
    ends = [simulate(each, 2.0, rtol=1e-12, atol=1e-14)["q"][-1] for each in (system, located)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)  # the run is the same
    ours = gait.ReturnMap(located, "turn")([0.3, 0.1, 0.0]).by_y[:2, :2]
    np.testing.assert_allclose(ours, exact, atol=AGREEMENT)
    blind = gait.ReturnMap(system, "turn")([0.3, 0.1, 0.0]).by_y[:2, :2]
    assert np.abs(blind - exact).max() > 1e-2


def test_what_is_continuous_or_said_stays_as_it_is():
    system = damped_beyond()
    smooth = system.using(damping=0.0)
    assert gait.locate_jumps(smooth) is smooth
    assert gait.locate_jumps(system, besides=["q"]) is system
    with pytest.raises(UnknownNameError, match="has no state 'angle'"):
        gait.locate_jumps(system, besides=["angle"])


def test_ligaments_and_assistance_of_a_human_are_found_and_exchanged():
    """Ten soft contacts press from zero on: none of them jumps."""
    human = without_contact_times(walkers.human(events=False))
    located = gait.locate_jumps(human)
    assert [q.name for q in located.z] == ["jump_1", "jump_2", "jump_3"]
    changed = {name: str(value) for name, value in located.symmetry.items() if name.startswith("jump")}
    assert sorted(changed.values()) == ["jump_1", "jump_2", "jump_3"]
    assert sum(name == value for name, value in changed.items()) == 1  # the trunk's
    alone = gait.locate_jumps(human.using(assist=0.0))
    assert [q.name for q in alone.z] == ["jump_1", "jump_2"]


def two_sides(right):
    """Two states with left and right exchanged, each of which turns at a limit that the other one moves."""
    a, b = State("a", 0.3), State("b", -0.2)

    def law(own, other):
        return ca.if_else(own.sym > ca.if_else(other.sym > 0.1, 0.2, 0.4), -1.0, 1.0)

    return System(
        "two_sides", x=(a, b), flow={a: law(a, b), b: right(law, a, b)}, symmetry={"a": b.sym, "b": a.sym}
    )


def test_comparisons_that_read_others_are_exchanged():
    located = gait.locate_jumps(two_sides(lambda law, a, b: law(b, a)))
    changed = {q.name: str(located.symmetry[q.name]) for q in located.z}
    assert changed == {"jump_1": "jump_2", "jump_2": "jump_1"}  # of the limits themselves none


def test_a_jump_without_a_partner_is_refused():
    with pytest.raises(ModelError, match=r"'two_sides' jumps where .* write the law of both sides alike"):
        gait.locate_jumps(two_sides(lambda law, a, b: -b.sym))
