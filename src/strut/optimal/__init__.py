"""Optimal control over states, inputs, durations and the machine's parameters: motion, controller and design
at once."""

from strut.optimal.nlp.scheme import Transcription
from strut.optimal.polynomial.search import Search, gait_search
from strut.optimal.problem import Integral, Jumps, Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.solver.solve import solve
from strut.optimal.walk.costs import COSTS, cost_of_transport, impact
from strut.optimal.walk.design import Design, design, walking
from strut.optimal.walk.replay import Balance, FootLoad, Replay, replay
from strut.optimal.walk.stability import growth, stabilise
from strut.optimal.walk.trade_off import TradeOff, trade_off
from strut.optimal.walk.with_plan import machine

__all__ = [
    "COSTS",
    "Balance",
    "Design",
    "FootLoad",
    "Guess",
    "Integral",
    "Jumps",
    "Motion",
    "Problem",
    "Replay",
    "Search",
    "Solution",
    "TradeOff",
    "Transcription",
    "cost_of_transport",
    "design",
    "gait_search",
    "growth",
    "impact",
    "machine",
    "replay",
    "solve",
    "stabilise",
    "trade_off",
    "walking",
]
