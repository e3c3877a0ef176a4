"""Results as plain data: a page, a folder and a file of them, for gaits and for whatever else has tables, figures and a run."""

import json
import sys

import numpy as np
import pytest

import strut
from strut import report, view, walkers
from strut.errors import StorageError
from strut.view import Chapter, Result, Rows
from strut.view.figures.figure import Line, Points
from tests.view.browser import LOOKS, Visit
from tests.view.test_page import EVIL, Elements


@pytest.fixture(scope="module")
def found(walker):
    return report.gait_result(
        walker.gait,
        "strut gait compass --set slope=3deg",
        branches=[walker.branch, walker.doubled],
        cells=walker.basin,
    )


@pytest.fixture(scope="module")
def design():
    """As a search for designs hands it over: numbers, figures and a run."""
    run = strut.simulate(walkers.pendulum(damping=0.1), t=2)
    chapter = Chapter(
        "Parameters",
        "What was free.",
        [
            Rows(
                ("name", "before", "after", "unit"),
                [("length", 1.0, 1.25, "m"), ("mass", 1.0, 0.7, "kg")],
                "Free",
            )
        ],
        {
            "trade_off": view.trade_off(
                [1, 2, 3], [3, 1, 2], "speed [m/s]", "cost of transport [1]", labels=list("abc")
            )
        },
    )
    return Result(
        *("pendulum: least work", "Solved", " in 12 iterations; the replay agrees within 1e-9."),
        asked="strut design pendulum --free length",
        facts={"cost": "0.12"},
        chapters=[chapter],
        run=run,
        provenance={"solver": "ipopt"},
        again="design = find()",
        data={"parameters": {"length": 1.25}},
    )


def every_trace(result):
    return [(name, trace) for name, figure in result.figures() for trace in figure.traces]


def test_the_page_of_a_gait_has_all_that_was_asked(found, walker):
    g = walker.gait
    seen = Elements(found.report().document())
    headings = (
        "In motion",
        "One step",
        "Stability",
        "Energy of a step",
        "Over slope",
        "Basin",
        "Parameters",
        "Where it comes from",
    )
    assert all(word in seen.text for word in headings)
    assert "strut gait compass --set slope=3deg" in seen.text
    for number in (
        f"{g.period:.5g} s",
        f"{g.speed:.5g} m/s",
        f"{g.step_length:.5g} m",
        f"{abs(g.multipliers[0]):.6g}",
        f"{walker.branch.bifurcations[0].at:.9g}",
    ):
        assert number in seen.text
    assert "energy lost in impacts and dampers, over weight and distance" in seen.text
    for name, value in g.x0.items():
        assert name in seen.text
        assert f"{value:.9g}" in seen.text
    assert seen.data("film")["pivots"]
    titles = [f["y"] for f in seen.data("figures")]
    assert {"imaginary part [1]", "time of a step [s]", "stance_rate [rad/s]", "energy [J]"} <= set(titles)
    assert [tag for tag, _ in seen.tags].count("svg") == 1  # the strip of stick figures


def test_how_to_find_a_gait_again(found, walker):
    given = {"system": walkers.compass(slope=0.01)}
    exec(found.again, given)
    assert given["found"].period == pytest.approx(walker.gait.period, abs=1e-10)
    np.testing.assert_allclose(given["found"].multipliers, walker.gait.multipliers, atol=1e-8)


@pytest.mark.parametrize("which", ["found", "design"])
def test_a_file_keeps_everything(which, request, tmp_path):
    result = request.getfixturevalue(which)
    path = result.save(tmp_path / "result.json")
    again = Result.load(path)
    assert (again.title, again.asked, again.facts, again.again) == (
        result.title,
        result.asked,
        dict(result.facts),
        result.again,
    )
    assert json.loads(path.read_text(encoding="utf-8"))["data"] == json.loads(json.dumps(result.data))
    for (name, a), (other, b) in zip(every_trace(again), every_trace(result), strict=True):
        assert name == other
        assert type(a) is type(b)
        if isinstance(b, (Line, Points)):
            np.testing.assert_array_equal(a.x, np.asarray(b.x, dtype=float))
            np.testing.assert_array_equal(a.y, np.asarray(b.y, dtype=float))
        else:
            np.testing.assert_array_equal(a.values, b.values)
            assert a.names == b.names
    np.testing.assert_array_equal(again.run.t, result.run.t)
    one, other = (Elements(r.report().document()) for r in (again, result))
    tables, again_tables = (e.text[e.text.index("How to run it again") :] for e in (one, other))
    assert tables.split() == again_tables.split()  # films, which are not kept, leave empty lines
    names = [[t.get("name") for f in e.data("figures") for t in f["traces"]] for e in (one, other)]
    assert names[0] == names[1]


