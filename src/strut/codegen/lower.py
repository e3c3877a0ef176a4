"""From a `System` to the plain functions the runtime needs, each a CasADi `Function` over flat vectors.

`SIGNATURES` is the contract with the C runtime and with the virtual machine: what each function takes and
gives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from strut.codegen.lower_sums import LoopedFunction, lower_sums
from strut.system import Event, Factors, Sample, Sums, System, sx, time

SIGNATURES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "flow": (("t", "x", "z", "u", "p", "d"), ("dx",)),
    "flow_and_powers": (("t", "x", "z", "u", "p", "d"), ("dx", "w")),
    "guards": (("t", "x", "z", "u", "p"), ("g",)),
    "guards_and_rates": (("t", "x", "z", "u", "p", "dx"), ("g", "r")),
    "enabled": (("z", "u", "p"), ("on",)),
    "outputs": (("t", "x", "z", "u", "p", "d"), ("y",)),
    "energies": (("t", "x", "z", "u", "p"), ("e",)),
    "signals": (("t", "x", "z", "u", "p"), ("s",)),
    "signal_rates": (("t", "x", "z", "u", "p", "dx"), ("ds",)),
    "delays": (("p",), ("by",)),
    "past": (("t", "p"), ("s",)),
    "clocks": (("p",), ("every", "offset")),
}
"""What each function of a system takes, and what it gives."""
RESET = (("t", "x", "z", "u", "p", "d", "random"), ("x_after", "z_after"))
"""The same of every jump's reset."""
LOSS = (("t", "x", "z", "u", "p", "x_after", "z_after"), ("loss",))
"""The same of the energy [J] that every jump loses."""
JACOBIANS = {
    "flow_jacobian": ("flow", ("x", "u", "p")),
    "guard_jacobian": ("guards", ("t", "x", "p")),
    "reset_jacobian": ("reset", ("t", "x", "p")),
}
"""Of which function each Jacobian is, and by which variables."""


@dataclass(frozen=True, eq=False)
class Jump:
    """One row of the runtime's table of jumps; an event with direction 'both' has two."""

    source: Event | Sample
    guard: int = -1
    clock: int = -1


@dataclass(frozen=True, eq=False)
class Lowered:
    """All that compiled code needs of a system. Starting values are not part of it.

    sizes: of its vectors, by the names of the C templates. functions: by the names of `SIGNATURES`.
    jumps: in the order in which they happen at one instant. resets, losses: one function of each for a jump.
    tables: of whole numbers, for the C. loss_channels: names under which energy is lost.
    jacobians: by the names of `JACOBIANS`; empty unless they were asked for.
    """

    name: str
    sizes: dict[str, int]
    functions: Mapping[str, ca.Function]
    resets: list[ca.Function]
    losses: list[ca.Function]
    jumps: list[Jump]
    tables: dict[str, list[int]]
    loss_channels: tuple[str, ...]
    jacobians: dict[str, list[ca.Function]]
    state_jacobian: ca.Function | None = None
    """The flow's Jacobian by the state, sparse, for implicit methods; where it was asked for."""
    looped: dict[str, LoopedFunction] = field(default_factory=dict)
    """Flow and outputs, where they are loops: their functions are made only if something asks for them."""

    def gives_nothing(self, name: str) -> bool:
        """Has a function no results? Then it need not be made: with many parameters that alone takes its
        time."""
        return not (self.sizes[RESULT_SIZE[name]] or (name == "flow_and_powers" and self.sizes["NW"]))

    @cached_property
    def without_account(self) -> Lowered:
        """The same without energies, powers and losses, for runs that keep no account of them: what
        integrates powers needs memory for them whether they are wanted or not."""
        return replace(self, sizes=self.sizes | {"NW": 0, "NE": 0, "NL": 0}, losses=[])

    @cached_property
    def digest(self) -> str:
        """A hash of the content: equal for equal systems in any process."""
        digest = hashlib.sha256(repr((self.sizes, self.tables)).encode())
        without = [*self.looped, *([] if self.sizes["NW"] else ["flow_and_powers"])]  # the flow again
        for name, loops in self.looped.items():
            digest.update(name.encode())
            loops.digest(digest)
        functions = [
            self.functions[name]
            for name in self.functions
            if name not in without and not self.gives_nothing(name)
        ]
        implicit = [] if self.state_jacobian is None else [self.state_jacobian]
        for f in (
            *functions,
            *self.resets,
            *self.losses,
            *(f for fs in self.jacobians.values() for f in fs),
            *implicit,
        ):
            digest.update(f.serialize().encode())
        return digest.hexdigest()


