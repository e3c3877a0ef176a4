"""`design`: a walker and how it walks, found at once, and verified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError, NoGaitError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait, find
from strut.gait.shape import default_section
from strut.optimal.branch import Branch, branch
from strut.optimal.costs import MEANING, Cost, cost_of_transport, distance, impact, value, weighed, weight
from strut.optimal.problem import Problem, event_of
from strut.optimal.result import Result
from strut.optimal.stability import stabilise
from strut.optimal.verify import Replay, replay
from strut.system.quantity import sx, time
from strut.system.system import System

SLOPES = (0.05, 0.03, 0.07, 0.015)
"""Downhill slopes [rad] on which a passive gait is looked for, to begin from, where the walker's own has none."""
LASTS = (0.05, 10.0)
"""A step takes so long [s], where nothing is known of it."""
TIMES = 4.0
"""A step takes at most so many times as long as that of the gait to begin from, and at least that part of it."""
ACCURACY = 1e-7
"""Defects are this small: the energy balance of a step, whose errors an unstable gait magnifies, is then closed to 1e-6."""
TOUCHDOWN = "_touchdown"
"""So end the names of events at which a foot lands."""
MARGIN = 1e-3
"""What must not happen in a phase is missed by so much in its middle."""
LOOKS = 200
"""At so many moments of a gait its height is looked at."""
STEPS_OF_SPEED = 4
"""In so many stages the speed is brought to what is wanted, where the direct way fails."""


