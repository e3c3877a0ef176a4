"""Metabolic power of muscles, estimated from what joints do: two formulas of the literature, as expressions.

A joint of a model has one torque where a body has several muscles, some against each other and some across
two joints. So these are estimates of what the least number of muscles would need, without the power of a body
at rest.
"""

from __future__ import annotations

import casadi as ca

from strut.checks import checked, positive

POSITIVE_EFFICIENCY, NEGATIVE_EFFICIENCY = 0.25, 1.2
"""[1] Mechanical work over metabolic energy of muscles that shorten, and that are stretched (Margaria, 1968:
walking up and down steep slopes)."""
HILL_CURVATURE = 4.0
"""[1] G of Hill's force-velocity curve, (1 - u) / (1 + G u)."""
STRETCHED_FORCE, STRETCHED_SLOPE = 1.8, 7.6
"""[1] Of the curve of muscles that are stretched, 1.8 - 0.8 (1 + u) / (1 - 7.6 u) (Otten, 1987)."""
MAX_SHORTENING = 0.9
"""[1] Part of the largest shortening speed, at which the speed is cut: at 1 a muscle has no force, and what
it would need for one has no bound."""
WALKING_OXYGEN, RESTING_OXYGEN = 0.1, 3.5 / 60
"""[ml/(kg m), ml/(kg s)] Oxygen that a person who walks on level ground needs for the distance, and besides,
at rest: 0.1 S + 3.5 ml/(kg min) at S m/min (ACSM's Guidelines for Exercise Testing and Prescription, 10th
edition, table 6.3; said to hold from 50 to 100 m/min)."""
OXYGEN_ENERGY = 20.9
"""[J/ml] Energy that oxygen frees, 5 kcal of a litre, as these guidelines count it."""


def walking_cost(speed: float) -> tuple[float, float]:
    """Return what walking on level ground at a speed [m/s] costs a person [J/(kg m)], by
    `WALKING_OXYGEN`: without what the body needs at rest, and with it."""
    moving = WALKING_OXYGEN * OXYGEN_ENERGY
    return moving, moving + RESTING_OXYGEN * OXYGEN_ENERGY / positive("speed", speed, "m/s")


@checked
def work_metabolic_power(power: ca.SX) -> ca.SX:
    """Return the metabolic power [W] of muscles that do mechanical work at this power [W]: positive work over
    an efficiency of 0.25, negative over 1.2 (Margaria, 1968)."""
    return ca.fmax(power, 0) / POSITIVE_EFFICIENCY + ca.fmax(-power, 0) / NEGATIVE_EFFICIENCY


@checked
def muscle_metabolic_power(torque: ca.SX, rate: ca.SX, max_rate: float) -> ca.SX:
    """Return the metabolic power [W] of one muscle that turns a joint (Minetti and Alexander, 1997).

    torque: [N m]. rate: of the joint, along the torque's own direction [rad/s]. max_rate: of the joint as its
    muscle shortens as fast as it can without a load [rad/s].

    With u = rate / max_rate, positive where the muscle shortens, the muscle has the torque T g(u) when T is
    what its active fibres have at rest, and needs T max_rate phi(u), phi(u) = (0.054 + 0.506 u + 2.46 u^2) /
    (1 - 1.13 u + 12.8 u^2 - 1.64 u^3). Where the formula's speed is beyond 0.9 it is taken as 0.9.
    """
    positive("max_rate", max_rate, "rad/s")
    u = ca.fmax(ca.fmin(ca.sign(torque) * rate / max_rate, MAX_SHORTENING), -1.0)
    return ca.fabs(torque) / force_at_speed(u) * max_rate * cost_at_speed(u)


def force_at_speed(u: ca.SX) -> ca.SX:
    """The force of a muscle over that at rest, by its speed over the largest one, positive where it
    shortens."""
    shortens, stretched = ca.fmax(u, 0), ca.fmin(u, 0)
    pulls = (1 - shortens) / (1 + HILL_CURVATURE * shortens)
    holds = STRETCHED_FORCE - (STRETCHED_FORCE - 1) * (1 + stretched) / (1 - STRETCHED_SLOPE * stretched)
    return ca.if_else(u >= 0, pulls, holds)


def cost_at_speed(u: ca.SX) -> ca.SX:
    """phi of Minetti and Alexander: metabolic power over the force at rest and the largest speed."""
    return (0.054 + 0.506 * u + 2.46 * u**2) / (1 - 1.13 * u + 12.8 * u**2 - 1.64 * u**3)


__all__ = ["muscle_metabolic_power", "walking_cost", "work_metabolic_power"]
