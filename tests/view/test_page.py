"""The page of a run: what it shows is what was computed, it stands alone, and nothing in it is taken for HTML."""

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from functools import reduce
from html.parser import HTMLParser

import numpy as np
import pytest

import strut
from strut import Event, Ledger, State, System, files, view, walkers
from strut.errors import MissingExtraError, StorageError
from strut.view.figures import curves, plots
from strut.view.figures import energy_plots as joules
from strut.view.figures import plotly_backend as interactive
from strut.view.figures.figure import NEUTRAL, Line, Points, distinct_colors
from strut.view.figures.name_groups import MAX_CURVES, MAX_GROUPS
from strut.view.motion import film
from strut.view.pages.page import LISTED_EVENTS, MAX_OPEN_FIGURES, document, run_report
from strut.view.pages.provenance import rerun_code
from strut.view.pages.sheet import unpack_text
from tests.view.browser import LOOKS, Visit, browser

EVIL = "<script>alert('x')</script>&\"<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def walk():
    return strut.simulate(walkers.rimless_wheel(), t=10)


@pytest.fixture(scope="module")
def swing():
    return strut.simulate(walkers.pendulum(damping=0.1), t=10)


@pytest.fixture(scope="module")
def evil(walk):
    """A run every name of which would inject, as one loaded from a file could have."""
    n = walk.names
    groups = {
        g: tuple(f"{EVIL}{name}" for name in getattr(n, g))
        for g in ("x", "z", "p", "jumps", "stored", "lost", "outputs")
    }
    names = replace(n, **groups, units={EVIL + name: EVIL for name in n.units})
    return replace(
        walk, system_name=EVIL, status=EVIL, names=names, provenance={**walk.provenance, EVIL: EVIL}
    )


