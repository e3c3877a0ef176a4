"""Servos: PD and PID control of joints, which give a torque or a voltage; continuous, or sampled as a
computer does it, through an encoder.

    command = kp (reference - angle) + ki integral of (reference - angle) + kd (reference_rate - rate)

with a reference rate of zero unless it is to be followed, as Dallali et al. control COMAN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from strut.actuator import drives
from strut.actuator.drives import DEFAULT_NAME
from strut.checks import checked, finite, is_number, short_repr
from strut.control.reference import ReferenceSignal
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import (
    Delay,
    Discrete,
    Expression,
    Input,
    Param,
    Sample,
    State,
    System,
    join,
    limit_to,
    nearest_step,
    sx,
)
from strut.units import LIMIT_FLAG

COMMAND_ENDINGS = ("voltage", "torque", "force")
"""What the name of an input that a servo drives may end with."""
SIDES = ("link", "motor")
"""Which angle a servo reads: the joint's, or its motor's before the spring."""

Gain = float | Mapping[str, float]


@checked
def servo(  # noqa: PLR0913 -- options of a public function, by keyword
    system: System,
    references: Mapping[str, ReferenceSignal | Expression],
    *,
    kp: Gain,
    kd: Gain = 0.0,
    ki: Gain = 0.0,
    limit: float = math.inf,
    side: str = "link",
    follow_rate: bool = False,
    every: float | None = None,
    resolution: float = 0.0,
    delay: float = 0.0,
    angles: Mapping[str, tuple[Expression, Expression]] | None = None,
) -> System:
    """The system with servos on some of its inputs, each following a reference.

    references: by drive, HIP or HIP_voltage: a `ReferenceSignal`, or an angle to hold [rad].
    kp, kd, ki: gains, per rad, rad/s and rad s of what the input takes; a number for all, or one by drive.
    limit: of the command, in the unit of the input; the integral waits while it decides (anti-windup).
    side: 'link' reads the joint's angle, HIP and HIP_rate; 'motor' HIP_motor and HIP_motor_rate.
    follow_rate: kd acts on the difference from the reference's rate, not on the rate.
    every: sampled, so many seconds apart, and held in between (zero-order hold) [s]; continuous without it.
    resolution: of the encoder [rad]. A sampled servo then takes the rate from differences of what it reads.
    delay: by which all that it reads is late [s]; before, it reads where the system itself begins.
    angles: angle and rate of a drive, as expressions, where they are no states of these names.

    HIP_voltage becomes an output. Gains are parameters HIP_kp, HIP_kd, HIP_ki; the integral is a state (or,
    sampled, a discrete one) HIP_integral; sampled commands are HIP_command. HIP_reference and HIP_error are
    outputs; with a limit HIP_servo_at_limit, too, 1 while it decides.
    """
    options = _Options(limit, side, follow_rate, every, resolution, delay)
    options.check()
    loops = []
    for label, reference in references.items():
        target = _input_named(system, label)
        name = _drive_name(target)
        angle, rate = _angle_of(system, target, name, side, angles or {})
        followed = reference if isinstance(reference, ReferenceSignal) else ReferenceSignal(sx(reference))
        gain_values = {"kp": kp, "kd": kd} | ({} if is_number(ki) and ki == 0 else {"ki": ki})
        gains = {key: _gain(key, gain, label, name) for key, gain in gain_values.items()}
        loop = _Loop(name, target, followed, gains=gains, angle=angle, rate=rate, options=options)
        loop.check_exchanges(system)
        loops.append(loop)
    if not loops:
        raise ModelError(f"no servo is asked for on '{system.name}': give references, {{'knee': 0.3}}")
    return _join_loops(system, loops)


@dataclass(frozen=True)
class _Options:
    """How servos work; see `servo`."""

    limit: float
    side: str
    follow_rate: bool
    every: float | None
    resolution: float
    delay: float

    def check(self) -> None:
        """Raise what is wrong."""
        if self.side not in SIDES:
            names = " and ".join(repr(word) for word in SIDES)
            raise ValueRangeError(f"side of a servo is {self.side!r}: allowed are {names}")
        for word, value in (("limit", self.limit), ("every", self.every)):
            if value is not None and (not is_number(value) or not value > 0):
                raise ValueRangeError(
                    f"{word} of a servo is {short_repr(value)}: a positive number is needed"
                )
        for word, value in (("resolution", self.resolution), ("delay", self.delay)):
            if not is_number(value) or not 0 <= value < math.inf:
                raise ValueRangeError(
                    f"{word} of a servo is {short_repr(value)}: zero or a positive number is needed"
                )
        if self.every is None and self.resolution > 0:
            raise ValueRangeError(
                f"the encoder of a servo resolves {self.resolution:g} rad, and the servo is continuous: what "
                f"it reads would jump at every tick; say how often it reads, every=0.001"
            )


class _Loop:
    """One servo: what it reads, its memory, and what it commands."""

    def __init__(
        self,
        name: str,
        target: Input,
        reference: ReferenceSignal,
        *,
        gains: Mapping[str, Param],
        angle: ca.SX,
        rate: ca.SX,
        options: _Options,
    ) -> None:
        self.name, self.target, self.reference, self.options = name, target, reference, options
        self.angle, self.gains, self.delays = angle, gains, dict[Delay, ca.SX]()
        self.first_reading: tuple[Discrete, ca.SX] | None = None
        seen, seen_rate = self._late_signal("angle", angle), self._late_signal("rate", rate)
        self.states: dict[State, ca.SX] = {}
        self.discrete: dict[Discrete, ca.SX] = {}  # with what the sample sets them to
        step = options.every
        if options.resolution > 0:
            seen = nearest_step(seen, options.resolution)
            assert step is not None
            before = Discrete(f"{name}_seen", 0.0, "rad", description="what the encoder read last")
            self.discrete[before] = seen
            self.first_reading = (before, nearest_step(angle, options.resolution))
            seen_rate = (seen - before.sym) / step
        error = reference.value - seen
        wanted_rate = reference.rate if options.follow_rate else ca.SX(0)
        command = gains["kp"].sym * error + gains["kd"].sym * (wanted_rate - seen_rate)
        if "ki" in gains:
            command = self._with_integral(command, error)
        limited = limit_to(command, options.limit) if math.isfinite(options.limit) else command
        if step is not None:
            command_state = Discrete(f"{name}_command", 0.0, target.unit, description="of the servo, held")
            self.discrete[command_state] = limited
            limited = command_state.sym
        self.command = limited
        self.outputs = {f"{name}_reference": reference.value, f"{name}_error": reference.value - angle}
        self.limit_flags = (
            {f"{name}_servo_at_limit": ca.fabs(limited) >= options.limit}
            if math.isfinite(options.limit)
            else {}
        )

    def _late_signal(self, word: str, signal: ca.SX) -> ca.SX:
        """A signal as the servo reads it."""
        if self.options.delay == 0:
            return signal
        late = Delay(f"{self.name}_late_{word}", 0.0, signal=0.0, by=self.options.delay)
        self.delays[late] = signal
        return late.sym

    def _with_integral(self, command: ca.SX, error: ca.SX) -> ca.SX:
        """The command with its integral part, which waits while the limit decides (anti-windup by conditional
        integration)."""
        label, unit, every = f"{self.name}_integral", "rad s", self.options.every
        memory: State | Discrete = State(label, 0.0, unit) if every is None else Discrete(label, 0.0, unit)
        total = command + self.gains["ki"].sym * memory.sym
        waits = ca.SX(0)
        if math.isfinite(self.options.limit):
            waits = ca.logic_and(ca.fabs(total) >= self.options.limit, total * error > 0)
        growth = ca.if_else(waits, 0, error)
        if isinstance(memory, State):
            self.states[memory] = growth
        else:
            assert every is not None
            self.discrete[memory] = memory.sym + every * growth
        return total

    def check_exchanges(self, system: System) -> None:
        """Raise ModelError where an event gives the angle another drive's value, and the servo remembers."""
        if not (self.states or self.discrete or self.delays):
            return
        for event in system.events:
            changed = ca.vertcat(*[q.sym for q in system.x if q.name in event.reset], ca.SX(0, 1))
            if ca.depends_on(self.angle, changed):
                raise ModelError(
                    f"event '{event.name}' of '{system.name}' gives the angle of '{self.name}' a new value, "
                    f"and what its servo remembers of the old one is wrong then: use a continuous one "
                    f"without ki and delay there"
                )


