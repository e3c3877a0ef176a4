"""Larger systems from smaller ones: prefix the parts, connect outputs to inputs, add couplings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import AlgebraicLoopError, ModelError, ShapeError, UnknownNameError, did_you_mean
from strut.system.implied import Implied
from strut.system.ledger import Ledger
from strut.system.quantity import Delay, Expression, Param, Quantity, check_name, sx
from strut.system.scene import Scene
from strut.system.system import GROUPS, System

Rewrite = Callable[[Expression], ca.SX]
RewriteAll = Callable[[list[ca.SX]], list[ca.SX]]
"""Rewrites many expressions at once, so that what they share is still shared afterwards."""


@checked
def add_prefix(system: System, prefix: str) -> System:
    """A copy whose every name begins with `prefix.`, with symbols of its own: a part that can stand beside
    another copy of the same system."""
    check_name(prefix, "prefix")
    fresh = {q: q.with_name(f"{prefix}.{q.name}") for q in system.quantities((*GROUPS, "randoms", "delays"))}
    follow = _substitution([q.sym for q in fresh], [q.sym for q in fresh.values()])
    return _assemble(
        system.name,
        (system,),
        fresh,
        rename=lambda name: f"{prefix}.{name}",
        rewrite_all=follow,
        description=system.description,
    )


@checked
def join(
    name: str,
    *parts: System,
    connect: Mapping[str, Expression] | None = None,
    couplings: Mapping[str, Expression] | None = None,
    share: Iterable[str] = (),
    outputs: Mapping[str, Expression] | None = None,
    description: str = "",
) -> System:
    """One system from several whose names do not collide (see `add_prefix`).

    connect: input name -> what drives it: the name of an output or state, or an expression of the parts'
        symbols.
    couplings: state name -> expression added to its flow.
    share: parameters that the parts have in common; 'g' makes one 'g' of 'left.g' and 'right.g'.
    outputs: further observables.

    If one part walks (`System.walk`), so does the whole; if several do, the whole has no walk until it is
    given one by `replace(walk=...)`.
    """
    quantities, merge = _share_parameters(parts, tuple(share))
    inputs = {q.name: q for part in parts for q in part.u}
    sources: dict[str, ca.SX] = {}
    for target, source in (connect or {}).items():
        if target not in inputs:
            raise UnknownNameError(
                f"join '{name}' connects to '{target}', which is not an input: "
                f"{did_you_mean(target, list(inputs))}"
            )
        sources[target] = sx(_lookup(parts, source, name) if isinstance(source, str) else source)
        if sources[target].numel() != inputs[target].size:
            raise ShapeError(
                f"join '{name}' connects {sources[target].numel()} number(s) to input '{target}', which has "
                f"{inputs[target].size}"
            )
    sources = dict(zip(sources, merge(list(sources.values())), strict=True))
    solved = _eliminate_inputs(name, inputs, sources)
    plug = _substitution([inputs[n].sym for n in solved], list(solved.values()))
    remaining = {q: new for q, new in quantities.items() if q.name not in sources}
    return _assemble(
        name,
        parts,
        remaining,
        rename=str,
        rewrite_all=lambda expressions: plug(merge(expressions)),
        couplings=couplings or {},
        outputs=outputs or {},
        description=description,
    )


def _substitution(old: list[ca.SX], new: list[ca.SX]) -> RewriteAll:
    def rewrite_all(expressions: list[ca.SX]) -> list[ca.SX]:
        return list(ca.substitute(expressions, old, new)) if old and expressions else expressions

    return rewrite_all


class _TwoPasses:
    """Expressions that a first pass notes and a second one takes, rewritten all at once in between: one by
    one, what two of them share would be computed twice."""

    def __init__(self) -> None:
        self.expressions: list[ca.SX] = []
        self.taken = 0

    def note(self, expression: Expression) -> ca.SX:
        """In the first pass: as it is."""
        self.expressions.append(sx(expression))
        return self.expressions[-1]

    def take(self, _expression: Expression) -> ca.SX:
        """In the second pass: rewritten."""
        self.taken += 1
        return self.expressions[self.taken - 1]


def _assemble(
    name: str,
    parts: tuple[System, ...],
    quantities: Mapping[Quantity, Quantity],
    *,
    rename: Callable[[str], str],
    rewrite_all: RewriteAll,
    couplings: Mapping[str, Expression] = {},
    outputs: Mapping[str, Expression] = {},
    description: str = "",
) -> System:
    """The parts as one system: quantities replaced, names renamed, every expression rewritten.

    quantities: what stands for each quantity that stays. rename: the new name of a name. rewrite_all:
    rewrites expressions. couplings: added to the flow, by state. outputs: further ones.
    """
    passes = _TwoPasses()

    def fields(follow: Rewrite) -> dict[str, Any]:
        return _joined_fields(
            name, parts, quantities, rename=rename, follow=follow, couplings=couplings, outputs=outputs
        )

    fields(passes.note)
    passes.expressions = rewrite_all(passes.expressions)
    return System(name, **fields(passes.take), description=description)


def _joined_fields(
    name: str,
    parts: tuple[System, ...],
    quantities: Mapping[Quantity, Quantity],
    *,
    rename: Callable[[str], str],
    follow: Rewrite,
    couplings: Mapping[str, Expression],
    outputs: Mapping[str, Expression],
) -> dict[str, Any]:
    """The fields of a system made of parts, but for its name and description; see `_assemble`. Expressions
    are followed in the same order in every call."""

    def merge_by_name(kind: str, mappings: list[Mapping[str, Expression]]) -> dict[str, ca.SX]:
        entries_by_name: dict[str, ca.SX] = {}
        for mapping in mappings:
            for n, e in rewrite(mapping).items():
                if n in entries_by_name:
                    raise ModelError(
                        f"two parts of '{name}' have {kind} '{n}': prefix them, add_prefix(part, 'left')"
                    )
                entries_by_name[n] = e
        return entries_by_name

    def rewrite(mapping: Mapping[str, Expression]) -> dict[str, ca.SX]:
        return {rename(n): follow(e) for n, e in mapping.items()}

    def group(label: str) -> tuple[Any, ...]:
        chosen = [quantities[q] for part in parts for q in getattr(part, label) if q in quantities]
        return tuple(dict.fromkeys(_with_rewritten_values(q, follow) for q in chosen))

    def jumps(label: str, body: str) -> tuple[Any, ...]:
        renamed_jumps = []
        for part in parts:
            for jump in getattr(part, label):
                changes: dict[str, Any] = {
                    body: rewrite(getattr(jump, body)),
                    "loss": None if jump.loss is None else rewrite(jump.loss),
                }
                for other in ("guard", "when", "every", "offset"):
                    if getattr(jump, other, None) is not None:
                        changes[other] = follow(getattr(jump, other))
                renamed_jumps.append(replace(jump, name=rename(jump.name), **changes))
        return tuple(renamed_jumps)

    flow = {n: e for part in parts for n, e in rewrite(part.flow).items()}
    for state, term in couplings.items():
        if state not in flow:
            raise UnknownNameError(
                f"join '{name}' couples to '{state}', which is not a state: {did_you_mean(state, list(flow))}"
            )
        flow[state] = flow[state] + follow(term)
    entries = [
        merge_by_name(f"a ledger entry ({kind})", [getattr(part.ledger, kind) for part in parts])
        for kind in ("stored", "supplied", "dissipated")
    ]
    walks = [part.walk for part in parts if part.walk is not None]
    outputs_of_parts = merge_by_name("an output", [part.outputs for part in parts])
    remaining = {q.name for label in "xzu" for q in group(label)}  # an input that is driven has no image
    return {
        "x": group("x"),
        "z": group("z"),
        "u": group("u"),
        "p": group("p"),
        "randoms": group("randoms"),
        "delays": group("delays"),
        "flow": flow,
        "events": jumps("events", "reset"),
        "samples": jumps("samples", "set"),
        "ledger": Ledger(
            *entries, electrical=tuple(rename(n) for part in parts for n in part.ledger.electrical)
        ),
        "outputs": outputs_of_parts | {n: follow(e) for n, e in outputs.items()},
        "symmetry": {n: e for part in parts for n, e in rewrite(part.symmetry).items() if n in remaining},
        "implied": _join_implied(parts, rename, follow, couplings),
        "scene": _scene(parts, rename, follow),
        "output_units": {rename(n): unit for part in parts for n, unit in part.output_units.items()},
        "walk": walks[0].with_names(rename, follow) if len(walks) == 1 else None,
        "scales": _joined_scales(parts, quantities),
    }


def _joined_scales(parts: tuple[System, ...], quantities: Mapping[Quantity, Quantity]) -> tuple[str, ...]:
    """The scales of all parts; none where a part with states has none, for its numbers have units."""
    if any(part.x and not part.scales for part in parts):
        return ()
    named = [
        quantities[q].name for part in parts for q in part.p if q.name in part.scales and q in quantities
    ]
    return tuple(dict.fromkeys(named))


def _join_implied(
    parts: tuple[System, ...],
    rename: Callable[[str], str],
    follow: Rewrite,
    couplings: Mapping[str, Expression],
) -> Implied | None:
    """Of the parts together. Rates that a coupling adds to are no longer what the part implied."""
    implications = [part.implied for part in parts if part.implied is not None]
    implications = [one for one in implications if not {rename(n) for n in one.states} & set(couplings)]
    if not implications:
        return None
    states = tuple(rename(n) for one in implications for n in one.states)
    fresh = [ca.SX.sym("rate", one.unknown.numel()) for one in implications]
    residuals = [
        ca.substitute([follow(one.residual)], [one.unknown], [new])[0]
        for one, new in zip(implications, fresh, strict=True)
    ]
    # the unknown are the rates of all parts first, then what is further known of any
    counts = [one.unknown.numel() - one.further.numel() for one in implications]
    parts_of = [ca.vertsplit(new, [0, n, new.numel()]) for new, n in zip(fresh, counts, strict=True)]
    rates, forces = [rate for rate, _ in parts_of], [force for _, force in parts_of]
    return Implied(
        states=states,
        unknown=ca.vertcat(*rates, *forces),
        residual=ca.vertcat(*residuals),
        further=ca.vertcat(*[follow(one.further) for one in implications]),
    )


def _scene(parts: tuple[System, ...], rename: Callable[[str], str], follow: Rewrite) -> Scene:
    """All of the parts together, on the ground of the first that has one."""
    scenes = [part.scene.with_expressions(follow, rename) for part in parts]
    floors = [scene.floor for scene in scenes if scene.floor is not None]
    return Scene(
        tuple(p for scene in scenes for p in scene.parts),
        tuple(a for scene in scenes for a in scene.arrows),
        floors[0] if floors else None,
        all(scene.planar for scene in scenes),
        tuple(h for scene in scenes for h in scene.hinges),
        next((scene.com for scene in scenes if scene.com is not None), None),
        {name: e for scene in scenes for name, e in scene.feet.items()},
        {name: outputs for scene in scenes for name, outputs in scene.points.items()},
        {one: other for scene in scenes for one, other in scene.swaps.items()},
    )


def _with_rewritten_values(q: Quantity, follow: Rewrite) -> Quantity:
    """The quantity with the expressions it carries rewritten, its symbol kept."""
    changes: dict[str, Any] = {}
    if not isinstance(q.value, np.ndarray):
        changes["value"] = follow(q.value)
    if isinstance(q, Delay):
        changes |= {label: follow(getattr(q, label)) for label in ("signal", "by", "before")}
    return q.copy_with(**changes) if changes else q


def _share_parameters(
    parts: tuple[System, ...], share: tuple[str, ...]
) -> tuple[dict[Quantity, Quantity], RewriteAll]:
    """Which quantity stands for which after the parameters in `share` are made one."""
    stands: dict[Quantity, Quantity] = {
        q: q for part in parts for q in part.quantities((*GROUPS, "randoms", "delays"))
    }
    for name in share:
        same = [q for q in stands if isinstance(q, Param) and q.name.split(".")[-1] == name]
        if not same:
            raise UnknownNameError(f"no part has a parameter '{name}' to share")
        for other in same[1:]:
            if not np.array_equal(other.value, same[0].value):
                raise ModelError(
                    f"'{same[0]}' is {same[0].value} but '{other}' is {other.value}: give them one value "
                    f"before sharing '{name}'"
                )
        one = max(same, key=lambda q: q.bounds[0]).with_name(name)
        stands.update(dict.fromkeys(same, one))
    changed = {
        old.sym[0].element_hash() if old.size else 0: (old, new)
        for old, new in stands.items()
        if old is not new
    }.values()
    return stands, _substitution([old.sym for old, _ in changed], [new.sym for _, new in changed])


def _lookup(parts: tuple[System, ...], name: str, joined: str) -> ca.SX:
    candidates: list[str] = []
    for part in parts:
        names = [q.name for q in part.quantities()] + list(part.outputs)
        if name in names:
            return part[name]
        candidates += names
    raise UnknownNameError(
        f"join '{joined}' connects from '{name}', which no part has: {did_you_mean(name, candidates)}"
    )


def _eliminate_inputs(
    name: str, inputs: Mapping[str, Quantity], sources: Mapping[str, ca.SX]
) -> dict[str, ca.SX]:
    """The sources with connected inputs eliminated from them; a circle among them is an algebraic loop."""
    owner = {inputs[n].sym[i].element_hash(): n for n in sources for i in range(inputs[n].size)}
    needs = {
        n: {owner[s.element_hash()] for s in ca.symvar(e) if s.element_hash() in owner}
        for n, e in sources.items()
    }
    solved: dict[str, ca.SX] = {}
    while len(solved) < len(sources):
        ready = [n for n in sources if n not in solved and needs[n] <= set(solved)]
        if not ready:
            raise AlgebraicLoopError(
                f"join '{name}' has an algebraic loop: {_circle(needs, set(solved))}; put a state, a delay "
                f"or a Sample between them"
            )
        eliminate = _substitution([inputs[m].sym for m in solved], list(solved.values()))
        solved |= dict(zip(ready, eliminate([sources[n] for n in ready]), strict=True))
    return solved


def _circle(needs: Mapping[str, set[str]], solved: set[str]) -> str:
    path = [next(n for n in needs if n not in solved)]
    while True:
        following = next(n for n in sorted(needs[path[-1]]) if n not in solved)
        if following in path:
            return " <- ".join([*path[path.index(following) :], following])
        path.append(following)
