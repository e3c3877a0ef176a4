"""Many runs at once: time per step and run on one core, with contact by events and without, and on a
graphics card: built, checked against one core, timed, with what bounds it.

GPU simulators of others are quoted, not measured: they solve hard constraints, where the ground here gives
way.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from bench.population_machines import chain, coman, exoskeleton, human, quadruped
from bench.timing import Contender, Effort, Row, Section, measure
from strut import System, gait, simulate_batch, summarise_batch, walkers
from strut.codegen import DeviceLibrary, find_cuda_compiler, lower_system, open_driver
from strut.errors import DeviceError
from strut.simulate import Batch
from strut.simulate.batch_on_card import open_library
from strut.simulate.options import chosen_options

FEW, MANY, LARGE = 40, 131_072, 16_384  # runs on a core, on a card, and on a card of a large machine
POPULATION = 100_000  # runs whose endings are compared
WALKER_STEPS = 20  # steps of a million walkers
SIDE, RUNNER_STEPS = 1000, 24  # of maps: cells along a side; steps after which a runner has run
DIFFERS = "hard constraints solved in every step there, ground that gives way here"
# steps per second of all worlds: MuJoCo Warp, pull request 1060; the others, mujoco-torch, pull request 74
QUOTED = {
    "MuJoCo Warp, humanoid, 8192 worlds, RTX 6000 Pro Blackwell": 3.97e6,
    "MJX, humanoid, float64, H200": 2.90e6,
    "MJX, planar walker2d, RK4, float64, H200": 1.36e5,
    "mujoco-torch, planar walker2d, RK4, float64, H200": 5.38e5,
}


def card_or_reason() -> str:
    """Why there is no card to measure on; nothing where there is one."""
    try:
        card = open_driver().card
    except DeviceError as error:
        return str(error)
    return "" if find_cuda_compiler(card.cuda) else "neither nvcc nor NVRTC"


def card_library(system: System, options: Mapping[str, Any], how: Mapping[str, Any]) -> DeviceLibrary:
    """The kernels of a system on the card, as a batch has them."""
    chosen = chosen_options({"ledger": False, **options})
    return open_library(lower_system(system), chosen, how.get("precision", "double"), how.get("crew", "auto"))


def card_note(library: DeviceLibrary) -> str:
    """The card, and what bounds its rate: how many threads the registers leave room for, and
    how much of each thread's memory is outside them."""
    return (
        f"{library.way}: {library.kernel.registers} registers and {library.kernel.local} bytes of "
        f"local memory a thread, {library.blocks * library.threads} threads a multiprocessor"
    )


def difference(one: Batch, other: Batch) -> float:
    """The largest relative difference of final states; infinite where a status or a number of events
    differs."""
    if one.status.tolist() != other.status.tolist() or unlike_runs(one, other):
        return float("inf")
    both = np.isfinite(one.x).all(axis=1) & np.isfinite(other.x).all(axis=1)
    scale = np.maximum(1.0, np.abs(one.x[both]))
    return float(np.max(np.abs(one.x[both] - other.x[both]) / scale, initial=0.0))


def unlike_runs(one: Batch, other: Batch) -> int:
    """How many runs ended otherwise, or had another number of some event."""
    unlike = one.status != other.status
    for name, counts in one.counts.items():
        unlike = unlike | (counts != other.counts[name])
    return int(unlike.sum())


def agreement(effort: Effort) -> Section:
    """Count, in populations of 100,000, the runs that end otherwise on a card than on the processor."""
    reason = card_or_reason()
    title, error = f"the same {POPULATION} runs on card and processor", "runs that ended otherwise"
    if reason:
        return Section(title, error, (Row("strut", "card", note=reason),))
    runner = walkers.slip(max_steps=RUNNER_STEPS)
    rates = {"stance_rate": np.linspace(-1.4, -0.8, POPULATION)}
    attacks = {"attack": np.radians(np.linspace(55, 75, POPULATION))}
    cases: dict[str, tuple[System, dict[str, Any]]] = {
        "compass, 15 s": (walkers.compass(), {"t": 15.0, "x0": rates}),
        "spring-mass runners": (runner, {"t": 100.0, "p": attacks}),
    }
    rows = []
    for name, (system, given) in cases.items():
        here = simulate_batch(system, **given)
        contender = Contender("strut", name, lambda s=system, g=given: simulate_batch(s, **g, device="cuda"))
        row = measure([contender], effort)[0]
        unlike = unlike_runs(here, simulate_batch(system, **given, device="cuda"))
        rows.append(Row("strut", name, float(unlike), row.times))
    return Section(title, error, tuple(rows), "time of the whole population on the card")