@dataclass(frozen=True, eq=False)
class Design:
    """A walker and its gait.

    result: of the optimal control problem. cost: what was minimised. begun: the passive gait from which the search began, if there was one.
    ok: solved, accurate, and the simulator agrees. system: with the parameters that were found. machine: with the inputs, too.
    """

    result: Result = field(repr=False)
    cost: Cost = field(repr=False)
    begun: Gait | None = field(repr=False, default=None)

    @property
    def ok(self) -> bool:
        return self.result.ok and self.replay.ok

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.result.parameters

    @property
    def system(self) -> System:
        return self.result.system

    @property
    def planned(self) -> System:
        """The system as the plan has it: with the default parameters, and events that do what they did in the gait it began from."""
        return self.result.problem.system

    @property
    def machine(self) -> System:
        return self.replay.machine

    @cached_property
    def replay(self) -> Replay:
        """The plan in the event-driven simulator."""
        return replay(self.result)

    @property
    def gait(self) -> Gait | None:
        """With exact multipliers, of the walker that follows its plan; None if the plan does not repeat in the simulator."""
        return self.replay.gait

    @property
    def section(self) -> str:
        last = self.result.phases[-1].until
        assert last is not None
        return last

    def _at_end(self, expression: ca.SX) -> float:
        m, groups = self.result.phases[-1], [ca.vertcat(*[q.sym for q in getattr(self.planned, g)], ca.SX(0, 1)) for g in "xzup"]
        f = ca.Function("end", [time, *groups], [expression])
        return float(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], self.result.p))

    @cached_property
    def step_length(self) -> float:
        """[m], along the ground."""
        return self._at_end(distance(self.planned, self.section))

    @property
    def speed(self) -> float:
        """[m/s]"""
        return self.step_length / self.result.duration

    @cached_property
    def energy_lost(self) -> float:
        """In the impact [J]."""
        return self._at_end(impact(self.planned, self.section))

    def parts(self) -> dict[str, float]:
        """What each of several costs comes to, before its weight."""
        totals = [t.sym for t in self.result.problem.totals]
        numbers = [ca.DM(self.result.totals[t.name]) for t in self.result.problem.totals]
        return {p.name: self._at_end(ca.substitute([p.expression], totals, numbers)[0]) for p in self.cost.parts}

    @property
    def weight(self) -> float:
        """[N]"""
        return value(self.system, weight(self.system))

    def guess(self) -> Any:
        """To begin another search from."""
        return self.result.guess()

    def rows(self) -> list[tuple[str, float | str, str]]:
        """What there is to say: name, value, unit."""
        r, units = self.result, {q.name: q.unit for q in self.system.p}
        rows: list[tuple[str, float | str, str]] = [(name, v, units[name]) for name, v in self.parameters.items()]
        rows += [
            (f"cost ({self.cost.name})", r.cost, ""),
            ("speed", self.speed, "m/s"),
            ("step length", self.step_length, "m"),
            ("step time", r.duration, "s"),
            ("mass", self.weight / self._gravity(), "kg"),
        ]
        b = self.replay.balance
        rows += [
            ("given by gravity", b.fallen, "J"),
            ("work of the motors", b.work, "J"),
            ("lost in impacts", b.lost, "J"),
            ("lost in dampers", b.dissipated, "J"),
            ("energy balance, relative", b.relative, ""),
        ]
        rows += [(name, v, "") for name, v in self.replay.forces.items()]
        rows += [
            ("KKT residual", max(r.kkt.values()), ""),
            ("defect", r.defect, ""),
            ("replay", "agrees" if self.replay.ok else f"differs: {self.replay.ended}", ""),
            ("ends later than planned by", self.replay.late, "s"),
            ("largest multiplier", float(abs(self.gait.multipliers[0])) if self.gait is not None else self.replay.no_gait, ""),
            ("iterations", float(r.iterations), ""),
            *[(f"time to {name}" if name != "cpu" else "of it on the processor", seconds, "s") for name, seconds in r.times.items()],
        ]
        return rows

    def _gravity(self) -> float:
        return next((float(q.value[0]) for q in self.system.p if q.name == "g"), 9.81)

    def table(self) -> str:
        """`rows` as text."""
        rows = [(n, v if isinstance(v, str) else f"{v:.6g}", unit) for n, v, unit in self.rows()]
        wide, long = max(len(n) for n, _, _ in rows), max(len(v) for _, v, _ in rows)
        return "\n".join(f"{n:<{wide}}  {v:>{long}}  {unit}".rstrip() for n, v, unit in rows)

    def data(self) -> dict[str, Any]:
        """What `strut design --json` prints."""
        g = self.gait
        return {
            **self.result.summary(),
            "ok": self.ok,
            "cost_name": self.cost.name,
            "speed": self.speed,
            "step_length": self.step_length,
            "replay": {"ok": self.replay.ok, "late": self.replay.late, "missed": self.replay.missed, "ended": self.replay.ended},
            "balance": {**vars(self.replay.balance), "residual": self.replay.balance.residual, "relative": self.replay.balance.relative},
            "forces": dict(self.replay.forces),
            "stable": None if g is None else g.stable,
            "multipliers": None if g is None else [[float(m.real), float(m.imag)] for m in g.multipliers],
        }

    def __repr__(self) -> str:
        found = ", ".join(f"{n} {v:.4g}" for n, v in self.parameters.items()) or "nothing free"
        good = "ok" if self.ok else f"not ok ({self.result.status})"
        return f"<Design of {self.system.name}: {good}, {self.cost.name} {self.result.cost:.5g}, {found}>"


