"""Where the energy of a gait goes: the account of a step, costs of transport by their names, and what impacts
take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, finite, positive
from strut.codegen import lower_system
from strut.errors import ModelError
from strut.gait.section import default_section
from strut.gait.transport import COST_MEANINGS, weight_of
from strut.simulate import Trajectory
from strut.system import System, start, sx
from strut.tabular import Tabular, name_value_unit


@dataclass(frozen=True, eq=False)
class Energetics(Tabular):
    """The energy of one period of a gait.

    lost, dissipated, supplied: energies by channel [J]. spent: all that was lost or dissipated [J].
    fallen: energy that gravity gave [J]. weight: of the walker [N]. distance: along the ground [m].
    costs: cost of transport by definition, see `COST_MEANINGS`. resolution: energies below this [J] cannot be
        told from rounding.
    """

    lost: Mapping[str, float]
    dissipated: Mapping[str, float]
    supplied: Mapping[str, float]
    fallen: float
    spent: float
    weight: float
    distance: float
    costs: Mapping[str, float]
    resolution: float = 0.0

    def round_energy(self, energy: float) -> float:
        """Round an energy [J] to be shown: 0 where it is not above the resolution."""
        return 0.0 if abs(energy) <= self.resolution else energy

    def round_cost(self, cost: float, squared: bool = False) -> float:
        """Round a cost of transport to be shown: 0 where the energy in it is not above the resolution.

        squared: it is one of squared torques, of which each [N m] is measured by the resolution [J].
        """
        return (
            0.0
            if abs(cost) * self.weight * self.distance <= self.resolution ** (2 if squared else 1)
            else cost
        )

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of every energy, of weight and distance, and of every cost."""
        energies = [
            (f"{name} ({word})", value, "J")
            for word, channels in (
                ("supplied", self.supplied),
                ("dissipated", self.dissipated),
                ("lost in events", self.lost),
            )
            for name, value in channels.items()
        ]
        whole = [("given by gravity", self.fallen, "J"), ("lost or dissipated", self.spent, "J")]
        scales = [("weight", self.weight, "N"), ("distance", self.distance, "m")]
        costs = [(f"cost of transport: {name}", value, "") for name, value in self.costs.items()]
        return name_value_unit([*energies, *whole, *scales, *costs])

    @property
    def definitions(self) -> Mapping[str, str]:
        """What is meant by each of the `costs`."""
        return {name: COST_MEANINGS[name] for name in self.costs}

    def table(self) -> str:
        """The costs as lines of text: name, value, and what is meant."""
        width = max(map(len, self.costs))
        return "\n".join(
            f"{name:{width}}  {value:12.9f}  {COST_MEANINGS[name]}" for name, value in self.costs.items()
        )


@checked
def froude(speed: float, leg: float, g: float) -> float:
    """The Froude number speed^2 / (g leg), of a speed [m/s], a length of leg [m] and gravity [m/s^2]."""
    finite("speed", speed, "m/s"), positive("leg", leg, "m"), positive("g", g, "m/s^2")
    return speed**2 / (g * leg)


def energetics(run: Trajectory, distance: float, points: int = 4001) -> Energetics:
    """The account of a run that is one period of a gait, over a distance [m].

    points: at which the work of the motors is read, over the run. Of a system without a ledger energies and
    costs are not known: nan. Raises
    ModelError for a run without its system, or a walker of unknown weight.
    """
    system = run.system
    if system is None:
        raise ModelError("the energy of a run needs its system: a loaded trajectory has none")
    account = run.ledger
    lost = {n: float(v[-1]) for n, v in account.lost.items()}
    dissipated = {n: float(v[-1]) for n, v in account.dissipated.items()}
    supplied = {n: float(v[-1]) for n, v in account.supplied.items()}
    gravity = account.stored.get(system.walk.gravity) if system.walk is not None else None
    fallen = float(gravity[0] - gravity[-1]) if gravity is not None else 0.0
    spent = sum(lost.values()) + sum(dissipated.values())
    if not (
        account.stored or lost or dissipated or supplied
    ):  # no ledger: nothing is known, which is not zero
        spent = math.nan
    weight = weight_of(system)
    weight_distance = weight * distance
    work = {"losses": spent, "signed-work": sum(supplied.values()), **_motor_work(run, points)}
    if math.isnan(spent):
        work = dict.fromkeys(work, math.nan)
    costs = {name: value / weight_distance for name, value in work.items()}
    per_metre = [name for name in ("absolute-work", "squared-torque") if name in work]
    costs |= {f"{name}-per-metre": work[name] / distance for name in per_metre}
    return Energetics(
        lost=lost,
        dissipated=dissipated,
        supplied=supplied,
        fallen=fallen,
        spent=spent,
        weight=weight,
        distance=distance,
        costs=costs,
        resolution=account.resolution,
    )


