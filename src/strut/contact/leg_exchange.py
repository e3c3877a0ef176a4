"""The exchange of legs of a walker that steps: what its coordinates are when the leg that swung stands."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.contact.legs import AUTOMATIC, Legs
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.tree import Tree

TURN_TOLERANCE = 1e-9
"""[1] by which the turning of a body per unit of a coordinate may differ from -1, 0 or 1."""


def exchange_matrix(tree: Tree, legs: Legs, columns: Sequence[int], feet: tuple[str, str]) -> np.ndarray:
    """Return the matrix that makes of the coordinates `columns`, just before heel strike, those of the same
    posture told from the other foot: by the names in `legs.swap`, or worked out where it is 'auto'.

    feet: frames of the stance and of the swing foot. Rates change likewise.
    """
    if isinstance(legs.swap, str):
        if legs.swap != AUTOMATIC:
            raise ModelError(
                f"swap is '{legs.swap}': give '{AUTOMATIC}', or for each coordinate the one whose value it "
                "takes"
            )
        return worked_out_exchange(tree, legs, columns, feet)
    for name in (*legs.swap, *[other.lstrip("-") for other in legs.swap.values()]):
        if name not in tree.v_of:
            raise UnknownNameError(
                f"'{tree.mechanism.name}' has no joint '{name}': {did_you_mean(name, list(tree.v_of))}"
            )
    exchange, row_of = np.zeros((len(columns), len(columns))), {c: k for k, c in enumerate(columns)}
    name_of = {places.start: name for name, places in tree.v_of.items()}
    for row, column in enumerate(columns):
        source = legs.swap.get(name_of.get(column, ""), name_of.get(column, ""))
        exchange[row, row_of[tree.v_of[source.lstrip("-")].start]] = -1.0 if source.startswith("-") else 1.0
    return exchange


def worked_out_exchange(tree: Tree, legs: Legs, columns: Sequence[int], feet: tuple[str, str]) -> np.ndarray:
    """Return the exchange of a planar walker with revolute joints, relative or absolute.

    Along the chain from foot to foot each body takes the angle that its counterpart from the other end had;
    bodies beside the chain keep theirs. That both legs are alike is checked with the walker.
    """
    name = tree.mechanism.name
    if not tree.mechanism.planar:
        raise ModelError(
            f"'{name}' is not planar: give for each coordinate the one whose value it takes (swap)"
        )
    if legs.locks:
        raise ModelError(
            f"the locks of '{name}' are of absolute angles: give for each coordinate the one whose value it "
            f"takes (swap)"
        )
    own = [n for n in tree.nodes if len(n.columns) == 1 and not n.connection.joint.gear]
    bodies = {n.columns[0]: n.name for n in own if n.columns[0] in columns}
    turns = ca.vertcat(*[observe.world_jacobian(tree, bodies[c])[1, list(columns)] for c in columns])
    to_angles = np.array(ca.Function("turns", [tree.q], [turns])(np.zeros(tree.nq)))
    if np.abs(np.abs(to_angles).max(axis=1) - 1).max() > TURN_TOLERANCE:
        moves = [k for k, row in enumerate(to_angles) if abs(np.abs(row).max() - 1) > TURN_TOLERANCE]
        raise ModelError(
            f"body '{bodies[columns[moves[0]]]}' of '{name}' does not turn in a joint about y: give for each "
            f"coordinate the one whose value it takes (swap)"
        )
    ends = [observe.frame_of(tree, foot).body.name for foot in feet]
    order = {body: k for k, body in enumerate(bodies[c] for c in columns)}
    chain = [order[n.name] for n in reversed(observe.path(tree, ends[1])) if n.name in order]
    stance = [order[n.name] for n in reversed(observe.path(tree, ends[0])) if n.name in order]
    if not stance or chain[: len(stance)] != stance:
        raise ModelError(
            f"the swing foot of '{name}' is not carried by its stance leg: the base must sit at the stance "
            "foot"
        )
    counterpart = np.arange(len(columns))
    counterpart[chain[len(stance) - 1 :]] = chain[len(stance) - 1 :][::-1]
    exchange: np.ndarray = np.linalg.solve(to_angles, to_angles[counterpart])
    return np.round(exchange)


__all__ = ["exchange_matrix", "worked_out_exchange"]
