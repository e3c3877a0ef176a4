"""What studies share that search several modes side by side in one folder: where runs are done, whether the
folder has the searches and of which study, how far they are, and populations of known solutions to begin
with."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve
from strut.errors import ModelError, NoGenerationError
from strut.evolve.job_spec import PLACE, PLACE_OPTIONS
from strut.evolve.store import JobStore, is_unbegun
from strut.evolve.streams import Purpose, RandomStream
from strut.simulate.batch_on_card import lack_of_card
from strut.studies.study import SearchOrder

MUTATION = 0.1
"""[1] Part of its range by which a parameter of a mutated solution is moved, at most, either way."""
MIN_ELAPSED_TIME = 1e-9
"""[s] By which a number of evaluations is divided, at least."""


def card_options(order: SearchOrder) -> dict[str, Any]:
    """Return how individuals are run on a card, as options of `simulate_batch`, whether or not one is
    here."""
    step = {} if order.step is None else {"step": order.step}
    return {"device": "cuda", "crew": order.crew, "precision": order.precision, **step}


def machine_of(problems: Mapping[str, evolve.SearchProblem]) -> evolve.EncodedEvaluation:
    """Return with what searches that go side by side are evaluated: that of the first, whose machine all
    have."""
    evaluation = next(iter(problems.values())).evaluation
    assert isinstance(evaluation, evolve.EncodedEvaluation)
    return evaluation


def run_options(order: SearchOrder) -> dict[str, Any]:
    """Return where and how individuals are run, as options of `simulate_batch`. Where a card is asked for and
    there is none, a warning says so, and they are run as on device 'cpu'."""
    way: dict[str, Any] = {"lanes": "auto"}
    if order.device != "cpu":
        lack = lack_of_card()
        if lack:
            warnings.warn(
                f"{lack}: runs are done on the processor, as with --device cpu, in lanes and in "
                f"{order.precision} precision",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            way = {"device": order.device, "crew": order.crew}
    return {**way, "precision": order.precision, **({} if order.step is None else {"step": order.step})}


def has_searches(folder: Path, modes: Sequence[str]) -> bool:
    """Tell whether a folder has the searches of all modes, MODE.db; raises `ModelError` where it has a part
    of them."""
    there = [(folder / f"{mode}.db").is_file() for mode in modes]
    if any(there) and not all(there):
        missing = modes[there.index(False)]
        raise ModelError(f"{folder} has a part of the searches and no {missing}.db: give an empty one")
    return all(there)


@dataclass(frozen=True)
class SearchMark:
    """By what the searches of a part of a study are known in their files. study: its name. parameters: names
    of what each mode searches, in order. goals: how many. scenarios: digest of those in which individuals are
    run; empty for none."""

    study: str
    parameters: Mapping[str, Sequence[str]]
    goals: int
    scenarios: str = ""

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes, each of which has a file."""
        return tuple(self.parameters)


def check_searches(folder: Path, mark: SearchMark) -> None:
    """Raise `ModelError` where files of a folder are of another study or of another part of it."""
    for mode, names in mark.parameters.items():
        problem = _spec(folder, mode)["problem"]
        own = [each["name"] for each in problem["parameters"]]
        goals, scenarios = len(problem["goals"]), problem["evaluation"].get("scenarios", "")
        if (own, goals, scenarios) == (list(names), mark.goals, mark.scenarios):
            continue
        differences = []
        if own != list(names):
            differences.append(f"{len(own)} numbers, not {len(names)}")
        if goals != mark.goals:
            differences.append(f"{goals} goals, not {mark.goals}")
        if scenarios != mark.scenarios:
            differences.append("other starts or pushes")
        raise ModelError(
            f"{folder / f'{mode}.db'} is no search of {mark.study} ({', '.join(differences)}): with -o name "
            f"the folder of {mark.study}, or an empty one"
        )


def check_continuation(folder: Path, order: SearchOrder, way: Mapping[str, Any], mark: SearchMark) -> None:
    """Raise `ModelError` where the searches of a folder are of another study or cannot be gone on with as an
    order says, with what to say instead; warn where they began elsewhere. way: of `run_options`."""
    if not _are_begun(folder, mark.modes):
        return
    check_searches(folder, mark)
    spec = _spec(folder, mark.modes[0])
    evaluation = spec["problem"]["evaluation"]["of"]
    precision = evaluation["options"].get("precision", "'double'").strip("'")
    if order.precision != precision:
        raise ModelError(f"the searches in {folder} are in {precision} precision: --precision {precision}")
    for word, asked in (("runs", order.runs), ("seed", order.seed)):
        if asked is not None and asked != int(spec[word]):
            raise ModelError(
                f"the searches in {folder} have --{word} {spec[word]}, and --{word} is {asked}: leave it "
                "out, or choose another folder"
            )
    before = "on a card" if PLACE in evaluation or PLACE_OPTIONS[0] in evaluation["options"] else "on cores"
    now = "on a card" if "device" in way else "on cores"
    if before != now:
        warnings.warn(
            f"the searches in {folder} began {before} and go on {now}: where runs are done is no part of "
            "what is searched, populations and seeds are the same; runs differ by rounding",
            RuntimeWarning,
            stacklevel=2,
        )


