"""Bests of a search for exoskeletons, and of the rival's, run again and screened again: what that tells is
kept in a folder, and lowers the goal that tables say they are at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from strut import evolve
from strut.studies.exoskeleton_descent import HOLDING_WAYS
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_found import WAYS, FoundDesign, check_screening, run_again
from strut.studies.exoskeleton_gait import RIGID_FRICTION
from strut.studies.exoskeleton_measures import DESIGN_GOALS, MAX_ASSIST_SHARE
from strut.studies.exoskeleton_own_walk import (
    WALK_QUANTITY,
    WALK_SCREENING,
    screen_walk,
    walk_miss,
    walk_remark,
    walk_text,
)
from strut.studies.exoskeleton_refined import AnswerFile
from strut.studies.exoskeleton_rival import RIVAL, rival_run_again
from strut.studies.exoskeleton_search import GOAL_NAMES
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.studies.exoskeleton_table import LAST_GOAL, WornDesign, rival_design
from strut.studies.study import Row

CHECKS_FILE = "checks.json"
"""Where answers of runs that were done again are kept."""
STRIDE_SCREENING = "screened"
"""What answers of screening along many samples of the stride are kept as."""
KEPT_NAMES = {"rigid": f"rigid, friction {RIGID_FRICTION:g}"}
"""What answers of a way are kept as in a file, where that is not its own name: runs on ground that holds
without limit were kept as 'rigid' before."""
SINGULARITY_GOAL, TIME_GOAL = (GOAL_NAMES.index(name) + 1 for name in ("singularity", "time"))
"""Numbers of the goals that what comes near a singularity, and what falls, is at."""
MAX_ADDED_MASS = 14.0
"""[kg] Mass of a machine that is as light as what was published, 13 to 14."""
UNCOUNTED_MASS = 1.0
"""[kg] Mass of two of the eight passive joints, which the published masses leave out and ours do not."""
MAX_POWER = 1000.0
"""[W] Power below which it counts as hundreds of watts."""
Answers = Mapping[str, Mapping[str, float]]
"""What was found of a machine, by how it was asked."""


def check_designs(
    folder: Path,
    designs: Sequence[FoundDesign],
    rival: evolve.Evolution | None,
    *,
    shown: int,
    tell: Callable[[str], None],
) -> dict[str, dict[str, dict[str, float]]]:
    """Run the best of each run again in every way and screen it again; return by title, and by how it was
    asked, what was found. What was done before is read from a file of the folder.

    shown: how many designs, from the best on, walk on rigid ground, too, which is compiled for each topology.
    Raises StorageError where the file is damaged."""
    ask, checks = kept_asker(folder, tell), dict[str, dict[str, dict[str, float]]]()
    for k, design in enumerate(designs):
        ways = (WALK_SCREENING, *(WAYS if k < shown else HOLDING_WAYS)) if design.walks else ()
        checks[design.title] = {way: ask_design(ask, design, way) for way in (STRIDE_SCREENING, *ways)}
    if rival is not None:
        checks[RIVAL] = {way: ask_rival(ask, rival.best, way) for way in WAYS}
    return checks


AskMachine = Callable[[str, str, str, Callable[[], Mapping[str, float]]], dict[str, float]]
"""A function of title, place, way and run that returns the kept answer of a machine, or runs it and keeps
that."""


def kept_asker(folder: Path, tell: Callable[[str], None]) -> AskMachine:
    """Return what asks machines, and keeps answers in a file of a folder: what it has is not asked again.
    Raises StorageError where the file is damaged."""
    file = AnswerFile(folder / CHECKS_FILE)

    def ask(title: str, found_at: str, way: str, run: Callable[[], Mapping[str, float]]) -> dict[str, float]:
        def tell_and_run() -> dict[str, float]:
            tell(f"{title}, {found_at} is run again: {way}")
            return dict(run())

        return dict(file.answer(f"{title}, {found_at}", KEPT_NAMES.get(way, way), tell_and_run))

    return ask


def ask_design(ask: AskMachine, design: FoundDesign, way: str) -> dict[str, float]:
    """Return how a design answers: screened again, along its own walk, or run again in a way of `WAYS`."""
    found_at = f"generation {design.individual.generation}"
    run = {STRIDE_SCREENING: _screening_answer, WALK_SCREENING: screen_walk}.get(
        way, partial(run_again, way=way)
    )
    return ask(design.title, found_at, way, partial(run, design))


def ask_rival(ask: AskMachine, individual: evolve.Individual, way: str) -> dict[str, float]:
    """Return how a rival that a search found answers, run again in a way of `WAYS`."""
    found_at = f"generation {individual.generation} of run {individual.run + 1}"
    return ask(RIVAL, found_at, way, partial(rival_run_again, individual, way))


def _screening_answer(design: FoundDesign) -> dict[str, float]:
    return {"ok": float(check_screening(design))}


def checked_stage(stage: int, answers: Answers, limits: Mapping[str, float] | None = None) -> int:
    """Return the number of the goal that a machine is at by all that was asked: the lowest of the search's,
    in fine steps, over 30 s, and by both screenings. What was not asked lowers nothing.

    stage: of the search. limits: of peaks that are asked for, by measure [W, N]."""
    stages = [stage, *[int(answers[way]["stage"]) for way in HOLDING_WAYS if way in answers]]
    if STRIDE_SCREENING in answers and not answers[STRIDE_SCREENING]["ok"]:
        stages.append(SINGULARITY_GOAL)
    walked = answers.get(WALK_SCREENING, {})
    if walk_miss(walked):
        stages.append(TIME_GOAL if "time" in walked else SINGULARITY_GOAL)
    fine = answers.get("fine", {})
    if any(not fine[name] <= limit for name, limit in (limits or {}).items() if name in fine):
        stages.append(LAST_GOAL - 1)
    return min(stages)


def checked_design(
    design: FoundDesign, answers: Answers, limits: Mapping[str, float] | None = None
) -> WornDesign:
    """Return what tables tell of a design at the goal of `checked_stage`: as it walks in fine steps; where
    that was not asked, as the search has it, with forces from rigid ground if it lasted there."""
    return _with_answers(design.worn_design(_rigid_forces(answers)), answers, limits)


def checked_rival(
    rival: evolve.Evolution, answers: Answers, limits: Mapping[str, float] | None = None
) -> WornDesign:
    """Return what tables tell of the rival; its goals are counted as those of exoskeletons."""
    stage = rival.best.stage + DESIGN_GOALS if rival.best.stage else 0
    if rival.stages + DESIGN_GOALS > len(GOAL_NAMES):  # it has goals of peaks, which count as one
        stage = len(GOAL_NAMES) if rival.best.stage == rival.stages else min(stage, len(GOAL_NAMES) - 1)
    seen = {**rival.best.measures, **_rigid_forces(answers)}
    return _with_answers(rival_design(rival.best.parameters, stage, seen), answers, limits)


def _with_answers(worn: WornDesign, answers: Answers, limits: Mapping[str, float] | None) -> WornDesign:
    """What was found in fine steps takes the place of what the search saw in long ones."""
    return replace(
        worn,
        stage=checked_stage(worn.stage, answers, limits),
        measures={**worn.measures, **answers.get("fine", {})},
    )


def _rigid_forces(answers: Answers) -> dict[str, float]:
    """Forces and peaks of a walk on rigid ground that lasted."""
    rigid = answers.get("rigid", {})
    if rigid.get("time", 0.0) < DURATION:
        return {}
    return {
        name: rigid[name]
        for name in ("interaction", "peak_interaction", "peak_power", "spring_return")
        if name in rigid
    }


def is_stable_gait(worn: WornDesign) -> bool:
    """Tell whether a design is what was published: at the last goal, up to 14 kg, bars up to 0.7 m, assisted
    for a tenth of the time at most, hundreds of watts. It holds in fine steps where `worn` is of
    `checked_design`."""
    return bool(
        worn.stage == LAST_GOAL
        and worn.mass - UNCOUNTED_MASS <= MAX_ADDED_MASS
        and worn.bars.max() <= MAX_BAR_LENGTH
        and worn.measures["assist_time"] <= MAX_ASSIST_SHARE * DURATION / 2
        and worn.measures["power_absolute"] < MAX_POWER
    )


def was_checked(answers: Answers) -> bool:
    """Whether a design was asked all that tells whether it holds."""
    return {STRIDE_SCREENING, WALK_SCREENING, *HOLDING_WAYS} <= set(answers)


def count_rows(
    designs: Sequence[FoundDesign],
    checks: Mapping[str, Answers],
    limits: Mapping[str, float] | None = None,
) -> list[Row]:
    """Return how many runs found a gait at the last goal, and such as was published: as the search has it,
    and of those the ones that hold when they are run again and screened again. Without checks the search
    alone is counted."""
    names = "a gait at the last goal", "such a gait"
    limits_text = ", up to 14 kg, bars up to 0.7 m, below 1000 W"
    searching = "in the steps and the precision of the search"
    counting = "counting six passive joints, as published masses do: ours have eight, 1 kg more"
    counts = _count_gaits([design.worn_design() for design in designs])
    of_all = f"of {len(designs)}"
    rows = [
        Row(f"runs with {names[0]}", "not every", f"{counts[0]} {of_all}", searching),
        Row(f"runs with {names[1]}{limits_text}", "", f"{counts[1]} {of_all}", f"{searching}; {counting}"),
    ]
    if not checks:
        return rows
    checked = [
        checked_design(design, checks[design.title], limits)
        for design in designs
        if was_checked(checks.get(design.title, {}))
    ]
    asked = "with steps of 0.1 ms, for 30 s, along 40 samples of the stride and along its own walk"
    return rows + [
        Row(f"runs with {name} that holds when it is checked", "", f"{count} {of_all}", asked)
        for name, count in zip(names, _count_gaits(checked), strict=True)
    ]


def _count_gaits(designs: Sequence[WornDesign]) -> tuple[int, int]:
    """How many designs are at the last goal, and how many are what was published."""
    return sum(each.stage == LAST_GOAL for each in designs), sum(map(is_stable_gait, designs))


def check_rows(titles: Sequence[str], checks: Mapping[str, Answers]) -> list[Row]:
    """Return how far machines come when they are run again, the goal in each way, and how near to a
    singularity their own walk leads them. titles: of all of them."""
    rows = []
    for title in titles:
        answers = checks.get(title, {})
        parts = []
        for way in WAYS:
            if way in answers:
                measures = answers[way]
                goal = GOAL_NAMES[int(measures["stage"]) - 1]
                lasted = f"{goal}, {measures['time']:.1f} s" if "time" in measures else "broke off"
                parts.append(f"{way}: {lasted}")
        walked = answers.get(WALK_SCREENING, {})
        if parts:
            remarks = (
                [] if answers.get(STRIDE_SCREENING, {}).get("ok", 1.0) else ["fails the finer screening"]
            )
            remarks += [walk_miss(walked)] if walk_miss(walked) else []
            if "rigid" in answers:
                remarks.append(f"rigid ground has friction {RIGID_FRICTION:g}, as soft ground has")
                if answers["rigid"].get("time", DURATION) < DURATION:
                    remarks.append(
                        "a run there ends by a fall, where no force of the ground is left that friction "
                        "allows a foot (Painleve), or in too many steps of feet that chatter"
                    )
            rows.append(Row(f"{title} run again", "", "; ".join(parts), "; ".join(remarks)))
        if walked:
            rows.append(Row(f"{title}: {WALK_QUANTITY}", "", walk_text(walked), walk_remark(walked)))
    return rows


__all__ = [
    "CHECKS_FILE",
    "STRIDE_SCREENING",
    "AskMachine",
    "ask_design",
    "ask_rival",
    "check_designs",
    "check_rows",
    "checked_design",
    "checked_rival",
    "checked_stage",
    "count_rows",
    "is_stable_gait",
    "kept_asker",
    "was_checked",
]
