"""Variational equations: a system that carries, beside its state, how that state depends on where it began
and on parameters.

Along the flow the dependence Y obeys Y' = f_y Y + f_p; an event shears it, because a neighbour meets the
guard a little earlier or later (the saltation matrix). An event that another one causes, as a foot that
slides as soon as it lands, comes as much earlier or later as that one. Everything is an expression of the
system's own, so the result is a `System` like any other: compiled, with its events located to rounding.
Discrete states that hold numbers others depend on, a foothold, an anchor, are carried too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import BatchRewrite, Discrete, Event, Ledger, Param, Scene, State, System, sx, time

BY_STATE, BY_HELD, OF_TIME, ALONG = "variation", "held_variation", "time_variation", "direction"
"""Names of what a variational system has besides: see `variational`."""
LAST_EVENT = "last_event_time"
"""The name of the discrete state that is the time of the last event [s]."""
MIN_CAUSED_GUARD = 1e-9
"""Value of a guard, in its unit, beyond which an event at the very time of another was caused by it: where a
guard crosses zero by itself, it is zero but for rounding."""


def variational(
    system: System,
    section: str,
    directions: int = 0,
    events: tuple[str, ...] | None = None,
    flags: tuple[tuple[str, float], ...] = (),
    *,
    restarts: tuple[str, ...] = (),
    chains: bool = True,
) -> System:
    """A system whose runs carry how their state depends on the initial x and on parameters, along so many
    directions, and end after the event `section`.

    States `variation` (nx x n, n = nx + directions, column by column) and, where needed, `held_variation`
    of discrete states. After the section the columns are derivatives of the state just after the event,
    at the time it happens: those of the return map; the discrete `time_variation` (n) is how the time of
    the last event, and so of the section, varies. The parameter `direction` (number of parameters x
    directions, column by column) says along what parameters vary, so that one system serves for all of
    them.
    events: those that may happen before the section, where that is known; any other ends the run. flags:
    discrete states that keep a value until the section, by name. Both leave out most of the code of a walker
    on rigid ground, which is made of saltation matrices and of feet that do not stand.
    restarts: events after which the time of inputs begins anew: a neighbour that meets one later has what
    follows later, and deviations after it are of states after the event, each at its own time.
    chains: whether an event may cause another at the same instant; in a plan each ends a phase by itself.

    Raises ModelError for a system with samples or delays, UnknownNameError for an event that it does not
    have.
    """
    if system.samples:
        raise ModelError(
            f"system '{system.name}' has samples ('{system.samples[0].name}'): a return map needs a system "
            f"that no clock drives"
        )
    if system.delays:
        raise ModelError(
            f"system '{system.name}' has delays: its state is not enough to say what follows, so it has no "
            f"return map"
        )
    names = [e.name for e in system.events]
    if section not in names:
        raise UnknownNameError(
            f"system '{system.name}' has no event '{section}' for a section: {did_you_mean(section, names)}"
        )
    if events is not None:
        system = keep_to_events(system, (section, *events), dict(flags))
    return _Variational(system, section, directions, restarts, chains).build()


def keep_to_events(system: System, events: Sequence[str], flags: Mapping[str, float]) -> System:
    """Return the flow and the events of a system on which all other events end a run, without a reset.
    flags: discrete states that are numbers there; events that can then not happen are left out."""
    jumps_kept = [
        e if e.name in events else replace(e, reset={}, terminal=True, loss=None) for e in system.events
    ]
    batch = BatchRewrite()
    flow, jumps = batch.add(system.flow), batch.add_jumps(jumps_kept)
    enabled = batch.add({e.name: e.when for e in jumps_kept if e.when is not None})
    symbols, numbers = [system[name] for name in flags], [ca.SX(value) for value in flags.values()]
    batch.rewrite(lambda expressions: ca.substitute(expressions, symbols, numbers))
    when = enabled() or {}
    possible = [e for e in jumps() if not (sx(e.guard).is_constant() and float(sx(e.guard)) <= 0)]
    return system.replace(
        flow=flow() or {},
        events=tuple(replace(e, when=when.get(e.name)) for e in possible),
        outputs={},
        output_units={},
        ledger=Ledger(),
        scene=Scene(),
        implied=None,
        walk=None,
    )


def varying_discrete_states(system: System) -> list[Discrete]:
    """The discrete states that need a variation: events set them to what varies with the state, and the flow,
    a guard or another of them depends on them."""
    used = [system.flow[q.name] for q in system.x]
    used += [sx(e.guard) for e in system.events]
    states = system.vector("x")
    varies = {q.name: False for q in system.z}
    needed: list[Discrete] = []
    for _ in range(len(system.z) + 1):  # a state may be needed through another one
        column = ca.vertcat(*[ca.vec(e) for e in used], ca.SX(0, 1))
        assigned = [
            sx(e.reset[n.name]) for e in system.events for n in (*system.x, *needed) if n.name in e.reset
        ]
        column = ca.vertcat(column, *[ca.vec(e) for e in assigned])
        depended_on = [q for q in system.z if column.numel() and ca.depends_on(column, q.sym)]
        if len(depended_on) == len(needed):
            break
        needed = depended_on
    if not needed:
        return []
    for _ in range(len(system.z) + 1):  # and may vary with another one
        sources = ca.vertcat(states, time, *[q.sym for q in system.z if varies[q.name]])
        fixed = [name for name in varies if not varies[name]]
        also = {
            name
            for name in fixed
            if any(name in e.reset and _varies(sx(e.reset[name]), sources) for e in system.events)
        }
        if not also:
            break
        varies |= dict.fromkeys(also, True)
    return [q for q in needed if varies[q.name]]


def _varies(expression: ca.SX, sources: ca.SX) -> bool:
    """Say whether an expression varies with others. Comparisons and products of flags do not: their
    derivative is zero wherever they have one."""
    if not ca.depends_on(expression, sources):
        return False
    return any(not e.is_zero() for e in ca.vertsplit(ca.vec(ca.SX(ca.jacobian(expression, sources)))))


class _Variational:
    """A system being given its variations.

    x, z, p: its states, the discrete states that vary, its parameters. X, Z: their variations, a column per
    initial state and direction. D: the directions of parameters.
    """

    def __init__(
        self, system: System, section: str, directions: int, restarts: tuple[str, ...], chains: bool
    ) -> None:
        self.system, self.section, self.restarts, self.chains = system, section, restarts, chains
        self.held = varying_discrete_states(system)
        self.x = system.vector("x")
        self.z = ca.vertcat(*[q.sym for q in self.held], ca.SX(0, 1))
        self.p = system.vector("p")
        self.nx, self.nz, self.n = self.x.numel(), self.z.numel(), self.x.numel() + directions
        self.direction = Param(ALONG, np.zeros(self.p.numel() * directions)) if directions else None
        self.D = (
            ca.reshape(self.direction.sym, self.p.numel(), directions)
            if self.direction is not None
            else ca.SX(0, 0)
        )
        self.flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
        start = np.hstack([np.eye(self.nx), np.zeros((self.nx, self.n - self.nx))])
        self.state = State(BY_STATE, start.reshape(-1, order="F"))
        self.X = ca.reshape(self.state.sym, self.nx, self.n)
        self.discrete = Discrete(BY_HELD, np.zeros(self.nz * self.n)) if self.nz else None
        self.Z = (
            ca.reshape(self.discrete.sym, self.nz, self.n) if self.discrete is not None else ca.SX(0, self.n)
        )
        self.timing = Discrete(OF_TIME, np.zeros(self.n))
        self.last_event = Discrete(LAST_EVENT, 0.0, "s")

    def _along(self, expression: ca.SX) -> ca.SX:
        """The variation of an expression: its derivative by x, z and p times theirs."""
        total = ca.jacobian(expression, self.x) @ self.X
        if self.nz:
            total = total + ca.jacobian(expression, self.z) @ self.Z
        if self.direction is not None:
            total = total + ca.horzcat(
                ca.SX.zeros(expression.numel(), self.nx), ca.jtimes(expression, self.p, self.D)
            )
        return ca.densify(total)

    def _rate(self, expression: ca.SX) -> ca.SX:
        """The rate d/dt of an expression along the flow."""
        return ca.densify(ca.jtimes(expression, self.x, self.flow) + ca.jacobian(expression, time))

    def _event(self, event: Event) -> Event:
        """An event that resets the variations too, by its saltation matrix; the section ends the run, and
        leaves them as derivatives at the time it happens."""
        if event.terminal and not event.reset and event.name != self.section:
            return event  # the run ends, and nobody asks for derivatives
        system = self.system
        guard = sx(event.guard)
        reset = {n: sx(e) for n, e in event.reset.items()}
        x_after = ca.vertcat(*[reset.get(q.name, q.sym) for q in system.x])
        z_after = ca.vertcat(*[reset.get(q.name, q.sym) for q in self.held], ca.SX(0, 1))
        # by how much a neighbour is ahead, -dt; of what another event causes, as much as with that one
        sooner = self._along(guard) / self._rate(guard)
        if self.chains:
            is_caused = ca.logic_and(time == self.last_event.sym, guard > MIN_CAUSED_GUARD)
            sooner = ca.if_else(is_caused, -self.timing.sym.T, sooner)
        shifted = self._along(x_after) - self._rate(x_after) @ sooner
        shifted_z = self._along(z_after) - self._rate(z_after) @ sooner if self.nz else ca.SX(0, self.n)
        if event.name != self.section and event.name not in self.restarts:
            all_z = [q.sym for q in system.z]
            new_z = [reset.get(q.name, q.sym) for q in system.z]
            flow_after = ca.substitute([self.flow], [self.x, *all_z], [x_after, *new_z])[0]
            shifted = shifted + flow_after @ sooner
        changes: dict[str, ca.SX] = {BY_STATE: ca.vec(ca.densify(shifted))}
        if self.nz:
            changes[BY_HELD] = ca.vec(ca.densify(shifted_z))
        ends = event.name == self.section
        changes[OF_TIME] = ca.vec(ca.densify(-sooner))
        changes[LAST_EVENT] = time
        return replace(event, reset=reset | changes, terminal=event.terminal or ends, loss=None)

    def build(self) -> System:
        """The variational system."""
        system = self.system
        along = self._along(self.flow)
        return replace(
            system,
            x=(*system.x, self.state),
            z=(
                *system.z,
                *([self.discrete] if self.discrete is not None else []),
                *(self.last_event, self.timing),
            ),
            p=(*system.p, *([self.direction] if self.direction is not None else [])),
            flow={**system.flow, BY_STATE: ca.vec(along)},
            events=tuple(self._event(e) for e in system.events),
            outputs={},
            output_units={},
            ledger=Ledger(),
            scene=Scene(),
            symmetry={},
            implied=None,
            walk=None,
        )
