"""Exoskeletons that the search found, and their rival, refined by gradients with their gaits: where the
thesis ends. Is any better than the anthropomorphic one then?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from strut.studies.exoskeleton_candidates import (
    Candidate,
    LinkageCandidate,
    RivalCandidate,
    page_parts,
)
from strut.studies.exoskeleton_refined import (
    REFINED_FILE,
    CandidatePair,
    RefinedCandidate,
    is_rival,
    judge_all,
    refine_all,
    refined_rows,
)
from strut.studies.exoskeleton_rival import RIVAL
from strut.studies.known_exoskeletons import (
    known_exoskeletons,
    known_rival,
    longer_rival,
    refined_exoskeletons,
    refined_rival,
)
from strut.studies.study import Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-descent"
"""Where the study keeps its descents unless it is told."""
LONGER_RIVAL = f"{RIVAL}, longer search"
"""What the rival of a longer search is called."""
SHOWN_MACHINES = 4
"""Machines on the page: the best three linkages and the rival."""


def known_candidates() -> list[Candidate]:
    """Return the exoskeletons of the package and their rival as a search found them."""
    linkages = [LinkageCandidate(design, name) for name, design in known_exoskeletons().items()]
    return [*linkages, RivalCandidate(known_rival()), RivalCandidate(longer_rival(), LONGER_RIVAL)]


def kept_pairs() -> list[CandidatePair]:
    """Return the machines of the package before and after descent, and a remark."""
    refined: Mapping[str, Candidate] = {
        **{name: LinkageCandidate(design, name) for name, design in refined_exoskeletons().items()},
        RIVAL: RivalCandidate(refined_rival()),
        LONGER_RIVAL: RivalCandidate(longer_rival(), LONGER_RIVAL),  # descent leads no further
    }
    return [
        CandidatePair(each, refined[each.title], "as in the package")
        for each in known_candidates()
        if each.title in refined
    ]


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Refine the machines of the package, or go on with it; judge them before and after, and compare. Without
    a search, and with nothing in the folder, those that the package keeps are judged."""
    if order.search or (order.folder / REFINED_FILE).is_file():
        pairs = refine_all(
            order.folder,
            known_candidates(),
            limits=order.limits,
            minutes=order.minutes if order.search else 0.0,
            tell=tell,
        )
    else:
        pairs = kept_pairs()
    if not order.verify:
        return SearchOutcome([power_row(pair) for pair in pairs])
    judged = judge_all(order.folder, pairs, tell, order.limits)
    tell("they walk once more, for the page")
    return SearchOutcome(
        refined_rows(judged), **page_parts([each.after.candidate for each in shown_machines(judged)])
    )


def power_row(pair: CandidatePair) -> Row:
    """Return what descent did to the power of a machine, as descent has it."""
    powers = [each.individual.measures["power_absolute"] for each in (pair.before, pair.after)]
    text = " | ".join(f"{power:.0f}" for power in powers)
    return Row(f"{pair.before.title}: power [W], before | after", "", text, pair.remark)


def shown_machines(judged: Sequence[RefinedCandidate]) -> list[RefinedCandidate]:
    """Return the best linkages after descent, those first that keep all goals, and the best rival."""
    linkages = [each for each in judged if not is_rival(each.after.candidate.title)]
    linkages.sort(key=lambda each: (not each.after.holds, each.after.power))
    rivals = [each for each in judged if is_rival(each.after.candidate.title)]
    rivals.sort(key=lambda each: (not each.after.holds, each.after.power))
    return [*linkages[: SHOWN_MACHINES - 1], *rivals[:1]]


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-descent",
    "Exoskeletons that a search found, and their rival, refined by gradients with their gaits",
    "Kieboom, chapter 5, goals of table 5.3; sequential linear programming with gradients of a population of "
    "walks. Judged with steps of 0.1 ms, for 30 s, and by multipliers. A quarter of an hour; --no-search "
    "judges what the package keeps",
    rows,
    carry_out=carry_out,
    takes=("peak_power", "peak_force"),
)
