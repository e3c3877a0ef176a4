"""Which exoskeletons a search may choose from: a topology with a pair of actuators is a group of parameters,
of pins, control and springs; a row of numbers becomes a design again (Kieboom, tables 5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from strut import control, evolve, linkage
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.studies.exoskeleton_gait import (
    ANKLE,
    KNOTS,
    MAX_DAMPING,
    REFERENCE_RANGE,
    active_signals,
    exoskeleton_tables,
    passive_signals,
)
from strut.studies.kieboom_topologies import numbered_topologies
from strut.system import Param

SPRING_RANGES = {"reference": REFERENCE_RANGE, "stiffness": (0.0, 200.0), "damping": (0.0, 5.0)}
"""[rad, N m/rad, N m s/rad] Ranges of springs in passive joints; the thesis prints none."""
FIRST_RANGES = {
    "reference": (-0.3, 0.3),
    "stiffness": (500.0, 5000.0),
    "damping": (5.0, MAX_DAMPING),
}
"""[rad, N m/rad, N m s/rad] Ranges of the control of actuated joints in the first population; references
count from the stride."""
FIRST_ANKLE_STIFFNESS = (50.0, 1000.0)
"""[N m/rad] Range of the ankle's stiffness in the first population."""
FIRST_SPRINGS = {"reference": (-0.8, 0.8), "stiffness": (0.0, 20.0), "damping": (0.0, 1.0)}
"""[rad, N m/rad, N m s/rad] Ranges of springs in the first population."""
POOL = "design"
"""Name of the pool of groups."""


@dataclass(frozen=True)
class DesignGroup:
    """A topology with a pair of actuators. name: as "2-15", numbers of the topology and of its joints as
    published. number: of the topology. actuators: our names of the joints."""

    name: str
    number: int
    actuators: tuple[str, str]

    @property
    def topology(self) -> linkage.Topology:
        """Its topology."""
        return topologies_by_number()[self.number]

    @property
    def passive(self) -> tuple[str, ...]:
        """The joints without actuators."""
        return tuple(joint for joint in self.topology.joints if joint not in self.actuators)


@cache
def topologies_by_number() -> dict[int, linkage.Topology]:
    """Return the topologies by their published numbers."""
    return {number: topology for number, (topology, _) in numbered_topologies().items()}


@cache
def design_groups() -> dict[str, DesignGroup]:
    """Return all 126 groups by name."""
    groups = {}
    for number, (topology, numbers) in numbered_topologies().items():
        for pair in topology.actuator_sets():
            name = f"{number}-{''.join(sorted(str(numbers[joint]) for joint in pair))}"
            groups[name] = DesignGroup(name, number, (pair[0], pair[1]))
    return groups


def chosen_groups(names: Sequence[str] | None = None) -> dict[str, DesignGroup]:
    """Return groups by name: all, or those that are named, as "2-15", or "2" for all of a topology."""
    every = design_groups()
    if names is None:
        return every
    chosen: dict[str, DesignGroup] = {}
    for name in names:
        own = {key: group for key, group in every.items() if name in (key, str(group.number))}
        if not own:
            raise UnknownNameError(f"there is no exoskeleton '{name}': {did_you_mean(name, list(every))}")
        chosen |= own
    return chosen


def pin_name(number: int, pin: str) -> str:
    """Return the name under which a pin's parameter is searched: topologies have pins of their own."""
    return f"t{number}_{pin}"


@cache
def _tables(name: str) -> control.PhaseTables:
    """What turns the control of a group into numbers of the machine."""
    group = design_groups()[name]
    return exoskeleton_tables(group.topology, group.actuators)


@dataclass(frozen=True, eq=False)
class WornValues:
    """Designs of one group as numbers. pins: values of `linkage.pin_parameters`, a row each. controls: values
    of `exoskeleton_tables`, in the order of its names, references counted from the reference posture."""

    group: DesignGroup
    pins: np.ndarray
    controls: np.ndarray

    @property
    def tables(self) -> control.PhaseTables:
        """What turns `controls` into numbers of the machine."""
        return _tables(self.group.name)


