"""`Sensitivity`: how an optimum depends on a number that was given: a parameter, or the bound of a limit.

The cost by the envelope theorem: its derivative is that of the Lagrangian. The motion by the implicit
function theorem on the conditions of an optimum, active limits held: see `KktStep`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver.bound_multipliers import SIDES
from strut.optimal.solver.kkt_step import KktStep
from strut.optimal.solver.parameter_slopes import lagrangian_change, lagrangian_slopes
from strut.optimal.solver.result import Solution
from strut.optimal.solver.scaling import nominal_scales
from strut.tabular import Tabular

_meshes: WeakKeyDictionary[Solution, Transcribed] = WeakKeyDictionary()
"""The mesh of a solution, made once for all that is asked of it."""


@checked
@dataclass(frozen=True, eq=False)
class Sensitivity(Tabular):
    """By how much an optimum changes for each unit of a number that was given.

    name: of the parameter, or of the limit. side: of the limit, 'low', 'high' or 'equal'; empty of
        parameters.
    cost: by how much the least cost grows. parameters: those that are free, by name. duration: of the motion
        [s]. x0: where it begins, by name of the state.
    motion: states at the nodes of all phases, and inputs, by name; at the same part of a phase, as
        `Solution` has them.
    """

    name: str
    side: str
    cost: float
    parameters: Mapping[str, float]
    duration: float
    x0: Mapping[str, float]
    motion: Mapping[str, np.ndarray] = field(repr=False)

    def columns(self) -> dict[str, list[object]]:
        """Return what changes, and by how much for each unit of the number that was given."""
        begin = {f"{label} at the beginning": slope for label, slope in self.x0.items()}
        changes = {"cost": self.cost, **self.parameters, "duration": self.duration, **begin}
        number = f"{self.name}, {self.side}" if self.side else self.name
        return {"of": list(changes), f"change per unit of {number}": list(changes.values())}


@checked
def sensitivity(solution: Solution, name: str, side: str | None = None) -> Sensitivity:
    """Return how a solution depends on a number that was given, to first order: as long as the same limits
    are active.

    name: of a parameter that is not free; or of a limit: a requirement ('speed'), 'bounds of NAME',
        'NAME at the beginning', 'NAME at the end' or 'duration of PHASE'.
    side: of a limit, which of its bounds moves: 'low', 'high' or 'equal'; by default the one that presses.
    Raises `UnknownNameError` for a name that is neither, `ModelError` where a limit has several sides that
    press, where the solution is none, and where several motions are as good, so that it is not determined
    how they move. Discrete states that a phase begins with, and limits that were computed from parameters
    before the search, such as a default on torque, count as given numbers.
    """
    mesh = mesh_of(solution)
    point = solution.optimum
    assert point is not None
    v, (bounds, rows) = point.unknowns, point.exact_multipliers(mesh)
    if name in mesh.system.labels("p"):
        if name in solution.parameters:
            raise ModelError(
                f"parameter '{name}' is free: the search chose it, and nothing depends on what it was; ask "
                f"for 'bounds of {name}', or for a parameter that is fixed"
            )
        direction = np.zeros(mesh.np)
        direction[mesh.system.labels("p").index(name)] = 1.0
        gradient, growth = lagrangian_change(mesh, v, rows, direction)
        row_shift, bound_shift, which = -growth, np.zeros(len(v)), ""
        cost = float(lagrangian_slopes(mesh, v, rows) @ direction)
    else:
        which = _side_of(solution, name, side)
        gradient = np.zeros(len(v))
        bound_shift, row_shift = _shift_of_limit(mesh, (bounds, rows), name, which)
        if not bound_shift.any() and not row_shift.any():
            raise ModelError(f"'{name}' does not press on its side '{which}': moving it changes nothing")
        cost = -float(bounds @ bound_shift + rows @ row_shift)
    scales = nominal_scales(mesh, v, solution.scales)
    step = KktStep(mesh=mesh, unknowns=v, bounds=bounds, rows=rows, scales=scales)
    step.check_determined()
    change = step.solve(gradient, row_shift, bound_shift).unknowns
    states = np.concatenate([change[span.x] for span in mesh.spans])
    inputs = np.concatenate(
        [np.vstack([change[span.w[:, 0]], change[span.w[-1:, -1]]]) for span in mesh.spans]
    )
    motion = {label: states[:, i] for i, label in enumerate(mesh.system.labels("x"))}
    motion |= {label: inputs[:, i] for i, label in enumerate(mesh.system.labels("u"))}
    return Sensitivity(
        name=name,
        side=which,
        cost=cost,
        parameters=dict(zip(solution.parameters, map(float, change[mesh.p_at]), strict=True)),
        duration=float(sum(change[span.duration] for span in mesh.spans)),
        x0=dict(zip(mesh.system.labels("x"), map(float, states[0]), strict=True)),
        motion=motion,
    )


def cost_slopes(solution: Solution) -> dict[str, float]:
    """Return by how much the least cost grows for each unit of every parameter that is not free, by name
    (envelope theorem); vectors by component. Raises `ModelError` where the solution is none."""
    mesh, point = mesh_of(solution), solution.optimum
    assert point is not None
    slopes = lagrangian_slopes(mesh, point.unknowns, point.exact_multipliers(mesh)[1])
    names = mesh.system.labels("p")
    return {n: float(slope) for n, slope in zip(names, slopes, strict=True) if n not in solution.parameters}


def mesh_of(solution: Solution) -> Transcribed:
    """Return the mesh on which a solution was found, transcribed again, with expressions as they are."""
    point = solution.optimum
    if point is None or not solution.success or solution.is_interrupted:
        raise ModelError(
            f"the solution of '{solution.problem.system.name}' has no multipliers ({solution.status}): "
            f"sensitivities are those of an optimum, solve the problem first"
        )
    if solution not in _meshes:
        mesh = Transcribed(solution.problem, solution.how, point.fractions, "virtual")
        if not point.is_on(mesh):
            raise ModelError(
                f"the multipliers of '{solution.problem.system.name}' are those of another problem: solve "
                f"this one from its own result first"
            )
        _meshes[solution] = mesh
    return _meshes[solution]


def _side_of(solution: Solution, name: str, side: str | None) -> str:
    """Return the side of a limit that moves."""
    groups = {group.name: group for group in solution.multipliers}
    if name not in groups:
        names = [*solution.problem.system.labels("p"), *groups]
        raise UnknownNameError(
            f"'{name}' is no parameter and no limit of the problem: {did_you_mean(name, names)}"
        )
    if side is not None:
        if side not in SIDES:
            raise ModelError(f"side '{side}' of '{name}' is none: allowed are {', '.join(SIDES)}")
        return side
    group = groups[name]
    pressing = (
        ["equal"] if group.presses("equal").any() else group.active_sides(solution.cost, solution.cost_scale)
    )
    if len(pressing) != 1:
        raise ModelError(
            f"both sides of '{name}' press: say which one moves, side='low' or side='high'"
            if pressing
            else f"'{name}' presses nowhere: moving it changes nothing"
        )
    return pressing[0]


def _shift_of_limit(
    mesh: Transcribed, multipliers: tuple[np.ndarray, np.ndarray], name: str, side: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for every bound of an unknown, and of a row, that is this side of a limit and presses; 0 for
    others."""
    shifts = []
    for block, first, values in zip((mesh.unknowns, mesh.rows), (0, 1), multipliers, strict=True):
        low, high = np.array(block.low[first:]), np.array(block.high[first:])
        of_limit = np.zeros(len(values), dtype=bool)
        of_limit[[at - first for at, place in block.limits.items() if place.limit == name]] = True
        on_side = {
            "equal": low == high,
            "high": (values > 0) & (low < high),
            "low": (values < 0) & (low < high),
        }
        shifts.append(np.where(of_limit & on_side[side], 1.0, 0.0))
    return shifts[0], shifts[1]


__all__ = ["Sensitivity", "cost_slopes", "mesh_of", "sensitivity"]