RESULT_SIZE = {
    "flow": "NX",
    "flow_and_powers": "NX",
    "guards": "NG",
    "guards_and_rates": "NG",
    "enabled": "NG",
    "outputs": "NY",
    "energies": "NE",
}
RESULT_SIZE |= {"signals": "ND", "signal_rates": "ND", "delays": "ND", "past": "ND", "clocks": "NC"}
"""By function, which of the sizes its result has."""


def column(parts: list[Any]) -> ca.SX:
    """Expressions one below the other, dense; an empty column of none."""
    return ca.densify(ca.vertcat(*parts)) if parts else ca.SX(0, 1)


def lower(system: System, jacobians: bool = False, stiff: bool = False) -> Lowered:
    """The functions of a system, with their Jacobians on request; `stiff` with what implicit methods need."""
    v = _vectors(system)
    guards, jumps = _jump_table(system)
    g = column([e for e, _ in guards])
    events_when = column([ca.SX(1) if e.when is None else sx(e.when) for _, e in guards])
    powers = column([*system.ledger.supplied.values(), *[-e for e in system.ledger.dissipated.values()]])
    energies = column(list(system.ledger.stored.values()))
    signals = column([q.signal for q in system.delays])
    summed = {"outputs": system.outputs} | ({} if powers.numel() else {"flow": system.flow})
    loops = {name: lower_sums(system, sums, v) for name, sums in summed.items() if isinstance(sums, Sums)}
    results: dict[str, Callable[[], tuple[ca.SX, ...]]] = {
        "flow": lambda: (_flow(system),),
        "flow_and_powers": lambda: (_flow(system), powers),
        "guards": lambda: (g,),
        "guards_and_rates": lambda: (g, _rate_of(g, v)),
        "enabled": lambda: (events_when,),
        "outputs": lambda: (column(list(system.outputs.values())),),
        "energies": lambda: (energies,),
        "signals": lambda: (signals,),
        "signal_rates": lambda: (_rate_of(signals, v),),
        "delays": lambda: (column([q.by for q in system.delays]),),
        "past": lambda: (column([q.before for q in system.delays]),),
        "clocks": lambda: (
            column([s.every for s in system.samples]),
            column([s.offset for s in system.samples]),
        ),
    }
    functions = _Functions(
        {name: partial(_make_function, name, v, result) for name, result in results.items()}
    )
    resets, losses, channels = _jump_functions(system, jumps, v, energies)
    sizes = {
        "NX": v["x"].numel(),
        "NZ": v["z"].numel(),
        "NU": v["u"].numel(),
        "NP": v["p"].numel(),
        "NW": powers.numel(),
        "NE": energies.numel(),
        "NL": len(channels),
        "NG": g.numel(),
        "NJ": len(jumps),
        "NC": len(system.samples),
        "NR": v["random"].numel(),
        "ND": signals.numel(),
        "NY": system.size("outputs"),
    }
    return Lowered(
        system.name,
        sizes,
        functions,
        resets,
        losses,
        jumps,
        _tables(system, jumps, v),
        channels,
        _jacobians(system, functions, resets) if jacobians else {},
        _state_jacobian(system, functions["flow"]) if stiff else None,
        {name: sums for name, sums in loops.items() if sums is not None},
    )


class _Functions(Mapping[str, ca.Function]):
    """Functions by name, each made when first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], ca.Function]]) -> None:
        self.makers = makers
        self.made: dict[str, ca.Function] = {}

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


def _make_function(name: str, v: dict[str, ca.SX], results: Callable[[], tuple[ca.SX, ...]]) -> ca.Function:
    return _function(name, SIGNATURES[name], v, results())


def _flow(system: System) -> ca.SX:
    return column([system.flow[q.name] for q in system.x])


def _vectors(system: System) -> dict[str, ca.SX]:
    v = {group: column([q.sym for q in getattr(system, group)]) for group in ("x", "z", "u", "p")}
    v |= {
        "t": time,
        "d": column([q.sym for q in system.delays]),
        "random": column([q.sym for q in system.randoms]),
    }
    v |= {
        "dx": ca.SX.sym("dx", v["x"].numel()),
        "x_after": ca.SX.sym("x_after", v["x"].numel()),
        "z_after": ca.SX.sym("z_after", v["z"].numel()),
    }
    return v


def _rate_of(expression: ca.SX, v: dict[str, ca.SX]) -> ca.SX:
    """d/dt along x' = dx, everything discrete held."""
    along_x = (
        ca.jtimes(expression, v["x"], v["dx"])
        if v["x"].numel() and expression.numel()
        else ca.SX.zeros(expression.numel(), 1)
    )
    along_t = ca.jtimes(expression, v["t"], ca.SX(1)) if expression.numel() else ca.SX.zeros(0, 1)
    return ca.densify(along_x + along_t)


