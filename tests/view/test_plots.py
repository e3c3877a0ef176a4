"""Every figure shows what was computed: its data is the result's, its axes have units, and both ways of drawing it agree."""

import sys
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

import strut
from strut import contact, view, walkers
from strut.errors import MissingExtraError, ModelError, ShapeError, StorageError, UnknownNameError
from strut.report.gait import gait_run
from strut.view.figures import matplotlib_backend, plots
from strut.view.figures import plotly_backend as interactive
from strut.view.figures.figure import Areas, Cells, Figure, Flow, Line, Points, Trace
from strut.view.pages.result_file import TRACES


@pytest.fixture(scope="module")
def walk(compass):
    return compass


@pytest.fixture(scope="module")
def swing():
    return strut.simulate(walkers.pendulum(damping=0.1), t=10)


def every_figure(walk, swing, walker):
    return {
        "plot": view.plot(walk, "stance", "swing")[0],
        "held": view.internal_signals(walk)[0],
        "stride": view.stride_angles(walk)[0],
        "leg portrait": view.stride_portraits(walk)[0],
        "convergence": view.convergence(walk),
        "phase": view.phase_portrait(walk, "stance", "stance_rate"),
        "poincare": view.poincare(walk, "stance_rate", "stance"),
        "section": view.sections(walk)[0],
        "energy": view.energy(swing),
        "areas": view.energy_areas(swing),
        "flow": view.energy_flow(swing),
        "per step": view.energy_per_step(walk),
        "forces": view.contact_forces(walk),
        "cone": view.friction_cone(walk),
        "multipliers": view.multipliers(walker.gait),
        "bifurcation": view.bifurcation([walker.branch, walker.doubled]),
        "periods": view.bifurcation(walker.branch, "period"),
        "basin": view.basin(walker.basin),
        "counts": view.basin(
            [[3, 4], [np.nan, 7]], [0, 1], [0, 1], "angle [rad]", "rate [rad/s]", title="steps [1]"
        ),
        "trade-off": view.trade_off([1, 2, 3], [3, 1, 2], "speed [m/s]", "cost of transport [1]"),
    }


# ---- curves ----


def test_plot_by_name(walk):
    panels = walk.plot("stance", "swing", "stance_rate")
    assert [figure.y for figure in panels] == ["[rad]", "stance_rate [rad/s]"]
    assert [figure.x for figure in panels] == ["time [s]"] * 2
    line = panels[0].by_name["swing"]
    at_points = np.isin(line.x, walk.t)
    np.testing.assert_array_equal(line.y[at_points], walk["swing"])
    assert {name: times.tolist() for name, times in panels[0].marks.items()} == {
        name: walk.events.times(name).tolist() for name in ("passes", "heel_strike")
    }
    assert walk.plot("swing", events=False)[0].marks == {}
    assert list(walk.plot()[0].by_name) == ["stance", "swing"]
    assert walk.plot("steps")[0].by_name["steps"].step
    with pytest.raises(UnknownNameError, match="did you mean 'swing'"):
        walk.plot("swin")
    with pytest.raises(UnknownNameError, match="'slope' is a parameter and does not change"):
        walk.plot("slope")


def test_outputs_are_titled_by_unit(walk):
    titles = {label: figure.y for figure in view.outputs(walk) for label in figure.by_name}
    assert titles["com_x"] == "[m]"
    assert titles["speed"] == "speed [m/s]"
    assert titles["stance_normal"] == "[N]"


def test_poincare_is_the_state_at_the_event(walk):
    after = [event.after["stance_rate"] for event in walk.events if event.name == "heel_strike"]
    figure = view.poincare(walk, "stance_rate")
    points = figure.by_name["after heel_strike"]
    assert points.y.tolist() == after
    assert points.x.tolist() == list(range(1, len(after) + 1))
    assert (figure.x, figure.y) == ("step", "stance_rate [rad/s]")
    other = view.poincare(walk, "stance", "swing", event="passes", before=True)
    expected = [
        (event.before["swing"], event.before["stance"]) for event in walk.events if event.name == "passes"
    ]
    points = other.by_name["before passes"]
    assert list(zip(points.x, points.y, strict=True)) == expected
    with pytest.raises(UnknownNameError, match="there is no event 'jump'"):
        view.poincare(walk, "stance", event="jump")
    with pytest.raises(UnknownNameError, match="'com_x' is no state"):
        view.poincare(walk, "com_x")
    with pytest.raises(ModelError, match="has no event that ends a step: say which to look at, event="):
        view.poincare(strut.simulate(walkers.van_der_pol(), t=1), "x")