@dataclass(frozen=True, eq=False)
class DesignSpace:
    """What is searched: groups, without what is fixed.

    groups: by name. fixed: values of parameters that are not searched: of pins as "t2_j1_along", of control
    as "j1_stiffness_1", of the ankle as "ankle_reference_1", so that a morphology, or a part of a chain, is
    kept and the rest designed. References count from the angle that a joint has as the leg goes through an
    ordinary stride; those of ankles and springs from the reference posture.
    """

    groups: Mapping[str, DesignGroup]
    fixed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        every = self.all_parameters
        for name, value in self.fixed.items():
            if name not in every:
                raise UnknownNameError(
                    f"'{name}' is fixed, which no chosen exoskeleton has: {did_you_mean(name, list(every))}"
                )
            if not every[name].low <= value <= every[name].high:
                raise ModelError(
                    f"'{name}' is fixed at {value:g}: {every[name].low:g} to {every[name].high:g} is allowed"
                )
        masks = {mask.tobytes(): name for name, mask in self._masks.items()}
        if len(masks) < len(self.groups):
            alike = next(name for name in self.groups if name not in masks.values())
            raise ModelError(
                f"with what is fixed '{alike}' searches the same parameters as another exoskeleton, and they "
                "cannot be told apart: choose one of them, or fix less"
            )

    @cached_property
    def all_parameters(self) -> dict[str, evolve.SearchParameter]:
        """By name, everything that the groups have, searched or fixed."""
        parameters: dict[str, evolve.SearchParameter] = {}
        for q in _active_parameters(ANKLE):
            parameters[q.name] = control_parameter(q, ANKLE, ankle=True)
        for group in self.groups.values():
            for pin in linkage.pin_parameters(group.topology):
                name = pin_name(group.number, pin.name)
                parameters[name] = evolve.SearchParameter(
                    name, pin.low, pin.high, unit=pin.unit, group=f"pins {group.number}"
                )
            for joint in group.actuators:
                for q in _active_parameters(joint):
                    parameters[q.name] = control_parameter(q, joint)
            for joint in group.passive:
                for what, q in _passive_parameters(joint).items():
                    low, high = SPRING_RANGES[what]
                    parameters[q.name] = evolve.SearchParameter(
                        q.name, low, high, unit=q.unit, group=joint, first=FIRST_SPRINGS[what]
                    )
        return parameters

    @cached_property
    def parameters(self) -> tuple[evolve.SearchParameter, ...]:
        """What is searched."""
        return tuple(each for name, each in self.all_parameters.items() if name not in self.fixed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of what is searched."""
        return tuple(each.name for each in self.parameters)

    def own_names(self, group: DesignGroup) -> list[str]:
        """Return the names of all parameters that a group has besides those of the ankle."""
        names = [pin_name(group.number, pin.name) for pin in linkage.pin_parameters(group.topology)]
        for joint in group.actuators:
            names += [q.name for q in _active_parameters(joint)]
        for joint in group.passive:
            names += [q.name for q in _passive_parameters(joint).values()]
        return names

    def all_names(self, group: DesignGroup) -> set[str]:
        """Return the names of all parameters that a group has, those of the ankle, too."""
        return {*self.own_names(group), *(q.name for q in _active_parameters(ANKLE))}

    @property
    def pools(self) -> dict[str, dict[str, list[str]]]:
        """The groups as a `MetamorphicSwarm` takes them."""
        return {
            POOL: {
                name: [each for each in self.own_names(group) if each not in self.fixed]
                for name, group in self.groups.items()
            }
        }

    def _mask(self, group: DesignGroup) -> np.ndarray:
        """Which of the searched parameters an individual of a group has."""
        own = self.all_names(group)
        return np.array([name in own for name in self.names])

    @cached_property
    def _masks(self) -> dict[str, np.ndarray]:
        """By group, which of the searched parameters its individuals have."""
        return {name: self._mask(group) for name, group in self.groups.items()}

    def rows_by_group(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return by group the places of its individuals among rows of x, in the order of `names`; parameters
        that an individual does not have are nan."""
        present = ~np.isnan(x)
        rows = {}
        for name, mask in self._masks.items():
            places = np.flatnonzero((present == mask).all(axis=1))
            if len(places):
                rows[name] = places
        if sum(map(len, rows.values())) != len(x):
            raise ModelError("an individual has the parameters of no exoskeleton that was chosen")
        return rows

    def values(self, group: DesignGroup, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pins and control of individuals of a group, rows of x, with what is fixed; references of
        actuated joints still count from the stride."""
        place = {name: k for k, name in enumerate(self.names)}

        def column(name: str) -> np.ndarray:
            return np.full(len(x), self.fixed[name]) if name in self.fixed else x[:, place[name]]

        pins = [column(pin_name(group.number, each.name)) for each in linkage.pin_parameters(group.topology)]
        names = _tables(group.name).names
        return np.column_stack(pins), np.column_stack([column(name) for name in names])

    def row(self, parameters: Mapping[str, float]) -> np.ndarray:
        """Return the parameters of one individual as a row of x."""
        return np.array([[parameters.get(name, np.nan) for name in self.names]])


def add_stride(names: Sequence[str], control_rows: np.ndarray, joint: str, stride: np.ndarray) -> np.ndarray:
    """Return control in which the reference of a joint counts from the reference posture, from one that
    counts from its angle in a stride.

    names: of the columns. stride: angles of the joint at even phases of the stride [rad], a row each.
    """
    place = {name: k for k, name in enumerate(names)}
    shares = control_rows[:, [place[f"{joint}_reference_share_{k}"] for k in range(KNOTS + 1)]]
    phases = np.cumsum(shares, axis=1)[:, :KNOTS] / shares.sum(axis=1, keepdims=True)
    count = stride.shape[1]
    at = phases * count
    left = np.floor(at).astype(int)
    part = at - left
    rows = np.arange(len(stride))[:, None]
    angles = stride[rows, left % count] * (1 - part) + stride[rows, (left + 1) % count] * part
    counted = control_rows.copy()
    counted[:, [place[f"{joint}_reference_{k + 1}"] for k in range(KNOTS)]] += angles
    return counted


@cache
def _active_parameters(joint: str) -> tuple[Param, ...]:
    """All parameters of a joint that is driven."""
    return tuple(q for signal in active_signals(joint).values() for q in signal.parameters)


@cache
def _passive_parameters(joint: str) -> dict[str, Param]:
    """The parameters of a spring by what they are."""
    return {what: signal.parameters[0] for what, signal in passive_signals(joint).items()}


def control_parameter(q: Param, joint: str, *, ankle: bool = False) -> evolve.SearchParameter:
    """A parameter of control as a search has it, with the bounds of table 5.2."""
    first = None
    if q.unit:
        word = {"rad": "reference", "N m/rad": "stiffness", "N m s/rad": "damping"}[q.unit]
        first = FIRST_ANKLE_STIFFNESS if ankle and word == "stiffness" else FIRST_RANGES[word]
    return evolve.SearchParameter(q.name, *q.bounds, unit=q.unit, group=joint, first=first)


__all__ = [
    "DesignGroup",
    "DesignSpace",
    "WornValues",
    "add_stride",
    "chosen_groups",
    "control_parameter",
    "design_groups",
    "pin_name",
    "topologies_by_number",
]
