"""The compass gait as an optimal control problem: level ground, a motor in the hip, steps of 0.4 m, free
period, squared torque."""

from __future__ import annotations

import numpy as np

from bench.timing import Effort, Row, Section
from strut import gait, optimal, walkers
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.solver.guess import fill_unknowns, make_guess, shake_unknowns
from strut.optimal.solver.solve import solve_mesh

SEEDS = 8
GUESS = {"stance": (0.2, -0.2), "swing": (-0.2, 0.2), "stance_rate": -0.6, "swing_rate": 0.6, "duration": 0.7}
HOW = (
    Transcription("shooting", 20, steps=2, control="constant"),
    Transcription("radau", 20, control="constant"),
    Transcription("radau", 20, control="linear"),
    Transcription("gauss", 20, control="linear"),
    Transcription("hermite-simpson", 20, control="linear"),
)


def problem() -> optimal.Problem:
    walker = walkers.compass(slope=0.0)
    effort = optimal.Integral("effort", walker["hip_torque"] ** 2)
    step = gait.distance(walker, "heel_strike")
    one = optimal.Problem(walker).phase("step", until="heel_strike", duration=(0.2, 2.0)).periodic()
    return one.require("step length", step, equal=0.4, at="end").minimise(effort)


def run(effort: Effort) -> list[Section]:
    rows = []
    for how in HOW:
        made = Transcribed(problem(), how)
        begin, random = fill_unknowns(made, make_guess(made.problem, GUESS)), np.random.default_rng(0)
        starts = [shake_unknowns(begin, made, 0.05, random) for _ in range(SEEDS)]
        times, good, costs, iterations = [], 0, [], []
        for _ in range(effort.rounds):
            for start in starts:
                found = solve_mesh(made, start, {"tol": 1e-8})
                times.append(found.times["cpu"])
                good += found.success
                costs.append(found.cost)
                iterations.append(found.iterations)
        note = f"{good} of {len(times)} converge, {min(iterations)} to {max(iterations)} iterations, "
        note += f"cost {min(costs):.6g} to {max(costs):.6g}, "
        note += f"built in {made.build_time * 1e3:.0f} ms, compiled in {made.compile_time:.2f} s"
        rows.append(Row("strut", f"{how.method}, {how.control} torque", None, tuple(times), note))
    return [
        Section(
            "compass gait, 20 intervals, processor time in the solver",
            "-",
            tuple(rows),
            "needed: below 30 ms at a tolerance of 1e-8",
        )
    ]
