"""Are the gaits that searches found stable? Their exact multipliers, with the assistance that they use and
without, and with landings that set the phase right; kept in a file beside the searches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from strut import control, evolve, walkers
from strut.errors import NoGaitError, StorageError
from strut.files import put
from strut.gait import Gait, ReturnMap, find, locate_jumps
from strut.gait.exchange import mirror
from strut.simulate import Trajectory, simulate, simulate_batch
from strut.studies.gait_verification import FINE_STEP
from strut.studies.human_gait import FEET, FREQUENCY, JOINTS, table_values
from strut.system import System, parameters
from strut.walkers.assistance import ASSIST_ANGLE

SETTLING_PERIODS = 35
"""Periods of walking, with assistance, before a gait is looked for: 39 s."""
BEGIN_PHASE = 0.25
"""[1] At which a step of the return map begins: where it ends, 3/4, with left and right exchanged."""
MAX_STEP_CHANGE = 0.05
"""Change of a state over some steps, left and right exchanged, in its unit, below which a gait repeats after
so many: one that does not after one step limps."""
MAX_GAIT_STEPS = 6
"""Steps after which a gait that is looked for repeats, at most."""
NEAR_RETURN = 1e-6
"""Change of a state over a gait, in its unit, at which multipliers are told where `gait.find` finds none: it
gave up 1e-8 away from one whose largest multipliers are a pair of modulus 0.992, to which plain steps of
Newton's method come."""
NEWTON_ITERATIONS = 12
"""Iterations of Newton's method that look for such a gait, at most."""
DEVIATION_SIZE = 1e-6
"""Size of a small deviation whose growth is measured, in the units of the states."""
STEP_TIME = 0.5 / FREQUENCY
"""[s] Duration of a step."""
GROWTH_STEPS = 40
"""Steps over which such growth is measured, the first quarter left out."""
PITCH_SAMPLES = 4001
"""Moments of the last two periods at which the trunk is looked at."""
NO_LANDING = "the left foot does not land within a period"
"""Why landings cannot set a phase right."""
STABILITY_FILE = "stability.json"
"""Where the answers are kept."""


@dataclass(frozen=True)
class GaitStability:
    """What is known of the gait of a best.

    steps: after which it repeats, 0 where no gait was found. pitch: the trunk's largest [rad]. largest: the
    modulus of its largest multiplier, over all of its steps, with the assistance that it uses. alone: the
    same of the gait next to it without assistance; nan where there is none. reset: of a gait that uses none,
    with landings that set the phase right. why: where there is no gait, or where it returns within
    `NEAR_RETURN` alone. growth: of a walk that comes to none, by how much a small deviation grows a step, in
    the mean; above 1 it is chaotic. why_no_reset: where `reset` was looked for and is nan.
    """

    steps: int
    pitch: float
    largest: float
    alone: float
    reset: float
    why: str = ""
    growth: float = np.nan
    why_no_reset: str = ""

    @property
    def uses_assistance(self) -> bool:
        """Whether the trunk leans so far that it is helped."""
        return bool(self.pitch > ASSIST_ANGLE)

    @property
    def per_step(self) -> float:
        """The modulus of the largest multiplier over one step."""
        return float(self.largest ** (1 / self.steps)) if self.steps else np.nan


def without_contact_times(system: System) -> System:
    """Return a machine whose feet do not count how long they touched: what only grows has no gait."""
    names = {f"{foot.name}_contact_time" for foot in system.walk.feet} if system.walk else set()
    return system.replace(
        x=tuple(q for q in system.x if q.name not in names),
        flow={name: rate for name, rate in system.flow.items() if name not in names},
        symmetry={name: value for name, value in system.symmetry.items() if name not in names},
    )


