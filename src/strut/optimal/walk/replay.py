"""`Replay`: a planned motion in the event-driven simulator. What is believed of a plan is what happens
there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import NoGaitError
from strut.gait import Gait, find
from strut.gait.exchange import mirror
from strut.gait.section import explain_status, section_of
from strut.gait.transport import weight_of
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.walk.balance import Balance
from strut.optimal.walk.no_gait import explain_no_gait
from strut.optimal.walk.replay_pieces import ReplayPieces, find_gait_in_pieces, replay_in_pieces
from strut.optimal.walk.with_plan import begin_of, machine, step_end_events
from strut.simulate import Trajectory, simulate
from strut.system import Foot, System
from strut.tabular import Tabular, name_value_unit

MAX_DURATION_FACTOR = 1.25
"""A replay that lasts more than so many times the planned duration counts as missed."""
MAX_DEVIATION = 1e-3
"""A replayed motion ends within this [s] of the plan, and its states within this, relative to 1 + |state|."""
MAX_IMBALANCE = 1e-6
"""The largest residual of the energy balance of a replay, relative to the energy that moved, that is no
drift."""
LIGHT_LOAD = 0.01
"""[1] The part of the weight that is added to the load of a foot which is let go in a motion, where its
friction is judged: load and friction vanish there, but not at once."""
FORCE_RESOLUTION = 1e-3
"""[1] The part of the largest load of a foot which is let go in a motion up to which its friction is not
counted: limits hold to a thousandth between the points of a mesh, and beside a load that vanishes that would
be any coefficient."""
NO_LOAD = 1e-9
"""[1] The part of the weight up to which a foot that is let go in a motion carries nothing: rounding."""
LOAD_SAMPLES = 400
"""Moments of a replay at which forces on feet are looked at, besides its own points."""
REPLAY_OPTIONS: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
"""Options of the integrator: its own errors do not show in a replay."""


@dataclass(frozen=True)
class FootLoad(Tabular):
    """How the ground pushed a foot: its smallest normal force [N] while it stood, and the coefficient of
    friction that it needed (nan where its walk does not say its friction; of a foot that is let go, with
    `LIGHT_LOAD` of the weight added to its load, and less `FORCE_RESOLUTION` of the largest; of several
    points of one body, by their forces together)."""

    foot: str
    least_normal: float
    friction_needed: float

    def rows(self) -> list[tuple[str, float, str]]:
        """Return name, value and unit of what it says, for tables."""
        rows = [(f"{self.foot}: smallest normal force", self.least_normal, "N")]
        return rows + (
            [(f"{self.foot}: friction needed", self.friction_needed, "")]
            if not math.isnan(self.friction_needed)
            else []
        )

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of what it says: `rows`."""
        return name_value_unit(self.rows())


def lateness(late: float) -> tuple[str, float]:
    """Return in words whether a motion ends later or earlier than planned, and by how much [s]. late: as of a
    `Replay`, negative where it ends earlier."""
    return ("ends earlier than planned by", -late) if late < 0 else ("ends later than planned by", late)