def test_a_section_does_not_magnify_rounding(walk):
    low, high = view.poincare(walk, "stance").height_span
    values = view.poincare(walk, "stance").by_name["after heel_strike"].y
    assert low < values.min()
    assert values.max() < high
    assert high - low == pytest.approx(2.3e-4 * np.abs(values).max())


# ---- forces ----


def test_contact_forces_and_cone(walk):
    forces = view.contact_forces(walk)
    assert forces.y == "[N]"
    for name in ("stance_normal", "stance_friction"):
        line = forces.by_name[name]
        np.testing.assert_array_equal(line.y[np.isin(line.x, walk.t)], walk[name])
    cone = view.friction_cone(walk)
    assert (cone.x, cone.y) == ("stance friction [N]", "stance_normal [N]")
    points = cone.by_name["stance"]
    assert set(walk["stance_normal"]) <= set(points.y)
    edge = next(trace for trace in cone.traces if isinstance(trace, Line))
    least = np.max(np.abs(points.x) / points.y)
    assert edge.x[0] / edge.y[0] == pytest.approx(-least)
    assert edge.name == f"least friction that holds, {least:.3g}"
    assert "friction cone, 0.7" in view.friction_cone(walk, mu=0.7).by_name
    with pytest.raises(UnknownNameError, match="no foot 'hand' with friction"):
        view.friction_cone(walk, "hand")
    with pytest.raises(ModelError, match="has no contact forces"):
        view.contact_forces(strut.simulate(walkers.pendulum(), t=1))


@pytest.mark.parametrize(
    ("points", "remark"),
    [(8, "Normal forces alone"), (16, "of the 12 points that are pressed hardest, of 16")],
)
def test_forces_of_many_feet_are_one_figure_and_the_page_says_what_is_not_drawn(points, remark, tmp_path):
    from strut import Mechanism, joints

    plate = Mechanism("plate", planar=True)
    body = plate.body("body", mass=2.0, inertia=0.1)
    plate.joint("base", plate.world, body, joints.planar(), actuated=False)
    feet = [f"foot{k}" for k in range(points)]
    for k, foot in enumerate(feet):
        plate.frame(foot, body, (0.1 * k, 0, 0))
    made = contact.compliant(plate, feet, law=contact.linear(1e4, 50.0), friction=contact.coulomb(0.4))
    run = strut.simulate(made, t=0.02, rtol=1e-6, atol=1e-8)
    drawn = list(view.contact_forces(run).by_name)
    # its mass is above the first foot, so that the first are pressed hardest
    assert drawn == [f"{foot}_normal" for foot in feet][:12]
    assert remark in view.page(run, tmp_path / "plate.html").read_text()


def test_forces_of_a_foot_with_a_coefficient():
    from strut import Mechanism, Param, joints

    block = Mechanism("block", planar=True)
    body = block.body("body", mass=2.0, inertia=0.1)
    block.joint("base", block.world, body, joints.planar(), actuated=False)
    block.frame("foot", body)
    made = contact.compliant(
        block, ["foot"], law=contact.linear(1e4, 50.0), friction=contact.coulomb(Param("rubber", 0.4))
    )
    run = strut.simulate(made.using({"base.vx": 1.0}), t=0.3)
    assert "friction cone, 0.4" in view.friction_cone(run).by_name


@pytest.mark.parametrize("law", [contact.rigid, contact.time_stepped])
def test_the_walk_names_the_coefficient_whatever_it_is_called(law):
    from strut import Mechanism, Param, joints

    block = Mechanism("block", planar=True)
    body = block.body("body", mass=2.0, inertia=0.1)
    block.joint("base", block.world, body, joints.planar(), actuated=False)
    block.frame("foot", body)
    grip, other = Param("grip", 0.3), Param("friction", 0.9)
    assert law(block, ["foot"], friction=grip).walk.feet[0].coefficient == "grip"
    assert law(block, ["foot"], friction=grip + other).walk.feet[0].coefficient == ""
    assert law(block, ["foot"], friction=0.5).walk.feet[0].coefficient == ""


# ---- energy ----