class Elements(HTMLParser):
    """The elements of a page with their attributes, and what is written in the scripts and outside of them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text, self.inside = [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.text += data

    def data(self, name):
        scripts = [attributes for tag, attributes in self.tags if tag == "script"]
        k = [a.get("id") for a in scripts].index(name)
        return json.loads(
            unpack_text(self.scripts[k]) if scripts[k].get("class") == "packed" else self.scripts[k]
        )


def traces(figures):
    return {trace.name: trace for figure in figures for trace in figure.traces}


# ---- figures ----


@pytest.mark.parametrize("draw", [plots.states, plots.held_signals, plots.outputs])
def test_curves_are_the_run(walk, draw):
    for name, trace in traces(draw(walk)).items():
        drawn = list(zip(trace.x, trace.y, strict=True))
        points = list(zip(walk.t, walk[name], strict=True))
        assert [p for p in drawn if p[0] in walk.t] == points  # both sides of every event, in order
        between = ~np.isin(trace.x, walk.t)
        np.testing.assert_array_equal(
            np.asarray(trace.y)[between], walk.at(np.asarray(trace.x)[between])[name]
        )
        assert np.all(np.diff(trace.x) >= 0)
        assert np.diff(trace.x).max() <= walk.t1 / curves.MIN_INTERVALS * 1.000001


def test_every_name_is_drawn_with_its_unit(swing):
    names = swing.names
    drawn = traces(plots.states(swing) + plots.held_signals(swing) + plots.outputs(swing))
    assert set(drawn) == {*names.x, *names.outputs}
    assert plots.zero_names(swing, names.u) == [*names.u] == ["torque"]  # said, not drawn
    titles = [figure.y for figure in plots.states(swing) + plots.held_signals(swing)]
    assert titles == ["angle [rad]", "rate [rad/s]"]


def test_a_unit_is_a_figure():
    runner = strut.simulate(walkers.slip(), t=1)
    assert [(figure.y, [trace.name for trace in figure.traces]) for figure in plots.states(runner)] == [
        ("[m]", ["x", "y"]), ("[m/s]", ["vx", "vy"])]  # fmt: skip
    assert plots.state_pairs(runner) == [("x", "vx"), ("y", "vy")]


def test_events_are_marked(walk):
    figure = plots.states(walk)[0]
    np.testing.assert_array_equal(figure.marks["heel_strike"], walk.events.t)
    (mark,) = interactive.describe_figure(figure)["layout"]["shapes"]
    assert [float(t) for t in re.findall(r"M([^,]+),0V1", mark["path"])] == walk.events.t.tolist()


def test_phase_portrait_breaks_at_events(walk):
    (figure,) = plots.phase_portraits(walk)
    drawn = traces([figure])
    assert np.isnan(drawn["flow"].x).sum() == len(walk.events)
    before_after = [v for event in walk.events for v in (event.before["rate"], event.after["rate"])]
    reset = np.asarray(drawn["reset"].y)
    np.testing.assert_allclose(
        reset[~np.isnan(reset)], before_after, rtol=1e-15
    )  # a step's polynomial ends within rounding of the event


@pytest.mark.parametrize("run", ["walk", "swing"])
def test_energy_is_the_account(run, request):
    run = request.getfixturevalue(run)
    books, drawn = run.ledger, traces([view.energy(run)])
    lines = {**books.stored, "all stored": books.energy}
    for kind, entries in (
        ("supplied", books.supplied),
        ("dissipated", books.dissipated),
        ("lost in events", books.lost),
    ):
        lines |= {f"{name}, {kind}": values for name, values in entries.items()}
    assert set(drawn) == set(lines)
    for name, values in lines.items():
        at_points = np.isin(drawn[name].x, books.t)
        np.testing.assert_array_equal(np.asarray(drawn[name].y)[at_points], values)
    (trace,) = view.residual(run).traces
    np.testing.assert_array_equal(trace.y, books.imbalance)


def test_energy_between_points_balances():
    """A ball's steps span its flights, so most of the account lies between its points."""
    ball = strut.simulate(walkers.bouncing_ball(), t=3)
    books = curves.account(ball)
    assert len(books.t) > 3 * len(ball.t)
    moments = ball.at(books.t[1:-1])
    inner = ~np.isin(moments.t, ball.t)
    np.testing.assert_allclose(
        books.stored["kinetic"][1:-1][inner], moments["velocity"][inner] ** 2 / 2, rtol=1e-12
    )
    assert books.residual < 1e-9 * books.turnover  # as tight as the dense output


def test_a_long_curve_keeps_its_peaks():
    values = np.sin(np.arange(100 * curves.MAX_POINTS) / 3.0)
    values[123_457], values[654_321] = 5.0, -7.0
    kept = curves.drawn_indices(values)
    assert len(kept) <= curves.MAX_POINTS + 2
    assert {0, 123_457, 654_321, len(values) - 1} <= set(kept)
    assert np.all(np.diff(kept) > 0)


# ---- the page ----


def test_page_tells_the_run(walk, tmp_path):
    path = view.page(walk, tmp_path / "walk.html", remarks="Down it goes.")
    seen = Elements(path.read_text(encoding="utf-8"))
    for words in (
        "rimless_wheel",
        "done",
        "0 to 10 s",
        "Down it goes.",
        "heel_strike",
        "mass",
        "m/s^2",
        "impact (lost in events)",
        "dop853",
    ):
        assert words in seen.text
    for event in walk.events:
        assert f"{event.t:.9g}" in seen.text
    assert len(seen.data("figures")) == sum(
        tag == "div" and a.get("class", "").startswith("figure ") for tag, a in seen.tags
    )
    assert film.rows(seen.data("film")["t"])[-1] == 10.0


@pytest.mark.parametrize("make", [walkers.pendulum, walkers.slip, walkers.bouncing_ball, walkers.van_der_pol])
def test_every_machine_has_a_page(make, tmp_path):
    run = strut.simulate(make(), t=10)
    text = view.page(run, tmp_path / "run.html").read_text(encoding="utf-8")
    assert f"<h1>{run.system_name}</h1>" in text
    rows = text.count("<tr>")
    assert rows < 42 + LISTED_EVENTS + joules.MAX_ROWS + len(run.names.p)