@cache
def gait_machine(mode: str = "table", *, feedback: bool = False) -> System:
    """Return the human whose phase is a state, and whose flow jumps in events alone, but along the phase.
    mode: as of `control.phase_impedance`. feedback: whether landings may set the phase right; by a gain of 0
    at first."""
    body = without_contact_times(walkers.human(events=False))
    touchdown = control.TouchdownReset(FEET, phase=0.0, gain=0.0) if feedback else None
    loop = control.phase_impedance(
        body, JOINTS, mode, frequency=FREQUENCY, clock="state", touchdown=touchdown
    )
    return locate_jumps(loop, besides=("phase",))


def step_time(walker: System) -> float:
    """Return the duration of a step [s]: half a period of the phase."""
    if "frequency" not in walker.labels("p"):
        return STEP_TIME
    return 0.5 / float(parameters(walker)[walker.labels("p").index("frequency")])


def walk_until_settled(walker: System, periods: int = SETTLING_PERIODS) -> Trajectory:
    """Walk for so many periods, to where a step of the return map begins."""
    end = (periods + BEGIN_PHASE) * 2 * step_time(walker)
    return simulate(walker, end, method="rk4", step=FINE_STEP, ledger=False)


def steps_until_repeat(walker: System, walk: Trajectory) -> int:
    """Return the least number of steps after which a walk repeats, about; 0 where it does not within
    `MAX_GAIT_STEPS`."""
    labels, z, p = walker.labels("x"), np.zeros(walker.size("z")), parameters(walker)
    counting = [labels.index(name) for name in ("x", "phase")]
    for steps in range(1, MAX_GAIT_STEPS + 1):
        moment = walk.at(walk.t1 - steps * step_time(walker))
        state = np.array([float(moment[name]) for name in labels])
        for _ in range(steps):
            state, _ = mirror(walker, state, z, p)
        change = np.abs(state - walk.raw.x_end)
        change[counting] = 0
        if change.max() < MAX_STEP_CHANGE:
            return steps
    return 0


def settled_gait(walker: System, walk: Trajectory) -> Gait:
    """Return the gait that a walk has come to, of one step or of a few; raises NoGaitError where it has come
    to none."""
    # one of two steps is also looked for near a walk that goes on to change: it may leave it slowly
    steps = steps_until_repeat(walker, walk) or 2
    gait = find(walker, walk.raw.x_end, steps=steps, starts=0, walk=0)
    if steps > 1 and returns_after_one(walker, gait.vector):
        return find(walker, gait.vector, steps=1, starts=0, walk=0)
    return gait


def returns_after_one(walker: System, x: np.ndarray) -> bool:
    """Return whether a gait of several steps is one of one step, to which a walk comes slowly, swinging
    between both sides of it."""
    step_map = ReturnMap(walker, steps=1, x0=x)
    y = step_map.free(x)
    step = step_map(y)
    return bool(step.ok and np.abs(step.y - y).max() < NEAR_RETURN)


def nearby_multipliers(walker: System, x: np.ndarray, steps: int) -> tuple[np.ndarray, float] | None:
    """Return the multipliers of a gait of so many steps near some states, and by how much it misses its
    beginning; None where Newton's method does not come to `NEAR_RETURN`."""
    step_map = ReturnMap(walker, steps=steps, x0=x)
    y = step_map.free(x)
    for _ in range(NEWTON_ITERATIONS):
        step = step_map(y)
        if not step.ok:
            return None
        change = step.y - y
        if np.abs(change).max() < NEAR_RETURN:
            multipliers = np.linalg.eigvals(step.by_y)
            return multipliers[np.argsort(-np.abs(multipliers))], float(np.abs(change).max())
        y = y + np.linalg.solve(np.eye(len(y)) - step.by_y, change)
    return None


