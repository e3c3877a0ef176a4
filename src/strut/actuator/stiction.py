"""Dry friction of motors: Coulomb friction while they turn, and stiction that holds them at rest.

A discrete state NAME_turning is 1 or -1 while the motor turns, and 0 while it is stuck: then its rate is zero
and stays so exactly, whatever happens to the joint behind its spring. It breaks away where what pushes it
exceeds the stiction, and sticks where its rate comes to zero and less than that pushes. A smooth law, for
plans and fixed steps, has no events, and creeps: below the stiction it turns at a rate of its own size.
"""

from __future__ import annotations

import casadi as ca

from strut.actuator.drives import Drive
from strut.errors import ModelError
from strut.system import Discrete, Event, State, System, sx

SMOOTH_RATE = 0.01
"""[rad/s] Rate of the motor, behind its gear, at which the smooth law gives three quarters of the Coulomb
friction."""
BREAK_SLACK = 1e-9
"""[1] The part of the stiction by which a push must exceed it to break a motor loose: where both are equal by
rounding it would break loose and stick for ever."""


def smooth_friction(coulomb: ca.SX, rate: ca.SX) -> ca.SX:
    """Coulomb friction [N m] that goes through zero with the rate."""
    return coulomb * ca.tanh(rate / SMOOTH_RATE)


class Stiction:
    """Dry friction of one motor, with its events.

    motor_drive: where the motor acts. torque: what the motor gives before friction [N m].
    coulomb, breakaway: friction while it turns, and what holds it at rest [N m], behind the gear.
    """

    def __init__(
        self,
        system: System,
        motor_drive: Drive,
        *,
        name: str,
        torque: ca.SX,
        coulomb: ca.SX,
        breakaway: ca.SX,
    ) -> None:
        self.name, self.rate_state = name, _own_rate(system, motor_drive)
        rate = self.rate_state.sym
        self.turning = Discrete(
            f"{name}_turning", 0.0, description="1 or -1: the way the motor turns; 0: it is stuck"
        )
        # the rate of the motor is free + gain * torque: what else pushes the motor is free / gain
        flow = sx(system.flow[self.rate_state.name])
        gain = ca.jacobian(flow, motor_drive.input.sym)
        free = ca.substitute([flow], [motor_drive.input.sym], [ca.SX(0)])[0]
        self.push = torque + free / gain
        self.breakaway, self._rate = breakaway, rate
        self.stuck = self.turning.sym == 0
        self.torque = ca.if_else(self.stuck, self.push, coulomb * self.turning.sym)

    def initial_state(self) -> Discrete:
        """Return the discrete state, which begins as the rate says with which a run begins."""
        return self.turning.copy_with(value=ca.sign(self._rate))

    def freeze(self, flow: ca.SX) -> ca.SX:
        """Return the acceleration of the motor: exactly zero while it is stuck."""
        return ca.if_else(self.stuck, 0, flow)

    def events(self, inertia: ca.SX) -> list[Event]:
        """Return the events of breaking away and of sticking. inertia: of the motor [kg m^2], for what is
        lost in stopping it."""
        holds = ca.fabs(self.push) <= self.breakaway * (1 + BREAK_SLACK)
        way = ca.sign(self.push)
        return [
            Event(
                f"{self.name}_breakaway",
                guard=ca.if_else(self.stuck, ca.fabs(self.push) - self.breakaway * (1 + BREAK_SLACK), -1),
                reset={self.turning.name: way},
                eager=True,
                loss={},
                description="what pushes the motor exceeds its stiction",
            ),
            Event(
                f"{self.name}_stick",
                guard=ca.if_else(self.stuck, -1, -self.turning.sym * self._rate),
                reset={self.turning.name: ca.if_else(holds, 0, way), self.rate_state.name: ca.SX(0)},
                loss={f"{self.name}_stick": inertia * self._rate**2 / 2},
                description="the motor comes to rest, and turns back at once where its push exceeds stiction",
            ),
        ]


def _own_rate(system: System, motor_drive: Drive) -> State:
    """The state that is the rate of a motor and of nothing else; raises ModelError where there is none."""
    state = next((q for q in system.x if q.size == 1 and ca.is_equal(q.sym, motor_drive.rate)), None)
    moved = [q.name for q in system.x if ca.depends_on(sx(system.flow[q.name]), motor_drive.input.sym)]
    if state is None or moved != [state.name]:
        where = ", ".join(moved) or "nothing"
        raise ModelError(
            f"input '{motor_drive.input.name}' of '{system.name}' moves {where}: stiction holds a motor "
            f"whose torque moves its own rate alone; give the motor a gear_stiffness or a spring, or ask for "
            f"smooth=True"
        )
    return state


__all__ = ["SMOOTH_RATE", "Stiction", "smooth_friction"]