def test_page_says_what_went_wrong():
    text = Elements(document(strut.simulate(walkers.bouncing_ball(), t=10))).text
    assert "Stopped at 4.06371 s: zeno." in text
    assert "and 77 more, not listed" in text


def test_runs_that_hardly_ran(tmp_path):
    x = State("x", 1.0)
    over = System("over", x=(x,), flow={x: 1.0}, events=(Event("high", x - 1.5, terminal=True),))
    for run in (
        strut.simulate(walkers.rimless_wheel(), t=0),
        strut.simulate(walkers.rimless_wheel(), t=1e-9),
        strut.simulate(over, t=9),
    ):
        assert view.page(run, tmp_path / "run.html").exists()
    assert "by the event “high”" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_page_of_a_loaded_run(walk, tmp_path):
    walk.save(tmp_path / "walk.h5")
    loaded = strut.Trajectory.load(tmp_path / "walk.h5")
    assert len(Elements(document(loaded)).data("film")["pieces"]) == len(walk.stage().pieces)
    assert (
        "needs its system to be shown in motion"
        in Elements(document(replace(loaded, stored_scene=None))).text
    )
    speed = traces(plots.outputs(strut.Trajectory.load(tmp_path / "walk.h5")))["speed"]
    np.testing.assert_array_equal(speed.y, walk["speed"])
    assert (
        document(strut.Trajectory.load(tmp_path / "walk.h5", system=walkers.rimless_wheel())).count(
            'id="film"'
        )
        == 1
    )


def test_page_without_a_ledger():
    seen = Elements(document(strut.simulate(walkers.pendulum(), t=1, ledger=False)))
    assert "simulate with ledger=True" in seen.text


