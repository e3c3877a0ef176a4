"""Friction cones: what one contact does about its velocity, and many of them, one after the other, until they agree."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.system import solve_ltdl

NOTHING = 1e-300  # keeps a length in a denominator from being zero
TURNS = 2  # corrections of the direction of sliding in space, each time a contact's turn comes
JAMMED = 0.1  # of a contact's own lightness along the normal, under which friction may not bring it
SWEEPS = 25  # over all contacts, to find out who opens, sticks and slides; forces are then solved for exactly


def resolved(G: ca.SX, c: ca.SX, mu: ca.SX | None, own: ca.SX) -> ca.SX:
    """The impulse of one contact whose velocity would be c without it and is c + G impulse with it: it opens, sticks or slides.
    `own` is what it was the time before."""
    alone = ca.fmax(-c[0] / G[0, 0], 0)
    if G.shape[0] == 1:
        return alone
    stuck = -solve_ltdl(G, c)
    if mu is None:
        held = ca.if_else(stuck[0] > 0, stuck, ca.vertcat(alone, ca.SX.zeros(G.shape[0] - 1)))
    else:
        sliding = (
            _sliding_in_plane(G, c, mu) if G.shape[0] == 2 else _sliding_in_space(G, c, mu, ca.if_else(ca.norm_2(own[1:]) > 0, own, stuck))
        )
        held = ca.if_else(ca.norm_2(stuck[1:]) <= mu * stuck[0], stuck, sliding)
    return ca.if_else(c[0] >= 0, ca.SX.zeros(G.shape[0]), held)


def _sliding_in_plane(G: ca.SX, c: ca.SX, mu: ca.SX) -> ca.SX:
    """Of the two edges of the friction cone, with no normal velocity left, the one with less energy: it opposes the sliding."""
    best, least = ca.SX.zeros(2), ca.SX(ca.inf)
    for side in (-1, 1):
        normal = -c[0] / (G[0, 0] + side * mu * G[0, 1])
        edge = ca.vertcat(normal, side * mu * normal)
        energy = ca.if_else(normal >= 0, ca.dot(edge, G @ edge) / 2 + ca.dot(c, edge), ca.inf)
        best, least = ca.if_else(energy < least, edge, best), ca.fmin(energy, least)
    return best


def _sliding_in_space(G: ca.SX, c: ca.SX, mu: ca.SX, guess: ca.SX) -> ca.SX:
    """The edge of the cone in the direction that opposes the sliding which remains, found by turning it against that; no normal
    velocity is left whatever the direction. Where the contact is equally heavy in all directions the first turn is exact."""
    trace, det = G[1, 1] + G[2, 2], G[1, 1] * G[2, 2] - G[1, 2] ** 2
    heavy = (trace + ca.sqrt(ca.fmax(trace**2 - 4 * det, 0))) / 2
    way = guess[1:] / ca.fmax(ca.norm_2(guess[1:]), NOTHING)
    for _ in range(TURNS):
        normal = _pressed(G, c, mu * way)
        turned = mu * normal * way - (c[1:] + G[1:, 0] * normal + G[1:, 1:] @ way * (mu * normal)) / heavy
        way = turned / ca.fmax(ca.norm_2(turned), NOTHING)
    normal = _pressed(G, c, mu * way)
    return ca.vertcat(normal, mu * normal * way)


def _pressed(G: ca.SX, c: ca.SX, way: ca.SX) -> ca.SX:
    """The normal impulse that leaves no normal velocity, with friction along with it; bounded where friction would jam it."""
    return -c[0] / ca.fmax(G[0, 0] + ca.dot(G[0, 1:].T, way), JAMMED * G[0, 0])


def driven(G: ca.SX, c: ca.SX, mu: ca.SX, way: ca.SX) -> ca.SX:
    """The impulse, or force, of a contact that slides along `way` already."""
    normal = ca.fmax(_pressed(G, c, -mu * way), 0)
    return ca.vertcat(normal, -mu * normal * way)


def swept(A: ca.SX, u: ca.SX, feet: Sequence[Sequence[int]], present: Sequence[ca.SX], mu: ca.SX, moving: Sequence[tuple] = ()) -> ca.SX:
    """Impulses of feet with rows in A whose velocities are u without any: after `SWEEPS` rounds in which each foot answers to the
    others. `present` says which feet take part; `moving` are (flag, way) of feet that slide already."""
    found = ca.SX.zeros(A.shape[0])
    u = ca.SX(u)
    for _ in range(SWEEPS):
        for k, rows in enumerate(feet):
            own = found[rows]
            G = A[rows, rows]
            c = u[rows] - G @ own
            answer = resolved(G, c, mu, own)
            if moving:
                flag, way = moving[k]
                answer = ca.if_else(flag, driven(G, c, mu, way), answer)
            change = present[k] * answer - own
            found[rows] = own + change
            u = u + A[:, rows] @ change
    return found
