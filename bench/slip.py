"""The map of running: for which stiffness and angle of attack a spring-mass runner makes 24 steps, on a grid
of 100 x 100.

Published for the same grid: 278 s interpreted, 6 s compiled, on their machine. SciPy runs only a few cells,
since the grid would take it minutes; what it would need for all is extrapolated from these and says so.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from bench.peers import Mode, rising, scipy, scipy_hybrid
from bench.timing import Contender, Effort, Row, Section, measure
from strut import simulate_batch, walkers

SIDE, T, STEPS = 100, 100.0, 24
MASS, LENGTH, G, SPEED = 80.0, 1.0, 9.81, 5.0  # [kg], [m], [m/s^2], [m/s]: the defaults of walkers.slip
SAMPLE, SEED, TOLERANCE = 20, 2024, 1e-8
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}
PUBLISHED = {"published, interpreted": 278.0, "published, compiled": 6.0}  # [s]


def grid() -> dict[str, np.ndarray]:
    stiffness, attack = np.meshgrid(
        np.linspace(0, 50e3, SIDE), np.radians(np.linspace(40, 80, SIDE)), indexing="ij"
    )
    return {"stiffness": stiffness.ravel(), "attack": attack.ravel()}


def scipy_cell(stiffness: float, attack: float) -> int:
    """Steps of one runner, with solve_ivp restarted at every touchdown and take-off."""
    landing, ahead = LENGTH * math.sin(attack), LENGTH * math.cos(attack)
    fell = rising(lambda t, s: -s[1])
    flight: Mode = (lambda t, s: (s[2], s[3], 0.0, -G), (rising(lambda t, s: landing - s[1]), fell))

    def stance(foot: float) -> Mode:
        def rate(t: float, s: Any) -> tuple[float, float, float, float]:
            leg = math.hypot(s[0] - foot, s[1])
            pull = stiffness * (LENGTH - leg) / leg / MASS
            return s[2], s[3], pull * (s[0] - foot), pull * s[1] - G

        return rate, (rising(lambda t, s: math.hypot(s[0] - foot, s[1]) - LENGTH), fell)

    steps, standing = 0, False

    def leap(which: int, t: float, s: np.ndarray) -> tuple[np.ndarray, Mode] | None:
        nonlocal steps, standing
        if which == 1:
            return None
        standing = not standing
        if not standing:
            return s, flight
        steps += 1
        return None if steps == STEPS else (s, stance(s[0] + ahead))

    scipy_hybrid(flight, (0.0, LENGTH, SPEED, 0.0), T, leap, tolerance=TOLERANCE)
    return steps


def run(effort: Effort) -> list[Section]:
    system, cells = walkers.slip(max_steps=STEPS), grid()
    chosen = np.random.default_rng(SEED).choice(SIDE**2, SAMPLE, replace=False)
    few = {name: values[chosen] for name, values in cells.items()}

    def ours(p: dict[str, np.ndarray], **options: Any) -> np.ndarray:
        return simulate_batch(system, T, p=p, **options)["steps"]

    exact = ours(cells, **TIGHT)

    def whole(label: str, **options: Any) -> Contender:
        steps = ours(cells, **options)
        return Contender(
            "strut",
            label,
            lambda: ours(cells, **options),
            float(np.sum(steps != exact)),
            f"{np.sum(steps >= STEPS)} cells make {STEPS} steps",
        )

    loose: dict[str, Any] = {"rtol": TOLERANCE, "atol": TOLERANCE}
    by_grid = measure(
        [
            whole("dop853, default 1e-10"),
            whole("dop853, tol 1e-8", **loose),
            whole("dop853, 1e-8, one thread", threads=1, **loose),
            whole("dop853, tol 1e-6", rtol=1e-6, atol=1e-6),
            whole("dopri5, tol 1e-8", method="dopri5", **loose),
            whole("rk4, 1 ms", method="rk4", step=1e-3),
        ],
        effort,
    )
    wrong = float(np.sum(ours(few, **loose) != exact[chosen]))
    by_cell = measure(
        [
            Contender("strut", "dop853, tol 1e-8, one thread", lambda: ours(few, threads=1, **loose), wrong),
            _scipy_few(few, exact[chosen]),
        ],
        effort,
    )
    guess = extrapolate(by_cell[1])
    quoted = [
        Row(name, "another machine", None, (time,), "quoted, not measured here", kind="quoted")
        for name, time in PUBLISHED.items()
    ]
    return [
        Section(
            "SLIP map, 100 x 100 cells",
            "cells that disagree with 1e-12",
            (*by_grid, guess, *quoted),
            "expected: 581 cells, give or take 15",
        ),
        Section(f"SLIP, the same {SAMPLE} cells (seed {SEED})", "cells that disagree with 1e-12", by_cell),
    ]


def extrapolate(few: Row) -> Row:
    """SciPy on the whole grid, as if all cells were like the few."""
    if not few.times:
        return few
    scale = SIDE**2 / SAMPLE
    return replace(
        few,
        times=tuple(t * scale for t in few.times),
        kind="extrapolated",
        error=None,
        note=f"EXTRAPOLATED: {SAMPLE} cells x {scale:g}",
    )


def _scipy_few(few: dict[str, np.ndarray], exact: np.ndarray) -> Contender:
    name, setting = "SciPy DOP853, restarted", f"tol {TOLERANCE:.0e}, one thread"
    if scipy is None:
        return Contender(name)

    def call() -> np.ndarray:
        return np.array(
            [
                scipy_cell(*cell)
                for cell in zip(few["stiffness"].tolist(), few["attack"].tolist(), strict=True)
            ]
        )

    return Contender(name, setting, call, float(np.sum(call() != exact)))