@pytest.mark.parametrize("which", ["walk", "swing"])
def test_layers_are_the_account(which, request):
    run = request.getfixturevalue(which)
    areas, top = view.energy_areas(run).traces
    assert isinstance(areas, Areas)
    books = run.ledger_at(areas.x[1:-1])
    inner = ~np.isin(books.t, run.events.t)
    for name, values in books.stored.items():
        layer = areas.layers.get(f"{name}, stored", np.zeros(len(areas.x)))[1:-1]
        np.testing.assert_allclose((layer - layer[0])[inner], (values - values[0])[inner], atol=1e-9)
        assert layer.min() >= 0
    np.testing.assert_allclose(areas.tops[-1], top.y, atol=1e-6 * top.y.max())  # the books close
    lines = interactive.describe_figure(view.energy_areas(run))["data"]
    np.testing.assert_array_equal(lines[1]["y"], areas.tops[1])


def test_energy_that_is_taken_out_has_a_layer():
    run = strut.simulate(walkers.pendulum(), t=1, x0={"rate": 4.0}, u={"torque": -2.0})
    areas, top = view.energy_areas(run).traces
    assert "motor, taken out" in areas.layers
    np.testing.assert_allclose(areas.tops[-1], top.y, atol=1e-6 * top.y.max())


def test_flow_is_the_summary(swing, walk):
    for run in (swing, walk):
        (flow,) = view.energy_flow(run).traces
        assert isinstance(flow, Flow)
        summary = run.ledger.summary()
        for name, amount in {**flow.sources, **flow.sinks}.items():
            assert amount == abs(summary[name])
        assert sum(flow.sources.values()) == pytest.approx(sum(flow.sinks.values()), rel=1e-6)
    (drawn,) = interactive.describe_figure(view.energy_flow(walk))["data"]
    assert drawn["link"]["value"] == [*flow.sources.values(), *flow.sinks.values()]


def test_energy_per_step_is_the_step_ledger(walk):
    steps, figure = walk.steps(), view.energy_per_step(walk)
    for name in steps.active_channels():
        np.testing.assert_array_equal(figure.by_name[name].y, steps.changes[name][steps.whole])
    assert (figure.x, figure.y) == ("step", "change of stored energy [J]")


def test_ledger_table(walk):
    table = view.ledger_table(walk, most_rows=4)
    assert table.head == [
        "step",
        "until [s]",
        "kinetic (stored)",
        "gravity (stored)",
        "heel_strike (lost in events)",
        "residual",
    ]
    steps = walk.steps()
    assert [row[0] for row in table.rows] == ["1", "2", "…", str(len(steps) - 1), "rest", "all"]
    assert float(table.rows[0][3]) == pytest.approx(steps.changes["gravity (stored)"][0], rel=1e-5)
    assert float(table.rows[-1][4]) == pytest.approx(
        walk.ledger.summary()["heel_strike (lost in events)"], rel=1e-5
    )
    assert str(table).splitlines()[0].split()[0] == "step"
    assert "<table>" in table._repr_html_()
    assert view.ledger_table(walk, most_columns=2).head[2:-1] == ["stored", "lost"]


# ---- gaits and designs ----


def test_multipliers(walker):
    figure = view.multipliers(walker.gait)
    circle = figure.by_name["unit circle"]
    np.testing.assert_allclose(circle.x**2 + circle.y**2, 1)
    inside = figure.by_name["inside"]
    np.testing.assert_array_equal(inside.x + 1j * inside.y, walker.gait.multipliers)
    assert "outside" not in figure.by_name
    assert figure.equal
    some = view.multipliers(np.array([0.5, 1.4]))
    assert some.by_name["outside"].labels == ("1.4+0j, modulus 1.4",)
    named = view.multipliers({"long": [0.5], "short": [2.0]}).by_name
    assert {"long, inside", "short, outside"} <= set(named)


