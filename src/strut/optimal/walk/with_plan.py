"""The machine that was found: the system with its plan of inputs built in, again a `System`, which runs,
repeats and is exported.

Inputs follow the plan by a clock that every step sets to zero. Where one polynomial ends and the next begins
is an event, so that nothing is smoothed and derivatives through a step stay exact.
"""

from __future__ import annotations

import math
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.optimal.nlp.scheme import lagrange
from strut.optimal.solver.result import Solution
from strut.system import Discrete, Event, Param, State, System, join, sx

PIECE_MULTIPLE = 16
"""Plans are fill_unknowns up to a multiple of so many pieces, so that few lengths, and so few programs,
occur."""


@checked
def machine(result: Solution) -> System:
    """The system with the parameters and the inputs of a result. The plan of a motion that repeats begins
    anew after the event that ends it; its numbers are parameters (`plan`, `plan_times`)."""
    system, nu = result.system, result.problem.system.size("u")
    if not nu:
        return system
    basis = lagrange(result.how.degree)
    places = len(basis) * nu
    w = np.concatenate([m.w.reshape(len(m.w), -1) for m in result.phases])
    times = np.concatenate([result.phases[0].t[:1], *[m.t[1:] for m in result.phases]])
    used, n = len(w), PIECE_MULTIPLE * math.ceil(len(w) / PIECE_MULTIPLE)
    w = np.vstack([w, np.repeat(w[-1:], n - used, axis=0)])
    times = np.concatenate([[0.0], times[1:], np.full(n - used, times[-1])])
    count = Param("plan_pieces", used)
    plan, ends = Param("plan", w.reshape(-1)), Param("plan_times", times, "s")
    piece = Discrete("piece", 0.0, description="of the plan")
    since = State("plan_clock", 0.0, "s", description="since the plan began")
    begin, end = Discrete("piece_begin", 0.0, "s"), Discrete("piece_end", times[1], "s")
    units = {q.unit for q in system.u}
    now = Discrete(
        "plan_now",
        w[0],
        units.pop() if len(units) == 1 else "",
        description="inputs at the places of the piece",
    )
    place = (since.sym - begin.sym) / (end.sym - begin.sym)
    u = ca.SX.zeros(nu, 1)
    for i in range(len(basis)):
        factor = sum((float(c) * place**j for j, c in enumerate(basis[i])), ca.SX(0))
        u = u + factor * now.sym[i * nu : (i + 1) * nu]
    inputs = {}
    at = 0
    for q in system.u:
        inputs[q.name] = u[at : at + q.size]
        at += q.size
    last = result.phases[-1].until
    often = sum(m.until == last for m in result.phases)
    strikes = Discrete("plan_strikes", 0.0, description="of the event that ends the motion, so far")
    holder = System(
        "plan",
        x=(since,),
        flow={since: 1.0},
        z=(piece, begin, end, now, *([strikes] if often > 1 else [])),
        p=(plan, ends, count),
        outputs={f"{name}_planned": e for name, e in inputs.items()},
    )
    whole = join(system.name, system, holder, connect=inputs, description=system.description).replace(
        scales=system.scales
    )
    table = ca.reshape(plan.sym, places, n)
    following = piece.sym + 1
    chosen = ca.vertcat(*[following == k for k in range(n)])
    turn = Event(
        "next_piece",
        guard=since.sym - end.sym,
        when=(count.sym - 1.5) - piece.sym,
        reset={
            piece.name: following,
            begin.name: end.sym,
            end.name: ca.dot(chosen, ends.sym[1:]),
            now.name: ca.mtimes(table, chosen),
        },
        priority=-1,
    )
    anew = {
        piece.name: ca.SX(0),
        since.name: ca.SX(0),
        begin.name: ca.SX(0),
        end.name: ends.sym[1],
        now.name: table[:, 0],
    }
    if often > 1:
        is_last = strikes.sym >= often - 1.5
        unchanged = {q.name: q.sym for q in (piece, since, begin, end, now)}
        anew = {name: ca.if_else(is_last, value, unchanged[name]) for name, value in anew.items()}
        anew[strikes.name] = ca.if_else(is_last, 0, strikes.sym + 1)
    if result.problem.repeats is None:
        return whole.replace(events=(*whole.events, turn))
    events = [
        replace(e, reset={**{k: sx(v) for k, v in e.reset.items()}, **anew}) if e.name == last else e
        for e in whole.events
    ]
    return whole.replace(events=(*events, turn))


__all__ = ["machine"]
