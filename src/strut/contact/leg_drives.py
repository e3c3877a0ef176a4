"""Drives between the angles of a walker that steps (`Between`): their parameters, forces and energies."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.contact.legs import Between
from strut.errors import UnknownNameError, did_you_mean
from strut.mechanism.assemble import Assembly
from strut.mechanism.parameters import ParameterSet
from strut.system import Input, sx


def add_drive_parameters(params: ParameterSet, drives: Sequence[Between]) -> None:
    """Collect the parameters of drives, which must be numbers or expressions of parameters."""
    for drive in drives:
        params.add_number(drive.spring, f"the spring of drive '{drive.name}'")
        params.add_number(drive.damping, f"the damping of drive '{drive.name}'", low=0.0)
        params.add_number(drive.rest, f"the rest of drive '{drive.name}'")
        for angle, weight in drive.weights.items():
            params.add_number(weight, f"the weight of '{angle}' in drive '{drive.name}'")


def add_drives(
    assembly: Assembly, drives: Sequence[Between]
) -> tuple[ca.SX, dict[str, dict[str, ca.SX]], list[Input]]:
    """Return the generalised forces of a machine [N, N m] with those of its drives, its energy account with
    theirs, and all inputs."""
    tree = assembly.tree
    tau = assembly.tau
    entries: dict[str, dict[str, ca.SX]] = {group: dict(book) for group, book in assembly.entries.items()}
    inputs: list[Input] = [*assembly.inputs.values(), *assembly.pushes.inputs]
    for drive in drives:
        row = ca.SX.zeros(tree.nv)
        for name, weight in drive.weights.items():
            if name not in tree.v_of:
                raise UnknownNameError(
                    f"drive '{drive.name}' acts on '{name}': {did_you_mean(name, list(tree.v_of))}"
                )
            row[tree.v_of[name].start] = weight
        k, d = sx(drive.spring), sx(drive.damping)
        angle, rate = ca.dot(row, tree.q) - sx(drive.rest), ca.dot(row, tree.v)
        tau = tau - row * (k * angle + d * rate)
        if drive.driven:
            source = Input(f"{drive.name}_torque", 0.0, "N m", description=f"of the motor '{drive.name}'")
            inputs.append(source)
            tau = tau + row * source.sym
            entries["supplied"][source.name] = source.sym * rate
        if not k.is_zero():
            entries["stored"][f"{drive.name}_spring"] = k * angle**2 / 2
        if not d.is_zero():
            entries["dissipated"][f"{drive.name}_damper"] = d * rate**2
    return tau, entries, inputs


__all__ = ["add_drive_parameters", "add_drives"]