@dataclass(frozen=True, eq=False)
class Replay(Tabular):
    """The plan of a result in the simulator.

    run: the trajectory, up to just after the event that ends the motion.
    late: by how much it ends later than planned [s] (nan if it does not).
    missed: the largest difference of a state at its end from the plan, relative to 1 + |state|.
    ended: how: the planned event, or what came instead.
    moved: how far from the plan it begins, relative to 1 + |state|: 0, or where it begins from the gait of
        the plan, which Newton's method found, the distance to it.
    """

    result: Solution = field(repr=False)
    machine: System = field(repr=False)
    run: Trajectory = field(repr=False)
    late: float
    missed: float
    ended: str
    moved: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the simulator agrees: same events, same end; in one go, or interval by interval."""
        return self.stays or self.pieces.agrees(self.planned_events)

    @property
    def stays(self) -> bool:
        """Whether the simulator, run in one go, stays with the plan: same events, same end."""
        return (
            self.actual_events == self.planned_events
            and abs(self.late) <= MAX_DEVIATION
            and self.missed <= MAX_DEVIATION
        )

    @cached_property
    def pieces(self) -> ReplayPieces:
        """The plan interval by interval, each from its planned state: a gait that magnifies errors drifts
        away from the best plan if it runs in one go."""
        return replay_in_pieces(self.result, self.machine, REPLAY_OPTIONS)

    @cached_property
    def runs(self) -> tuple[Trajectory, ...]:
        """The runs that energies and forces are read from: the one in one go where its energies balance,
        else those interval by interval, if these agree with the plan."""
        if self.stays and self._balance_of((self.run,)).relative <= MAX_IMBALANCE:
            return (self.run,)
        return self.pieces.runs if self.pieces.agrees(self.planned_events) else (self.run,)

    @property
    def agreement_text(self) -> str:
        """How far the simulator agrees with the plan, in words."""
        if self.stays:
            return "agrees"
        if self.ok:
            return f"agrees interval by interval; in one go it drifts away: {self.outcome_text}"
        return f"differs: {self.outcome_text}"

    @property
    def drifts(self) -> bool:
        """Whether the simulator does what was planned, but ends elsewhere, or with another energy: a very
        unstable gait magnifies the errors of its plan."""
        return self.actual_events == self.planned_events and (
            not self.ok or self.balance.relative > MAX_IMBALANCE
        )

    @property
    def planned_events(self) -> list[str]:
        """The events that end the phases of the plan."""
        return [m.until for m in self.result.phases if m.until is not None]

    @property
    def actual_events(self) -> list[str]:
        """Those of them that happened, in their order."""
        return [e for e in self.run.events.names if e in self.planned_events]

    @property
    def outcome_text(self) -> str:
        """What happened instead, in words."""
        if math.isfinite(self.late) and self.actual_events == self.planned_events:
            return (
                f"{self.ended} comes {abs(self.late):.3g} s {'later' if self.late > 0 else 'earlier'}, "
                f"{self.missed:.2g} away"
            )
        if math.isfinite(self.late):
            return f"{self.ended} comes after {' and '.join(self.actual_events[:-1]) or 'nothing else'}"
        return self.ended

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of what the simulator made of the plan."""
        b, unit = self.balance, "" if self.machine.dimensionless else "J"
        energies = {
            "given by gravity": b.fallen,
            "work of the motors": b.work,
            "lost in impacts": b.lost,
            "lost in dampers": b.dissipated,
        }
        return name_value_unit(
            [
                ("replay", self.agreement_text, ""),
                (*lateness(self.late), "s" if unit else ""),
                ("largest difference of a state at the end, relative to 1 + |state|", self.missed, ""),
                *[(name, b.round_energy(energy), unit) for name, energy in energies.items()],
                ("energy balance, relative", b.relative, ""),
                *[
                    (name, value, each if unit else "")
                    for load in self.foot_loads
                    for name, value, each in load.rows()
                ],
            ]
        )

    @cached_property
    def balance(self) -> Balance:
        """The energy of the replay, by where it comes from and goes to."""
        return self._balance_of(self.runs)

    def _balance_of(self, runs: tuple[Trajectory, ...]) -> Balance:
        """Return the energy of runs that follow one another."""
        walk = self.machine.walk
        gravity_name = "" if walk is None else walk.gravity
        fallen = stored = 0.0
        sums = dict.fromkeys(("supplied", "lost", "dissipated"), 0.0)
        kinetic: list[np.ndarray] = []
        for run in runs:
            books = run.ledger
            gravity = books.stored.get(gravity_name, np.zeros(1))
            fallen += float(gravity[0] - gravity[-1])
            kinetic += [books.stored[walk.kinetic]] if walk is not None and walk.kinetic else []
            for name in sums:
                sums[name] += float(sum(v[-1] for v in getattr(books, name).values()))
            others = [v for name, v in books.stored.items() if name != gravity_name]
            stored += float(sum(v[-1] - v[0] for v in others))
        return Balance(
            fallen=fallen,
            work=sums["supplied"],
            lost=sums["lost"],
            dissipated=sums["dissipated"],
            stored=0.0 if self.result.problem.repeats is not None else stored,
            exchanged=float(np.ptp(np.concatenate(kinetic))) if kinetic else 0.0,
        )

    @cached_property
    def foot_loads(self) -> tuple[FootLoad, ...]:
        """How the ground pushed every foot whose walk says so, in the replay."""
        loads = []
        moments = [
            run.at(np.linspace(run.t0, run.t1, max(LOAD_SAMPLES // len(self.runs), 2))[:-1])
            for run in self.runs
        ]
        rows = [self._last_row(run) for run in self.runs]

        def column(name: str) -> np.ndarray:
            points = [run[name][:last] for run, last in zip(self.runs, rows, strict=True)]
            return np.concatenate([*[each[name] for each in moments], *points])

        feet = [foot for foot in self.run.names.feet if foot.normal]
        for foot in feet:
            normal = column(foot.normal)
            # What holds a body along the ground its points share in ways that nothing says.
            shares = [f for f in feet if f is foot or (f.body and f.body == foot.body)]
            carried = np.sum([column(f.normal) for f in shares], axis=0)
            ways = zip(*[f.friction for f in shares], strict=True)
            along = [np.sum([column(name) for name in names], axis=0) for names in ways]
            sideways = np.linalg.norm(along or [np.zeros_like(normal)], axis=0)
            let_go = foot.lifts in self.planned_events
            weight = weight_of(self.machine) if let_go else 0.0
            stands = (np.abs(normal) > NO_LOAD * weight) | (
                (sideways != 0) & (not let_go) & (len(shares) == 1)
            )
            if not stands.any():
                continue
            normal, carried, sideways = normal[stands], carried[stands], sideways[stands]
            if let_go:  # where it carries nothing, what a mesh does not see is no friction
                sideways = np.maximum(sideways - FORCE_RESOLUTION * np.abs(normal).max(), 0.0)
            light = np.where(carried - normal > NO_LOAD * weight, 0.0, LIGHT_LOAD * weight)
            with np.errstate(divide="ignore"):
                needed = (
                    np.where(carried > 0, sideways / (carried + light), np.inf).max()
                    if foot.friction
                    else math.nan
                )
            least = float(normal.min())
            least = 0.0 if abs(least) <= NO_LOAD * weight else least
            loads.append(FootLoad(foot.name, least, float(needed)))
        return tuple(loads)

    def clearances(self, foot: Foot) -> tuple[float, float]:
        """Return the lowest height [m] of a foot above the ground in the replay, and the lowest at which it
        passes the other (infinite where it does not)."""
        t = np.linspace(self.run.t0, self.run.t1, LOAD_SAMPLES)[:-1]
        passing = self.run.events.times(foot.passes)
        heights = self.run.at(passing)[foot.gap] if len(passing) else np.empty(0)
        return float(self.run.at(t)[foot.gap].min()), float(np.min(heights, initial=math.inf))

    def swing_heights(self, foot: Foot, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Return moments of a phase in which a foot swings, as parts of it from 0 to 1, and its heights above
        the ground then [m], in the runs that are believed."""
        parts, heights = [np.empty(0)], [np.empty(0)]
        for run in self.runs:
            low, high = max(run.t0, motion.t[0]), min(run.t1, motion.t[-1])
            if low >= high:
                continue
            t = np.linspace(low, high, max(LOAD_SAMPLES // len(self.runs), 3))[1:-1]
            parts.append((t - motion.t[0]) / motion.duration)
            heights.append(run.at(t)[foot.gap])
        return np.concatenate(parts), np.concatenate(heights)

    def _last_row(self, run: Trajectory) -> int:
        """Rows of a run that belong to the motion: up to just before the event that ends it; what comes
        after is the next step's."""
        until = self.result.phases[-1].until
        if (
            until is None
            or (run is self.run and not math.isfinite(self.late))
            or until not in run.events.names
        ):
            return len(run.t)
        return int(np.searchsorted(run.t, run.events.times(until)[-1])) + 1

    @property
    def steps(self) -> int:
        """How often the event that ends the motion comes in it."""
        return sum(m.until == self.result.phases[-1].until for m in self.result.phases)

    @cached_property
    def repeats(self) -> bool:
        """Whether a second step, begun where the first one ended, ends as it did: within `MAX_DEVIATION`.
        Very unstable gaits do not, and are gaits all the same."""
        of, last = self.result.problem, self.result.phases[-1].until
        if of.repeats is None or last is None:
            return False
        ends = step_end_events(of.system, last) if of.repeats else (last,)
        steps = self.steps
        begin = {**begin_of(self.result), "x0": {name: self.run[name][0] for name in of.system.labels("x")}}
        run = simulate(
            self.machine, t=2 * MAX_DURATION_FACTOR * self.result.duration, **begin, **REPLAY_OPTIONS
        )
        hits = [event for event in run.events if event.name in ends]
        if len(hits) < 2 * steps:
            return False
        names = of.system.labels("x")
        first, second = (np.array([hits[k * steps - 1].before[name] for name in names]) for k in (1, 2))
        if of.repeats:
            z = np.array([hits[2 * steps - 1].before[name] for name in of.system.labels("z")])
            second, _ = mirror(of.system, second, z, self.result.p)
        section = section_of(of.system, last)
        own_rows = [i for i in range(len(names)) if i not in section.cyclic]
        first, second = (section.repeating_part(each, self.result.p) for each in (first, second))
        later = (hits[2 * steps - 1].t - hits[steps - 1].t) - self.result.duration
        return _apart(second[own_rows], first[own_rows]) <= MAX_DEVIATION and abs(later) <= MAX_DEVIATION

    @property
    def gait(self) -> Gait | None:
        """The motion as a gait of the machine with its plan, with exact multipliers; None if it is none, and
        `no_gait` says why."""
        return self._gait[0]

    @property
    def no_gait(self) -> str:
        """Why there is no gait, in words; empty where there is one."""
        return self._gait[1]

    @cached_property
    def _gait(self) -> tuple[Gait | None, str]:
        last = self.result.phases[-1].until
        if self.result.problem.repeats is None or last is None:
            return None, "the motion is not to repeat"
        # What happened in the replay happens in its gait; were there more, the map would be compiled whole.
        happened = sorted({event.name for event in self.run.events})
        machine, x0, steps = self.machine, self.result.x0, self.steps
        try:
            try:
                gait = find(machine, x0, last, steps=steps, walk=0, starts=1, events=happened)
            except NoGaitError as error:
                if not {e.name for e in self.machine.events} - {*happened} & {*error.fell}:
                    raise
                gait = find(machine, x0, last, steps=steps, walk=0, starts=1)
        except NoGaitError as error:
            why = explain_no_gait(error, machine, last)
        else:
            why = self._other_gait(gait)
            if not why:
                return gait, ""
        # A run in one go may magnify the errors of a plan so much that it leads nowhere.
        if steps > 1 or self.stays or not self.pieces.agrees(self.planned_events):
            return None, why
        through, why_not = find_gait_in_pieces(self.pieces, self.machine, self.result)
        why_not = why_not if through is None else self._other_gait(through)
        return (None, f"{why}; interval by interval, {why_not}") if why_not else (through, "")

    def _other_gait(self, gait: Gait) -> str:
        """Say that a gait is not that of the plan; empty where it is. Where the plan is hardly a motion of
        the machine, Newton's method may end in quite another one."""
        planned = self.result.x0
        away = _apart(np.array([gait.x0[name] for name in planned]), np.array(list(planned.values())))
        return f"the nearest gait is another one, {away:.2g} away" if away > MAX_DEVIATION else ""


@checked
def replay(result: Solution, x0: Mapping[str, float] | None = None) -> Replay:
    """Run the plan of a result in the event-driven simulator. x0: where it begins, if not where the plan
    does."""
    walker, planned = machine(result), result.duration
    first, last, begin = result.phases[0], result.phases[-1], begin_of(result)
    begin = begin if x0 is None else {**begin, "x0": dict(x0)}
    longest = planned * (MAX_DURATION_FACTOR if last.until else 1.0)
    run = simulate(walker, t=longest, **begin, **REPLAY_OPTIONS)
    names = result.problem.system.labels("x")
    if last.until is None:
        end = run.raw.x_end[: len(names)]
        return Replay(result, walker, run, run.t1 - planned, _apart(end, last.x[-1]), run.status)
    count = sum(1 for m in result.phases if m.until == last.until)
    hits = [e for e in run.events if e.name == last.until][:count]
    if len(hits) < count:
        return Replay(
            result,
            walker,
            run,
            math.nan,
            math.inf,
            explain_status(walker, run.status) if run.status != "done" else f"no {last.until}",
        )
    hit = hits[-1]
    run = simulate(walker, t=hit.t * (1 + 1e-12) + 1e-12, **begin, **REPLAY_OPTIONS)
    before = np.array([hit.before[n] for n in names])
    assert first.t[0] == 0.0
    return Replay(result, walker, run, hit.t - planned, _apart(before, last.x[-1]), last.until)


def replay_gait(drifting: Replay) -> Replay:
    """Return the replay of a plan from its gait, which is that of the machine with its plan, found by
    Newton's method from where the plan begins; the same replay where there is none."""
    gait, planned = drifting.gait, drifting.result.x0
    if gait is None:
        return drifting
    x0 = {name: gait.x0[name] for name in planned}
    moved = _apart(np.array(list(x0.values())), np.array(list(planned.values())))
    return replace(replay(drifting.result, x0), moved=moved)


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two states, relative to 1 + |b|."""
    return float((np.abs(a - b) / (1 + np.abs(b))).max(initial=0.0))


__all__ = ["Balance", "FootLoad", "Replay", "replay"]
