"""What pages of gaits show: walks that fall are in no curve and no moving picture, and a row says so."""

from types import SimpleNamespace

import numpy as np
import pytest

from strut import Event, Param, State, System, simulate
from strut.studies import human_pictures
from strut.studies.gait_pictures import cycle_plots, fallen_rows, walk_beside_each_other


def going(fall_at):
    """A machine that goes 1 m/s and falls where it has come so far [m]."""
    x, end = State("x", 0.0, "m"), Param("end", fall_at, "m")
    fall = Event("fall", x.sym - end.sym, terminal=True, failure=True, description="it came too far")
    return System(
        "going", x=(x,), p=(end,), flow={"x": 1.0}, outputs={"speed": 0 * x.sym + 1.0}, events=(fall,)
    )


def walks_of(machines):
    return {name: simulate(machine, 4.0, method="rk4", step=0.1) for name, machine in machines.items()}


def test_who_falls_is_not_shown_and_told():
    machines = {"const": going(2.5), "step": going(9.0), "ppoly": going(8.0)}
    walks = walks_of(machines)
    film = walk_beside_each_other(machines, walks, begin=1.0, end=3.0, step=0.1, distance=0.5)
    assert film.status == "done"
    assert film.names.x == ("step.x", "ppoly.x")
    assert film["ppoly.x"][0] == pytest.approx(-0.5)
    (plot,) = cycle_plots(walks, dict.fromkeys(machines, 1.0), {"speed": (("speed",), "m/s", 1.0)})
    assert set(plot.curves) == {"step", "ppoly"}
    (row,) = fallen_rows(walks)
    assert row.quantity == "const: in curves and in motion"
    assert row.ours == "falls after 2.5 s: not shown"
    assert row.remark == "it came too far"


def test_where_all_fall_there_is_no_moving_picture():
    machines = {"const": going(2.5), "step": going(0.5)}
    walks = walks_of(machines)
    assert walk_beside_each_other(machines, walks, begin=1.0, end=3.0, step=0.1, distance=0.5) is None
    assert [row.ours for row in fallen_rows(walks)] == [
        "falls after 2.5 s: not shown",
        "falls after 0.5 s: not shown",
    ]


def test_a_run_that_broke_off_is_told_by_its_status():
    broken = SimpleNamespace(status="not finite", ended_in_failure=False, t1=1.26, ending_meaning="")
    (row,) = fallen_rows({"ppoly": broken})
    assert (row.ours, row.remark) == ("ends after 1.3 s: not shown", "not finite")


def test_a_foot_that_never_lands_is_told(monkeypatch):
    """It stands all the time: there is no stride, and so no curve, though nothing fell."""
    gaps = {f"{point}_r_gap": np.full(4001, -1e-3) for point in ("heel", "arch", "mid", "ball", "tip")}
    standing = SimpleNamespace(status="done", at=lambda times: gaps)
    (row,) = human_pictures.unshown_rows({"step": standing})
    assert row.ours == "the right foot does not land: no curves"
    assert "two periods from 10 s on" in row.remark
    plots = human_pictures.stride_plots({"step": standing})
    assert not any(plot.curves for plot in plots)
