"""Saurel's study of actuators: rigid, in series, in parallel; a compass and a whole body; work and squared
torque over distance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from strut.actuator import KINDS
from strut.actuator.series import DEFAULT_INERTIA
from strut.studies.saurel_drives import (
    DURATIONS,
    MAX_ANGLE,
    MAX_RATE,
    PRICE,
    SLOPE,
    STEP_LENGTHS,
    TORQUE,
    WORK,
    Driven,
    walk,
)
from strut.studies.saurel_walks import FRICTION, MAX_TORQUE
from strut.studies.study import Row, Study

SLOPE_BOUNDS = (0.0, 0.35)
"""Bounds of the slope where it is free [rad]."""
ZERO_BELOW = 1e-4
"""Costs, springs and distances to bounds below this, each in its own unit, are shown as none."""
MAX_TURNS = 4
"""A motor that turns round more often in a step does not follow the leg: it rings on its spring."""
USELESS_REMARK = (
    "a spring beside a motor makes legs swing faster, and these steps last as long as they may: the "
    "best one is none"
)
"""Said where springs cost no less than rigid motors."""


@dataclass(frozen=True)
class ActuatorCase:
    """A column of his tables: cost, step length [m], duration [s]."""

    model: str
    cost: str
    drive: str
    published: tuple[float, float, float]

    @property
    def name(self) -> str:
        """Model, drive and cost, in words."""
        return f"{self.model} {self.drive}, {'work' if self.cost == WORK else 'squared torque'}"

    @property
    def unit(self) -> str:
        """Of the cost."""
        return "J/m" if self.cost == WORK else "N^2 m s"


_TABLES = {
    ("M_A", WORK): ((0.45729, 0.91416, 0.80094), (0.04651, 0.78682, 0.87833), (0.03863, 0.69466, 0.61705)),
    ("M_A", TORQUE): ((0.09563, 0.6, 0.74361), (0.00004, 0.92726, 0.90204), (0.00060, 0.65017, 0.73318)),
    ("M_E", WORK): ((0.51831, 0.6, 0.59480), (0.00844, 0.6, 0.82184), (0.04792, 0.85526, 0.47053)),
    ("M_E", TORQUE): ((0.62844, 0.6, 0.64572), (0.12800, 0.6, 0.81010), (0.36654, 0.6, 0.51664)),
}
CASES: tuple[ActuatorCase, ...] = tuple(
    ActuatorCase(model, cost, drive, numbers)
    for (model, cost), columns in _TABLES.items()
    for drive, numbers in zip(("rigid", "series", "parallel"), columns, strict=True)
)
"""Every column of his tables."""


def settings() -> list[Row]:
    """What the thesis does not say, and what was chosen."""
    return [
        Row(
            "slope [rad]",
            "-",
            f"{SLOPE}",
            "that of the paper; the thesis does not say it again, nor whether it is free",
        ),
        Row(
            "steps [m]",
            "0.6 to ?",
            f"{STEP_LENGTHS[0]} to {STEP_LENGTHS[1]}",
            "six of twelve are 0.6 exactly, so that must be a bound; the other is the paper's",
        ),
        Row(
            "durations [s]",
            "-",
            f"{DURATIONS[0]} to {DURATIONS[1]}",
            "free, as his tables show: 0.47 to 0.90",
        ),
        Row(
            "inertia of a motor behind its gear [kg m^2]",
            "-",
            f"{DEFAULT_INERTIA}",
            "in series only; rigid and parallel motors have none, as in the thesis",
        ),
        Row(
            "springs",
            "one set for both sides",
            "one set for both sides",
            "[N m/rad], in series 1 to 2000, in parallel 0 to 2000; no dampers, though our series drives "
            "have one unless told otherwise",
        ),
        Row(
            "friction, torque at most [N m]",
            "-",
            f"{FRICTION}, {MAX_TORQUE:g}",
            "as in saurel-table1; so are stature, masses and how the old foot must lift",
        ),
        Row(
            "angles [rad], rates [rad/s]",
            "-",
            f"within {MAX_ANGLE:g}, {MAX_RATE:g}",
            "of motors, too: how far one may ring on its spring",
        ),
        Row(
            "price of squared torque beside work [J/(N m)^2/s]",
            "-",
            f"{PRICE:g}",
            "work alone would not care for torques while nothing moves",
        ),
    ]


def rows_of(case: ActuatorCase, step: Driven, here: Driven) -> list[Row]:
    """One case: `step` on the slope of the paper, `here` in the published step on whatever slope suits
    it."""
    cost, length, duration = case.published
    result, replay = step.result, step.design.replay
    mine = f"{step.value:.5g}" if result.success else f"not solved: {result.status}"
    ring = f"its motor turns round {step.turns} times a step" if step.turns > MAX_TURNS else ""
    trust = (
        f"KKT {max(result.kkt.values()):.0e}, defect {result.defect:.0e}, energy balance "
        f"{replay.balance.relative:.0e}"
    )
    agrees = f"in the simulator it lands {replay.late:+.0e} s later, states differ by {replay.missed:.0e}"
    refused = f"; {step.refused} cheaper ones touch the ground on their way" if step.refused else ""
    return [
        Row(
            f"{case.name} [{case.unit}]",
            f"{cost:.5f}",
            mine,
            "; ".join(t for t in (_springs(step), ring) if t),
        ),
        Row(
            f"{case.name}: step [m], duration [s]",
            f"{length:.3f}, {duration:.3f}",
            _step(step),
            _bounds(step),
        ),
        Row(f"{case.name}: time to solve [s]", "-", f"{step.seconds:.2f}", _starts(step)),
        Row(
            f"{case.name}: how far to trust it",
            "-",
            trust,
            agrees + refused if replay.ok else f"the simulator does not agree: {replay.ended}",
        ),
        Row(
            f"{case.name}, in the published step, on a free slope [{case.unit}]", f"{cost:.5f}", *_there(here)
        ),
    ]


def _springs(step: Driven) -> str:
    return ", ".join(f"{n} {v:.4g}" if abs(v) > ZERO_BELOW else f"{n} 0" for n, v in step.springs.items())


def _step(step: Driven) -> str:
    return f"{step.design.step_length:.3f}, {step.result.duration:.3f}"


def _bounds(step: Driven) -> str:
    at = []
    for what, value, bounds in (
        ("step", step.design.step_length, STEP_LENGTHS),
        ("duration", step.result.duration, DURATIONS),
    ):
        at += [
            f"{what} at its {side} bound"
            for side, b in zip(("lower", "upper"), bounds, strict=True)
            if abs(value - b) < ZERO_BELOW
        ]
    return ", ".join(at)


def _starts(step: Driven) -> str:
    costs = step.costs_of_starts
    if not costs:
        return "no start was solved"
    spread = costs[-1] > costs[0] + 1e-3 * abs(costs[0]) + ZERO_BELOW
    outcome = (
        f"led to costs of {costs[0]:.4g} to {costs[-1]:.4g} on the coarse mesh"
        if spread
        else "led to the same"
    )
    return (
        f"all starts and meshes together; {len(costs)} starts {outcome}"
        if len(costs) > 1
        else "all meshes together; one start was solved"
    )


def _there(here: Driven) -> tuple[str, str]:
    if not here.result.success:
        name, amount = next(iter(here.result.worst.items()), ("", math.nan))
        if name.startswith("step length"):
            least_length = next(r.low for r in here.result.problem.requirements if r.name == "step length")
            return (
                "no such step",
                f"the old foot lifts in steps up to {least_length - amount:.3f} m; his legs are longer, or "
                f"he does not ask that",
            )
        return "not solved", f"{here.result.status}: {name} by {amount:.2g}"
    nothing = "it walks so by itself" if here.value < ZERO_BELOW else ""
    trust = "" if here.ok else "; the simulator does not agree"
    words = (nothing, f"slope {here.result.parameters['slope']:.4f}", _springs(here))
    return f"{max(here.value, 0.0):.4g}" if not nothing else "0", ", ".join(w for w in words if w) + trust


def rows(models: tuple[str, ...] = ("M_A", "M_E")) -> list[Row]:
    """Compare rigid, series and parallel drives of some models with Saurel's numbers."""
    table = settings()
    solved: dict[tuple[str, str, str], tuple[Driven, Driven]] = {}
    for case in sorted((c for c in CASES if c.model in models), key=lambda c: (c.model, c.cost != TORQUE)):
        solved[case.model, case.cost, case.drive] = pair = both(
            case, solved.get((case.model, TORQUE, case.drive))
        )
        table += rows_of(case, *pair)
    for model in models:
        table += together(
            model, {(cost, drive): one for (m, cost, drive), (one, _) in solved.items() if m == model}
        )
    return table


