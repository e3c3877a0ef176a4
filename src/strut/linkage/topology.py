"""`Topology`: which links a linkage has between the bodies of a limb, and which joints between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from strut.checks import checked, integer
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.linkage.generic_rank import mobility
from strut.linkage.limb import Limb
from strut.system import check_name


@checked
@dataclass(frozen=True)
class Topology:
    """A planar linkage between the bodies of a limb: links, and pins that join them to each other and to
    bodies. Joints are called j1, j2, ... in the order given.

    links: names of the links. pins: pairs of links or bodies, at least one of each pair a link.
    """

    limb: Limb
    links: tuple[str, ...]
    pins: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        used_names = [*self.limb.bodies, *self.limb.joints]
        for name in self.links:
            check_name(name, "link")
            if name in used_names:
                raise ModelError(f"a link is called '{name}', which the limb or another link is: rename it")
            used_names.append(name)
        seen: set[frozenset[str]] = set()
        for pin in self.pins:
            for name in pin:
                if name not in self.parts:
                    raise UnknownNameError(
                        f"a pin joins '{name}', which is no body and no link: "
                        f"{did_you_mean(name, list(self.parts))}"
                    )
            if not set(pin) & set(self.links) or pin[0] == pin[1]:
                raise ModelError(f"a pin joins '{pin[0]}' and '{pin[1]}': it joins a link to something else")
            if frozenset(pin) in seen:
                raise ModelError(
                    f"two pins join '{pin[0]}' and '{pin[1]}': they would be one rigid body; join them once"
                )
            seen.add(frozenset(pin))

    @property
    def parts(self) -> tuple[str, ...]:
        """The bodies of the limb and the links."""
        return (*self.limb.bodies, *self.links)

    @cached_property
    def joints(self) -> dict[str, tuple[str, str]]:
        """By name, what each pin of the linkage joins; without the joints of the limb."""
        return {f"j{k + 1}": pin for k, pin in enumerate(self.pins)}

    @cached_property
    def _all_joints(self) -> dict[str, tuple[str, str]]:
        """The joints of the limb, then those of the linkage."""
        return {**self.limb.joints, **self.joints}

    @checked
    def mobility(self, locked: Iterable[str] = ()) -> int:
        """Return in how many independent ways it moves, its pins being anywhere, while some of its joints
        (of the limb, too) are locked: 3 times the moving bodies, less the rank of what the joints demand."""
        names = list(self._all_joints)
        for name in locked:
            if name not in names:
                raise UnknownNameError(f"the linkage has no joint '{name}': {did_you_mean(name, names)}")
        return self._mobility(tuple(names.index(name) for name in locked))

    def _mobility(self, locked: tuple[int, ...]) -> int:
        index = {part: k for k, part in enumerate(self.parts)}
        pins = [(index[a], index[b]) for a, b in self._all_joints.values()]
        return mobility(len(self.parts), pins, locked)

    def degree(self, part: str) -> int:
        """Return how many joints of the linkage a link or body has."""
        return sum(part in pin for pin in self.pins)

    @checked
    def actuator_sets(self, count: int | None = None) -> tuple[tuple[str, ...], ...]:
        """Return the choices of joints of the linkage that can drive it: with these locked nothing moves, and
        none of them is superfluous. count: of actuators, as many as the mobility unless given."""
        free = self.mobility()
        count = free if count is None else integer("the number of actuators", count, 0)
        return tuple(
            chosen for chosen in combinations(self.joints, count) if self.mobility(chosen) == free - count
        )

    def neighbours(self, part: str) -> tuple[str, ...]:
        """Return what a link or body is joined to by joints of the linkage."""
        return tuple(b if a == part else a for a, b in self.pins if part in (a, b))

    def text(self) -> str:
        """Return its joints in a line: j1 trunk-a, j2 ..."""
        return ", ".join(f"{name} {a}-{b}" for name, (a, b) in self.joints.items())


def check_actuators(topology: Topology, actuators: Sequence[str]) -> None:
    """Raise UnknownNameError for an actuator that is in no joint of the linkage."""
    names = list(topology.joints)
    for joint in actuators:
        if joint not in names:
            raise UnknownNameError(f"the linkage has no joint '{joint}': {did_you_mean(joint, names)}")


def sort_pins(limb: Limb, pins: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return pins in the usual order: the first at each body of the limb, body by body, then the others."""
    firsts: list[tuple[str, str]] = []
    for body in limb.bodies:
        first = next((pin for pin in pins if body in pin and pin not in firsts), None)
        if first is not None:
            firsts.append(first)
    return (*firsts, *[pin for pin in pins if pin not in firsts])


__all__ = ["Topology", "check_actuators", "sort_pins"]
