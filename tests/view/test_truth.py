"""What pages and the command line say is true: failures, rounding, units, rows that are left out, one colour for one thing."""

import re

import numpy as np
import pytest

import strut
from strut import Event, Ledger, Param, State, System, gait, optimal, report, view, walkers
from strut.errors import ModelError, UnknownNameError
from strut.optimal.walk.sweep_file import SweepPoint
from strut.report.gait import LISTED_GAITS
from strut.report.sweep import figures as sweep_figures
from strut.simulate.simulate import LedgerWarning
from strut.simulate.trajectory import Trajectory
from strut.view.figures import energy_plots as joules
from strut.view.figures import plots
from strut.view.pages.page import document

pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def fallen():
    return strut.simulate(walkers.compass(slope=strut.deg(3)), t=10, x0={"stance_rate": -0.3})


def test_a_fall_is_a_failure(fallen, tmp_path):
    assert fallen.status == "sit"
    assert fallen.ended_in_failure
    assert not fallen.ok
    assert fallen.ending_meaning == "it fell: the hip came down behind"
    text = document(fallen)
    assert (
        '<span class="stopped">Failed</span> at 0.542181 s, event “sit”: it fell: the hip came down behind.'
        in text
    )
    again = Trajectory.load(fallen.save(tmp_path / "fall.h5"))
    assert again.ended_in_failure
    assert again.ending_meaning == fallen.ending_meaning
    batch = strut.simulate_batch(
        walkers.compass(slope=strut.deg(3)), 3.0, x0={"stance_rate": [-0.3, -1.0923836]}
    )
    assert batch.ok.tolist() == [False, True]


def test_an_event_that_only_ends_a_run_is_neither_good_nor_bad():
    x = State("x")
    done = Event("there", x - 1, terminal=True, description="it arrived")
    run = strut.simulate(System("cart", x=(x,), flow={x: 1.0}, events=(done,)), t=5)
    assert run.ok
    assert '<span class="ended">Ended</span> at 1 s by the event “there”: it arrived.' in document(run)


def test_a_failure_ends_the_run():
    x = State("x")
    with pytest.raises(
        ModelError,
        match="event 'fall' is a failure and not terminal: a failure ends the run, say terminal=True",
    ):
        Event("fall", x, failure=True)


def test_all_terminal_events_of_walkers_mean_something():
    for make in (
        walkers.compass,
        walkers.compass_duindam,
        walkers.simplest,
        walkers.slip,
        walkers.kneed,
    ):
        for event in (e for e in make().events if e.terminal):
            assert event.description, event.name
            assert event.failure or event.name == "finished", event.name


# ---- units ----


def test_a_machine_whose_scales_are_1_has_no_units(tmp_path):
    runner = walkers.slip(mass=1, length=1, stiffness=10.7, attack=strut.deg(60), g=1).using(vx=1.25)
    assert runner.dimensionless
    assert not runner.using(g=9.81).dimensionless
    assert not walkers.slip().dimensionless
    assert walkers.simplest().dimensionless
    run = strut.simulate(runner, t=3)
    text = re.sub(r"<script.*?</script>|<style.*?</style>", "", document(run), flags=re.S).split(
        "Where it comes from"
    )[0]
    assert not re.search(r"\[(s|m|m/s|J|N|kg)\]|\d (s|m|J|N)\b(?! \()", text.replace(" ms", ""))
    assert "none: mass, length, g are 1" in text
    assert all(
        "[" not in figure.x + figure.y.replace("[rad]", "")
        for figure in (*plots.states(run), joules.energy(run), joules.residual(run))
    )
    assert joules.energy_flow(run).traces[0].unit == ""
    other = strut.simulate(runner, t=3, p={"g": 9.81})  # the values of the run count
    assert not other.dimensionless
    assert joules.energy(other).y == "energy [J]"
    assert Trajectory.load(run.save(tmp_path / "run.h5")).dimensionless


def test_scales_are_parameters_and_stay_when_joined():
    x, g = State("x", 0.0, "m"), Param("g", 1.0, "m/s^2")
    with pytest.raises(
        UnknownNameError, match="scales of system 'fall' name 'gravity', which is no parameter: known: g"
    ):
        System("fall", x=(x,), p=(g,), flow={x: g.sym}, scales=("gravity",))
    part = strut.add_prefix(System("fall", x=(x,), p=(g,), flow={x: g.sym}, scales=("g",)), "left")
    assert part.scales == ("left.g",)
    assert part.dimensionless


# ---- rounding ----


@pytest.fixture(scope="module")
def idle():
    """A ball on a spring that falls, with a motor that does next to nothing."""
    x, v, push = State("x", 1.0, "m"), State("v", 0.0, "m/s"), Param("push", 1e-9, "N")
    books = Ledger(
        stored={"kinetic": v**2 / 2, "spring": x**2 / 2},
        supplied={"motor": push * v},
        dissipated={"damper": 0.1 * v**2},
    )
    return strut.simulate(
        System("idle", x=(x, v), p=(push,), flow={x: v, v: push - x - 0.1 * v}, ledger=books), t=5
    )


