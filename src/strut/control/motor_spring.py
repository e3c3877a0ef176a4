"""`through_springs`: a controller that asks for joint torques commands motors which turn the joints through
springs (series elastic actuators)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import casadi as ca

from strut.actuator import DcMotor
from strut.checks import checked
from strut.control.constants import check_not_negative, check_positive
from strut.control.qp_controller import QpController
from strut.errors import UnknownNameError, did_you_mean
from strut.system import Expression, Packed, State, limit_to, sx


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class MotorSpring(Packed):
    """A motor and the spring between it and its joint, as the controller knows them.

    stiffness: of the spring [N m/rad]. inertia: of the motor behind its gear [kg m^2]. bandwidth: with
        which the motor goes to the angle that stretches the spring as much as it should be [rad/s]; above
        the machine's own motions, and well below one over the sampling period. damping_ratio: of that.
    motor_damping: of the motor behind its gear, which is compensated [N m s/rad].
    link_damping: of the joint itself, which the spring carries besides what is asked [N m s/rad].
    voltage_gain: [N m/V] of a motor driven by voltage, whose input is JOINT_voltage; without any, the input
        is JOINT_motor_torque.
    limit: of the command, in its unit; infinite for a motor that can do anything. A torque limit of the
        controller holds for what is asked of the spring, and the motor is asked for more, to turn its own
        inertia: so this one is not guessed.
    """

    stiffness: Expression
    inertia: Expression
    limit: Expression
    bandwidth: Expression = 150.0
    damping_ratio: Expression = 1.0
    motor_damping: Expression = 0.0
    link_damping: Expression = 0.0
    voltage_gain: Expression | None = None

    def __post_init__(self) -> None:
        for word in ("stiffness", "inertia", "bandwidth", "voltage_gain"):
            check_positive(f"{word} of a MotorSpring", getattr(self, word))
        check_positive("limit of a MotorSpring", self.limit, infinite=True)
        for word in ("damping_ratio", "motor_damping", "link_damping"):
            check_not_negative(f"{word} of a MotorSpring", getattr(self, word))

    @classmethod
    def of_motor(
        cls, motor: DcMotor, spring: float, *, link_damping: float = 0.0, bandwidth: float = 150.0
    ) -> MotorSpring:
        """The drive that `actuator.dc_motors(..., motor, spring=spring, link_damping=...)` puts at a
        joint; its limit is that of the motor's driver."""
        return cls(
            stiffness=motor.series_stiffness(spring),
            inertia=motor.inertia,
            bandwidth=bandwidth,
            motor_damping=motor.damping,
            link_damping=link_damping,
            voltage_gain=motor.voltage_gain,
            limit=motor.voltage_limit,
        )

    @property
    def input_name(self) -> str:
        """What the input of the motor is called behind the joint's name."""
        return "motor_torque" if self.voltage_gain is None else "voltage"

    def command(self, torque: ca.SX, joint: tuple[ca.SX, ca.SX], motor: tuple[ca.SX, ca.SX]) -> ca.SX:
        """What the motor is told so that the spring gives a torque; angle and rate of joint and motor."""
        speed, (angle, rate), (turned, turning) = sx(self.bandwidth), joint, motor
        torque = torque + sx(self.link_damping) * rate
        set_point = angle + torque / sx(self.stiffness)
        pull = speed**2 * (set_point - turned) + 2 * sx(self.damping_ratio) * speed * (rate - turning)
        effort = torque + sx(self.inertia) * pull + sx(self.motor_damping) * turning
        value = effort if self.voltage_gain is None else effort / sx(self.voltage_gain)
        return limit_to(value, self.limit)


@checked
def through_springs(controller: QpController, drives: Mapping[str, MotorSpring]) -> QpController:
    """The controller that commands motors behind springs, of machines made by `actuator.series` or
    `actuator.dc_motors`.

    drives: by joint. What the controller asked of JOINT_torque the spring should give: the motor's
    set-point is the joint's angle and the stretch, torque over stiffness. It senses JOINT_motor and
    JOINT_motor_rate, too. Commands of joints without a drive stay as they are. Limits of torques hold for
    what is asked of the springs; those of motors are `MotorSpring(limit=)`.
    """
    sensors = {each.name: each for each in controller.sensors}
    command = dict(controller.command)
    safe = dict(controller.safe)
    motors: list[State] = []
    for joint, drive in drives.items():
        name = f"{joint}_torque"
        if name not in command:
            known_joints = [each.removesuffix("_torque") for each in command]
            raise UnknownNameError(
                f"'{controller.name}' asks for no torque of '{joint}': {did_you_mean(joint, known_joints)}"
            )
        angle, rate = State(f"{joint}_motor", 0.0, "rad"), State(f"{joint}_motor_rate", 0.0, "rad/s")
        motors += [angle, rate]
        at = (sensors[joint].sym, sensors[f"{joint}_rate"].sym)
        turned = (angle.sym, rate.sym)
        place = f"{joint}_{drive.input_name}"
        command = {
            (place if key == name else key): drive.command(sx(value), at, turned) if key == name else value
            for key, value in command.items()
        }
        if name in safe:
            safe[place] = drive.command(sx(safe.pop(name)), at, turned)
    outputs = {f"{joint}_asked": controller.command[f"{joint}_torque"] for joint in drives}
    return replace(
        controller,
        sensors=(*controller.sensors, *motors),
        command=command,
        safe=safe,
        outputs={**controller.outputs, **outputs},
        p=(),
    )
