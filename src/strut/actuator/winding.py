"""The winding of a motor behind its driver: from voltage and speed to current and torque.

    inductance * current' = terminal - resistance * current - ratio * torque_constant * rate

The current is a state, or absorbed: without inductance it follows from voltage and speed at once, and the
motor is of second order. The terminal's voltage is what the driver is asked for, within its limits.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.system import Input, Param, State

DRIVER_GAIN = 10.0
"""[1] How fast a driver lets the current come to its limit, and never over it: so many times as fast as the
winding alone would, resistance over inductance."""


class Winding:
    """One winding, with its back-EMF, torque and copper loss.

    rate: of the motor behind its gear [rad/s]. voltage: what the driver is asked for [V].
    with_inductance: the current is a state. current_limit: that a plan keeps such a state in [A]. Limits that
    are parameters are kept by the driver.
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
        asked = _clip_to(voltage.sym, params.get("voltage_limit"))
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
                asked = ca.fmax(low, ca.fmin(high, asked))
            self.terminal = asked
            self.rates[self.state] = (self.terminal - steady) / inductance
            self.stored: ca.SX | None = inductance * self.current**2 / 2
        else:
            self.current = _clip_to((asked - self.emf) / resistance, limit)
            self.terminal = asked if limit is None else resistance * self.current + self.emf
            self.stored = None
        self.torque = ratio * params["torque_constant"].sym * self.current
        self.supplied = self.terminal * self.current
        self.copper_loss = resistance * self.current**2


def _clip_to(value: ca.SX, limit: Param | None) -> ca.SX:
    """A value held between a limit and its negative; as it is where there is none."""
    return value if limit is None else ca.fmax(-limit.sym, ca.fmin(limit.sym, value))


__all__ = ["Winding"]
