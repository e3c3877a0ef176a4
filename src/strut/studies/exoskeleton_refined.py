"""Exoskeletons and their rival before and after descent by gradients: refined, judged in fine steps, for 30 s
and by their multipliers, and told beside each other; kept in a folder, to be gone on with."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import ModelError, StorageError
from strut.files import put
from strut.simulate import simulate
from strut.studies.exoskeleton_candidates import Candidate, parameters_digest
from strut.studies.exoskeleton_descent import HOLDING_WAYS
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_measures import FINE_STEP
from strut.studies.exoskeleton_own_walk import (
    WALK_QUANTITY,
    WALK_SCREENING,
    walk_miss,
    walk_remark,
    walk_text,
)
from strut.studies.exoskeleton_rival import RIVAL
from strut.studies.exoskeleton_search import GOAL_NAMES, LIMIT_NAMES
from strut.studies.exoskeleton_stability import StrideStability, stride_stability
from strut.studies.exoskeleton_table import (
    BETTER_QUESTION,
    CROSSINGS_QUANTITY,
    LAST_GOAL,
    WornDesign,
)
from strut.studies.study import SECONDS_PER_MINUTE, Row
from strut.system import System

REFINED_FILE = "refined.json"
"""Where descents are kept, in the folder of a study."""
JUDGED_FILE = "judged.json"
"""Where answers about designs before and after descent are kept."""
STABILITY_WAY = "multipliers"
"""What an answer about multipliers is kept as."""
ACCOUNT_WAY = "account"
"""What an answer about closures and energy is kept as."""


@dataclass(frozen=True, eq=False)
class JudgedCandidate:
    """A machine with what was found of it. fine, long: measures in fine steps and for 30 s, with `stage`.
    stability: of its gait; None where it falls. is_sound: whether it passes the finer screening. limits: of
    peaks that are asked for, by measure [W, N]. account: as of `account_walk`. walked: as of
    `exoskeleton_own_walk.screen_walk`."""

    candidate: Candidate
    fine: Mapping[str, float]
    long: Mapping[str, float]
    stability: StrideStability | None
    is_sound: bool = True
    limits: Mapping[str, float] = field(default_factory=dict)
    account: Mapping[str, float] = field(default_factory=dict)
    walked: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether it is at the last goal in fine steps and for 30 s, with peaks within their limits, and
        passes the finer screening and that of its own walk."""
        return not self.miss_text

    @property
    def miss_text(self) -> str:
        """What it does not keep, in words; nothing where it holds."""
        if not self.is_sound:
            return "fails the finer screening"
        if walk_miss(self.walked):
            return walk_miss(self.walked)
        stage = int(min(self.fine["stage"], self.long["stage"]))
        if stage < LAST_GOAL:
            return f"at {GOAL_NAMES[stage - 1]}"
        over = [name for name, limit in self.limits.items() if not self.fine.get(name, np.nan) <= limit]
        return ", ".join(f"above the limit of {LIMIT_NAMES[name]}" for name in over)

    @property
    def power(self) -> float:
        """[W] In fine steps; nan where it broke off."""
        return float(self.fine.get("power_absolute", np.nan))

    @property
    def worn_design(self) -> WornDesign:
        """What tables tell of it."""
        return self.candidate.worn_design(int(self.fine["stage"]), self.fine)


@dataclass(frozen=True, eq=False)
class CandidatePair:
    """A machine before and after descent, not judged yet. remark: how that went."""

    before: Candidate
    after: Candidate
    remark: str


@dataclass(frozen=True, eq=False)
class RefinedCandidate:
    """A machine before and after descent, judged. remark: how that went."""

    before: JudgedCandidate
    after: JudgedCandidate
    remark: str


