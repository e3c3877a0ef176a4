"""`design`: a walker and how it walks, found at once, and verified."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import NoGaitError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait, find
from strut.gait.section import default_section
from strut.gait.transport import distance, has_slope, inclined, weight_of
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess
from strut.optimal.solver.result import TRUSTED, Solution
from strut.optimal.solver.solve import OPTIONS
from strut.optimal.walk.costs import Cost, cost_of_transport, impact, weighed
from strut.optimal.walk.even_stride import Stride, striding
from strut.optimal.walk.frozen_branch import branch
from strut.optimal.walk.replay import Replay, replay
from strut.optimal.walk.stability import stabilise
from strut.optimal.walk.step_problem import (
    FIRM,
    FRICTION,
    clears,
    near,
    says_friction,
    sequence,
    strength,
    swing_foot,
    walking,
)
from strut.system import Packed, System, time

SLOPES = (0.05, 0.03, 0.07, 0.015)
"""Downhill slopes [rad] on which a passive gait is looked for, to begin from, where the walker's own has
none."""
ACCURACY = 1e-7
"""Defects are this small: the energy balance of a step, whose errors an unstable gait magnifies, is then
closed to 1e-6."""
SLIPPING = 1e-3
"""Friction may exceed what was asked by this part, between the points of the mesh."""
AT_BOUND = 1e-4
"""Nearer to a bound than this part of what is allowed is at it."""
BALANCED = 1e-6
"""Of the energy that moves, more than this must not be missing."""
SHARPER, SHARPEST = (1e-9, 1e-11), 1e-11
"""Accuracies that are tried where a replay drifts away from its plan, and the solver's tolerance then."""
WILD = 1e3
"""The second is for gaits that magnify a disturbance by so much."""
STABLY = 1e-6
"""And multipliers by this."""
STEPS_OF_SPEED = 4
"""In so many stages the speed is brought to what is wanted, where the direct way fails."""


COST_RESOLUTION = 1e-9
"""Costs up to this are shown as 0: the solver's tolerance is 1e-8, and a cost of transport is 1e-3 or
more."""
NO_COST = "none: not solved"
"""Stands for the cost of a search that failed: what it had when it stopped is the cost of no motion."""
WORK_ALONE = ("paper", "energy", "positive-work", "absolute-work")
"""Costs in which torques themselves cost nothing."""
SI = ("s", "m", "m/s", "kg", "J", "N")
"""Units that a dimensionless machine does not have."""


def rounded_cost(cost: float) -> float:
    """A cost to be shown."""
    return 0.0 if abs(cost) <= COST_RESOLUTION else cost