def runs_of(folder: Path, order: SearchOrder, modes: Sequence[str], published: int) -> int:
    """Return how many runs of each mode are searched: as many as are asked for, as the folder has, or as were
    published."""
    own = int(_spec(folder, modes[0])["runs"]) if _are_begun(folder, modes) else published
    return order.runs or own


def seed_of(folder: Path, order: SearchOrder, modes: Sequence[str], usual: int) -> int:
    """Return the seed of searches: that is asked for, that the folder has, or the study's own."""
    own = int(_spec(folder, modes[0])["seed"]) if _are_begun(folder, modes) else usual
    return own if order.seed is None else order.seed


def _are_begun(folder: Path, modes: Sequence[str]) -> bool:
    """Whether a folder has searches whose files say what they are."""
    return has_searches(folder, modes) and not any(is_unbegun(folder / f"{mode}.db") for mode in modes)


def _spec(folder: Path, mode: str) -> dict[str, Any]:
    """What the file of a mode says of its job."""
    with closing(JobStore(folder / f"{mode}.db", read_only=True)) as store:
        return store.spec


def load_part(folder: Path, mark: SearchMark) -> dict[str, evolve.Evolution]:
    """Return what a folder has of a part of a study, by mode; nothing where it has not begun or where a mode
    has no generation that is done. Raises `ModelError` where its files are of another search."""
    if not _are_begun(folder, mark.modes):
        return {}
    check_searches(folder, mark)
    try:
        return {mode: evolve.load_evolution(folder / f"{mode}.db") for mode in mark.modes}
    except NoGenerationError:
        return {}


def load_parts(marks: Mapping[Path, SearchMark]) -> list[dict[str, evolve.Evolution]]:
    """Return what folders have of the parts of a study, one after the other, as far as there is something to
    show. Raises `ModelError` where there is nothing."""
    parts: list[dict[str, evolve.Evolution]] = []
    for folder, mark in marks.items():
        part = load_part(folder, mark)
        if not part:
            break
        parts.append(part)
    if not parts:
        folder, mark = next(iter(marks.items()))
        if has_searches(folder, mark.modes):
            raise NoGenerationError(f"no generation of the searches in {folder} is finished: go on with them")
        raise ModelError(f"there are no searches in {folder}: search first, or name the folder of a search")
    return parts


def search_if_possible(search: Callable[[], dict[str, evolve.Evolution]]) -> bool:
    """Search, and return whether all of it is done; not where it was stopped, also before its first
    generation was finished."""
    try:
        return all(each.finished for each in search().values())
    except NoGenerationError:
        return False


def progress_teller(
    tell: Callable[[str], None], goal_names: Sequence[str], *, runs: int, part: int = 1, parts: int = 1
) -> Callable[[evolve.SideBySideProgress], None]:
    """Return what tells how far searches are: which part of how many, of how many runs, and its progress."""
    which = f"part {part} of {parts}, " if parts > 1 else ""
    count = f"{runs} run{'' if runs == 1 else 's'} of each mode"
    return lambda at: tell(f"{which}{count}, {progress_text(at, goal_names)}")


def progress_text(at: evolve.SideBySideProgress, goal_names: Sequence[str]) -> str:
    """Return how far searches are, as a line: of each mode how many runs are at the furthest goal, and the
    best."""
    parts = []
    for mode, counts in at.stages.items():
        furthest = max((k for k, count in enumerate(counts) if count), default=0)
        parts.append(f"{mode}: {counts[furthest]} at {goal_names[furthest]}, best {at.bests[mode]:.4g}")
    rate = at.individuals / max(at.seconds, MIN_ELAPSED_TIME)
    return (
        f"generation {at.generation + 1}/{at.generations}, {at.seconds:.2f} s ({rate:.0f} evaluations/s): "
        + "; ".join(parts)
    )


def mutated_populations(
    problem: evolve.SearchProblem, known: np.ndarray, *, runs: int, population: int, seed: int
) -> np.ndarray:
    """Return first populations, runs x individuals x parameters: all known solutions, a row each, and
    mutated ones besides; as many of the known as there is room for."""
    space = problem.space
    populations = []
    for run in range(runs):
        draws = RandomStream(seed, run).draws(0, Purpose.CONFIRM)  # for which such a search has no use
        chosen = known[:population]
        rest = population - len(chosen)
        copies = known[np.arange(rest) % len(known)]
        moved = copies + MUTATION * space.span * (2 * draws.uniform(rest, len(space)) - 1)
        populations.append(np.clip(np.vstack([chosen, moved]), space.low, space.high))
    return np.array(populations)


__all__ = [
    "MUTATION",
    "SearchMark",
    "card_options",
    "check_continuation",
    "has_searches",
    "load_part",
    "load_parts",
    "machine_of",
    "mutated_populations",
    "progress_teller",
    "progress_text",
    "run_options",
    "runs_of",
    "search_if_possible",
    "seed_of",
]
