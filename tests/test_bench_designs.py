"""The matrix of designs: which cells there are, what is kept, and that none hangs the rest."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer
from bench import designs
from bench.design_cell import make_walker
from bench.designs import (
    Cell,
    all_cells,
    measure,
    measure_cells,
    read_rows,
    select_cells,
    summary,
    why_impossible,
)

ROOT = Path(__file__).parents[1]
GOOD = {"ok": True, "cost_value": 0.5, "reason": "", "wall": 2.0, "has_gait": True}


def test_the_matrix_is_all_walkers_costs_speeds_and_slopes():
    cells = all_cells()
    assert {c.walker for c in cells} >= {"compass", "kneed", "saurel-e", "trunk-3d", "simplest"}
    assert {(c.speed, c.slope) for c in cells} == {(v, s) for v in (0.3, 0.5, 0.8) for s in (0.0, 3.0)}
    assert len(cells) == len(set(cells)) == len({c.walker for c in cells}) * len({c.cost for c in cells}) * 6


def test_only_selects_by_any_label():
    chosen = select_cells(all_cells(), ["compass", "energy", "squared-torque", "3deg"])
    assert {c.walker for c in chosen} == {"compass"}
    assert {c.cost for c in chosen} == {"energy", "squared-torque"}
    assert {c.slope for c in chosen} == {3.0}
    assert len(chosen) == 2 * 3
    with pytest.raises(typer.BadParameter, match="--only compas names nothing: allowed are .*compass"):
        select_cells(all_cells(), ["compas"])


def test_a_cell_that_hangs_is_ended_with_all_that_it_started():
    began = time.perf_counter()
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    row = measure([sys.executable, "-c", child], 0.5)
    assert row["reason"] == "no answer within 0.5 s"
    assert not row["ok"]
    assert time.perf_counter() - began < 20
    died = measure([sys.executable, "-c", "raise SystemExit('out of luck')"], 60)
    assert died["reason"] == "ended with 1: out of luck"
    spoke = measure([sys.executable, "-c", "print('noise'); print('{\"ok\": true}')"], 60)
    assert spoke["ok"]


def test_rows_are_kept_and_a_stopped_run_goes_on(tmp_path, monkeypatch):
    path, measured = tmp_path / "rows.jsonl", []
    cells = select_cells(all_cells(), ["compass", "rimless-wheel", "energy", "0deg"])

    def fake(command, limit):
        measured.append(command[-4:])
        if len(measured) == 2:
            raise KeyboardInterrupt
        return GOOD

    monkeypatch.setattr(designs, "measure", fake)
    monkeypatch.setattr(designs, "version", lambda: "v1")
    with pytest.raises(KeyboardInterrupt):
        measure_cells(cells, path, 120.0, lambda line: None)
    with path.open("a") as file:
        file.write('{"cell": {"walk')  # killed while it wrote
    assert len(read_rows(path, "v1")) == 1
    with path.open("a") as file:
        file.write("\n")
    lines = []
    rows = measure_cells(cells, path, 120.0, lines.append)
    assert [each[0] for each in measured] == ["compass"] * 4  # the second one twice, the first not again
    assert len(rows) == len(lines) == 6
    assert "it has no motor" in lines[-1]
    assert counts(rows)["cells"] == 6
    assert counts(rows)["physically possible"] == counts(rows)["of these ok"] == 3
    monkeypatch.setattr(designs, "version", lambda: "v2")  # what another version measured is not believed
    kept = measure_cells(cells, path, 120.0, lines.append, keep=True)
    assert len(measured) == 4  # unless it is asked for, and then marked and counted
    assert "[v1]" in lines[-6]
    assert "measured by another version             3" in summary(kept, "v2")
    measure_cells(cells, path, 120.0, lines.append)
    assert len(measured) == 7


def counts(rows):
    """The numbers of the summary by their names."""
    pairs = [line.rsplit(maxsplit=1) for line in summary(rows).splitlines() if line]
    return {name.strip(): int(number) for name, number in pairs if number.isdigit()}


def test_the_summary_counts_what_says_ok_and_should_not():
    late = {"ok": False, "reason": "no answer within 480 s", "wall": 480.0}
    busy = {"ok": False, "reason": "not solved", "wall": 400.0, "processor": 30.0}
    rows = {
        Cell("compass", "energy", 0.3, 0.0): GOOD | {"data": {"verdict": "ok, unstable in open loop"}},
        Cell("compass", "energy", 0.5, 0.0): GOOD | {"has_gait": False, "defaults": ["torque is at most 5"]},
        Cell("compass", "energy", 0.8, 0.0): GOOD | {"data": {"balance": {"relative": 1e-3}}},
        Cell("compass", "energy", 0.8, 3.0): GOOD | {"unlisted": ["torque"]},
        Cell("kneed", "energy", 0.5, 0.0): busy,  # 30 s of its own: the machine had other work
        Cell("kneed", "energy", 0.8, 0.0): late,
    }
    assert counts(rows) == {
        "cells": 6,
        "physically possible": 6,
        "of these ok": 4,
        "and unstable in open loop": 1,
        "and decided by a default, named": 1,
        "failed, each with its sentence": 2,
        "failed without a sentence": 0,
        "over 120 s": 1,
        "ok without a gait": 1,
        "ok with a balance over 1e-06": 1,
        "ok with an unlisted active limit": 1,
        "measured by another version": 0,
    }
    assert "66.7 % of the possible cells are ok; slowest kneed energy 0.8m/s 0deg, 480.0 s" in summary(rows)
    assert "kneed               0    2     1    480.0 s" in summary(rows)


def test_what_is_impossible_says_why_and_has_no_motor():
    reasons = {cell: why_impossible(cell) for cell in all_cells()}
    impossible = {cell.walker for cell, why in reasons.items() if why and cell.cost != "electrical"}
    assert impossible == {"point-3d", "rimless-wheel", "simplest", "slip"}
    assert "on the flat nothing gives it back" in reasons[Cell("simplest", "energy", 0.3, 0.0)]
    assert "the slope decides its speed" in reasons[Cell("simplest", "energy", 0.3, 3.0)]


def test_a_walker_without_units_is_measured_on_earth():
    walker = make_walker("round-foot")
    assert not walker.dimensionless
    assert next(float(q.value[0]) for q in walker.p if q.name == "g") == 9.81


def test_a_cell_measures_a_design():
    """The program of one cell, as the matrix starts it."""
    command = Cell("compass", "squared-torque", 0.8, 3.0).command()
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["ok"]
    assert row["data"]["speed"] == pytest.approx(0.8, abs=1e-6)
    assert row["data"]["balance"]["relative"] < 1e-6


def test_no_electrical_power_is_asked_of_torques():
    assert "nothing says what electrical power" in why_impossible(Cell("compass", "electrical", 0.5, 0.0))
    assert not why_impossible(Cell("compass", "energy", 0.5, 0.0))


def test_several_cells_at_one_time_give_the_same_rows_and_an_interruption_ends_their_programs(
    tmp_path, monkeypatch
):
    cells = select_cells(all_cells(), ["compass", "energy", "squared-torque"])
    monkeypatch.setattr(designs, "version", lambda: "v1")
    monkeypatch.setattr(designs, "measure", lambda command, limit: GOOD | {"cost_value": float(command[-2])})
    rows = measure_cells(cells, tmp_path / "rows.jsonl", 120.0, lambda line: None, jobs=4)
    assert {cell: row["cost_value"] for cell, row in rows.items()} == {cell: cell.speed for cell in cells}
    assert set(read_rows(tmp_path / "rows.jsonl", "v1")) == set(cells)

    monkeypatch.undo()
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(Cell, "command", lambda cell: sleep)

    def interrupt(command, limit):
        if threading.current_thread().name.endswith("_0"):
            time.sleep(0.5)
            raise KeyboardInterrupt
        return measure(command, limit)

    monkeypatch.setattr(designs, "measure", interrupt)
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        measure_cells(cells, tmp_path / "other.jsonl", 120.0, lambda line: None, jobs=2)
    assert time.perf_counter() - began < 20