@dataclass(frozen=True, eq=False)
class Design(Packed):
    """A walker and its gait.

    result: of the optimal control problem. cost: what was minimised. begun: the passive gait from which the
        search began, if there was one.
    stability, friction: what was asked of its multipliers and of its feet, if anything.
    ok: solved, accurate, the simulator agrees, and what was asked of feet and multipliers holds there;
        `wrong` says what does not.
    system: with the parameters that were found. machine: with the inputs, too.
    """

    result: Solution = field(repr=False)
    cost: Cost = field(repr=False)
    begun: Gait | None = field(repr=False, default=None)
    stability: float | None = None
    friction: float | None = None

    @property
    def ok(self) -> bool:
        return not self.wrong

    @property
    def drifts(self) -> bool:
        """The simulator does what was planned, but ends elsewhere, or with another energy: a very unstable
        gait magnifies the errors of its plan."""
        return self.replay.happened == self.replay.planned and (
            not self.replay.ok or self.replay.balance.relative > BALANCED
        )

    @cached_property
    def wrong(self) -> tuple[str, ...]:
        """What keeps it from being `ok`, in sentences."""
        r, replayed = self.result, self.replay
        if not r.success:
            cannot = [f"'{name}' is missed by {v:.3g}" for name, v in r.unmet.items()]
            return (
                f"not solved: {r.status}" + (f"; of what was asked, {', '.join(cannot)}" if cannot else ""),
            )
        found = []
        if max(r.kkt.values()) > TRUSTED:
            found.append(
                f"the conditions of an optimum hold to {max(r.kkt.values()):.2g} only, not to {TRUSTED:g}"
            )
        if r.accuracy is not None and r.defect > r.accuracy:
            found.append(
                f"the plan differs from the adaptive integrator by {r.defect:.2g}, more than {r.accuracy:g}: "
                f"give more intervals"
            )
        if not replayed.ok:
            found.append(f"the simulator tells another story than the plan: {replayed.told}")
        else:
            found += [f"{name} is {v:.4g}, {limit}" for name, v, limit in self._slips()]
        if self.stability is not None and not found:
            largest = math.nan if self.gait is None else float(abs(self.gait.multipliers[0]))
            if not largest <= self.stability * (1 + STABLY):
                found.append(f"the largest multiplier is {largest:.6g}, more than {self.stability:g}")
        return tuple(found)

    def _slips(self) -> list[tuple[str, float, str]]:
        """Forces of the replay that break what was asked."""
        found = []
        for load in self.replay.foot_loads:
            if load.least_normal < 0:
                found.append(
                    (
                        f"the smallest normal force [N] of foot '{load.foot}'",
                        load.least_normal,
                        "a foot cannot pull",
                    )
                )
            if self.friction is not None and load.friction_needed > self.friction * (1 + SLIPPING):
                found.append(
                    (
                        f"the friction that foot '{load.foot}' needs",
                        load.friction_needed,
                        f"more than {self.friction:g}",
                    )
                )
        return found

    @property
    def parameters(self) -> Mapping[str, float]:
        return self.result.parameters

    @property
    def system(self) -> System:
        return self.result.system

    @property
    def planned(self) -> System:
        """The system as the plan has it: with the default parameters, and events that do what they did in the
        gait it began from."""
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
        """With exact multipliers, of the walker that follows its plan; None if the plan does not repeat in
        the simulator."""
        return self.replay.gait

    @property
    def section(self) -> str:
        last = self.result.phases[-1].until
        assert last is not None
        return last

    def _at_end(self, expression: ca.SX) -> float:
        m, groups = self.result.phases[-1], self.planned.vectors()
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
        return {
            p.name: self._at_end(ca.substitute([p.expression], totals, numbers)[0]) for p in self.cost.parts
        }

    @property
    def weight(self) -> float:
        """[N]"""
        return weight_of(self.system)

    def guess(self) -> Any:
        """To begin another search from."""
        return self.result.guess()

    def rows(self) -> list[tuple[str, float | str, str]]:
        """What there is to say: name, value, unit."""
        r, units = self.result, {q.name: q.unit for q in self.system.p}
        rows: list[tuple[str, float | str, str]] = [
            (name, v, units[name] + self._bound(name)) for name, v in self.parameters.items()
        ]
        rows += [
            (f"cost ({self.cost.name})", rounded_cost(r.cost) if r.success else NO_COST, ""),
            ("speed", self.speed, "m/s"),
            ("step length", self.step_length, "m"),
            ("step time", r.duration, "s"),
            ("mass", self.weight / self._gravity(), "kg"),
        ]
        b = self.replay.balance
        if self.replay.ok:  # else it is that of another motion
            rows += [
                ("given by gravity", b.rounded(b.fallen), "J"),
                ("work of the motors", b.rounded(b.work), "J"),
                ("lost in impacts", b.rounded(b.lost), "J"),
                ("lost in dampers", b.rounded(b.dissipated), "J"),
                ("energy balance, relative", b.relative, ""),
            ]
            rows += [(name, v, "") for load in self.replay.foot_loads for name, v in load.rows()]
        rows += [
            ("KKT residual", max(r.kkt.values()), ""),
            ("defect", r.defect, ""),
            ("replay", "agrees" if self.replay.ok else f"differs: {self.replay.told}", ""),
            ("ends later than planned by", self.replay.late, "s"),
            (
                "largest multiplier",
                float(abs(self.gait.multipliers[0])) if self.gait is not None else self.replay.no_gait,
                "",
            ),
            ("iterations", float(r.iterations), ""),
            *[
                (f"time to {name}" if name != "cpu" else "of it on the processor", seconds, "s")
                for name, seconds in r.times.items()
            ],
        ]
        return [(name, v, "" if self.system.dimensionless and unit in SI else unit) for name, v, unit in rows]

    @property
    def advice(self) -> str:
        """What to try where it is not `ok`, if there is something to say; empty otherwise."""
        if self.ok or self.cost.name not in WORK_ALONE:
            return ""
        return (
            f"work alone asks for ever larger torques for ever shorter times: try --cost "
            f"{self.cost.name}=1,squared-torque=0.1, or --torque"
        )

    def _bound(self, name: str) -> str:
        """Said of a parameter that would go further if it might."""
        low, high = self.result.problem.parameters[name]
        v, width = self.parameters[name], high - low
        near = [
            b for b in (low, high) if abs(v - b) <= AT_BOUND * (width if math.isfinite(width) else 1 + abs(b))
        ]
        return " (at its bound)" if near else ""

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
            "replay": {
                "ok": self.replay.ok,
                "late": self.replay.late,
                "missed": self.replay.missed,
                "ended": self.replay.ended,
            },
            "balance": {
                **vars(self.replay.balance),
                "residual": self.replay.balance.residual,
                "relative": self.replay.balance.relative,
            },
            "foot_loads": [vars(load) for load in self.replay.foot_loads],
            "stable": None if g is None else g.stable,
            "multipliers": None if g is None else [[float(m.real), float(m.imag)] for m in g.multipliers],
        }

    def __repr__(self) -> str:
        found = ", ".join(f"{n} {v:.4g}" for n, v in self.parameters.items()) or "nothing free"
        good = "ok" if self.ok else f"not ok ({self.result.status})"
        return f"<Design of {self.system.name}: {good}, {self.cost.name} {self.result.cost:.5g}, {found}>"


