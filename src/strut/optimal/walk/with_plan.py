"""`machine`: the system that was found with its plan of inputs built in, again a `System`, which runs,
repeats and is exported.

Inputs follow the plan by a clock that every step sets to zero. Where one polynomial ends and the next begins
is an event, so that nothing is smoothed and derivatives through a step stay exact. A phase that ends with an
event which changes how the machine moves lasts until that comes: its last polynomial goes on, and the event
sets the clock to where the next phase begins. Were inputs to follow the time alone, those of one phase would
act in the next where an event comes earlier, be it by a rounding: a foot that they would lift is let go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.gait.exchange import opposite_events
from strut.optimal.nlp.scheme import lagrange
from strut.optimal.solver.result import Solution
from strut.optimal.walk.costs import without_weights
from strut.optimal.walk.plan_pieces import PieceTable, PlanQuantities, fill_up
from strut.optimal.walk.read_walk import changes_motion
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
    mirrored = [Discrete("plan_mirrored", 0.0, description="1 in a step of the mirror image", internal=True)][
        : len(step_ends) - 1
    ]
    if mirrored:
        inputs = mirror_inputs(system, inputs, mirrored[0].sym)
    holder = System(
        "plan",
        x=(plan.clock,),
        flow={plan.clock: 1.0},
        z=(plan.piece, plan.begin, plan.end, plan.now, *mirrored),
        p=(plan.values, plan.times, plan.used, *([plan.holds] if plan.holds is not None else [])),
        outputs={f"{name}_planned": e for name, e in inputs.items()},
        symmetry={q.name: 1 - q.sym for q in mirrored},
    )
    whole = join(system.name, system, holder, connect=inputs, description=system.description).replace(
        scales=system.scales
    )
    course = PlanCourse(
        plan=plan,
        count=pieces.count,
        holds=holds,
        step_ends=() if result.problem.repeats is None else step_ends,
        mirrored=mirrored[0] if mirrored else None,
    )
    if result.problem.repeats is False:  # the second half of it need not be the image of the first
        whole = whole.replace(symmetry={})
    by_inputs = {str(phase.until) for phase in result.problem.phases if phase.by_inputs}
    by_inputs |= {image for name in by_inputs for image in opposite_events(system, name)}
    events = [
        replace(
            e,
            guard=plan.time_by_clock(sx(e.guard)) if e.name in by_inputs else e.guard,
            reset={**{k: sx(v) for k, v in e.reset.items()}, **course.resets(system, e.name)},
        )
        for e in whole.events
    ]
    return whole.replace(events=(*events, plan.next_piece_event(pieces.count)))


@dataclass(frozen=True, eq=False)
class PlanCourse:
    """How events move a plan on.

    plan: what holds it. count: its pieces, those that fill up included. holds: by event, the pieces that last
    until it comes. step_ends: the events after which it begins anew. mirrored: whether a step is one of the
    mirror image, of a walker with left and right.
    """

    plan: PlanQuantities
    count: int
    holds: Mapping[str, Sequence[int]]
    step_ends: Sequence[str | None]
    mirrored: Discrete | None

    def resets(self, system: System, event: str) -> dict[str, ca.SX]:
        """Return what an event sets of the plan: the phase that it ends is over; one that ends the motion
        begins it anew. Any other event sets nothing."""
        own = list(self.holds.get(event, ()))
        image = own
        if self.mirrored is not None:
            image = [number for name in opposite_events(system, event) for number in self.holds.get(name, ())]
        anew = event in self.step_ends
        turned = {} if self.mirrored is None else {self.mirrored.name: 1 - self.mirrored.sym}
        if not own and not image:
            return self.plan.first_piece(self.count) | turned if anew else {}
        number = self._next_number(own, anew)
        if self.mirrored is not None:
            number = ca.if_else(self.mirrored.sym, self._next_number(image, anew), number)
        resets = self.plan.begin_piece(number, self.count)
        if self.mirrored is not None and anew:
            begins = ca.fabs(number) < 0.5
            resets |= {n: ca.if_else(begins, e, self.mirrored.sym) for n, e in turned.items()}
        return resets

    def _next_number(self, holds: Sequence[int], anew: bool) -> ca.SX:
        """The piece that begins after the next one of `holds`; where none is to come, the first one, 0, if
        the plan begins anew, else -1."""
        numbers = hold_numbers(self.holds)
        symbols = [] if self.plan.holds is None else ca.vertsplit(self.plan.holds.sym)
        waited_for = [symbols[numbers.index(number)] for number in holds]
        return self.plan.next_number(self.count, waited_for, 0 if anew else -1)


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
    """Return the pieces of a plan that last until an event comes, by the name of that event: the last ones of
    the phases that end with events which change the motion, but for the last phase, and for those that end
    because inputs jump."""
    system, holds, last = result.problem.system, dict[str, list[int]](), -1
    for m, phase in zip(result.phases[:-1], result.problem.phases, strict=False):
        last += len(m.w)
        if m.until is not None and not phase.by_inputs and changes_motion(system, m.until):
            holds.setdefault(m.until, []).append(last)
    return holds


def hold_numbers(holds: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the numbers of the pieces that last until an event comes, in their order."""
    return sorted({number for each in holds.values() for number in each})


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
    numbers = hold_numbers(holds)
    return PlanQuantities(
        holds=Param("plan_holds", np.array(numbers, dtype=float), internal=True) if numbers else None,
        used=Param("plan_pieces", pieces.used, internal=True),
        values=Param("plan", pieces.values.reshape(-1), internal=True),
        times=Param("plan_times", pieces.times, "s", internal=True),
        piece=Discrete("piece", 0.0, description="of the plan", internal=True),
        clock=State(CLOCK, 0.0, "s", description="since the plan began", internal=True),
        begin=Discrete("piece_begin", 0.0, "s", internal=True),
        end=Discrete("piece_end", pieces.times[1], "s", internal=True),
        now=Discrete(
            "plan_now",
            pieces.values[0],
            units.pop() if len(units) == 1 else "",
            description="inputs at the places of the piece",
            internal=True,
        ),
    )


def planned_inputs(system: System, plan: PlanQuantities, basis: np.ndarray) -> dict[str, ca.SX]:
    """Return the inputs of a system, by name, as the polynomials of the piece that the plan is in."""
    u = plan.signals(basis)
    return {name: u[place_of] for name, place_of in system.slices("u").items()}


__all__ = ["begin_of", "machine"]
