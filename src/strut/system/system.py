"""`System`: a hybrid dynamical system over named vectors. The waist of strut: everything describes one, or
uses one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, short_repr
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.html import card
from strut.system.event import Event, Sample
from strut.system.implied import Implied
from strut.system.known_names import names_by_kind, suggest_names
from strut.system.ledger import Ledger
from strut.system.memoise import memo
from strut.system.pickling import Packed
from strut.system.quantity import (
    Delay,
    Discrete,
    Expression,
    Input,
    Param,
    Quantity,
    Random,
    State,
    check_name,
    sx,
    time,
)
from strut.system.scene import Scene
from strut.system.sums import sizes
from strut.system.validate import checked_fields
from strut.system.walk import Walk

GROUPS = ("x", "z", "u", "p")
"""The four vectors of a system: continuous states, discrete states, inputs, parameters."""


@checked
@dataclass(frozen=True, eq=False)
class System(Packed):
    """A hybrid dynamical system.

    x, z, u, p: continuous states, discrete states, inputs, parameters.
    flow: the rate of every continuous state, by name.
    events, samples: jumps of the state, by guard and by clock.
    outputs: named observables. output_units: their units, of those that have one.
    ledger: stored energies and powers.
    randoms, delays: random numbers used in resets, and delayed signals.
    symmetry: new values of states, and of inputs, that describe the same machine with left and right
        exchanged; what is not named stays. A gait that repeats after one step, mirrored, is a fixed point of
        the step followed by it.
    implied: a shorter way to derivatives of some rates; see `Implied`.
    scales: parameters that measure everything else where they are all 1, such as mass, leg and g: then times,
        lengths and energies have no units (`dimensionless`), and nothing that is shown carries s, m or J.
    scene: how it looks; see `Scene`.
    walk: what makes it a walker, its feet, what ends a step, how far it comes; see `Walk`.

    Expressions are CasADi `SX` made of the quantities' symbols. Everything is checked at construction; a
    system that
    exists is well formed. It is immutable: `using` and `replace` give variants.
    """

    name: str
    x: tuple[State, ...] = ()
    flow: Mapping[Any, Expression] = field(default_factory=dict)
    z: tuple[Discrete, ...] = ()
    u: tuple[Input, ...] = ()
    p: tuple[Param, ...] = ()
    events: tuple[Event, ...] = ()
    samples: tuple[Sample, ...] = ()
    outputs: Mapping[str, Expression] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    randoms: tuple[Random, ...] = ()
    delays: tuple[Delay, ...] = ()
    symmetry: Mapping[Any, Expression] = field(default_factory=dict)
    implied: Implied | None = None
    scene: Scene = field(default_factory=Scene)
    output_units: Mapping[str, str] = field(default_factory=dict)
    walk: Walk | None = None
    description: str = ""
    scales: tuple[str, ...] = ()
    cache: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_name(self.name, "system")
        for label, value in checked_fields(self).items():
            object.__setattr__(self, label, value)
        object.__setattr__(self, "cache", {})

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle: without what can be made again."""
        return {label: value for label, value in self.__dict__.items() if label != "cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, cache={})

    # ---- names ----

    def quantities(self, groups: Iterable[str] = GROUPS) -> tuple[Quantity, ...]:
        """The quantities of some groups, one group after the other."""
        return tuple(q for group in groups for q in getattr(self, group))

    def vectors(self, groups: Iterable[str] = GROUPS) -> list[ca.SX]:
        """The symbols of each group, one below the other: what functions of the system take."""
        return [self.vector(group) for group in groups]

    def vector(self, group: str) -> ca.SX:
        """The symbols of one group, 'x', 'z', 'u' or 'p', one below the other."""
        return ca.vertcat(*[q.sym for q in getattr(self, group)], ca.SX(0, 1))

    def function(
        self, name: str, expressions: Sequence[Expression], groups: Iterable[str] = GROUPS, clock: bool = True
    ) -> ca.Function:
        """Expressions of the system as a CasADi function of the time and of the vectors of `groups`, results
        dense. clock=False leaves the time out."""
        arguments = [time] if clock else []
        return ca.Function(
            name, [*arguments, *self.vectors(groups)], [ca.densify(sx(e)) for e in expressions]
        )

    def labels(self, group: str) -> tuple[str, ...]:
        """Names of the components of one of the vectors 'x', 'z', 'u', 'p', or of 'outputs'."""
        return memo(self, _labels, group)

    def size(self, group: str) -> int:
        """How many numbers one of the vectors 'x', 'z', 'u', 'p', or 'outputs', has."""
        return len(self.labels(group))

    def slices(self, group: str) -> dict[str, slice]:
        """Where each named quantity of a group, or each of its components, lies in the vector."""
        return memo(self, _slices, group)

    def __getitem__(self, name: str) -> ca.SX:
        """The expression of a state, input, parameter or output, for use in further expressions."""
        for q in self.quantities():
            if q.name == name:
                return q.sym
        if name in self.outputs:
            output: ca.SX = self.outputs[name]
            return output
        hint = suggest_names(name, names_by_kind(self))
        raise UnknownNameError(f"system '{self.name}' has no '{name}': {hint}")

    def __repr__(self) -> str:
        sizes = ", ".join(
            f"{len(getattr(self, group))} {word}"
            for group, word in (
                ("x", "states"),
                ("z", "discrete"),
                ("u", "inputs"),
                ("p", "parameters"),
                ("events", "events"),
            )
        )
        return f"<System {self.name}: {sizes}>"

    def _repr_html_(self) -> str:
        """In a notebook."""
        words = (("p", "parameters"), ("x", "states"), ("z", "discrete states"), ("u", "inputs"))
        tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
            word: (
                ("name", "value", "unit", ""),
                [(q.name, _value_text(q.value), q.unit, q.description) for q in getattr(self, group)],
            )
            for group, word in words
        }
        tables["outputs"] = (
            ("name", "unit"),
            [(name, self.output_units.get(name, "")) for name in self.outputs],
        )
        jumps = [
            (e.name, f"{e.direction}{', ends the run' if e.terminal else ''}", e.description)
            for e in self.events
        ]
        tables["events"] = (
            ("name", "", ""),
            [*jumps, *((s.name, f"every {s.every} s", s.description) for s in self.samples)],
        )
        return card(f"System {self.name}", self.description, tables)

    @property
    def dimensionless(self) -> bool:
        """Are all of its `scales` 1?"""
        chosen = [q.value for q in self.p if q.name in self.scales]
        return bool(chosen) and all(
            isinstance(value, np.ndarray) and bool(np.all(value == 1)) for value in chosen
        )

    def event(self, name: str) -> Event:
        """The event of a name."""
        for event in self.events:
            if event.name == name:
                return event
        names = [e.name for e in self.events]
        raise UnknownNameError(f"system '{self.name}' has no event '{name}': {did_you_mean(name, names)}")

    def after(self, event: str, expression: Expression | str) -> ca.SX:
        """An expression, or what a name stands for, as it is just after an event, written in the state before
        it."""
        reset = self.event(event).reset
        states = [q for q in (*self.x, *self.z) if q.name in reset]
        named = self[expression] if isinstance(expression, str) else sx(expression)
        return (
            ca.substitute([named], [q.sym for q in states], [sx(reset[q.name]) for q in states])[0]
            if states
            else named
        )

    # ---- values ----

    @checked
    def using(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> System:
        """The same system with other starting values: `walker.using(slope=0.05)`. Nothing is compiled
        again."""
        groups = {q.name: group for group in GROUPS for q in getattr(self, group)}
        new_values = self._whole({str(k): v for k, v in {**(values or {}), **more}.items()}, groups)
        for name in new_values:
            if name not in groups:
                raise UnknownNameError(
                    f"system '{self.name}' has no '{name}': {did_you_mean(name, list(groups))}"
                )
        changed: dict[str, tuple[Quantity, ...]] = {}
        for group in {groups[name] for name in new_values}:
            changed[group] = tuple(
                _with_value(q, new_values[q.name]) if q.name in new_values else q
                for q in getattr(self, group)
            )
        variant = object.__new__(System)
        for label in self.__dataclass_fields__:
            object.__setattr__(variant, label, changed.get(label, getattr(self, label)))
        return variant  # shares the cache: expressions, and so compiled code, are the same

    def _whole(self, values: dict[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
        """Values of components, 'q[1]', made values of whole vectors."""
        whole = {name: value for name, value in values.items() if name in known or "[" not in name}
        for name, value in values.items():
            base, bracket, index = name.partition("[")
            if bracket and base in known:
                q = next(q for q in getattr(self, known[base]) if q.name == base)
                if not index.rstrip("]").isdigit() or int(index.rstrip("]")) >= q.size:
                    raise UnknownNameError(
                        f"'{base}' of system '{self.name}' has no component '{name}': it has {q.size}"
                    )
                start = whole.get(base, q.value if isinstance(q.value, np.ndarray) else np.zeros(q.size))
                whole[base] = np.array(np.broadcast_to(start, q.size), dtype=float)
                whole[base][int(index.rstrip("]"))] = value
            elif bracket:
                whole[name] = value
        return whole

    @checked
    def replace(self, **changes: Any) -> System:
        """A variant with other fields, checked anew. Other outputs take their units along where their names
        stay, and points of the scene stay where their outputs do."""
        if isinstance(changes.get("outputs"), Mapping) and "output_units" not in changes:
            changes["output_units"] = {
                n: unit for n, unit in self.output_units.items() if n in changes["outputs"]
            }
        if isinstance(changes.get("outputs"), Mapping) and "scene" not in changes:
            points = {
                n: labels for n, labels in self.scene.points.items() if set(labels) <= set(changes["outputs"])
            }
            changes["scene"] = replace(self.scene, points=points)
        return replace(self, **changes)


def _sizes(system: System, group: str) -> Iterable[tuple[str, int]]:
    """Name and size of everything in a group."""
    if group == "outputs":
        return sizes(system.outputs).items()
    return [(q.name, q.size) for q in getattr(system, group)]


def _labels(system: System, group: str) -> tuple[str, ...]:
    return tuple(label for name, size in _sizes(system, group) for label in component_labels(name, size))


def _slices(system: System, group: str) -> dict[str, slice]:
    places: dict[str, slice] = {}
    at = 0
    for name, size in _sizes(system, group):
        places[name] = slice(at, at + size)
        for i, label in enumerate(component_labels(name, size)):
            places.setdefault(label, slice(at + i, at + i + 1))
        at += size
    return places


def _value_text(value: Any) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, np.ndarray) else str(value)


def component_labels(name: str, size: int) -> tuple[str, ...]:
    """The names of the components of a vector: 'q[0]', 'q[1]'; a scalar is its own component."""
    return (name,) if size == 1 else tuple(f"{name}[{i}]" for i in range(size))


def _with_value(q: Quantity, value: Any) -> Quantity:
    """The same quantity, symbol included, with another value."""
    if isinstance(value, (Quantity, ca.SX)):
        raise ModelError(f"{q.kind} '{q.name}': a number is needed here, not an expression")
    try:
        array = np.broadcast_to(np.asarray(value, dtype=float).reshape(-1), (q.size,)).copy()
    except (TypeError, ValueError, OverflowError) as error:
        from strut.errors import ShapeError

        raise ShapeError(f"{q.kind} '{q.name}' is {short_repr(value)}: {q.size} number(s) needed") from error
    return q.copy_with(value=q.check(array))