def test_bifurcation(walker):
    """The compass gait doubles at 4.39 degrees: one branch before it, and both values of the limping gait after it."""
    branch, doubled = walker.branch, walker.doubled
    figure = view.bifurcation([branch, doubled], "stance")
    assert (figure.x, figure.y) == ("slope [rad]", "stance [rad]")
    stable, unstable = figure.by_name["1 step, stable"], figure.by_name["1 step, unstable"]
    (special,) = branch.bifurcations
    (n,) = np.flatnonzero(np.diff(branch.stable)) + 1
    values, meet = branch.values("stance"), special.point.y[branch.names.index("stance")]
    np.testing.assert_array_equal(stable.x, np.insert(branch.parameter, n, special.at))
    np.testing.assert_array_equal(
        stable.y, np.concatenate([values[:n], [meet], np.full(len(values) - n, np.nan)])
    )  # no further
    np.testing.assert_array_equal(unstable.y, np.concatenate([np.full(n, np.nan), [meet], values[n:]]))
    assert np.isnan(unstable.y[:5]).all()
    assert (stable.dash, unstable.dash) == ("solid", "dash")
    limping = figure.by_name["2 steps, stable"]
    first, second = np.split(limping.y[~np.isnan(limping.x)], 2)
    np.testing.assert_array_equal(first[doubled.stable], doubled.values("stance")[doubled.stable])
    np.testing.assert_array_equal(
        second[doubled.stable], doubled.values_after_steps("stance")[1][doubled.stable]
    )
    assert abs(first[-1] - second[-1]) > 0.01  # [rad]: it limps
    step = walker.gait.map().system  # the second value is where one step leads from the first
    run = strut.simulate(
        step.using({"slope": doubled.parameter[-1]}),
        t=1.0,
        x0=dict(zip(doubled.names, doubled.points[-1].y, strict=True)),
    )
    landed = next(event for event in run.events if event.name == doubled.section)
    assert landed.after["stance"] == pytest.approx(doubled.values_after_steps("stance")[1][-1], abs=1e-7)
    point = figure.by_name["doubling"]
    assert (point.x.tolist(), point.y.tolist()) == (
        [special.at],
        [special.point.y[branch.names.index("stance")]],
    )
    periods = view.bifurcation([branch, doubled], "period")
    assert periods.y == "time of a step [s]"
    at = periods.by_name["2 steps, stable"]
    one, other = doubled.values_after_steps("period")  # each step of a limping gait has its own time
    count = len(doubled.stable)
    np.testing.assert_array_equal(at.y[:count][doubled.stable], one[doubled.stable])
    np.testing.assert_array_equal(at.y[count + 1 :][doubled.stable], other[doubled.stable])
    np.testing.assert_allclose(one + other, doubled.period)
    both = view.bifurcation([branch, branch])
    assert [trace.name for trace in both.traces] == ["stable", "unstable", "doubling"]


def test_bifurcation_of_plain_data():
    plain = {"values": [1, 2, 3], "stable": [True, True, True], "T": [4, 5, 6]}
    assert view.bifurcation(plain, "T", "p", {"T": "s"}).by_name["stable"].y.tolist() == [4, 5, 6]
    special = {"kind": "fold", "at": 2.5, "values": {"T": 5.5}}
    point = view.bifurcation(
        {**plain, "parameter": "p", "units": {"p": "N"}, "points": [special]}, "T"
    ).by_name["fold"]
    assert (point.x.tolist(), point.y.tolist()) == ([2.5], [5.5])
    last = view.bifurcation(
        {**plain, "stable": [True, True, False]}, "T"
    ).by_name  # halfway, where nothing is known
    assert (last["stable"].x.tolist(), last["stable"].y.tolist()[:3]) == ([1, 2, 2.5, 3], [4, 5, 5.5])
    assert np.isnan(last["stable"].y[3])
    assert last["unstable"].y.tolist()[2:] == [5.5, 6]
    turning = {
        "values": [1, 2, 1.9],
        "stable": [True, True, False],
        "T": [4, 5, 6],
    }  # a fold lies beyond both neighbours
    folded = view.bifurcation(
        {**turning, "points": [{"kind": "fold", "at": 2.1, "values": {"T": 5.4}}]}, "T"
    ).by_name
    assert (folded["unstable"].x.tolist()[2:], folded["unstable"].y.tolist()[2:]) == ([2.1, 1.9], [5.4, 6])
    assert view.bifurcation({"values": [], "stable": [], "T": []}, "T").traces == ()
    with pytest.raises(UnknownNameError, match="a dict has no 'stable', which the figure needs"):
        view.bifurcation({"values": [1], "T": [1]}, "T")
    with pytest.raises(ShapeError, match="they must be alike"):
        view.bifurcation({"values": [1, 2], "stable": [True], "T": [1, 2]}, "T")


