"""The winding of a motor behind its driver: from voltage and speed to current and torque.

    inductance * current' = terminal - resistance * current - ratio * torque_constant * rate

The current is a state, or absorbed: without inductance it follows from voltage and speed at once, and the
motor is of second order. The terminal's voltage is what the driver is asked for, within its limits.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.system import Input, Param, State, limit_to

DRIVER_GAIN = 10.0
"""[1] How fast a driver lets the current come to its limit, and never over it: so many times as fast as the
winding alone would, resistance over inductance."""


class Winding:
    """One winding, with its back-EMF, torque and copper loss.

    rate: of the motor behind its gear [rad/s]. voltage: what the driver is asked for [V].
    with_inductance: the current is a state. current_limit: that a plan keeps such a state in [A]. Limits that
    are parameters are kept by the driver.

    terminal: the voltage at the winding [V]. limit_flag: 1 while a limit of the driver decides over it; None
    where there is none.
    """

    def __init__(
        self,
        name: str,
        rate: ca.SX,
        params: Mapping[str, Param],
        voltage: Input,
        *,
        with_inductance: bool,
        current_limit: float,
    ) -> None:
        ratio, resistance = params["gear_ratio"].sym, params["resistance"].sym
        self.emf = ratio * params["torque_constant"].sym * rate
        asked = _within(voltage.sym, params.get("voltage_limit"))
        limit = params.get("current_limit")
        self.state: State | None = None
        self.rates: dict[State, ca.SX] = {}
        if with_inductance:
            inductance = params["inductance"].sym
            self.state = State(
                f"{name}_current",
                0.0,
                "A",
                description="of the motor's winding",
                limits=(-current_limit, current_limit),
            )
            self.current = self.state.sym
            steady = resistance * self.current + self.emf
            if limit is not None:
                pull = DRIVER_GAIN * resistance
                high = steady + pull * (limit.sym - self.current)
                low = steady - pull * (limit.sym + self.current)
                asked = ca.if_else(asked > high, high, ca.if_else(asked < low, low, asked))
            self.terminal = asked
            self.rates[self.state] = (self.terminal - steady) / inductance
            self.stored: ca.SX | None = inductance * self.current**2 / 2
        else:
            free_current = (asked - self.emf) / resistance
            self.current = _within(free_current, limit)
            self.terminal = asked
            if limit is not None:
                beyond = ca.fabs(free_current) > limit.sym
                self.terminal = ca.if_else(beyond, resistance * self.current + self.emf, asked)
            self.stored = None
        has_limit = limit is not None or "voltage_limit" in params
        self.limit_flag = ca.if_else(self.terminal == voltage.sym, 0, 1) if has_limit else None
        self.torque = ratio * params["torque_constant"].sym * self.current
        self.supplied = self.terminal * self.current
        self.copper_loss = resistance * self.current**2


def _within(value: ca.SX, limit: Param | None) -> ca.SX:
    """A value held between a limit and its negative; as it is where there is none."""
    return value if limit is None else limit_to(value, limit.sym)


__all__ = ["Winding"]