def _join_loops(system: System, loops: list[_Loop]) -> System:
    """The system with servos in the place of their inputs."""
    discrete = {q: e for loop in loops for q, e in loop.discrete.items()}
    states = {q: e for loop in loops for q, e in loop.states.items()}
    delays = {q: e for loop in loops for q, e in loop.delays.items()}
    params = [q for loop in loops for q in (*loop.gains.values(), *loop.reference.params)]
    own = {q.name for q in system.p}
    part = System(
        "servos",
        x=tuple(states),
        z=tuple(discrete),
        p=tuple(dict.fromkeys(q for q in params if q.name not in own)),
        delays=tuple(delays),
        flow=dict.fromkeys(states, 0.0),
    )
    commands = {loop.target.name: loop.command for loop in loops}
    outputs = {name: e for loop in loops for name, e in loop.outputs.items()}
    flags = {name: e for loop in loops for name, e in loop.limit_flags.items()}
    whole = join(
        system.name,
        system,
        part,
        connect=commands,
        couplings={q.name: e for q, e in states.items()},
        outputs={**commands, **outputs, **flags},
        description=f"{system.description}; with servos".removeprefix("; "),
    )
    units = {loop.target.name: loop.target.unit for loop in loops}
    units |= dict.fromkeys(outputs, "rad") | dict.fromkeys(flags, LIMIT_FLAG)
    signals = {q.name: q.copy_with(signal=e, before=_first_value(system, e)) for q, e in delays.items()}
    readings = [loop.first_reading for loop in loops if loop.first_reading is not None]
    first = {q.name: q.copy_with(value=e) for q, e in readings}
    samples = list(whole.samples)
    every = loops[0].options.every
    if every is not None:
        setting = {q.name: e for q, e in discrete.items()}
        label = f"{loops[0].name}_servo" if len(loops) == 1 else f"{loops[0].name}_and_other_servos"
        samples.append(Sample(label, every=every, set=setting, description="servos read, and command"))
    return whole.replace(
        delays=tuple(signals.get(q.name, q) for q in whole.delays),
        z=tuple(first.get(q.name, q) for q in whole.z),
        samples=tuple(samples),
        output_units={**whole.output_units, **units},
    )


