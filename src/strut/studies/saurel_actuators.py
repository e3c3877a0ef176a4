"""Saurel's study of actuators: rigid, in series, in parallel; a compass and a whole body; work and squared torque over distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from strut.actuator import KINDS
from strut.actuator.series import INERTIA
from strut.studies.saurel_drives import DURATIONS, LENGTHS, SLOPE, TORQUE, WORK, Driven, walk
from strut.studies.study import Row, Study

STEEP = (0.0, 0.35)
"""Slopes [rad] where they are free."""


@dataclass(frozen=True)
class Case:
    """A column of his tables: cost, step length [m], duration [s]."""

    model: str
    cost: str
    drive: str
    published: tuple[float, float, float]

    @property
    def name(self) -> str:
        return f"{self.model} {self.drive}, {'work' if self.cost == WORK else 'squared torque'}"

    @property
    def unit(self) -> str:
        return "J/m" if self.cost == WORK else "N^2 m s"


_TABLES = {
    ("M_A", WORK): ((0.45729, 0.91416, 0.80094), (0.04651, 0.78682, 0.87833), (0.03863, 0.69466, 0.61705)),
    ("M_A", TORQUE): ((0.09563, 0.6, 0.74361), (0.00004, 0.92726, 0.90204), (0.00060, 0.65017, 0.73318)),
    ("M_E", WORK): ((0.51831, 0.6, 0.59480), (0.00844, 0.6, 0.82184), (0.04792, 0.85526, 0.47053)),
    ("M_E", TORQUE): ((0.62844, 0.6, 0.64572), (0.12800, 0.6, 0.81010), (0.36654, 0.6, 0.51664)),
}
CASES: tuple[Case, ...] = tuple(
    Case(model, cost, drive, numbers)
    for (model, cost), columns in _TABLES.items()
    for drive, numbers in zip(("rigid", "series", "parallel"), columns, strict=True)
)


def rows_of(case: Case, found: Driven, here: Driven) -> list[Row]:
    """One case: `found` on the slope of the paper, `here` in the published step on whatever slope suits it."""
    cost, length, duration = case.published
    result, replay = found.result, found.design.replay
    mine = f"{found.value:.5g}" if result.success else f"not solved: {result.status}"
    springs = ", ".join(f"{n} {v:.4g}" for n, v in found.springs.items())
    ring = f"the motor turns round {found.turns} times a step" if found.turns else ""
    trust = f"KKT {max(result.kkt.values()):.0e}, defect {result.defect:.0e}, energy balance {replay.balance.relative:.0e}"
    agrees = f"in the simulator it lands {replay.late:+.0e} s later, states differ by {replay.missed:.0e}"
    refused = f"; cheaper ones, {found.refused}, touch the ground on their way" if found.refused else ""
    return [
        Row(f"{case.name} [{case.unit}]", f"{cost:.5f}", mine, "; ".join(t for t in (springs, ring) if t)),
        Row(f"{case.name}: step [m], duration [s]", f"{length:.3f}, {duration:.3f}", _step(found), _bounds(found)),
        Row(f"{case.name}: time to solve [s]", "-", f"{found.seconds:.2f}", _starts(found)),
        Row(
            f"{case.name}: how far to trust it",
            "-",
            trust,
            agrees + refused if replay.ok else f"the simulator does not agree: {replay.ended}",
        ),
        Row(f"{case.name}, in the published step, on a free slope [{case.unit}]", f"{cost:.5f}", *_there(here)),
    ]


def _step(found: Driven) -> str:
    return f"{found.design.step_length:.3f}, {found.result.duration:.3f}"


def _bounds(found: Driven) -> str:
    at = []
    for what, value, bounds in (("step", found.design.step_length, LENGTHS), ("duration", found.result.duration, DURATIONS)):
        at += [f"{what} at its {side} bound" for side, b in zip(("lower", "upper"), bounds, strict=True) if abs(value - b) < 1e-4]
    return ", ".join(at)


def _starts(found: Driven) -> str:
    costs = found.found
    if not costs:
        return ""
    spread = f", from {costs[0]:.4g} to {costs[-1]:.4g}" if costs[-1] > costs[0] + 1e-3 * abs(costs[0]) + 1e-6 else ", all to the same"
    return f"all starts and meshes; {len(costs)} starts were solved{spread} (on the coarse mesh, price of torque included)"


def _there(here: Driven) -> tuple[str, str]:
    if not here.result.success:
        worst = next(iter(here.result.worst.items()), ("", math.nan))
        if "step length" in worst[0]:
            longest = here.result.problem.requirements
            wanted = next(r.low for r in longest if r.name == "step length")
            return (
                "no such step",
                f"the old foot lifts off in steps up to {wanted - worst[1]:.3f} m; with longer legs, or if that is not asked, more",
            )
        return "not solved", f"{here.result.status}: {worst[0]} by {worst[1]:.2g}"
    springs = ", ".join(f"{n} {v:.4g}" for n, v in here.springs.items())
    nothing = "passive: it walks so by itself; " if here.value < 1e-3 else ""
    return f"{max(here.value, 0.0):.5g}", f"{nothing}slope {here.result.parameters['slope']:.4f}" + (f", {springs}" if springs else "")


def rows(models: tuple[str, ...] = ("M_A", "M_E")) -> list[Row]:
    found: list[Row] = []
    solved: dict[tuple[str, str, str], Driven] = {}
    for case in sorted((c for c in CASES if c.model in models), key=lambda c: (c.model, c.cost != TORQUE)):
        smooth = solved.get((case.model, TORQUE, case.drive))  # squared torque is the smoother cost: the other begins there
        first = [smooth.result] if smooth is not None and smooth.result.success else []
        length, duration = case.published[1:]
        solved[case.model, case.cost, case.drive] = one = walk(case.model, case.drive, case.cost, first=first)
        there = walk(case.model, case.drive, case.cost, slope=STEEP, step_length=(length, length), duration=(duration, duration))
        found += rows_of(case, one, there)
    return found + [row for model in models for row in together(model, solved)]


def together(model: str, solved: dict[tuple[str, str, str], Driven]) -> list[Row]:
    """What springs are worth, and what the published numbers can mean."""
    found = []
    for cost, word in ((WORK, "work"), (TORQUE, "squared torque")):
        his = {c.drive: c.published[0] for c in CASES if (c.model, c.cost) == (model, cost)}
        ours = {drive: solved[model, cost, drive].value for drive in KINDS}
        for drive in ("series", "parallel"):
            found.append(
                Row(
                    f"{model}: {word}, {drive} over rigid",
                    f"{his[drive] / his['rigid']:.2g}",
                    f"{ours[drive] / ours['rigid']:.3g}",
                    "springs cost less than rigid motors, as he finds" if ours[drive] < 0.999 * ours["rigid"] else _useless(drive),
                )
            )
        rigid = solved[model, cost, "rigid"]
        by_weight = rigid.value / rigid.design.weight ** (1 if cost == WORK else 2)
        found.append(
            Row(
                f"{model}: {word}, rigid, over {'weight' if cost == WORK else 'squared weight [s/m]'}",
                f"{his['rigid']:.5f}",
                f"{by_weight:.5f}",
                "if torques were counted in weights (times one metre)",
            )
        )
    free = {cost: walk(model, "rigid", cost, slope=STEEP) for cost in (WORK, TORQUE)}
    found.append(
        Row(
            f"{model}: rigid, on a free slope: work [J/m], squared torque [N^2 m s]",
            "0.45729, 0.09563" if model == "M_A" else "0.51831, 0.62844",
            ", ".join(f"{max(free[cost].value, 0.0):.2g}" for cost in (WORK, TORQUE)),
            f"on slopes of {free[WORK].result.parameters['slope']:.3f} and {free[TORQUE].result.parameters['slope']:.3f} it walks by itself: "
            "what is published is near that, and differs from nothing by where a search ended",
        )
    )
    return found


def _useless(drive: str) -> str:
    return f"a spring in {drive} only makes legs swing faster, and these steps last as long as they may: the best one is none"


STUDY = Study(
    "saurel-actuators",
    "Étude d'actionneurs: rigid motors, springs in series and in parallel. Known: the models, both costs, the states, constants shared by both "
    f"sides. Ours: slope {SLOPE} as in the paper, steps of {LENGTHS[0]} to {LENGTHS[1]} m, {DURATIONS[0]} to {DURATIONS[1]} s, motors of "
    f"{INERTIA} kg m^2, springs without dampers",
    "Saurel, PhD thesis, Université de Toulouse, chapter on the Yoyo-man (after 2016); manuscript in the author's public repository",
    rows,
)
