"""Kieboom's topologies of exoskeletons: ten linkages of four links along a leg, and where two motors can
be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

from strut import linkage
from strut.studies.study import Picture, Row, Study

LINKS, JOINTS = 4, 6
"""Of the linkage of a leg; two of mobility remain, as hip and knee have."""
PUBLISHED_PAIRS = {
    1: "15 13 16 25 23 26 45 34 46",
    2: "15 13 16 25 35 45 56 23 26 34 36 46",
    3: "12 13 15 14 16 23 24 35 34 36 45 46",
    4: "13 15 16 23 25 26 34 35 36 45 46 56",
    5: "all",
    6: "12 13 15 16 14 25 24 35 34 56 45 46",
    7: "all",
    8: "13 15 16 23 25 26 34 35 36 45 46 56",
    9: "12 13 15 16 14 25 24 35 34 56 45 46",
    10: "all",
}
"""Table 5.1: by topology, pairs of joints that may have actuators; joints 1, 2 and 3 are at torso, thigh and
shank."""
Numbers = Mapping[str, int]
"""By joint of ours, the number of the joint in the thesis."""


def published_pairs(number: int) -> frozenset[frozenset[int]]:
    """Return the pairs of a topology of the thesis."""
    text = PUBLISHED_PAIRS[number]
    words = text.split() if text != "all" else [f"{a}{b}" for a, b in combinations(range(1, JOINTS + 1), 2)]
    return frozenset(frozenset(map(int, word)) for word in words)


def pair_numbers(pairs: Sequence[tuple[str, ...]], numbers: Numbers) -> frozenset[frozenset[int]]:
    """Return pairs of joints in the numbers of the thesis."""
    return frozenset(frozenset(numbers[joint] for joint in pair) for pair in pairs)


def match_numbers(topology: linkage.Topology, number: int) -> Numbers | None:
    """Return the numbers of joints with which a topology has the pairs that were published for one, joints 1,
    2 and 3 being at torso, thigh and shank, and the same number of attachments; None where there are none."""
    bodies = topology.limb.bodies
    attached = sum(topology.degree(body) for body in bodies)
    if attached != (4 if number <= 3 else 3):
        return None
    pairs, joints = topology.actuator_sets(), list(topology.joints)
    for order in permutations(range(1, JOINTS + 1)):
        numbers = dict(zip(joints, order, strict=True))
        if all(
            bodies[n - 1] in topology.joints[joint] for joint, n in numbers.items() if n <= len(bodies)
        ) and pair_numbers(pairs, numbers) == published_pairs(number):
            return numbers
    return None


def numbered_topologies() -> dict[int, tuple[linkage.Topology, Numbers]]:
    """Return our topologies by a number of the thesis whose pairs they have, with the numbers of joints.
    Which of several with the same pairs is meant is not known: the drawings tell it, and are not legible."""
    remaining = list(linkage.topologies(linkage.human_leg(), LINKS, JOINTS))
    numbered: dict[int, tuple[linkage.Topology, Numbers]] = {}
    for number in PUBLISHED_PAIRS:
        for topology in remaining:
            numbers = match_numbers(topology, number)
            if numbers is not None:
                numbered[number] = (topology, numbers)
                remaining.remove(topology)
                break
    return numbered


def _pairs_text(pairs: frozenset[frozenset[int]]) -> str:
    return " ".join(sorted("".join(map(str, sorted(pair))) for pair in pairs))


def rows() -> list[Row]:
    """Count topologies and pairs of actuators, and print the pairs of each."""
    found_topologies = linkage.topologies(linkage.human_leg(), LINKS, JOINTS)
    numbered = numbered_topologies()
    total = sum(len(each.actuator_sets()) for each in found_topologies)
    table = [
        Row("topologies", "10", f"{len(found_topologies)}"),
        Row("pairs of actuators", "126", f"{total}"),
    ]
    for number in PUBLISHED_PAIRS:
        published = published_pairs(number)
        if number not in numbered:
            table.append(Row(f"pairs of topology {number}", _pairs_text(published), "no topology has these"))
            continue
        topology, numbers = numbered[number]
        ours = pair_numbers(topology.actuator_sets(), numbers)
        where = ", ".join(
            f"{n} {'-'.join(topology.joints[joint])}"
            for joint, n in sorted(numbers.items(), key=lambda item: item[1])
        )
        table.append(
            Row(
                f"pairs of topology {number}",
                f"{len(published)}: {_pairs_text(published)}",
                f"{len(ours)}: {_pairs_text(ours)}",
                f"joints {where}",
            )
        )
    return table


def pictures() -> list[Picture]:
    """Draw every graph and every linkage."""
    drawn = []
    for number, (topology, _) in numbered_topologies().items():
        pairs = len(topology.actuator_sets())
        markup = linkage.draw_graph(topology, f"graph {number}") + linkage.draw_linkage(
            topology, title=f"linkage {number}"
        )
        drawn.append(Picture(f"Topology {number}: {pairs} pairs of actuators ({topology.text()})", markup))
    return drawn


STUDY = Study(
    "kieboom-topologies",
    "Linkages of four links along a leg, and where two motors can be",
    "Kieboom, sections 5.2 and 5.3, table 5.1; which of the topologies 4 and 8, of 6 and 9, and of 5, 7 and "
    "10 is which, its drawings say and its table does not",
    rows,
    pictures=pictures,
)
