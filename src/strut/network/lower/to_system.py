"""`Lowering`: makes the hybrid `System` of a network.

What edges add is summed, events become guards and resets, and states of nodes become discrete states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar

import casadi as ca

from strut.errors import did_you_mean
from strut.network.lower import algebra, like_edges, scope
from strut.network.lower.body_scene import body_scene
from strut.network.lower.edge_names import ambiguous_names
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.guards import guards
from strut.network.lower.loaded_network import LoadedNetwork
from strut.network.lower.meaning import Meaning
from strut.network.lower.naming import SystemNames
from strut.network.lower.step_sample import step_sample
from strut.network.lower.variable_kinds import add_changing, add_constant
from strut.network.lower.walk import WalkReader, walk_units, with_units
from strut.network.model import Edge, Item, NetworkEvent, Node, Object, Variable
from strut.network.text.errors import MAX_PROBLEMS, Mark, Mistake, NetworkError, NetworkProblem
from strut.network.text.formula import read_formula
from strut.system import Discrete, System, time
from strut.system import Event as Jump

T = TypeVar("T")
MAX_OUTPUTS = 3000
"""How many elements of variables become outputs; of larger networks only single numbers do, or none."""


class Lowering:
    """Makes the system of one network.

    meaning: gives variables their expressions. problems: mistakes so far, raised together. sets: what each
    event sets, as texts.
    """

    def __init__(self, network: LoadedNetwork, seed: int, step: float | None = None) -> None:
        self.network = network
        self.meaning = Meaning(network.root, network.step if step is None else step, seed)
        self.problems: list[NetworkProblem] = []
        self.things: list[Object] = [network.root, *network.root.descendants()]
        self.events: list[NetworkEvent] = [e for n in self.things if isinstance(n, Node) for e in n.events]
        self.variables = [v for thing in (*self.things, *self.events) for v in thing.variables.values()]
        self.names = SystemNames()
        self.sets: dict[NetworkEvent, list[tuple[Variable, str]]] = {}
        self.walk_reader = WalkReader(self.things, self.meaning)

    def system(self, outputs: Iterable[str] | None) -> System:
        """The hybrid system.

        outputs: names of variables wanted; None: all, of large networks single numbers first. Raises
        `NetworkError` with all mistakes in the network.
        """
        # What a variable becomes depends on what acts on it and sets it; expressions come after that.
        self._name_variables()
        self._connect()
        self._add_machines()
        self._find_sets()
        self._assign_kinds()
        flow = self._flow()
        outputs_shown = self._outputs(outputs)
        jumps = [j for e in self.events for j in (self._try(partial(self._system_events, e), e.mark) or [])]
        self._raise_problems()
        samples, extra_discrete = step_sample(self.meaning, self.flows, self._try)
        self._raise_problems()
        m = self.meaning
        states = tuple(m.states.values())
        discrete = (
            *m.discrete.values(),
            *(s for s, _ in m.state_machines.values()),
            *(h for h, _ in m.draws),
            *extra_discrete,
        )
        params = (*m.params.values(), *m.extra_params, *((m.dt,) if m.dt is not None else ()))
        # The walk names what the system has, so it is read last.
        names_by_kind = {
            "event": [j.name for j in jumps],
            "state": [q.name for q in (*states, *discrete)],
            "discrete state": [q.name for q in discrete],
            "parameter": [q.name for q in params],
            "output": [*outputs_shown, *(q.name for q in discrete)],
        }
        walk = self._try(partial(self.walk_reader.walk, names_by_kind, self._changes), None)
        self._raise_problems()
        self._warn_of_unreached_states()
        units = walk_units(walk)
        system = System(
            self.network.name,
            x=with_units(states, units),
            z=with_units(discrete, units),
            u=tuple(m.inputs.values()),
            p=with_units(params, units),
            flow=flow,
            walk=walk,
            output_units={name: unit for name, unit in units.items() if name in outputs_shown},
            events=tuple(jumps),
            samples=samples,
            outputs=outputs_shown,
            randoms=tuple(r for _, r in m.draws),
            delays=tuple(m.delays),
            description=self.network.root.note,
        )
        return system.replace(scene=body_scene(system, m, self.things))

    def _flow(self) -> Mapping[str, ca.SX]:
        """The rates of states; where many edges act alike, as sums."""
        m = self.meaning
        m.summed = sums = self._try(partial(like_edges.rate_sums, m), None)
        rates: dict[str, ca.SX] = {}
        for variable, state in m.states.items():
            if sums is not None and state.name in sums:
                rates[state.name] = sums.own[state.name]
                continue
            rate = self._try(partial(m.rate, variable), variable.mark)
            if rate is not None:
                rates[state.name] = algebra.flat(rate)
        return rates if sums is None else sums.within(rates)

    def _warn_of_unreached_states(self) -> None:
        """Warn of states that something waits for and nothing leads to: most likely they are misspelt."""
        reachable_states = {
            (scope.state_machine(e.parent), e.target)
            for e in self.events
            if e.target is not None and e.parent is not None
        }
        for node, state, mark in dict.fromkeys(self.meaning.awaited_states):
            if state != node.initial_state and (node, state) not in reachable_states:
                others = sorted(
                    {node.initial_state or "", *(s for n, s in reachable_states if n is node and s)}
                )
                self.meaning.warn(
                    f"nothing leads to state '{state}' of {node.path or 'the network'}: there are "
                    f"{', '.join(map(repr, others))}",
                    mark,
                )

    # ---- mistakes ----

    def _try(self, act: Callable[[], T], mark: Mark | None) -> T | None:
        """Do something and return its result; None where it raised a `Mistake`, which is kept for the end.

        mark: the place of the mistake, where it has none of its own.
        """
        try:
            return act()
        except Mistake as mistake:
            new = mistake.at(mark).problem
            if len(self.problems) < MAX_PROBLEMS and not any(
                p.message == new.message and p.mark == new.mark for p in self.problems
            ):
                self.problems.append(new)
            return None

    def _raise_problems(self) -> None:
        """Raise `NetworkError` with all mistakes so far, if there are any."""
        if self.problems:
            raise NetworkError(self.problems)

    # ---- structure ----

    def _name_variables(self) -> None:
        """Give variables their names in the system, and warn where one cannot have its own."""
        m = self.meaning
        m.names.update(self.names.variables((*self.things, *self.events)))
        for v, name in self.names.collisions(m.names):
            m.warn(
                f"'{v.path}' is called '{m.names[v]}' in the system and in runs: '{name}' is another "
                f"variable",
                v.mark,
            )

    def _connect(self) -> None:
        """Collect the actions of edges by the variable they act on."""
        actions = self.meaning.actions
        for thing in self.things:
            edge = thing if isinstance(thing, Edge) else thing.own_edge if isinstance(thing, Node) else None
            if edge is None or edge.output is None:
                if isinstance(edge, Edge) and edge.actions:
                    self.meaning.warn(
                        f"{edge!r} does nothing, as it goes from nowhere to nowhere: add 'from' and 'to'",
                        edge.mark,
                    )
                continue
            for name, item in ambiguous_names(edge):
                self.meaning.warn(
                    f"'{name}' in {edge!r} is that of its input, the same as 'input.{name}': for that of its "
                    f"output {edge.output!r} write 'output.{name}'",
                    item.mark,
                )
            for action in edge.actions.values():
                target = scope.own_variable(edge.output, action.name)
                if target is None:
                    near = did_you_mean(action.name, list(edge.output.variables))
                    message = (
                        f"{edge!r} does nothing to '{action.name}', which its output {edge.output!r} "
                        f"does not have: {near}"
                    )
                    self.meaning.warn(message, action.mark)
                    continue
                actions.setdefault(target, []).append(action)

    def _add_machines(self) -> None:
        """Give every node with states a discrete state that counts them."""
        for node in self.things:
            if isinstance(node, Node) and node.initial_state is not None:
                name = self.names.new(*node.names, "state")
                self.meaning.state_machines[node] = (
                    Discrete(name, 0.0, description="the state of the node, counted"),
                    [node.initial_state],
                )

    def _find_sets(self) -> None:
        """Collect which variables each event sets, and to what."""
        for event in self.events:
            assignments = self.sets.setdefault(event, [])
            for assignment in event.sets:
                selected = self._try(
                    partial(self.network.select.below, assignment.selector, event, assignment.context),
                    assignment.mark,
                )
                variables = [(v, f) for f in selected or () if (v := self._variable(f.thing)) is not None]
                if not variables and selected is not None:
                    self.meaning.warn(
                        f"the event in {event.parent!r} sets no variable: its selector finds none there",
                        assignment.mark,
                    )
                for v, f in variables:
                    text = self._try(
                        partial(self.network.select.texts.expand_one, assignment.text, f.context),
                        assignment.mark,
                    )
                    if text is not None:
                        assignments.append((v, text))

    @staticmethod
    def _variable(thing: Object | Item) -> Variable | None:
        """The variable that a selector has found, also through an interface; None if it is none."""
        if isinstance(thing, Variable):
            return thing
        return scope.own_variable(thing.owner, thing.name) if isinstance(thing.owner, Node) else None

    # ---- what each variable is ----

    def _assign_kinds(self) -> None:
        """Make variables states, discrete states, parameters or inputs; the others are expressions."""
        m = self.meaning
        written = {v for sets in self.sets.values() for v, _ in sets}
        rated = {v for v, actions in m.actions.items() if any(a.rate for a in actions)}
        direct = {v for v, actions in m.actions.items() if any(not a.rate for a in actions)}
        later: list[tuple[Variable, str]] = []
        for v in self.variables:
            if "discrete" in v.flags:
                later.append((v, "discrete"))
            elif "integrated" in v.flags or v in rated:
                later.append((v, "state"))
            elif v in written:
                later.append((v, "discrete"))
            elif (
                v not in direct
                and (v.constraint is None or "in" in v.flags)
                and not (isinstance(v.owner, Node) and v.owner.table)
            ):
                self._try(partial(add_constant, m, v), v.mark)
        m.future_states = {v for v, _ in later}
        for v, kind in later:
            self._try(partial(add_changing, m, v, kind), v.mark)

    # ---- results ----

    def _outputs(self, asked_names: Iterable[str] | None) -> Mapping[str, ca.SX]:
        """The expressions of variables that are no quantities, by name: those asked for, or what fits."""
        m = self.meaning
        rest = [
            v
            for v in self.variables
            if not (
                v in m.params
                or v in m.states
                or v in m.discrete
                or v in m.inputs
                or isinstance(v.owner, NetworkEvent)
            )
        ]
        needed = self.walk_reader.output_variables()
        if asked_names is not None:
            names = set(asked_names)
            rest = [v for v in rest if v in needed or m.names[v] in names or v.path in names]
        sums = self._try(partial(like_edges.output_sums, m, rest), None)
        values: dict[str, ca.SX] = {}
        size = 0
        for v in rest:
            value = (
                sums.own[m.names[v]]
                if sums is not None and m.names[v] in sums
                else self._try(partial(m.value, v), v.mark)
            )
            if value is None or value.numel() == 0 or v in m.discrete:
                continue
            size += value.numel()
            if (
                asked_names is None
                and size > MAX_OUTPUTS
                and (value.numel() > 1 or size > 4 * MAX_OUTPUTS)
                and "out" not in v.flags
                and v not in needed
            ):
                continue
            values[m.names[v]] = algebra.flat(value)
        chosen = None if sums is None else sums.only(values)
        return values if chosen is None or not chosen.terms else chosen.within(values)

    def flows(self, z: ca.SX) -> bool:
        """Whether an expression changes between events."""
        hashes = {s.element_hash() for s in ca.symvar(z)}
        return time.element_hash() in hashes or any(h in self.meaning.owners for h in hashes)

    def _changes(self, z: ca.SX) -> bool:
        """Whether an expression changes during a run, by itself or at events."""
        fixed = {
            s.element_hash()
            for p in (*self.meaning.params.values(), *self.meaning.extra_params)
            for s in ca.vertsplit(p.sym)
        }
        return any(s.element_hash() not in fixed for s in ca.symvar(z))

    def effects(self, event: NetworkEvent) -> tuple[dict[str, ca.SX], dict[str, ca.SX], ca.SX | None]:
        """What an event does: the values that it sets, by name; the state that it leads to, by the name of
        the discrete state; and an expression that is 1 while it may happen, None if always."""
        m = self.meaning
        frame = EvaluationFrame(event)
        node = scope.state_machine(event)
        reset: dict[str, ca.SX] = {}
        for v, text in self.sets.get(event, ()):
            value = m.formula(text, event, frame)
            shape = m.shape(v)
            if value.shape != shape:
                if value.numel() not in (1, shape[0] * shape[1]):
                    raise Mistake(
                        f"the event sets '{v.path}' to {algebra.shape_text(value)}: "
                        f"{shape[0]}×{shape[1]} is needed",
                        event.mark,
                    )
                value = ca.repmat(value, *shape) if value.numel() == 1 else ca.reshape(value, *shape)
            reset[m.names[v]] = algebra.flat(value)
        when = None
        if event.states is not None:
            if node is None:
                raise Mistake(
                    f"the event happens in state {' or '.join(event.states)}, but no node here has states: "
                    f"add initial-state",
                    event.mark,
                )
            when = m.edge_actions.in_state(node, event.states, event.mark)
        leads: dict[str, ca.SX] = {}
        if event.target is not None:
            if node is None:
                raise Mistake(
                    f"the event leads to state '{event.target}', but no node here has states: add "
                    f"initial-state",
                    event.mark,
                )
            symbol, state_names = m.state_machines[node]
            if event.target not in state_names:
                state_names.append(event.target)
            leads[symbol.name] = ca.SX(state_names.index(event.target))
        return reset, leads, when

    def _system_events(self, event: NetworkEvent) -> list[Jump]:
        """The events of the system that an event of the network becomes: one for each alternative."""
        m = self.meaning
        frame = EvaluationFrame(event)
        try:
            near = None if event.within is None else m.known_number(m.formula(event.within, event, frame))
            event_guards = guards(
                read_formula(event.condition).tree, lambda t: m.tree(t, frame), flows=self.flows, near=near
            )
        except Mistake as mistake:
            raise m.locate_mistake(mistake, event.condition, event) from mistake
        sets, leads, when = self.effects(event)
        reset = sets | leads
        jumps = []
        for guard in event_guards:
            if not self._changes(guard.expression):
                m.warn(
                    f"the condition '{event.condition}' never changes: the event never happens", event.mark
                )
                continue
            name = self.names.new(*(event.parent.names if event.parent is not None else ()), _title(event))
            jumps.append(
                Jump(
                    name,
                    guard=guard.expression,
                    reset=reset,
                    direction=guard.direction,
                    when=when,
                    terminal=event.terminal,
                    description=event.condition,
                )
            )
        return jumps


def _title(event: NetworkEvent) -> str:
    """What an event is called in its node: 'air_to_ground', 'terminate' or 'event_1'."""
    if event.terminal:
        return "terminate"
    if event.target is not None:
        source = "_or_".join(event.states) if event.states else "any"
        return f"{source}_to_{event.target}"
    return event.name
