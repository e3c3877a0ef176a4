"""A compass walker on level ground: which spring in its hip, and which torque, make it walk with the least
effort?

Run it with `python examples/demo.py`; it prints what it finds and writes demo/index.html, a page with the
walk, its torques, forces and energy, and its stability. The same on the command line:

    strut design compass --free hip_spring=0:100 --cost squared-torque --speed 0.5 --slope 0deg -o demo/
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

import strut
from strut import optimal, report
from strut.optimal import Design

SPEED = 0.5
"""[m/s]"""
ASKED = "strut design compass --free hip_spring=0:100 --cost squared-torque --speed 0.5 --slope 0deg"


def main(directory: str | Path = "demo") -> Design:
    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - began:5.1f} s] {text}", flush=True)

    walker = strut.walkers.compass(slope=0.0)
    say(
        f"A compass walker should walk on level ground at {SPEED} m/s. A motor in the hip must give what "
        f"every step loses."
    )
    say("First the motor alone; equations are compiled once, and kept ...")
    motor = optimal.design(walker, cost="squared-torque", speed=SPEED)
    say(f"  solved in {1e3 * motor.result.times['solve']:.0f} ms: {summary_line(motor)}")
    say("Now with a spring beside it, as stiff as may be best ...")
    both = optimal.design(walker, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=SPEED)
    say(f"  solved in {1e3 * both.result.times['solve']:.0f} ms: {summary_line(both)}")
    print()
    print(both.table())
    print()
    say("Writing the report ...")
    written = report.design_result(
        both, ASKED, "A compass walks on level ground, a spring in its hip"
    ).folder(directory)
    for why in written.missing:
        say(why)
    say(f"{len(written.files)} files in {written.directory}/")
    print(f"\n  Open it: {(written.directory / 'index.html').resolve()}\n")
    return both


def summary_line(design: Design) -> str:
    """What was found, in a line."""
    spring = f"spring {design.parameters['hip_spring']:.2f} N m/rad, " if design.parameters else ""
    largest = f"{abs(design.gait.multipliers[0]):.3f}" if design.gait is not None else "unknown"
    word = "stable" if design.gait is not None and design.gait.stable else "unstable"
    agrees = "the simulator agrees" if design.ok else "the simulator does not agree"
    return f"{spring}cost {design.result.cost:.3f} N s, {word} (largest multiplier {largest}); {agrees}"


if __name__ == "__main__":
    logging.basicConfig(
        level=logging.INFO, format="          %(message)s", stream=sys.stdout
    )  # tells what is being compiled
    main(*sys.argv[1:2])
