"""Rules that a topology must keep, each with a name: which ones hold is decided by counting and by generic
rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strut.checks import checked
from strut.linkage.topology import Topology


@checked
@dataclass(frozen=True)
class Rule:
    """A rule for topologies. name: in a few words. holds: whether a topology keeps it."""

    name: str
    holds: Callable[[Topology], bool]


def _is_connected(topology: Topology) -> bool:
    reached, waiting = set(topology.parts[:1]), list(topology.parts[:1])
    limb = list(topology.limb.joints.values())
    while waiting:
        part = waiting.pop()
        near = [*topology.neighbours(part), *[b if a == part else a for a, b in limb if part in (a, b)]]
        waiting += [other for other in near if other not in reached]
        reached.update(near)
    return len(reached) == len(topology.parts)


def _holds_links_twice(topology: Topology) -> bool:
    return all(topology.degree(link) >= 2 for link in topology.links)


def _reaches_every_body(topology: Topology) -> bool:
    return all(topology.degree(body) >= 1 for body in topology.limb.bodies)


def _leaves_limb_free(topology: Topology) -> bool:
    joints = topology.limb.joints
    return topology.mobility(joints) == topology.mobility() - len(joints)


def _has_no_idle_joint(topology: Topology) -> bool:
    free = topology.mobility()
    return all(topology.mobility([joint]) == free - 1 for joint in topology.joints)


CONNECTED = Rule("connected", _is_connected)
"""All links and bodies hang together."""
HELD_TWICE = Rule("every link held twice", _holds_links_twice)
"""No link dangles from one joint alone."""
ATTACHED = Rule("every body attached", _reaches_every_body)
"""Every body of the limb carries a joint of the linkage."""
LIMB_FREE = Rule("limb joints free and independent", _leaves_limb_free)
"""The joints of the limb can move, each without the others."""
NO_IDLE_JOINT = Rule("no idle joint", _has_no_idle_joint)
"""Every joint of the linkage turns when it moves: none sits within a part that is rigid."""
USUAL_RULES = (HELD_TWICE, ATTACHED, CONNECTED, LIMB_FREE, NO_IDLE_JOINT)
"""What is asked of a topology unless other rules are given, cheap ones first."""


@checked
def broken_rules(topology: Topology, rules: Sequence[Rule] = USUAL_RULES) -> tuple[str, ...]:
    """Return the names of the rules that a topology breaks."""
    return tuple(rule.name for rule in rules if not rule.holds(topology))


__all__ = [
    "ATTACHED",
    "CONNECTED",
    "HELD_TWICE",
    "LIMB_FREE",
    "NO_IDLE_JOINT",
    "USUAL_RULES",
    "Rule",
    "broken_rules",
]