@checked
def design(
    walker: System,
    free: str | Sequence[str] | Mapping[str, tuple[float, float]] = (),
    cost: str | Mapping[str, float] = "squared-torque",
    *,
    speed: float | tuple[float, float] | None = None,
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
    like: Gait | None = None,
    control: str = "cubic",
    intervals: int = 10,
    **options: Any,
) -> Design:
    """Find how a walker should walk, and be built.

    free: names of parameters, or names with bounds. cost: see `strut.gait.COST_MEANINGS`; of several, names
        with their weights. Costs of work alone ask for ever larger torques for ever shorter times: a little
        of squared torque beside them keeps the search well.
    speed [m/s], step_length [m], duration of a step [s]: numbers, or bounds (low, high). Where none of them
    is given, the speed is that
        of the passive gait; length and duration are within a factor of four of its.
    slope: of the ground [rad], positive downhill.
    torque: of every input, at most [N m]; by default, of inputs without bounds of their own, weight by step
        length of the passive gait. What only counts work would else take any torque for a short time.
    friction: coefficient that the feet must not exceed; by default 1, where the walker says what it needs.
        math.inf: no limit.
    clearance: height of the swing foot where it passes the other [m]; it then stays above the ground all
        along. By default 0 where it does so in the gait to begin from; stiff legs scuff, and the ground is
        not asked.
    stability: every multiplier of the walker that follows its plan is at most this; below 1 it is stable by
        itself.
    section: the event that ends a step. phases: the events that end its phases, in order, the section last;
        by default those of the gait to begin from. guess: to begin from; else a passive gait is looked for.
        like: a gait with the same phases, where the guess is none; it, too, says what is usual.
    control, intervals, and further options: see `Problem.solve`.
    """
    walker = weighed(walker, cost)
    free = [free] if isinstance(free, str) else free
    for name in options:
        if name not in _OPTIONS:
            raise UnknownNameError(
                f"'{name}' is nothing that a design can be asked: {did_you_mean(name, _OPTIONS)}"
            )
    if slope is not None:
        walker = inclined(walker, slope)
    if stability is not None and not stability > 0:
        raise ValueRangeError(f"stability is {stability}: multipliers have a size, it must be positive")
    if clearance is not None and not clearance >= 0:
        raise ValueRangeError(f"clearance is {clearance}: a height above the ground must not be negative")
    where = section or default_section(walker)
    begun = (like or passive(walker, where)) if guess is None else None
    guess = begun if guess is None else guess
    like = like or begun or like_of(guess)
    usual = like or striding(walker, where)
    if clearance is None and like is not None and clears(like):
        clearance = 0.0
    guess = guess.guess() if hasattr(guess, "guess") else guess
    if (
        speed is None
        and step_length is None
        and duration is None
        and like is not None
        and like.speed > 0
        and walker.u
    ):
        speed = like.speed
    pace = near(speed, "speed", None)
    limits = (
        near(duration, "duration", None if usual is None else usual.period),
        near(step_length, "step_length", None if usual is None else usual.step_length),
        strength(walker, torque, None if usual is None else usual.step_length),
        _rough(walker, friction),
    )
    settings = {"control": control, "intervals": intervals, "accuracy": ACCURACY, **options}

    def attempt(events: tuple[str, ...], clearance: float | None = clearance) -> Design:
        way = branch(walker, like, events) if like is not None else None
        planned = walker if way is None else way.system
        price = cost_of_transport(planned, cost, events)
        base = walking(planned, events, *limits, clearance, FIRM, like, way)
        base = base.free(**free) if isinstance(free, Mapping) else base.free(*free)
        fits = guess is not None and (not isinstance(guess, Guess) or len(guess.phases) == len(events))
        even = {**usual.guess, "duration": usual.period / len(events)} if isinstance(usual, Stride) else like
        result = _reached(
            base.minimise(price.expression), planned, where, pace, guess if fits else even, settings
        )
        if stability is not None and result.success:
            result = stabilise(result, stability)
        made = Design(result, price, begun, stability, limits[3])
        for accuracy in (
            SHARPER if stability is None and made.result.ok and settings["accuracy"] == ACCURACY else ()
        ):
            if not made.drifts or (
                accuracy < SHARPER[0] and made.gait is not None and abs(made.gait.multipliers[0]) < WILD
            ):
                break
            sharp = result.problem.solve(
                made.result, **settings | {"accuracy": accuracy, "tolerance": SHARPEST}
            )
            other = Design(replace(sharp, accuracy=ACCURACY), price, begun, stability, limits[3])
            made = other if other.ok else made
        return made

    if phases:
        return attempt(tuple(phases))
    simple = sequence(walker, where, like, clearance is not None)
    careful = (
        sequence(walker, where, like, True)
        if stability is None and swing_foot(walker, where) is not None
        else simple
    )
    if isinstance(guess, Guess) and len(guess.phases) == len(careful) != len(simple):
        return attempt(careful)
    made = attempt(simple)
    if careful != simple and made.result.ok and not made.replay.ok:
        again = attempt(careful, 0.0 if clearance is None and like is None else clearance)
        return again if again.ok else made
    return made


