"""Friction cones: what one contact does about its velocity, and many of them, one after the other, until they
agree."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.system import Factors

MIN_LENGTH = 1e-300
"""[of the vector] Keeps a length in a denominator from being zero."""
DIRECTION_TURNS = 2
"""Corrections of the direction of sliding in space, each time a contact's turn comes."""
MIN_LIGHTNESS_RATIO = 0.1
"""[1] The least part of its own lightness along the normal that friction may leave a contact with."""
STOP_SLACK = 1e-4
"""Of the friction cone [1]: by how much the impulse may leave it that stops a foot dead which friction
jams."""
SWEEP_COUNT = 25
"""Gauss-Seidel sweeps over all contacts, to find out who opens, sticks and slides; forces are then solved for
exactly."""


class Cone:
    """One contact: its velocity is c + G impulse, and its friction at most mu times its normal impulse (None:
    without limit). What depends on G alone is worked out once, for as many sweeps as there are."""

    def __init__(self, G: ca.SX, mu: ca.SX | None) -> None:
        self.G, self.mu = G, mu
        self.inverse_lightness = 1 / G[0, 0]
        self.factors = Factors(G) if G.shape[0] > 1 else None
        if G.shape[0] == 2 and mu is not None:
            self.edges = [1 / (G[0, 0] + side * mu * G[0, 1]) for side in (-1, 1)]
        if G.shape[0] == 3 and mu is not None:
            trace, det = G[1, 1] + G[2, 2], G[1, 1] * G[2, 2] - G[1, 2] ** 2
            self.inverse_stiffness = 2 / (trace + ca.sqrt(ca.fmax(trace**2 - 4 * det, 0)))
            self.min_lightness = MIN_LIGHTNESS_RATIO * G[0, 0]

    def resolve(self, c: ca.SX, own: ca.SX, stop: ca.SX | None = None) -> ca.SX:
        """The impulse of a contact whose velocity would be c without it: it opens, sticks or slides. `own` is
        what it was the time before; where `stop` is 1 it sticks if the cone allows, even if it would open."""
        if self.factors is None:
            return ca.fmax(-c[0] * self.inverse_lightness, 0)
        G, mu = self.G, self.mu
        stuck = -self.factors.solve(c)
        if mu is None:
            alone = ca.vertcat(ca.fmax(-c[0] * self.inverse_lightness, 0), ca.SX.zeros(G.shape[0] - 1))
            return ca.if_else(c[0] >= 0, 0, ca.if_else(stuck[0] > 0, stuck, alone))
        inside = ca.norm_2(stuck[1:]) <= mu * stuck[0] * (1 if stop is None else 1 + STOP_SLACK * stop)
        slid = (
            self._slide_in_plane(c)
            if G.shape[0] == 2
            else self._slide_in_space(c, ca.if_else(ca.norm_2(own[1:]) > 0, own, stuck))
        )
        presses = c[0] < 0
        sticks = inside * (presses if stop is None else ca.fmax(presses, stop))
        return ca.if_else(sticks, stuck, 0) + ca.if_else(presses * (1 - sticks), slid, 0)

    def drive(self, c: ca.SX, way: ca.SX) -> ca.SX:
        """The impulse, or force, of a contact that slides along `way` already."""
        assert self.mu is not None
        lightness = self.G[0, 0] - self.mu * ca.dot(self.G[0, 1:].T, way)
        normal = ca.fmax(-c[0] / ca.fmax(lightness, MIN_LIGHTNESS_RATIO * self.G[0, 0]), 0)
        return ca.vertcat(normal, -self.mu * normal * way)

    def _slide_in_plane(self, c: ca.SX) -> ca.SX:
        """Of the two edges of the friction cone, with no normal velocity left, the one with less energy: it
        opposes the sliding."""
        assert self.mu is not None
        best, least = ca.SX.zeros(2), ca.SX(ca.inf)
        for side, edge_light in zip((-1, 1), self.edges, strict=True):
            normal = -c[0] * edge_light
            edge = ca.vertcat(normal, side * self.mu * normal)
            energy = ca.if_else(normal >= 0, ca.dot(edge, self.G @ edge) / 2 + ca.dot(c, edge), ca.inf)
            best, least = ca.if_else(energy < least, edge, best), ca.fmin(energy, least)
        return best

    def _slide_in_space(self, c: ca.SX, guess: ca.SX) -> ca.SX:
        """The edge of the cone in the direction that opposes the sliding which remains, found by turning it
        against that; no normal velocity is left whatever the direction. Where the contact is equally heavy in
        all directions the first turn is exact."""
        assert self.mu is not None
        G = self.G
        way = guess[1:] / ca.fmax(ca.norm_2(guess[1:]), MIN_LENGTH)
        for _ in range(DIRECTION_TURNS):
            normal = self._normal_impulse(c, way)
            turned = (
                self.mu * normal * way
                - (c[1:] + G[1:, 0] * normal + G[1:, 1:] @ way * (self.mu * normal)) * self.inverse_stiffness
            )
            way = turned / ca.fmax(ca.norm_2(turned), MIN_LENGTH)
        normal = self._normal_impulse(c, way)
        return ca.vertcat(normal, self.mu * normal * way)

    def _normal_impulse(self, c: ca.SX, way: ca.SX) -> ca.SX:
        """The normal impulse that leaves no normal velocity, with friction along `way`; bounded where
        friction would jam it."""
        assert self.mu is not None
        return -c[0] / ca.fmax(self.G[0, 0] + self.mu * ca.dot(self.G[0, 1:].T, way), self.min_lightness)


def sweep_contacts(
    A: ca.SX,
    u: ca.SX,
    feet: Sequence[Sequence[int]],
    *,
    present: Sequence[ca.SX],
    mu: ca.SX,
    moving: Sequence[tuple[ca.SX, ca.SX]] = (),
    stops: Sequence[ca.SX] = (),
    begin: ca.SX | None = None,
) -> ca.SX:
    """Impulses of feet with rows in A whose velocities are u without any, by Gauss-Seidel: after
    `SWEEP_COUNT` rounds in which each foot answers to the others. `present` says which feet take part;
    `moving` are (flag, way) of feet that slide already; `stops` is 1 for feet that stop dead if their cone
    allows; `begin` are impulses to begin with, 0 if none are given. Where feet share a load in many ways,
    impulses that satisfy all cones stay as they are."""
    cones = [Cone(A[rows, rows], mu) for rows in feet]
    impulses = [ca.SX.zeros(len(rows)) if begin is None else begin[rows] for rows in feet]
    for _ in range(SWEEP_COUNT):
        for k, (rows, cone) in enumerate(zip(feet, cones, strict=True)):
            c = u[rows]
            for i, others in enumerate(feet):
                c = c if i == k else c + A[rows, others] @ impulses[i]
            answer = cone.resolve(c, impulses[k], stops[k] if stops else None)
            if moving:
                flag, way = moving[k]
                answer = ca.if_else(flag, cone.drive(c, way), answer)
            impulses[k] = ca.if_else(present[k], answer, 0)
    all_impulses = ca.SX.zeros(A.shape[0])
    for rows, impulse in zip(feet, impulses, strict=True):
        all_impulses[rows] = impulse
    return all_impulses
