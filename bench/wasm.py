"""Modules for WebAssembly against native code: their sizes, and how many steps of the integrator they do in a
second, for ready-made machines.

Both run ten seconds with the same options and without recording, often enough to be compiled by the engine;
Node's processor time against ours.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import tempfile
import time as clock
from pathlib import Path

import numpy as np

from bench.timing import FULL, Effort, Row, Section
from strut import export_wasm, simulate, simulate_batch, walkers
from strut.codegen import find_wasm_compiler
from strut.system import start

RUNNER = Path(__file__).parent.parent / "tests" / "export" / "wasm_case.js"
MACHINES = {**walkers.CATALOGUE, **walkers.ROBOTS}
FEW = ("rimless-wheel", "slip", "compass")
RUNS = 200
"""Runs of a machine without feet or with few; heavy ones are run as often as `MAX_STEPS` lets them."""
MAX_STEPS = 400_000
"""Steps of the integrator, of all runs of a machine together."""


def run(effort: Effort) -> list[Section]:
    if shutil.which("node") is None or find_wasm_compiler() is None:
        return [Section("WebAssembly", "", (), "needs Node, and clang with lld or the package ziglang")]
    return [_section(name, effort) for name in (MACHINES if effort is FULL else FEW)]


def _section(name: str, effort: Effort) -> Section:
    """Times of one run of ten seconds, native and in Node."""
    system = MACHINES[name]()
    whole = simulate(system, t=10.0)
    steps = whole.statistics["steps"]
    count = int(max(1, min(RUNS, MAX_STEPS // steps)))
    native, web = [], []
    with tempfile.TemporaryDirectory() as folder:
        path, _ = export_wasm(system, Path(folder) / "machine.wasm")
        code = path.read_bytes()
        order = {"wasm": str(path), "js": str(path.with_suffix(".js")), "t": 10.0, "times": count}
        begin = np.repeat(start(system).x[None], count, axis=0)
        for _ in range(effort.rounds):
            began = clock.process_time()
            simulate_batch(system, 10.0, x0=begin, threads=1)
            native.append((clock.process_time() - began) / count)
            answer = subprocess.run(
                ["node", str(RUNNER)], input=json.dumps(order), capture_output=True, text=True, check=True
            )
            web.append(json.loads(answer.stdout)["seconds"] / count)
    size = f"{len(code) / 1e3:.0f} kB, compressed {len(gzip.compress(code)) / 1e3:.0f} kB"
    rows = (
        Row("native", times=tuple(native), extra={"steps_per_second": steps / min(native)}),
        Row("WebAssembly (Node)", size, times=tuple(web), extra={"steps_per_second": steps / min(web)}),
    )
    ran = f"{whole.t1:.3g} of ten seconds ({whole.status}), {len(whole.events)} events, {steps:.0f} steps"
    return Section(f"{name}: {ran}", "", rows)
