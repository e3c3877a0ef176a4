"""Many runs at once: time per step and run on one core, with contact by events and without, and on a
graphics card.

GPU simulators of others are quoted, not measured: they solve hard constraints, where the ground here gives
way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.timing import Contender, Effort, Row, Section, measure
from strut import Mechanism, System, contact, joints, mechanism, simulate_batch, walkers
from strut.codegen import DeviceLibrary, build_device_library, find_capability, find_nvcc, lower_system
from strut.codegen.cuda import THREADS_PER_BLOCK
from strut.walkers.anthropometry import segment

STATURE, MASS = 1.75, 70.0  # [m], [kg]
HEEL_TO_TOE = (
    ("foot", -0.05),
    ("foot", 0.0),
    ("foot", 0.12),
    ("toe", 0.0),
    ("toe", 0.06),
)  # [m] along each part
FEW, MANY = 40, 131_072  # runs on a core, and on a card
# steps per second of all worlds: MuJoCo Warp, pull request 1060; the others, mujoco-torch, pull request 74
QUOTED = {
    "MuJoCo Warp, humanoid, 8192 worlds, RTX 6000 Pro Blackwell": 3.97e6,
    "MJX, humanoid, float64, H200": 2.90e6,
    "MJX, planar walker2d, RK4, float64, H200": 1.36e5,
    "mujoco-torch, planar walker2d, RK4, float64, H200": 5.38e5,
}


def chain(links: int = 10) -> System:
    """A chain of links in space, hinged about x, y and z in turn."""
    m = Mechanism("chain")
    parent = m.world
    for k in range(links):
        link = m.body(f"link{k}", mass=1.0, com=(0, 0, -0.1), inertia=0.01)
        at = (0, 0, -0.2 if k else 0)
        m.joint(f"hinge{k}", parent, link, joints.revolute("xyz"[k % 3]), at=at, initial=0.3, actuated=False)
        parent = link
    return mechanism.system(m)


def human(events: bool) -> System:
    """A planar person with 11 degrees of freedom on ten soft points, held by springs at its joints."""
    m = Mechanism("human", planar=True)
    parts = {name: segment(name, STATURE, MASS) for name in ("thigh", "shank", "foot")}
    trunk = m.body("trunk", mass=45.0, com=(0, 0, 0.3), inertia=2.5)
    m.joint("base", m.world, trunk, joints.planar(), initial=(0, 0.93, 0), actuated=False)
    feet = []
    for side in ("left", "right"):
        below, at = trunk, (0.0, 0.0, 0.0)
        for joint, name in (("hip", "thigh"), ("knee", "shank"), ("ankle", "foot")):
            part = parts[name]
            com = (float(part.com[0]), 0, float(part.com[2]))
            body = m.body(f"{name}_{side}", mass=float(part.mass), com=com, inertia=float(part.inertia[1, 1]))
            m.joint(f"{joint}_{side}", below, body, joints.revolute("y"), at=at, damping=1.0, spring=300.0)
            below, at = body, (0.0, 0.0, -float(part.length))
        toe = m.body(f"toe_{side}", mass=0.2, com=(0.03, 0, 0), inertia=1e-3)
        m.joint(
            f"toes_{side}", below, toe, joints.revolute("y"), at=(0.15, 0, -0.06), damping=0.5, spring=20.0
        )
        for k, (part_name, x) in enumerate(HEEL_TO_TOE):
            body, z = (below, -0.07) if part_name == "foot" else (toe, -0.01)
            feet.append(m.frame(f"point{k}_{side}", body, (x, 0, z)).name)
    law, friction = contact.hunt_crossley(1e6, 0.5), contact.coulomb(0.8, 0.05)
    return contact.compliant(m, feet, law=law, friction=friction, events=events)


def card_note(system: System, options: Mapping[str, Any], precision: str) -> str:
    """The card, and what bounds its rate: how many threads the registers leave room for, and
    how much of each thread's memory is outside them."""
    method = options.get("method", "dop853")
    path = build_device_library(lower_system(system), method, precision, find_capability())
    card = DeviceLibrary(path).card()
    return (
        f"{card.name}: {card.registers} registers and {card.local} bytes of local memory a thread, "
        f"{card.blocks * THREADS_PER_BLOCK} threads a multiprocessor"
    )


def compare(
    title: str,
    machines: Mapping[str, System],
    start: tuple[str, float, float],
    t: float,
    effort: Effort,
    **options: Any,
) -> Section:
    """Time the same runs of several machines on one core and, where there is one, on a graphics card. Times
    are per step and run."""
    name, low, high = start
    has_card = find_capability() is not None and find_nvcc() is not None
    rows: list[Row] = []
    for label, system in machines.items():
        ways: list[tuple[str, int, dict[str, Any]]] = [(f"{label}, one core", FEW, {"threads": 1})]
        if (
            all(event.terminal for event in system.events)
            and not system.samples
            and options.get("method") == "rk4"
        ):
            ways.append((f"{label}, one core, lanes", FEW, {"threads": 1, "lanes": "auto"}))
            lanes_single = {"threads": 1, "lanes": "auto", "precision": "single"}
            ways.append((f"{label}, one core, lanes, single", FEW, lanes_single))
        if has_card:
            ways.append((f"{label}, card", MANY, {"device": "cuda"}))
            ways.append((f"{label}, card, single", MANY, {"device": "cuda", "precision": "single"}))
        for way, runs, how in ways:
            x0 = {name: np.linspace(low, high, runs)}
            batch = simulate_batch(system, t, x0=x0, **options, **how)
            contender = Contender(
                "strut", way, lambda x0=x0, how=how, s=system: simulate_batch(s, t, x0=x0, **options, **how)
            )
            row = measure([contender], effort)[0]
            on_card = how.get("device") == "cuda"
            note = card_note(system, options, how.get("precision", "double")) if on_card else ""
            rows.append(Row(row.name, way, None, tuple(s / batch.steps.sum() for s in row.times), note))
        if not has_card:
            rows.append(Row("strut", f"{label}, card", note="no graphics card with CUDA, or no nvcc"))
    return Section(title, "none", tuple(rows))


def run(effort: Effort) -> list[Section]:
    quoted = tuple(
        Row(name, "another machine", None, (1 / rate,), "quoted; hard constraints", kind="quoted")
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
    ]