def test_basin_of_a_gait(walker):
    figure, found = view.basin(walker.basin), walker.basin
    cells, cross = figure.traces
    assert cells.names[0] == "walks"
    words = np.vectorize(cells.names.get)(cells.values.astype(int))
    np.testing.assert_array_equal(words, found.label.T)  # rows are the second state
    np.testing.assert_array_equal(cells.x, found.first)
    np.testing.assert_array_equal(cells.y, found.second)
    assert (figure.x, figure.y) == ("stance_rate [rad/s]", "swing_rate [rad/s]")
    assert (cross.x[0], cross.y[0]) == tuple(found.gait.x0[name] for name in found.names)
    drawn = interactive.describe_figure(figure)["data"][0]
    assert drawn["customdata"][0][0] == found.label[0, 0]


def test_what_figures_call_themselves(walk):
    assert repr(view.basin([[0, 1]], x=[0, 1], y=[0])) == "<Figure: Cells>"
    assert repr(view.energy_flow(walk)) == "<Figure flow through compass [J]: Flow>"
    assert repr(view.poincare(walk, "stance")) == "<Figure stance [rad] over step: Points, Points>"


def test_numbers_along_x_do_not_overlap():
    """Values that differ by rounding have long numbers; those of a short axis are few."""
    pytest.importorskip("matplotlib")
    for x in (
        0.2 + 1e-11 * np.arange(5),
        1e-9 * np.arange(5),
        np.array([123456.001, 123456.002]),
        np.arange(5.0),
    ):
        sheet = view.Figure((Line("a", x, np.arange(len(x))),), "x", "y").matplotlib()
        (axes,) = sheet.axes
        sheet.canvas.draw()
        low, high = axes.get_xlim()
        shown = [
            label.get_window_extent()
            for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
            if low <= tick <= high
        ]
        assert shown
        assert all(one.x1 < other.x0 for one, other in pairwise(shown))


def test_rounding_is_not_drawn_along_x_either(walk):
    figure = view.poincare(walk, "stance_rate", "stance")
    low, high = figure.span
    values = figure.by_name["after heel_strike"].x
    assert low < values.min() <= values.max() < high
    assert high - low > 1e-4 * abs(values).max()
    assert view.poincare(walk, "stance_rate").span is None


def test_many_kinds_of_cells_have_their_own_colours():
    assert len(set(interactive.distinct_colors(12))) == 12


def test_basin():
    """Which way a pendulum with a push falls over: runs of a batch, a cell each."""
    angles, rates = np.linspace(-3, 3, 12), np.linspace(-8, 8, 9)
    grid = np.meshgrid(angles, rates)
    batch = strut.simulate_batch(
        walkers.pendulum(), t=1.0, x0={"angle": grid[0].ravel(), "rate": grid[1].ravel()}
    )
    turns = np.round(np.asarray(batch["angle"]) / (2 * np.pi)).astype(int).reshape(grid[0].shape)
    names = {-2: "twice", -1: "over to the left", 0: "stays", 1: "over to the right", 2: "twice"}
    figure = view.basin(turns, angles, rates, "angle [rad]", "rate [rad/s]", names=names)
    (cells,) = figure.traces
    assert isinstance(cells, Cells)
    np.testing.assert_array_equal(cells.values, turns)
    assert np.unique(turns).tolist() == list(names)
    (drawn,) = interactive.describe_figure(figure)["data"]
    np.testing.assert_array_equal(drawn["z"], turns + 2)  # ranks of the five
    assert drawn["colorbar"]["ticktext"] == list(names.values())
    with pytest.raises(ShapeError, match="rows are y, columns are x"):
        view.basin(turns, rates, angles)


def test_trade_off():
    x, y = np.array([1.0, 2.0, 3.0, 2.5, 2.0]), np.array([3.0, 2.0, 1.0, 2.5, 4.0])
    figure = view.trade_off(x, y, "speed [m/s]", "cost [1]", labels=list("abcde"))
    assert figure.by_name["unbeaten"].labels == ("a", "b", "c")
    assert figure.by_name["front"].x.tolist() == figure.by_name["unbeaten"].x.tolist() == [1, 2, 3]
    assert figure.by_name["designs"].labels == ("d", "e")
    assert view.pareto(x, y, (True, False)).tolist() == [2]
    assert view.pareto(x, y, (True, True)).tolist() == [4, 3, 2]
    assert view.pareto(np.array([1.0, 1.0]), np.array([1.0, 2.0])).tolist() == [0]
    for k in range(len(x)):  # by the definition
        beaten = any((x[j] <= x[k] and y[j] <= y[k]) and (x[j] < x[k] or y[j] < y[k]) for j in range(len(x)))
        assert (k in view.pareto(x, y)) != beaten
    with pytest.raises(ShapeError, match="as many x as y"):
        view.trade_off([1], [1, 2], "", "")


