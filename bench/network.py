"""Networks: oscillators coupled all to all, with weight and bias on every edge, as files in the language.

Figures of the original (codyn 3.6.4, and the C that its generator writes) were measured on a comparable
machine and are quoted. Times are for one step of RK4 at 1 ms, without recording; and for reading, lowering
and compiling with an empty cache.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace
from pathlib import Path

from bench.compile import fresh_cache
from bench.timing import Contender, Effort, Row, Section, measure
from strut import System, compile_system, network, simulate_batch

STEP, STEPS = 1e-3, 20_000
EXAMPLES = Path(__file__).parent.parent / "examples" / "network"
ORIGINAL = {20: (435e-6, 12.9e-6), 50: (4915e-6, 138e-6)}
"""Time per step [s] of its interpreter and of its generated C."""


def oscillator_text(count: int) -> str:
    """The text of a network of phase oscillators."""
    return f"""
integrator {{ method = "runge-kutta" }}
node "n{{1:{count}}}" {{ phi = "$(@@1 * 0.1)"  omega = "$(1 + @@1 * 0.01)"  phi' = "omega" }}
<no-self> edge all "n{{1:{count}}}" {{
    w = {1.0 / count}
    bias = "$(0.1 * (@@1 - @@@1))"
    phi' += "w * sin(input.phi - output.phi - bias)"
}}
"""


def many(count: int) -> str:
    """The text of a chain of nodes from a template."""
    return f"""
templates {{ node "T" {{ a = 1  x' = "-a * x" }} }}
node "n{{1:{count}}}" : T {{ x = "$(@@1 * 2)" }}
edge from "n{{1:{count}}}" to "n$(@1 + 1)" {{ x' += "input.x - output.x" }}
"""


def step_batch(system: System) -> Contender:
    def call() -> object:
        return simulate_batch(system, STEPS * STEP, method="rk4", step=STEP)

    return Contender("strut", "RK4, 1 ms", call)


def _steps(count: int, effort: Effort) -> Section:
    system = network.loads(oscillator_text(count)).system()
    row = measure([step_batch(system)], effort)[0]
    ours = Row(row.name, row.setting, None, tuple(t / STEPS for t in row.times))
    interpreter, generated = ORIGINAL[count]
    quoted = [
        Row(name, "RK4, 1 ms", None, (t,), "quoted", "quoted")
        for name, t in (("codyn", interpreter), ("codyn, its C", generated))
    ]
    return Section(f"one step of {count} oscillators, all to all", "-", (ours, *quoted))


def _compile(count: int, rounds: int = 1) -> Row:
    """The best of several, with the parts of it."""
    rows = [_compiled_once(count) for _ in range(rounds)]
    best = min(rows, key=lambda row: row.times)
    return replace(best, times=tuple(t for row in rows for t in row.times))


def _compiled_once(count: int) -> Row:
    with fresh_cache():
        began = clock.perf_counter()
        net = network.loads(oscillator_text(count))
        read = clock.perf_counter()
        system = net.system()
        lowered = clock.perf_counter()
        compile_system(system)
        ended = clock.perf_counter()
    extra = {"read": read - began, "lowered": lowered - read, "compiled": ended - lowered}
    note = ", ".join(f"{name} {t:.1f} s" for name, t in extra.items())
    return Row(
        "strut",
        f"{count} oscillators, {count * (count - 1)} edges",
        None,
        (ended - began,),
        note,
        extra=extra,
    )


def _load(count: int) -> Row:
    text = many(count)
    began = clock.perf_counter()
    network.loads(text)
    return Row("strut", f"{count} nodes read", None, (clock.perf_counter() - began,))


LISTINGS = ("05_many", "11_hopf", "13_matsuoka", "18_pendulums", "23_chains")
"""Networks of the size of the thesis' listings."""


def time_file(name: str) -> Row:
    """From file to compiled, and one step of what the file asks for."""
    with fresh_cache():
        began = clock.perf_counter()
        net = network.load(EXAMPLES / f"{name}.cdn")
        system = net.system()
        compile_system(system)
        ended = clock.perf_counter()
        simulate_batch(system, STEP, method="rk4", step=STEP)
        run = clock.perf_counter()
        simulate_batch(system, STEPS * STEP, method="rk4", step=STEP)
        step = (clock.perf_counter() - run) / STEPS
    setting = f"{name}, {len(net.nodes)} nodes, {len(net.edges)} edges"
    return Row(
        "strut",
        setting,
        None,
        (ended - began,),
        f"then {step * 1e6:.2f} µs a step of RK4",
        extra={"step": step},
    )


def _compiles(count: int, rounds: int, *quoted: Row) -> Section:
    title = f"{count} oscillators, all to all: from text to compiled, nothing cached"
    return Section(title, "-", (_compile(count, rounds), *quoted))


def run(effort: Effort) -> list[Section]:
    large = (
        [_compiles(500, 1, Row("codyn, its C", "500 oscillators", None, (299.0,), "quoted", "quoted"))]
        if effort.rounds > 2
        else []
    )
    return [
        *(_steps(count, effort) for count in ORIGINAL),
        _compiles(50, effort.rounds),
        *large,
        Section("listings: from file to compiled, nothing cached", "-", tuple(map(time_file, LISTINGS))),
        Section("reading large networks", "-", (_load(20_000),)),
    ]
