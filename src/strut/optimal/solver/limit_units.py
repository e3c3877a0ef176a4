"""What a failed search names as violated or missed, in sentences with units."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from strut.optimal.problem import Problem, bounds_name
from strut.optimal.solver.result import Solution

NUMBER_PREFIXES = ("flow of ", "end of ", bounds_name(""))
"""What stands before the name of a state, input or parameter in the name of a number of the large problem."""


def unit_of(problem: Problem, name: str) -> str:
    """Return the unit of a number of the large problem by its name: of a requirement ('speed (end of step)'),
    of a state, input or parameter ('hip at step, node 3', 'flow of hip in step, interval 2', 'hip repeats'),
    or of a duration; empty of what has none."""
    system = problem.system
    if system.dimensionless:
        return ""
    for r in problem.requirements:
        if name == r.name or name.startswith(f"{r.name} ("):
            return r.unit
    if name.startswith("duration of "):
        return "s"
    for prefix in NUMBER_PREFIXES:
        name = name.removeprefix(prefix)
    for group in "xzup":
        units = [q.unit for q in getattr(system, group) for _ in range(q.size)]
        for label, unit in zip(system.labels(group), units, strict=True):
            if name == label or name.startswith(f"{label} "):
                return str(unit)
    return ""


def amount_text(problem: Problem, name: str, amount: float) -> str:
    """Return an amount with the unit of what is named."""
    return f"{amount:.3g} {unit_of(problem, name)}".strip()


def violations(solution: Solution) -> tuple[str, ...]:
    """Return what is violated most where a search ended, and by how much, with units; nothing of one that
    succeeded."""
    if solution.success:
        return ()
    return tuple(
        f"{row_words(name)} by {amount_text(solution.problem, name, amount)}"
        for name, amount in solution.worst.items()
    )


ROW_WORDS = (
    (re.compile(r"(?P<name>.+) repeats"), "{name} does not return to where the step began,"),
    (
        re.compile(r"(flow|end) of (?P<name>.+) in (?P<where>[^,]+, interval \d+.*)"),
        "{name} moves as the machine cannot ({where})",
    ),
    (
        re.compile(r"(?P<name>.+) at the end of (?P<where>[^,]+)"),
        "event '{name}', which ends {where}, does not come",
    ),
    (re.compile(r"(?P<name>.+) after (?P<where>.+)"), "{name} after '{where}' is not what that event makes,"),
)
"""Patterns of names of rows of the large problem, and what a user reads for them where they are violated."""


def row_words(name: str) -> str:
    """Return what is violated in words, of a row of the large problem by its name: 'hip repeats' is a
    condition that is not met. Requirements keep their names."""
    for pattern, words in ROW_WORDS:
        if match := pattern.fullmatch(name):
            return words.format(**match.groupdict())
    return name


def missed_requirements(solution: Solution, origins: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return what cannot be met near to where a search ended, each as what a motion of the machine misses,
    what it must be, and who asked it; nothing of one that was solved.

    origins: by name of a requirement, who asked it, in words.
    """
    texts = []
    for name, amount in solution.unmet.items():
        must = _bounds_text(solution.problem, name)
        missed = f"'{name}' is missed by {amount_text(solution.problem, name, amount)}"
        about = ": ".join(part for part in (must, (origins or {}).get(name, "")) if part)
        texts.append(f"{missed} ({about})" if about else missed)
    return tuple(texts)


def _bounds_text(problem: Problem, name: str) -> str:
    """Return what a requirement must be, with its unit; empty where it differs from place to place."""
    bounds = {(r.low, r.high) for r in problem.requirements if r.name == name}
    if len(bounds) != 1:
        return ""
    low, high = bounds.pop()
    unit = f" {unit_of(problem, name)}".rstrip()
    if low == high:
        return f"it must be {low:.4g}{unit}"
    if math.isinf(low):
        return f"it must be at most {high:.4g}{unit}"
    if math.isinf(high):
        return f"it must be at least {low:.4g}{unit}"
    return f"it must be {low:.4g} to {high:.4g}{unit}"


__all__ = ["amount_text", "missed_requirements", "row_words", "unit_of", "violations"]
