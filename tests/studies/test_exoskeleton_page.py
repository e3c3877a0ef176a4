"""The page of exoskeletons: a study carried out in one piece, from the first generation to what is written, and
what is drawn of machines that walk and of ones that fall."""

import json
from dataclasses import replace

import numpy as np
import pytest

from strut import Event, State, System
from strut.cli.app import main
from strut.studies import kieboom_exoskeleton as study
from strut.studies.exoskeleton_candidates import LinkageCandidate, RivalCandidate, fall_rows, page_parts
from strut.studies.exoskeleton_checks import CHECKS_FILE
from strut.studies.exoskeleton_gait import FREQUENCY
from strut.studies.exoskeleton_pictures import FILMED_STRIDES
from strut.studies.exoskeleton_rival import RIVAL
from strut.studies.known_exoskeletons import refined_exoskeletons, refined_rival
from strut.studies.study import Picture, SearchOrder

CURVES = ("angles of hip and knee", "torques of actuators", "powers of actuators")
CURVES += ("forces between human and machine",)


class FallingBody:
    """A candidate that falls: a body on one coordinate."""

    title, sources = "limp", None

    def machine(self):
        height = State("height", 1.0)
        falls = Event("fall", 0.68 - height.sym, terminal=True, failure=True)
        return System("body", x=[height], flow={height: -0.1}, events=[falls])

    def picture(self):
        return Picture(self.title, "<svg></svg>")


def test_a_walk_that_falls_is_told():
    """It has a film of all of its walk, no curves, and a row that says so."""
    parts = page_parts([FallingBody()])
    assert parts["plots"] == []
    assert [picture.title for picture in parts["pictures"]] == ["limp"]
    film = parts["films"]["limp"]
    assert (film.status, film.t[0]) == ("fall", 0.0)
    assert film.t[-1] == pytest.approx(3.2)
    (row,) = fall_rows(parts["films"])
    assert (row.quantity, row.ours) == ("limp: curves over a cycle", "falls after 3.2 s: not shown")
    assert "in steps of 0.25 ms" in row.remark


@pytest.mark.timeout(3000)
@pytest.mark.slow  # two machines are compiled
def test_what_a_page_draws():
    """A linkage and the rival of the package, and a linkage without stiffness, which falls: curves of those
    that walk, each closed over a cycle, whose powers are what the search measured; films of all."""
    known = LinkageCandidate(refined_exoskeletons()["7-13"], "7-13")
    own = known.individual
    soft = {name: 0.0 if "_stiffness" in name else value for name, value in own.parameters.items()}
    limp = replace(known.with_individual(replace(own, parameters=soft)), title="limp")
    rival = RivalCandidate(refined_rival())
    parts = page_parts([known, limp, rival])
    plots = {plot.title.removesuffix(", right leg"): plot for plot in parts["plots"]}
    assert tuple(plots) == CURVES
    fallen = parts["films"]["limp"]
    for plot in plots.values():
        assert plot.remark == f"limp falls after {fallen.t[-1]:.1f} s: not shown"
        assert {name.partition(":")[0] for name in plot.curves} == {"7-13", RIVAL}
        for name, curve in plot.curves.items():
            assert np.isfinite(curve).all()
            assert np.ptp(curve) > 0
            if plot.title.startswith("angles"):
                assert curve[0] == pytest.approx(curve[-1], abs=3.0), name  # [deg]
    knee = np.array(plots["angles of hip and knee"].curves["7-13: knee"])
    assert 30 < knee.max() < 90
    powers = plots["powers of actuators"].curves
    for each in (known, rival):
        mean = sum(  # points are even, and the last is the first
            np.abs(curve[:-1]).mean() for name, curve in powers.items() if name.startswith(f"{each.title}: ")
        )
        assert 2 * mean == pytest.approx(each.individual.measures["power_absolute"], rel=0.1)
    assert [picture.title for picture in parts["pictures"]] == ["7-13", "limp", RIVAL]
    assert all("<svg" in picture.svg for picture in parts["pictures"])
    assert list(parts["films"]) == ["7-13", "limp", RIVAL]
    for title in ("7-13", RIVAL):
        film = parts["films"][title]
        assert film.status == "done"
        assert film.t[-1] - film.t[0] == pytest.approx(FILMED_STRIDES / FREQUENCY)
        assert film["x"][0] == 0.0
        assert film["x"][-1] == pytest.approx(1.3 * FILMED_STRIDES / FREQUENCY, rel=0.1)
    assert (fallen.status, fallen.t[0]) in {("fall", 0.0), ("topple", 0.0)}
    assert [row.quantity for row in fall_rows(parts["films"])] == ["limp: curves over a cycle"]


@pytest.mark.timeout(3000)
@pytest.mark.slow  # machines of a linkage and of the rival are compiled for lanes, alone and on rigid ground
def test_the_study_in_one_piece(tmp_path, capsys):
    """One generation of eight particles, by the command, with everything that comes after a search: bests run
    again in every way, screened along their own walks, counted, drawn, moving, and a page of it. Once more
    without a search nothing is run again."""
    command = [
        "reproduce",
        "kieboom-exoskeleton",
        "-o",
        str(tmp_path),
        "--precision",
        "single",
        "--runs",
        "1",
    ]
    command += ["--generations", "1", "--population", "8", "--only", "7-13", "--keep", "pins"]
    with pytest.raises(SystemExit) as left:
        main(command)
    assert not left.value.code
    capsys.readouterr()
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    for words in (
        "7-13 of run 1",
        RIVAL,
        "In motion",
        "along its own walk",
        "holds when it is checked",
        "<svg",
    ):
        assert words in text
    checks = json.loads((tmp_path / CHECKS_FILE).read_text(encoding="utf-8"))
    (own,) = (answers for title, answers in checks.items() if title.startswith("7-13 of run 1, "))
    assert set(own) == {"screened", "walked", "fine", "long", "rigid, friction 0.8"}
    assert own["screened"]["ok"] == own["walked"]["ok"] == 1.0
    assert own["fine"]["time"] == 10.0
    assert own["long"]["time"] == 30.0
    told = []
    outcome = study.carry_out(SearchOrder(tmp_path, search=False), told.append)
    assert not [words for words in told if "run again" in words]
    rows = {row.quantity: row for row in outcome.rows}
    stage = min(int(own[way]["stage"]) for way in ("fine", "long"))
    assert rows["best 1: topology and joints with actuators"].remark == f"goal {stage} reached"
    holds = int(stage == 5)
    assert rows["runs with a gait at the last goal that holds when it is checked"].ours == f"{holds} of 1"
    assert set(outcome.films) == {"7-13 of run 1", RIVAL}
    assert {picture.title for picture in outcome.pictures} == set(outcome.films)
    assert len(outcome.maps) == 1
    assert len(outcome.plots) == 2 + len(CURVES)