def like_of(guess: Any) -> Gait | None:
    """The gait in a guess, if there is one."""
    return guess if isinstance(guess, Gait) else guess.begun if isinstance(guess, Design) else None


def _rough(walker: System, friction: float | None) -> float | None:
    """The coefficient of friction that is kept, if any."""
    if friction is None:
        return FRICTION if says_friction(walker) else None
    if not friction > 0:
        raise ValueRangeError(f"friction is {friction}: the coefficient must be positive")
    return friction if math.isfinite(friction) else None


def passive(walker: System, section: str) -> Gait | None:
    """A gait without motors, on this slope or on another: to begin from."""
    for slope in (None, *SLOPES):
        if slope is not None and not has_slope(walker):
            break
        try:
            return find(walker if slope is None else inclined(walker, slope), section=section, starts=60)
        except NoGaitError:
            continue
    return None


def _reached(
    base: Problem,
    walker: System,
    section: str,
    speed: tuple[float, float] | None,
    guess: Any,
    options: dict[str, Any],
) -> Solution:
    """The result at the speed that is wanted: directly, or in stages from the speed that the guess leads
    to."""
    if speed is None:
        return base.solve(guess, **options)
    pace = distance(walker, section) / time
    low, high = speed
    result = base.require("speed", pace, low, high, at="end").solve(guess, **options)
    if result.ok:
        return result
    coarse = {**options, "accuracy": None}
    first = base.solve(guess, **coarse)
    if not first.success:
        return result
    now = Design(first, Cost("", ca.SX(0), ())).speed
    for stage in np.linspace(now, min(max(now, low), high), STEPS_OF_SPEED + 1)[1:-1]:
        staged = base.require("speed", pace, equal=float(stage), at="end").solve(first, **coarse)
        if not staged.success:
            break
        first = staged
    last = base.require("speed", pace, low, high, at="end").solve(first, **options)
    return last if last.ok or not result.success else result


_OPTIONS = sorted(
    {*inspect.signature(design).parameters, *OPTIONS, *[f.name for f in fields(Transcription)]} - {"walker"}
)

__all__ = ["Design", "design", "passive", "walking"]
