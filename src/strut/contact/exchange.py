"""The exchange of left and right of a mechanism on the ground, from what the modeller says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca

from strut.errors import ModelError
from strut.mechanism.assemble import Assembly
from strut.mechanism.mirror import Symmetry, symmetry
from strut.mechanism.tree import Tree

AUTOMATIC = "auto"
"""The word for the symmetry that `mechanism.symmetry` works out."""
Exchange = str | Symmetry | Callable[[Tree], Mapping[str, ca.SX]] | None
"""'auto', what `mechanism.symmetry` returns, or a function of the tree to new values of states by name."""


def exchange_of(exchange: Exchange, assembly: Assembly) -> dict[str, ca.SX]:
    """New values of states and inputs, by name, that describe the same machine with left and right
    exchanged."""
    if exchange is None:
        return {}
    if isinstance(exchange, str):
        if exchange != AUTOMATIC:
            raise ModelError(
                f"symmetry is '{exchange}': give 'auto', what mechanism.symmetry returns, or a function of "
                f"the tree"
            )
        exchange = symmetry(assembly.mechanism)
    if not isinstance(exchange, Symmetry):
        return dict(exchange(assembly.tree))
    values = {q.name: q.sym for q in (*assembly.positions, *assembly.velocities, *assembly.inputs.values())}
    images = {**exchange.states, **exchange.inputs}
    missing = sorted(set(images) - set(values))
    if missing:
        raise ModelError(
            f"the symmetry names '{missing[0]}', which '{assembly.mechanism.name}' does not have: it is that "
            f"of another mechanism"
        )
    return {image: sign * values[name] for name, (image, sign) in images.items()}


__all__ = ["Exchange", "exchange_of"]
