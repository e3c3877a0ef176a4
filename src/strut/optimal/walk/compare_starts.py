"""`compare_starts`: a design beside those that other starts of its search lead to. Optima are local: how many
starts agree says how much a design owes to where its search began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from strut.interrupts import reveal_interrupts
from strut.optimal.solver.guess import Guess, make_guess
from strut.optimal.solver.other_starts import solve_other_starts
from strut.optimal.solver.result import INTERRUPTED, Solution
from strut.optimal.solver.solve import solve
from strut.optimal.solver.starts import SAME_COST, Starts
from strut.optimal.solver.watch import SearchWatch
from strut.optimal.walk.design import Design
from strut.optimal.walk.torque_price import TorquePrice, torque_price

START_ITERATIONS = 150
"""Iterations of another start at most: the first solution took fewer in most searches, and who waits for
others should not wait much longer than for it."""
MAX_REPLAYED = 2
"""Cheaper starts that are refined and replayed at most, the cheapest first, until one is ok."""


def compare_starts(
    first: Design, guess: Any, starts: Starts, settings: Mapping[str, Any], watch: SearchWatch
) -> Design:
    """Return the best design of all starts, which says how many of them agree.

    first: of the first start. guess: what its search began from, None where that has other phases. settings:
    of `solve`. Others are shaken from the guess and from the solution in turn, run on all cores, and are
    solved on the mesh of the first one; one that is cheaper is refined and verified as the first was. A
    design that was improved after it was solved (stability) is not compared: others would not be improved.
    """
    if starts.count == 1 or first.limits.improves or first.result.is_interrupted:
        return first
    begins = [] if guess is None else [make_guess(first.result.problem, guess)]
    begins += [first.guess()] if first.result.success or not begins else []
    watch.tell("other starts", f"{starts.count - 1} of them")
    try:
        with reveal_interrupts():
            others = solve_other_starts(
                first.result,
                begins=[Guess(begin.phases, begin.parameters) for begin in begins],
                starts=starts,
                settings=_ipopt_settings(settings) | watch.solver_limit(),
                backend=settings.get("backend"),
                mesh=watch.mesh_of(first.result),
            )
            good = sorted([each for each in others if each.success], key=lambda each: each.cost)
            best = _verified_best(first, good, settings, watch)
    except KeyboardInterrupt:  # what there was before is whole
        return replace(first, result=replace(first.result, status=INTERRUPTED))
    result, size = best.result, best.result.cost_size
    unsolved = starts.count - 1 - len(good) + (not first.result.success)
    costs = [each.cost for each in good] + ([first.result.cost] if first.result.success else [])
    agreeing = sum(abs(cost - result.cost) <= SAME_COST * size for cost in costs)
    refused = sum(cost < result.cost - SAME_COST * size for cost in costs)
    counted = replace(
        result, starts=starts.count, agreeing=agreeing, unsolved=unsolved, refused_starts=refused
    )
    return best.with_counted_starts(counted)


def _ipopt_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of IPOPT for another start, of those of `solve`."""
    iterations = min(settings.get("iterations", START_ITERATIONS), START_ITERATIONS)
    return {"tol": settings.get("tolerance", 1e-9), "max_iter": iterations, **settings.get("options", {})}


def _verified_best(
    first: Design, good: list[Solution], settings: Mapping[str, Any], watch: SearchWatch
) -> Design:
    """Return the cheapest design that is ok, of the first one and of those that other solutions, the cheapest
    first, lead to; the first one where none is."""
    ceiling = first.result.cost - SAME_COST * first.result.cost_size
    cheaper = [each for each in good if not first.result.success or each.cost < ceiling]
    for each in cheaper[:MAX_REPLAYED]:
        watch.tell("a better start", f"cost {each.cost:.4g}")
        solution = solve(first.result.problem, each, **{**settings, "watch": watch.aside()})
        other = replace(first, result=solution)
        if isinstance(other.price, TorquePrice):
            price = torque_price(other.price.cost, other.price.value, other.parts(), other.weight)
            other = replace(other, price=price)
        is_better = not first.ok or solution.cost < ceiling
        if other.ok and is_better:
            return other
    return first


__all__ = ["compare_starts"]
