"""`strut gait` as a person and a program use it."""

import json
import math
import re
import sys

import numpy as np
import pytest

from strut import view
from strut.cli import main
from strut.gait import find, random_search
from strut.walkers import compass


def run(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as left:
        main(["gait", *arguments])
    assert left.value.code == code
    return capsys.readouterr()


def test_json_has_what_a_program_needs(capsys):
    (gait,) = json.loads(run(capsys, "compass", "--set", "slope=3deg", "--json").out)["result"]["gaits"]
    assert set(gait) == {
        "x0", "period", "step_length", "speed", "multipliers", "residual", "cost_of_transport", "energy_per_step", "stable",
        "turned_angles"
    }  # fmt: skip
    assert gait["x0"]["stance"] == pytest.approx(0.218668802939, abs=1e-9)
    assert gait["multipliers"][0] == pytest.approx([-0.199726127, 0.544476062], abs=1e-7)
    assert gait["stable"] is True


def test_a_model_may_read_from_a_root(capsys, tmp_path):
    """A network that includes a file from elsewhere is refused, and read where its folder is given."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "model").mkdir()
    (tmp_path / "shared" / "ball.cdn").write_text('node "ball" { x = 1 }\n', encoding="utf-8")
    model = tmp_path / "model" / "main.cdn"
    model.write_text('include "../shared/ball.cdn"\n', encoding="utf-8")
    for command in ("gait", "design"):
        for more, says in (
            ((), "leads outside of the model's folder"),
            (("--root", str(tmp_path)), "does not walk"),
        ):
            with pytest.raises(SystemExit):
                main([command, str(model), *more])
            assert says in " ".join(capsys.readouterr().err.split())


def test_all_gaits(capsys):
    long, short = json.loads(run(capsys, "simplest", "--all", "--json").out)["result"]["gaits"]
    assert long["stable"]
    assert not short["stable"]


def test_tables_sweeps_and_files(capsys, tmp_path):
    told = run(
        capsys,
        "compass",
        "--sweep",
        "slope=3deg:4.6deg:20",
        "--basin",
        "--cells",
        "9",
        "-o",
        str(tmp_path / "out"),
    )
    said = told.out
    assert "a stable gait" in said
    assert "doubling" in said
    # what was varied stands in degrees, as it was asked; what programs read stays in SI
    assert "slope [deg]" in said
    assert re.search(r"\n +3 +0\.73435 ", said)
    assert "the branch ended: reached slope = 4.6 deg" in " ".join(told.err.split())
    assert "walks" in said
    figures = {
        f"gait-1-{name}.{kind}"
        for name in ("multipliers", "sweep_stance", "sweep_period", "basin")
        for kind in ("svg", "png")
    }
    files = {"gait-1.html", "gait-1.json", "gait-1.h5", "sweep-1.csv", "map-1.csv", "basin-1.csv"}
    assert {p.name for p in (tmp_path / "out").iterdir()} == files | figures
    page = (tmp_path / "out" / "gait-1.html").read_text(encoding="utf-8")
    assert "strut gait compass --sweep slope=3deg:4.6deg:20 --basin --cells 9" in page
    saved = view.Result.load(tmp_path / "out" / "gait-1.json")
    assert saved.data["gait"]["period"] == pytest.approx(0.734346391, abs=1e-9)
    assert saved.run.provenance["system"] == "compass"
    rows = (tmp_path / "out" / "sweep-1.csv").read_text().splitlines()
    assert rows[0] == "slope,period,stable,stance,swing,stance_rate,swing_rate"
    swept = [float(row.split(",")[0]) for row in rows[1:]]
    assert swept == pytest.approx(np.radians(np.linspace(3, 4.6, 20)).tolist(), abs=1e-15)
    chapter = next(c for c in saved.chapters if c.heading == "Over slope")
    assert {figure.x for figure in chapter.figures.values()} == {"slope [deg]"}
    for trace in chapter.figures["sweep_period"].traces:  # the curves, the squares and what was walked
        assert 2.9 < np.nanmin(trace.x) <= np.nanmax(trace.x) < 4.7
    assert next(iter(chapter.films)) == "slope 3 deg, stable"
    assert {table.head[k] for table, k in zip(chapter.tables, (0, 2), strict=True)} == {"slope [deg]"}
    assert 4.3 < chapter.tables[1].rows[0][2] < 4.5  # the doubling
    assert "reached slope = 4.6 deg." in chapter.text


@pytest.mark.parametrize("sweep", ["slope=3deg:3.3deg:5", "slope=3deg,3.1deg,3.3deg"])
def test_a_sweep_has_the_gaits_at_the_values_that_were_asked(capsys, sweep):
    (branch,) = json.loads(run(capsys, "compass", "--sweep", sweep, "--json").out)["result"]["branches"]
    asked = np.linspace(3, 3.3, 5) if ":" in sweep else np.array([3, 3.1, 3.3])
    assert branch["values"] == pytest.approx(np.radians(asked).tolist(), abs=1e-15)
    for slope, period in zip(asked, branch["period"], strict=True):
        assert period == pytest.approx(find(compass(slope=math.radians(slope))).period, abs=1e-9)
    rows = re.findall(r"\n +(3[.\d]*) +0\.73", run(capsys, "compass", "--sweep", sweep).out)
    assert rows == [f"{value:.5g}" for value in asked]


def test_a_value_without_a_gait_has_a_row_that_says_so(capsys, tmp_path):
    """The branch of the compass ends where its walks take off or fall."""
    asked = ("rimless-wheel", "--sweep", "slope=8deg:0deg:5")
    said = run(capsys, *asked, "-o", str(tmp_path))
    assert len(re.findall(r"\n +\d[.\d]* +(?:\d|no gait)", said.out)) >= 5
    assert re.search(r"\n +0 +no gait", said.out)
    assert "no gait at slope 2 deg and one value more: the branch does not come there" in " ".join(
        said.err.split()
    )
    rows = [line.split(",") for line in (tmp_path / "sweep-1.csv").read_text().splitlines()[1:]]
    assert [row[1] == "nan" for row in rows] == [False, False, False, True, True]
    (branch,) = json.loads(run(capsys, *asked, "--json").out)["result"]["branches"]
    assert [each is None for each in branch["period"]] == [False, False, False, True, True]
    assert [each["value"] for each in branch["missing"]] == branch["values"][3:]


def test_no_gait_is_one_sentence(capsys):
    assert "no gait of 'compass' was found" in run(capsys, "compass", "--set", "slope=-1deg", code=2).err
    assert "write --sweep NAME=A:B:N" in run(capsys, "compass", "--sweep", "slope", code=2).err


def test_without_plotly_a_gait_is_still_saved(capsys, tmp_path, monkeypatch):
    for name in [*(n for n in sys.modules if n.startswith("plotly")), "plotly", "plotly.offline"]:
        monkeypatch.setitem(sys.modules, name, None)
    run(capsys, "simplest", "-o", str(tmp_path))
    assert {"gait-1.json", "gait-1.h5", "gait-1.html"} <= {p.name for p in tmp_path.iterdir()}


def test_a_sweep_that_cannot_begin_says_where_it_could(capsys):
    said = run(capsys, "rimless-wheel", "--sweep", "slope=2deg:20deg:9", "--starts", "5", code=2).err
    assert "A sweep begins at its first value, slope = 2 deg: let" in said.replace("\n", " ")
    said = run(capsys, "compass", "--sweep", "slope=2deg:5deg", code=2).err
    assert "'slope=2deg:5deg' does not say how many values there are" in said
    said = run(capsys, "compass", "--sweep", "slope=2deg,5deg,3deg", code=2).err
    assert "a gait is followed from the first value to the last: write them in order" in " ".join(
        said.split()
    )
    said = run(capsys, "compass", "--sweep", "slop=2deg:5deg:9", code=2).err
    assert "there is no 'slop': did you mean 'slope'" in " ".join(said.split())
    assert "allowed are -0.5 to 0.5 rad" in run(capsys, "compass", "--sweep", "slope=3deg:2:9", code=2).err


def test_a_device_is_for_basins_and_must_be_one(capsys):
    said = run(capsys, "compass", "--device", "cuda", code=2).err
    assert "--device cuda is for the runs of a basin: give --basin too" in " ".join(said.split())
    said = run(capsys, "compass", "--cells", "9", code=2).err
    assert "--cells 9 is for the runs of a basin: give --basin too" in " ".join(said.split())
    said = run(capsys, "compass", "--basin", "--device", "gpu", code=2).err
    assert "device 'gpu' is unknown" in " ".join(said.split())


def test_a_search_that_is_interrupted_shows_what_it_had(capsys, monkeypatch):
    """The gait that was found by then is in the answer, and the command says that it did not end by itself."""
    verify, calls = random_search.verified_gait, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return verify(*arguments)

    monkeypatch.setattr(random_search, "verified_gait", interrupted)
    words = ("compass", "--set", "slope=4deg", "--all", "--starts", "100")
    document = json.loads(run(capsys, *words, "--json", code=130).out)
    assert not document["ok"]
    assert len(document["result"]["gaits"]) == 1
    assert any(each["text"].startswith("interrupted: 1 found") for each in document["messages"])
    calls.clear()
    answer = run(capsys, *words, code=130)
    assert "stable" in answer.out
    assert "interrupted: 1 found" in answer.err


def test_a_budget_that_is_over_is_said(capsys):
    words = ("compass", "--set", "slope=0deg", "--all", "--starts", "200000", "--budget", "0.5")
    answer = run(capsys, *words, code=2)
    assert "random states when the budget of 0.5 s was over" in " ".join(answer.err.split())