def _motor_work(run: Trajectory, points: int) -> dict[str, float]:
    """Positive and absolute work of each motor, the electrical energy that all draw together if their powers
    are electrical, and the squared torques, unless inputs are voltages, integrated over the run."""
    system = run.system
    assert system is not None
    voltages, electrical = any(q.unit == "V" for q in system.u), system.ledger.electrical
    if not run.names.supplied:
        return {"positive-work": 0.0, "absolute-work": 0.0, "squared-torque": 0.0}
    t = np.linspace(run.t0, run.t1, points)
    work = run.ledger_at(t).supplied
    gains = np.array([np.diff(w) for w in work.values()])
    costs = {"positive-work": float(gains[gains > 0].sum()), "absolute-work": float(np.abs(gains).sum())}
    if electrical:
        drawn = np.diff(np.sum([work[name] for name in electrical], axis=0))
        costs["electrical"] = float(drawn[drawn > 0].sum())
    if not voltages:
        u = np.array([run.at(t)[name] for name in run.names.u]) if run.names.u else np.zeros((1, points))
        total = (u**2).sum(axis=0)
        costs["squared-torque"] = float(np.sum((total[1:] + total[:-1]) / 2 * np.diff(t)))
    return costs


@dataclass(frozen=True, eq=False)
class ImpactLoss(Tabular):
    """What an impact takes of the kinetic energy.

    fractions: of the energy lost for motion along each of `directions` (columns, by `names`), the largest
        first; all others lie between.
    metric, loss: kinetic energy and loss are v'(metric)v/2 and v'(loss)v/2.
    """

    fractions: np.ndarray
    directions: np.ndarray
    names: tuple[str, ...]
    metric: np.ndarray
    loss: np.ndarray

    def columns(self) -> dict[str, Any]:
        """Return the fractions, and of the direction that loses each its part along every state."""
        directions = {name: self.directions[k] for k, name in enumerate(self.names)}
        return {"fraction lost": self.fractions, **directions}


@checked
def impact_loss(system: System, state: Mapping[str, float], section: str | None = None) -> ImpactLoss:
    """What an impact takes of the kinetic energy in a posture: the singular values of its loss in the metric
    of kinetic energy (Duindam, equations 4.16 to 4.21).

    state: the posture, by name. section: the event, by default the one that ends a step. Raises ModelError
    where the walk does not say which stored energy is the kinetic one.
    """
    name = section or default_section(system)
    if system.walk is None or not system.walk.kinetic:
        raise ModelError(
            f"which energy of '{system.name}' is kinetic is unknown, and so what an impact takes of it: name "
            f"the entry of its ledger in its walk, walk=Walk(kinetic=..., ...)"
        )
    kinetic = sx(system.ledger.stored[system.walk.kinetic])
    velocity = lower_system(system).tables["velocity_of"]
    x = system.vector("x")
    rates = sorted({k for k in velocity if k >= 0})
    v = x[rates]
    after = system.after(name, kinetic)
    values = start(system, dict(state))
    f = system.function("impact", [ca.hessian(kinetic, v)[0], ca.hessian(kinetic - after, v)[0]], clock=False)
    metric, loss = (np.array(part) for part in f(values.x, values.z, values.u, values.p))
    G = np.linalg.cholesky(metric).T
    inverse = np.linalg.inv(G)
    fractions, U = np.linalg.eigh(inverse.T @ loss @ inverse)
    order = np.argsort(-fractions)
    labels = system.labels("x")
    return ImpactLoss(fractions[order], inverse @ U[:, order], tuple(labels[k] for k in rates), metric, loss)


__all__ = ["Energetics", "ImpactLoss", "energetics", "froude", "impact_loss"]
