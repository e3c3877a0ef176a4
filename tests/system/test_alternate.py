"""Systems that take turns, each with states of its own."""

import math

import casadi as ca
import numpy as np
import pytest
from examples import polar_hopper

import strut
from strut import Event, Input, Param, Sample, State, Switch, System, gait, optimal, walkers
from strut.errors import ModelError, UnknownNameError
from strut.system import activate
from tests.examples.gallery import check_printed

SAME_TIME = 1e-8
"""[s] Events of one motion in two kinds of coordinates, each integrated to 1e-10 over three steps."""
EXACT = {"accuracy": 1e-9, "cost_accuracy": 1e-7, "backend": "virtual"}
"""How an optimum is found in both kinds of coordinates: inputs cost at most 1e-7 too much."""
SAME_COST = 1e-6
"""Relative: by this optima found so may differ."""


def falling(name="falling", height="height", event="ground"):
    """A stone, a state of its own each."""
    h, v = State(height, 1.0, "m"), State(f"{height}_rate", 0.0, "m/s")
    return System(name, x=(h, v), flow={h: v, v: -9.81}, events=(Event(event, -h),))


def test_a_hopper_in_polar_coordinates_is_one_in_cartesian_coordinates():
    """Two phases of another system each, against `walkers.slip`, whose states are the same all along."""
    hop, slip = polar_hopper.hopper(), walkers.slip()
    polar, cartesian = strut.simulate(hop, 1.0), strut.simulate(slip, 1.0)
    ours = [(e.name, e.t) for e in polar.events]
    theirs = [(e.name, e.t) for e in cartesian.events]
    assert [name for name, _ in ours] == [name for name, _ in theirs]
    assert len(ours) >= 6
    assert [t for _, t in ours] == pytest.approx([t for _, t in theirs], abs=SAME_TIME)
    in_the_air = ours[3][1] + 0.01
    for name in ("x", "y", "vx", "vy"):
        assert polar.at(in_the_air)[name] == pytest.approx(cartesian.at(in_the_air)[name], abs=1e-7)
    held = [polar.at(t)["leg"] for t in (in_the_air, in_the_air + 0.01)]
    assert held[0] == held[1]  # the leg is not active
    assert polar.ledger.relative < 1e-9


def test_its_gait_and_multipliers_are_those_of_the_other_coordinates():
    hop, slip = polar_hopper.hopper(), walkers.slip()
    polar = polar_hopper.settled_gait(hop)
    assert polar.period > 0.2  # s
    cartesian = gait.find(slip, {name: polar.x0[name] for name in ("x", "y", "vx", "vy")})
    assert polar.period == pytest.approx(cartesian.period, rel=1e-8)
    assert polar.step_length == pytest.approx(cartesian.step_length, rel=1e-8)
    ours, theirs = (np.sort(np.abs(g.multipliers))[::-1][:2] for g in (polar, cartesian))
    assert ours == pytest.approx(theirs, abs=1e-6)


def cartesian_hopper():
    """`walkers.slip` with a push along its leg."""
    slip, push = walkers.slip(), Input("push", 0.0, "N")
    leg = ca.hypot(slip["x"] - slip["foot"], slip["y"])
    along = {"vx": (slip["x"] - slip["foot"]) / leg, "vy": slip["y"] / leg}
    flow = {**slip.flow}
    for name, part in along.items():
        flow[name] = flow[name] + slip["stance"] * push.sym * part / slip["mass"]
    return slip.replace(u=(push,), flow=flow, walk=None)


def test_a_motion_over_phases_of_other_systems_is_the_optimum_of_one():
    """The least push for a hop 5 cm higher, in polar and Cartesian coordinates while it stands."""
    hop = polar_hopper.hopper()
    ours = polar_hopper.higher_hop(hop, 0.05, **EXACT)
    assert ours.ok, ours.wrong
    other = cartesian_hopper()
    effort = optimal.Integral("effort", other["push"] ** 2 / 1e6)
    theirs = (
        optimal.Problem(other)
        .phase("down", until="touchdown")
        .phase("ground", until="takeoff")
        .phase("up", duration=(0.05, 1.0))
        .begin(x=0.0, y=1.0, vx=5.0, vy=0.0)
        .end(y=1.05, vx=5.0, vy=0.0)
        .free(attack=(1.0, 1.4))
        .minimise(effort)
        .solve(strut.simulate(other, 0.4), intervals=8, **EXACT)
    )
    assert theirs.ok, theirs.wrong
    assert ours.cost == pytest.approx(theirs.cost, rel=SAME_COST)
    assert ours.parameters["attack"] == pytest.approx(theirs.parameters["attack"], abs=1e-6)
    # While it flies nothing pushes, and states of the leg are held.
    down, _, up = ours.phases
    assert not down.w.any()
    assert not up.w.any()
    assert np.ptp(up.x[:, list(hop.labels("x")).index("leg")]) < 1e-12
    assert optimal.replay(ours).stays


def test_the_example_prints_what_the_gallery_says(capsys):
    higher = polar_hopper.main()
    assert higher.ok
    check_printed("polar_hopper.py", capsys.readouterr().out)