def design(
    walker: System,
    free: Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: str | Mapping[str, float] = "energy",
    *,
    speed: float | None = None,
    slope: float | None = None,
    step_length: float | tuple[float, float] | None = None,
    duration: float | tuple[float, float] | None = None,
    torque: float | None = None,
    friction: float | None = None,
    clearance: float | None = None,
    stability: float | None = None,
    section: str | None = None,
    phases: Sequence[str] = (),
    guess: Any = None,
    control: str = "cubic",
    intervals: int = 10,
    **options: Any,
) -> Design:
    """Find how a walker should walk, and be built.

    free: names of parameters, or names with bounds. cost: see `strut.optimal.MEANING`; of several, names with their weights.
    speed [m/s], step_length [m], duration of a step [s]: numbers, or bounds of the latter two. Unless given, the
        duration is within a factor of four of that of the passive gait.
    slope: of the ground [rad], positive downhill.
    torque: of every input, at most [N m]. friction: coefficient that the feet must not exceed.
    clearance: height of the swing foot where it passes the other [m]; it then stays above the ground all along. By default 0 where it
        does so in the gait to begin from; stiff legs scuff, and the ground is not asked.
    stability: every multiplier of the walker that follows its plan is at most this; below 1 it is stable by itself.
    section: the event that ends a step. phases: the events that end its phases, in order, the section last; by default those of the gait to
        begin from. guess: to begin from; else a passive gait is looked for.
    control, intervals, and further options: see `Problem.solve`.
    """
    walker = weighed(walker, cost)
    if slope is not None:
        if "slope" not in walker.slices("p"):
            raise UnknownNameError(f"system '{walker.name}' has no slope: {did_you_mean('slope', [q.name for q in walker.p])}")
        walker = walker.using(slope=slope)
    if speed is not None and not speed > 0:
        raise ValueRangeError(f"the speed is {speed}: it must be positive")
    where = section or default_section(walker)
    begun = passive(walker, where) if guess is None else None
    guess = begun if guess is None else guess
    clearance = clearance if clearance is not None else _clears(begun, guess)
    events = tuple(phases) or sequence(walker, where, begun if begun is not None else guess, clearance)
    way = branch(walker, begun, events) if begun is not None else None
    planned = walker if way is None else way.system
    price = cost_of_transport(planned, cost, events)
    if duration is None and isinstance(guess, Gait):
        duration = (guess.period / TIMES, guess.period * TIMES)
    base = walking(planned, events, duration, step_length, torque, friction, clearance, way)
    base = base.free(**free) if isinstance(free, Mapping) else base.free(*free)
    base = base.minimise(price.expression)
    result = _reached(base, planned, where, speed, guess, {"control": control, "intervals": intervals, "accuracy": ACCURACY, **options})
    if stability is not None and result.success:
        result = stabilise(result, stability)
    return Design(result, price, begun)


def sequence(walker: System, section: str, begun: Any, clearance: float | None = None) -> tuple[str, ...]:
    """The events of a step at which the motion changes: those of a gait that set states, or discrete states that the flow depends on;
    and where the feet pass each other, if something is asked there."""
    flow = ca.vertcat(*walker.flow.values())
    matters = {q.name for q in walker.x} | {q.name for q in walker.z if ca.depends_on(flow, q.sym)}
    names = list(begun.trajectory.events.names) if isinstance(begun, Gait) else []
    asked = [swing(walker, section)[0]] if clearance is not None else []
    found = [e for e in names if e in asked or matters & set(event_of(walker, e).reset)]
    return tuple(found) if found and found[-1] == section else (*asked, section)


def swing(walker: System, section: str) -> tuple[str, str]:
    """The event at which the foot that lands in `section` passes the other, and the output that says how high it is."""
    foot = section.removesuffix(TOUCHDOWN)
    events = {e.name for e in walker.events}
    for passes, height in (("passes", "clearance"), (f"{foot}_passes", f"{foot}_gap")):
        if passes in events and height in walker.outputs:
            return passes, height
    raise ModelError(f"clearance is asked, but '{walker.name}' has no event 'passes' with an output 'clearance' (or FOOT_passes, FOOT_gap)")


def _clears(begun: Gait | None, guess: Any) -> float | None:
    """Nothing but staying above the ground is asked of what does so already."""
    run = begun if begun is not None else guess if isinstance(guess, Gait) else None
    if run is None:
        return None
    try:
        _, height = swing(run.system, run.section)
    except ModelError:
        return None
    heights = run.trajectory.at(run.period * np.linspace(0, 1, LOOKS)[1:-1])[height]
    return 0.0 if heights.min() >= 0 else None


