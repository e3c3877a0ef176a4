"""A mechanism as the text of a model file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import constraints
from strut.mechanism.io.machine_tables import table_blocks
from strut.mechanism.joint import Joint, JointArgument
from strut.mechanism.joints import KINDS, neutral
from strut.mechanism.looks.shape_types import Colour, Shape
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, Connection, Constraint, ConstraintArgument
from strut.mechanism.spatial import AXES, axis_of, rotation_of_rpy, rpy_of_rotation
from strut.system import Param, number_text, sx, time, write_expression

ROTATION_ROUNDING = 1e-15
"""[1] by which the entries of a rotation may differ from those that its written angles give."""
AXES_OF_JOINTS = (JointArgument.ROTATION_AXIS, JointArgument.DIRECTION)
"""What of a joint is written as an axis, "y" or three numbers."""


@checked
def dump(mechanism: Mechanism) -> str:
    """The mechanism as the text of a model file. Parameters stay parameters and expressions stay expressions;
    both sides of a mirrored one are written out. What a file said of ground, drives, servos, sensors and
    watchers is written as it was read. Joints and constraints of your own cannot be written and are
    refused."""
    return _Writer(mechanism).text()


class _Writer:
    """Writes a mechanism, block by block; each block is a list of lines."""

    def __init__(self, m: Mechanism) -> None:
        self.m = m
        if m.forces:
            raise ModelError(
                f"mechanism '{m.name}' has the force '{next(iter(m.forces))}', which a model file cannot say"
            )
        self.arguments = {c.name: c.arguments for c in m.constraints.values()}
        parameters = m.parameter_set()
        for arguments in self.arguments.values():
            parameters.add(
                *[arguments[key] for key in ("ratio", "offset", "radius", "motion") if key in arguments]
            )
        self.params: dict[str, Param] = {}
        for param in parameters:
            if param.name in self.params:
                raise ModelError(
                    f"two parameters of mechanism '{m.name}' are called '{param.name}': a file has room for "
                    f"one of each name"
                )
            self.params[param.name] = param
        self.names = {name: param.sym for name, param in self.params.items()}

    def text(self) -> str:
        """The whole file."""
        m = self.m
        blocks = [
            [
                f"name = {_quote(m.name)}",
                *(["planar = true"] if m.planar else []),
                *([f"pushes = {json.dumps(list(m.pushes))}"] if m.pushes else []),
                f"gravity = {self.value(m.gravity)}",
            ]
        ]
        blocks += [self.param(param) for param in self.params.values()]
        blocks += [
            block
            for body in m.bodies.values()
            if body is not m.world or m.shapes.get("world")
            for block in self.body(body)
        ]
        blocks += [self.joint(c) for c in m.connections.values()]
        for frame in m.frames.values():
            lines = [
                f"body = {_quote(frame.body.name)}",
                f"at = {self.value(frame.X_BF.p)}",
                *self.rotation(frame.X_BF.R),
            ]
            blocks.append([_head("frames", frame.name), *lines])
        blocks += [self.constraint(c) for c in m.constraints.values()]
        blocks += table_blocks(m.machine_tables)
        return "\n\n".join("\n".join(block) for block in blocks) + "\n"

    def param(self, param: Param) -> list[str]:
        """The table of a parameter."""
        value = np.asarray(param.value)
        lines = [
            _head("parameters", param.name),
            f"value = {_number(value[0]) if param.size == 1 else _list(_number(v) for v in value)}",
        ]
        lines += [f"unit = {_quote(param.unit)}"] if param.unit else []
        lines += (
            [f"bounds = {_list(_number(b) for b in param.bounds)}"]
            if np.any(np.isfinite(param.bounds))
            else []
        )
        return lines + ([f"description = {_quote(param.description)}"] if param.description else [])

    def body(self, body: Body) -> list[list[str]]:
        """The table of a body, and those of its shapes."""
        lines = [_head("bodies", body.name)]
        lines += [] if body.mass.is_zero() else [f"mass = {self.value(body.mass)}"]
        lines += [] if body.com.is_zero() else [f"com = {self.value(body.com)}"]
        I = body.about_com  # noqa: E741 the inertia, as in the books
        entries = [I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
        if not all(e.is_zero() for e in entries):
            only = self.m.planar and all(e.is_zero() for k, e in enumerate(entries) if k != 3)
            diagonal = all(entries[k].is_zero() for k in (1, 2, 4))
            moments = (
                entries[3]
                if only
                else ca.vertcat(*([entries[k] for k in (0, 3, 5)] if diagonal else entries))
            )
            lines.append(f"inertia = {self.value(moments)}")
        looks = [self.shape(body.name, shape) for shape in self.m.shapes.get(body.name, [])]
        return [lines, *looks]

    def shape(self, body: str, shape: Shape) -> list[str]:
        """The table of a shape."""
        lines = [f"[[{_head('bodies', body)[1:-1]}.shapes]]", f'kind = "{type(shape).__name__.lower()}"']
        for f in fields(shape):
            value = getattr(shape, f.name)
            if f.name == "rotation":
                lines += self.rotation(value)
            elif f.name == "colour":
                lines += [] if value is None else [f"colour = {_colour(value)}"]
            else:
                lines.append(f"{f.name} = {_quote(value) if isinstance(value, str) else self.value(value)}")
        return lines

    def joint(self, c: Connection) -> list[str]:
        """The table of a joint."""
        joint = c.joint
        mirrored = joint.kind.startswith("mirrored ")
        lines = [_head("joints", c.name), *self.motion(joint.arguments["of"] if mirrored else joint, c.name)]
        lines += ["mirrored = true"] if mirrored else []
        lines += [f"parent = {_quote(c.parent.name)}", f"child = {_quote(c.child.name)}"]
        lines += [] if c.X_PJ.p.is_zero() else [f"at = {self.value(c.X_PJ.p)}"]
        lines += self.rotation(c.X_PJ.R)
        for key, value in (
            ("spring", c.spring),
            ("rest", c.rest),
            ("damping", c.damping),
            ("armature", c.armature),
        ):
            if value is not None and not (key == "rest" and value.is_zero()):
                lines.append(f"{key} = {self.value(value)}")
        if c.stop is not None:
            entries = [
                f"{key} = {self.value(getattr(c.stop, key))}"
                for key in ("low", "high", "stiffness", "damping")
            ]
            lines.append(f"stop = {{ {', '.join(entries)} }}")
        for key, pairs in (("limits", self.m.limits), ("effort", self.m.efforts)):
            if c.name in pairs:
                lines.append(f"{key} = [{', '.join(repr(float(end)) for end in pairs[c.name])}]")
        lines += [] if c.actuated or joint.gear else ["actuated = false"]
        start, rate = sx(list(c.initial)), sx(list(c.initial_rate))
        if joint.nq and not (start - ca.SX(neutral(joint))).is_zero():
            lines.append(f"initial = {self.value(start)}")
        return lines + ([f"rate = {self.value(rate)}"] if joint.nv and not rate.is_zero() else [])

    def motion(self, joint: Joint, name: str) -> list[str]:
        """The keys of a joint's type."""
        if joint.gear:
            leader, ratio, offset = joint.gear
            inner = ", ".join(self.motion(joint.arguments["of"], name))
            return [
                'type = "gear"',
                f"leader = {_quote(leader)}",
                f"ratio = {self.value(ratio)}",
                f"offset = {self.value(offset)}",
                f"of = {{ {inner} }}",
            ]
        if joint.kind not in KINDS:
            raise ModelError(f"joint '{name}' is {joint.kind}, which a model file cannot say")
        lines = []
        for key, value in joint.arguments.items():
            role = KINDS[joint.kind].arguments[key]
            if role is JointArgument.WORD:
                text = _quote(value)
            else:
                text = _axis(value) if role in AXES_OF_JOINTS else self.value(value)
            lines.append(f"{key} = {text}")
        return [f'type = "{joint.kind}"', *lines]

    def constraint(self, c: Constraint) -> list[str]:
        """The table of a constraint."""
        if c.kind not in constraints.KINDS:
            raise ModelError(f"constraint '{c.name}' is one of your own, which a model file cannot say")
        lines = [_head("constraints", c.name), f'type = "{c.kind}"']
        for key, value in c.arguments.items():
            role = constraints.KINDS[c.kind].arguments[key]
            if role is ConstraintArgument.AXIS:
                lines.append(f"{key} = {_axis(axis_of(value))}")
            elif role is ConstraintArgument.MOTION:
                lines.append(f"{key} = {self.value(value, {'t': time})}")
            else:
                lines.append(f"{key} = {_quote(value) if isinstance(value, str) else self.value(value)}")
        return lines

    def rotation(self, R: Any) -> list[str]:
        """Roll, pitch and yaw where they say it to rounding, else the matrix."""
        if (ca.SX(R) - ca.SX.eye(3)).is_zero():
            return []
        if ca.SX(R).is_constant():
            numbers = np.array(ca.DM(R))
            for digits in (6, 12, 14, 17):  # the shortest that says it
                rpy = np.round(rpy_of_rotation(numbers), digits)
                if np.abs(np.array(ca.DM(rotation_of_rpy(list(rpy)))) - numbers).max() < ROTATION_ROUNDING:
                    return [f"rotation = {_list(_number(v) for v in rpy)}"]
        return [f"rotation = {_list(self.value(R[k, :].T) for k in range(3))}"]

    def value(self, expression: Any, more: Mapping[str, ca.SX] | None = None) -> str:
        """A number or expression, or a list of them."""
        column = sx(expression)
        entries = [self._one(column[k], more or {}) for k in range(column.numel())]
        return entries[0] if len(entries) == 1 else _list(entries)

    def _one(self, expression: ca.SX, more: Mapping[str, ca.SX]) -> str:
        """One number, or one expression in quotes."""
        if expression.is_constant():
            return _number(float(ca.DM(expression)))
        return _quote(write_expression(expression, {**self.names, **more}))


