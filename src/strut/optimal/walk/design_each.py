"""`design_each`: the same search for several machines, such as one walker with one motor of a catalogue after
another, and which of them is the cheapest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strut.checks import checked
from strut.errors import StrutError, ValueRangeError
from strut.optimal.walk.costs import CostChoice
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_search import design
from strut.simulate import SavedResult
from strut.system import System
from strut.tabular import Tabular


@checked
@dataclass(frozen=True, eq=False)
class DesignsByName(SavedResult, Tabular):
    """Designs of several machines.

    designs: by the machine's name. failures: why a machine has none, by its name, as its search said.
    interrupted: by Ctrl-C; machines that are in neither were then not tried.
    """

    designs: Mapping[str, Design]
    failures: Mapping[str, str]
    interrupted: bool = False

    @property
    def ok(self) -> bool:
        """Whether every machine has a design that is believed."""
        return not self.interrupted and not self.failures and all(each.ok for each in self.designs.values())

    @property
    def system(self) -> System:
        """The first machine that has a design. Raises ValueRangeError where none has."""
        if not self.designs:
            raise ValueRangeError("no machine has a design, so there is none to save")
        return next(iter(self.designs.values())).system

    @property
    def best_or_none(self) -> str | None:
        """The name of the machine whose design costs least, of those that are ok; None where none is."""
        costs = {name: each.result.cost for name, each in self.designs.items() if each.ok}
        return min(costs, key=lambda name: costs[name]) if costs else None

    @property
    def best(self) -> str:
        """The name of the machine whose design costs least, of those that are ok. Raises ValueRangeError
        where none is."""
        best = self.best_or_none
        if best is None:
            verdicts = {name: each.verdict for name, each in self.designs.items()} | dict(self.failures)
            reasons = "; ".join(f"{name}: {reason}" for name, reason in verdicts.items())
            raise ValueRangeError(f"no machine has a design that is ok, so none is best: {reasons}")
        return best

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return of every machine its name, whether its design is ok, its cost, what was found, and the
        verdict; nan where there is no design."""
        names = [*self.designs, *self.failures]
        results = [self.designs.get(name) for name in names]
        free = dict.fromkeys(key for each in self.designs.values() for key in each.parameters)
        return {
            "machine": names,
            "ok": [each is not None and each.ok for each in results],
            "cost": [math.nan if each is None else each.result.cost for each in results],
            **{key: [math.nan if each is None else each.parameters[key] for each in results]
               for key in free},
            "verdict": [self.failures[name] if each is None else each.verdict
                        for name, each in zip(names, results, strict=True)],
        }  # fmt: skip

    def __repr__(self) -> str:
        good = sum(each.ok for each in self.designs.values())
        return f"<DesignsByName: {good} of {len(self.designs) + len(self.failures)} machines ok>"


@checked
def design_each(
    machines: Mapping[str, System],
    free: str | Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: CostChoice = "electrical",
    *,
    report: Callable[[str, Design | str], None] | None = None,
    **options: Any,
) -> DesignsByName:
    """Design several machines for the same task, one after another; return the designs by name.

    machines: by name: {name: actuator.dc_motors(walker, motor, ...) for name, motor in MOTORS.items()}.
    free, cost, options: as of `design`, the same for all. Costs of transport are per weight of each machine:
        the mass of a motor counts where the mechanism has it.
    report: called with the name of each machine that is done, and its design, or why there is none.

    Ctrl-C ends the search for one machine and keeps what was found of those before it. A machine whose search
    raises an error is one of `failures`, and others go on; where all do, the first error is raised: then it
    is the task that is wrong.
    """
    if not machines:
        raise ValueRangeError("there is no machine to design: give some, by name")
    designs, errors, interrupted = dict[str, Design](), dict[str, StrutError](), False
    for name, machine in machines.items():
        try:
            designs[name] = design(machine, free, cost, **options)
        except StrutError as error:
            errors[name] = error
        except KeyboardInterrupt:  # before a first motion of this machine
            interrupted = True
        else:
            interrupted = designs[name].result.is_interrupted
        if interrupted:
            break
        if report is not None:
            report(name, designs[name] if name in designs else str(errors[name]))
    if errors and not designs and not interrupted:
        raise next(iter(errors.values()))
    failures = {name: str(error) for name, error in errors.items()}
    return DesignsByName(designs, failures, interrupted)


__all__ = ["DesignsByName", "design_each"]
