"""Live pages of all ready-made machines in Chromium: how large they are, and what a frame costs.

A frame at 30 per second has 33 ms: a thirtieth of a second of the machine, and drawing it. Processor time of
the page's thread is counted, not the clock on the wall, so that other work on the machine does not count; and
that of all processes and threads of Chromium together, of which two cores have 67 ms in a frame. Drawing is
on a processor, without a graphics card: some machines are drawn in space, too, by a card that is emulated,
which a computer with a card does in a fraction of the time. A machine that ends (falls) is started again.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time as clock
from pathlib import Path
from typing import Any

from bench.timing import FULL, Effort, Row, Section
from strut import walkers
from strut.codegen import find_wasm_compiler
from strut.live import live_page

MACHINES = {**walkers.CATALOGUE, **walkers.ROBOTS}
FEW = ("compass", "kneed", "rimless-wheel")
IN_SPACE = ("compass", "trunk-3d", "coman")
"""Machines that are drawn in space as well."""
FRAMES_PER_SECOND = 30
MIN_FRAMES = 5
"""Frames without which nothing is said of their cost."""
PATIENCE = 60.0
"""Time [s] to wait for gaits and maps, which are computed in other threads, before frames are counted."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ("--no-sandbox",)
"""Chromium as it is where there is no graphics card. A card that is emulated (SwiftShader), which a test of
pictures in space needs, draws the same plane picture with five times the processor time."""
EMULATED_CARD = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""What else Chromium is told where pictures are in space: they need a card, emulated where there is none."""
IS_IN_SPACE = (
    "typeof THREE !== 'undefined' && document.getElementById('screen').getContext('webgl2') !== null"
)
COUNTERS = "[strutPage.frames, strutPage.busy, strutPage.simulating, strutPage.simulated]"
IS_SETTLED = (
    "!!window.strutPage && (strutPage.map === null ? !strutPage.data.walk : strutPage.map.done === 1) "
    "&& (strutPage.basin === null ? !strutPage.gait : strutPage.basin.done === 1)"
)


def run(effort: Effort) -> list[Section]:
    program = os.environ.get("STRUT_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None or find_wasm_compiler() is None:
        return [Section("live pages", "", (), "needs Chromium, and clang with lld or the package ziglang")]
    from playwright.sync_api import sync_playwright

    rows = []
    seconds, names = (6.0, tuple(MACHINES)) if effort is FULL else (3.0, FEW)
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        pages = {}
        for in_space, flags in ((False, ARGUMENTS), (True, (*ARGUMENTS, *EMULATED_CARD))):
            opened = driver.chromium.launch(executable_path=program, args=list(flags))
            for name in [each for each in names if each in IN_SPACE or not in_space]:
                if name not in pages:
                    place = Path(folder) / f"{name}.html"
                    pages[name] = live_page(MACHINES[name](), place, **own_method(name))
                rows.append(frame_row(opened, name, pages[name], seconds=seconds, in_space=in_space))
                said = f"{rows[-1].name}: {1e3 * min(rows[-1].times):.1f} ms, {rows[-1].note}"
                print(said, file=sys.stderr, flush=True)
            opened.close()
    remark = f"processor time of a frame at {FRAMES_PER_SECOND} a second; 33 ms are there"
    return [Section("live pages in Chromium", "", tuple(rows), remark)]


def own_method(name: str) -> dict[str, Any]:
    """How a machine's page integrates, as the command line does it."""
    from strut.cli.run import OWN_METHODS

    return OWN_METHODS.get(name, {})


def frame_row(opened: Any, name: str, page: Path, seconds: float, in_space: bool = False) -> Row:
    """What a frame of a page costs [s], from some seconds of it. in_space: whether it is drawn in space."""
    context = opened.new_context(offline=True, viewport={"width": 1100, "height": 900})
    tab = context.new_page()
    session = context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.goto(page.resolve().as_uri())
    waited = clock.monotonic()
    while not tab.evaluate(IS_SETTLED) and clock.monotonic() - waited < PATIENCE:
        tab.wait_for_timeout(100)
    settled = tab.evaluate(IS_SETTLED)
    if in_space:
        tab.click("#space")
        while not tab.evaluate(IS_IN_SPACE) and clock.monotonic() - waited < 2 * PATIENCE:
            tab.wait_for_timeout(100)
        if not tab.evaluate(IS_IN_SPACE):
            raise RuntimeError(f"{name} is not drawn in space within {2 * PATIENCE:g} s")
        tab.wait_for_timeout(1000)  # shaders are compiled with the first frames
    tab.evaluate("strutPage.start()")
    whole = opened.new_browser_cdp_session()
    before, used_before, began = tab.evaluate(COUNTERS), thread_seconds(session), clock.monotonic()
    all_before = browser_seconds(whole)
    enough = f"strutPage.frames >= {before[0] + MIN_FRAMES}"  # an emulated card may need a second for one
    while clock.monotonic() - began < seconds or not tab.evaluate(enough):
        if clock.monotonic() - began > seconds + PATIENCE:
            raise RuntimeError(f"{name} shows fewer than {MIN_FRAMES} frames within {PATIENCE:g} s")
        tab.wait_for_timeout(100)
        tab.evaluate("strutPage.machine.ending && strutPage.start()")
    spent, used = clock.monotonic() - began, thread_seconds(session) - used_before
    all_used = browser_seconds(whole) - all_before
    frames, busy, simulating, simulated = (b - a for a, b in zip(before, tab.evaluate(COUNTERS), strict=True))
    length = "document.getElementById('{}')?.textContent.length || 0"
    modules = [tab.evaluate(length.format(each)) for each in ("machine", "varied")]
    context.close()
    processor = used / (busy / 1000)  # of the wall's time: others were busy, too; drawing happens besides
    simulation = processor * simulating / 1000 / max(simulated, 1e-9) / FRAMES_PER_SECOND
    drawing = processor * (busy - simulating) / 1000 / max(frames, 1)
    sizes = [3 / 4 * size / 1e3 for size in modules]
    return Row(
        f"{name}, in space" if in_space else name,
        f"{page.stat().st_size / 1e3:.0f} kB; modules {sizes[0]:.0f} + {sizes[1]:.0f} kB compressed",
        times=(simulation + drawing,),
        note=f"{1e3 * simulation:.1f} ms simulation, {1e3 * drawing:.1f} drawing; "
        f"{1e3 * all_used / max(frames, 1):.0f} ms of all of Chromium; {frames / spent:.0f} frames/s shown"
        f"{'' if settled else '; maps were still computed'}",
        extra={
            "page_kB": page.stat().st_size / 1e3,
            "module_kB": sizes,
            "simulation": simulation,
            "drawing": drawing,
            "browser": all_used / max(frames, 1),
            "shown": frames / spent,
            "settled": settled,
        },
    )


def browser_seconds(session: Any) -> float:
    """Processor time of all processes of a browser [s]."""
    return float(sum(p["cpuTime"] for p in session.send("SystemInfo.getProcessInfo")["processInfo"]))


def thread_seconds(session: Any) -> float:
    """Processor time of the page's thread [s]."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))
