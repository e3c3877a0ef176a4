"""`Design`: a walker and how it walks, as they were found, and whether the simulator agrees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca

from strut.errors import ModelError
from strut.gait import Gait
from strut.gait.transport import weight_of
from strut.optimal.solver.result import INTERRUPTED, Solution
from strut.optimal.walk.active_limits import ActiveLimit, find_active_limits
from strut.optimal.walk.costs import COST_PART, Cost, impact
from strut.optimal.walk.end_state import MAX_GAIT_ERROR, gait_error
from strut.optimal.walk.parameter_slope import ParameterSlope, find_parameter_slopes, no_slopes_reason
from strut.optimal.walk.read_walk import gravity_of, landing_foot, slope_of
from strut.optimal.walk.replay import Replay, lateness, replay, replay_gait
from strut.optimal.walk.stairs import climbing_doubt, has_stairs, stair_rise
from strut.optimal.walk.step_limits import StepLimits
from strut.optimal.walk.track import STEP_TIME
from strut.optimal.walk.travel import count_steps, distance_travelled, last_section, phase_ends
from strut.optimal.walk.turned_joints import find_turned_joints
from strut.optimal.walk.verify import plan_faults, replay_faults
from strut.simulate import LiveResult, SavedResult
from strut.system import Packed, System, time
from strut.tabular import TableTexts, Tabular, TabularTuple, name_value_unit

BOUND_SLACK = 1e-4
"""A parameter nearer to a bound than this part of what is allowed is said to be at it."""
COST_RESOLUTION = 1e-9
"""Costs up to this are shown as 0: the solver's tolerance is 1e-8, and a cost of transport is 1e-3 or
more."""
NO_COST = "none: not solved"
"""Stands for the cost of a search that failed: what it had when it stopped is the cost of no motion."""
WORK_ALONE = ("paper", "energy", "positive-work", "absolute-work")
"""Costs in which torques themselves cost nothing."""
SI_UNITS = ("s", "m", "m/s", "kg", "J", "N")
"""Units that a dimensionless machine does not have."""


def rounded_cost(cost: float) -> float:
    """Return a cost to be shown: 0 where it is below `COST_RESOLUTION`."""
    return 0.0 if abs(cost) <= COST_RESOLUTION else cost


@dataclass(frozen=True, eq=False)
class Design(SavedResult, LiveResult, Tabular, Packed):
    """A walker and its gait.

    result: of the optimal control problem. cost: what was minimised. passive: the gait from which the
        search began, if there was one.
    limits: what was asked of a step, and the defaults that were kept beside it. price: on squared torque,
        where a cost of work alone led to no optimum.
    ok: solved, accurate, limits are kept between the points of the mesh, too, the simulator agrees, closes
        the account of energy and repeats the step, and what was asked of feet and multipliers holds there;
        `wrong` says what does not. verdict: this, and whether the gait is stable.
    active_limits: those that decide the answer.
    system: with the parameters that were found. machine: with the inputs, too.
    """

    result: Solution = field(repr=False)
    cost: Cost = field(repr=False)
    passive: Gait | None = field(repr=False, default=None)
    limits: StepLimits = field(repr=False, default_factory=StepLimits)
    price: ActiveLimit | None = field(repr=False, default=None)

    @property
    def ok(self) -> bool:
        """Whether nothing keeps it from being believed: see `wrong`, which takes a while to say why a problem
        was not solved."""
        # A plan that is wrong by itself is not replayed to find that out.
        return self.result.success and not plan_faults(self.result) and not self.wrong

    @property
    def drifts(self) -> bool:
        """Whether the simulator does what was planned, but ends elsewhere, or with another energy: a very
        unstable gait magnifies the errors of its plan."""
        return self.replay.drifts

    @cached_property
    def wrong(self) -> tuple[str, ...]:
        """What keeps it from being `ok`, in sentences."""
        if self.result.is_interrupted:
            return (f"{INTERRUPTED}: this is the best that the search had",)
        faults = plan_faults(self.result, self.limits)
        if not self.result.success:
            return tuple(faults)
        faults += replay_faults(self.replay)
        if self.replay.ok and (self.gait_error or 0.0) > MAX_GAIT_ERROR:
            faults.append(
                f"it ends {self.gait_error:.2g} away from the gait in the simulator, more than "
                f"{MAX_GAIT_ERROR:g} relative to 1 + |state|"
            )
        return (*faults, *(self.limits.broken(self.replay) if self.replay.ok else ()))

    @property
    def verdict(self) -> str:
        """In a word: 'ok'; 'ok, unstable in open loop' (or 'neutral') where nothing yet brings a disturbed
        walker back to its gait; 'not ok'."""
        if not self.ok:
            return "not ok"
        return "ok" if self.gait is None or self.gait.stable else f"ok, {self.gait.kind} in open loop"

    @cached_property
    def turned_joints(self) -> tuple[str, ...]:
        """A sentence for each joint that is all through the step far from where the machine was described,
        as of a torso that hangs down; none of where a search stopped that failed, which is no motion."""
        if not self.result.success:
            return ()
        joints = find_turned_joints(self.result, self.section)
        return tuple(joint.sentence for joint in joints.values())

    @cached_property
    def active_limits(self) -> TabularTuple[ActiveLimit]:
        """The limits that decide the answer, asked or not, those that matter most first; and the price on
        squared torque, if there is one."""
        prices = () if self.price is None else (self.price,)
        return TabularTuple((*prices, *find_active_limits(self.result, self.limits)))

    @cached_property
    def sensitivities(self) -> TabularTuple[ParameterSlope]:
        """What a unit more of each parameter that is not free would cost, those that matter most first. The
        problem is transcribed once more for it; `result.sensitivity(name)` says how the walk itself would
        change."""
        return TabularTuple(find_parameter_slopes(self.result))

    @property
    def no_sensitivities(self) -> str:
        """Why there are no `sensitivities`, in words; empty where there are some."""
        return "" if self.sensitivities else no_slopes_reason(self.result)

    def sensitivity_data(self) -> dict[str, Any]:
        """Return for JSON: `sensitivities`, and why there are none."""
        slopes = [each.data() for each in self.sensitivities]
        return {"sensitivities": slopes, "no_sensitivities": self.no_sensitivities}

    @property
    def parameters(self) -> Mapping[str, float]:
        """The parameters that were free, with the values that were found."""
        return {name: value for name, value in self.result.parameters.items() if name != STEP_TIME}

    @property
    def system(self) -> System:
        """The walker with the parameters that were found."""
        return self.result.system

    @property
    def planned_system(self) -> System:
        """The system as the plan has it: with the default parameters, and events that do what they did in the
        gait it began from."""
        return self.result.problem.system

    @property
    def machine(self) -> System:
        """The walker with its parameters and its plan of inputs: a system that walks by itself. Raises
        `ModelError` where the search found no plan."""
        if not self.result.success and not self.result.is_interrupted:
            raise ModelError(
                f"the search for a design of '{self.system.name}' failed ({self.result.status}): it has no "
                f"plan that a machine could follow; wrong says what must give way"
            )
        return self.replay.machine

    @cached_property
    def replay(self) -> Replay:
        """The plan in the event-driven simulator: from where it begins, or, where it is so unstable that the
        errors of the plan show at its end, from its gait, if there is one so near."""
        from_plan = replay(self.result)
        return replay_gait(from_plan) if from_plan.drifts else from_plan

    def with_counted_starts(self, result: Solution) -> Design:
        """Return the design with its own result, which now says how many starts agree: what was replayed
        already is not replayed again."""
        counted = replace(self, result=result)
        if "replay" in vars(self):
            vars(counted)["replay"] = self.replay
        return counted

    @property
    def gait(self) -> Gait | None:
        """The gait of the walker that follows its plan, with exact multipliers; None if the plan does not
        repeat in the simulator."""
        return self.replay.gait

    @cached_property
    def gait_error(self) -> float | None:
        """How far from the gait a motion ends that leads into one (`start`), in the simulator, relative to
        1 + |state|; None of others."""
        return gait_error(self.replay)

    @property
    def section(self) -> str:
        """The event that ends the last step."""
        return last_section(phase_ends(self.result.problem))

    @property
    def steps(self) -> int:
        """How many steps the motion has."""
        return count_steps(self.planned_system, phase_ends(self.result.problem))

    def _at_end(self, expression: ca.SX) -> float:
        """Return the value of an expression at the end of the plan."""
        m, groups = self.result.phases[-1], self.planned_system.vectors()
        f = ca.Function("end", [time, *groups], [expression])
        return float(f(m.t[-1], m.x[-1], m.z, m.inputs(m.t[-1:])[0], self.result.p))

    @cached_property
    def step_length(self) -> float:
        """[m], along the ground; of several steps, the mean."""
        ends = phase_ends(self.result.problem)
        return self._at_end(distance_travelled(self.planned_system, ends)) / self.steps

    @property
    def step_time(self) -> float:
        """[s], of several steps the mean."""
        return self.result.duration / self.steps

    @property
    def speed(self) -> float:
        """[m/s]"""
        return self.step_length / self.step_time

    @cached_property
    def energy_lost(self) -> float:
        """The energy that the impact at the end of the motion takes [J]."""
        last = self.result.phases[-1].until
        return 0.0 if last is None else self._at_end(impact(self.planned_system, last))

    def parts(self) -> dict[str, float]:
        """Return what each of several costs comes to, before its weight."""
        totals = [t.sym for t in self.result.problem.totals]
        numbers = [ca.DM(self.result.totals[t.name]) for t in self.result.problem.totals]
        return {
            p.name: self._at_end(ca.substitute([p.expression], totals, numbers)[0]) for p in self.cost.parts
        }

    @property
    def weight(self) -> float:
        """[N]"""
        return weight_of(self.system)

    @property
    def mass(self) -> float:
        """The mass of the whole walker [kg]: weight by gravity."""
        return self.weight / gravity_of(self.system)

    def guess(self) -> Any:
        """Return what another search begins from."""
        return self.result.guess()

    @property
    def ground(self) -> dict[str, tuple[float, str]]:
        """The ground of the plan, by name with its unit: how it inclines, whoever said so, and how much it
        rises with every step on stairs. Empty where a walker has neither."""
        walker = self.result.problem.system
        stated: dict[str, tuple[float, str]] = {}
        if walker.walk is not None and walker.walk.slope:
            stated["slope, downhill"] = (math.degrees(slope_of(walker, self.result.p)), "deg")
        if has_stairs(walker):
            stated["rise of a stair, beside the slope"] = (stair_rise(walker), "m")
        return stated

    def rows(self) -> list[tuple[str, float | str, str]]:
        """Return what there is to say, for tables: name, value, unit."""
        r, units = self.result, {q.name: q.unit for q in self.system.p}
        rows: list[tuple[str, float | str, str]] = [
            (name, v, units[name] + self._bound(name)) for name, v in self.parameters.items()
        ]
        rows += [
            (f"cost ({self.cost.name})", rounded_cost(r.cost) if r.success else NO_COST, self.cost.unit),
            *[
                (
                    f"{COST_PART}{part.name}, before its weight",
                    rounded_cost(self.parts()[part.name]),
                    part.unit,
                )
                for part in self.cost.parts
                if r.success
            ],
            ("speed", self.speed, "m/s"),
            ("step length", self.step_length, "m"),
            ("step time", self.step_time, "s"),
            *[(name, value, unit) for name, (value, unit) in self.ground.items()],
            *([("steps", float(self.steps), "")] if self.steps > 1 else []),
            ("mass", self.mass, "kg"),
            ("starts", r.agreement_text, ""),
        ]
        rows += [] if r.is_interrupted else self._simulated_rows()
        return [
            (name, v, "" if self.system.dimensionless and unit in SI_UNITS else unit)
            for name, v, unit in rows
        ]

    def _simulated_rows(self) -> list[tuple[str, float | str, str]]:
        """Return what the simulator and the solver have to say, for tables."""
        r = self.result
        rows: list[tuple[str, float | str, str]] = []
        if r.success and self.replay.ok:  # else it is that of another motion, or of none
            b = self.replay.balance
            rows += [
                ("given by gravity", b.round_energy(b.fallen), "J"),
                ("work of the motors", b.round_energy(b.work), "J"),
                ("lost in impacts", b.round_energy(b.lost), "J"),
                ("lost in dampers", b.round_energy(b.dissipated), "J"),
                ("energy balance, relative", b.relative, ""),
            ]
            rows += [row for load in self.replay.foot_loads for row in load.rows()]
        return [
            *rows,
            ("KKT residual", max(r.kkt.values()), ""),
            ("defect", r.defect, ""),
            ("verdict", self.verdict, ""),
            *(self._replay_rows() if r.success else []),  # of no motion a replay says nothing
            ("iterations", float(r.iterations), ""),
            *[
                (f"time to {name}" if name != "cpu" else "of it on the processor", seconds, "s")
                for name, seconds in r.times.items()
            ],
        ]

    def _replay_rows(self) -> list[tuple[str, float | str, str]]:
        """Return how the plan goes in the simulator, for tables."""
        late, gait = self.replay.late, self.gait
        largest = f"none: {self.replay.no_gait}" if gait is None else float(abs(gait.multipliers[0]))
        return [
            ("replay", self.replay.agreement_text, ""),
            *([(*lateness(late), "s")] if math.isfinite(late) else []),
            *([] if self.gait_error is None else [("ends away from the gait by", self.gait_error, "")]),
            ("largest multiplier", largest, ""),
        ]

    @property
    def advice(self) -> str:
        """What to try where it is not `ok`, if there is something to say; empty otherwise."""
        if self.result.is_interrupted or self.ok:
            return ""
        advice = climbing_doubt(self.planned_system) or self._clearance_advice
        if advice or self.cost.name not in WORK_ALONE:
            return advice
        return (
            f"work alone asks for ever larger torques for ever shorter times: try --cost "
            f"{self.cost.name}=1,squared-torque=0.1, or --torque"
        )

    @property
    def _clearance_advice(self) -> str:
        """What to try where the simulator tells another story of feet that land wherever they touch the
        ground, and nobody asked how high they swing; empty otherwise."""
        foot = landing_foot(self.system, self.section)
        asked = self.limits["clearance"] is not None
        if not self.result.success or self.replay.ok or foot is None or asked:
            return ""
        return (
            f"'{foot.name}' lands wherever it touches the ground, and a plan may skim it between its points: "
            f"try --clearance 0.02, which keeps its swing higher [m], or more --intervals"
        )

    def _bound(self, name: str) -> str:
        """Return what is said of a parameter that is at its bound; empty otherwise."""
        low, high = self.result.problem.parameters[name]
        v, width = self.parameters[name], high - low
        near = [
            b
            for b in (low, high)
            if abs(v - b) <= BOUND_SLACK * (width if math.isfinite(width) else 1 + abs(b))
        ]
        return " (at its bound)" if near else ""

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of what there is to say: `rows`."""
        return name_value_unit(self.rows())

    def _card_tables(self) -> TableTexts:
        rows = [(n, v if isinstance(v, str) else f"{v:.6g}", unit) for n, v, unit in self.rows()]
        return {
            "what is wrong": (("",), [(why,) for why in self.wrong]),
            "the design": (("", "value", "unit"), rows),
            "a step keeps": (("", "value", "unit", ""), self.limits.rows()),
        }

    def table(self) -> str:
        """Return `rows` as text."""
        rows = [(n, v if isinstance(v, str) else f"{v:.6g}", unit) for n, v, unit in self.rows()]
        wide, long = max(len(n) for n, _, _ in rows), max(len(v) for _, v, _ in rows)
        return "\n".join(f"{n:<{wide}}  {v:>{long}}  {unit}".rstrip() for n, v, unit in rows)

    def data(self) -> dict[str, Any]:
        """Return what `strut design --json` prints."""
        facts = {
            **self.result.summary(),
            "ok": self.ok,
            "verdict": self.verdict,
            "wrong": list(self.wrong),
            "turned_joints": list(self.turned_joints),
            "active_limits": [each.data() for each in self.active_limits],
            "cost_name": self.cost.name,
            "cost_unit": self.cost.unit,
            "cost_parts": self.parts(),
            "goal": self.limits.data(),
            "speed": self.speed,
            "step_length": self.step_length,
            "ground": {name: {"value": value, "unit": unit} for name, (value, unit) in self.ground.items()},
            "steps": self.steps,
        }
        if self.result.is_interrupted or not self.result.success:  # nothing to simulate
            return facts
        g, b = self.gait, self.replay.balance
        return {
            **facts,
            "replay": {
                "ok": self.replay.ok,
                "in_one_go": self.replay.stays,
                "late": self.replay.late,
                "missed": self.replay.missed,
                "ended": self.replay.ended,
                "moved": self.replay.moved,
            },
            "balance": {
                "fallen": b.fallen,
                "work": b.work,
                "lost": b.lost,
                "dissipated": b.dissipated,
                "kept": b.stored,
                "residual": b.residual,
                "relative": b.relative,
            },
            "foot_loads": [vars(load) for load in self.replay.foot_loads],
            "stable": None if g is None else g.stable,
            "gait_error": self.gait_error,
            "multipliers": None if g is None else [[float(m.real), float(m.imag)] for m in g.multipliers],
        }

    def __repr__(self) -> str:
        values = ", ".join(f"{n} {v:.4g}" for n, v in self.parameters.items()) or "nothing free"
        good = "ok" if self.ok else f"not ok ({self.result.status})"
        starts = self.result.agreement_text.partition(":")[0]
        return (
            f"<Design of {self.system.name}: {good}, {self.cost.name} {self.result.cost:.5g}, {values}, "
            f"{starts}>"
        )


__all__ = ["Design", "rounded_cost"]