# ---- looks ----


def test_colours_are_told_apart_by_the_colour_blind():
    """Simulated loss of each kind of cones (Viénot, Brettel and Mollon 1999): colours keep their distance, also from the paper."""
    to_cones = np.array(
        [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]]
    )
    seen_by = {
        "all": np.eye(3),
        "protanopes": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
        "deuteranopes": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
    }
    colors = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in view.PALETTE], dtype=float)
    for eyes, loss in seen_by.items():
        seen = (np.linalg.inv(to_cones) @ loss @ to_cones @ colors.T).T
        between = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
        assert min(between) > 40, eyes  # of 441 between black and white


def test_every_axis_has_a_unit_and_every_colour_is_of_the_palette(walk, swing, walker):
    for name, figure in every_figure(walk, swing, walker).items():
        if not figure.flows:
            assert figure.x == "step" or figure.x.endswith("]"), name
            assert figure.y.endswith("]"), name
        for trace in figure.traces:
            used = (
                trace.colors
                if isinstance(trace, Areas)
                else (trace.color,)
                if isinstance(trace, (Line, Points))
                else ()
            )
            assert set(used) <= {*view.PALETTE, view.NEUTRAL}


def test_both_ways_of_drawing_have_the_data(walk, swing, walker):
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    for name, figure in every_figure(walk, swing, walker).items():
        (axes, *_) = figure.matplotlib().axes
        drawn = figure.plotly()  # plotly checks every word of it
        assert len(drawn.data) >= len(figure.traces)
        curves = {line.get_label(): line for line in axes.lines}
        for trace in figure.traces:
            if isinstance(trace, (Line, Points)):
                if name != "convergence":  # a line and points of one name
                    np.testing.assert_array_equal(curves[trace.name].get_ydata(), trace.y, err_msg=name)
                mine = next(
                    t
                    for t in drawn.data
                    if t.name == trace.name and t.mode == ("lines" if isinstance(trace, Line) else "markers")
                )
                np.testing.assert_array_equal(np.asarray(mine.x, dtype=float), trace.x)
                np.testing.assert_array_equal(np.asarray(mine.y, dtype=float), trace.y)
        if not figure.flows:
            assert axes.get_xlabel() == figure.x
            assert drawn.layout.yaxis.title.text == figure.y


def test_convergence_does_not_enlarge_rounding(walker):
    """Of a gait, which is on its cycle, every change is rounding: the figure showed noise as if it were a course."""
    figure = view.convergence(gait_run(walker.gait))
    course, floor = figure.by_name["difference"], figure.by_name["below: within rounding"]
    assert (course.y < floor.y[0]).all()
    assert floor.y.tolist() == [-10.0, -10.0]  # the tolerance of its integration
    low, high = figure.height_span
    assert low < course.y.min()
    assert high - floor.y[0] >= 4
    assert figure.legend
    # a walk that is far from its cycle has no such line
    far = strut.simulate(walkers.compass(slope=strut.deg(3)), t=5, x0={"stance_rate": -1.1})
    other = view.convergence(far)
    assert other.by_name["difference"].y.max() > -4
    assert "below: within rounding" not in other.by_name
    assert other.height_span is None


# ---- files ----


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_on_paper(walk, tmp_path, kind, begins):
    pytest.importorskip("matplotlib")
    figure = view.phase_portrait(walk, "stance", "stance_rate")
    path = figure.save(tmp_path / f"phase.{kind}")
    assert path.read_bytes().startswith(begins)
    assert (
        view.save(figure, str(tmp_path / f"again.{kind}")).read_bytes() == path.read_bytes()
    )  # the same every time
    if kind == "svg":
        assert "stance_rate [rad/s]" in path.read_text(encoding="utf-8")  # text, not outlines
    assert walk.plot("stance", "stance_rate").save(tmp_path / f"panels.{kind}").stat().st_size > 5000


