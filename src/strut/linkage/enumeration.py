"""`topologies`: all linkages between the bodies of a limb with so many links and joints, none of them twice.

Joints are added one at a time. After each, graphs that differ in the names of links alone become one: of all
names the least is taken (canonical form), as the bits of which pairs are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np

from strut.checks import checked, integer
from strut.errors import ModelError
from strut.linkage.limb import Limb
from strut.linkage.rules import USUAL_RULES, Rule
from strut.linkage.topology import Topology, sort_pins

MAX_LINKS = 7
"""Links of a linkage: their names can be exchanged in 7! ways, each of which is tried."""
MAX_PAIRS = 62
"""Pairs of links and bodies that may be joined: each is a bit of a whole number."""
MAX_GRAPHS = 2_000_000
"""Graphs with so many joints or fewer that are kept at a time."""
GRAPHS_PER_CHUNK = 4096
"""How many graphs have their names exchanged at a time."""


@checked
def topologies(
    limb: Limb,
    links: int,
    joints: int,
    mobility: int | None = None,
    *,
    rules: Sequence[Rule] = USUAL_RULES,
    further: Sequence[Rule] = (),
) -> tuple[Topology, ...]:
    """Return all topologies of linkages with so many links and joints between the bodies of a limb, up to the
    names of the links.

    mobility: of limb and linkage together, by generic rank; as many as the limb has joints unless given.
    rules: which a topology must keep; further: rules besides these. Raises ModelError where so few joints
    leave more mobility than was asked for, wherever they are.
    """
    integer("links", links, 1, MAX_LINKS)
    integer("joints", joints, 1)
    if mobility is None and not limb.joints:
        raise ModelError("the limb has no joints: say which mobility the linkage is to have, mobility=1")
    free = len(limb.joints) if mobility is None else integer("mobility", mobility, 0)
    _check_count(limb, links, joints, free)
    valid_topologies: list[Topology] = []
    for topology in _graphs(limb, links, joints):
        if all(rule.holds(topology) for rule in (*rules, *further)) and topology.mobility() == free:
            valid_topologies.append(topology)
    return tuple(valid_topologies)


def _check_count(limb: Limb, links: int, joints: int, mobility: int) -> None:
    """Raise ModelError where joints are too few for a mobility: each takes two at most (Kutzbach)."""
    least = 3 * (len(limb.bodies) + links - 1) - 2 * (len(limb.joints) + joints)
    if least > mobility:
        needed = joints + -(-(least - mobility) // 2)
        advice = f"take {needed} joints"
        if (least - mobility) % 2:
            advice = f"{needed} joints take one too many; take a link more or fewer, or another mobility"
        raise ModelError(
            f"{links} links with {joints} joints have a mobility of {least} at least, and {mobility} is "
            f"asked for: {advice}"
        )


def _graphs(limb: Limb, links: int, joints: int) -> Iterator[Topology]:
    """All graphs with so many links and joints, up to the names of the links, in the order of their bits."""
    names = link_names(limb, links)
    pairs = [*product(limb.bodies, names), *combinations(names, 2)]
    if len(pairs) > MAX_PAIRS:
        raise ModelError(
            f"{links} links and {len(limb.bodies)} bodies can be joined in {len(pairs)} places: at most "
            f"{MAX_PAIRS} are counted, take fewer"
        )
    if joints > len(pairs):
        raise ModelError(
            f"{joints} joints are asked for, but {links} links and {len(limb.bodies)} bodies can be joined "
            f"in {len(pairs)} places only"
        )
    graphs = np.zeros(1, dtype=np.int64)
    exchanges = _exchanged_pairs(limb, names, pairs)
    for _ in range(joints):
        bits = np.int64(1) << np.arange(len(pairs), dtype=np.int64)
        larger = (graphs[:, None] | bits)[(graphs[:, None] & bits) == 0]
        graphs = canonical_forms(np.unique(larger), exchanges)
        if len(graphs) > MAX_GRAPHS:
            raise ModelError(
                f"there are more than {MAX_GRAPHS} graphs with {links} links and {joints} joints or fewer: "
                "take fewer links or joints"
            )
    for graph in graphs.tolist():
        pins = [pair for k, pair in enumerate(pairs) if graph >> k & 1]
        yield Topology(limb, names, sort_pins(limb, pins))


def link_names(limb: Limb, links: int) -> tuple[str, ...]:
    """Return names for links: a, b, c, ..., or link_a, ... where the limb has such a name."""
    letters = "abcdefg"[:links]
    clash = set(letters) & {*limb.bodies, *limb.joints}
    return tuple(f"link_{letter}" if clash else letter for letter in letters)


def _exchanged_pairs(
    limb: Limb, names: tuple[str, ...], pairs: Sequence[tuple[str, str]]
) -> list[np.ndarray]:
    """For every exchange of the names of links, the place to which each pair goes."""
    place = {frozenset(pair): k for k, pair in enumerate(pairs)}
    exchanges = []
    for images in permutations(names):
        image = dict(zip(names, images, strict=True)) | {body: body for body in limb.bodies}
        exchanges.append(np.array([place[frozenset((image[a], image[b]))] for a, b in pairs]))
    return exchanges


def canonical_forms(graphs: np.ndarray, exchanges: Sequence[np.ndarray]) -> np.ndarray:
    """Return the least number that each graph can have by exchanging names, each once, in order."""
    least = []
    for start in range(0, len(graphs), GRAPHS_PER_CHUNK):
        part = graphs[start : start + GRAPHS_PER_CHUNK]
        width = len(exchanges[0])
        # as floating-point numbers, in two halves below 2^53: exact
        joined = ((part[:, None] >> np.arange(width)) & 1).astype(np.float64)
        best = part.copy()
        for places in exchanges:
            low, high = np.where(places < 31, 2.0**places, 0), np.where(places >= 31, 2.0 ** (places - 31), 0)
            renamed = (joined @ high).astype(np.int64) << 31 | (joined @ low).astype(np.int64)
            np.minimum(best, renamed, out=best)
        least.append(np.unique(best))
    return np.unique(np.concatenate(least))


__all__ = ["canonical_forms", "link_names", "topologies"]
