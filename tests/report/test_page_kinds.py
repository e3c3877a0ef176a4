"""Every kind of page in a real browser: it says nothing on the console, asks nothing of a network, can be read by day,
by night and on a phone and worked by keys, its cursor is linked, and its numbers are those of the result."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import strut
from strut import control, evolve, gait, optimal, ports, report, view, walkers
from strut.cli.app import application
from strut.cli.reproduce import _write_page
from strut.control import BodyModel
from strut.report import stepping_histories, stepping_strip
from strut.report.held_sweep import held_cells
from strut.studies import STUDIES
from strut.studies.rijt_scenarios import humanoid_loop
from strut.studies.study import ColourMap, Picture, Plot, Row, SearchOutcome
from strut.walkers.rijt import FEET
from tests.control.bipeds import biped, on_ground, standing
from tests.evolve.test_comparison import camel_problem
from tests.ports.graphs import motor
from tests.view.browser import LOOKS, Visit, browser
from tests.view.test_browser import CUT_TEXTS, READABLE, TEXTS

TIMED = "strutFigures().filter(f => f && f.figure.time)"
"""Plots over time that are drawn."""
TALLEST = 6000
"""Height [px] of a page as it is opened, 1100 px wide: what was asked of designs."""


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def made():
    """What pages are made of, each made once."""
    slope = walkers.compass(slope=strut.deg(3))
    found = gait.find(slope)
    walker = walkers.compass_driven()
    return SimpleNamespace(walk=strut.simulate(slope, t=6), found=found, walker=walker)


def of_run(made, place):
    page = view.page(made.walk, place, asked="strut run compass")
    step = view.pages.headline.headline(made.walk)
    return page, [step["speed"], step["step length"], f"{len(made.walk.events)}"]


def of_gait(made, place):
    branch = gait.follow(made.found.system, "slope", to=strut.deg(3.3), start=made.found, points=5)
    cells = gait.basin(made.found, cells=(6, 5))
    steps = gait.bifurcation_map(made.found, "slope", strut.deg(3.3), values=5, steps=20, kept=5)
    asked = "strut gait compass --sweep"
    result = report.gait_result(made.found, asked, branches=[branch], step_map=steps, cells=cells)
    assert result.chapters[2].figures["sweep_period"].traces[0].y == pytest.approx(steps.step_time)
    walking = cells.outcomes["walks"]
    return result.page(place), [
        f"{made.found.speed:.5g}",
        f"{abs(made.found.multipliers[0]):.5g}",
        f'<td>walks</td><td class="number">{walking}</td>',
    ]


def of_design(made, place):
    design = optimal.design(made.walker, cost="squared-torque", speed=0.7, slope=strut.deg(3))
    assert design.ok
    return report.design_result(design).page(place), [f"{design.speed:.5g}", f"{design.result.cost:.5g}"[:5]]


def of_designs(made, place):
    heavy = made.walker.using(hip_mass=12.0)
    machines = {"as it is": made.walker, "heavy": heavy}
    choice = optimal.design_each(machines, cost="squared-torque", speed=0.7, slope=strut.deg(3))
    assert choice.ok
    return report.designs_result(choice).page(place), [
        "as it is",
        "heavy",
        f"costs least</dt><dd>{choice.best}",
    ]


def of_sweep(made, place):
    sweep = optimal.trade_off(
        made.walker, "speed", [0.7, 0.72], cost="squared-torque", slope=strut.deg(3), workers=1
    )
    assert sweep.ok
    return report.sweep_result(sweep).page(place), [f"{sweep['cost'][0]:.9g}", f"{sweep['cost'][1]:.9g}"]


def of_runs(made, place):
    values = [strut.deg(each) for each in (2.5, 3.0, 5.0)]
    runs = [strut.simulate(walkers.compass(slope=value), t=8) for value in values]
    page = report.runs_result(runs, "slope", values, asked="strut run compass --sweep slope=...").page(place)
    speed = runs[1]["step_length"][-1] / runs[1]["step_time"][-1]
    return page, ["2 of 3 runs", f">{speed:.9g}<", ">fall<"]


def of_front(made, place):
    table = {"cost": [1.0, 2.0, 3.0, 2.5], "speed": [0.5, 0.75, 0.7, 0.875]}
    result = report.pareto_result(table, less=["cost"], more=["speed"], asked="strut pareto designs.csv")
    return result.page(place), ["3 of 4 candidates", ">0.875<"]


def of_comparison(made, place):
    steeper = strut.simulate(walkers.compass(slope=strut.deg(3.5)), t=6)
    page = view.comparison({"three": made.walk, "more": steeper}, asked="strut view a.h5 b.h5").save(place)
    speeds = [view.pages.headline.headline(run)["speed"] for run in (made.walk, steeper)]
    return page, speeds


def of_job(made, place):
    runs = evolve.of_system(walkers.slip(), 2.0, {"steps": "count.touchdown"}, rtol=1e-6)
    problem = evolve.SearchProblem(
        {"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}, runs, evolve.maximise("steps")
    )
    evolution = evolve.search(problem, evolve.Swarm(6), 3, seed=3, output=place.with_suffix(".db"))
    page = report.evolution_result(place.with_suffix(".db")).page(place)
    return page, [f"{evolution.best.parameters['stiffness']:.6g}", f"{evolution.evaluations} evaluations"]


def of_held(made, place):
    held = control.step_lqr(made.found, by=["hip_spring"])
    return report.held_result(held).page(place), [f"{abs(held.gait.multipliers[0]):.5g}"]


def of_graph(made, place):
    graph = motor()
    run = strut.simulate(ports.system(graph), 0.2)
    return report.graph_report(graph, run).save(place), [f"{run.t1:g} s", "Parameters"]


def of_table(made, place):
    made.walk.save(place.with_suffix(".csv"), times=[0.0, 1.0, 2.0])
    page = view.table_report(place.with_suffix(".csv")).save(place)
    return page, [f"{made.walk.table([1.0])['stance'][0]:.9g}" if "stance" in made.walk.names.x else "3 rows"]


def of_held_over(made, place):
    rows = [
        held_cells(slope, control.lqr(gait.find(walkers.compass(slope=slope))))
        for slope in (strut.deg(3), strut.deg(4.5))
    ]
    result = report.held_sweep_result("compass", "slope", rows, own_unit="rad", unit="deg")
    return result.page(place), ["2 of 2 gaits", ">4.5<", f">{rows[1]['largest multiplier after']:.9g}<"]


def of_controlled(made, place):
    machine = biped()
    run = standing(machine, BodyModel(machine)).run(on_ground(machine), 0.05)
    page = report.controlled_result(run).page(place)
    return page, [f"{len(run.samples)} programs, all solved", f"{run.kkt:.2g}"]


def of_stepping(made, place):
    controller, machine = humanoid_loop()
    run = controller.using(walking_speed=0.5).run(machine, 1.0)
    page = view.Report("stepping")
    page.figures(stepping_strip(run, FEET, (0.5, 1.0), poses=3))
    page.figures(*stepping_histories(run, FEET).values())
    page.table(("time", "XcoM"), [(f"{run.t[-1]:.6g}", f"{run['xcom'][-1]:.6g}")])
    return page.save(place), [f"{run['xcom'][-1]:.6g}", "stepping"]


def of_search_comparison(made, place):
    comparison = evolve.compare(camel_problem(), ["swarm", "cma-es"], seeds=3, evaluations=200)
    page = view.Report("searches")
    page.figures(report.comparison_figure(comparison, best_known=-1.031628453489877))
    columns = comparison.columns()
    rows = [[str(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    page.table(list(columns), rows)
    return page.save(place), ["swarm", "cma-es", rows[0][-1]]


def of_reproduced(made, place):
    told = CliRunner().invoke(application(), ["reproduce", "garcia-simplest", "-o", str(place), "--json"])
    assert told.exit_code == 0, told.output
    study = json.loads(told.stdout)["result"]
    return place, [study["title"], *(row["ours"] for row in study["rows"])]


def of_study(made, place):
    """All that a page of a study can have: the walk of one, others that move side by side, a map, curves over a
    quantity and over its logarithm, with a band and in pairs, and a drawing; of runs of seconds, where searches of
    studies take hours."""
    walk = made.walk.at(np.linspace(0, 3, 61))
    curves = {"stance": walk["stance"].tolist(), "swing": walk["swing"].tolist()}
    time, generations = walk.t.tolist(), [1.0, 10.0, 100.0, 1000.0]
    plots = [
        Plot("legs", "time [s]", "angle [rad]", time, curves, band=([-0.2] * 61, [0.2] * 61)),
        Plot("rates", "time [s]", "rate [rad/s]", time, {"stance": walk["stance_rate"].tolist()}),
        Plot("best", "evaluation", "goal", generations, {"search": [4.0, 2.0, 1.5, 1.4]}, log_x=True),
        Plot("rest", "evaluation", "goal", generations, {"search": [5.0, 4.0, 3.5, 3.4]}, log_x=True),
    ]
    values = [[float(x + y) for x in range(5)] for y in range(4)]
    colours = ColourMap(
        "where it is good", "a [m]", "b [m]", "goal [1]", range(5), range(4), values, {"best": ([1], [2])}
    )
    falls = {
        f"from {angle:g}": strut.simulate(walkers.pendulum(), t=1, x0={"angle": angle})
        for angle in (0.3, 0.6)
    }
    drawing = '<svg viewBox="0 0 90 30" width="90" height="30" role="img" aria-label="a line"><path d="M0 0L90 30" stroke="currentColor"/></svg>'
    rows = [Row("step length", "0.5354 m", f"{made.found.step_length:.4f} m", "a row of the table")]
    outcome = SearchOutcome(
        rows, plots, made.walk, [colours], [Picture("how it is made", drawing)], films=falls
    )
    _write_page(STUDIES["kieboom-tasks"], outcome, str(place))
    return place, [rows[0].ours, "where it is good", "how it is made", "from 0.3", "from 0.6"]


def of_robust(made, place):
    """One of the pages that `strut design --robust` writes, one for each scenario."""
    found = optimal.robust_design(
        walkers.compass(slope=0.0),
        {"hip_spring": (0.0, 300.0)},
        scenarios=[{"slope": slope} for slope in (strut.deg(-1), strut.deg(1))],
        speed=0.5,
    )
    assert found.ok
    first = found.designs[0]
    page = report.design_result(first, "", f"compass: {found.scenarios[0].label}").page(place)
    return page, [f"{first.speed:.5g}", found.scenarios[0].label]


def of_motors(made, place):
    """The page of `strut design --motor A,B`."""
    command = ["design", "compass", "--speed", "0.5", "--motor", "rbe1211-csd17,maxon-re40-gp42c"]
    told = CliRunner().invoke(application(), [*command, "-o", str(place.with_suffix("")), "--json"])
    assert told.exit_code == 0, told.output
    return place.with_suffix("") / "index.html", ["rbe1211-csd17", "maxon-re40-gp42c"]


KINDS = {
    each.__name__.removeprefix("of_"): each
    for each in (
        of_run,
        of_gait,
        of_design,
        of_designs,
        of_sweep,
        of_runs,
        of_front,
        of_comparison,
        of_job,
        of_held,
        of_graph,
        of_table,
        of_held_over,
        of_controlled,
        of_stepping,
        of_search_comparison,
        of_reproduced,
        of_study,
        of_robust,
        of_motors,
    )
}
COMMANDS = {
    "run": "strut run compass",
    "gait": "strut gait compass --sweep",
    "runs": "strut run compass --sweep slope=...",
    "front": "strut pareto designs.csv",
    "comparison": "strut view a.h5 b.h5",
    "reproduced": "strut reproduce garcia-simplest",
    "study": "strut reproduce kieboom-tasks",
    "motors": "strut design compass --speed 0.5",
}
"""What was asked of pages that know it, by kind."""
TOOLS = """[...document.querySelectorAll(".figure")].map(figure => ({
  buttons: [...figure.querySelectorAll(".tools > button")].map(each => each.textContent),
  how: figure.querySelector(".how")?.textContent }))"""
"""Buttons below every figure, and what the last one shows."""
SLOW = ("robust", "motors")
"""Kinds of which a page takes 20 s or more: several designs each."""
EACH = [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in KINDS]


@pytest.fixture(scope="module")
def pages(made, tmp_path_factory):
    """A function of the kind: where its page is, and texts that stand on it."""
    folder, written = tmp_path_factory.mktemp("kinds"), {}

    def page(kind):
        if kind not in written:
            written[kind] = KINDS[kind](made, folder / f"{kind}.html")
        return written[kind]

    return page


@pytest.mark.parametrize("kind", EACH)
def test_a_page_can_be_read_and_is_right(kind, pages, chromium):
    path, texts = pages(kind)
    document = path.read_text(encoding="utf-8")
    assert [text for text in texts if text not in document] == []
    assert path.stat().st_size < 5e5
    for look in ("light", "dark", "phone"):
        visit = Visit(chromium, path, **LOOKS[look])
        if look != "phone":
            assert visit.run("document.documentElement.scrollHeight") < TALLEST
        strip = visit.run(
            "(n => n ? [n.scrollWidth, n.clientWidth] : [0, 0])(document.querySelector('.contents'))"
        )
        assert look == "phone" or strip[0] <= strip[1]  # on a phone it is scrolled
        visit.open_all()
        assert visit.run("document.documentElement.scrollWidth <= innerWidth")
        seen = visit.run(TEXTS)
        assert len(seen) > 10
        assert [each for each in seen if each["contrast"] < READABLE or each["size"] < 11] == []
        assert (
            visit.run(
                "[...document.querySelectorAll('canvas, img, svg.plot')].filter(e => !(e.alt || e.ariaLabel)).length"
            )
            == 0
        )
        assert visit.run(CUT_TEXTS) == []
        labels = visit.run(
            "[...document.querySelectorAll('.plot .flow-label')].map(e => (r => [r.left, r.top, r.right, r.bottom])"
            "(e.getBoundingClientRect()))"
        )
        for k, (left, top, right, bottom) in enumerate(labels):  # none lies on another
            assert not any(left < r and l < right and top < b and t < bottom for l, t, r, b in labels[:k])  # noqa: E741
        if look == "dark":
            assert visit.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
        if look == "light":
            for tools in visit.run(TOOLS):
                assert tools["buttons"] == ["data", "SVG", "code"]
                assert COMMANDS.get(kind, "") in tools["how"]
                python = tools["how"].rpartition("# in Python\n")[2]
                assert python.startswith(("strut.view.", "result.chapters[", "report.all_figures["))
        visit.alone()
        visit.context.close()


@pytest.mark.parametrize("kind", EACH)
def test_a_page_is_worked_by_keys_and_its_cursor_is_linked(kind, pages, chromium):
    visit = Visit(chromium, pages(kind)[0], **LOOKS["light"])
    if visit.run("!!document.getElementById('open-all')"):
        folded = "document.querySelectorAll('main > section > details:not([open])').length"
        visit.page.focus("#open-all")
        before = visit.run(folded)
        visit.page.keyboard.press("Enter")
        assert visit.run(folded) == (
            0 if before else visit.run("document.querySelectorAll('main > section').length")
        )
    visit.open_all()
    if visit.run("!!document.querySelector('.player')"):
        clock = "document.querySelector('.player output').textContent"
        before = visit.run(clock)
        visit.run("document.querySelector('.player').focus()")
        for _ in range(4):
            visit.page.keyboard.press("ArrowRight")
        visit.until(f"{clock} !== {before!r}")
        linked = visit.run("strutTime.now") is not None
        timed = visit.run(f"{TIMED}.length")
        if linked and timed and visit.run("!!document.getElementById('film')"):
            cursors = visit.run(
                f"{TIMED}.map(f => [+f.svg().querySelector('.cursor').getAttribute('x1'), f.axes().u(strutTime.now)])"
            )
            assert all(at == pytest.approx(where) for at, where in cursors)
    visit.alone()
    visit.context.close()