def test_figures_as_pages(walk, tmp_path):
    pytest.importorskip("plotly")
    text = walk.plot("stance", "stance_rate").save(tmp_path / "panels.html").read_text(encoding="utf-8")
    assert text.count('class="figure ') == 2
    with pytest.raises(
        StorageError, match=r"cannot tell what to write from 'x\.jpeg': use \.png, \.svg or \.pdf"
    ):
        walk.plot("stance").save(tmp_path / "x.jpeg")


def test_missing_matplotlib_is_said(walk, monkeypatch, tmp_path):
    for name in [*(n for n in sys.modules if n.startswith("matplotlib")), "matplotlib", "matplotlib.figure"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        MissingExtraError,
        match=r"a figure as PNG, SVG or PDF needs matplotlib, which is not installed: pip install 'strut\[paper\]'",
    ):
        walk.plot("stance").save(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []
    done = view.folder(walk, tmp_path / "walk")
    assert set(done.files) == {"run.h5", "run.csv", "index.html"}
    assert "strut[paper]" in done.missing[0]


def test_missing_both_still_saves_the_results(walk, monkeypatch, tmp_path):
    for package in ("matplotlib", "plotly"):
        for name in [
            *(n for n in sys.modules if n.startswith(package)),
            package,
            f"{package}.figure",
            f"{package}.offline",
        ]:
            monkeypatch.setitem(sys.modules, name, None)
    done = view.folder(walk, tmp_path / "walk")
    assert done.files == ("run.h5", "run.csv", "index.html")
    assert len(done.missing) == 1
    again = strut.Trajectory.load(tmp_path / "walk" / "run.h5")
    np.testing.assert_array_equal(again["stance"], walk["stance"])
    shown = walk.plot("stance")[0]._repr_mimebundle_()
    assert "pip install 'strut[view]'" in shown["text/plain"]


def test_folder_has_page_data_and_plots(walk, tmp_path):
    pytest.importorskip("matplotlib")
    done = view.folder(walk, tmp_path / "new" / "walk", asked="strut run compass --set slope=3deg")
    assert done.missing == ()
    assert {file.name for file in (tmp_path / "new" / "walk").iterdir()} == set(done.files)
    for name in (
        "states",
        "energy_layers",
        "energy_flow",
        "energy_per_step",
        "section",
        "phase_stance",
        "forces",
        "cone_stance",
    ):
        assert {f"{name}.svg", f"{name}.png"} <= set(done.files)
    assert "strut run compass --set slope=3deg" in (done.directory / "index.html").read_text(encoding="utf-8")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot make the directory"):
        view.folder(walk, tmp_path / "file")


# ---- notebooks ----


def test_notebooks(walk):
    pytest.importorskip("matplotlib")
    assert "<strong>Trajectory compass</strong>" in walk._repr_html_()
    assert "heel_strike (lost in events)" in walk._repr_html_()
    system = walkers.compass()._repr_html_()
    assert "<strong>System compass</strong>" in system
    assert "slope" in system
    assert "stance_normal" in system
    assert "heel_strike" in system
    figure = walk.plot("stance")[0]
    assert isinstance(figure, Figure)
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "application/vnd.plotly.v1+json", "image/svg+xml"}
    assert bundle["application/vnd.plotly.v1+json"]["layout"]["yaxis"]["title"]["text"] == "stance [rad]"
    assert "stance [rad]" in bundle["image/svg+xml"]
    assert plots.Panels([figure]) == (figure,)


def test_notebooks_escape():
    x = strut.State("x", 1.0, "<b>m</b>", description="<script>alert(1)</script>")
    made = strut.System("s", x=(x,), flow={x: 1.0}, description="<img src=x>")
    for text in (made._repr_html_(), strut.simulate(made, t=1)._repr_html_()):
        assert "<b>" not in text
        assert "<script>" not in text
        assert "<img" not in text
    assert "&lt;script&gt;" in made._repr_html_()


def test_mechanisms_show_themselves():
    text = walkers.coman_mechanism()._repr_html_()
    assert "<strong>Mechanism coman</strong>" in text
    assert "bodies (" in text
    assert "revolute" in text


@pytest.mark.parametrize("kind", get_args(Trace))
def test_every_kind_of_mark_is_known_to_both_libraries_and_to_files(kind):
    assert kind in interactive.plotly_traces.registry
    assert kind in matplotlib_backend.draw_trace.registry
    assert TRACES[kind.__name__] is kind
