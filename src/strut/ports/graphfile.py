"""Bond graphs as TOML: data that people write and read.

    name = "motor"

    [parameters.kt]
    value = 0.05
    unit = "N m/A"

    [inputs.voltage]
    value = 12.0
    unit = "V"

    [[element]]
    name = "supply"
    kind = "Se"                       # I, C, IC, R, RS, Se, Sf, TF, GY, 0, 1, machine, part
    domain = "electrical"
    effort = "voltage"

    [[element]]
    name = "motor"
    kind = "GY"
    ratio = "kt"
    domains = ["electrical", "rotation"]

    [[bond]]
    from = "supply"
    to = ["winding", "motor"]         # or one name

    [expose]
    shaft = "speed"                   # a port of this graph, where it is part of another

An element takes the keys that the methods of `BondGraph` have: inertia, stiffness, capacity, resistance,
conductance, effort, flow, ratio, initial, size, domain, domains. Numbers may be expressions of parameters; in
what stores nothing also of inputs, of the time t and of signals of elements above: NAME.effort, NAME.flow,
NAME.p, NAME.q. The energy of a storage is an expression of p or q (of several ports: of their names); the
effort of a resistor that is not linear one of f, its flow one of e, in quotes.

A machine is another model file, model = "leg.toml", and ports = { knee = "knee_torque" }, or a network,
model = "cart.cdn"; where its account of energy does not know the power of an input, as a network's does not,
the flow is said: ports = { push = { input = "cart.f", flow = "cart.v" } }. A part is another graph, file =
"motor.toml". All lie in the folder of the file."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.confine import resolve_inside
from strut.errors import ModelError
from strut.mechanism.io.modelfile import place_errors, read_parameter
from strut.mechanism.io.names import name_of, read
from strut.mechanism.io.toml import REQUIRED, TomlTable, check_toml
from strut.ports.domains import DOMAINS
from strut.ports.elements import Element, Kind
from strut.ports.graph import BondGraph
from strut.system import Input, Param, System, time
from strut.units import to_si

PART_KIND = "part"
"""The kind of an element that stands for a graph in another file."""
KINDS = [kind.value for kind in Kind] + [PART_KIND]
"""Kinds of elements, as a file says them."""
MAX_DEPTH = 8
"""Graphs in graphs in graphs: one that is part of itself has no end."""


@checked
def load(path: str | Path) -> BondGraph:
    """Read a bond graph from a file; its name is the file's unless the file says one."""
    return _load(Path(path), 0)


@checked
def parse(text: str, where: str = "bond graph", name: str = "graph") -> BondGraph:
    """Read a bond graph from the text of a file; `where` names it in messages. Other files are not read."""
    return _graph(text, where, name, None, 0)


@checked
def is_graph_file(path: str | Path) -> bool:
    """Return whether a model file has elements of a bond graph, rather than bodies and joints."""
    try:
        data = tomllib.loads(read(path))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return False  # whoever reads it says what is wrong
    return "element" in data


def _load(path: Path, depth: int) -> BondGraph:
    return _graph(read(path), str(path), name_of(path.stem), path.parent, depth)


def _graph(text: str, where: str, name: str, folder: Path | None, depth: int) -> BondGraph:
    if depth > MAX_DEPTH:
        raise ModelError(f"{where} is part of itself, or graphs are more than {MAX_DEPTH} deep in each other")
    top = _tables(text, where)
    top.folder = folder
    with place_errors(top):
        params = {key: read_parameter(table, key) for key, table in top.tables("parameters", bare=True)}
        inputs = {key: _input(table, key) for key, table in top.tables("inputs", bare=True)}
        twice = [key for key in inputs if key in params]
        if twice:
            raise top.error(f"'{twice[0]}' is a parameter and an input: name one of them otherwise")
        g = BondGraph(top.word("name", name))
    top.names.update(params)
    reader = _Elements(g, {**inputs, "t": time}, depth)
    for table in top.list_of_tables("element"):
        with place_errors(table):
            reader.read(table)
            table.refuse_unknown_keys()
    for table in top.list_of_tables("bond"):
        with place_errors(table):
            heads = table.take("to")
            if not isinstance(heads, (str, list)) or any(not isinstance(h, str) for h in heads):
                raise table.error(f"to is {heads!r}: a name in quotes, or a list of them, is needed", "to")
            g.bond(table.word("from"), *([heads] if isinstance(heads, str) else heads))
            table.refuse_unknown_keys()
    exposed = top.table("expose")
    for port in exposed.data if exposed is not None else ():
        assert exposed is not None
        with place_errors(exposed):
            g.expose(port, exposed.word(port))
    top.refuse_unknown_keys()
    return g