def test_page_loads_nothing(walk):
    text = document(walk)
    seen = Elements(text)
    loading = [
        (tag, a)
        for tag, a in seen.tags
        if {"src", "srcset", "data", "action"} & set(a)
        or tag in ("link", "iframe", "base")
        or not a.get("href", "#").startswith("#")
    ]
    assert loading == []
    packed = [
        script
        for script, (_, a) in zip(seen.scripts, [t for t in seen.tags if t[0] == "script"], strict=True)
        if a.get("class") == "packed"
    ]
    assert len(packed) == 3  # film, figures and columns
    ours = reduce(lambda left, script: left.replace(script, unpack_text(script)), packed, text)
    named = ours.replace("http://www.w3.org/2000/svg", "").replace("url(#${clipName})", "")  # asked of nobody
    assert not re.search(r"https?:|url\(|@import|//[a-z]+\.", named)
    assert len(text) < 5e5
    policy = next(a["content"] for tag, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "unsafe-inline" not in policy
    assert not [a for _, a in seen.tags if "style" in a]
    running = [
        s
        for s, (_, a) in zip(seen.scripts, [t for t in seen.tags if t[0] == "script"], strict=True)
        if not a.get("type")
    ]
    for allowed in running:
        digest = base64.b64encode(hashlib.sha256(allowed.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy.split("script-src ")[1].split(";")[0]
    assert policy.count("sha256-") == len(running) + 1  # scripts, and the sheet of style


def test_names_are_not_html(evil, walk):
    hostile, plain = Elements(document(evil, title=EVIL, remarks=EVIL)), Elements(document(walk, remarks="x"))
    assert {tag for tag, _ in hostile.tags} <= {tag for tag, _ in plain.tags}
    assert len(hostile.scripts) == len(plain.scripts) == 4  # film, figures, columns, ours
    assert not any(key.startswith("on") for _, attributes in hostile.tags for key in attributes)
    assert hostile.text.count(EVIL) > 20
    named = [t.get("name", "") for figure in hostile.data("figures") for t in figure["traces"]]
    assert EVIL + "angle" in named  # the script sets names as text


def test_how_to_run_it_again(walk):
    given = {
        "system": walkers.rimless_wheel(mass=3.0, slope=0.1)
    }  # other values, which the text must replace
    exec(rerun_code(walk), given)
    np.testing.assert_array_equal(given["run"].t, walk.t)
    np.testing.assert_array_equal(given["run"]["rate"], walk["rate"])


def test_how_to_run_a_known_walker_again(walk):
    given = {}
    exec(rerun_code(walk, "walkers.rimless_wheel()"), given)
    np.testing.assert_array_equal(given["run"]["rate"], walk["rate"])


@pytest.mark.parametrize("machine", ["compass", "compass-driven", "dribbel", "slip"])
def test_the_code_of_a_figure_makes_it(machine):
    run = strut.simulate(walkers.CATALOGUE[machine](), t=4)
    for figure in run_report(run).all_figures:
        again = eval(figure.code, {"strut": strut, "run": run})
        assert (again.x, again.y) == (figure.x, figure.y)
        for ours, theirs in zip(again.traces, figure.traces, strict=True):
            if isinstance(ours, Line | Points):
                assert ours.name == theirs.name
                np.testing.assert_array_equal(ours.y, theirs.y)


def test_the_code_of_a_figure_begins_with_the_command(swing):
    plain, asked = run_report(swing).all_figures[0].code, run_report(swing, asked="strut run it").all_figures
    assert asked[0].code == f"# on the command line\nstrut run it\n\n# in Python\n{plain}"
    figure = view.Figure((Line("a", np.arange(2.0), np.arange(2.0)),))
    result = view.Result("r", chapters=[view.Chapter("one"), view.Chapter("two", figures={"b": figure})])
    (drawn,) = result.report().all_figures
    assert drawn.code.startswith("result.chapters[1].figures['b']  # result: strut.view.Result.load of")
    report = view.Report("p")
    report.figures(figure, figure)
    assert report.all_figures[1].code.startswith("report.all_figures[1]")


def test_a_box_to_scroll_in_says_so():
    report = view.Report("tables")
    report.table(("n",), [(k,) for k in range(3)])
    assert "scroll within" not in report.document()
    report.table(("n",), [(k,) for k in range(27)], long=True)
    assert "27 rows, more than the box shows: scroll within it." in report.document()


def test_missing_plotly_is_said(walk, monkeypatch, tmp_path):
    for name in [*(n for n in sys.modules if n.startswith("plotly")), "plotly"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"an interactive figure needs plotly"):
        view.states(walk)[0].plotly()
    assert view.page(walk, tmp_path / "walk.html").is_file()  # pages need no plotly


def test_strut_is_imported_without_plotly():
    import subprocess

    code = "import sys, strut, strut.view; sys.exit('plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_page_appears_whole_or_not_at_all(walk, tmp_path, monkeypatch):
    path = view.page(walk, str(tmp_path / "walk.html"))
    assert path == tmp_path / "walk.html"
    assert list(tmp_path.iterdir()) == [path]
    path.write_text("before")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(StorageError, match="the disk is full"):
        view.page(walk, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_no_directory_is_said(walk, tmp_path):
    with pytest.raises(StorageError, match="does not exist; create it first"):
        view.page(walk, tmp_path / "nowhere" / "walk.html")


@pytest.fixture(scope="module")
def many_joints():
    """A run of forty joints, each a damped spring by itself, with names as those of a humanoid."""
    parts = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist", "finger")
    names = [f"{side}_{part}_{axis}" for side in "rl" for part in parts for axis in ("sag", "lat")]
    names += [f"{part}_{axis}" for part in ("waist", "neck") for axis in ("sag", "lat", "yaw")]
    names += ["roll", "pitch"]
    angles = [State(name, 0.1 + 0.01 * k, "rad") for k, name in enumerate(names)]
    rates = [State(f"{name}_rate", 0.0, "rad/s") for name in names]
    flow = {}
    for k, (angle, rate) in enumerate(zip(angles, rates, strict=True)):
        flow |= {angle: rate, rate: -(1.0 + k) * angle - 0.2 * rate}
    ledger = Ledger(
        stored={f"{a.name}_spring": 0.5 * (1.0 + k) * a**2 for k, a in enumerate(angles)}
        | {"kinetic": sum(0.5 * r**2 for r in rates)},
        dissipated={f"{a.name}_damper": 0.2 * r**2 for a, r in zip(angles, rates, strict=True)},
    )
    return strut.simulate(System("many_joints", x=(*angles, *rates), flow=flow, ledger=ledger), t=3)


def test_joints_of_a_large_machine_share_figures_and_none_is_left_out(many_joints):
    """Neither a figure for each of 40 angles, of which 32 would not be drawn, nor curves without their names."""
    figures = plots.states(many_joints)
    drawn = [name for figure in figures for name in figure.by_name]
    assert sorted(drawn) == sorted(many_joints.names.x)
    assert len(figures) <= 2 * 5
    assert max(len(figure.traces) for figure in figures) <= MAX_CURVES
    for figure in figures:  # legs and arms of one side stand together
        sides = {name[:2] for name in figure.by_name if name[:2] in {"r_", "l_"}}
        assert len(sides) <= 1
    text = Elements(document(many_joints)).text
    assert f"{len(figures) - MAX_OPEN_FIGURES} more figures are folded below: More states." in text
    assert "not drawn" not in text


def test_the_account_of_a_large_machine_has_its_main_channels_and_the_rest_of_each_kind(many_joints):
    lines = joules.energy(many_joints).by_name
    assert len(lines) <= joules.MAIN_CHANNELS + 3
    books = many_joints.ledger
    for kind, entries in (("", books.stored), (", dissipated", books.dissipated)):
        every = sum(v[-1] for v in entries.values())
        words = kind or ", stored"
        shown = sum(
            line.y[-1]
            for name, line in lines.items()
            if name != "all stored"
            and (name.removesuffix(kind) in entries or f"others{words}" in name)
            and (kind != "" or not name.endswith(", dissipated"))
        )
        assert shown == pytest.approx(every, rel=1e-9)
    flow = joules.energy_flow(many_joints).traces[0]
    sources, sinks = joules.flows(many_joints)
    assert len(flow.sources) <= joules.MAX_BANDS
    assert sum(flow.sources.values()) == pytest.approx(sum(sources.values()))
    assert sum(flow.sinks.values()) == pytest.approx(sum(sinks.values()))
    (areas, top) = joules.energy_areas(many_joints).traces
    assert len(areas.layers) <= joules.MAIN_CHANNELS + 3
    assert areas.tops[-1][-1] == pytest.approx(top.y[-1], rel=1e-3)
    # what did most is not drawn in the palest colour
    named = {name: line.color for name, line in lines.items() if "others" not in name}
    assert set(named.values()) <= {NEUTRAL, *distinct_colors(12)}


def test_the_page_of_a_large_machine_is_not_too_high(many_joints, tmp_path):
    page = view.page(many_joints, tmp_path / "joints.html")
    with browser() as chromium:
        visit = Visit(chromium, page, **LOOKS["light"])
        assert visit.run("document.documentElement.scrollHeight") < 6000
        visit.alone()
        visit.context.close()


def test_a_network_of_many_variables_is_grouped_and_says_what_is_not_drawn():
    """Of names that differ by numbers, all lie in one band; of more kinds than there are figures, some do not."""
    x = [State(f"{kind}{k}", float(k)) for kind in "abcdefghij" for k in range(30)]
    run = strut.simulate(System("net", x=tuple(x), flow=dict.fromkeys(x, 1.0)), t=1)
    figures = plots.states(run)
    assert len(figures) == MAX_GROUPS
    assert plots.undrawn_count(run, run.names.x, figures) == 2 * 30
    assert "and 60 more, not drawn: they are too many" in Elements(document(run)).text
