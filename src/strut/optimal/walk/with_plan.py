"""`machine`: the system that was found with its plan of inputs built in, again a `System`, which runs,
repeats and is exported.

Inputs follow the plan by a clock that every step sets to zero. Where one polynomial ends and the next begins
is an event, so that nothing is smoothed and derivatives through a step stay exact. A phase that ends with an
event which the inputs themselves bring about, as a foot that is let go, lasts until that comes: its last
polynomial goes on, and the event sets the clock to where the next phase begins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.optimal.nlp.scheme import lagrange
from strut.optimal.solver.result import Solution
from strut.optimal.walk.costs import without_weights
from strut.optimal.walk.plan_pieces import PieceTable, PlanQuantities, fill_up
from strut.optimal.walk.timed_phases import CLOCK, add_timed_jumps
from strut.system import Discrete, Param, State, System, join, release_disturbances, sx


@checked
def machine(result: Solution) -> System:
    """Return the system with the parameters and the inputs of a result; it begins where the plan does.

    The plan of a motion that repeats begins anew after the event that ends it; its numbers are parameters
    (`plan`, `plan_times`). Where left and right are exchanged after a step, every other step follows the
    mirror image of the plan.
    """
    whole = add_timed_jumps(_machine(result), result)
    return release_disturbances(whole)  # what comes from outside is an input again


def _machine(result: Solution) -> System:
    """See `machine`; disturbances are held."""
    system = begin_with_plan(result)
    if not result.problem.system.size("u"):
        return system
    pieces, holds = piece_table(result), held_pieces(result)
    plan = plan_quantities(system, pieces, holds)
    assert plan.clock is not None
    inputs = planned_inputs(system, plan, lagrange(result.how.degree))
    last = result.phases[-1].until
    # Left and right in turn: the landing of either foot ends a step.
    step_ends = step_end_events(system, last) if result.problem.repeats else (last,)
    mirrored = [Discrete("plan_mirrored", 0.0, description="1 in a step of the mirror image")][
        : len(step_ends) - 1
    ]
    turned = {q.name: 1 - q.sym for q in mirrored}
    if mirrored:
        inputs = mirror_inputs(system, inputs, mirrored[0].sym)
    # A motion may have several steps: the event that ends it is then counted.
    often = sum(m.until == last for m in result.phases)
    strikes = Discrete("plan_strikes", 0.0, description="of the event that ends the motion, so far")
    holder = System(
        "plan",
        x=(plan.clock,),
        flow={plan.clock: 1.0},
        z=(plan.piece, plan.begin, plan.end, plan.now, *([strikes] if often > 1 else []), *mirrored),
        p=(plan.values, plan.times, plan.used, *([plan.holds] if plan.holds is not None else [])),
        outputs={f"{name}_planned": e for name, e in inputs.items()},
        symmetry=turned,
    )
    whole = join(system.name, system, holder, connect=inputs, description=system.description).replace(
        scales=system.scales
    )
    turn = plan.next_piece_event(pieces.count)
    if plan.holds is not None:
        waited_for, next_phase = set(holds), plan.next_phase(pieces.count, ca.vertsplit(plan.holds.sym))
        whole = whole.replace(
            events=tuple(
                replace(e, reset={**{k: sx(v) for k, v in e.reset.items()}, **next_phase})
                if e.name in waited_for
                else e
                for e in whole.events
            )
        )
    if result.problem.repeats is None:
        return whole.replace(events=(*whole.events, turn))
    if not result.problem.repeats:  # the second half of it need not be the image of the first
        whole = whole.replace(symmetry={})
    anew = plan.first_piece(pieces.count) | turned
    if often > 1:
        is_last = strikes.sym >= often - 1.5
        unchanged = {q.name: q.sym for q in plan.states}
        anew = {name: ca.if_else(is_last, value, unchanged[name]) for name, value in anew.items()}
        anew[strikes.name] = ca.if_else(is_last, 0, strikes.sym + 1)
    events = [
        replace(e, reset={**{k: sx(v) for k, v in e.reset.items()}, **anew}) if e.name in step_ends else e
        for e in whole.events
    ]
    return whole.replace(events=(*events, turn))


def begin_with_plan(result: Solution) -> System:
    """Return the system of a result that begins in the state in which its plan does."""
    problem = result.problem
    z = dict(problem.phases[0].z if problem.branch is None else problem.branch.z0)
    x = dict(zip(problem.system.labels("x"), result.phases[0].x[0].tolist(), strict=True))
    return without_weights(result.system).using({**x, **z})


def begin_of(result: Solution) -> dict[str, Any]:
    """Return where the plan of a result begins: `x0` and `z0`, as `simulate` takes them."""
    of = result.problem
    return {"x0": result.x0, "z0": dict(of.phases[0].z if of.branch is None else of.branch.z0)}


def step_end_events(system: System, section: str | None) -> tuple[str | None, ...]:
    """Return the events that end a step: the section, and the landing of the opposite foot where inputs have
    images when left and right are exchanged."""
    foot = None if system.walk is None or section is None else system.walk.foot_of(section)
    has_images = any(q.name in system.symmetry for q in system.u)
    if system.walk is None or foot is None or not has_images:
        return (section,)
    return (section, *[f.lands for f in system.walk.feet if f.name == foot.opposite and f.lands][:1])


def held_pieces(result: Solution) -> dict[str, list[int]]:
    """Return the pieces of a plan that last until an event comes which the inputs bring about, by the name of
    that event: the last of its phase. Where steps are mirrored, the opposite foot has such an event, too."""
    system, holds, last = result.problem.system, dict[str, list[int]](), -1
    for m in result.phases[:-1]:
        last += len(m.w)
        if m.until is not None and ca.depends_on(sx(system.event(m.until).guard), system.vector("u")):
            holds.setdefault(m.until, []).append(last)
    feet = () if system.walk is None else system.walk.feet
    opposite = {f.lifts: g.lifts for f in feet for g in feet if f.opposite == g.name and f.lifts and g.lifts}
    if result.problem.repeats:
        holds |= {opposite[name]: at for name, at in holds.items() if name in opposite}
    return holds


def mirror_inputs(system: System, inputs: dict[str, ca.SX], mirrored: ca.SX) -> dict[str, ca.SX]:
    """Return inputs by name: as planned, or while `mirrored` is 1, as their images when left and right are
    exchanged."""
    symbols, planned = system.vector("u"), ca.vertcat(*[inputs[q.name] for q in system.u])
    images = {q.name: sx(system.symmetry.get(q.name, q.sym)) for q in system.u}
    return {
        name: ca.if_else(mirrored, ca.substitute(image, symbols, planned), inputs[name])
        for name, image in images.items()
    }


def piece_table(result: Solution) -> PieceTable:
    """Return the plan of a result as pieces."""
    values = np.concatenate([m.w.reshape(len(m.w), -1) for m in result.phases])
    times = np.concatenate([result.phases[0].t[:1], *[m.t[1:] for m in result.phases]])
    return fill_up(values, np.concatenate([[0.0], times[1:]]))


def plan_quantities(system: System, pieces: PieceTable, holds: dict[str, list[int]]) -> PlanQuantities:
    """Return the quantities that hold a plan, with its numbers as their values."""
    units = {q.unit for q in system.u}
    numbers = sorted({number for each in holds.values() for number in each})
    return PlanQuantities(
        holds=Param("plan_holds", np.array(numbers, dtype=float)) if numbers else None,
        used=Param("plan_pieces", pieces.used),
        values=Param("plan", pieces.values.reshape(-1)),
        times=Param("plan_times", pieces.times, "s"),
        piece=Discrete("piece", 0.0, description="of the plan"),
        clock=State(CLOCK, 0.0, "s", description="since the plan began"),
        begin=Discrete("piece_begin", 0.0, "s"),
        end=Discrete("piece_end", pieces.times[1], "s"),
        now=Discrete(
            "plan_now",
            pieces.values[0],
            units.pop() if len(units) == 1 else "",
            description="inputs at the places of the piece",
        ),
    )


def planned_inputs(system: System, plan: PlanQuantities, basis: np.ndarray) -> dict[str, ca.SX]:
    """Return the inputs of a system, by name, as the polynomials of the piece that the plan is in."""
    u = plan.signals(basis)
    return {name: u[place_of] for name, place_of in system.slices("u").items()}


__all__ = ["begin_of", "machine"]
