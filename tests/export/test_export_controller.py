"""A controller with a quadratic program as C: built by its Makefile, it commands what its loop here does."""

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import strut
from strut.control import BodyModel
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
