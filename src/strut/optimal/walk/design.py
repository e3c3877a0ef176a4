"""`Design`: a walker and how it walks, as they were found, and whether the simulator agrees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from strut.gait import Gait
from strut.gait.transport import distance, weight_of
from strut.optimal.solver.result import TRUSTED, Solution
from strut.optimal.walk.costs import Cost, impact
from strut.optimal.walk.replay import Replay, replay
from strut.system import Packed, System, time

SLIPPING = 1e-3
"""Friction may exceed what was asked by this part, between the points of the mesh."""
AT_BOUND = 1e-4
"""Nearer to a bound than this part of what is allowed is at it."""
BALANCED = 1e-6
"""Of the energy that moves, more than this must not be missing."""
STABLY = 1e-6
"""The largest multiplier may exceed what was asked by this part."""
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


__all__ = ["Design"]
