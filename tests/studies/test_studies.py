"""Studies say what was published, and find it."""

import json
import re
from dataclasses import replace

import pytest

from strut import simulate, walkers
from strut.cli import main
from strut.cli.reproduce import _plot_figure
from strut.errors import ValueRangeError
from strut.gait import find
from strut.studies import STUDIES
from strut.studies.duindam_dribbel import SWEEPS, sweep, walk
from strut.studies.duindam_springs import SpringWalk, _row
from strut.studies.study import Plot, Row, Study, cost_verdict


def rows(name):
    return {row.quantity: row for row in STUDIES[name].rows()}


def test_garcia():
    found = rows("garcia-simplest")
    for quantity, close in (("stance angle [rad]", 1e-11), ("stance rate", 1e-11)):
        row = found[f"long gait at 0.009: {quantity}"]
        assert float(row.ours) == pytest.approx(float(row.published), abs=close)
    assert float(found["long gait is stable for slopes up to"].ours) == pytest.approx(0.0151, abs=5e-5)
    for which in ("long", "short"):
        for quantity, close in (
            ("period as the slope goes to 0", 2e-4),
            ("stance angle / slope^(1/3)", 2e-4),
        ):
            row = found[f"{quantity}: {which}"]
            assert float(row.ours) == pytest.approx(float(row.published), abs=close)


def test_a_study_of_minutes_says_what_it_is_at(monkeypatch, capsys):
    lines = []
    monkeypatch.setattr("strut.cli.reproduce.tell_progress", lines.append)

    def compute_rows(tell):
        tell("the first gait")
        return [Row("gait", "", "walks")]

    study = Study("slow", "a study", "nobody", lambda: [], rows_with_progress=compute_rows)
    monkeypatch.setitem(STUDIES, "slow", study)
    main_exits(["reproduce", "slow", "--json"], 0)
    assert lines == ["computing slow", "the first gait"]
    assert json.loads(capsys.readouterr().out)["result"]["rows"][0]["ours"] == "walks"


def test_duindam():
    found = rows("duindam-compass")
    assert float(found["speed of the stable passive gait [m/s]"].ours) == pytest.approx(0.76, abs=0.01)
    assert found["step down"].ours == "2.0 cm survived, 2.2 cm falls, 5.0 cm falls"
    assert next(r for q, r in found.items() if q.startswith("fractions")).ours == "0.9971, 0.2704"


def test_duindam_foot_placement():
    """Multipliers to three digits, as they were computed anew from his equations by others."""
    found = rows("duindam-foot-placement")
    multipliers = {
        (2, 0): "-1.515",
        (2, 0.1): "-1.236, -0.125",
        (2, 0.2): "-0.840, -0.367",
        (2, 0.3): "-0.526±0.430i (0.680)",
        (1.5, 0): "-2.129",
        (1.5, 0.3): "-0.729±0.374i (0.819)",
        (1.2, 0): "-3.700",
    }
    for (rate, gain), text in multipliers.items():
        assert found[f"pitch rate {rate:g} rad/s, K_l {gain:g} s: multipliers"].ours == text
    line = next(r for q, r in found.items() if "read until it lands" in q)
    assert line.ours == "-0.012 to +0.012"


@pytest.mark.slow  # minutes: seven controllers, each with both rules of release, over sixty steps down
def test_duindam_tracking():
    found = rows("duindam-tracking")
    puck = next(r for q, r in found.items() if q.startswith("puck on a circle"))
    assert float(puck.ours) < 1e-12
    downs = {q: r.ours for q, r in found.items() if q.startswith("largest step down")}
    largest = {q.removeprefix("largest step down [cm], "): float(t.split(",")[0]) for q, t in downs.items()}
    assert largest["without control"] < 2.1
    assert largest["curve tracking, his gains"] >= 9
    assert largest["curve tracking, fitted polynomial"] >= 9
    assert largest["curve tracking, his gains, his rule of release"] < largest["curve tracking, his gains"]


@pytest.mark.slow  # half a minute: a walk of a minute, and sweeps of three constants
def test_duindam_dribbel():
    """He: power rises with the set point; cost, clearance and speed rise with K_p and fall with K_d."""
    chosen = walk(20.0)
    walks = {name: [w for w in sweep(name, v, chosen).values() if w] for name, v in SWEEPS.items()}
    assert [len(walks[name]) >= 2 for name in SWEEPS] == [True] * 3
    for name, sign in (("hip_set", 1), ("hip_kp", 1), ("hip_kd", -1)):
        powers = [sign * w.mechanical for w in walks[name]]
        assert powers == sorted(powers)
    for name, sign in (("hip_kp", 1), ("hip_kd", -1)):
        for quantity in ("transport", "clearance"):
            values = [sign * getattr(w, quantity) for w in walks[name]]
            assert values == sorted(values)
        assert sign * (walks[name][-1].speed - walks[name][0].speed) > 0


def test_rows_say_whether_a_cost_is_worse():
    """A cost is as published within the digits that are printed, and otherwise better or worse by so much."""
    assert cost_verdict("0.44", 0.438) == cost_verdict("0.0030", 0.00305) == "as published"
    assert cost_verdict("0.0030", 0.00306) == "worse than published by 2 %"
    assert cost_verdict("1.4", 0.7) == "better than published by 50 %"
    assert cost_verdict("1.4", float("nan")) == "not found (nan)"
    for wrong in ("0", "NaN", "-1"):
        with pytest.raises(ValueRangeError, match=f"published is '{wrong}': give a positive number"):
            cost_verdict(wrong, 1.0)
    row = _row("mass", 7, 1.2, 0.0273, "legs of 0.1 kg")
    assert row.remark == "worse than published by 148 %; legs of 0.1 kg"