def two_stages(payload=1.0, propellant=10.0, structure=0.1, exhaust=3.0):
    """A rocket in free space: a mass for each stage, one speed for both."""
    v, share = State("v", 0.0, "km/s"), Param("share", 0.6, bounds=(0.1, 0.95))
    first, second = State("first_mass", 12.0, "t"), State("second_mass", 5.0, "t")
    whole = payload + (1 + structure) * propellant
    lower = System(
        "lower",
        x=(v, first),
        p=(share,),
        flow={v: exhaust / first.sym, first: -1.0},
        events=(Event("burnt_out", whole - share * propellant - first),),
    )
    second_whole = payload + (1 + structure) * (1 - share.sym) * propellant
    upper = System(
        "upper",
        x=(v, second),
        p=(share,),
        flow={v: exhaust / second.sym, second: -1.0},
        events=(Event("empty", second_whole - (1 - share) * propellant - second),),
    )
    return strut.alternate(
        "rocket", lower, upper, switches={"burnt_out": Switch("upper", {"second_mass": second_whole})}
    )


def test_the_best_staging_of_a_rocket_is_known_by_hand():
    """Of two equal stages both have the same payload ratio: the second weighs sqrt(1 * 12) t."""
    rocket = two_stages()
    problem = (
        optimal.Problem(rocket)
        .phase("first", until="burnt_out", part="lower")
        .phase("second", until="empty", part="upper")
        .begin(v=0.0, first_mass=12.0)
        .free("share")
        .minimise(-rocket["v"])
    )
    best = problem.solve(intervals=8, accuracy=1e-10, backend="virtual")
    assert best.ok, best.wrong
    by_hand = math.sqrt(12.0)
    second = (by_hand - 1.0) / 1.1
    assert best.parameters["share"] == pytest.approx(1 - second / 10.0, abs=1e-6)
    ratio = by_hand / (by_hand - second)
    assert -best.cost == pytest.approx(2 * 3.0 * math.log(ratio), rel=1e-8)
    assert optimal.replay(best).stays


def test_a_part_may_also_follow_by_time():
    """A phase that ends by time, behind a jump that says where the states of the next begin."""
    rocket = two_stages()
    jump = {"second_mass": 5.0}
    problem = (
        optimal.Problem(rocket)
        .phase("first", duration=6.0, part="lower", jump=jump)
        .phase("second", duration=2.0, part="upper")
        .begin(v=0.0, first_mass=12.0)
    )
    flown = problem.solve(intervals=8, backend="virtual")
    assert flown.ok, flown.wrong
    by_hand = 3.0 * (math.log(12 / 6) + math.log(5 / 3))
    assert flown.phases[-1].x[-1][0] == pytest.approx(by_hand, rel=1e-8)
    assert optimal.replay(flown).stays


def test_what_is_refused():
    one, two = falling(), falling("rising", "rise", "top")
    with pytest.raises(ModelError, match="alternates between 'falling': give two parts or more"):
        strut.alternate("whole", one)
    with pytest.raises(ModelError, match="have a quantity 'height' each: use one object in both where it is"):
        strut.alternate("whole", one, falling("other", event="floor"))
    with pytest.raises(ModelError, match="have an event 'ground' each: give each a name of its own"):
        strut.alternate("whole", one, falling("other", "rise"))
    with pytest.raises(UnknownNameError, match="switches with 'tip', which is no event of its parts"):
        strut.alternate("whole", one, two, switches={"tip": Switch("rising")})
    with pytest.raises(UnknownNameError, match="'ground' switches to 'falling', which is no other part"):
        strut.alternate("whole", one, two, switches={"ground": Switch("falling")})
    with pytest.raises(ModelError, match="does not say where its state 'rise_rate' begins"):
        strut.alternate("whole", one, two, switches={"ground": Switch("rising", {"rise": 0.0})})
    with pytest.raises(UnknownNameError, match="begins 'rising' with 'height', which is no state of it"):
        strut.alternate("whole", one, two, switches={"ground": Switch("rising", {"height": 0.0})})
    sampled = two.replace(samples=(Sample("tick", 0.1, {"rise": 1.0}),))
    with pytest.raises(ModelError, match="part 'rising' of 'whole' has samples: parts that take turns have"):
        strut.alternate("whole", one, sampled)
    g = Param("g", 9.81)
    heavy = [System(n, x=(s := State(n, 0.0),), p=(g,), flow={s: -g.sym}) for n in ("one", "two")]
    with pytest.raises(ModelError, match=r"'g' is .*9.81.* in one part of 'whole' and .*1.62.* in another"):
        strut.alternate("whole", heavy[0], heavy[1].using(g=1.62))
    whole = strut.alternate("whole", one, two)
    assert activate(whole, "rising") == {"falling.active": 0.0, "rising.active": 1.0}
    with pytest.raises(UnknownNameError, match="'whole' has no part 'risin': did you mean 'rising'"):
        optimal.Problem(whole).phase("up", part="risin")
    with pytest.raises(UnknownNameError, match="'falling' has no part 'up': it is none of several parts"):
        optimal.Problem(one).phase("up", part="up")


def test_a_state_that_is_called_active_takes_no_turns():
    """What takes turns is told by the kind of its flags, never by a name."""
    from strut.system import is_alternating, switching_events

    x, active = State("x", 1.0), strut.Discrete("active", 1.0)
    plain = strut.System("lamp", x=[x], z=[active], flow={x: -active * x})
    leg = strut.add_prefix(plain, "leg")
    assert [q.name for q in leg.z] == ["leg.active"]
    assert not is_alternating(leg)
    assert switching_events(leg) == []
