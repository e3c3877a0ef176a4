"""Optimal control over states, inputs, durations and the machine's parameters: motion, controller and design at once."""

from strut.optimal.costs import COSTS, MEANING, cost_of_transport, distance, impact, weight
from strut.optimal.design import Design, design, walking
from strut.optimal.guess import Guess
from strut.optimal.machine import machine
from strut.optimal.polynomial import Search, gait_search
from strut.optimal.problem import Integral, Jumps, Problem, after
from strut.optimal.result import Motion, Result
from strut.optimal.solve import solve
from strut.optimal.stability import growth, stabilise
from strut.optimal.trade_off import TradeOff, trade_off
from strut.optimal.transcription import Transcription
from strut.optimal.verify import Balance, Replay, replay

__all__ = [
    "COSTS",
    "MEANING",
    "Balance",
    "Design",
    "Guess",
    "Integral",
    "Jumps",
    "Motion",
    "Problem",
    "Replay",
    "Result",
    "Search",
    "TradeOff",
    "Transcription",
    "after",
    "cost_of_transport",
    "design",
    "distance",
    "gait_search",
    "growth",
    "impact",
    "machine",
    "replay",
    "solve",
    "stabilise",
    "trade_off",
    "walking",
    "weight",
]
