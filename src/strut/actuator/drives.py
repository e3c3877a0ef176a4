"""`Drive`: an input that turns something, as the energy account of a system tells it; whoever described the
system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import Disturbance, Input, System, sx

INPUT_ENDINGS = ("torque", "force")
"""What is left off an input's name to name its drive."""
DEFAULT_NAME = "drive"
"""The name of a drive whose input is called 'torque' or 'force' and nothing more."""


@dataclass(frozen=True, eq=False)
class Drive:
    """A torque along an angle (or a force along a length), which is a sum of states.

    name: the input's, less its ending.
    angle, rate: expressions of the states [rad and rad/s, or m and m/s].
    begin, begin_rate: the same when a run begins, as expressions of parameters.
    power: the entry of the ledger by which it is supplied.
    """

    name: str
    input: Input
    angle: ca.SX
    rate: ca.SX
    begin: ca.SX
    begin_rate: ca.SX
    power: str

    def motor(self) -> Input:
        """What the motor gives, where more than it acts along the angle: NAME_motor_torque."""
        source = self.input
        ending = next((e for e in INPUT_ENDINGS if source.name.endswith(e)), "input")
        return Input(
            f"{self.name}_motor_{ending}",
            source.value,
            source.unit,
            source.bounds,
            "of the motor alone",
            limits=source.limits,
        )

    @property
    def unit(self) -> str:
        """The unit of the angle."""
        return "m" if self.input.unit == "N" else "rad"

    @property
    def stiffness_unit(self) -> str:
        """The unit of a spring along the angle."""
        return "N/m" if self.unit == "m" else "N m/rad"

    @property
    def damping_unit(self) -> str:
        """The unit of a damper along the angle."""
        return "N s/m" if self.unit == "m" else "N m s/rad"


@checked
def drives(system: System, of: Sequence[str] | None = None) -> list[Drive]:
    """The drives of a system: all, or those named, by their own names or their inputs'."""
    named = {_name(q.name): q for q in system.u if not isinstance(q, Disturbance)}
    if of is None:
        return [_drive(system, name, q) for name, q in named.items()]
    by_name = {**named, **{q.name: q for q in named.values()}}
    for name in of:
        if name not in by_name:
            raise UnknownNameError(
                f"'{system.name}' has no drive '{name}': {did_you_mean(name, list(named))}"
            )
    return [_drive(system, _name(by_name[name].name), by_name[name]) for name in of]


def _name(label: str) -> str:
    """The name of the drive whose input has this name."""
    for ending in INPUT_ENDINGS:
        if label == ending:
            return DEFAULT_NAME
        if label.endswith(f"_{ending}"):
            return label.removesuffix(f"_{ending}")
    return label


def _drive(system: System, name: str, source: Input) -> Drive:
    """Power is input times rate, so the rate is what the power grows by; the angle is what has this rate."""
    where = f"input '{source.name}' of '{system.name}'"
    if source.size != 1:
        raise ModelError(f"{where} is a vector: a drive is one number, make one input for each")
    powers = [entry for entry, power in system.ledger.supplied.items() if ca.depends_on(power, source.sym)]
    if len(powers) != 1:
        raise ModelError(
            f"{where} supplies {len(powers)} powers of the ledger: a drive supplies one, its torque times "
            "the rate of its angle, by which the angle is known"
        )
    rate = ca.simplify(ca.jacobian(system.ledger.supplied[powers[0]], source.sym))
    x = ca.vertcat(*[q.sym for q in system.x])
    weights = ca.simplify(ca.jacobian(rate, x))
    others = ca.vertcat(x, *[q.sym for g in "zu" for q in getattr(system, g)])
    if ca.depends_on(weights, others) or not ca.is_equal(ca.simplify(rate - weights @ x), ca.SX(0), 2):
        raise ModelError(
            f"the rate along which {where} acts is no sum of states: a spring has no angle to act on"
        )
    angle, begin, begin_rate = ca.SX(0), ca.SX(0), ca.SX(0)
    position, labels = _positions(system), system.labels("x")
    first_values = ca.vertcat(*[sx(q.value) for q in system.x])
    for k in range(x.numel()):
        if weights[k].is_zero():
            continue
        if k not in position:
            raise ModelError(
                f"{where} acts along '{labels[k]}', which is the rate of no state: a spring has no angle to "
                f"act on"
            )
        at, first = position[k]
        angle, begin = angle + weights[k] * at, begin + weights[k] * first
        begin_rate = begin_rate + weights[k] * first_values[k]
    return Drive(name, source, angle, rate, begin, begin_rate, powers[0])


def _positions(system: System) -> dict[int, tuple[ca.SX, ca.SX]]:
    """By the place of a velocity among the states: what has it as its rate, and where that begins."""
    places = {s.element_hash(): k for k, s in enumerate(ca.vertsplit(ca.vertcat(*[q.sym for q in system.x])))}
    positions: dict[int, tuple[ca.SX, ca.SX]] = {}
    for q in system.x:
        rates, values = ca.vertsplit(ca.vec(sx(system.flow[q.name]))), sx(q.value)
        for i, rate in enumerate(rates):
            if rate.is_symbolic() and rate.element_hash() in places:
                positions[places[rate.element_hash()]] = (q.sym[i], values[i])
    return positions


def common_name(names: Sequence[str]) -> str:
    """The words that the names of drives of one joint have in common: 'hip' of 'stance_hip' and 'swing_hip',
    'leg_roll' of 'leg_l_roll' and 'leg_r_roll'; all names where there are none."""
    words = [name.split("_") for name in names]
    if len({len(each) for each in words}) > 1:
        return "_".join(names)
    return "_".join(column[0] for column in zip(*words, strict=True) if len(set(column)) == 1) or "_".join(
        names
    )


__all__ = ["Drive", "common_name", "drives"]
