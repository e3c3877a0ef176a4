"""Optimal control over states, inputs, durations and the machine's parameters: motion, controller and design
at once."""

from functools import cached_property
from typing import TYPE_CHECKING

from strut.import_on_demand import import_on_demand
from strut.optimal.problem import Problem
from strut.optimal.solver.cost_error import cost_error
from strut.optimal.solver.infeasible import unmet_requirements
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.solver.sensitivity import Sensitivity, cost_slopes, sensitivity
from strut.optimal.solver.solve import solve

# Conveniences of classes that must not know who solves them: they are declared there, and attached here.
Problem.solve = solve
Solution.unmet = cached_property(unmet_requirements)
Solution.unmet.__set_name__(Solution, "unmet")
Solution.sensitivity = sensitivity
Solution.cost_slopes = cached_property(cost_slopes)
Solution.cost_slopes.__set_name__(Solution, "cost_slopes")
Solution.cost_error = cached_property(cost_error)
Solution.cost_error.__set_name__(Solution, "cost_error")

if TYPE_CHECKING:
    from strut.optimal.load import load
    from strut.optimal.nlp.scheme import Transcription
    from strut.optimal.polynomial.search import Search, gait_search
    from strut.optimal.solver.guess import Guess
    from strut.optimal.solver.watch import SearchStage
    from strut.optimal.totals import Initial, Integral, Jumps, initial
    from strut.optimal.walk.active_limits import ActiveLimit
    from strut.optimal.walk.balance import Balance
    from strut.optimal.walk.costs import COSTS, cost_of_transport, impact
    from strut.optimal.walk.design import Design
    from strut.optimal.walk.design_each import DesignsByName, design_each
    from strut.optimal.walk.design_search import design
    from strut.optimal.walk.own_cost import OwnCost
    from strut.optimal.walk.own_limits import StepRequirement
    from strut.optimal.walk.parameter_slope import ParameterSlope
    from strut.optimal.walk.replay import FootLoad, Replay, replay
    from strut.optimal.walk.robust_design import robust_design, walks_in
    from strut.optimal.walk.robust_result import RobustDesign, Scenario
    from strut.optimal.walk.stability import growth, stabilise
    from strut.optimal.walk.step_goal import StepGoal
    from strut.optimal.walk.step_problem import step_problem
    from strut.optimal.walk.track import Track, track
    from strut.optimal.walk.trade_off import TradeOff, trade_off
    from strut.optimal.walk.transition import start, stop
    from strut.optimal.walk.with_plan import machine

__all__ = [
    "COSTS",
    "ActiveLimit",
    "Balance",
    "Design",
    "DesignsByName",
    "FootLoad",
    "Guess",
    "Initial",
    "Integral",
    "Jumps",
    "Motion",
    "OwnCost",
    "ParameterSlope",
    "Problem",
    "Replay",
    "RobustDesign",
    "Scenario",
    "Search",
    "SearchStage",
    "Sensitivity",
    "Solution",
    "StepGoal",
    "StepRequirement",
    "Track",
    "TradeOff",
    "Transcription",
    "cost_of_transport",
    "design",
    "design_each",
    "gait_search",
    "growth",
    "impact",
    "initial",
    "load",
    "machine",
    "replay",
    "robust_design",
    "sensitivity",
    "solve",
    "stabilise",
    "start",
    "step_problem",
    "stop",
    "track",
    "trade_off",
    "walks_in",
]

import_on_demand(
    __name__,
    {
        "load": ("load",),
        "nlp.scheme": ("Transcription",),
        "polynomial.search": ("Search", "gait_search"),
        "solver.guess": ("Guess",),
        "solver.watch": ("SearchStage",),
        "totals": ("Initial", "Integral", "Jumps", "initial"),
        "walk.active_limits": ("ActiveLimit",),
        "walk.costs": ("COSTS", "cost_of_transport", "impact"),
        "walk.design": ("Design",),
        "walk.design_each": ("DesignsByName", "design_each"),
        "walk.design_search": ("design",),
        "walk.own_cost": ("OwnCost",),
        "walk.own_limits": ("StepRequirement",),
        "walk.parameter_slope": ("ParameterSlope",),
        "walk.balance": ("Balance",),
        "walk.replay": ("FootLoad", "Replay", "replay"),
        "walk.robust_design": ("robust_design", "walks_in"),
        "walk.robust_result": ("RobustDesign", "Scenario"),
        "walk.stability": ("growth", "stabilise"),
        "walk.step_goal": ("StepGoal",),
        "walk.step_problem": ("step_problem",),
        "walk.track": ("Track", "track"),
        "walk.trade_off": ("TradeOff", "trade_off"),
        "walk.transition": ("start", "stop"),
        "walk.with_plan": ("machine",),
    },
)
