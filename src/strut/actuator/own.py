"""A drive of one's own: a `System` that reads a joint's angle and rate and gives a torque, in the place of
each drive of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from strut.actuator.drives import Drive, drives
from strut.actuator.exchange import Places, after_event, after_mirroring
from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import Ledger, System, add_prefix, join, sx


@checked
def attach(
    system: System,
    drive: System,
    of: Sequence[str] | None = None,
    *,
    torque: str = "torque",
    angle: str = "angle",
    rate: str = "rate",
) -> System:
    """The system with a copy of `drive` at each of its drives. of: names of drives, else all.

    torque: the output of `drive` that turns the joint [N m]. angle, rate: its inputs that are the joint's
        [rad, rad/s]; a drive need not have both.

    Names of a copy begin with the drive's, HIP.current; its other inputs stay inputs. HIP_torque becomes an
    output. A drive that keeps an account of energy says what it stores, gets and dissipates; what it gives
    to the joint is worked out here and is in no book, because the joint has it. Of one without, the power of
    the torque is supplied from outside, as before.
    """
    if torque not in drive.outputs:
        raise UnknownNameError(
            f"the drive '{drive.name}' has no output '{torque}' to turn a joint with: "
            f"{did_you_mean(torque, list(drive.outputs))}; say torque=..."
        )
    inputs = {q.name for q in drive.u}
    reads = [name for name in (angle, rate) if name in inputs]
    chosen = drives(system, of)
    if not chosen:
        raise ModelError(f"'{system.name}' has no drives: there is nothing to put '{drive.name}' to")
    copies = [add_prefix(drive, d.name) for d in chosen]
    connect: dict[str, ca.SX] = {}
    for d, copy in zip(chosen, copies, strict=True):
        connect |= {f"{d.name}.{name}": d.angle if name == angle else d.rate for name in reads}
        connect[d.input.name] = sx(copy.outputs[f"{d.name}.{torque}"])
    described = f"{system.description}; driven by {drive.name}".removeprefix("; ")
    observables = {d.input.name: connect[d.input.name] for d in chosen}
    whole = join(system.name, system, *copies, connect=connect, outputs=observables, description=described)
    images = _exchange(drive, copies, chosen, after_mirroring(system, chosen)) if system.symmetry else {}
    events = list(whole.events)
    for k, event in enumerate(system.events):
        more = _exchange(drive, copies, chosen, after_event(system, chosen, event))
        if more:
            events[k] = replace(events[k], reset={**events[k].reset, **more})
    ledger, own = whole.ledger, drive.ledger
    if own.stored or own.supplied or own.dissipated:
        joint_powers = {d.power for d in chosen}
        supplied = {name: power for name, power in ledger.supplied.items() if name not in joint_powers}
        ledger = Ledger(ledger.stored, supplied, ledger.dissipated, electrical=ledger.electrical)
    return whole.replace(
        events=tuple(events),
        symmetry={**whole.symmetry, **images},
        ledger=ledger,
        output_units={**whole.output_units, **{d.input.name: d.input.unit for d in chosen}},
    )


def _exchange(
    drive: System, copies: Sequence[System], chosen: Sequence[Drive], places: Places
) -> dict[str, ca.SX]:
    """New values of the states of copies that change places. Raises ModelError where one takes the place of
    its negative: what that means for the states of a drive, only its author knows."""
    values: dict[str, ca.SX] = {}
    states = (*drive.x, *drive.z)
    for i, (j, sign) in enumerate(places):
        if (i, 1.0) == (j, sign) or not states:
            continue
        if sign < 0:
            raise ModelError(
                f"where legs change names drive '{chosen[i].name}' takes the place of '{chosen[j].name}', "
                f"counted the other way: what the states of '{drive.name}' are then is unknown; attach it to "
                f"drives that keep their sign"
            )
        for q in states:
            values[f"{chosen[i].name}.{q.name}"] = copies[j][f"{chosen[j].name}.{q.name}"]
    return values


__all__ = ["attach"]