def walking(
    walker: System,
    events: Sequence[str],
    duration: float | tuple[float, float] | None = None,
    step_length: float | tuple[float, float] | None = None,
    torque: float | None = None,
    friction: float | None = None,
    clearance: float | None = None,
    way: Branch | None = None,
) -> Problem:
    """One step of a walker that repeats, its phases ended by `events`: feet push and do not pull, the old foot lifts, limits are kept.
    Nothing is minimised yet."""
    section, problem = events[-1], Problem(walker)
    for k, event in enumerate(events):
        name = "step" if len(events) == 1 else f"until {event}" if event not in events[:k] else f"{event} {k}"
        problem = problem.phase(name, until=event, z=None if way is None else way.held[k])
    if way is not None:
        problem = way.required(problem)
    low, high = LASTS if duration is None else (float(np.min(duration)), float(np.max(duration)))
    problem = problem.periodic().require("step time", time, low=low, high=high, at="end")
    reset = event_of(walker, section).reset
    for name in walker.outputs:
        if name.endswith("_normal"):
            foot = name.removesuffix("_normal")
            problem = _pushing(problem, f"{foot} pushes", walker[name])
            if friction is not None and f"{foot}_friction" in walker.outputs:
                normal, sideways = walker[name], walker[f"{foot}_friction"]
                problem = _pushing(problem, f"{foot} does not slip forwards", friction * normal - sideways)
                problem = _pushing(problem, f"{foot} does not slip backwards", friction * normal + sideways)
    if friction is not None and not any(r.name.endswith("forwards") for r in problem.requirements):
        raise ModelError(f"friction is limited, but '{walker.name}' has no outputs NAME_normal and NAME_friction that say what it needs")
    if clearance is not None:
        problem = _clearing(problem, clearance)
    if "lift" in reset:
        problem = problem.require("the old foot lifts", "lift", low=0.0, at="after")
    low, high = (1e-3, math.inf) if step_length is None else (float(np.min(step_length)), float(np.max(step_length)))
    problem = problem.require("step length", distance(walker, section), low=low, high=high, at="end")
    if torque is not None:
        problem = problem.within(dict.fromkeys(walker.labels("u"), (-torque, torque)))
    return problem


def _pushing(problem: Problem, name: str, force: ca.SX) -> Problem:
    """A force that is not negative, in the phases in which there is one: a foot that swings has none."""
    for phase in problem.phases:
        known = [q for q in problem.system.z if q.name in phase.z]
        if not ca.substitute([force], [q.sym for q in known], [ca.DM(phase.z[q.name]) for q in known])[0].is_zero():
            problem = problem.require(name, force, low=0.0, phase=phase.name)
    return problem


def _clearing(problem: Problem, clearance: float) -> Problem:
    """The swing foot is above the ground, so high where it passes the other, and passes it once."""
    section = problem.phases[-1].until
    assert section is not None
    passes, height = swing(problem.system, section)
    problem = problem.require("the swing foot is above the ground", height, low=0.0, margin=MARGIN)
    passed, ahead = False, sx(event_of(problem.system, passes).guard)
    for phase in problem.phases:
        if passed:
            problem = problem.require("the swing foot stays in front", ahead, low=0.0, phase=phase.name, margin=MARGIN)
        elif phase.until == passes:
            passed = True
            problem = problem.require("the swing foot stays behind until it passes", ahead, high=0.0, phase=phase.name, margin=MARGIN)
            problem = problem.require("clearance", height, low=clearance, at="end", phase=phase.name)
        if phase.until is not None and phase.until not in (passes, section):
            guard = sx(event_of(problem.system, phase.until).guard)
            problem = problem.require(f"{phase.until} comes once", guard, high=0.0, phase=phase.name, margin=MARGIN)
    return problem


def passive(walker: System, section: str) -> Gait | None:
    """A gait without motors, on this slope or on another: to begin from."""
    for slope in (None, *SLOPES):
        if slope is not None and "slope" not in walker.slices("p"):
            break
        try:
            return find(walker if slope is None else walker.using(slope=slope), section=section, starts=60)
        except NoGaitError:
            continue
    return None


def _reached(base: Problem, walker: System, section: str, speed: float | None, guess: Any, options: dict[str, Any]) -> Result:
    """The result at the speed that is wanted: directly, or in stages from the speed that the guess leads to."""
    if speed is None:
        return base.solve(guess, **options)
    pace = distance(walker, section) / time
    result = base.require("speed", pace, equal=speed, at="end").solve(guess, **options)
    if result.ok:
        return result
    coarse = {**options, "accuracy": None}
    first = base.solve(guess, **coarse)
    if not first.success:
        return result
    now = Design(first, Cost("", ca.SX(0), ())).speed
    for stage in np.linspace(now, speed, STEPS_OF_SPEED + 1)[1:-1]:
        staged = base.require("speed", pace, equal=float(stage), at="end").solve(first, **coarse)
        if not staged.success:
            break
        first = staged
    last = base.require("speed", pace, equal=speed, at="end").solve(first, **options)
    return last if last.ok or not result.success else result


__all__ = ["MEANING", "Design", "design", "passive", "walking"]
