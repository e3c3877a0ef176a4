"""Stepping by whole-body control of momentum: of van de Rijt's humanoid and of a machine of one's own."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from strut import contact, control
from strut.control import MomentumGains, ReactiveStepping, SteppingState, momentum_stepping, stepping_signals
from strut.errors import ModelError, UnknownNameError
from strut.mechanism import Mechanism, joints
from strut.studies.rijt_scenarios import PARAMETER_SETS, SCENARIOS, humanoid_loop
from strut.system import time

KKT = 1e-8
"""Largest residual of a quadratic program, relative."""


@pytest.mark.parametrize("name", list(PARAMETER_SETS))
def test_the_humanoid_walks_and_recovers(name: str) -> None:
    """Three seconds of both scenarios with both parameter sets: no fall, every program solved to 1e-8,
    torques, cones and forces of the command within their limits."""
    controller, machine = humanoid_loop()
    for scenario in SCENARIOS.values():
        run = controller.using({**PARAMETER_SETS[name], **scenario.values}).run(
            machine, 3.0, **scenario.outside()
        )
        assert run.ok, run.faults
        assert run.kkt < KKT
        torques = np.column_stack([run[n] for n in controller.command])
        assert np.abs(torques).max() <= 220.0
        for foot in ("foot_r", "foot_l"):
            across, up = run[f"{foot}_force"].T
            assert (up >= -1e-6).all()
            assert (np.abs(across) <= 0.7 * up + 1e-5).all()
            assert max(np.abs(across).max(), up.max()) <= 1000.0 + 1e-6
        assert run["steps"][-1] >= 3


def test_steps_begin_where_the_xcom_leaves_the_base_of_support() -> None:
    """A step begins in the sample in which the XcoM is a margin outside, and never while it is inside."""
    controller, machine = humanoid_loop()
    run = controller.using(walking_speed=0.5).run(machine, 2.5)
    begins = np.flatnonzero(np.diff(run["steps"], prepend=0) > 0)
    feet = np.column_stack([run["foot_r_place"][:, 0], run["foot_l_place"][:, 0]])
    outside = run["xcom"] - feet.max(axis=1) - 0.2 * 0.5
    stands = np.roll(run["swinging"], 1) == 0
    stands[0] = True
    assert len(begins) >= 3
    assert (outside[begins] > 0).all()
    assert not (outside[stands & (np.diff(run["steps"], prepend=0) == 0)] > 0).any()
    for k in begins:  # it is the rear foot that goes
        assert run["swinging"][k] == 1 + feet[k].argmin()


STEPS = {"step_time": 0.2, "swing_height": 0.05, "shortest": 0.15, "longest": 1.0}


def _decide(xcom: float, feet: tuple[float, float], speed: float = 0.0, **options: float) -> dict[str, float]:
    """What is remembered after a sample in which both feet stand, of a mass at rest at the XcoM."""
    state = SteppingState(
        ca.SX([xcom, 1.0]),
        ca.SX([0.0, 0.0]),
        {"a": ca.SX([feet[0], 0.0]), "b": ca.SX([feet[1], 0.0])},
        {"a": ca.SX(0.0), "b": ca.SX(0.0)},
    )
    s = stepping_signals(
        ReactiveStepping(**STEPS | options),
        state,
        t=ca.SX(0.0),
        speed=speed,
        height=1.0,
        first={"a": (0, 0), "b": (0, 0)},
    )
    symbols = [z.sym for z in s.memory]
    after = ca.Function("after", symbols, list(s.memory.values()))(*[0.0] * len(symbols))
    return {z.name: float(value) for z, value in zip(s.memory, after, strict=True)}


def test_which_foot_steps_and_how_far() -> None:
    """The prediction of eq. 2.5 with ten per cent more, clamped; the farther foot; nothing inside of the
    margin."""
    assert _decide(0.0, (-0.1, 0.1))["swinging"] == 0
    ahead = _decide(0.2, (-0.1, 0.1), step_time=0.2, shortest=0.05, longest=9.0)
    grown = 0.1 + (0.2 - 0.1) * math.exp(math.sqrt(9.81) * 0.2)
    assert ahead["swinging"] == 1
    assert ahead["swing_length"] == pytest.approx(1.1 * (grown + 0.1), rel=1e-12)
    back = _decide(-0.2, (-0.1, 0.1), step_time=0.2, shortest=0.05, longest=9.0)
    assert back["swinging"] == 2
    assert back["swing_length"] == pytest.approx(-ahead["swing_length"], rel=1e-12)
    assert _decide(0.2, (0.1, -0.1))["swinging"] == 2
    assert _decide(0.2, (-0.1, 0.1), longest=0.3)["swing_length"] == pytest.approx(0.3)
    assert _decide(0.11, (-0.1, 0.1), shortest=0.5)["swing_length"] == pytest.approx(0.5)
    assert _decide(0.19, (-0.1, 0.1), speed=0.5)["swinging"] == 0  # margin 0.1 m
    assert _decide(0.21, (-0.1, 0.1), speed=0.5)["swinging"] == 1
    assert _decide(0.19, (-0.1, 0.1), speed=0.5, max_margin=0.05)["swinging"] == 1


def _own_biped() -> Mechanism:
    """A torso that carries two legs: another base, other masses, other lengths than the ready-made
    humanoid."""
    m = Mechanism("own", planar=True)
    torso = m.body("torso", 30.0, (0, 0, 0.2), 1.2)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.655, 0.0), actuated=False)
    for side, hip in (("_l", -0.75), ("_r", -0.35)):
        thigh = m.body(f"thigh{side}", 5.0, (0, 0, -0.18), 0.08)
        m.joint(f"hip{side}", torso, thigh, joints.revolute("y"), initial=hip)
        shank = m.body(f"shank{side}", 3.0, (0, 0, -0.18), 0.05)
        limits = (0.15, 2.5)
        bend = 1.15 if side == "_l" else 1.1
        m.joint(
            f"knee{side}", thigh, shank, joints.revolute("y"), at=(0, 0, -0.4), initial=bend, limits=limits
        )
        m.frame(f"foot{side}", shank, (0, 0, -0.4))
    return m


def test_a_machine_of_ones_own_walks_too() -> None:
    m = _own_biped()
    machine = contact.time_stepped(m, ["foot_l", "foot_r"], friction=0.8, fall=("torso", 0.3))
    controller = momentum_stepping(
        control.BodyModel(m),
        feet=("foot_l", "foot_r"),
        chest="torso",
        com=(0.3 * time, 0.72),
        stepping=ReactiveStepping(step_time=0.25, swing_height=0.05, shortest=0.3, longest=0.7),
        gains=MomentumGains(
            torque_limit=200.0,
            force_limit=1000.0,
            com_stiffness=1500.0,
            momentum_limit=430.0,
            feet_weight=1e5,
            feet_stiffness=1000.0,
        ),
    )
    run = controller.run(machine, 4.0)
    assert run.ok, run.faults
    assert run["steps"][-1] >= 3
    assert abs(run["com"][-1, 0] - 1.2) < 0.15


def test_what_it_cannot_do_is_said() -> None:
    flat = _own_biped()
    body = control.BodyModel(flat)
    gains = MomentumGains(torque_limit=200.0, force_limit=1e3, com_stiffness=1.5e3, momentum_limit=430.0)
    settings = {"stepping": ReactiveStepping(**STEPS), "gains": gains}
    with pytest.raises(ModelError, match="3 numbers: give x and z"):
        momentum_stepping(body, feet=("foot_l", "foot_r"), chest="torso", **settings, com=(0.0, 0.0, 0.7))
    with pytest.raises(ModelError, match="has 1 feet, foot_l: it steps with two"):
        momentum_stepping(body, feet=("foot_l",), chest="torso", **settings, com=(0.0, 0.7))
    space = Mechanism("ball")
    space.joint("base", space.world, space.body("block", 1.0, (0, 0, 0), [1, 1, 1]), joints.free())
    with pytest.raises(ModelError, match="moves in space.*planar machines"):
        momentum_stepping(
            control.BodyModel(space), feet=("a", "b"), chest="block", **settings, com=(0.0, 0.7)
        )
    with pytest.raises(UnknownNameError, match="no swing profile 'cosine'"):
        ReactiveStepping(**STEPS, profile="cosine")


def _biped(heavier: float) -> Mechanism:
    """A biped of 46 kg, or so many times heavier."""
    m = Mechanism("biped", planar=True)
    torso = m.body("torso", 30.0 * heavier, (0, 0, 0.2), 1.2 * heavier)
    m.joint("base", m.world, torso, joints.planar(), initial=(0, 0.655, 0.0), actuated=False)
    for side, hip, bend in (("_l", -0.75, 1.15), ("_r", -0.35, 1.1)):
        thigh = m.body(f"thigh{side}", 5.0 * heavier, (0, 0, -0.18), 0.08 * heavier)
        m.joint(f"hip{side}", torso, thigh, joints.revolute("y"), initial=hip)
        shank = m.body(f"shank{side}", 3.0 * heavier, (0, 0, -0.18), 0.05 * heavier)
        m.joint(f"knee{side}", thigh, shank, joints.revolute("y"), at=(0, 0, -0.4), initial=bend)
        m.frame(f"foot{side}", shank, (0, 0, -0.4))
    return m


def test_gains_of_a_machine_of_another_weight_give_the_same_motion() -> None:
    """As the docstring of `MomentumGains` has it: limits grow with the weight, weights of squared forces fall
    with its square, and nothing else changes."""
    places = []
    for heavier in (1.0, 3.0):
        m = _biped(heavier)
        gains = MomentumGains(
            torque_limit=200.0 * heavier,
            force_limit=1000.0 * heavier,
            com_stiffness=1500.0 * heavier,
            momentum_limit=430.0 * heavier,
            momentum_weight=10.0 / heavier**2,
            force_weight=1e-4 / heavier**2,
            feet_weight=1e5,
            feet_stiffness=1000.0,
        )
        loop = momentum_stepping(
            control.BodyModel(m),
            feet=("foot_l", "foot_r"),
            chest="torso",
            com=(0.3 * time, 0.72),
            stepping=ReactiveStepping(step_time=0.25, swing_height=0.05, shortest=0.3, longest=0.7),
            gains=gains,
        )
        ground = contact.time_stepped(m, ["foot_l", "foot_r"], friction=0.8, fall=("torso", 0.3))
        run = loop.run(ground, t=0.6)
        assert run.ok, run.faults
        places.append([run.trajectory[name][-1] for name in ("base.x", "base.z", "hip_l", "knee_r")])
    np.testing.assert_allclose(places[1], places[0], atol=1e-5)