def _jump_table(system: System) -> tuple[list[tuple[ca.SX, Event]], list[Jump]]:
    """Guards (each rising), and jumps in the order in which they happen at one instant."""
    guards: list[tuple[ca.SX, Event]] = []
    jumps: list[Jump] = []
    for event in system.events:
        for sign, directions in ((1, ("up", "both")), (-1, ("down", "both"))):
            if event.direction in directions:
                jumps.append(Jump(event, guard=len(guards)))
                guards.append((sign * sx(event.guard), event))
    jumps += [Jump(sample, clock=k) for k, sample in enumerate(system.samples)]
    return guards, sorted(jumps, key=lambda jump: jump.source.priority)


def _assignments(jump: Jump) -> dict[str, ca.SX]:
    return jump.source.set if isinstance(jump.source, Sample) else jump.source.reset  # type: ignore[return-value]  # both are checked, so their keys are names


def _jump_functions(
    system: System, jumps: list[Jump], v: dict[str, ca.SX], energies: ca.SX
) -> tuple[list[ca.Function], list[ca.Function], tuple[str, ...]]:
    channels: dict[str, None] = {}
    rows: list[dict[str, ca.SX]] = []
    total = ca.sum1(energies) if energies.numel() else ca.SX(0)
    after = ca.substitute([total], [v["x"], v["z"]], [v["x_after"], v["z_after"]])[0]
    for jump in jumps:
        declared = jump.source.loss
        if declared is None:
            touched = column([q.sym for q in (*system.x, *system.z) if q.name in _assignments(jump)])
            changes = energies.numel() and touched.numel() and ca.depends_on(total, touched)
            declared = {jump.source.name: total - after} if changes else {}
        rows.append(dict(declared))
        channels.update(dict.fromkeys(declared))
    resets, losses = [], []
    for k, (jump, row) in enumerate(zip(jumps, rows, strict=True)):
        new = _assignments(jump)
        results = tuple(
            column([new.get(q.name, q.sym) for q in getattr(system, group)]) for group in ("x", "z")
        )
        resets.append(_function(f"reset_{k}", RESET, v, results))
        losses.append(
            _function(f"loss_{k}", LOSS, v, (column([row.get(channel, ca.SX(0)) for channel in channels]),))
        )
    return resets, losses, tuple(channels)


def _velocities(system: System, v: dict[str, ca.SX]) -> list[int]:
    """For every state the one that is its rate, or -1."""
    sums = system.flow if isinstance(system.flow, Sums) else None
    place = {e.element_hash(): i for i, e in enumerate(ca.vertsplit(v["x"]))} if v["x"].numel() else {}
    rates = _flow(system) if sums is None else sums.single()
    return [
        place.get(e.element_hash(), -1) if e.is_symbolic() else -1
        for e in (ca.vertsplit(rates) if rates.numel() else ())
    ]


def _integrals(system: System, v: dict[str, ca.SX], velocities: list[int]) -> list[int]:
    """For every state whether it is integrated beside the motion: no rate reads it, nor is it the position of
    a velocity."""
    if isinstance(system.flow, Sums):  # writing a sum out costs more than is won
        return [0] * len(velocities)
    rates = _flow(system)
    read = {symbol.element_hash() for symbol in ca.symvar(rates)} if rates.numel() else set()
    states = ca.vertsplit(v["x"]) if velocities else []
    return [
        int(velocity < 0 and state.element_hash() not in read)
        for velocity, state in zip(velocities, states, strict=True)
    ]


def _tables(system: System, jumps: list[Jump], v: dict[str, ca.SX]) -> dict[str, list[int]]:
    randoms = column([q.sym for q in system.randoms])
    deciding = _deciding_discrete(system) if jumps else set()

    def uses_random(jump: Jump) -> int:
        values = column(list(_assignments(jump).values()))
        return int(bool(randoms.numel() and values.numel() and ca.depends_on(values, randoms)))

    return {
        "velocity_of": (velocities := _velocities(system, v)),
        "integral": _integrals(system, v, velocities),
        "guard_of": [j.guard for j in jumps],
        "jump_of": [k for _, k in sorted((j.guard, k) for k, j in enumerate(jumps) if j.guard >= 0)],
        "clock_of": [j.clock for j in jumps],
        "terminal": [int(getattr(j.source, "terminal", False)) for j in jumps],
        "eager": [int(getattr(j.source, "eager", False)) for j in jumps],
        "records": [int(_only_records(j, deciding)) for j in jumps],
        "draws_random": [uses_random(j) for j in jumps],
        "random_kind": [int(q.law == "normal") for q in system.randoms for _ in range(q.size)],
    }