def _first_value(system: System, expression: ca.SX) -> ca.SX:
    """What an expression of states is where a run of the system begins, as an expression of parameters."""
    states = [q.sym for q in system.x]
    return ca.substitute([expression], states, [sx(q.value) for q in system.x])[0] if states else expression


def _input_named(system: System, label: str) -> Input:
    """The input of a drive, by its own name or the drive's."""
    inputs = {q.name: q for q in system.u}
    bare = COMMAND_ENDINGS if label == DEFAULT_NAME else ()
    for name in (label, *[f"{label}_{ending}" for ending in COMMAND_ENDINGS], *bare):
        if name in inputs:
            return inputs[name]
    raise UnknownNameError(
        f"'{system.name}' has no input '{label}', nor one of a drive of this name: "
        f"{did_you_mean(label, list(inputs))}"
    )


def _drive_name(target: Input) -> str:
    """The name of the drive that an input belongs to."""
    if target.name in COMMAND_ENDINGS:
        return DEFAULT_NAME
    for ending in COMMAND_ENDINGS:
        if target.name.endswith(f"_{ending}"):
            return target.name.removesuffix(f"_{ending}")
    return target.name


def _angle_of(
    system: System,
    target: Input,
    name: str,
    side: str,
    angles: Mapping[str, tuple[Expression, Expression]],
) -> tuple[ca.SX, ca.SX]:
    """The angle and rate that a servo reads; raises ModelError where it is not clear which they are."""
    if name in angles or target.name in angles:
        angle, rate = angles[name if name in angles else target.name]
        return sx(angle), sx(rate)
    states = {q.name: q.sym for q in system.x if q.size == 1}
    base = f"{name}_motor" if side == "motor" else name
    if base in states and f"{base}_rate" in states:
        return states[base], states[f"{base}_rate"]
    if side == "link" and any(ca.depends_on(e, target.sym) for e in system.ledger.supplied.values()):
        try:
            drive = drives(system, [target.name])[0]
        except ModelError:  # of a voltage the account does not tell the angle
            pass
        else:
            return drive.angle, drive.rate
    raise ModelError(
        f"a servo on '{target.name}' of '{system.name}' reads '{base}' and '{base}_rate', which are no "
        f"states: say what it reads, angles={{'{name}': (angle, rate)}}"
    )


def _gain(key: str, gain: Gain, label: str, name: str) -> Param:
    """A gain as a parameter of its servo."""
    if isinstance(gain, Mapping):
        if label not in gain:
            raise UnknownNameError(f"{key} has no entry for '{label}': {did_you_mean(label, list(gain))}")
        gain = gain[label]
    value = finite(f"{key} of '{label}'", gain)
    if value < 0:
        raise ValueRangeError(
            f"{key} of '{label}' is {value:g}: a servo with a negative gain drives away from its reference; "
            f"give zero or a positive one"
        )
    return Param(f"{name}_{key}", value, bounds=(0.0, math.inf), description=f"{key} of the servo")


__all__ = ["servo"]
