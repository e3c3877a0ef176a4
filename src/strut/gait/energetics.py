"""Where the energy of a gait goes: the account of a step, costs of transport by their names, and what impacts take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.codegen import lowered
from strut.errors import ModelError
from strut.gait.section import Shape, shape_of
from strut.simulate import Trajectory
from strut.system import System, start, sx

DEFINITIONS = {
    "lost": "energy lost in impacts and dampers over weight and distance",
    "signed": "net work of all motors over weight and distance: what they give less what they take back",
    "positive": "work of the motors while they drive over weight and distance; what they take back is wasted",
    "absolute": "work of the motors with the sign removed over weight and distance: taking back costs as much as driving",
    "squared_torque": "integral of the squared torques over weight and distance [N s]: what heats the motors, up to a constant",
}
"""What is meant by each cost of transport. Distances are along the ground."""


@dataclass(frozen=True, eq=False)
class Energetics:
    """The energy of one period.

    lost, dissipated, supplied: energies by channel [J]. spent: all that was lost or dissipated [J].
    fallen: energy that gravity gave [J]. weight: of the walker [N]. distance: along the ground [m].
    costs: cost of transport by definition, see `DEFINITIONS`.
    """

    lost: Mapping[str, float]
    dissipated: Mapping[str, float]
    supplied: Mapping[str, float]
    fallen: float
    spent: float
    weight: float
    distance: float
    costs: Mapping[str, float]

    @property
    def definitions(self) -> Mapping[str, str]:
        """What is meant by each of the `costs`."""
        return {name: DEFINITIONS[name] for name in self.costs}

    def table(self) -> str:
        """Definitions side by side."""
        width = max(map(len, self.costs))
        return "\n".join(f"{name:{width}}  {value:12.9f}  {DEFINITIONS[name]}" for name, value in self.costs.items())


def froude(speed: float, leg: float, g: float) -> float:
    """Froude number: speed^2 / (g leg)."""
    return speed**2 / (g * leg)


def energetics(run: Trajectory, distance: float, points: int = 4001) -> Energetics:
    """The account of a run that is one period of a gait."""
    system = run.system
    if system is None:
        raise ModelError("the energy of a run needs its system: a loaded trajectory has none")
    account = run.ledger
    lost = {n: float(v[-1]) for n, v in account.lost.items()}
    dissipated = {n: float(v[-1]) for n, v in account.dissipated.items()}
    supplied = {n: float(v[-1]) for n, v in account.supplied.items()}
    gravity = account.stored.get("gravity")
    fallen = float(gravity[0] - gravity[-1]) if gravity is not None else 0.0
    spent = sum(lost.values()) + sum(dissipated.values())
    weight = weight_of(system)
    carried = weight * distance
    costs = {"lost": spent / carried, "signed": sum(supplied.values()) / carried}
    costs |= {name: value / carried for name, value in _motor_work(run, points).items()}
    return Energetics(lost, dissipated, supplied, fallen, spent, weight, distance, costs)


def _motor_work(run: Trajectory, points: int) -> dict[str, float]:
    """Positive and absolute work of each motor, and the squared torques, integrated over the run."""
    if not run.names.supplied:
        return {"positive": 0.0, "absolute": 0.0, "squared_torque": 0.0}
    t = np.linspace(run.t0, run.t1, points)
    work = run.ledger_at(t).supplied
    gains = np.array([np.diff(w) for w in work.values()])
    u = np.array([run.at(t)[name] for name in run.names.u]) if run.names.u else np.zeros((1, points))
    total = (u**2).sum(axis=0)
    squared = float(np.sum((total[1:] + total[:-1]) / 2 * np.diff(t)))
    return {"positive": float(gains[gains > 0].sum()), "absolute": float(np.abs(gains).sum()), "squared_torque": squared}


Moment = tuple[np.ndarray, np.ndarray]
"""Continuous and discrete states."""


def travelled(system: System, begin: Moment, end: Moment, p: np.ndarray, shape: Shape) -> float:
    """How far a machine's base has come along the ground [m] between two moments: sideways left out; nan where it has no base."""
    labels = system.labels("x")
    cyclic = [i for i in shape.cyclic if not labels[i].endswith("_y")]
    if system.symmetry and cyclic:
        after = np.array(_exchanged(system)(*end, p)).reshape(-1)
        return float(np.linalg.norm(after[cyclic] - begin[0][cyclic]))
    added = [i for i in _accumulated(system, shape.section) if not system.labels("z")[i].endswith("_y")]
    moved = np.concatenate([end[0][cyclic] - begin[0][cyclic], end[1][added] - begin[1][added]])
    return float(np.linalg.norm(moved)) if len(moved) else math.nan


