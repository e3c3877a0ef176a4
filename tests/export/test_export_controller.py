"""A controller with a quadratic program as C: built by its Makefile, it commands what its loop here does."""

import ctypes
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import strut
from strut import Discrete, State
from strut.codegen import QpStatus, address
from strut.control import BodyModel, QpController, QpUnknown, QuadraticProgram
from strut.errors import ModelError, StorageError
from strut.system import start
from tests.control.bipeds import biped, on_ground, standing

ROUNDING = 1e-9
"""Difference of commands [N m], relative to the largest: the compiler may order sums in another way."""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make and a C compiler")
def test_the_exported_controller_commands_what_the_loop_does(tmp_path):
    mechanism = biped()
    machine, controller = on_ground(mechanism), standing(mechanism, BodyModel(mechanism))
    strut.export_controller(controller, tmp_path)
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True, capture_output=True)
    begin, random = start(machine), np.random.default_rng(1)
    moments = [
        SimpleNamespace(
            t=k * controller.every, x=begin.x + 1e-3 * k * random.standard_normal(len(begin.x)), z=begin.z
        )
        for k in range(5)
    ]
    loop = controller.loop(machine, begin.x, begin.z, None, samples=len(moments))
    act = loop.hold_in_python.function
    ours = np.array([list(act(moment).values()) for moment in moments])
    lines = [
        " ".join(f"{v:.17g}" for v in (moment.t, *(moment.x[k] for k in loop.sensors))) for moment in moments
    ]
    program = subprocess.run(
        [tmp_path / "whole_body"], input="\n".join(lines), check=True, capture_output=True, text=True
    )
    theirs = np.array([line.split() for line in program.stdout.splitlines()], dtype=float)
    assert (theirs[:, 0] == loop.record[:, 1]).all()  # the status of every sample
    np.testing.assert_allclose(theirs[:, 1:], ours, atol=ROUNDING * np.abs(ours).max())


def lag(name="lag"):
    """A controller with memory: the command goes to what is sensed, from where it was sensed first."""
    x = State("x", 1.0)
    y = QpUnknown("y", 0.0)
    m = Discrete("m", x + 1.0)
    program = QuadraticProgram((y,), (y.sym - x.sym) ** 2 / 2, (), (), ())
    return QpController(
        name=name,
        every=0.1,
        sensors=(x,),
        program=program,
        command={"push": y + m},
        memory=(m,),
        update={"m": m + 1.0},
        patience=1,
    )


def _loop_begun_at_nan(controller, machine, samples):
    loop = controller.loop(machine, samples=samples)
    loop.m[:], loop.state.begun = np.nan, 0
    return loop


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make and a C compiler")
def test_memory_begins_with_the_first_sample_that_is_a_number(tmp_path):
    """3 is sensed first: memory begins at 4, command 3 + 4; before it the safe one, 0."""
    controller, seen = lag(), [np.nan, np.nan, 3.0, np.nan, 5.0]
    asked = [0.0, 0.0, 3.0 + 4.0, 3.0 + 4.0, 5.0 + 5.0]
    bad = QpStatus.BAD_SENSOR
    statuses = [bad, bad, QpStatus.SOLVED, bad, QpStatus.SOLVED]
    push = strut.Input("push", 0.0)
    machine = strut.System("cart", x=(State("x", 1.0),), u=(push,), flow={"x": push})
    # in Python
    loop = _loop_begun_at_nan(controller, machine, len(seen))
    act = loop.hold_in_python.function
    done = [act(SimpleNamespace(t=0.1 * k, x=[v], z=[]))["push"] for k, v in enumerate(seen)]
    assert done == asked
    assert list(loop.record[:, 1]) == statuses
    # compiled here
    loop = _loop_begun_at_nan(controller, machine, len(seen))
    for k, value in enumerate(seen):
        at = ctypes.addressof(loop.state)
        assert controller.native.sample(at, 0.1 * k, address(np.array([value]))) == statuses[k]
        assert loop.u[0] == asked[k]
    # exported
    strut.export_controller(controller, tmp_path)
    subprocess.run(["make", "-s", "CFLAGS=-std=c99 -O0"], cwd=tmp_path, check=True, capture_output=True)
    lines = "\n".join(f"{0.1 * k} {value}" for k, value in enumerate(seen))
    program = subprocess.run(
        [tmp_path / "lag"], input=lines, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert [tuple(map(float, line.split())) for line in program] == [*zip(statuses, asked, strict=True)]


def test_another_controller_in_the_same_folder_and_names_of_the_solver_are_refused(tmp_path):
    strut.export_controller(lag(), tmp_path)
    strut.export_controller(lag(), tmp_path)
    with pytest.raises(StorageError, match=r"builds 'lag', and it is kept.*'lead' would not be built"):
        strut.export_controller(lag("lead"), tmp_path)
    assert not (tmp_path / "lead.c").exists()
    (tmp_path / "main.c").unlink()
    with pytest.raises(StorageError, match=r"Makefile builds 'lag'"):
        strut.export_controller(lag("lead"), tmp_path)
    for name in ("daqp", "api", "DAQP"):
        with pytest.raises(ModelError, match=f"is called '{name}'.*a file of its solver: give it another"):
            strut.export_controller(lag(name), tmp_path / name)
