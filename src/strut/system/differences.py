"""`model_differences`: whether two systems are the same model, and if not, in what they differ."""

from __future__ import annotations

import casadi as ca

from strut.checks import checked
from strut.system.system import System
from strut.system.tape import record_tape


@checked
def model_differences(given: System, stored: System) -> list[str]:
    """Return in what two systems that have the same symbols differ, in words; values do not count, nor do
    parameters that no expression reads."""
    differences = []
    for group, word in (("x", "states"), ("z", "discrete states"), ("u", "inputs")):
        ours, theirs = given.labels(group), stored.labels(group)
        if sorted(ours) != sorted(theirs):  # the order of either is no difference
            differences.append(f"{word} {', '.join(ours) or 'none'} instead of {', '.join(theirs) or 'none'}")
    names = [[*(e.name for e in s.events), *(e.name for e in s.samples)] for s in (given, stored)]
    if names[0] != names[1]:
        differences.append(f"events {', '.join(names[0])} instead of {', '.join(names[1])}")
    if differences:
        return differences
    ours_by_part, theirs_by_part = _parts(given), _parts(stored)
    for part in dict.fromkeys([*ours_by_part, *theirs_by_part]):
        pair = [ours_by_part.get(part), theirs_by_part.get(part)]
        if pair[0] is None or pair[1] is None:
            differences.append(f"{part}: only {'the file' if pair[0] is None else 'the given system'} has it")
        elif not _same_expression(pair[0], pair[1]):
            differences.append(part)
    return differences


def _parts(system: System) -> dict[str, ca.SX]:
    """Return the expressions of how a system moves, by what they are."""
    parts = {f"the rate of '{q.name}'": system.flow[q.name] for q in system.x}
    for event in system.events:
        parts[f"the guard of '{event.name}'"] = event.guard
        parts[f"the condition of '{event.name}'"] = event.when
    for name, values in [
        *((e.name, e.reset) for e in system.events),
        *((s.name, s.set) for s in system.samples),
    ]:
        parts |= {f"what '{name}' makes of '{state}'": e for state, e in values.items()}
    for word, powers in (
        ("the stored energy", system.ledger.stored),
        ("the supplied power", system.ledger.supplied),
        ("the dissipated power", system.ledger.dissipated),
    ):
        parts |= {f"{word} '{name}'": e for name, e in powers.items()}
    return {part: ca.SX(e) for part, e in parts.items() if e is not None}


def _same_expression(a: ca.SX, b: ca.SX) -> bool:
    """Say whether two expressions are the same operations on the same symbols."""
    symbols = ca.symvar(ca.veccat(a, b))
    return record_tape(symbols, [a]).same(record_tape(symbols, [b]))


__all__ = ["model_differences"]
