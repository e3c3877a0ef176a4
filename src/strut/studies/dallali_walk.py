"""COMAN walks: a search finds the seven numbers of a walk by its zero-moment point, as Dallali et al. did it.

The paper says that a model of 15 joints (legs and waist) was used, that RLPF tuned trajectories of ZMP-based
walking, and that after a few hundred trials several stable dynamic gaits were there; the parameters are not
printed. What they are here stands in `RANGES`, and in `OUR_CHOICES` what else was chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strut import evolve
from strut.control import WalkMotion
from strut.simulate import Trajectory
from strut.studies.dallali_walk_trials import (
    ENOUGH_STEPS,
    MEASURES,
    RANGES,
    READ_EVERY,
    SOLE,
    STANDING_TIME,
    STEP,
    STEPS,
    foot_force,
    measure_trials,
    plan,
    run_walk,
    walking_robot,
)
from strut.studies.study import Plot, Row, SearchOrder, SearchOutcome
from strut.studies.trial_search import TRIALS_FILE, search_trials, trial_study, trials_row
from strut.walkers.coman_robot import GROUND_STIFFNESS

TRIALS, POPULATION, RANDOM_TRIALS = 300, 10, 50
"""How many walks are tried, how many together, and how many of them before the search learns."""
OUR_CHOICES = (
    "all 15 joints have their motors and springs, PD 150/10 in volts on the link side, as in the paper's "
    "sway; the waist is held straight; ranges of joints are kept by the plan, and not watched in the run",
    "pattern: ZMP preview control (Kajita 2003) at constant height of the centre of mass, corrected for the "
    "legs' own momentum; level feet; 12 steps from standing to standing",
    "goal: first many steps without a fall, then speed: the way forward less the way aside, by the time",
)
"""What the paper does not say."""


def problem() -> evolve.SearchProblem:
    """Return what is searched."""
    return evolve.SearchProblem(
        [evolve.SearchParameter(name, low, high, unit=unit) for name, (low, high, unit) in RANGES.items()],
        evolve.of_function(measure_trials, MEASURES, vectorised=True),
        [evolve.maximise("steps + upright", until="complete > 0.5"), evolve.maximise("advance")],
    )


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search, walk with the best, and compare with what was published."""
    method = evolve.ParticleFilter(POPULATION, first=min(RANDOM_TRIALS, order.trials or TRIALS))
    evolution = search_trials(problem(), method, order, tell, trials=TRIALS)
    tried = evolve.load_individuals(order.folder / TRIALS_FILE)
    rows = [trials_row(evolution, "a few hundred")]
    best = evolution.best
    if best.stage < 2:
        most = f"most steps: {tried['steps'].max():.0f}"
        return SearchOutcome(
            [*rows, Row(f"walks of {ENOUGH_STEPS} steps among them", "several", "none", most)]
        )
    motion = plan(dict(best.parameters))
    rows += [*_trial_rows(tried), *_best_rows(evolution, motion)]
    plots = [_progress_plot(tried)]
    film = None
    if order.verify:
        tell("the best walks again")
        film = run_walk(motion)
        rows += [*_run_rows(motion, film), *_other_grounds(motion)]
        plots += _walk_plots(motion, film)
    rows += [Row(f"choices {k + 1}", "-", "see remark", text) for k, text in enumerate(OUR_CHOICES)]
    return SearchOutcome(rows, plots, film)


