"""Several starts of a search: the best is kept, and it is said how many agree."""

import multiprocessing
from dataclasses import replace

import numpy as np
import pytest

from strut import optimal, walkers
from strut.errors import ValueRangeError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver.starts import can_fork
from strut.optimal.walk import design as design_module
from strut.optimal.walk.replay import replay

WELLS = sorted(np.roots([4.0, 0.0, -6.0, 1.0]).tolist())[::-2]
"""The minima of x^4 - 3 x^2 + x, the shallow one first: 1.131 and -1.301."""


def design_in_wells(**options):
    """A spring whose stiffness k costs x^4 - 3 x^2 + x, x = (k - 12) / 0.5, begun near the shallow well."""
    walker = walkers.compass(slope=0.0).using({"hip_spring": 12.6})
    x = (walker["hip_spring"] - 12) / 0.5
    cost = {"squared-torque": 1e-6, "wells": optimal.OwnCost(x**4 - 3 * x**2 + x)}
    result = optimal.design(walker, free={"hip_spring": (0, 100)}, cost=cost, speed=0.5, **options)
    return result, (result.parameters["hip_spring"] - 12) / 0.5


def test_another_start_finds_the_deeper_well():
    alone, x = design_in_wells()
    assert alone.ok
    assert x == pytest.approx(WELLS[0], abs=1e-4)
    one = "one start: nothing is known of other optima"
    assert ("starts", one, "") in alone.rows()
    assert one in alone.table()
    assert one in alone._repr_html_()
    assert repr(alone).endswith(", one start>")
    several, x = design_in_wells(starts=4, spread=0.1, seed=2)
    assert several.ok  # refined and replayed like the first
    assert x == pytest.approx(WELLS[1], abs=1e-4)
    assert several.result.cost < alone.result.cost
    assert several.result.starts == 4
    assert 1 <= several.result.agreeing < 4
    assert several.data()["agreeing"] == several.result.agreeing
    assert ("starts", several.result.agreement_text, "") in several.rows()
    assert repr(several).endswith(f", {several.result.agreeing} of 4 starts agree>")


def test_starts_agree_where_there_is_one_optimum(monkeypatch):
    walker = walkers.compass(slope=0.0)
    alone = optimal.design(walker, speed=0.5)
    replayed = []
    monkeypatch.setattr(design_module, "replay", lambda result: replayed.append(result) or replay(result))
    several = optimal.design(walker, speed=0.5, starts=3)
    assert several.result.agreement_text == "3 of 3 starts agree"
    assert several.result.cost == alone.result.cost  # it is the very first one
    assert several.ok
    assert len(replayed) == 1  # counting starts replays nothing again


def test_other_starts_use_the_mesh_of_the_first(monkeypatch):
    """A mesh takes as long to make as to solve: one is made, whose other starts come to the same cost."""
    meshes = []
    whole = Transcribed.__init__
    monkeypatch.setattr(Transcribed, "__init__", lambda *a, **k: meshes.append(a) or whole(*a, **k))
    several = optimal.design(walkers.compass(slope=0.0), speed=0.5, starts=3)
    assert several.result.agreement_text == "3 of 3 starts agree"
    assert len(meshes) == len(several.result.meshes)


def test_what_the_text_says_of_starts_that_failed_and_were_refused():
    one = optimal.design(walkers.compass(slope=0.0), speed=0.5).result
    said = replace(one, starts=5, agreeing=2, unsolved=2, refused_starts=1).agreement_text
    assert said == "2 of 5 starts agree, 2 led nowhere, 1 cheaper and not ok"


def test_starts_are_counted_from_one():
    with pytest.raises(ValueRangeError, match=r"starts is 0: a whole number is needed, at least 1"):
        optimal.design(walkers.compass(slope=0.0), speed=0.5, starts=0)


@pytest.mark.skipif(not can_fork(), reason="processes are copies of this one on Linux only")
def test_a_process_of_a_sweep_has_no_processes_of_its_own():
    """Such a process may not start others: its starts follow one another."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(can_fork()), daemon=True)
    child.start()
    assert receiver.recv() is False
    child.join()


@pytest.mark.parametrize("spread", [-1.0, float("nan")])
def test_starts_are_some_way_apart(spread):
    with pytest.raises(ValueRangeError, match="spread is .*: a positive number is needed"):
        optimal.design(walkers.compass(slope=0.0), speed=0.5, spread=spread)