def _deciding_discrete(system: System) -> set[str]:
    """The names of all states but the discrete ones that neither the flow nor a guard reads: what sets those
    alone changes nothing of what follows."""
    names = {q.name for q in (*system.x, *system.z)}
    if isinstance(system.flow, Sums):  # writing a sum out costs more than is won
        return names
    read = [*system.flow.values(), *[e.guard for e in system.events], *[e.when for e in system.events]]
    symbols = ca.symvar(column([sx(e) for e in read if e is not None]))
    used = {symbol.element_hash() for symbol in symbols}
    silent = {q.name for q in system.z if not any(q.sym[k].element_hash() in used for k in range(q.size))}
    return names - silent


def _only_records(jump: Jump, deciding: set[str]) -> bool:
    """Whether a jump sets nothing on which it depends what happens next."""
    return jump.guard >= 0 and not deciding.intersection(_assignments(jump))


def _flow_jacobian(system: System, flow: ca.Function) -> ca.Function:
    arguments, names = flow.sx_in(), JACOBIANS["flow_jacobian"][1]
    results = [ca.densify(r) for r in _flow_derivatives(system, flow, arguments, names)]
    return ca.Function("flow_jacobian", arguments, results, flow.name_in(), [f"d_{n}" for n in names])


def _state_jacobian(system: System, flow: ca.Function) -> ca.Function:
    """The flow's Jacobian by the state alone, without its zeros."""
    arguments = flow.sx_in()
    results = _flow_derivatives(system, flow, arguments, ("x",))
    return ca.Function("state_jacobian", arguments, [ca.sparsify(results[0])], flow.name_in(), ["d_x"])


def _flow_derivatives(
    system: System, flow: ca.Function, arguments: list[ca.SX], names: tuple[str, ...]
) -> list[ca.SX]:
    """Rates that are implied are differentiated through what implies them, by the implicit function
    theorem."""
    by_name = dict(zip(flow.name_in(), arguments, strict=True))
    rates = flow.call(arguments)[0]
    implied = system.implied
    results = {}
    if implied is None or implied.further.numel():
        results = {n: ca.jacobian(rates, by_name[n]) for n in names}
    else:
        at = system.slices("x")
        rows = [k for n in implied.states for k in range(at[n].start, at[n].stop)]
        others = [k for k in range(rates.numel()) if k not in rows]
        v = _vectors(system)
        old, new = [v[n] for n in flow.name_in()], arguments
        residual = ca.substitute([implied.residual], old, new)[0]
        parts = [ca.jacobian(residual, implied.unknown), *[ca.jacobian(residual, by_name[n]) for n in names]]
        matrix, *sides = ca.substitute(parts, [implied.unknown], [rates[rows]])
        solved = Factors(ca.densify(matrix)).solve(-ca.densify(ca.horzcat(*sides)))
        ends = np.cumsum([0, *[by_name[n].numel() for n in names]])
        for k, n in enumerate(names):
            whole = ca.SX.zeros(rates.numel(), by_name[n].numel())
            if whole.numel():
                whole[rows, :] = solved[:, int(ends[k]) : int(ends[k + 1])]
                whole[others, :] = ca.jacobian(rates[others], by_name[n])
            results[n] = whole
    return [results[n] for n in names]


def _jacobians(
    system: System, functions: Mapping[str, ca.Function], resets: list[ca.Function]
) -> dict[str, list[ca.Function]]:
    """Dense Jacobians, one output per variable, of flow, guards and every reset."""

    def of(f: ca.Function, label: str, variables: tuple[str, ...]) -> ca.Function:
        arguments = f.sx_in()
        stacked = column(list(f.call(arguments)))
        by_name = dict(zip(f.name_in(), arguments, strict=True))
        return ca.Function(
            label,
            arguments,
            [ca.densify(ca.jacobian(stacked, by_name[n])) for n in variables],
            f.name_in(),
            [f"d_{n}" for n in variables],
        )

    return {
        "flow_jacobian": [_flow_jacobian(system, functions["flow"])],
        "guard_jacobian": [of(functions["guards"], "guard_jacobian", JACOBIANS["guard_jacobian"][1])],
        "reset_jacobian": [
            of(f, f"reset_jacobian_{k}", JACOBIANS["reset_jacobian"][1]) for k, f in enumerate(resets)
        ],
    }


def _function(
    name: str,
    signature: tuple[tuple[str, ...], tuple[str, ...]],
    v: dict[str, ca.SX],
    results: tuple[ca.SX, ...],
) -> ca.Function:
    return ca.Function(
        name,
        [v[n] for n in signature[0]],
        list(results),
        list(signature[0]),
        [f"out_{n}" for n in signature[1]],
    )
