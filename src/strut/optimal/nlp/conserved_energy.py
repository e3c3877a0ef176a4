"""`conserved_row`: which row of a repeating motion says again what the energy says already.

A machine without drive and losses keeps its energy. Where all states but one are what they were, so is then
the last: its row would repeat the others. Rows that repeat others make multipliers ambiguous (the linear
independence constraint qualification, LICQ, does not hold), a mesh would have to integrate without any error
of energy to meet them all, and where much is asked there are more equations than unknowns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.unknowns import Layout
from strut.system import sx, time

SAMPLES = 4
"""Random points at which energies are compared."""
SAME_ENERGY = 1e-9
"""[1] Energies and powers that differ by less, relative to their size, are the same."""
MIN_SHARE = 0.01
"""[1] By how much the chosen state changes the energy at every point, as a part of what the state does that
changes it most, each by a change of its own size: of one that changes it less, the energy would not tell the
value."""


def conserved_row(mesh: Layout, exchanged: ca.SX, rows: Sequence[int]) -> int | None:
    """Return the state whose row the energy makes superfluous, by index; None where energy is not kept.

    exchanged: the states at the end of the motion with left and right exchanged, or as they are. rows: the
        states that are to repeat.
    """
    system, phases = mesh.system, mesh.problem.phases
    stored = ca.SX(0) if system.ledger is None else sum(map(sx, system.ledger.stored.values()), ca.SX(0))
    if mesh.nu or not rows or mesh.shear is not None or stored.is_constant():
        return None
    for phase in phases:
        # An event that declares no loss keeps the energy: every run checks that.
        if phase.jump or (phase.until is not None and system.event(phase.until).loss != {}):
            return None
    random = np.random.default_rng(0)
    points: list[list[Any]] = []
    for _ in range(SAMPLES):
        x = mesh.start.x * random.uniform(0.8, 1.2, mesh.nx) + random.uniform(-0.2, 0.2, mesh.nx)
        points.append([0.0, x, mesh.start.z, mesh.start.u, mesh.start.p])
    slopes = ca.gradient(stored, mesh.vectors[0])
    power = ca.dot(slopes, mesh.flow) + ca.jtimes(stored, time, ca.SX(1))
    size = ca.dot(ca.fabs(slopes), ca.fabs(mesh.flow))
    places = [time, *mesh.vectors]
    flows = ca.Function("power", places, [power, size])
    # After the last event discrete states may differ from those at the beginning: the energy must not.
    left = phases[-1].after(system, mesh.vectors[1])
    ends = ca.Function("energy", places, [stored, ca.fabs(slopes)])
    after = ca.Function("after", places, [left, exchanged])
    shares = []
    for t, x, _, u, p in points:
        for z, _ in mesh.discrete:
            change, part = (float(each) for each in flows(t, x, z, u, p))
            if not abs(change) <= SAME_ENERGY * part:
                return None
        first = mesh.discrete[0][0]
        energy, slope = ends(t, x, first, u, p)
        z_end, x_end = after(t, x, mesh.discrete[-1][0] + _unknown(mesh, random), u, p)
        again = ends(t, x, z_end, u, p)[0]
        as_begun = ends(t, x_end, first, u, p)[0]
        if not abs(float(again - as_begun)) <= SAME_ENERGY * (1 + abs(float(energy))):
            return None
        shares.append(np.array(slope).reshape(-1) * (1 + np.abs(x)))
    # What only says how far it has come may not count: it does not repeat.
    least, largest = np.min(shares, axis=0), np.max(shares)
    if any(share[i] > SAME_ENERGY * largest for share in shares for i in mesh.cyclic):
        return None
    best = max(rows, key=lambda i: least[i])
    return best if least[best] > MIN_SHARE * largest else None


def _unknown(mesh: Layout, random: np.random.Generator) -> np.ndarray:
    """Return anything for discrete states of the last phase that depend on the motion, zero for others."""
    values = np.zeros(mesh.nz)
    values[list(mesh.discrete[-1][1])] = random.uniform(-1, 1, len(mesh.discrete[-1][1]))
    return values


__all__ = ["conserved_row"]