class AnswerFile:
    """Answers of what takes long, kept in a file of JSON by title and what was asked.

    path: of the file. Raises StorageError where it is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, dict[str, Any]] = {}
        if path.is_file():
            try:
                self.entries = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise StorageError(f"{path} is damaged: {error}; remove it, and it is done again") from error

    def has(self, title: str, what: str) -> bool:
        """Whether there is an answer."""
        return what in self.entries.get(title, {})

    def answer(self, title: str, what: str, run: Callable[[], Any]) -> Any:
        """Return an answer: that of the file, or of `run`, which is kept."""
        if not self.has(title, what):
            answer = run()
            self.entries.setdefault(title, {})[what] = answer
            self.path.parent.mkdir(parents=True, exist_ok=True)
            put(self.path, json.dumps(self.entries, indent=1, sort_keys=True) + "\n")
        return self.entries[title][what]


def refine_candidate(
    file: AnswerFile,
    candidate: Candidate,
    *,
    limits: Mapping[str, float],
    tell: Callable[[str], None],
    **options: Any,
) -> CandidatePair:
    """Return a machine before and after descent, and how that went; what the file has is not done again.

    limits: of peaks, as of `walking_goals`. options: of its `descend`. One that falls as the search runs it
    stays as it is."""

    def descend() -> dict[str, Any]:
        tell(f"{candidate.title} goes down by gradients")
        try:
            descended = candidate.descend(limits, lambda text: tell(f"{candidate.title}, {text}"), **options)
        except ModelError as error:
            own = candidate.individual
            return {"parameters": dict(own.parameters), "measures": dict(own.measures), "remark": str(error)}
        return {
            "parameters": dict(descended.individual.parameters),
            "measures": dict(descended.after),
            "remark": f"{descended.steps} steps of descent, {descended.walks} walks, "
            f"{descended.seconds:.0f} s of processor time; {descended.message}",
        }

    begin = candidate.individual
    entry = file.answer(candidate.title, parameters_digest(begin.parameters, dict(limits)), descend)
    individual = replace(
        begin,
        parameters=dict(entry["parameters"]),
        measures=dict(entry["measures"]),
        value=float(entry["measures"]["power_absolute"]),
    )
    return CandidatePair(candidate, candidate.with_individual(individual), str(entry["remark"]))


def judge_candidate(
    file: AnswerFile,
    candidate: Candidate,
    tell: Callable[[str], None],
    limits: Mapping[str, float] | None = None,
) -> JudgedCandidate:
    """Return what is found of a machine in fine steps, for 30 s, by its multipliers, by the finer screening,
    along its own walk and in the books of its energy. limits: of peaks that are asked for, by measure
    [W, N]."""
    digest = parameters_digest(candidate.individual.parameters)

    def run(way: str) -> dict[str, float]:
        tell(f"{candidate.title} is run again: {way}")
        return candidate.run_again(way)

    def multipliers() -> dict[str, float]:
        tell(f"{candidate.title}: multipliers")
        stability = stride_stability(candidate.machine())
        return {} if stability is None else dict(vars(stability))

    def books() -> dict[str, float]:
        tell(f"{candidate.title}: closures and energy")
        return account_walk(candidate.machine())

    def own_walk() -> dict[str, float]:
        tell(f"{candidate.title} is screened along its own walk")
        return dict(candidate.screen_walk())

    fine, long = (file.answer(candidate.title, f"{way} {digest}", partial(run, way)) for way in HOLDING_WAYS)
    entry = file.answer(candidate.title, f"{STABILITY_WAY} {digest}", multipliers)
    account = file.answer(candidate.title, f"{ACCOUNT_WAY} {digest}", books)
    walked = file.answer(candidate.title, f"{WALK_SCREENING} {digest}", own_walk)
    stability = StrideStability(**{**entry, "strides": int(entry["strides"])}) if entry else None
    return JudgedCandidate(
        candidate,
        fine,
        long,
        stability,
        is_sound=candidate.carries_stride(),
        limits=limits or {},
        account=account,
        walked=walked,
    )


def account_walk(machine: System) -> dict[str, float]:
    """Return what the books of a walk in fine steps leave open: `gap`, by which loops open at most [m]; and
    `unexplained`, the energy that the ledger does not explain, as a part of what moved [1]."""
    walk = simulate(machine, DURATION, method="rk4", step=FINE_STEP)
    gap = np.abs(walk["closure_error"]).max() if "closure_error" in machine.outputs else 0.0
    return {"gap": float(gap), "unexplained": walk.ledger.relative}


def refine_all(
    folder: Path,
    candidates: Sequence[Candidate],
    *,
    limits: Mapping[str, float],
    minutes: float | None,
    tell: Callable[[str], None],
    **options: Any,
) -> list[CandidatePair]:
    """Refine machines, or go on with what the folder has; return each before and after, and how it went.

    minutes: after which no other descent is begun. Those that the time is too short for are left out, which
    `tell` says."""
    began, file = clock.monotonic(), AnswerFile(folder / REFINED_FILE)
    pairs: list[CandidatePair] = []
    for candidate in candidates:
        is_known = file.has(candidate.title, parameters_digest(candidate.individual.parameters, dict(limits)))
        is_late = minutes is not None and clock.monotonic() - began > SECONDS_PER_MINUTE * minutes
        if is_late and not is_known:
            tell(f"{candidate.title} is left out: it is not refined yet, and there is no time for it")
            continue
        pairs.append(refine_candidate(file, candidate, limits=limits, tell=tell, **options))
    return pairs


def judge_all(
    folder: Path,
    pairs: Sequence[CandidatePair],
    tell: Callable[[str], None],
    limits: Mapping[str, float] | None = None,
) -> list[RefinedCandidate]:
    """Judge machines before and after descent; what the folder knows is not done again. limits: of peaks that
    are asked for, by measure [W, N]."""
    file = AnswerFile(folder / JUDGED_FILE)
    return [
        RefinedCandidate(
            judge_candidate(file, pair.before, tell, limits),
            judge_candidate(file, pair.after, tell, limits),
            pair.remark,
        )
        for pair in pairs
    ]


def refined_rows(refined: Sequence[RefinedCandidate]) -> list[Row]:
    """Return the rows of machines before and after descent, as 'before | after', and who needs less power."""
    rows: list[Row] = []
    for each in refined:
        rows += _rows_of(each)
    for word, own in (
        ("before descent", [each.before for each in refined]),
        ("after descent", [each.after for each in refined]),
    ):
        rows.append(best_row(own, word))
    return rows


def is_rival(title: str) -> bool:
    """Whether a machine of this title is the rival, of whichever search."""
    return title.startswith(RIVAL)


def best_row(judged: Sequence[JudgedCandidate], word: str) -> Row:
    """Return whether an exoskeleton needs less power than the rival, of those that hold. word: of which these
    are, for the table."""
    question = f"{BETTER_QUESTION} {word}"
    linkages = [each for each in judged if not is_rival(each.candidate.title) and each.holds]
    rivals = [each for each in judged if is_rival(each.candidate.title) and each.holds]
    best = min(linkages, key=lambda each: each.power, default=None)
    rival = min(rivals, key=lambda each: each.power, default=None)
    if best is None or rival is None:
        missing = "exoskeleton" if best is None else "rival"
        return Row(question, "no", "not decided", f"no {missing} keeps all goals in fine steps and for 30 s")
    answer = "yes" if best.power < rival.power else "no"
    powers = [f"{each.candidate.title} {each.power:.0f} W" for each in (best, rival)]
    return Row(question, "no", answer, ", ".join(powers))


def _rows_of(refined: RefinedCandidate) -> list[Row]:
    """The rows of one machine."""
    title, both = refined.before.candidate.title, (refined.before, refined.after)
    limits = refined.after.limits
    worn = [each.worn_design for each in both]

    def measure_texts(name: str, digits: int = 0) -> list[str]:
        return [f"{each.fine[name]:.{digits}f}" if name in each.fine else "-" for each in both]

    def row(quantity: str, values: Sequence[str], remark: str = "") -> Row:
        return Row(f"{title}: {quantity}", "", " | ".join(values), remark)

    def limit_text(name: str) -> str:
        return f"at most {limits[name]:g} is asked for" if name in limits else ""

    rows = [
        row("power [W], before | after", measure_texts("power_absolute"), refined.remark),
        row(
            "keeps all goals in fine steps and for 30 s",
            ["yes" if each.holds else "no" for each in both],
            _remark([each.miss_text for each in both]),
        ),
        row("torque, sum of sizes [N m]", measure_texts("torque")),
        row("speed [m/s]", measure_texts("speed", 2)),
        row(
            "part of the time assisted",
            [f"{each.fine.get('assist_time', np.nan) / (DURATION / 2):.2f}" for each in both],
        ),
        row("added mass [kg]", [f"{each.mass:.1f}" for each in worn]),
        row("bars [m]", [f"{each.bars.min():.2f}-{each.bars.max():.2f}" for each in worn]),
        row(CROSSINGS_QUANTITY, [f"{each.crossings:.1f}" for each in worn]),
        row("peak power of one actuator [W]", measure_texts("peak_power"), limit_text("peak_power")),
        row("forces between human and machine, mean sum [N]", measure_texts("interaction")),
        row(
            "largest force at one place [N]",
            measure_texts("peak_interaction"),
            limit_text("peak_interaction"),
        ),
    ]
    if not is_rival(title):
        rows += [
            row("power given back by springs [W]", measure_texts("spring_return")),
            row(
                WALK_QUANTITY,
                [walk_text(each.walked) for each in both],
                _remark([walk_remark(each.walked) for each in both]),
            ),
        ]
    rows += [
        row("loops open by at most [m]", [_small_text(each.account, "gap") for each in both]),
        row(
            "energy unexplained by the ledger, part of what moved",
            [_small_text(each.account, "unexplained") for each in both],
            "walks of 10 s in fine steps",
        ),
    ]
    rows.append(
        row(
            "largest multiplier over a stride",
            [_multiplier_text(each.stability) for each in both],
            _remark([_repeat_text(each.stability) for each in both]),
        )
    )
    return rows


def _remark(texts: Sequence[str]) -> str:
    """What is said of a machine before and after descent, where there is something to say."""
    return "; ".join(f"{word} {text}" for word, text in zip(("before", "after"), texts, strict=True) if text)


def _repeat_text(stability: StrideStability | None) -> str:
    """After how many strides a gait repeats, where it is not one."""
    if stability is None or stability.strides <= 1:
        return ""
    return f"it repeats after {stability.strides} strides"


def _small_text(account: Mapping[str, float], name: str) -> str:
    """A small number of the books in a table."""
    return f"{account[name]:.1e}" if name in account else "-"


def _multiplier_text(stability: StrideStability | None) -> str:
    """A multiplier in a table."""
    if stability is None:
        return "falls"
    return f"{stability.per_stride:.2f}" if stability.strides else "no gait"


__all__ = [
    "AnswerFile",
    "CandidatePair",
    "JudgedCandidate",
    "RefinedCandidate",
    "account_walk",
    "best_row",
    "is_rival",
    "judge_all",
    "judge_candidate",
    "refine_all",
    "refine_candidate",
    "refined_rows",
]
