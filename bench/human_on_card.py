"""The human of the three kinds of impedance, half a second on a graphics card and on the processor: the same
states at every time, and the same contact events at the same times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bench.populations import card_or_reason
from bench.timing import Row, Section
from strut import Discrete, System, control, simulate_batch
from strut.simulate import Batch
from strut.studies.human_gait import JOINTS, MODES, human_walker
from strut.studies.known_gaits import known_gait
from strut.system import time

DURATION, STEP = 0.5, 2.5e-4
"""[s] Of a run, and of a step of RK4."""
MOMENTS = np.linspace(0.01, DURATION, 50)
"""[s] At which states are compared."""
STIFFNESSES = np.linspace(0.5, 1.5, 11)
"""[1] Of the hips, as parts of what each kept gait has: not all of these walk alike."""
AGREEMENT = 1e-9
"""[SI] Largest difference of states, and of times of events, that counts as none."""
KINDS = ("state_", "times_")
"""How outputs that are compared begin."""
WAYS: Mapping[str, Mapping[str, Any]] = {
    "events located": {"events": True},
    "contact inside the flow": {"events": False},
}
"""The machine as its best gaits are run again, and as a search runs it."""


def observed_human(*, events: bool) -> System:
    """Return the human whose outputs are its states and, by event, the sum of the times at which it
    happened [s]."""
    walker = human_walker("table", events=events)
    sums = {event.name: Discrete(f"{event.name}_times", 0.0, "s") for event in walker.events}
    noted = [
        replace(event, reset={**event.reset, sums[event.name].name: sums[event.name].sym + time})
        for event in walker.events
    ]
    states = {f"state_{q.name}": q.sym for q in walker.x}
    times = {f"times_{name}": q.sym for name, q in sums.items()}
    outputs = {**walker.outputs, **states, **times}
    return walker.replace(z=[*walker.z, *sums.values()], events=noted, outputs=outputs)


def variations() -> dict[str, np.ndarray]:
    """Return parameters of the kept gaits of all modes, with the stiffness of their hips varied, by label."""
    rows = []
    for mode in MODES:
        tables = control.phase_tables(JOINTS, mode)
        gait = known_gait(f"human-{mode}").parameters
        for share in STIFFNESSES:
            values = {
                name: value * (share if name.startswith("hip_stiffness") and "share" not in name else 1)
                for name, value in gait.items()
            }
            rows.append(tables.rows(np.array([[values[name] for name in tables.names]]))[0])
    return dict(zip(tables.labels, np.array(rows).T, strict=True))


def run_variations(system: System, device: str) -> Batch:
    """Run all of them for half a second."""
    return simulate_batch(
        system,
        DURATION,
        p=variations(),
        outputs=[name for name in system.outputs if name.startswith(KINDS)],
        at=MOMENTS,
        device=device,
        method="rk4",
        step=STEP,
    )


def differences(here: Batch, there: Batch) -> tuple[float, float, int]:
    """Return the largest difference of states, that of summed times of events [s], and how many runs ended
    otherwise or counted other events."""
    state, moment = (
        max(
            float(np.nanmax(np.abs(values - there.outputs[name]), initial=0.0))
            for name, values in here.outputs.items()
            if name.startswith(kind)
        )
        for kind in KINDS
    )
    unlike = here.status != there.status
    for name, counts in here.counts.items():
        unlike = unlike | (counts != there.counts[name])
    return state, moment, int(np.sum(unlike))


def compare_devices() -> Section:
    """Run the human on the processor and on the card, in both ways, and tell how they differ."""
    runs = len(MODES) * len(STIFFNESSES)
    title = f"planar human of three modes, {runs} runs of {DURATION:g} s, card and processor"
    error = "largest difference of states [SI]"
    reason = card_or_reason()
    if reason:
        return Section(title, error, (Row("strut", "card", note=reason),))
    rows = []
    for name, way in WAYS.items():
        system = observed_human(**way)
        here, there = run_variations(system, "cpu"), run_variations(system, "cuda")
        state, moment, unlike = differences(here, there)
        events = sum(int(counts.sum()) for counts in here.counts.values())
        same = there.device != "cpu" and max(state, moment) <= AGREEMENT and not unlike
        note = (
            f"{there.device}: {'equal' if same else 'NOT equal'} to {AGREEMENT:g}; of {events} contact "
            f"events, times within {moment:.1e} s; {unlike} runs ended or counted otherwise"
        )
        rows.append(Row("strut", name, state, (there.wall,), note))
    return Section(title, error, tuple(rows), "time with compiling")
