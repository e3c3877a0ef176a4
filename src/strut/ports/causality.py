"""Causality: which end of every bond is told the effort, and which the flow.

The sequential causality assignment procedure (SCAP) of Karnopp and Rosenberg: what is fixed first, then
storages as they prefer, then resistors, then what is left; each choice is carried through junctions,
transformers and gyrators before the next is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from strut.checks import checked
from strut.errors import ModelError
from strut.ports.elements import JUNCTIONS, SOURCES, STORAGES, Given, Kind
from strut.ports.graph import BondGraph
from strut.ports.wiring import Wiring, wire


@dataclass(frozen=True, eq=False)
class Causality:
    """Which end of each bond is given the effort: the one with the causal stroke.

    effort_to_head: by bond, whether that is the head. dependent: storages that could not be given what they
    integrate, so that their state follows from others (derivative causality), as (element, port). free:
    resistors whose causality was chosen freely, a sign of algebraic loops.
    """

    wiring: Wiring
    effort_to_head: tuple[bool, ...]
    dependent: tuple[tuple[str, str], ...]
    free: tuple[str, ...]

    def __repr__(self) -> str:
        names = ", ".join(f"{element}.{port}" if port else element for element, port in self.dependent)
        parts = [f"{len(self.effort_to_head)} bonds"]
        parts += [f"dependent {names}"] if names else []
        parts += [f"free {', '.join(self.free)}"] if self.free else []
        return f"<Causality of {self.wiring.name}: {'; '.join(parts)}>"

    def input_at(self, element: str, k: int) -> Given:
        """What the k-th attachment of an element is given."""
        attachment = self.wiring.at[element][k]
        return Given.EFFORT if self.effort_to_head[attachment.bond] == attachment.inward else Given.FLOW

    def strokes(self) -> dict[str, str]:
        """By bond, 'tail -> head', the name of the element that the causal stroke is at."""
        return {
            str(bond): (bond.head if at_head else bond.tail)[0]
            for bond, at_head in zip(self.wiring.bonds, self.effort_to_head, strict=True)
        }


@checked
def causality(graph: BondGraph) -> Causality:
    """Assign causality to a graph. Raises ModelError, with the path, where two elements want what excludes
    each other: two effort sources at one 0-junction."""
    return assign(wire(graph))


def assign(wiring: Wiring) -> Causality:
    """Assign causality to a graph that is wired."""
    assignment = _Assignment(wiring)
    for name, k in _ports(wiring, fixed=True):
        assignment.choose(name, k, wiring.port(name, k).needs)
    for name, k in _ports(wiring, fixed=False):
        if wiring.elements[name].kind in STORAGES:
            assignment.prefer(name, k, wiring.port(name, k).prefers)
    # a resistor with a law is evaluated one way, if the rest leaves it that choice; a machine's flow is told
    laws = [(name, k) for name, k in _ports(wiring, fixed=True, resistors=True)]
    for name, k in laws:
        assignment.prefer(name, k, wiring.port(name, k).needs)
    free = []
    for name, k in _ports(wiring, fixed=False):
        if wiring.elements[name].kind in (Kind.RESISTOR, Kind.HEATER) and assignment.prefer(
            name, k, Given.FLOW
        ):
            free.append(name)
    for bond in range(len(wiring.bonds)):
        if assignment.stroke[bond] is None:
            assignment.prefer_bond(bond)
    for name, k in laws:
        assignment.require_law(name, k)
    result = Causality(wiring, tuple(bool(s) for s in assignment.stroke), (), tuple(free))
    dependent = tuple(
        (name, wiring.port(name, k).name)
        for name, k in _ports(wiring, fixed=False)
        if wiring.elements[name].kind in STORAGES
        and result.input_at(name, k) is not wiring.port(name, k).prefers
    )
    return Causality(wiring, result.effort_to_head, dependent, tuple(free))


def _ports(wiring: Wiring, fixed: bool, resistors: bool = False) -> Iterator[tuple[str, int]]:
    """Element and number of every port that must be given something, or of every other. Resistors with a law
    count among those only where asked for: they come after storages."""
    for name, element in wiring.elements.items():
        is_resistor = element.kind in (Kind.RESISTOR, Kind.HEATER)
        for k, port in enumerate(element.ports):
            law = is_resistor and k == 0 and port.needs is not Given.EITHER
            if fixed:
                if port.needs is not Given.EITHER and law == resistors:
                    yield name, k
            elif port.needs is Given.EITHER:
                yield name, k


class _Assignment:
    """Strokes under way. stroke: by bond, whether it is at the head, or None. why: by bond, the one that
    decided it and the element between, or None for what was chosen."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.stroke: list[bool | None] = [None] * len(wiring.bonds)
        self.why: list[int | None] = [None] * len(wiring.bonds)
        self.trail: list[int] = []

    def choose(self, name: str, k: int, incoming: Given) -> None:
        """Give a port what it needs, and carry it on."""
        attachment = self.wiring.at[name][k]
        self._set(attachment.bond, (incoming is Given.EFFORT) == attachment.inward, None, name)
        self._carry([attachment.bond])

    def prefer(self, name: str, k: int, incoming: Given) -> bool:
        """Give a port what it prefers, if nothing has decided yet and nothing speaks against it; else the
        other. Return whether there was a choice."""
        bond = self.wiring.at[name][k].bond
        if self.stroke[bond] is not None:
            return False
        mark = len(self.trail)
        try:
            self.choose(name, k, incoming)
        except ModelError:
            self._undo(mark)
            self.choose(name, k, incoming.other)
        return True

    def prefer_bond(self, bond: int) -> None:
        """Put the stroke of a bond between junctions at its head, if nothing speaks against it."""
        mark = len(self.trail)
        try:
            self._set(bond, True, None, str(self.wiring.bonds[bond]))
            self._carry([bond])
        except ModelError:
            self._undo(mark)
            self._set(bond, False, None, str(self.wiring.bonds[bond]))
            self._carry([bond])

    def require_law(self, name: str, k: int) -> None:
        """Raise ModelError where a resistor whose law goes one way is given the other."""
        attachment, port = self.wiring.at[name][k], self.wiring.port(name, k)
        incoming = Given.EFFORT if self.stroke[attachment.bond] == attachment.inward else Given.FLOW
        if incoming is not port.needs:
            raise ModelError(
                f"{self.wiring.elements[name]} of '{self.wiring.name}' is given its {incoming.value}, and "
                f"its "
                f"law says "
                f"the {incoming.value} as a function of the {incoming.other.value}: "
                f"{self._path(attachment.bond)}; "
                f"give "
                f"the law the other way round, {incoming.other.value}=..., or put a small "
                f"{'inertia' if incoming is Given.EFFORT else 'compliance'} beside it"
            )

    def _set(self, bond: int, at_head: bool, why: int | None, wish: str) -> None:
        if self.stroke[bond] is None:
            self.stroke[bond], self.why[bond] = at_head, why
            self.trail.append(bond)
        elif self.stroke[bond] != at_head:
            other = f"; {self._path(why)}" if why is not None else ""
            raise ModelError(
                f"causality of '{self.wiring.name}' is in conflict at bond {self.wiring.bonds[bond]}: "
                f"{self._claim(wish)} wants it the other way than {self._path(bond)}{other}. One of them "
                f"must give "
                f"way: take a source away, or put a storage or a resistor between them"
            )

    def _claim(self, wish: str) -> str:
        return str(self.wiring.elements[wish]) if wish in self.wiring.elements else wish

    def _undo(self, mark: int) -> None:
        for bond in self.trail[mark:]:
            self.stroke[bond], self.why[bond] = None, None
        del self.trail[mark:]

    def _carry(self, queue: list[int]) -> None:
        """Follow what one stroke decides, through everything it reaches."""
        while queue:
            bond = queue.pop()
            for end in self.wiring.ends(bond):
                before = len(self.trail)
                kind = self.wiring.elements[end].kind
                if kind in JUNCTIONS:
                    self._junction(end, strong=Given.EFFORT if kind is Kind.ZERO else Given.FLOW, cause=bond)
                elif kind in (Kind.TRANSFORMER, Kind.GYRATOR):
                    self._converter(end, kind, bond)
                queue += self.trail[before:]

    def _input_at(self, element: str, k: int) -> Given | None:
        attachment = self.wiring.at[element][k]
        stroke = self.stroke[attachment.bond]
        return None if stroke is None else Given.EFFORT if stroke == attachment.inward else Given.FLOW

    def _junction(self, name: str, strong: Given, cause: int) -> None:
        """A 0-junction is given one effort, a 1-junction one flow: by its strong bond."""
        attachments = self.wiring.at[name]
        incoming = [self._input_at(name, k) for k in range(len(attachments))]
        strong_ones = [k for k, kind in enumerate(incoming) if kind is strong]
        if strong_ones:
            keep, answer = strong_ones[0], strong.other
            if len(strong_ones) > 1:  # the one that came last is what is refused
                last = next(k for k in strong_ones if attachments[k].bond == cause or k == strong_ones[-1])
                keep = next(k for k in strong_ones if k != last)
            cause = attachments[keep].bond
            rest = [k for k in range(len(attachments)) if k != keep]
        elif incoming.count(None) == 1:
            rest, answer = [incoming.index(None)], strong
        elif None not in incoming:
            rest, answer = [self.wiring.place(name, cause)], strong  # nobody is left to be the strong bond
        else:
            return
        for k in rest:
            a = attachments[k]
            self._set(a.bond, (answer is Given.EFFORT) == a.inward, cause if a.bond != cause else None, name)

    def _converter(self, name: str, kind: Kind, cause: int) -> None:
        """A transformer is given one effort and one flow, a gyrator two of a kind."""
        k = self.wiring.place(name, cause)
        incoming = self._input_at(name, k)
        assert incoming is not None
        answer = incoming.other if kind is Kind.TRANSFORMER else incoming
        a = self.wiring.at[name][1 - k]
        self._set(a.bond, (answer is Given.EFFORT) == a.inward, cause, name)

    def _path(self, bond: int | None) -> str:
        """The chain of elements from what decided a bond to it, with strokes as bars."""
        chain: list[int] = []
        while bond is not None and bond not in chain:
            chain.append(bond)
            bond = self.why[bond]
        chain.reverse()
        first = self.wiring.ends(chain[0])
        if len(chain) > 1:
            shared = set(self.wiring.ends(chain[1]))
            first = first if first[1] in shared else first[::-1]
        else:
            first = first if self._decides(first[0]) else first[::-1]
        words, at = [first[0]], first[0]
        for link in chain:
            tail, head = self.wiring.ends(link)
            stroke_here = self.stroke[link] == (at == head)  # the stroke is at the end that we come from
            at = head if at == tail else tail
            arrow = "-->" if at == head else "<--"
            words.append(f"|{arrow}" if stroke_here else f"{arrow}|")
            words.append(at)
        return " ".join(words)

    def _decides(self, name: str) -> bool:
        return self.wiring.elements[name].kind in (*SOURCES, *STORAGES, Kind.MACHINE)
