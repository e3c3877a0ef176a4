"""The same pendulum with RK4 at 1 ms, against MuJoCo. Its model is a hinge with a point mass; contacts are
off.

MuJoCo interprets any tree of bodies, strut compiles this one, and that is the difference seen here. Two
questions: running to the end only, and keeping every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.peers import mujoco, rollout
from bench.pendulum import START, G, T, error_of
from bench.timing import Contender, Effort, Section, measure
from strut import simulate, simulate_batch, walkers

STEP = 1e-3  # [s]
STEPS = round(T / STEP)
# [kg m^2] a point has none, but MuJoCo wants at least 1e-15; beside 1 kg m^2 it moves the end by less than
# 1e-12
POINT = 1e-14
MJCF = f"""
<mujoco>
  <option timestep="{STEP}" integrator="RK4" gravity="0 0 -{G}">
    <flag contact="disable" constraint="disable"/>
  </option>
  <worldbody>
    <body>
      <joint type="hinge" axis="0 1 0" damping="0"/>
      <inertial pos="0 0 -1" mass="1" diaginertia="{POINT} {POINT} {POINT}"/>
    </body>
  </worldbody>
</mujoco>"""


def _contender(name: str, setting: str, call: Any) -> Contender:
    return Contender(name, setting, call, error_of(call()) if call else None)


def _strut() -> dict[str, list[Contender]]:
    system = walkers.pendulum()
    fixed: dict[str, Any] = {"method": "rk4", "step": STEP}
    return {
        "end": [
            _contender(
                "strut",
                "simulate_batch of one",
                lambda: simulate_batch(system, T, x0={"angle": [START[0]]}, **fixed).x,
            )
        ],
        "all": [
            _contender(
                "strut", "simulate, no ledger", lambda: simulate(system, T, ledger=False, **fixed).raw.x_end
            ),
            _contender("strut", "simulate, with ledger", lambda: simulate(system, T, **fixed).raw.x_end),
        ],
    }


def _mujoco() -> dict[str, list[Contender]]:
    if mujoco is None or rollout is None:
        return {"end": [Contender("MuJoCo")], "all": [Contender("MuJoCo")]}
    mj, roll = mujoco, rollout
    model = mj.MjModel.from_xml_string(MJCF)
    data = mj.MjData(model)
    everything = mj.mjtState.mjSTATE_FULLPHYSICS

    def reset() -> None:
        mj.mj_resetData(model, data)
        data.qpos[0], data.qvel[0] = START

    def end() -> np.ndarray:
        return np.array([data.qpos[0], data.qvel[0]])

    def in_c() -> np.ndarray:
        reset()
        mj.mj_step(model, data, STEPS)
        return end()

    def in_python() -> np.ndarray:
        reset()
        for _ in range(STEPS):
            mj.mj_step(model, data)
        return end()

    def roll_out() -> np.ndarray:
        reset()
        initial = np.empty(mj.mj_stateSize(model, everything))
        mj.mj_getState(model, data, initial, everything)
        state, _ = roll.rollout(model, data, initial, nstep=STEPS)
        final: np.ndarray = state[0, -1, 1:3]  # after the time
        return final

    return {
        "end": [
            _contender("MuJoCo", f"mj_step, nstep={STEPS}", in_c),
            _contender("MuJoCo", "mj_step in a Python loop", in_python),
        ],
        "all": [_contender("MuJoCo", "rollout, one thread", roll_out)],
    }


def run(effort: Effort) -> list[Section]:
    ours, theirs = _strut(), _mujoco()
    titles = {"end": "only the end", "all": "keeping all steps (strut: with dense output)"}
    return [
        Section(
            f"pendulum, RK4 at 1 ms, 10 s, {title}",
            "angle [rad] and rate [rad/s] at 10 s",
            measure([*ours[which], *theirs[which]], effort),
        )
        for which, title in titles.items()
    ]
