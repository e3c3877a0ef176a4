"""`search_priced`: the design for a cost of work alone, by way of a little squared torque beside it.

Work alone is searched for first, briefly. Where that leads to nothing, the search begins from least squared
torque and goes over ever lower prices on it beside the work (a homotopy). Every design on the way is made
accurate and verified, so that there is one whenever the time is over; each begins on the mesh and within the
guides of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from strut.interrupts import reveal_interrupts
from strut.optimal.solver.result import INTERRUPTED
from strut.optimal.walk.costs import CostChoice, add_weight_parameters
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.sharpen import MAX_DEFECT
from strut.optimal.walk.torque_price import (
    MAX_PRICE,
    PRICE_STAGES,
    PRICED_WITH,
    price_unit,
    priced_cost,
    torque_price,
)

ALONE_SHARE = 0.12
"""The part of the budget that a search for a cost of work alone has: one that needs more seldom ends."""
FIRST_PRICE_SHARE, PRICED_SHARE = 0.7, 0.5
"""The parts of the time left that a price on torque has until one leads to a design, and each that follows,
which begins near it."""

FindDesign = Callable[[DesignTask], Design]
"""Finds the design of a task."""


def search_priced(task: DesignTask, find: FindDesign) -> Design:
    """Return the design for a cost of work alone: directly, or with the lowest price on squared torque beside
    the work that leads to one. find: the design of a task for a given cost."""
    unit = price_unit(task.walker, task.reference)
    if unit is None:
        return find(task)
    alone = find(task.briefly(ALONE_SHARE))
    if alone.ok or alone.result.is_interrupted:
        return alone
    if alone.result.ok and task.settings["accuracy"] != MAX_DEFECT:
        return alone  # as accurate as was asked for, if not as a simulator would have it
    last = alone
    try:
        with reveal_interrupts():
            for priced in lower_prices(task, unit, find):
                last = priced
    except KeyboardInterrupt:  # what there was before is whole
        return replace(last, result=replace(last.result, status=INTERRUPTED))
    return last


def lower_prices(task: DesignTask, unit: float, find: FindDesign) -> Iterator[Design]:
    """Yield designs for a cost of work with ever lower prices on squared torque, at last none, each begun
    from the last, as long as they are ok and need work; where none is ok, the last one that was solved. unit:
    of the prices.
    Raises `KeyboardInterrupt` where a search was interrupted."""
    cost, watch = str(task.cost), task.watch
    watch.tell("of least squared torque, to begin from")
    best = find(task.to_begin_from(PRICED_WITH[cost], watch.until_part(PRICED_SHARE)))
    stages, is_first = [*PRICE_STAGES, 0.0], True
    while stages and best.result.success and watch.may_go_on:
        stage = stages[0]
        watch.tell(f"{cost} with a price on squared torque", f"{stage:g} for weight by step length")
        both: CostChoice = priced_cost(cost, stage * unit) if stage else cost
        share = FIRST_PRICE_SHARE if is_first else PRICED_SHARE
        trial = find(_nearer_task(task, both, best, share))
        if trial.result.is_interrupted:
            raise KeyboardInterrupt
        if trial.ok:
            best, is_first, stages = trial, False, stages[1:]
            price = torque_price(cost, stage * unit, best.parts(), best.weight) if stage else None
            yield replace(best, price=price)
            if price is not None and price.is_free_of_work:
                break  # there is nothing left to be made smaller
        elif is_first and stage < MAX_PRICE and watch.may_go_on:
            stages.insert(0, 10 * stage)  # too far from squared torque alone: nearer to it first
        else:
            if is_first and trial.result.success:  # not ok, and nearer to it than work alone
                price = torque_price(cost, stage * unit, trial.parts(), trial.weight)
                yield replace(trial, price=price)
            break
    if best.result.is_interrupted:
        raise KeyboardInterrupt


def _nearer_task(task: DesignTask, cost: CostChoice, best: Design, share: float) -> DesignTask:
    """Return the task of another cost that begins from a design, on its mesh and within its guides. share:
    the part of the time left that it has."""
    briefly = task.briefly(share)
    settings = dict(briefly.settings)
    if best.result.accuracy is not None:
        settings["intervals"] = tuple(len(m.t) - 1 for m in best.result.phases)
    return replace(
        briefly,
        walker=add_weight_parameters(task.walker, cost),
        cost=cost,
        reference=replace(task.reference, guess=best.guess()),
        settings=settings,
        watch=task.watch.until_part(share),
        guides=best.limits.guides,
    )


__all__ = ["lower_prices", "search_priced"]
