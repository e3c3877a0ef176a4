"""The exchange of left and right of a mechanism on the ground, from what the modeller says of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import casadi as ca

from strut.checks import short_repr
from strut.errors import ModelError
from strut.mechanism.assemble import Assembly
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.mirror import Symmetry, symmetry
from strut.mechanism.tree import Tree
from strut.system import Discrete, Quantity

AUTOMATIC = "auto"
"""The word for the symmetry that `mechanism.symmetry` works out."""
SIDE_MARKS = (("_l", "_r"), ("l_", "r_"))
"""How names say left and right: by their ends, or by their beginnings."""
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
        exchange = symmetry(assembly.mechanism, _side_marks(assembly.mechanism))
    if not isinstance(exchange, Symmetry):
        values = exchange(assembly.tree)
        if not isinstance(values, Mapping):
            raise ModelError(
                f"the function given as symmetry returns {short_repr(values)}: new values of states by name "
                f"are needed, a dictionary"
            )
        return dict(values)
    symbols = {q.name: q.sym for q in (*assembly.positions, *assembly.velocities, *assembly.inputs.values())}
    images = {**exchange.states, **exchange.inputs}
    missing = sorted(set(images) - set(symbols))
    if missing:
        raise ModelError(
            f"the symmetry names '{missing[0]}', which '{assembly.mechanism.name}' does not have: it is that "
            f"of another mechanism"
        )
    return {image: sign * symbols[name] for name, (image, sign) in images.items()}


def exchange_with_flags(
    exchange: Exchange, assembly: Assembly, companions: Iterable[Quantity]
) -> dict[str, ca.SX]:
    """New values of states and inputs with left and right exchanged: what the modeller says of the tree, and
    what feet and locks have besides (`companions`) in pairs, whose names differ by their side, foot_l_on or
    l_foot_on. Nothing where the modeller says nothing."""
    if exchange is None:
        return {}
    names = {q.name: q for q in companions}
    values = exchange_of(exchange, assembly)
    for name in names:
        image = _other_side(name, names)
        if image:
            values.setdefault(name, names[image].sym)
    return values


def _side_marks(mechanism: Mechanism) -> tuple[str, str]:
    """How the names of a mechanism say left and right: by their ends, 'shank_l', unless those of its bodies
    say it by their beginnings alone, 'l_shank'."""
    ends, beginnings = SIDE_MARKS
    bodies = list(mechanism.bodies)
    by_end = any(name.endswith(ends) for name in bodies)
    return beginnings if not by_end and any(name.startswith(beginnings) for name in bodies) else ends


def _other_side(name: str, names: Collection[str]) -> str:
    """The name with left and right exchanged, if there is such a name; empty otherwise."""
    images = [name.replace(one, other) for one, other in (("_l_", "_r_"), ("_r_", "_l_")) if one in name]
    left, right = SIDE_MARKS[1]
    for here, there in ((left, right), (right, left)):
        if name.startswith(here):
            images.append(there + name.removeprefix(here))
    return next((image for image in images if image in names), "")


def opposite_foot(exchange: Mapping[str, ca.SX], standing: Discrete, feet: Mapping[str, str]) -> str:
    """The foot that takes the place of the one whose flag is `standing` when left and right are exchanged;
    empty where there is none. feet: names of feet by names of their flags."""
    for flag, foot in feet.items():
        if flag in exchange and flag != standing.name and ca.is_equal(exchange[flag], standing.sym):
            return foot
    return ""


__all__ = ["Exchange", "exchange_of", "exchange_with_flags", "opposite_foot"]
