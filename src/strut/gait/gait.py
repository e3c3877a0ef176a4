"""`Gait`: a limit cycle of a walker, with its stability, its energy and its dependence on parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from strut.errors import UnknownNameError, did_you_mean
from strut.gait.energetics import Energetics, energetics
from strut.gait.replay import record
from strut.gait.return_map import ReturnMap
from strut.gait.section import section_of
from strut.simulate import LiveResult, SavedResult, Trajectory
from strut.system import System, parameters, start
from strut.tabular import TableTexts, Tabular, name_value_unit

RANK_TOLERANCE = 1e-11
"""Singular values of a return map's Jacobian below this fraction of the largest belong to directions that the
section wipes out: their multiplier is zero."""
UNIT_MULTIPLIER_SLACK = 1e-7
"""Distance from 1 below which a multiplier is 1: that of a direction along a family of gaits."""


MAX_TURN = np.pi / 2
"""[rad] By how much an angle may be turned all through a gait from where its machine was described, before it
is named."""


@dataclass(frozen=True, eq=False)
class Gait(SavedResult, LiveResult, Tabular):
    """A limit cycle: a walker that is where it was, mirrored where it has a left and a right, one step
    further.

    x0, z0: the state just after the event `section`, by name.
    period: of a step [s] (of all `steps` of it, for a gait that repeats after several).
    step_length: how far it comes in one period [m], along the ground; negative backwards.
    residual: largest change of a state over the gait.
    jacobian: of the return map by its free states `names`.
    multipliers: its eigenvalues, the largest first; the section's own, 0, is among them. eigenvectors:
        columns, by `names`.
    """

    system: System = field(repr=False)
    section: str
    steps: int
    x0: Mapping[str, float]
    z0: Mapping[str, float] = field(repr=False)
    period: float
    step_length: float
    residual: float
    jacobian: np.ndarray = field(repr=False)
    multipliers: np.ndarray
    eigenvectors: np.ndarray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)

    @property
    def vector(self) -> np.ndarray:
        """The states `x0` as numbers, in order."""
        return np.array(list(self.x0.values()))

    @property
    def y0(self) -> np.ndarray:
        """The free states."""
        shape = section_of(self.system, self.section)
        free: np.ndarray = shape.repeating_part(self.vector, parameters(self.system))[list(shape.free)]
        return free

    @property
    def stable(self) -> bool:
        """Whether small disturbances die out: all multipliers are smaller than 1."""
        return dies_out(self.multipliers)

    @property
    def neutral(self) -> bool:
        """A multiplier is 1: it is one of a family, along which something that the machine conserves, such as
        energy, varies."""
        return bool(np.any(np.abs(self.multipliers - 1) < UNIT_MULTIPLIER_SLACK))

    @property
    def kind(self) -> str:
        """The word for its stability: stable, unstable, or neutral if it is stable but for its family."""
        others = self.multipliers[np.abs(self.multipliers - 1) >= UNIT_MULTIPLIER_SLACK]
        return "stable" if self.stable else "neutral" if self.neutral and dies_out(others) else "unstable"

    def map(self, parameters: tuple[str, ...] = ()) -> ReturnMap:
        """The return map that this gait is a fixed point of."""
        z0 = np.array(list(self.z0.values()))
        return ReturnMap(self.system, self.section, parameters, steps=self.steps, x0=self.vector, z0=z0)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The gait in the simulator, from just after the section to just after the next (and so on for
        several steps)."""
        return record(self.system, self.vector, np.array(list(self.z0.values())), self.period)

    @cached_property
    def turned_angles(self) -> tuple[str, ...]:
        """Angles that are all through the gait more than 90 degrees from where the machine was described, a
        sentence for each: a torso that hangs down walks, too, and nobody asked for it."""
        described = dict(zip(self.system.labels("x"), start(self.system).x.tolist(), strict=True))
        units = {label: q.unit for q in self.system.x for label in q.labels}
        sentences = []
        for name in self.names:
            if units.get(name) != "rad":
                continue
            angle = self.trajectory[name]
            nearest = float(angle[np.argmin(np.abs(angle - described[name]))])
            if abs(nearest - described[name]) > MAX_TURN:
                sentences.append(
                    f"'{name}' is about {nearest:.3g} rad all through the gait, far from "
                    f"{described[name]:.3g}, where the machine was described"
                )
        return tuple(sentences)

    @cached_property
    def energetics(self) -> Energetics:
        """Where the energy of one period goes."""
        return energetics(self.trajectory, abs(self.step_length))

    @property
    def speed(self) -> float:
        """How far it comes in a second [m/s]."""
        return self.step_length / self.period

    @property
    def energy_per_step(self) -> float:
        """Energy lost in impacts and dampers over one period [J]: what the slope or motors must give
        again."""
        return self.energetics.spent

    @property
    def cost_of_transport(self) -> float:
        """Energy lost per weight and distance; sin(slope) for a passive gait. Other definitions:
        `energetics.costs`."""
        return self.energetics.costs["losses"]

    def derivative(self, parameter: str) -> dict[str, float]:
        """How the free states of the fixed point, and its 'period', change with a parameter (implicit
        function theorem)."""
        names = [q.name for q in self.system.p]
        if parameter not in names:
            raise UnknownNameError(
                f"system '{self.system.name}' has no parameter '{parameter}': "
                f"{did_you_mean(parameter, names)}"
            )
        step = self.map((parameter,))(self.y0)
        change = np.linalg.lstsq(np.eye(len(self.y0)) - step.by_y, step.by_p[:, 0], rcond=1e-13)[0]
        period = step.period_by_y @ change + step.period_by_p[0]
        return dict(zip((*self.names, "period"), map(float, (*change, period)), strict=True))

    def data(self) -> dict[str, object]:
        """The gait as plain data: what `strut gait --json` prints."""
        return {
            "x0": dict(self.x0),
            "period": self.period,
            "step_length": self.step_length,
            "speed": self.speed,
            "multipliers": [[float(m.real), float(m.imag)] for m in self.multipliers],
            "residual": self.residual,
            "cost_of_transport": self.cost_of_transport,
            "energy_per_step": self.energy_per_step,
            "stable": self.stable,
            "turned_angles": list(self.turned_angles),
        }

    def rows(self) -> list[tuple[str, float, str]]:
        """Return what there is to say, for tables: name, value, unit."""
        books, bare = self.energetics, self.system.dimensionless
        rows = [
            ("period", self.period, "s"),
            ("step length", self.step_length, "m"),
            ("speed", self.speed, "m/s"),
            ("energy per step", books.round_energy(self.energy_per_step), "J"),
        ]
        rows = [(name, value, "" if bare else unit) for name, value, unit in rows]
        return [*rows, ("cost of transport", books.round_cost(self.cost_of_transport), "")]

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of what there is to say, of the states just after the section, and of
        the modulus of every multiplier."""
        units = {label: q.unit for q in self.system.x for label in q.labels}
        states = [(name, value, units[name]) for name, value in self.x0.items()]
        moduli = [(f"multiplier {k}", float(abs(m)), "") for k, m in enumerate(self.multipliers, 1)]
        return name_value_unit([*self.rows(), *states, *moduli])

    def _card_tables(self) -> TableTexts:
        units = {label: q.unit for q in self.system.x for label in q.labels}
        return {
            "the gait": (("", "value", "unit"), [(n, f"{v:.9g}", unit) for n, v, unit in self.rows()]),
            f"just after {self.section}": (
                ("state", "value", "unit"),
                [(n, f"{v:.9g}", units[n]) for n, v in self.x0.items()],
            ),
            "multipliers": (
                ("real", "imaginary", "modulus"),
                [(f"{m.real:.9g}", f"{m.imag:.9g}", f"{abs(m):.9g}") for m in self.multipliers],
            ),
        }

    def __repr__(self) -> str:
        largest = abs(self.multipliers[0]) if len(self.multipliers) else 0.0
        many = "" if self.steps == 1 else f" of {self.steps} steps"
        numbers = f"{self.period:.6g} s, {self.step_length:.6g} m"
        stability = f"{self.kind}, largest multiplier {largest:.4g}"
        return f"<Gait of {self.system.name}{many}: {numbers}, {stability}>"


def dies_out(multipliers: np.ndarray) -> bool:
    """Say whether disturbances with these multipliers die out. Those along a family, with a multiplier of 1,
    do not, whatever its last digit says."""
    return bool(np.all(np.abs(multipliers) < 1 - UNIT_MULTIPLIER_SLACK))


def spectrum(jacobian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of a return map's Jacobian (Floquet multipliers), the largest first, and eigenvectors.

    What the section wipes out is split off before, so that its multipliers are zero to rounding even where
    several zeros would otherwise disturb each other.
    """
    U, s, Vt = np.linalg.svd(jacobian)
    rank = int(np.sum(s > RANK_TOLERANCE * max(s[0], 1e-300)))
    core = (s[:rank, None] * Vt[:rank]) @ U[:, :rank]
    values, vectors = np.linalg.eig(core)
    order = np.lexsort((-values.imag, -values.real, -np.round(np.abs(values), 12)))
    values, vectors = values[order], U[:, :rank] @ vectors[:, order]
    n = len(jacobian)
    return np.concatenate([values, np.zeros(n - rank)]).astype(complex), np.hstack(
        [vectors, Vt[rank:].T.astype(complex)]
    )


__all__ = ["Gait", "spectrum"]
