"""`strut view`: what was saved is shown, or it is said why not."""

import json
import sys
from pathlib import Path

import pytest

import strut
import strut.errors
from strut.cli import look
from tests.cli.test_cli import run


@pytest.fixture
def saved(tmp_path):
    return strut.simulate(strut.walkers.compass(), t=1).save(tmp_path / "walk.h5")


@pytest.fixture
def opened(monkeypatch):
    found = []
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setattr(look.webbrowser, "open", lambda address: found.append(address) or True)
    return found


def test_a_run_becomes_a_page_beside_it(capsys, saved, opened):
    pytest.importorskip("plotly")
    code, out, _ = run(capsys, "view", str(saved))
    page = saved.with_name("walk.h5.html")
    assert code == 0
    assert str(page) in out.replace("\n", "")
    assert "<h1>compass</h1>" in page.read_text(encoding="utf-8")
    assert opened == [page.resolve().as_uri()]


def test_only_the_film(capsys, saved, opened, tmp_path):
    _, out, _ = run(
        capsys, "view", str(saved), "--film", "-o", str(tmp_path / "film.html"), "--no-open", "--json"
    )
    assert json.loads(out)["result"] == {"file": str(tmp_path / "film.html"), "opened": False, "remark": ""}
    assert 'id="camera"' in (tmp_path / "film.html").read_text(encoding="utf-8")
    assert opened == []