def test_a_result_without_its_run(design, tmp_path):
    path = design.save(tmp_path / "a.json")
    (tmp_path / "a.h5").unlink()
    again = Result.load(path)
    assert again.run is None
    assert "Its run, a.h5, is not beside the file" in Elements(again.report().document()).text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is damaged or not a result"),
        ("[]", "not a 'strut result 1'"),
        ('{"format": "strut result 1"}', "it is damaged or not a result"),
    ],
)
def test_damaged_files_are_said(tmp_path, text, why):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(StorageError, match=why):
        Result.load(tmp_path / "a.json")
    with pytest.raises(StorageError, match="there is no such file"):
        Result.load(tmp_path / "b.json")
    with pytest.raises(StorageError, match="a result is saved as .json"):
        Result("x").save(tmp_path / "a.txt")


def test_a_file_reads_nothing_elsewhere(design, tmp_path):
    (tmp_path / "in").mkdir()
    path = design.save(tmp_path / "in" / "a.json")
    (tmp_path / "in" / "a.h5").rename(tmp_path / "b.h5")
    path.write_text(path.read_text(encoding="utf-8").replace('"a.h5"', '"../b.h5"'), encoding="utf-8")
    assert Result.load(path).run is None


def test_folder(design, tmp_path):
    pytest.importorskip("matplotlib")
    done = design.folder(tmp_path / "out")
    assert set(done.files) == {"result.json", "result.h5", "index.html", "trade_off.svg", "trade_off.png"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == set(done.files)
    assert "gait-2-trade_off.svg" in design.folder(tmp_path / "out", "gait-2").files


def test_without_plotly_and_matplotlib_it_is_saved(design, tmp_path, monkeypatch):
    for package in ("matplotlib", "plotly"):
        for name in [
            *(n for n in sys.modules if n.startswith(package)),
            package,
            f"{package}.figure",
            f"{package}.offline",
        ]:
            monkeypatch.setitem(sys.modules, name, None)
    done = design.folder(tmp_path / "out")
    assert set(done.files) == {"result.json", "result.h5", "index.html"}
    assert ["strut[paper]" in why for why in done.missing] == [True]


def test_names_are_not_html(design):
    chapter = Chapter(EVIL, EVIL, [Rows((EVIL,), [(EVIL,)], EVIL)], note=EVIL)
    evil = Elements(
        Result(
            EVIL,
            EVIL,
            EVIL,
            asked=EVIL,
            facts={EVIL: EVIL},
            chapters=[chapter],
            again=EVIL,
            provenance={EVIL: EVIL},
        )
        .report()
        .document()
    )
    assert evil.text.count(EVIL) > 12
    assert not any(key.startswith("on") for _, attributes in evil.tags for key in attributes)
    assert {tag for tag, _ in evil.tags} <= {tag for tag, _ in Elements(design.report().document()).tags}


def test_the_page_of_a_gait_on_a_phone(chromium, found, tmp_path):
    visit = Visit(chromium, found.page(tmp_path / "gait.html"), **LOOKS["phone"])
    visit.alone()
    assert visit.run("document.documentElement.scrollWidth <= innerWidth")
    assert visit.run("document.querySelectorAll('.plot image.cells').length") == 1
    strip = visit.run(
        "(r => [r.width, r.height])(document.querySelector('.strip svg').getBoundingClientRect())"
    )
    assert min(strip) > 100


SEEN_WALKS = "[...document.querySelectorAll('[data-walk]')].filter(e => !e.hidden).map(e => e.dataset.walk)"
"""Titles of the walks that are shown, one of each chapter."""


def click_square(visit, plot, number):
    """Click the square of a figure, and return the title of its walk."""
    trace = f"{plot}.figure.traces.find(t => t.walks)"
    place = f"(t => [{plot}.axes().u(t.x[{number}]), {plot}.axes().v(t.y[{number}])])({trace})"
    visit.page.mouse.click(*visit.point(f"{plot}.svg()", place))
    title = visit.run(f"{trace}.walks[{number}]")
    visit.until(f"{SEEN_WALKS}.includes({title!r})")
    return title


def test_a_click_on_a_branch_or_a_basin_shows_that_walk(chromium, found, tmp_path):
    """Also where the result comes from its file, which keeps what is shown of walks."""
    loaded = view.Result.load(found.save(tmp_path / "gait.json"))
    for result, name in ((found, "gait.html"), (loaded, "loaded.html")):
        visit = Visit(chromium, result.page(tmp_path / name), **LOOKS["light"])
        visit.open_all()
        assert len(visit.run(SEEN_WALKS)) == 2  # of the branch, and of the basin
        of_branch, of_basin = (
            f"strutFigures().find(f => f && f.figure.traces.some(t => t.walks) && {'' if cells else '!'}"
            f"f.figure.traces.some(t => t.kind === 'cells'))"
            for cells in (False, True)
        )
        walk, fall = click_square(visit, of_branch, 5), click_square(visit, of_basin, 1)
        assert visit.run(SEEN_WALKS) == [walk, fall]  # neither hides the other
        chosen = visit.page.locator(".walks select").nth(1)
        assert chosen.evaluate("s => s.value") == fall
        chosen.focus()
        visit.page.keyboard.press("Home")  # without a mouse
        visit.until(
            f"{SEEN_WALKS}[1] === {visit.run(f'{of_basin}.figure.traces.find(t => t.walks).walks[0]')!r}"
        )
        player = "document.querySelector('[data-walk]:not([hidden]) .player')"
        visit.until(f"{player}.dataset.ready === 'yes'")
        visit.alone()
        visit.context.close()


def test_walks_from_cells_end_as_the_basin_says(found, walker):
    """Runs that are shown, against the colours behind them; a walk that goes on is only shown for a while."""
    chapter = next(each for each in found.chapters if each.heading == "Basin")
    assert {title.rsplit(": ", 1)[1] for title in chapter.films} == set(walker.basin.outcomes)
    assert len(chapter.films) >= 6
    for title, run in chapter.films.items():
        word = title.rsplit(": ", 1)[1]
        assert run.status in ("done", word)
        if word == "walks":
            assert run.status == "done"


def test_notebooks(found, design, walker):
    assert "<strong>Gait of compass</strong>: 0.734346 s, 0.535445 m, stable" in walker.gait._repr_html_()
    assert "multipliers" in walker.gait._repr_html_()
    assert "doubling" in walker.branch._repr_html_()
    assert "walks" in walker.basin._repr_html_()
    assert "<strong>pendulum: least work</strong>" in design._repr_html_()
    assert "Solved" in repr(design)
    assert "Multipliers" in found._repr_html_()


# ---- tables ----


def test_a_table_is_shown(compass, tmp_path):
    path = compass.save(tmp_path / "walk.csv", times=np.linspace(0, 1, 301))
    seen = Elements(view.table_report(path).document())
    columns = seen.data("columns")
    drawn = {f["y"]: columns[f["traces"][0]["y"]] for f in seen.data("figures")}
    np.testing.assert_allclose(drawn["stance"], compass.at(np.linspace(0, 1, 301))["stance"], rtol=1e-6)
    assert "and 101 more, not listed" in seen.text


def test_a_table_of_words_is_cells(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,outcome\n0,0,fall\n0,1,walks\n1,0,walks\n")
    (figure,) = Elements(view.table_report(tmp_path / "a.csv").document()).data("figures")
    (cells,) = figure["traces"]
    words = {key: word for key, word, _ in cells["names"]}
    assert [[words.get(v, "") for v in row] for row in cells["values"]] == [["fall", "walks"], ["walks", ""]]
    for text, why in (("a,b\n1\n", "as many cells in every row"), ("", "a table has a line of names")):
        (tmp_path / "b.csv").write_text(text)
        with pytest.raises(StorageError, match=why):
            view.table_report(tmp_path / "b.csv")