def _exchanged(system: System) -> ca.Function:
    if "gait-exchanged" not in system.cache:
        x, z, p = system.vectors("xzp")
        new = ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) for q in system.x])
        system.cache["gait-exchanged"] = ca.Function("exchanged", [x, z, p], [ca.densify(new)])
    made: ca.Function = system.cache["gait-exchanged"]
    return made


def _accumulated(system: System, section: str) -> list[int]:
    """Indices of discrete lengths to which the section adds: footholds. Found once."""
    key = f"gait-accumulated-{section}"
    if key not in system.cache:
        system.cache[key] = _adding(system, section)
    found: list[int] = system.cache[key]
    return found


def _adding(system: System, section: str) -> list[int]:
    event = next(e for e in system.events if e.name == section)
    found = []
    for q in system.z:
        if q.unit == "m" and q.size == 1 and q.name in event.reset:
            by = ca.simplify(ca.jacobian(sx(event.reset[q.name]), q.sym))
            if by.is_constant() and float(ca.DM(by)) == 1.0:
                found.append(system.slices("z")[q.name].start)
    return found


def weight_of(system: System) -> float:
    """Mass times g [N]: how the energy stored in gravity changes with height."""
    known = {q.name: float(q.value[0]) for q in system.p if isinstance(q.value, np.ndarray)}
    if "mass" in known and "g" in known:
        return known["mass"] * known["g"]
    gravity = system.ledger.stored.get("gravity")
    if gravity is None:
        raise ModelError(f"system '{system.name}' stores no energy called 'gravity': its weight, and so a cost of transport, is unknown")
    values = start(system)
    p = ca.vertcat(*[q.sym for q in system.p])
    slopes = [ca.jacobian(gravity, q.sym) for q in (*system.x, *system.z) if q.unit == "m" and q.name.endswith("_z")]
    others = ca.vertcat(*[q.sym for g in "xzu" for q in getattr(system, g)])
    steady = [s for s in slopes if not ca.depends_on(ca.simplify(s), others)] or slopes
    found = [abs(float(ca.Function("w", [p, others], [s])(values.p, np.concatenate([values.x, values.z, values.u])))) for s in steady]
    if not found:
        raise ModelError(f"the weight of '{system.name}' is unknown: it has no height (NAME_z) that its gravity energy depends on")
    return max(found)


@dataclass(frozen=True, eq=False)
class ImpactLoss:
    """What an impact takes of the kinetic energy.

    fractions: of the energy lost for motion along each of `directions` (columns, by `names`), the largest first; all others lie
    between. metric, loss: kinetic energy and loss are v'(metric)v/2 and v'(loss)v/2.
    """

    fractions: np.ndarray
    directions: np.ndarray
    names: tuple[str, ...]
    metric: np.ndarray
    loss: np.ndarray


def impact_loss(system: System, state: Mapping[str, float], section: str | None = None) -> ImpactLoss:
    """Singular values of an impact's loss in the metric of kinetic energy (Duindam 4.16 to 4.21), in the posture `state`."""
    name = shape_of(system, section).section
    event = next(e for e in system.events if e.name == name)
    kinetic = system.ledger.stored.get("kinetic")
    if kinetic is None:
        raise ModelError(f"system '{system.name}' stores no energy called 'kinetic': what an impact takes of it is unknown")
    velocity = lowered(system).tables["velocity_of"]
    x = ca.vertcat(*[q.sym for q in system.x])
    rates = sorted({k for k in velocity if k >= 0})
    v = x[rates]
    states = [*system.x, *system.z]
    after = ca.substitute([kinetic], [q.sym for q in states], [sx(event.reset.get(q.name, q.sym)) for q in states])[0]
    values = start(system, dict(state))
    groups = system.vectors()
    f = ca.Function("impact", groups, [ca.hessian(kinetic, v)[0], ca.hessian(kinetic - after, v)[0]])
    metric, loss = (np.array(part) for part in f(values.x, values.z, values.u, values.p))
    G = np.linalg.cholesky(metric).T
    inverse = np.linalg.inv(G)
    fractions, U = np.linalg.eigh(inverse.T @ loss @ inverse)
    order = np.argsort(-fractions)
    labels = system.labels("x")
    return ImpactLoss(fractions[order], inverse @ U[:, order], tuple(labels[k] for k in rates), metric, loss)


__all__ = ["DEFINITIONS", "Energetics", "ImpactLoss", "energetics", "froude", "impact_loss", "travelled", "weight_of"]