def _head(kind: str, name: str) -> str:
    """The head of a table, [kind.name]."""
    return f"[{kind}.{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else _quote(name)}]"


def _quote(text: str) -> str:
    """A text in quotes, as TOML has it."""
    return json.dumps(text, ensure_ascii=False)


def _list(entries: Any) -> str:
    """A list of texts in brackets."""
    return f"[{', '.join(entries)}]"


def _colour(colour: Colour) -> str:
    """A colour as '#rrggbb' where that is exact, else as four numbers."""
    bytes_ = [round(255 * v) for v in colour]
    if any(b / 255 != v for b, v in zip(bytes_, colour, strict=True)):
        return _list(_number(v) for v in colour)
    return _quote("#" + "".join(f"{b:02x}" for b in (bytes_ if bytes_[3] != 255 else bytes_[:3])))


def _number(value: Any) -> str:
    """A finite number exactly, or an infinity as TOML has it."""
    return number_text(float(value)) if np.isfinite(value) else "inf" if value > 0 else "-inf"


def _axis(axis: ca.SX) -> str:
    """An axis as "x" or "-y" where it is one, else three numbers."""
    numbers = [float(v) for v in ca.vertsplit(ca.DM(axis))]
    for name, direction in AXES.items():
        for sign, sense in ((1, ""), (-1, "-")):
            if all(n == sign * d for n, d in zip(numbers, direction, strict=True)):
                return f'"{sense}{name}"'
    return _list(_number(v) for v in numbers)
