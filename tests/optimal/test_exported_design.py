"""The machine of a design as C: it begins where the plan does, and walks the same steps."""

import json
import math

import numpy as np
import pytest

import strut
from strut import optimal, walkers
from strut.cli import main
from tests.export.test_export import build, table

STEPS = 3
"""Of the motion in C that is compared: disturbances grow about threefold in each."""


@pytest.fixture(scope="module")
def level():
    return optimal.design(
        walkers.compass(slope=math.radians(3)), cost="squared-torque", slope=0.0, speed=0.5, intervals=16
    )


def states_in_c(system, directory, t):
    """Build an exported system with a program that prints its states at the beginning and at times t [s]."""
    name, n = system.name, system.size("x")
    (directory / "walk.c").write_text(f"""
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    static {name}_sim sim;
    const double times[] = {{{", ".join(repr(float(each)) for each in t)}}};
    strut_options options = strut_defaults();
    {name}_initial({name}_p0, sim.x, sim.z);
    {name}_begin(&sim, &options, 0, sim.x, sim.z, {name}_u0, {name}_p0, 0, 0, 0);
    for (int k = -1; k < {len(t)}; k++) {{
        if (k >= 0 && {name}_run(&sim, (strut_real)times[k]) != STRUT_DONE) return 1;
        for (int i = 0; i < {n}; i++) printf("%.17g ", (double)sim.x[i]);
        printf("\\n");
    }}
    return 0;
}}
""")
    return table(build(directory, name, main="walk.c"))


def test_exported_machine_begins_with_the_plan_and_walks_its_steps(level, tmp_path):
    machine, plan = level.machine, level.result
    strut.export(machine, tmp_path)
    run = strut.simulate(machine, t=(STEPS + 0.5) * plan.duration)
    strikes = run.events.times("heel_strike")
    assert len(strikes) == STEPS
    before, after = strikes[0] - 1e-3, strikes[-1] + 1e-3
    rows = states_in_c(machine, tmp_path, [before, after])
    assert len(rows) == 3
    own = [machine.labels("x").index(name) for name in plan.x0]
    np.testing.assert_array_equal(rows[0, own], list(plan.x0.values()))
    planned = plan.at(before)
    np.testing.assert_allclose(rows[1, own], [planned[name] for name in plan.x0], atol=1e-6)
    for row, t in zip(rows[1:], (before, after), strict=True):
        moment = run.at(t)
        np.testing.assert_allclose(row, [moment[name] for name in machine.labels("x")], atol=1e-9)


def test_command_exports_the_machine(capsys, tmp_path):
    words = ["design", "compass", "--slope", "0", "--speed", "0.5", "--cost", "squared-torque"]
    words += ["--intervals", "16", "--export", str(tmp_path / "c")]
    with pytest.raises(SystemExit) as left:
        main([*words, "--json"])
    said = capsys.readouterr()
    assert left.value.code == 0
    answer = json.loads(said.out)
    assert answer["messages"][-1]["text"].startswith("build it: make -C")
    assert str(tmp_path / "c" / "compass.c") in answer["files"]
    rows = table(build(tmp_path / "c", "compass"))
    assert len(rows) == 10  # it walks for ten seconds, or the example would stop
    assert answer["result"]["ok"]
    with pytest.raises(SystemExit):
        main([*words, "--sweep", "speed=0.4:0.5:2"])
    assert "writes one machine and --sweep finds several" in capsys.readouterr().err