def test_no_display_is_said(capsys, saved, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    code, _, err = run(capsys, "view", str(saved), "--film")
    assert code == 0
    assert "no display or browser was found here" in err


def test_a_page_needs_no_plotly(capsys, saved, monkeypatch):
    for name in [*(n for n in sys.modules if n.startswith("plotly")), "plotly"]:
        monkeypatch.setitem(sys.modules, name, None)
    code, _, err = run(capsys, "view", str(saved), "--no-open")
    assert code == 0
    assert err.startswith("wrote ")
    assert len(err.splitlines()) == 1
    assert "facts headline" in saved.with_name("walk.h5.html").read_text(encoding="utf-8")


def test_where_nothing_can_be_written_it_goes_elsewhere(capsys, saved, opened, monkeypatch):
    whole = strut.view.animation

    def refused(run, path):
        if path.parent == saved.parent:
            raise strut.errors.StorageError("read only")
        return whole(run, path)

    monkeypatch.setattr(strut.view, "animation", refused)
    _, out, _ = run(capsys, "view", str(saved), "--film", "--json")
    assert json.loads(out)["result"]["file"].endswith("walk.html")
    assert len(opened) == 1


def test_pictures_are_opened_as_they_are(capsys, tmp_path, opened):
    (tmp_path / "a.svg").write_text("<svg/>")
    run(capsys, "view", str(tmp_path / "a.svg"))
    assert opened == [(tmp_path / "a.svg").resolve().as_uri()]


def test_every_result_can_be_shown(capsys, saved, opened, tmp_path):
    """A result, a table that stands alone, a table of a run that is there, and folders of them."""
    pytest.importorskip("plotly")
    walk = strut.Trajectory.load(saved)
    strut.view.Result("found it", run=walk, facts={"speed": "0.7 m/s"}).save(tmp_path / "found.json")
    walk.save(tmp_path / "walk.csv")
    (tmp_path / "alone").mkdir()
    walk.save(tmp_path / "alone" / "table.csv")
    made = {}
    for name in ("found.json", "walk.csv", "alone/table.csv", "alone"):
        code, out, _ = run(capsys, "view", str(tmp_path / name), "--json")
        assert code == 0
        made[name] = Path(json.loads(out)["result"]["file"])
    assert [path.name for path in made.values()] == [
        "found.json.html",
        "walk.csv.html",
        "table.csv.html",
        "table.csv.html",
    ]
    assert "0.7 m/s" in made["found.json"].read_text(encoding="utf-8")
    _, out, _ = run(capsys, "view", str(tmp_path / "walk.csv"), "--json", "--no-open")
    assert "walk.h5, which lies beside walk.csv, has units" in json.loads(out)["result"]["remark"]
    assert "A table has no units" in made["alone"].read_text(encoding="utf-8")
    assert len(opened) == 4
    code, _, _ = run(capsys, "view", str(tmp_path / "found.json"), "-o", str(tmp_path / "a.gif"), "--no-open")
    assert code == 0
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF")


def test_a_film_does_not_replace_the_page(capsys, saved):
    page = saved.with_name("walk.h5.html")
    page.write_text("the page")
    _, out, _ = run(capsys, "view", str(saved), "--film", "--no-open", "--json")
    assert json.loads(out)["result"]["file"] == str(saved.with_name("walk.h5.film.html"))
    assert page.read_text() == "the page"


def test_of_a_folder_its_own_page_is_shown(capsys, tmp_path):
    """Not what an earlier look at one of its files left; the page of a result before another; index.html before all."""

    def shown():
        return Path(
            json.loads(run(capsys, "view", str(tmp_path), "--no-open", "--json")[1])["result"]["file"]
        ).name

    for name in (
        "basin-1.csv.html",
        "a.h5.film.html",
        "notes.html",
        "gait-1.html",
        "gait-2.html",
        "gait-1.json",
        "gait-2.json",
    ):
        (tmp_path / name).write_text("")
    assert shown() == "gait-1.html"
    (tmp_path / "index.html").write_text("")
    assert shown() == "index.html"
    for name in ("index.html", "gait-1.html", "gait-2.html"):
        (tmp_path / name).unlink()
    assert shown() == "notes.html"


def test_what_can_be_written_from_what(capsys, tmp_path):
    for name in ("index.html", "run.h5", "run.csv"):
        (tmp_path / name).write_text("a\n1\n")
    cases = (
        ((".", "-o", "a.gif"), "cannot write 'a.gif' from the folder"),
        (("index.html", "-o", "b.html"), "cannot write 'b.html' from 'index.html', which is only opened"),
        ((".", "--film"), "cannot film the folder"),
        (("run.csv", "--film"), "cannot film 'run.csv', a table"),
        (("run.csv", "-o", "a.gif"), "cannot write 'a.gif' from 'run.csv'"),
        (("run.h5", "-o", "a.pdf"), "cannot write 'a.pdf' from 'run.h5'"),
    )
    for (name, *words), message in cases:
        code, _, err = run(capsys, "view", str(tmp_path / name), *words, "--no-open")
        assert code == 2
        assert message in err.replace("\n", " ")
        assert ".html, .gif, .mp4 or name%d.png from a run (.h5)" in err.replace("\n", " ")
    assert "there is run.h5, run.csv" in run(capsys, "view", str(tmp_path), "--film")[2].replace("\n", " ")
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a.json"])
def test_what_a_run_can_be_saved_as(capsys, tmp_path, name):
    code, out, err = run(capsys, "run", "compass", "-t", "1", "-o", str(tmp_path / name))
    assert (code, out) == (2, "")
    assert all(word in err for word in (".h5", ".csv", ".html", ".gif", ".mp4", "a directory", "--json"))


@pytest.mark.parametrize("command", ["gait", "design"])
def test_many_files_need_a_directory(capsys, tmp_path, command):
    code, _, err = run(capsys, command, "compass", "-o", str(tmp_path / "found.html"))
    assert code == 2
    assert "need a directory: write -o found/" in err.replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_the_page_of_a_walker_says_how_to_make_it(capsys, tmp_path):
    pytest.importorskip("plotly")
    run(capsys, "run", "rimless-wheel", "-t", "0.5", "-o", str(tmp_path / "a.html"))
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "system = walkers.rimless_wheel()" in text
    assert "your system" not in text


def test_what_cannot_be_shown_is_said(capsys, tmp_path):
    (tmp_path / "a.txt").write_text("t")
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.json").write_text("{}")
    strut.view.Result("still").save(tmp_path / "still.json")
    cases = (
        ("a.txt", "what can be shown is .h5 (a run)"),
        ("none.h5", "there is no such file"),
        ("empty", "nothing in it can be shown"),
        ("a.json", "not a 'strut result 1'"),
    )
    for name, message in cases:
        code, _, err = run(capsys, "view", str(tmp_path / name))
        assert code == 2
        assert message in err.replace("\n", " ")
    code, _, err = run(capsys, "view", str(tmp_path / "still.json"), "--film")
    assert code == 2
    assert "it has no run" in err


def test_numbers_are_saved_even_if_a_picture_cannot_be(capsys, tmp_path, monkeypatch):
    for name in [*(n for n in sys.modules if n.split(".")[0] == "imageio_ffmpeg"), "imageio_ffmpeg"]:
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = run(
        capsys, "run", "compass", "-t", "0.3", "-o", str(tmp_path / "a.mp4"), "-o", str(tmp_path / "a.h5")
    )
    assert code == 2
    assert "an MP4 needs imageio-ffmpeg" in err
    assert "compass from 0 to" in out
    assert [f.name for f in tmp_path.iterdir()] == ["a.h5"]


def test_runs_and_designs_are_compared_on_one_page(capsys, tmp_path):
    from strut import walkers

    for name, slope in (("flat", 3), ("steep", 3.5)):
        strut.simulate(walkers.compass(slope=strut.deg(slope)), t=4).save(tmp_path / f"{name}.h5")
    page = tmp_path / "both.html"
    files = [str(tmp_path / f"{name}.h5") for name in ("flat", "steep")]
    code, out, _ = run(capsys, "view", *files, "-o", str(page), "--no-open")
    assert code == 0
    assert str(page) in out.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "<h1>flat and steep</h1>" in text
    flat, steep = (strut.Trajectory.load(path)["step_length"][-1] for path in files)
    assert f'<td class="number">{flat:.5g} m</td><td class="number">{steep:.5g} m</td>' in text
    for words, why in (
        ([*files, "--film"], "--film is for one file"),
        ([files[0], str(tmp_path / "no.h5")], "there is no such file"),
        ([files[0], str(page)], "what can be compared is .h5"),
        ([*files, "-o", str(tmp_path / "both.png")], "a comparison is a page, .html"),
    ):
        code, _, err = run(capsys, "view", *words)
        assert code == 2
        assert why in err.replace("\n", " ")


def test_designs_and_gaits_are_shown_and_compared_however_they_were_saved(capsys, tmp_path, monkeypatch):
    """The folders that `strut design -o` writes, the design in them alone, and what `save` wrote in Python."""
    from strut import gait, optimal

    monkeypatch.chdir(tmp_path)
    for name, speed in (("slow", "0.4"), ("fast", "0.5")):
        asked = ("design", "compass", "--speed", speed, "--slope", "0deg", "--starts", "1")
        assert run(capsys, *asked, "-o", name)[0] == 0
    gait.find(strut.walkers.compass(slope=strut.deg(3))).save("gait.h5")
    numbers = [f"{optimal.load(f'{name}/design.h5').result.cost:.6g}" for name in ("slow", "fast")]
    for files in (("slow", "fast"), ("slow/design.h5", "fast/design.h5"), ("slow/design.json", "fast")):
        code, _, err = run(capsys, "view", *files, "-o", "both.html", "--no-open")
        assert code == 0, err
        page = Path("both.html").read_text(encoding="utf-8")
        assert [number for number in numbers if number not in page] == []
    for file in ("slow/design.h5", "gait.h5"):
        code, _, err = run(capsys, "view", file, "-o", "one.html", "--no-open")
        assert code == 0, err
        assert "multiplier" in Path("one.html").read_text(encoding="utf-8")


def test_compared_numbers_are_those_of_the_run(capsys, tmp_path, monkeypatch):
    from strut.view.pages.headline import headline

    monkeypatch.chdir(tmp_path)
    walk = strut.simulate(strut.walkers.compass(slope=strut.deg(3)), t=6)
    walk.save("walk.h5")
    strut.simulate(strut.walkers.compass(slope=strut.deg(3.5)), t=6).save("other.h5")
    code, _, _ = run(capsys, "view", "walk.h5", "other.h5", "-o", "both.html", "--no-open")
    assert code == 0
    page, whole = Path("both.html").read_text(encoding="utf-8"), headline(walk)
    assert "cost of transport" in whole
    assert [value for value in whole.values() if value not in page] == []
    # a machine of one's own, which a file does not hold, is known at points; the largest friction is at one
    alone = headline(strut.Trajectory.load("walk.h5"))
    assert alone["friction needed"] == whole["friction needed"]


def test_a_film_has_the_size_and_the_rate_that_are_asked(capsys, saved, tmp_path):
    """Frames as pictures show both: half as long at ten a second, drawn in the pixels that were asked."""
    image_module = pytest.importorskip("PIL.Image")
    asked = ("--size", "160x120", "--rate", "10", "--slow", "2", "--camera", "corner")
    code, _, _ = run(capsys, "view", str(saved), "-o", str(tmp_path / "f%03d.png"), *asked, "--no-open")
    assert code == 0
    pictures = sorted(tmp_path.glob("f*.png"))
    length = strut.Trajectory.load(saved).t1
    assert len(pictures) == round(2 * length * 10) + 1
    assert image_module.open(pictures[0]).size == (160, 120)


def test_only_films_have_a_size(capsys, saved):
    code, _, err = run(capsys, "view", str(saved), "--rate", "10")
    assert code == 2
    assert "--size, --rate, --slow and --camera are of films: write one" in err
    assert "--size 3x is no size" in run(capsys, "view", str(saved), "-o", "a.gif", "--size", "3x")[2]
    assert "--slow 0 cannot be" in run(capsys, "view", str(saved), "-o", "a.gif", "--slow", "0")[2]
    assert "a film has no view 'top'" in run(capsys, "view", str(saved), "-o", "a.gif", "--camera", "top")[2]