def test_what_is_below_the_resolution_of_the_account_is_zero(idle):
    account = idle.ledger
    assert 0 < abs(account.summary()["motor (supplied)"]) <= account.resolution <= 1e-6 * account.turnover
    assert account.rounded_summary()["motor (supplied)"] == 0
    assert account.rounded_summary()["damper (dissipated)"] == account.summary()["damper (dissipated)"]
    sources, sinks = joules.flows(idle)
    assert "motor (supplied)" not in {**sources, **sinks}
    assert not np.any(joules.energy(idle).by_name["motor, supplied"].y)


def test_a_books_error_is_not_hidden():
    """An account that does not close keeps its small entries: only rounding is left out."""
    x, v = State("x", 1.0), State("v")
    wrong = Ledger(stored={"spring": x**2 / 2}, dissipated={"leak": 1e-3 * v**2})
    with pytest.warns(LedgerWarning):
        run = strut.simulate(System("leaky", x=(x, v), flow={x: v, v: -x}, ledger=wrong), t=5)
    assert run.ledger.residual > 0.1
    assert run.ledger.rounded_summary()["leak (dissipated)"] < 0


def test_one_channel_has_one_colour(idle):
    colors = joules.channel_colors(idle)
    assert len(set(colors.values())) == 4
    lines = joules.energy(idle).by_name
    assert {name.split(",")[0]: line.color for name, line in lines.items() if name != "all stored"} == colors
    areas = joules.energy_areas(idle).traces[0]
    assert (
        dict(zip((name.split(",")[0] for name in areas.layers), areas.colors, strict=True)).items()
        <= colors.items()
    )
    flow = joules.energy_flow(idle).traces[0]
    assert {name.split(" (")[0]: color for name, color in flow.colors.items()}.items() <= colors.items()


# ---- gaits and designs ----


def test_rows_that_are_left_out_are_counted_and_all_doublings_listed():
    compass = walkers.compass(slope=strut.deg(3))
    found = gait.find(compass)
    branch = gait.follow(compass, "slope", strut.deg(5.1), start=found, points=60)
    doubled = branch.bifurcations[0].doubled(to=strut.deg(5.1), points=40)
    result = report.gait_result(found, branches=[branch, doubled])
    chapter = next(c for c in result.chapters if c.heading == "Over slope")
    table, special = chapter.tables
    assert len(branch) > LISTED_GAITS
    assert table.title == f"{LISTED_GAITS} of {len(branch)} rows; all are in sweep-*.csv"
    assert len(table.rows) == LISTED_GAITS
    drawn = next(t for t in chapter.figures["sweep_stance"].traces if t.name == "doubling")
    assert [row[:2] for row in special.rows] == [("doubling", 1), ("doubling", 2)]
    assert len(drawn.x) == len(special.rows)


def test_a_multiplier_of_one_is_on_the_circle():
    names = [t.name for t in view.multipliers([1 - 1e-10, 0.5, 1.2]).traces]
    assert names == ["unit circle", "inside", "on the circle", "outside"]


def test_a_sweep_says_which_gaits_are_stable():
    numbers = {"cost": 1e-13, "largest multiplier": 1.006}
    points = tuple(
        SweepPoint(v, True, "solved", {**numbers, "largest multiplier": m, "cost": c})
        for v, m, c in ((0.7, 1.006, 2.0), (0.8, 0.57, -3e-8), (0.9, 0.5, 1.0))
    )
    sweep = optimal.TradeOff("speed", "m/s", points, 1.0, None)
    head, rows = sweep.rows()
    assert [dict(zip(head, row, strict=True))["stable"] for row in rows] == ["no", "yes", "yes"]
    assert rows[1][head.index("cost")] == 0
    assert sweep.rows(rounded=False)[1][1][head.index("cost")] == -3e-8
    plot = sweep_figures(sweep)["largest_multiplier"].by_name
    np.testing.assert_array_equal(plot["1: above it unstable"].y, [1, 1])
    np.testing.assert_array_equal(plot["unstable"].x, [0.7])
    result = report.sweep_result(sweep)
    assert "2 of 3 gaits are stable" in result.verdict
    assert result.facts["stable"] == "2"


@pytest.fixture(scope="module")
def impossible():
    compass = walkers.compass(slope=strut.deg(3))
    return optimal.design(compass, cost="energy", speed=9.0, torque=1.0, iterations=60, accuracy=None)


def test_a_failed_design_has_no_cost_and_the_advice(impossible):
    result = report.design_result(impossible)
    assert result.good == "Not found"
    assert result.headline["cost (energy)"] == "none: not solved"
    assert "speed, where it stopped" in result.headline
    assert "speed" not in result.headline
    assert "try --cost energy=1,squared-torque=0.1, or --torque" in result.remarks
    assert "no number of it is a result" in result.remarks
    assert {n: v for n, v, _ in impossible.rows()}["cost (energy)"] == "none: not solved"


def test_a_passive_design_shows_no_rounding():
    compass = walkers.compass(slope=strut.deg(3))
    design = optimal.design(compass, cost="squared-torque", guess=gait.find(compass))
    result = report.design_result(design)
    rows = {n: v for n, v, _ in design.rows()}
    assert abs(design.result.cost) < 1e-9
    assert rows["cost (squared-torque)"] == rows["work of the motors"] == 0
    assert result.headline["cost (squared-torque)"] == "0"
    torques = next(c for c in result.chapters if c.heading == "The plan").figures["torques"]
    assert torques.height_span == (-1, 1)
