"""Duindam's passive mechanical control: springs, dampers and masses that make a compass walk at another speed
almost without torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca

from strut.gait import distance, find
from strut.optimal import Integral, Problem, Solution, gait_search, step_problem
from strut.studies.study import Row, Study, cost_verdict
from strut.system import System, time
from strut.walkers import compass_driven

FIRST_GUESS = {"stance": (0.23, -0.33), "swing": (-0.33, 0.23), "duration": 0.7}
"""A rough step to begin from: angles at its begin and end [rad], and its duration [s]."""
HIS_DEGREE, HIS_POINTS = 10, 20
"""Degree of his polynomials, and points over which he sums squared torques."""
SPEEDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3)
"""Speeds of his tables [m/s]."""
MIN_TOUCHDOWN_SPEED = 0.5
"""Speed at which the foot must come down, at least [m/s] (his 4.23)."""
TOTAL_MASS = 7.0
"""Mass of the whole machine [kg]."""
MIN_LEG_MASS = 0.1
"""Lower bound of the mass of a leg [kg]: without one a leg without mass costs nothing."""
MAX_PASSIVE_EFFORT = 1e-9
"""Squared torque [N^2 m^2 s] up to which a machine counts as walking by itself."""

COSTS = {
    "nominal": ("1.4", "0.44", "0.032", "0.0059", "0.025", "0.28", "0.82", "1.7", "2.8"),
    "spring and damper": ("1.4", "0.44", "0.032", "0.0038", "0.0030", "0.0065", "0.015", "0.032", "0.061"),
    "mass": ("0.062", "0.011", "0.0023", "0.0032", "0.0071", "0.012", "0.016", "0.011", "0.011"),
    "mass, spring and damper": (
        "0.037",
        "0.0029",
        "0.0017",
        "0.0014",
        "0.0016",
        "0.0027",
        "0.0042",
        "0.0054",
        "0.0099",
    ),
}
"""Squared torques of his Table 5.1 [N^2 m^2 s], by case and speed."""
SPRINGS = (
    "0, 0",
    "0, 0",
    "0, 0",
    "0.012, 0.047",
    "0.63, 0.038",
    "2.9, 0.034",
    "6.0, 0.030",
    "10, 0.026",
    "16, 0.022",
)
"""Constants of his Table 5.2, by speed: spring [N m/rad], damper [N m s/rad]."""
MASSES = {
    "mass": ("2.5", "1.8", "1.3", "0.85", "0.86", "0.57", "0.38", "0.19", "0.13"),
    "mass, spring and damper": ("3.5", "2.6", "1.7", "0.99", "0.86", "0.56", "0.37", "0.25", "0.17"),
}
"""Masses of a leg in the same table [kg], by case and speed."""
SPRING_BOUNDS = {"hip_spring": (0.0, 100.0), "hip_damping": (0.0, 10.0)}
"""Bounds of a free spring [N m/rad] and damper [N m s/rad]."""
MASS_BOUNDS = {"leg_mass": (MIN_LEG_MASS, TOTAL_MASS / 2), "hip_mass": (0.0, TOTAL_MASS)}
"""Bounds of free masses [kg]."""


class SpringWalk:
    """His problem: the compass on 3 degrees at a speed, least squared torque in hip and ankle."""

    def __init__(self, walker: System | None = None) -> None:
        self.walker: System = compass_driven() if walker is None else walker
        w = self.walker
        self.effort = Integral("effort", w["hip_torque"] ** 2 + w["ankle_torque"] ** 2)
        x = ca.vertcat(*[q.sym for q in w.x])
        self.sinking = ca.jtimes(w["clearance"], x, ca.vertcat(*[w.flow[q.name] for q in w.x]))
        self.pace = distance(w, "heel_strike") / time

    def problem(self, speed: float | None, free: Mapping[str, tuple[float, float]] | None = None) -> Problem:
        """Pose the search for a step at a speed [m/s], or at any; free: bounds of parameters to be found."""
        problem = (
            step_problem(self.walker, ("heel_strike",), duration=(0.2, 2.0))
            .free(**(free or {}))
            .minimise(self.effort)
        )
        problem = problem.require("touchdown", self.sinking, high=-MIN_TOUCHDOWN_SPEED, at="end")
        if speed is not None:
            problem = problem.require("speed", self.pace, equal=speed, at="end")
        if "leg_mass" in (free or {}):
            problem = problem.require(
                "all of it", self.walker["hip_mass"] + 2 * self.walker["leg_mass"], equal=TOTAL_MASS, at="end"
            )
        return problem

    def with_masses(self, leg_mass: float) -> SpringWalk:
        """Return the same of a machine of the same mass, with legs of this one [kg]."""
        return SpringWalk(self.walker.using(leg_mass=leg_mass, hip_mass=TOTAL_MASS - 2 * leg_mass))

    def sum_over_points(self, speed: float, free: Mapping[str, tuple[float, float]]) -> float:
        """Return the least squared torque [N^2 m^2 s] at a speed [m/s] by his own method: polynomials of
        degree 10, and a sum over 20 points."""
        problem = self.problem(speed, free)
        return float(gait_search(problem, FIRST_GUESS, degree=HIS_DEGREE, nodes=HIS_POINTS).cost)

    def softest(self, speed: float, begin: Solution) -> Solution:
        """Solve for the machine with the softest spring that walks at a speed [m/s] by itself; where none
        does, for the one of least torque."""
        best: Solution = self.problem(speed, SPRING_BOUNDS).solve(begin, accuracy=1e-7, cost_accuracy=None)
        if best.cost > MAX_PASSIVE_EFFORT:
            return best
        soft = (
            self.problem(speed, SPRING_BOUNDS)
            .require("by itself", self.effort, high=MAX_PASSIVE_EFFORT, at="end")
            .minimise(self.walker["hip_spring"])
        )
        solution: Solution = soft.solve(best, accuracy=1e-6, cost_accuracy=None)
        return solution if solution.success else best

    def solve_with_free_masses(
        self, speed: float, free: Mapping[str, tuple[float, float]], nominal: Solution, his: float
    ) -> Solution:
        """Search with free masses from the nominal ones and from his, and return the better solution."""
        begin = nominal.guess()
        theirs = replace(
            begin, parameters={"leg_mass": min(his, 3.4), "hip_mass": TOTAL_MASS - 2 * min(his, 3.4)}
        )
        tried: list[Solution] = [
            self.problem(speed, free).solve(guess, accuracy=1e-6, cost_accuracy=None)
            for guess in (begin, theirs)
        ]
        good = [r for r in tried if r.success] or tried
        return min(good, key=lambda r: r.cost)

    def nominal(self, speeds: Sequence[float] = SPEEDS) -> dict[float, Solution]:
        """Solve for the machine as it is, at every speed [m/s]: from the passive gait to slower and to faster
        ones."""
        passive = find(self.walker)
        by_speed: dict[float, Solution] = {}
        for speeds_outwards in (
            [v for v in speeds if v >= passive.speed],
            [v for v in reversed(speeds) if v < passive.speed],
        ):
            begin: object = passive
            for v in speeds_outwards:
                by_speed[v] = self.problem(v).solve(begin, accuracy=1e-7, cost_accuracy=None)
                begin = by_speed[v]
        return dict(sorted(by_speed.items()))


def rows() -> list[Row]:
    """Compare squared torques, springs and masses with Duindam's tables, at each of his speeds."""
    walk = SpringWalk()
    nominal = walk.nominal()
    table = [_row("nominal", k, v, nominal[v].cost) for k, v in enumerate(SPEEDS)]
    for k, v in enumerate(SPEEDS):
        soft = walk.softest(v, nominal[v])
        spring, damper = (soft.parameters[n] for n in SPRING_BOUNDS)
        table.append(
            _row(
                "spring and damper",
                k,
                v,
                soft.totals.get("effort", soft.cost),
                _passive(soft.totals.get("effort", soft.cost)),
            )
        )
        remark = (
            "of all springs that do it without torque the softest, where the foot comes down at exactly 0.5 "
            "m/s"
            if spring > 0.1
            else "no spring: it makes a walker faster, and never slower"
            + ("; the damper slows it" if damper > 1e-3 else "; nor damper")
        )
        table.append(
            Row(
                f"{v} m/s: spring [N m/rad], damper [N m s/rad]",
                SPRINGS[k],
                f"{spring:.4g}, {damper:.3g}",
                remark,
            )
        )
    for label, free in (("mass", MASS_BOUNDS), ("mass, spring and damper", {**MASS_BOUNDS, **SPRING_BOUNDS})):
        for k, v in enumerate(SPEEDS):
            best = walk.solve_with_free_masses(v, free, nominal[v], float(MASSES[label][k]))
            his = float(MASSES[label][k])
            same = walk.solve_with_free_masses(v, {**free, "leg_mass": (his, his)}, nominal[v], his).cost
            comparison = f", with which ours would be {max(same, 0.0):.2g}"
            if best.cost > float(COSTS[label][k]):
                springs = SPRING_BOUNDS if "hip_spring" in free else {}
                summed = walk.with_masses(his).sum_over_points(v, springs)
                comparison += f", and {summed:.2g} as his sum over {HIS_POINTS} points: unexplained"
            bound = ", the least allowed" if best.parameters["leg_mass"] < 1.001 * MIN_LEG_MASS else ""
            table.append(
                _row(
                    label,
                    k,
                    v,
                    best.cost,
                    f"legs of {best.parameters['leg_mass']:.3g} kg{bound}; his {his:g}{comparison}",
                )
            )
    return table


def _row(case: str, k: int, speed: float, cost: float, remark: str = "") -> Row:
    """Return the row of a cost, which says whether it is better or worse than his."""
    published, ours = COSTS[case][k], max(cost, 0.0)
    remarks = (cost_verdict(published, ours), remark)
    return Row(
        f"{speed} m/s: squared torque, {case} [N^2 m^2 s]",
        published,
        f"{ours:.3g}",
        "; ".join(each for each in remarks if each),
    )


def _passive(cost: float) -> str:
    return "it walks by itself: his search had not come so far" if cost <= 1e-7 else ""


STUDY = Study(
    "duindam-springs",
    "Port-based modeling and control for efficient bipedal walking robots, section 5.1 (Tables 5.1 and 5.2)",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
