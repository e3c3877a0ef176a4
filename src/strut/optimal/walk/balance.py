"""`Balance`: the energy of a motion, by where it comes from and goes to."""

from __future__ import annotations

from dataclasses import dataclass

from strut.tabular import Tabular, name_value_unit

ENERGY_RESOLUTION = 1e-6
"""[1] Energies of a replayed plan below this part of the largest are 0: a plan is no more exact, its defects
are up to 1e-6."""
MAX_RESIDUAL_PART = 1e-3
"""[1] A residual hides energies up to this part of the largest: beyond, the balance is that of no motion."""


@dataclass(frozen=True)
class Balance(Tabular):
    """Energy of one motion [J]: `fallen` is what gravity gave, `work` what motors gave on balance, `lost`
    what events took and `dissipated` what dampers took; `stored` is what it moves faster, or springs hold
    more, at its end. In a motion that repeats nothing is stored, and fallen + work = lost + dissipated;
    `residual` is what is missing of that. `exchanged` is by how much the kinetic energy goes up and down: a
    motion in which nothing is given nor lost, as of a runner on a spring, is measured by that."""

    fallen: float
    work: float
    lost: float
    dissipated: float
    stored: float = 0.0
    exchanged: float = 0.0

    @property
    def residual(self) -> float:
        """What the balance does not explain [J]."""
        return self.fallen + self.work - self.lost - self.dissipated - self.stored

    @property
    def largest_energy(self) -> float:
        """The largest of these energies [J]; what was exchanged where none of them is more than
        `ENERGY_RESOLUTION` of that."""
        moved = max(abs(self.fallen), abs(self.work), abs(self.lost), abs(self.dissipated))
        return moved if moved > ENERGY_RESOLUTION * self.exchanged else self.exchanged

    @property
    def relative(self) -> float:
        """The residual as a fraction of the energy that moved."""
        return abs(self.residual) / max(self.largest_energy, 1e-300)

    def columns(self) -> dict[str, list[object]]:
        """Return name, value and unit of every energy."""
        names = ("fallen", "work", "lost", "dissipated", "stored", "exchanged", "residual")
        return name_value_unit([(name, getattr(self, name), "J") for name in names])

    def round_energy(self, energy: float) -> float:
        """Return an energy to be shown: 0 where it cannot be told from the residual, or from
        `ENERGY_RESOLUTION` of what moved."""
        doubt = min(abs(self.residual), MAX_RESIDUAL_PART * self.largest_energy)
        return 0.0 if abs(energy) <= max(doubt, ENERGY_RESOLUTION * self.largest_energy) else energy


__all__ = ["Balance"]