def both(case: ActuatorCase, smooth: tuple[Driven, Driven] | None = None) -> tuple[Driven, Driven]:
    """On the slope of the paper, and in the published step on a free one. Squared torque is the smoother
    cost, from which the search for
    little work begins: `smooth`."""
    length, duration = case.published[1:]
    there: dict[str, tuple[float, float]] = {
        "slope": SLOPE_BOUNDS,
        "step_length": (length, length),
        "duration": (duration, duration),
    }
    first = [smooth[0].result] if smooth is not None and smooth[0].result.success else []
    one = walk(case.model, case.drive, case.cost, first=first)
    near = [walk(case.model, case.drive, TORQUE, there).result] if case.cost == WORK else []
    return one, walk(case.model, case.drive, case.cost, there, [r for r in near if r.success])


def together(model: str, solved: dict[tuple[str, str], Driven]) -> list[Row]:
    """What springs are worth, and what the published numbers can mean."""
    table = []
    for cost, word in ((WORK, "work"), (TORQUE, "squared torque")):
        his = {c.drive: c.published[0] for c in CASES if (c.model, c.cost) == (model, cost)}
        ours = {drive: solved[cost, drive].value for drive in KINDS}
        for drive in ("series", "parallel"):
            better = ours[drive] < 0.999 * ours["rigid"]
            remark = "springs cost less than rigid motors, as he finds" if better else USELESS_REMARK
            table.append(
                Row(
                    f"{model}: {word}, {drive} over rigid",
                    f"{his[drive] / his['rigid']:.2g}",
                    f"{ours[drive] / ours['rigid']:.2g}",
                    remark,
                )
            )
        unit = (ours["rigid"] / his["rigid"]) ** (1.0 if cost == WORK else 0.5)
        remark = (
            f"his unit is [{'W/m' if cost == WORK else 'N^2 m'}]; were it one of torque alone, both "
            f"costs and both models would agree on it"
        )
        table.append(
            Row(
                f"{model}: {word}: unit of torque in which our rigid walk costs what his does [N m]",
                "-",
                f"{unit:.3g}",
                remark,
            )
        )
    free = {TORQUE: walk(model, "rigid", TORQUE, {"slope": SLOPE_BOUNDS})}
    free[WORK] = walk(model, "rigid", WORK, {"slope": SLOPE_BOUNDS}, [free[TORQUE].result])
    slopes = " and ".join(f"{free[cost].result.parameters['slope']:.3f}" for cost in (WORK, TORQUE))
    remark = (
        f"on slopes of {slopes} it walks by itself: if his slope was free, his numbers tell how near to "
        f"nothing a search came"
    )
    published = ", ".join(
        f"{c.published[0]}"
        for cost in (WORK, TORQUE)
        for c in CASES
        if (c.model, c.cost, c.drive) == (model, cost, "rigid")
    )
    mine = ", ".join(f"{max(free[cost].value, 0.0):.1g}" for cost in (WORK, TORQUE))
    return [
        *table,
        Row(
            f"{model}: rigid, on a free slope: work [J/m], squared torque [N^2 m s]", published, mine, remark
        ),
    ]


STUDY = Study(
    "saurel-actuators",
    "Étude d'actionneurs: motors that are rigid, in series and in parallel with springs; work and squared "
    "torque over distance",
    "Saurel, PhD thesis, Université de Toulouse; section on actuators, in the author's public manuscript",
    rows,
)
