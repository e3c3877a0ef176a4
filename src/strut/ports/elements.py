"""Elements of bond graphs: what stores, dissipates, supplies and converts energy, as data.

An element has ports, a port has an effort and a flow, which are symbols until a graph is solved; what the
element says of them are expressions of these symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import casadi as ca

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.ports.domains import Domain
from strut.system import Param, Quantity, State, System, known_symbol, sx


class Kind(Enum):
    """What an element is, by its letters in the textbooks."""

    INERTIA = "I"
    COMPLIANCE = "C"
    STORAGE = "IC"
    RESISTOR = "R"
    HEATER = "RS"
    EFFORT_SOURCE = "Se"
    FLOW_SOURCE = "Sf"
    TRANSFORMER = "TF"
    GYRATOR = "GY"
    ZERO = "0"
    ONE = "1"
    MACHINE = "machine"


WORDS = {
    Kind.INERTIA: "inertia",
    Kind.COMPLIANCE: "compliance",
    Kind.STORAGE: "storage",
    Kind.RESISTOR: "resistor",
    Kind.HEATER: "heater",
    Kind.EFFORT_SOURCE: "effort source",
    Kind.FLOW_SOURCE: "flow source",
    Kind.TRANSFORMER: "transformer",
    Kind.GYRATOR: "gyrator",
    Kind.ZERO: "0-junction",
    Kind.ONE: "1-junction",
    Kind.MACHINE: "machine",
}
"""What messages call each kind."""

JUNCTIONS = (Kind.ZERO, Kind.ONE)
"""Kinds that have as many ports as bonds, and whose domain follows from them."""
STORAGES = (Kind.INERTIA, Kind.COMPLIANCE, Kind.STORAGE)
"""Kinds that have states."""
SOURCES = (Kind.EFFORT_SOURCE, Kind.FLOW_SOURCE)
"""Kinds that exchange energy with the outside."""


class Given(Enum):
    """What an element must be given at a port, or prefers to be given; it answers with the other one."""

    EFFORT = "effort"
    FLOW = "flow"
    EITHER = "either"

    @property
    def other(self) -> Given:
        """The answer."""
        return Given.FLOW if self is Given.EFFORT else Given.EFFORT


@dataclass(frozen=True, eq=False)
class ElementPort:
    """A port of an element that is no junction.

    name: empty if it is the only one in its direction. inward: whether power is counted into the element.
    domain, size: None where they follow from what is on the other side. effort, flow: their symbols.
    needs, prefers: what it must be, or is best, given. state: the state that a port of a storage integrates.
    """

    name: str
    inward: bool
    domain: Domain | None
    size: int
    effort: ca.SX
    flow: ca.SX
    needs: Given = Given.EITHER
    prefers: Given = Given.EITHER
    state: State | None = None

    @property
    def symbols(self) -> tuple[ca.SX, ca.SX]:
        """Effort and flow."""
        return self.effort, self.flow


def make_port(
    element: str,
    name: str,
    domain: Domain | None,
    *,
    size: int,
    inward: bool,
    needs: Given = Given.EITHER,
    prefers: Given = Given.EITHER,
    state: State | None = None,
) -> ElementPort:
    """Make a port with fresh symbols, called after its element."""
    label = f"{element}_{name}".rstrip("_").replace(".", "_")
    effort, flow = ca.SX.sym(f"{label}_effort", size), ca.SX.sym(f"{label}_flow", size)
    return ElementPort(name, inward, domain, size, effort, flow, needs, prefers, state)


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a bond graph.

    ports: in order; a transformer and a gyrator have the one that power enters by first. laws: its
    expressions by name: 'energy' of a storage [J], and its 'slope' where linear; 'resistance' or
    'conductance' of a linear resistor, 'effort' or 'flow' of another; 'effort' or 'flow' of a source; 'ratio'
    of a transformer or gyrator. system, inputs, flows: of a machine, its system and, by port, the name of the
    input and the flow that answers it. unbooked: ports of a machine whose power its own account does not
    know. owners: the quantities that its expressions are made of, kept alive with it. divisors: parameters
    that it divides by, the inertia or capacity of a storage: a system of it takes none that is zero."""

    name: str
    kind: Kind
    ports: tuple[ElementPort, ...]
    laws: Mapping[str, ca.SX] = field(default_factory=dict)
    domain: Domain | None = None
    system: System | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    flows: Mapping[str, ca.SX] = field(default_factory=dict)
    unbooked: tuple[str, ...] = ()
    owners: tuple[Quantity, ...] = ()
    divisors: tuple[Param, ...] = ()

    def __str__(self) -> str:
        return f"{WORDS[self.kind]} '{self.name}'"

    def __repr__(self) -> str:
        return f"<{WORDS[self.kind]} {self.name}>"

    @property
    def effort(self) -> ca.SX:
        """The effort at its only port, as a signal for expressions of other elements."""
        return self._only_port("effort").effort

    @property
    def flow(self) -> ca.SX:
        """The flow at its only port, as a signal for expressions of other elements."""
        return self._only_port("flow").flow

    @property
    def state(self) -> ca.SX:
        """Its momentum or displacement, if it is a storage with one port."""
        state = self._only_port("state").state
        if state is None:
            raise ModelError(f"{self} stores nothing: an inertia, compliance or storage has a state")
        return state.sym

    def _only_port(self, what: str) -> ElementPort:
        if len(self.ports) != 1:
            names = ", ".join(p.name for p in self.ports) or "none of its own"
            raise ModelError(
                f"{self} has {len(self.ports)} ports ({names}), so its {what} is ambiguous: take that of an "
                f"element beside it, or element.port('NAME').{what}"
            )
        return self.ports[0]

    def port(self, name: str) -> ElementPort:
        """The port of a name."""

        for port in self.ports:
            if port.name == name:
                return port
        raise UnknownNameError(
            f"{self} has no port '{name}': {did_you_mean(name, [p.name for p in self.ports])}"
        )

    def with_prefix(self, prefix: str) -> tuple[Element, list[tuple[ca.SX, ca.SX]]]:
        """A copy called PREFIX.NAME with symbols of its own, and pairs of old and new symbols."""
        pairs: list[tuple[ca.SX, ca.SX]] = []
        ports = []
        for port in self.ports:
            state = port.state.with_name(f"{prefix}.{port.state.name}") if port.state is not None else None
            assert state is None or isinstance(state, State)
            fresh = make_port(
                f"{prefix}.{self.name}",
                port.name,
                port.domain,
                size=port.size,
                inward=port.inward,
                needs=port.needs,
                prefers=port.prefers,
                state=state,
            )
            pairs += zip(port.symbols, fresh.symbols, strict=True)
            if port.state is not None and state is not None:
                pairs.append((port.state.sym, state.sym))
            ports.append(fresh)
        return replace(self, name=f"{prefix}.{self.name}", ports=tuple(ports)), pairs

    def energy_slope(self, port: ElementPort) -> ca.SX:
        """dH/dx of a storage by the state of one of its ports: what it answers there."""
        assert port.state is not None
        if "slope" in self.laws:  # of a linear one, written shorter than by differentiating
            return self.laws["slope"]
        return ca.densify(ca.gradient(self.laws["energy"], port.state.sym))

    def with_owners(self) -> Element:
        """A copy that keeps alive the quantities of its expressions and initial values."""
        starts = [sx(port.state.value) for port in self.ports if port.state is not None]
        symbols = ca.symvar(ca.vertcat(*[ca.vec(e) for e in (*self.laws.values(), *starts)], ca.SX(0, 1)))
        owners = {id(owner): owner for s in symbols if (owner := known_symbol(s)) is not None}
        return replace(self, owners=tuple(owners.values()))

    def with_laws(self, rewrite: Callable[[ca.SX], ca.SX]) -> Element:
        """A copy whose expressions are rewritten."""
        return replace(self, laws={name: rewrite(law) for name, law in self.laws.items()})


@dataclass(frozen=True)
class Bond:
    """A bond: power is counted from `tail` to `head`, each the name of an element and of its port, the latter
    empty for junctions and for elements with one port in this direction."""

    tail: tuple[str, str]
    head: tuple[str, str]

    def __str__(self) -> str:
        return f"{_end(self.tail)} -> {_end(self.head)}"


def _end(end: tuple[str, str]) -> str:
    return ".".join(part for part in end if part)