def _tables(text: str, where: str) -> TomlTable:
    try:
        return TomlTable(tomllib.loads(text), (), text, where, {})
    except tomllib.TOMLDecodeError as error:
        raise ModelError(check_toml(text, where, error)) from error
    except (RecursionError, ValueError) as error:
        raise ModelError(
            f"{where} cannot be read: it is nested too deeply, or has a number that is too long ({error})"
        ) from error


def _input(table: TomlTable | Any, key: str) -> Input:
    """Read an input, a table or a bare number, into SI units."""
    if not isinstance(table, TomlTable):
        return Input(key, table)
    with place_errors(table):
        factor, unit = to_si(table.word("unit", ""))
        value = float(table.number("value", 0.0))
        described = table.word("description", "")
        table.refuse_unknown_keys()
    return Input(key, factor * value, unit, description=described)


class _Elements:
    """Reads elements one by one. signals: what expressions of what stores nothing may use besides
    parameters."""

    def __init__(self, graph: BondGraph, signals: dict[str, Any], depth: int) -> None:
        self.graph, self.signals, self.depth = graph, signals, depth

    def read(self, table: TomlTable) -> None:
        """Read one table of [[element]]."""
        name, kind = table.word("name"), table.choice("kind", KINDS)
        if kind == PART_KIND:
            part = _load(self._file(table, "file"), self.depth + 1)
            self.graph.include(name, part)
            added = [e for e in self.graph.elements.values() if e.name.startswith(f"{name}.")]
        else:
            added = [self._element(name, Kind(kind), table)]
        for element in added:
            self._note_signals(element)

    def _note_signals(self, element: Element) -> None:
        for port in element.ports:
            label = f"{element.name}.{port.name}" if len(element.ports) > 1 else element.name
            self.signals[f"{label}.effort"], self.signals[f"{label}.flow"] = port.effort, port.flow
            if port.state is not None:
                self.signals[port.state.name] = port.state.sym

    def _element(self, name: str, kind: Kind, table: TomlTable) -> Element:
        g = self.graph
        if kind is Kind.ZERO:
            return g.zero(name)
        if kind is Kind.ONE:
            return g.one(name)
        if kind is Kind.MACHINE:
            return g.machine(name, self._machine(table), self._ports_of_machine(table))
        if kind is Kind.STORAGE:
            return self._storage(name, table)
        if kind in (Kind.TRANSFORMER, Kind.GYRATOR):
            make = g.transformer if kind is Kind.TRANSFORMER else g.gyrator
            return make(name, self._value(table, "ratio", REQUIRED), domains=self._domains(table))
        domain = table.choice("domain", list(DOMAINS))
        size = self._size(table)
        if kind is Kind.EFFORT_SOURCE:
            return g.effort_source(name, self._value(table, "effort", REQUIRED), domain=domain, size=size)
        if kind is Kind.FLOW_SOURCE:
            return g.flow_source(name, self._value(table, "flow", REQUIRED), domain=domain, size=size)
        if kind in (Kind.RESISTOR, Kind.HEATER):
            resistor = g.resistor if kind is Kind.RESISTOR else g.heater
            resistance, conductance = self._value(table, "resistance"), self._value(table, "conductance")
            effort = self._law(table, "effort", "f", self.signals)
            flow = self._law(table, "flow", "e", self.signals)
            table.refuse_unknown_keys()  # before an element says that it was given nothing: a typo is why
            return resistor(
                name,
                resistance,
                domain=domain,
                conductance=conductance,
                effort=effort,
                flow=flow,
                size=size,
            )
        initial = self._initial(table)
        if kind is Kind.INERTIA:
            energy = self._law(table, "energy", "p", {})
            inertia = self._value(table, "inertia", signals={})
            table.refuse_unknown_keys()
            return g.inertia(name, inertia, domain=domain, energy=energy, initial=initial, size=size)
        stiffness = self._value(table, "stiffness", signals={})
        capacity = self._value(table, "capacity", signals={})
        energy = self._law(table, "energy", "q", {})
        table.refuse_unknown_keys()
        return g.compliance(
            name,
            domain=domain,
            stiffness=stiffness,
            capacity=capacity,
            energy=energy,
            initial=initial,
            size=size,
        )

    def _value(
        self, table: TomlTable, key: str, default: Any = None, signals: Mapping[str, Any] | None = None
    ) -> Any:
        """A number, an expression, or a matrix of them; a name alone is the quantity itself, with its
        unit."""
        value = table.take(key, default)
        if key not in table.data:
            return None
        names = self.signals if signals is None else signals
        if isinstance(value, list):
            rows = [row if isinstance(row, list) else [row] for row in value]
            return [[table.entry(each, key, names) for each in row] for row in rows]
        name = value.strip() if isinstance(value, str) else None
        owner = table.names.get(name) or names.get(name) if name else None
        return owner if isinstance(owner, (Param, Input)) else table.number(key, more=names)

    def _initial(self, table: TomlTable) -> Any:
        value = table.take("initial", 0.0)
        return table.numbers("initial", 0.0) if isinstance(value, list) else table.number("initial", 0.0)

    def _size(self, table: TomlTable) -> int | None:
        size = table.take("size", None)
        if size is not None and (type(size) is not int or size < 1):
            raise table.error(f"size is {size!r}: a whole number from 1 on is needed", "size")
        return size

    def _domains(self, table: TomlTable) -> tuple[str | None, str | None]:
        names = table.words("domains")
        if len(names) not in (0, 2):
            raise table.error(f"domains are {names!r}: two are needed, or none", "domains")
        return (names[0], names[1]) if names else (None, None)

    def _law(
        self, table: TomlTable, key: str, variable: str, signals: Mapping[str, Any]
    ) -> Callable[[ca.SX], Any] | None:
        """An expression of one variable as a function."""
        if table.take(key, None) is None:
            return None
        table.word(key)
        return lambda argument: table.number(key, more={**signals, variable: argument})

    def _storage(self, name: str, table: TomlTable) -> Element:
        ports: dict[str, tuple[str, str]] = {}
        initial: dict[str, Any] = {}
        for inner in table.list_of_tables("ports"):
            key = inner.word("name")
            ports[key] = (inner.choice("kind", ["I", "C"]), inner.choice("domain", list(DOMAINS)))
            initial[key] = inner.number("initial", 0.0)
            inner.refuse_unknown_keys()

        def energy(*states: ca.SX) -> Any:
            return table.number("energy", more=dict(zip(ports, states, strict=True)))

        return self.graph.storage(name, ports, energy, initial=initial)

    def _machine(self, table: TomlTable) -> System:
        path = self._file(table, "model")
        if path.suffix not in (".toml", ".cdn"):
            raise table.error(
                f"model is '{path.name}': a model file, .toml, or a network, .cdn, is needed", "model"
            )
        from strut import contact, mechanism, network  # here: they bring much that most graphs do without

        if path.suffix == ".cdn":
            net = network.load(path)
            system = net.system()
            for problem in net.warnings:
                warnings.warn(str(problem), stacklevel=2)
            return system
        if contact.has_ground(path):
            return contact.load(path)
        return mechanism.system(mechanism.modelfile.load(path))

    def _ports_of_machine(self, table: TomlTable) -> dict[str, str | tuple[str, Any]]:
        """By port, an input of the machine, or an input and the name of the flow that answers it."""
        inner = table.table("ports")
        if inner is None:
            raise table.error("'ports' is missing: ports = { NAME = \"INPUT\" }")
        ports: dict[str, str | tuple[str, Any]] = {}
        for key, value in inner.data.items():
            if isinstance(value, dict):
                entry = inner.table(key)
                assert entry is not None
                ports[key] = (entry.word("input"), entry.word("flow"))
                entry.refuse_unknown_keys()
            else:
                ports[key] = inner.word(key)
        return ports

    def _file(self, table: TomlTable, key: str) -> Path:
        """A file that a table names, inside of the folder of this one."""
        name = table.word(key)
        if table.folder is None:
            raise table.error(
                f"{key} is '{name}', but this text is no file: there is no folder to look in", key
            )
        return resolve_inside(table.folder / name, table.folder, (), f"{table.where} names '{name}'")


__all__ = ["is_graph_file", "load", "parse"]
