"""The rimless wheel walks down a slope: how fast, and where does its energy go?

Run it with `python examples/demo.py`; it prints what it finds and writes demo/index.html, a page to look at, and demo/compass.html, where
a machine with legs walks down the same kind of slope.
"""

from __future__ import annotations

import sys
from math import cos, pi, sin, sqrt
from pathlib import Path

import strut
from strut import view


def main(directory: str | Path = "demo") -> Path:
    wheel = strut.walkers.rimless_wheel()
    walk = strut.simulate(wheel, t=10)

    # The closed form: what a stride gains on the slope, 4 (g/l) sin(alpha) sin(slope), the impact takes away again.
    g, length, slope, spokes = (float(walk[name]) for name in ("g", "length", "slope", "spokes"))
    alpha = pi / spokes
    c = cos(2 * alpha)
    steady = sqrt(4 * g / length * sin(alpha) * sin(slope) * c**2 / (1 - c**2))

    print(f"Rimless wheel, {spokes:g} spokes, slope {slope:g} rad: {walk.t1:g} s, {walk.status}, {len(walk.events)} steps")
    print()
    print("  step    time [s]   rate after impact [rad/s]   above the closed form")
    for k, step in enumerate(walk.events, start=1):
        print(f"  {k:4d}  {step.t:10.6f}   {step.after['rate']:25.12f}   {step.after['rate'] - steady:+21.1e}")

    # An impact keeps c^2 of what a step's squared rate was off by, here a half: some 50 steps settle it to rounding.
    settled = strut.simulate(wheel, t=60)
    print()
    print(f"  {f'after {len(settled.events)} steps':25s}  {settled.events[-1].after['rate']:16.12f} rad/s")
    print(f"  {'closed form':25s}  {steady:16.12f} rad/s")

    print()
    print("  energy over the run [J]")
    for name, change in walk.ledger.summary().items():
        print(f"  {name:25s}  {change:+16.9f}" if name != "residual" else f"  {name:25s}  {change:16.1e}")

    Path(directory).mkdir(parents=True, exist_ok=True)
    page = view.page(
        walk,
        Path(directory) / "index.html",
        title="A rimless wheel walks down a slope",
        remarks=f"Its rate after impact tends to {steady:.6f} rad/s, where a step gains on the slope what the impact takes away.",
    )
    film = strut.simulate(strut.walkers.compass(), t=10).animate(
        Path(directory) / "compass.html", title="A compass gait walks down a slope"
    )
    print()
    print(f"  A page to look at: {page.resolve()}")
    print(f"  A walk to look at: {film.resolve()}")
    return page


if __name__ == "__main__":
    main(*sys.argv[1:2])