def _trial_rows(tried: dict[str, np.ndarray]) -> list[Row]:
    """How many trials walked, and when the first one did."""
    complete = tried["complete"] > 0.5
    first = int(np.argmax(complete)) + 1
    unplanned = int((tried["planned"] < 0.5).sum())
    last = complete[len(complete) // 2 :]
    return [
        Row(
            f"walks of {ENOUGH_STEPS} steps among them",
            "several",
            f"{complete.sum()}",
            f"{unplanned} could not be planned within reach and ranges, the others fell or rattled; of "
            f"the second half of all trials {100 * last.mean():.0f} % walked",
        ),
        Row(
            "the first of them was trial",
            "-",
            f"{first}",
            f"the first {RANDOM_TRIALS} trials are random: the plan walks by itself, what is learnt is speed"
            if first <= RANDOM_TRIALS
            else "",
        ),
    ]


def _best_rows(evolution: evolve.Evolution, motion: WalkMotion) -> list[Row]:
    """The best walk in numbers."""
    best = evolution.best
    return [
        Row("joints that move", "15", f"{len(motion.joints) + 3}", "12 of the legs, 3 of the waist"),
        Row("steps of the best", "-", f"{best.measures['steps']:.0f}", f"of {STEPS} that it was told"),
        Row("its speed [m/s]", "-", f"{best.measures['distance'] / (STEPS * motion.pattern.step_time):.3f}"),
        Row(
            "distance, forward and aside [m]",
            "-",
            f"{best.measures['distance']:.3f}, {best.measures['aside']:.3f}",
            f"it was told to go {(STEPS - 1) * motion.pattern.step_length:.3f} forward",
        ),
        *[
            Row(
                f"{name} [{unit}]" if unit else name,
                "-",
                f"{best.parameters[name]:.4f}",
                _bound_remark(evolution, name),
            )
            for name, (_, _, unit) in RANGES.items()
        ],
        Row(
            "planned ZMP inside the soles by at least [mm]",
            "-",
            f"{1e3 * motion.support_margin(SOLE).min():.1f}",
            "of the plan; negative would be outside",
        ),
    ]


def _run_rows(motion: WalkMotion, run: Trajectory) -> list[Row]:
    """What the best does when it is run again."""
    t = np.arange(0.0, run.t1, READ_EVERY)
    values = run.at(t)
    tilt = np.hypot(values["roll"], values["pitch"] - motion.pattern.trunk_pitch).max()
    ending = "stands in the end" if run.status == "done" else run.message
    finer = run_walk(motion, step=STEP / 4)
    moved = 1e3 * abs(float(finer["x"][-1] - run["x"][-1]))
    beyond = [
        joint
        for joint, (low, high) in walking_robot().legs.mechanism.limits.items()
        if values[joint].min() < low or values[joint].max() > high
    ]
    busiest = max(run.time_at_limits.items(), key=lambda item: item[1], default=("none", 0.0))
    return [
        Row("the best, run again", "-", ending, f"after {run.t1:.1f} s"),
        Row(
            "with a quarter of the integrator's step",
            "-",
            "walks" if finer.status == "done" else f"falls after {finer.t1:.1f} s",
            f"the waist comes to rest {moved:.1f} mm from there",
        ),
        Row("joints that leave their ranges", "-", ", ".join(beyond) or "none"),
        Row("drivers at their limit, part of the time", "-", f"{busiest[1]:.3f}", f"at most: {busiest[0]}"),
        Row("largest tilt of the waist [rad]", "-", f"{tilt:.3f}", "from what it was told"),
    ]


def _bound_remark(evolution: evolve.Evolution, name: str) -> str:
    """Say where a bound of the search decides."""
    return "on a bound of its range" if name in evolution.at_bounds else ""


def _other_grounds(motion: WalkMotion) -> list[Row]:
    """Whether the same walk goes on other ground than that it was found on."""
    rows = []
    for word, factor in (("half", 0.5), ("twice", 2.0)):
        run = run_walk(motion, ground_stiffness=factor * GROUND_STIFFNESS)
        verdict = "walks" if run.status == "done" else f"falls after {run.t1:.1f} s"
        rows.append(Row(f"on ground of {word} the stiffness", "-", verdict, "the same motion, nothing tuned"))
    return rows


def _progress_plot(tried: dict[str, np.ndarray]) -> Plot:
    """The speed of every trial that walked, and the best so far."""
    speed = np.where(tried["complete"] > 0.5, tried["advance"], np.nan)
    best = np.fmax.accumulate(speed)
    return Plot(
        "Progress of the search",
        "trial",
        "speed, forward less aside [m/s]",
        tuple(np.arange(1.0, len(speed) + 1)),
        {"each trial that walked": speed.tolist(), "best so far": best.tolist()},
    )


def _walk_plots(motion: WalkMotion, run: Trajectory) -> list[Plot]:
    """ZMP, centre of mass and forces under the feet over time, as planned and as they were."""
    t = np.arange(0.0, min(run.t1, float(motion.t[-1]) + STANDING_TIME), READ_EVERY)
    values = run.at(t)
    plots = []
    for k, (axis, word) in enumerate((("y", "to the left"), ("x", "forward"))):
        plots.append(
            Plot(
                f"Zero-moment point and centre of mass, {word}",
                "t [s]",
                f"{axis} [m]",
                tuple(t),
                {
                    "ZMP": values[f"zmp_{axis}"].tolist(),
                    "ZMP, told": np.interp(t, motion.t, motion.zmp_reference[:, k ^ 1]).tolist(),
                    "centre of mass": values[f"com_{axis}"].tolist(),
                    "centre of mass, told": np.interp(t, motion.t, motion.com[:, k ^ 1]).tolist(),
                },
            )
        )
    forces = {
        word: foot_force(values, side).tolist() for side, word in (("r", "right foot"), ("l", "left foot"))
    }
    plots.append(Plot("Forces under the feet", "t [s]", "vertical force [N]", tuple(t), forces))
    return plots


STUDY = trial_study(
    "dallali-walk",
    "A dynamic simulator of the compliant humanoid COMAN: a walk by its zero-moment point, by a search",
    "Dallali et al. (2013), section on tuning gaits",
    carry_out,
)