def compare(
    title: str,
    machines: Mapping[str, System],
    start: tuple[str, float, float],
    t: float,
    effort: Effort,
    *,
    runs: int = MANY,
    **options: Any,
) -> Section:
    """Time the same runs of several machines on one core and, where there is one, on a graphics card, and
    compare their ends. Times are per step and run; runs: how many on a card."""
    name, low, high = start
    reason = card_or_reason()
    rows: list[Row] = []
    for label, system in machines.items():
        few = {name: np.linspace(low, high, FEW)}
        exact = simulate_batch(system, t, x0=few, threads=1, **options)
        ways: list[tuple[str, int, dict[str, Any]]] = [
            (f"{label}, one core".lstrip(", "), FEW, {"threads": 1})
        ]
        if (
            all(event.terminal for event in system.events)
            and not system.samples
            and options.get("method") == "rk4"
        ):
            ways.append((f"{label}, one core, lanes".lstrip(", "), FEW, {"threads": 1, "lanes": "auto"}))
            lanes_single = {"threads": 1, "lanes": "auto", "precision": "single"}
            ways.append((f"{label}, one core, lanes, single".lstrip(", "), FEW, lanes_single))
        if not reason:
            ways.append((f"{label}, card".lstrip(", "), runs, {"device": "cuda"}))
            ways.append(
                (f"{label}, card, single".lstrip(", "), runs, {"device": "cuda", "precision": "single"})
            )
            if card_library(system, options, {}).crew > 1:
                alone = {"device": "cuda", "crew": 1}
                ways.append((f"{label}, card, one thread a run".lstrip(", "), runs, alone))
        for way, count, how in ways:
            x0 = {name: np.linspace(low, high, count)}
            error = difference(exact, simulate_batch(system, t, x0=few, **options, **how))
            batch = simulate_batch(system, t, x0=x0, **options, **how)
            contender = Contender(
                "strut", way, lambda x0=x0, how=how, s=system: simulate_batch(s, t, x0=x0, **options, **how)
            )
            row = measure([contender], effort)[0]
            on_card = how.get("device") == "cuda"
            note = card_note(card_library(system, options, how)) if on_card else ""
            rows.append(Row(row.name, way, error, tuple(s / batch.steps.sum() for s in row.times), note))
        if reason:
            rows.append(Row("strut", f"{label}, card".lstrip(", "), note=reason))
    return Section(title, "final states against one core", tuple(rows))


def whole_maps(effort: Effort) -> Section:
    """Time whole maps of 1000 x 1000 runs on a card: how compass walkers end, how far runners come."""
    reason = card_or_reason()
    if reason:
        return Section("maps of 1000 x 1000 runs", "none", (Row("strut", "card", note=reason),))
    walker = gait.find(walkers.compass())
    scale = np.linspace(0.999, 1.001, SIDE**2)  # near the gait, so that all of them walk
    near = {name: value * scale for name, value in walker.x0.items()}
    runner = walkers.slip(max_steps=RUNNER_STEPS)
    stiffness, attack = np.meshgrid(
        np.linspace(0, 50e3, SIDE), np.radians(np.linspace(40, 80, SIDE)), indexing="ij"
    )
    p = {"stiffness": stiffness.ravel(), "attack": attack.ravel()}
    maps = [
        *(
            Contender(
                "strut",
                f"compass, {WALKER_STEPS} steps each, rtol {rtol:g}",
                lambda rtol=rtol: simulate_batch(
                    walker.system,
                    WALKER_STEPS * walker.period,
                    x0=near,
                    device="cuda",
                    rtol=rtol,
                    atol=rtol,
                ),
            )
            for rtol in (1e-6, 1e-10)
        ),
        Contender("strut", "basin of the compass", lambda: gait.basin(walker, cells=SIDE, device="cuda")),
        *(
            Contender(
                "strut",
                f"spring-mass runners, {RUNNER_STEPS} steps, rtol {rtol:g}",
                lambda rtol=rtol: simulate_batch(runner, 100.0, p=p, device="cuda", rtol=rtol, atol=rtol),
            )
            for rtol in (1e-6, 1e-10)
        ),
        Contender(
            "strut",
            "the same runners, summed up on the card, rtol 1e-6",
            lambda: summarise_batch(runner, 100.0, p=p, device="cuda", rtol=1e-6, atol=1e-6),
        ),
    ]
    return Section("maps of 1000 x 1000 runs", "none", measure(maps, effort), "time of a whole map")


def quadruped_section(effort: Effort) -> Section:
    """Time the quadruped A1, if its file is here (the extra `robots`)."""
    title, name = "quadruped A1 from URDF, four contacts, RK4", "a1_description/urdf/a1.urdf"
    try:
        files = [file for file in distribution("example-robot-data").files or () if str(file).endswith(name)]
    except PackageNotFoundError:
        files = []
    if not files:
        return Section(title, "none", (Row("strut", "one core", note="example-robot-data is not installed"),))
    machine = quadruped(Path(str(files[0].locate())))
    return compare(title, {"": machine}, ("base.z", 0.31, 0.32), 1.0, effort, method="rk4", step=5e-4)


def run(effort: Effort) -> list[Section]:
    quoted = tuple(
        Row(
            name, "another machine", None, (1 / rate,), f"quoted, not measured here; {DIFFERS}", kind="quoted"
        )
        for name, rate in QUOTED.items()
    )
    fixed: dict[str, Any] = {"method": "rk4", "step": 2.5e-4}
    people = {"with events": human(True), "without events": human(False)}
    person = compare("planar human, ten contacts, RK4", people, ("base.z", 0.93, 0.99), 1.0, effort, **fixed)
    return [
        compare(
            "chain of 10, RK4", {"": chain()}, ("hinge0", 0.1, 0.5), 0.5, effort, method="rk4", step=1e-3
        ),
        compare("compass, dop853", {"": walkers.compass()}, ("stance_rate", -1.2, -1.0), 5.0, effort),
        Section(person.title, person.error_is, (*person.rows, *quoted), "time per step and run"),
        compare(
            "COMAN, 29 velocities, ten contacts, RK4",
            {"": coman(), "with drives and servos": walkers.coman(events=False)},
            ("z", 0.53, 0.56),
            0.02,
            effort,
            **fixed,
        ),
        compare(
            "exoskeleton, 19 coordinates, loops, rigid ground, RK4",
            {"": exoskeleton()},
            ("base.z", 0.95, 1.0),
            0.02,
            effort,
            runs=LARGE,
            **fixed,
        ),
        quadruped_section(effort),
        whole_maps(effort),
        agreement(effort),
    ]