def test_his_own_masses_are_worse_by_his_own_method():
    """Where ours is worse than published, his machine is, too, in the sum over points that he takes."""
    summed = SpringWalk().with_masses(0.19).sum_over_points(1.2, {})
    assert summed == pytest.approx(0.04894, rel=1e-3)
    assert summed > 4 * 0.011


def test_goswami():
    found = rows("goswami-bifurcation")
    first = float(found["slope of the first doubling [deg]"].ours)
    assert first == pytest.approx(4.37, abs=0.03)
    assert first < float(found["slope of the second doubling [deg]"].ours) < 5.05
    assert len(found["step lengths at 4.5 deg [m]"].ours.split(", ")) == 2


def test_reproduce_lists_and_refuses(capsys):
    main_exits(["reproduce", "--list", "--json"], 0)
    assert {s["name"] for s in json.loads(capsys.readouterr().out)["result"]["studies"]} == set(STUDIES)
    main_exits(["reproduce", "garcia"], 2)
    assert "garcia-simplest" in capsys.readouterr().err


def main_exits(arguments, code):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == code


def test_duindam_springs():
    """Springs to 5 % of an independent recomputation, costs of the walker as it is to two digits of the thesis."""
    walk = SpringWalk()
    nominal = walk.nominal((0.8, 0.9, 1.0, 1.1, 1.2, 1.3))
    for speed, published in ((1.0, 0.28), (1.1, 0.82), (1.2, 1.7), (1.3, 2.8)):
        assert nominal[speed].cost == pytest.approx(published, rel=0.05)
    for speed, spring, damper in (
        (0.9, 0.63, 0.038),
        (1.0, 2.86, 0.034),
        (1.1, 6.08, 0.032),
        (1.2, 10.8, 0.03),
        (1.3, 18.0, 0.029),
    ):
        soft = walk.softest(speed, nominal[speed])
        assert soft.parameters["hip_spring"] == pytest.approx(spring, rel=0.05)
        assert soft.parameters["hip_damping"] == pytest.approx(damper, rel=0.05)
    alone = find(walk.walker.using(soft.parameters), soft.x0, walk=0)  # it does so by itself
    assert alone.speed == pytest.approx(1.3, abs=1e-3)


def test_a_study_is_written_as_a_page_with_its_curves(tmp_path, monkeypatch, capsys):
    """The table, and one picture for each plot of the study; other endings than .html are refused."""
    curve = Plot(
        "error over gain", "gain", "error [m]", (1.0, 10.0, 100.0), {"mean": (3.0, float("nan"), 1.0)}, True
    )
    study = Study("tiny", "a tiny study", "nobody", lambda: [Row("one", "1", "1.0")], lambda: [curve])
    monkeypatch.setitem(STUDIES, "tiny", study)
    page = tmp_path / "tiny.html"
    main_exits(["reproduce", "tiny", "-o", str(page)], 0)
    text = page.read_text()
    assert "a tiny study" in text
    assert "error over gain" in text
    main_exits(["reproduce", "tiny", "-o", str(tmp_path / "tiny.txt")], 2)
    assert "ends with .html" in capsys.readouterr().err


def test_many_curves_over_the_same_quantity_stand_in_pairs(tmp_path, monkeypatch):
    """Neighbours over the same quantity, and no others; two curves alone are wide."""

    def plots_over(*labels):
        return [Plot(f"curve {k}", label, "y", (0.0, 1.0), {"a": (0, 1)}) for k, label in enumerate(labels)]

    for labels, headings in (
        (("phase", "phase", "phase", "time", "time"), ["curve 0, curve 1", "curve 2", "curve 3, curve 4"]),
        (("phase", "phase"), ["curve 0", "curve 1"]),
    ):
        study = Study("tiny", "a tiny study", "nobody", list, lambda labels=labels: plots_over(*labels))
        monkeypatch.setitem(STUDIES, "tiny", study)
        page = tmp_path / "tiny.html"
        main_exits(["reproduce", "tiny", "-o", str(page)], 0)
        text = page.read_text()
        assert re.findall(r">(curve \d[^<]*)<", text) == headings
        assert text.count('class="pair"') == sum("," in heading for heading in headings)


def test_a_moving_picture_stands_before_the_table_and_curves_after_it(tmp_path, monkeypatch):
    curve = Plot("angle", "phase", "y", (0.0, 1.0), {f"walker {k}": (k, k) for k in range(8)})
    run = simulate(walkers.compass(), 0.5)
    study = Study("tiny", "a tiny study", "nobody", lambda: [Row("one", "1", "1.0")], lambda: [curve])
    monkeypatch.setitem(STUDIES, "tiny", replace(study, film=lambda: run))
    page = tmp_path / "tiny.html"
    main_exits(["reproduce", "tiny", "-o", str(page)], 0)
    places = [
        page.read_text().index(f"{word}</h2>") for word in ("In motion", "Published, and ours", "Curves")
    ]
    assert places == sorted(places)
    lines = _plot_figure(curve).traces
    assert len({(line.color, line.dash) for line in lines}) == 8  # more than there are colours
