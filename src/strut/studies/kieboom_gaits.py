"""Gaits of Kieboom's human and COMAN that searches found and that are kept, run again: what the searches take
hours for, in minutes; with located contacts besides, and are they stable?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from strut import evolve
from strut.simulate import Trajectory, simulate
from strut.studies import (
    coman_on_rigid_ground,
    coman_table,
    human_on_rigid_ground,
    human_table,
    kieboom_perturbed,
)
from strut.studies.coman_pushes import FRESH_DRAWS, PushedWalks, bear_pushes
from strut.studies.coman_stability import COMAN
from strut.studies.coman_verification import coman_ways
from strut.studies.gait_pictures import walk_beside_each_other
from strut.studies.gait_verification import (
    EXACT_TOLERANCE,
    FINE_STEP,
    LONG_DURATION,
    WAY_WORDS,
    Verified,
    WayToRun,
    run_all_ways,
)
from strut.studies.human_beyond import likeness_rows
from strut.studies.human_gait import DURATION, FREQUENCY, human_with
from strut.studies.human_pictures import (
    SETTLING_PERIODS,
    SHOWN_STRIDES,
    WALKER_DISTANCE,
    stride_plots,
    unshown_rows,
)
from strut.studies.human_stability import HUMAN, GaitStability, judge_values
from strut.studies.human_verification import human_ways
from strut.studies.kieboom_landings import landing_of
from strut.studies.known_gaits import KnownGait, known_gaits
from strut.studies.study import Plot, Row, Study


def gaits_for(*goals: str) -> list[KnownGait]:
    """Return the known gaits that were found for the goals of some studies."""
    return [gait for gait in known_gaits().values() if gait.goals in goals]


def as_individual(gait: KnownGait) -> evolve.Individual:
    """Return a known gait as what a search leaves; its measures are not known yet."""
    return evolve.Individual(0, 0, 0, dict(gait.parameters), {}, 1, 0.0)


def verify_known(
    gaits: Sequence[KnownGait],
    ways: Mapping[str, Callable[[], WayToRun]],
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Verified]:
    """Run gaits of one body and one ground again in all ways, and return by name what came of it. tell: says
    which are run, and how."""
    if gaits[0].ground:
        ways = {name: partial(_on_ground, make_way, gaits[0].ground) for name, make_way in ways.items()}
    names = ", ".join(gait.name for gait in gaits)
    ways = {
        name: partial(_tell_and_make, make_way, f"{names}: {WAY_WORDS[name]}", tell)
        for name, make_way in ways.items()
    }
    individuals = [(gait.mode, as_individual(gait)) for gait in gaits]
    entries = run_all_ways(individuals, ways).values()  # in their order
    return {
        gait.name: Verified(mode, individual, **entry)
        for gait, (mode, individual), entry in zip(gaits, individuals, entries, strict=True)
    }


def _tell_and_make(make_way: Callable[[], WayToRun], text: str, tell: Callable[[str], None]) -> WayToRun:
    """A way to run gaits, which is said as it begins."""
    tell(text)
    return make_way()


def _on_ground(make_way: Callable[[], WayToRun], ground: Mapping[str, float]) -> WayToRun:
    """A way to run gaits on another ground."""
    way = make_way()
    values = evolve.FixedScenarios({name: (value,) for name, value in ground.items()})
    evaluations = {mode: replace(each, scenarios=values) for mode, each in way.evaluations.items()}
    return WayToRun(evaluations, way.goals)


def human_row(gait: KnownGait, verified: Verified) -> Row:
    """Return what became of a gait of the human."""
    values = verified.measures.get("long")
    ours = "falls"
    if values is not None:
        ours = (
            f"{values['torque']:.1f} N m at {values['speed']:.3f} m/s, stance {100 * values['stance']:.0f} %"
        )
    published = f"{human_table.PUBLISHED[gait.mode][2]}, the best of {gait.mode}"
    return Row(f"{gait.name}: torque over {LONG_DURATION:g} s", published, ours, _kept_text(gait, verified))


def coman_row(gait: KnownGait, verified: Verified) -> Row:
    """Return what became of a gait of COMAN."""
    frequency, speed, cost = coman_table.PUBLISHED[gait.mode]
    values = verified.measures.get("long")
    ours = "falls"
    if values is not None:
        ours = (
            f"{values['cost']:.1f} J/m at {values['speed']:.3f} m/s and {gait.parameters['frequency']:.3f} Hz"
        )
    published = f"{cost} J/m at {speed} m/s and {frequency} Hz, the best of {gait.mode}"
    return Row(f"{gait.name}: cost over {LONG_DURATION:g} s", published, ours, _kept_text(gait, verified))


def pushed_row(gait: KnownGait, walk: PushedWalks) -> Row:
    """Return how a gait of COMAN that was found with pushes bears draws of them that no search has seen."""
    cost, speed, _ = kieboom_perturbed.PUBLISHED[gait.mode]
    medians, medians_text = walk.medians, "all fall"
    if medians:
        medians_text = (
            f"{medians['cost']:.0f} J/m at {medians['speed']:.2f} m/s, {medians['pushes']:.2f} pushes of a "
            "foot in a cycle (medians of those that do not fall)"
        )
    return Row(
        f"{gait.name}: {FRESH_DRAWS} draws of pushes",
        f"{cost} J/m at {speed:.2f} m/s, the best of {gait.mode}",
        f"{walk.text}; {medians_text}",
        gait.source,
    )


def exact_row(gait: KnownGait, verified: Verified) -> Row:
    """Return by how much a gait differs where contacts are located and steps are controlled."""
    word, unit = ("torque", "N m") if gait.body == "human" else ("cost", "J/m")
    name = f"{gait.name}: {word} with located contacts, against steps of 0.1 ms"
    if not {"located", "fine"} <= set(verified.measures):
        return Row(name, "", "a run broke off")
    exact, fine = verified.measures["located"], verified.measures["fine"]
    changes = {each: 100 * abs(fine[each] / exact[each] - 1) for each in (word, "speed")}
    return Row(
        name,
        "",
        f"{exact[word]:.2f} {unit}, {changes[word]:.2g} % apart; speed {changes['speed']:.2g} %",
        f"over {DURATION:g} s, the first half left out; tolerance {EXACT_TOLERANCE:g}",
    )


def judge_known(gait: KnownGait) -> GaitStability:
    """Say whether a gait is stable, on its ground."""
    body = HUMAN if gait.body == "human" else COMAN
    return judge_values(body, {**body.values(gait.mode, gait.parameters), **gait.ground})


def multiplier_row(gait: KnownGait, judged: GaitStability) -> Row:
    """Return what is known of the stability of a gait."""
    name = f"{gait.name}: largest multiplier over a step"
    if not judged.steps:
        return Row(name, "", "no gait", f"{judged.why}; small deviations grow by {judged.growth:.3f} a step")
    remarks = []
    if judged.steps > 1:
        remarks.append(f"it repeats after {judged.steps} steps")
    if judged.uses_assistance:
        alone = f"{judged.alone:.3f} over all of them" if np.isfinite(judged.alone) else "no gait"
        remarks.append(f"its trunk is assisted; without: {alone}")
    if np.isfinite(judged.reset):
        remarks.append(f"with landings that set the phase right: {judged.reset:.3f}")
    elif judged.why_no_reset:
        remarks.append(f"with landings that set the phase right: not known, {judged.why_no_reset}")
    verdict = "stable" if judged.largest < 1 else "unstable"
    return Row(
        name, "", f"{judged.per_step:.3f}, {verdict}", "; ".join([*remarks, *filter(None, [judged.why])])
    )


def _kept_text(gait: KnownGait, verified: Verified) -> str:
    """How many goals a gait keeps in which way, and where it is from."""
    stages = ", ".join(f"{way} {stage}" for way, stage in verified.stages.items())
    verdict = "keeps all goals" if verified.holds else f"at goals {stages} of {verified.goals}"
    return f"{verdict} at 0.1 ms, over {LONG_DURATION:g} s and with located contacts; {gait.source}"


def walk_known(gait: KnownGait) -> Trajectory:
    """Let the human walk in a known gait, until the strides that are shown are over."""
    walker = human_with(gait.mode, gait.parameters).using(gait.ground)
    end = (SETTLING_PERIODS + SHOWN_STRIDES) / FREQUENCY
    return simulate(walker, end, method="rk4", step=FINE_STEP, ledger=False)


@cache
def human_walks() -> Mapping[str, Trajectory]:
    """Return walks in all known gaits of the human, by name."""
    return {name: walk_known(gait) for name, gait in known_gaits().items() if gait.body == "human"}


def landing_row(gait: KnownGait) -> Row:
    """Return how the ground pushes back under a gait of the human."""
    landing = landing_of(human_walks()[gait.name])
    ours = "no stride" if landing is None else landing.text
    return Row(f"{gait.name}: peaks of the ground's force", "two, smooth; heel first", ours, gait.source)


def rows() -> list[Row]:
    """Run all known gaits again, and return what became of them."""
    return rows_with_progress(lambda _: None)


def rows_with_progress(tell: Callable[[str], None]) -> list[Row]:
    """Run all known gaits again, and say which, in which way."""
    humans, comans = gaits_for("kieboom-human"), gaits_for("kieboom-coman")
    of_humans = verify_known(humans, human_ways(), tell)
    of_comans = verify_known(comans, coman_ways(limits=True), tell)
    others = gaits_for("kieboom-landings")
    verified = {**of_humans, **of_comans}
    for gait in others:
        verified |= verify_known([gait], {way: human_ways()[way] for way in ("fine", "located")}, tell)
    pushed = {gait.name: gait for gait in gaits_for("kieboom-perturbed")}
    tell(f"{', '.join(pushed)}: {FRESH_DRAWS} draws of pushes each")
    borne = bear_pushes({gait.mode: as_individual(gait) for gait in pushed.values()})
    on_rigid_ground = []
    for gait in (*humans, *comans):
        tell(f"{gait.name}: on rigid ground")
        body = human_on_rigid_ground if gait.body == "human" else coman_on_rigid_ground
        on_rigid_ground.append(body.rigid_ground_row(gait))
    multipliers = []
    for gait in (*humans, *comans, *others):
        tell(f"{gait.name}: multipliers")
        multipliers.append(multiplier_row(gait, judge_known(gait)))
    tell("the human's gaits walk for the page")
    return [
        *[human_row(gait, of_humans[gait.name]) for gait in humans],
        *[coman_row(gait, of_comans[gait.name]) for gait in comans],
        *on_rigid_ground,
        *[pushed_row(gait, borne[gait.mode]) for gait in pushed.values()],
        *[exact_row(gait, verified[gait.name]) for gait in (*humans, *comans, *others)],
        *multipliers,
        *likeness_rows(human_walks(), {name: gait.mode for name, gait in known_gaits().items()}),
        *[landing_row(gait) for gait in gaits_for("kieboom-human", "kieboom-landings")],
        *unshown_rows(human_walks()),
    ]


def plots() -> list[Plot]:
    """Return curves over a stride of all gaits of the human."""
    return stride_plots(human_walks())


def film() -> Trajectory | None:
    """Return a run of all gaits that were found for the published goals, one human in front of the other."""
    gaits = {gait.name.replace("-", "_"): gait for gait in gaits_for("kieboom-human")}
    begin = SETTLING_PERIODS / FREQUENCY
    return walk_beside_each_other(
        {name: human_with(gait.mode, gait.parameters) for name, gait in gaits.items()},
        {name: human_walks()[gait.name] for name, gait in gaits.items()},
        begin=begin,
        end=begin + SHOWN_STRIDES / FREQUENCY,
        step=FINE_STEP,
        distance=WALKER_DISTANCE,
    )


STUDY = Study(
    "kieboom-gaits",
    "Gaits of a human and of COMAN that searches found, run again",
    "Kieboom, tables 4.4, 4.6 and 4.7; parameters found by kieboom-human, -coman, -perturbed and -landings. "
    "Five minutes of a core, nothing is searched",
    rows,
    plots,
    film=film,
    rows_with_progress=rows_with_progress,
)