def deviation_growth(walker: System, walk: Trajectory) -> float:
    """Return by how much a small deviation from the end of a walk grows a step, in the (geometric) mean: the
    exponential of its largest Lyapunov exponent, by Benettin's way. nan where a run ends early."""
    labels = walker.labels("x")
    free = np.array([name not in ("x", "phase") for name in labels])
    x, deviation = np.array(walk.raw.x_end), np.zeros(len(labels))
    deviation[free] = DEVIATION_SIZE / np.sqrt(free.sum())
    growths = []
    for _ in range(GROWTH_STEPS):
        pair = simulate_batch(
            walker, step_time(walker), x0=np.array([x, x + deviation]), method="rk4", step=FINE_STEP
        )
        if not all(status == "done" for status in pair.status):
            return np.nan
        deviation = np.where(free, pair.x[1] - pair.x[0], 0.0)
        size = float(np.linalg.norm(deviation))
        growths.append(size / DEVIATION_SIZE)
        x, deviation = pair.x[0], deviation * (DEVIATION_SIZE / size)
    return float(np.exp(np.mean(np.log(growths[GROWTH_STEPS // 4 :]))))


def reset_gait(walker: System, gait: Gait, feet: Mapping[str, tuple[str, ...]] = FEET) -> Gait:
    """Return the gait of one step as that of the machine whose landings set the phase right: the same motion,
    from landing to landing. Its phase is the same for all neighbours after each, so nothing is missed where
    stiffness steps with the phase. walker: of `gait_machine(feedback=True)`. feet: contacts of each. Raises
    NoGaitError where no left foot lands within a period, or no such gait is found."""
    rough = _landing_phase(walker, gait, feet["left"])
    walker = walker.using(touchdown_phase=rough, touchdown_gain=0.0)
    run = simulate(walker, 2 * step_time(walker), x0=gait.vector, rtol=1e-11, atol=1e-12)
    landing = next((hit for hit in run.events if hit.name == "left_touchdown"), None)
    if landing is None:
        raise NoGaitError(NO_LANDING)
    at = dict(landing.before)
    expected = (at["phase"] + 0.5) % 1
    listening = walker.using(touchdown_phase=expected, touchdown_gain=1.0)
    names, flags = walker.labels("x"), walker.labels("z")
    after = np.array([at[name] for name in names]), np.array([at[name] for name in flags])
    after[1][flags.index("left_armed")] = 0
    x, z = mirror(listening, *after, parameters(listening))
    x[names.index("x")] = 0.0
    return find(listening, x, "left_touchdown", z0=z, starts=0, walk=0)


def _landing_phase(walker: System, gait: Gait, contacts: tuple[str, ...]) -> float:
    """About the phase of the left leg in which its foot comes down."""
    run = simulate(walker, 2 * step_time(walker), x0=gait.vector, rtol=1e-7, atol=1e-8)
    times = np.linspace(0, run.t1, PITCH_SAMPLES)
    moments = run.at(times)
    down = np.any([moments[f"{point}_gap"] < 0 for point in contacts], axis=0)
    landings = np.flatnonzero(~down[:-1] & down[1:])
    if not len(landings):
        raise NoGaitError(NO_LANDING)
    lengths = [int(np.argmin(np.append(np.roll(down, -k - 1), False))) for k in landings]
    k = landings[int(np.argmax(lengths))]
    return float((moments["phase"][k] + 0.5) % 1)


@dataclass(frozen=True)
class JudgedBody:
    """A body whose gaits are judged. machine: makes it, of the mode 'table', with feedback=True such that
    landings may set the phase right. values: parameters of that machine, of a mode and its parameters. feet:
    contacts of each."""

    machine: Callable[..., System]
    values: Callable[[str, Mapping[str, float]], Mapping[str, Any]]
    feet: Mapping[str, tuple[str, ...]]


HUMAN = JudgedBody(gait_machine, table_values, FEET)
"""The human of the study."""


def judge_stability(mode: str, best: evolve.Individual, body: JudgedBody = HUMAN) -> GaitStability:
    """Say whether the gait of a best is stable."""
    return judge_values(body, body.values(mode, best.parameters))


def judge_values(body: JudgedBody, values: Mapping[str, Any]) -> GaitStability:
    """Say whether the gait of a body is stable. values: parameters of its machine."""
    walker = body.machine().using(values)
    walk = walk_until_settled(walker)
    if walk.status != "done":
        return GaitStability(0, np.nan, np.nan, np.nan, np.nan, why=walk.status)
    pitch = float(
        np.abs(walk.at(np.linspace(walk.t1 - 4 * step_time(walker), walk.t1, PITCH_SAMPLES))["pitch"]).max()
    )
    try:
        gait = settled_gait(walker, walk)
    except NoGaitError as error:
        return _without_exact_gait(walker, walk, pitch, error)
    largest = float(abs(gait.multipliers[0]))
    if pitch > ASSIST_ANGLE:
        try:
            unaided = find(walker.using(assist=0.0), gait.vector, steps=gait.steps, starts=0, walk=0)
        except NoGaitError:
            return GaitStability(gait.steps, pitch, largest, np.nan, np.nan)
        return GaitStability(gait.steps, pitch, largest, float(abs(unaided.multipliers[0])), np.nan)
    if gait.steps != 1:
        return GaitStability(gait.steps, pitch, largest, largest, np.nan)
    listening = body.machine(feedback=True).using(values)
    try:
        reset = float(abs(reset_gait(listening, gait, body.feet).multipliers[0]))
    except NoGaitError as error:
        return GaitStability(gait.steps, pitch, largest, largest, np.nan, why_no_reset=_reason(error))
    return GaitStability(gait.steps, pitch, largest, largest, reset)


def _reason(error: NoGaitError) -> str:
    """Why there is no gait, in a few words for a table."""
    return f"no gait: {error.closest:.2g} away" if np.isfinite(error.closest) else str(error)


def _without_exact_gait(walker: System, walk: Trajectory, pitch: float, error: NoGaitError) -> GaitStability:
    """What is known of a walk near which no gait returns exactly: multipliers of one that nearly does, or by
    how much deviations grow."""
    for steps in (1, 2):
        near = nearby_multipliers(walker, walk.raw.x_end, steps)
        if near is not None:
            largest = float(abs(near[0][0]))
            alone = largest if pitch <= ASSIST_ANGLE else np.nan
            return GaitStability(steps, pitch, largest, alone, np.nan, why=f"returns to {near[1]:.1g}")
    growth = deviation_growth(walker, walk)
    return GaitStability(0, pitch, np.nan, np.nan, np.nan, why=_reason(error), growth=growth)


def judge_bests(
    folder: Path,
    bests: Mapping[tuple[str, int], evolve.Individual],
    tell: Callable[[str], None],
    body: JudgedBody = HUMAN,
) -> dict[tuple[str, int], GaitStability]:
    """Judge bests, by mode and run, but for those whose answers are in the folder already."""
    entries = _read(folder)
    answers: dict[tuple[str, int], GaitStability] = {}
    for (mode, run), best in bests.items():
        label = _label(mode, best)
        if label not in entries:
            tell(f"multipliers of the best of {mode}, run {run + 1}")
            entries[label] = asdict(judge_stability(mode, best, body))
            put(folder / STABILITY_FILE, json.dumps(entries, indent=1))
        answers[mode, run] = GaitStability(**entries[label])
    return answers


def _label(mode: str, best: evolve.Individual) -> str:
    """What a best is called in the file: other parameters have another."""
    text = json.dumps([mode, sorted(best.parameters.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _read(folder: Path) -> dict[str, Any]:
    """What the file holds; nothing where there is none."""
    path = folder / STABILITY_FILE
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text()))
    except ValueError as error:
        raise StorageError(f"{path} is damaged ({error}): remove it, and bests are judged again") from error


__all__ = [
    "HUMAN",
    "GaitStability",
    "JudgedBody",
    "deviation_growth",
    "gait_machine",
    "judge_bests",
    "judge_stability",
    "judge_values",
    "nearby_multipliers",
    "reset_gait",
    "returns_after_one",
    "settled_gait",
    "steps_until_repeat",
    "walk_until_settled",
]
