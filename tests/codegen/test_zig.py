"""A system compiled by zig, as a shared library and as a module for WebAssembly: really, where ziglang is installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import walkers
from strut.codegen.cache import zig_program
from tests.node import ask_node

pytestmark = pytest.mark.skipif(
    zig_program() is None, reason="ziglang (410 MB) is not installed: pip install 'strut[compiler]'"
)
SAME = 1e-10
"""Difference from what the usual compiler makes, after four steps: sines of another library differ in a last digit."""
ASK = """
import json, sys, strut
from strut import walkers
from strut.codegen import find_wasm_compiler
from strut.codegen.cache import compiler
system = walkers.compass(slope=strut.deg(3))
run = strut.simulate(system, t=3.0, backend="native")
strut.export(system, sys.argv[1])
print(json.dumps({"native": compiler(), "wasm": find_wasm_compiler().kind, "end": run.end["x0"].tolist(),
                  "events": run.events.counts()}))
"""


def test_a_library_and_a_module_are_those_of_other_compilers(tmp_path):
    """In a process that finds no other compiler, with an empty cache."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    (tmp_path / "bin").mkdir()
    module = tmp_path / "compass.wasm"
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(module)],
        env={
            **{k: v for k, v in os.environ.items() if k not in ("CC", "STRUT_BACKEND")},
            "PATH": str(tmp_path / "bin"),
            "STRUT_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert Path(said["native"][0]) == zig_program()
    assert said["wasm"] == "zig"
    ours = strut.simulate(walkers.compass(slope=strut.deg(3)), t=3.0)
    assert said["events"] == ours.events.counts()
    np.testing.assert_allclose(said["end"], ours.end["x0"], atol=SAME, rtol=0)
    script = Path(__file__).parents[1] / "export" / "wasm_case.js"
    in_node = ask_node(script, wasm=str(module), js=str(module.with_suffix(".js")), t=3.0)
    assert in_node["counts"]["heel_strike"] == ours.events.counts()["heel_strike"]
    np.testing.assert_allclose(in_node["x"], ours.end["x0"], atol=SAME, rtol=0)
