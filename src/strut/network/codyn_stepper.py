"""`CodynStepper`: runs a network in whole steps, as the original does.

`strut.simulate` locates events; here an event is taken at the end of a step, which is shortened as far as
`within` of the event asks. It is for comparison with runs of the original, and no faster than they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from strut.network.codyn_integrators import (
    PAST_RATES,
    SEES_BEGINNING,
    History,
    StepStart,
    adams_coefficients,
    adams_state,
    new_state,
    stage_times,
)
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.guards import alternatives, difference
from strut.network.lower.loaded_network import LoadedNetwork
from strut.network.lower.to_system import Lowering
from strut.network.model import NetworkEvent
from strut.network.text.errors import Mistake, NetworkError
from strut.network.text.formula import Binary, Tree, read_formula
from strut.system import Quantity, System, sx, time

STEP_OVERSHOOT = 1e-10
"""By which part of its length a step is longer that must end beyond a bound (`<`, `>`), not on it."""
MIN_STEP_PART = 1e-9
"""Smallest part of a step that counts, as a fraction of it."""
MIN_STEP = 1e-9
"""The shortest step [s]."""


Numbers = np.ndarray | int
"""Numbers of a step; 0 where a method or a network needs none."""


class SteppableNetwork(LoadedNetwork, Protocol):
    """A network that says how it wants to be integrated; `Network` is one."""

    integrator: dict[str, str]

    def adams_orders(self) -> tuple[int, int]:
        """The orders of predictor and corrector."""
        ...


@dataclass(frozen=True)
class SteppedRows:
    """A run with a row for each step.

    t: times [s]. values: by name, a row for each time. ended: whether an event ended the run.
    """

    t: np.ndarray
    values: dict[str, np.ndarray]
    ended: bool = False

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]


@dataclass(eq=False)
class _WatchedEvent:
    """An event that is watched during a run.

    tree, leaves: its condition, and the comparisons in it. first: the index of its first comparison among
    those of all events. within: by how much the condition may be exceeded. sets, names: the function of what
    it sets, and its names. leads: the states it leads to. distance: after which part of the last step the
    condition began to hold.
    """

    event: NetworkEvent
    tree: Tree
    leaves: list[Binary]
    first: int
    within: float
    sets: ca.Function | None
    names: tuple[str, ...]
    leads: dict[str, float]
    distance: float = 1.0


class CodynStepper:
    """Runs a network in whole steps.

    network: says how it is to be integrated. step: [s]; None: as the file asks for. seed: of random numbers.
    outputs: names of variables wanted; None: all. at: values to begin with, by name.
    """

    def __init__(
        self,
        network: SteppableNetwork,
        step: float | None = None,
        seed: int = 0,
        outputs: list[str] | None = None,
        at: Mapping[str, Any] | None = None,
    ) -> None:
        self.step = network.step if step is None else step
        self.method = network.integrator["method"]
        self.orders = network.adams_orders()
        lowering = Lowering(network, seed, self.step)
        self.system: System = lowering.system(outputs)
        if at:
            self.system = self.system.using(dict(at))
        self.random = np.random.default_rng(seed)
        s = self.system
        self.places = {q.name: k for k, group in enumerate((s.x, s.z)) for q in group}
        self.slices = {q.name: part for group in (s.x, s.z) for q, part in _parts(group)}
        self.symbols = [time, *(_stack(group) for group in (s.x, s.z, (*s.u, *s.p), s.randoms, s.delays))]
        self.signal_function = self._column_function([sx(d.signal) for d in s.delays])
        rates = {q.name for v, q in lowering.meaning.states.items() if v.is_rate}
        self.is_velocity = ca.DM([float(q.name in rates) for q in s.x for _ in range(q.sym.numel())])
        self.flow_function = self._column_function([sx(s.flow[q.name]) for q in s.x])
        self.output_function = self._column_function([sx(e) for e in s.outputs.values()])
        self.sizes = {name: sx(e).numel() for name, e in s.outputs.items()}
        sample = s.samples[0].set if s.samples else {}
        self.clock_function = self._column_function([sx(sample.get(q.name, q.sym)) for q in (*s.x, *s.z)])
        self.watched: list[_WatchedEvent] = []
        comparisons: list[ca.SX] = []
        masks: list[ca.SX] = []
        for event in lowering.events:
            self.watched.append(self._watch(lowering, event, comparisons, masks))
        self.difference_function = self._column_function(comparisons)
        self.enabled_function = self._column_function(masks)
        self.step_function = self._step_function()

    def _step_function(self) -> ca.Function:
        """A function that makes one step.

        It gives the new states and discrete states, with what the clock does, the differences of all
        comparisons, which events are enabled, and the rates it began with where the method keeps them.
        """
        t, h = ca.MX.sym("t"), ca.MX.sym("h")
        x, z, constants, chance = (ca.MX.sym("q", symbol.shape[0]) for symbol in self.symbols[1:5])
        delayed = ca.MX.sym("d", self.symbols[5].shape[0], 3)
        past, a, b = (
            ca.MX.sym("r", *shape)
            for shape in ((x.shape[0], PAST_RATES), (1 + PAST_RATES, 1), (1 + PAST_RATES, 1))
        )

        def rate(at: ca.MX, of: ca.MX, stage: int) -> ca.MX:
            flow: ca.MX = self.flow_function(at, of, z, constants, chance, delayed[:, stage])
            return flow

        first_rate = ca.MX(0, 1)
        if self.method == "predict-correct":
            new, first_rate = adams_state(StepStart(rate, t, h, x), past, a, b)
        else:
            new = new_state(self.method, StepStart(rate, t, h, x), self.is_velocity)
        ticked_states = self.clock_function(t + h, new, z, constants, chance, delayed[:, 2])
        new, ticked = ticked_states[: x.shape[0]], ticked_states[x.shape[0] :]
        beginning = self.method in SEES_BEGINNING
        now = (t if beginning else t + h, new, ticked, constants, chance, delayed[:, 0 if beginning else 2])
        results = [new, ticked, self.difference_function(*now), self.enabled_function(*now), first_rate]
        return ca.Function("attempt", [t, h, x, z, constants, chance, delayed, past, a, b], results)

    def _column_function(self, expressions: list[ca.SX]) -> ca.Function:
        """A function of time and all quantities that gives expressions as one column."""
        return ca.Function(
            "f", self.symbols, [ca.densify(ca.vertcat(*expressions)) if expressions else ca.SX(0, 1)]
        )

    def _watch(
        self, lowering: Lowering, event: NetworkEvent, comparisons: list[ca.SX], masks: list[ca.SX]
    ) -> _WatchedEvent:
        """Prepare an event; its comparisons and when it is enabled are added to the lists of all events."""
        m = lowering.meaning
        frame = EvaluationFrame(event)
        try:
            tree = read_formula(event.condition).tree
            alternatives(tree)
            leaves = _leaves(tree)
            first = len(comparisons)
            comparisons.extend(difference(leaf, lambda t: m.tree(t, frame)) for leaf in leaves)
            within = (
                math.inf if event.within is None else m.known_number(m.formula(event.within, event, frame))
            )
        except Mistake as mistake:
            raise NetworkError([m.locate_mistake(mistake, event.condition, event).problem]) from mistake
        sets, leads, when = lowering.effects(event)
        masks.append(ca.SX(1) if when is None else when)
        return _WatchedEvent(
            event=event,
            tree=tree,
            leaves=leaves,
            first=first,
            within=within,
            sets=self._column_function(list(sets.values())) if sets else None,
            names=tuple(sets),
            leads={name: float(value) for name, value in leads.items()},
        )

    # ---- a run ----

    def run(self, begin: float, end: float) -> SteppedRows:
        """Make all steps from one time to another [s]."""
        self.constants = self._set_initial_values(begin)
        self.t = begin
        self.past, self.attempts = np.zeros((len(self.x), PAST_RATES)), 0
        self.history = self._history()
        self._tick()
        self._remember_signals()
        self.before = self._differences(begin)
        times, rows, ended = [begin], [self._row()], False
        while end - self.t > MIN_STEP_PART * self.step and not ended:
            ended = self._advance(min(self.step, end - self.t))
            self._remember_signals()
            times.append(self.t)
            rows.append(self._row())
        values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return SteppedRows(np.array(times), values, ended)

    def _set_initial_values(self, t: float) -> np.ndarray:
        """Set the states to what they begin with; returns inputs and parameters."""
        s = self.system
        symbols: list[ca.SX] = [time]
        values: list[ca.DM] = [ca.DM(t)]
        values_by_group: list[np.ndarray] = []
        for group in ((*s.u, *s.p), s.x, s.z):
            start = ca.Function("start", symbols, [sx(q.value) for q in group])
            new = start.call(values)
            values += new
            symbols += [q.sym for q in group]
            values_by_group.append(np.concatenate([np.array(v).ravel() for v in new]) if new else np.zeros(0))
        self.x, self.z = values_by_group[1], values_by_group[2]
        return values_by_group[0]

    def _history(self) -> History:
        """The history of a run that begins now; how long signals are delayed does not change in it."""
        delays, constants = self.system.delays, self.symbols[3]
        by = ca.Function(
            "by",
            [constants],
            [ca.densify(ca.vertcat(*[sx(d.by) for d in delays]))] if delays else [ca.SX(0, 1)],
        )
        past = ca.Function(
            "past",
            [time, constants],
            [ca.densify(ca.vertcat(*[sx(d.before) for d in delays]))] if delays else [ca.SX(0, 1)],
        )
        return History(
            by(self.constants).full().ravel(), lambda t: past(t, self.constants).full().ravel(), self.step
        )

    def _past_of_step(self, start: float, length: float) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """What a step needs of the steps before: delayed signals, rates, and the coefficients of both Adams
        methods."""
        delayed: Numbers = 0
        if self.system.delays:
            delayed = np.column_stack([self.history.at(t) for t in stage_times(self.method, start, length)])
        if self.method != "predict-correct":
            return delayed, 0, 0, 0
        return delayed, self.past, *adams_coefficients(self.attempts, *self.orders)

    def _remember_signals(self) -> None:
        """Add the delayed signals of now to the history."""
        if self.system.delays:
            self.history.push(self.t, self._call(self.signal_function, self.t))

    def _call(self, function: ca.Function, t: float) -> np.ndarray:
        """The values of a function of `_function` at a time and the present states."""
        column = function(t, self.x, self.z, self.constants, self._random_numbers(), self.history.at(t))
        return np.asarray(column.full()).ravel()

    def _random_numbers(self) -> np.ndarray:
        """New random numbers from 0 to 1."""
        return self.random.random(len(self.system.randoms))

    def _tick(self) -> None:
        """Do what happens once in every step: constraints, discrete variables, random numbers."""
        new = self._call(self.clock_function, self.t)
        self.x, self.z = new[: len(self.x)], new[len(self.x) :]

    def _advance(self, length: float) -> bool:
        """Make one step, shorter where an event asks for it. Returns whether an event ended the run."""
        x, z, start, chance = self.x, self.z, self.t, self._random_numbers()
        while True:
            results = self.step_function(
                start, length, x, z, self.constants, chance, *self._past_of_step(start, length)
            )
            self.x, self.z, now, masks, first_rate = (v.full().ravel() for v in results)
            self.t = start + length
            if self.method == "predict-correct":
                self.past, self.attempts = np.column_stack([first_rate, self.past[:, :-1]]), self.attempts + 1
            events = self._events_that_began(now, masks)
            part = events[0].distance if events else 1.0  # of several events the first of the file decides
            if part >= 1 - MIN_STEP_PART or length <= MIN_STEP:
                break
            length = max(part * length, MIN_STEP)
        self.before = now
        return self._execute(events, start if self.method in SEES_BEGINNING else self.t)

    # ---- events ----

    def _differences(self, t: float) -> np.ndarray:
        """The differences of all comparisons, positive where they hold."""
        return self._call(self.difference_function, t)

    def _events_that_began(self, now: np.ndarray, masks: np.ndarray) -> list[_WatchedEvent]:
        began_events = []
        for w, on in zip(self.watched, masks, strict=True):
            if on:
                began, w.distance = _condition_began(w.tree, w, self.before, now)
                if began:
                    began_events.append(w)
        return began_events

    def _execute(self, events: list[_WatchedEvent], t: float) -> bool:
        """Take events one after the other, as far as those before leave them enabled: first all that an event
        sets, with the values before it, then the state it leads to. Returns whether one ends the run."""
        ended = False
        for w in events:
            if not self._call(self.enabled_function, t)[self.watched.index(w)]:
                continue
            if w.sets is not None:
                values, at = self._call(w.sets, t), 0
                for name in w.names:
                    size = self.slices[name].stop - self.slices[name].start
                    self._put(name, values[at : at + size])
                    at += size
            for name, value in w.leads.items():
                self._put(name, np.array([value]))
            ended = ended or w.event.terminal
        return ended

    def _put(self, name: str, value: np.ndarray) -> None:
        """Set a state or discrete state; arrays that were handed out stay as they are."""
        self.x, self.z = self.x.copy(), self.z.copy()
        (self.x, self.z)[self.places[name]][self.slices[name]] = value

    def _row(self) -> dict[str, np.ndarray]:
        """The states, discrete states and outputs of now, by name."""
        row = {name: (self.x, self.z)[k][self.slices[name]] for name, k in self.places.items()}
        if self.sizes:
            parts = np.split(
                self._call(self.output_function, self.t), np.cumsum(list(self.sizes.values()))[:-1]
            )
            row |= zip(self.sizes, parts, strict=True)
        return {name: value[0] if value.size == 1 else value for name, value in row.items()}


def _stack(group: tuple[Quantity, ...]) -> ca.SX:
    """The symbols of quantities as one column."""
    return ca.vertcat(*[q.sym for q in group]) if group else ca.SX(0, 1)


def _parts(group: tuple[Quantity, ...]) -> list[tuple[Quantity, slice]]:
    """Where each quantity is in the stack of its group."""
    slices: list[tuple[Quantity, slice]] = []
    at = 0
    for q in group:
        slices.append((q, slice(at, at + q.sym.numel())))
        at += q.sym.numel()
    return slices


def _leaves(tree: Tree) -> list[Binary]:
    """The comparisons of a condition, from left to right."""
    assert isinstance(tree, Binary)
    return _leaves(tree.left) + _leaves(tree.right) if tree.operator in ("&&", "||") else [tree]


def _holds(leaf: Binary, z: float, within: float) -> bool:
    """Whether a comparison holds, of which z is the difference."""
    if leaf.operator == "==":
        return abs(z) <= (MIN_STEP_PART if math.isinf(within) else within)
    return z > 0 if leaf.operator in ("<", ">") else z >= 0


def _all_hold(tree: Tree, w: _WatchedEvent, now: np.ndarray) -> bool:
    """Whether a condition holds. now: the differences of all comparisons."""
    assert isinstance(tree, Binary)
    if tree.operator in ("&&", "||"):
        both = (_all_hold(tree.left, w, now), _all_hold(tree.right, w, now))
        return all(both) if tree.operator == "&&" else any(both)
    return _holds(tree, now[_index(tree, w)], w.within)


def _index(leaf: Binary, w: _WatchedEvent) -> int:
    """The index of a comparison of an event among those of all events."""
    return w.first + next(k for k, each in enumerate(w.leaves) if each is leaf)


def _condition_began(tree: Tree, w: _WatchedEvent, before: np.ndarray, now: np.ndarray) -> tuple[bool, float]:
    """Whether a condition began to hold in this step, and after which part of it.

    before, now: the differences of all comparisons at the beginning and at the end of the step.
    """
    assert isinstance(tree, Binary)
    if tree.operator in ("&&", "||"):
        left, right = (_condition_began(side, w, before, now) for side in (tree.left, tree.right))
        if left[0] and right[0]:
            return True, max(left[1], right[1])
        if tree.operator == "||":
            return left if left[0] else right
        if left[0]:
            return _all_hold(tree.right, w, now), left[1]
        return right[0] and _all_hold(tree.left, w, now), right[1]
    k = _index(tree, w)
    if _holds(tree, before[k], w.within) or not _holds(tree, now[k], w.within):
        return False, 1.0
    if tree.operator == "==" or now[k] <= w.within:
        return True, 1.0
    part = before[k] / (before[k] - now[k])
    return True, part + STEP_OVERSHOOT if tree.operator in ("<", ">") else part
