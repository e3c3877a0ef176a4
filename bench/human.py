"""One evaluation of a search for human gaits, ten seconds of walking in steps of 0.25 ms, on one core; and as
many steps of the same body in MuJoCo, whose servos hold its posture."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np
from examples.walking_human import walking_human

from bench.human_on_card import compare_devices
from bench.peers import optional
from bench.timing import Effort, Row, Section
from strut import evolve

mujoco = optional("mujoco")
DURATION, STEP = 10.0, 2.5e-4
COPIES = 32  # individuals at once: two of every lane
PEER_STEPS = 4000  # a tenth of an evaluation
HEIGHT, MASS = 1.8, 70.0
SOLE = (-0.06, 0.0, 0.06, 0.12)
MEASURES = {"speed": "mean_after(speed, 5)", "torque": "integral_after(walk_torque, 5) / 5"}


def ours(precision: str) -> tuple[evolve.SystemEvaluation, np.ndarray]:
    """The evaluation of a gait that walks for ten seconds, and copies of the gait."""
    walker = walking_human()
    runs = evolve.of_system(
        walker, DURATION, MEASURES, method="rk4", step=STEP, lanes="auto", precision=precision, threads=1
    )
    stiffness = np.asarray(next(q.value for q in walker.p if q.name == "hip_stiffness")).item()
    return runs, np.full((COPIES, 1), stiffness)


def time_ours(precision: str, effort: Effort) -> Row:
    """Processor time of an evaluation [s], of many at once."""
    runs, x = ours(precision)
    seeds = np.zeros(1, dtype=np.uint64)
    answer = runs.evaluate(("hip_stiffness",), x, seeds)  # compiles
    times = []
    for _ in range(effort.rounds):
        began = clock.process_time()
        runs.evaluate(("hip_stiffness",), x, seeds)
        times.append((clock.process_time() - began) / COPIES)
    speed = float(answer.measures[0, 0])
    return Row("strut", f"lanes, {precision}", None, tuple(times), f"it walks at {speed:.3f} m/s")


def peer_model(integrator: str) -> Any:
    """The same body for MuJoCo, in Winter's proportions, on ten small spheres, with servos."""

    def body(  # noqa: PLR0917 -- what a body of the format has
        name: str, at: float | str, mass: float, com: str, inertia: float, inside: str
    ) -> str:
        place = at if isinstance(at, str) else f"0 0 {at}"
        return (
            f'<body name="{name}" pos="{place}"><inertial pos="{com}" mass="{mass}" '
            f'diaginertia="{inertia} {inertia} {inertia}"/>{inside}</body>'
        )

    def hinge(name: str, more: str = "") -> str:
        sign = 1 if name.startswith(("knee", "pitch")) else -1
        return f'<joint name="{name}" type="hinge" axis="0 {sign} 0" {more}/>'

    def point(x: float, z: float) -> str:
        return f'<geom type="sphere" size="0.005" pos="{x} 0 {z}" mass="0" contype="1" conaffinity="0"/>'

    def leg(side: str) -> str:
        thigh, shank = 0.245 * HEIGHT, 0.246 * HEIGHT
        toe_inertia = 0.175 * (0.0163 * HEIGHT) ** 2
        damping = 2 * np.sqrt(12 * (toe_inertia + 0.175 * 0.03**2))
        spring = hinge(f"toe_{side}", f'stiffness="12" damping="{damping}"')
        toe = body(f"toe_{side}", "0.12 0 -0.05", 0.175, "0.03 0 0", toe_inertia, spring + point(0.06, 0.0))
        sole = "".join(point(x, -0.05) for x in SOLE)
        foot_inertia = 0.84 * (0.475 * 0.18) ** 2
        inside = hinge(f"ankle_{side}") + sole + toe
        foot = body(f"foot_{side}", -shank, 0.84, "0.04 0 -0.03", foot_inertia, inside)
        for name, joint, length, share, gyration, at in (
            ("shank", "knee", shank, 0.0465, 0.302, -thigh),
            ("thigh", "hip", thigh, 0.1, 0.323, 0.0),
        ):
            mass = share * MASS
            inside = hinge(f"{joint}_{side}") + foot
            centre = f"0 0 {-0.433 * length}"
            foot = body(f"{name}_{side}", at, mass, centre, mass * (gyration * length) ** 2, inside)
        return foot

    base = '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>'
    length, mass = 0.288 * HEIGHT, 0.678 * MASS
    inside = base + hinge("pitch") + leg("r") + leg("l")
    trunk = body("trunk", 0.0, mass, f"0 0 {0.626 * length}", mass * (0.496 * length) ** 2, inside)
    servos = "".join(
        f'<position joint="{joint}_{side}" kp="3000" kv="30"/>'
        for joint in ("hip", "knee", "ankle")
        for side in "rl"
    )
    return mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian" balanceinertia="false" boundinertia="0"/>'
        f'<option gravity="0 0 -9.81" integrator="{integrator}" timestep="{STEP}" cone="elliptic"/>'
        f'<worldbody><geom type="plane" size="100 100 1" contype="0" conaffinity="1"/>{trunk}</worldbody>'
        f"<actuator>{servos}</actuator></mujoco>"
    )


def time_peer(integrator: str, effort: Effort) -> Row:
    """Processor time of as many steps in MuJoCo [s]."""
    if mujoco is None:
        return Row("MuJoCo", integrator, note="not installed")
    model = peer_model(integrator)
    data = mujoco.MjData(model)
    times = []
    for _ in range(effort.rounds):
        mujoco.mj_resetData(model, data)
        data.qpos[1] = 0.94
        began = clock.process_time()
        mujoco.mj_step(model, data, PEER_STEPS)
        times.append((clock.process_time() - began) * DURATION / STEP / PEER_STEPS)
    return Row("MuJoCo", integrator, None, tuple(times), f"stands, {data.ncon} contacts at the end")


def run(effort: Effort) -> list[Section]:
    rows = (
        time_ours("double", effort),
        time_ours("single", effort),
        time_peer("RK4", effort),
        time_peer("Euler", effort),
    )
    rates = ", ".join(f"{row.name} ({row.setting}) {1 / row.best:.3g}" for row in rows if row.best)
    title = "planar human, ten points under its feet: 10 s in 40,000 steps, one core, processor time"
    return [Section(title, "none", rows, f"evaluations per second of a core: {rates}"), compare_devices()]
