"""`MetamorphicSwarm`: a swarm whose particles change which parameters they have.

After Kieboom (chapter 3): parameters stand in *pools* of groups of which a particle has one at a time. Which
groups it has is its subspace. Within a subspace it flies as in any swarm, drawn to its own best and to the
best of all that were ever there. After each generation it may migrate, pool by pool: by chance (explore), to
the group of its own best solution anywhere (own), or to that of the best of all (social).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError
from strut.evolve.goals import best_first, precedes
from strut.evolve.searches.method import SearchState
from strut.evolve.searches.swarm import Swarm
from strut.evolve.space import ParameterSpace
from strut.evolve.streams import Draws
from strut.system import parse_expression

Pools = Mapping[str, Mapping[str, Sequence[str]]]
"""By name of the pool: by name of the group, the parameters that it has."""
RATE_QUANTITY = "quantity of a probability (k or n)"
"""What a probability may read, for messages."""
MAX_SUBSPACES = 10**9
"""Subspaces that are counted; more than these are a mistake in the pools."""


@checked
@dataclass(frozen=True)
class MetamorphicSwarm:
    """Particle swarm optimisation over subspaces (MMPSO): for machines with choices, such as which joint has
    a motor.

    pools: by name, the groups of parameters that exclude each other; parameters in no pool all have.
    explore, own, social: probabilities P_e, P_l and P_g of a migration per generation and pool: numbers, or
    expressions of `k`, the generation, and `n`, how many there are, such as "0.2 / (1 + exp(20*k/n - 6))".
    swarm: how particles fly, and how many there are.
    """

    pools: Pools
    explore: float | str = 0.01
    own: float | str = 0.05
    social: float | str = 0.05
    swarm: Swarm = field(default_factory=Swarm)

    def __post_init__(self) -> None:
        if not self.pools or not all(self.pools.values()):
            raise ModelError(
                "a metamorphic swarm needs pools, each with at least one group: "
                "{'drive': {'motor': ['torque'], 'spring': ['stiffness']}}"
            )
        if self.subspaces > MAX_SUBSPACES:
            raise ModelError(
                f"the pools have {self.subspaces} subspaces: {MAX_SUBSPACES} are allowed; take fewer pools"
            )

    @property
    def population(self) -> int:
        """How many particles there are."""
        return self.swarm.population

    @property
    def subspaces(self) -> int:
        """How many combinations of groups there are."""
        return int(np.prod([len(groups) for groups in self.pools.values()], dtype=object))

    def begin(self, space: ParameterSpace, draws: Draws, generations: int) -> SearchState:
        """Spread the particles equally over the subspaces: over a random choice of them where there are
        more."""
        count = self.population
        spread = np.arange(count) * max(self.subspaces, count) // count % self.subspaces
        groups = self._groups_of(spread[draws.orders(1, count)[0]])
        flying = self.swarm.begin(space, draws, generations)
        width = len(space)
        return {
            **{name: flying[name] for name in ("x", "v", "low", "high")},
            "groups": groups,
            "has": self._membership(space),
            # What particles have seen, a row for each particle and subspace it was in, ordered by `code`.
            "code": np.zeros(0, dtype=np.int64),
            "seen_x": np.zeros((0, width)),
            "seen_keys": np.zeros((0, 2)),
            # The best of each subspace that was ever visited, ordered by its number.
            "visited": np.zeros(0, dtype=np.int64),
            "subspace_x": np.zeros((0, width)),
            "subspace_keys": np.zeros((0, 2)),
            # how many individuals were evaluated in it
            "visits": np.zeros(0, dtype=np.int64),
            "generation": np.zeros(1, dtype=np.int64),
            # 0 where nothing depends on it, so that a search can be extended
            "generations": np.array([generations if self._paced_by_end else 0]),
        }

    def ask(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return where the particles are; parameters that one does not have are nan."""
        return np.where(self._active(state), state["x"], np.nan)

    def tell(self, state: SearchState, x: np.ndarray, keys: np.ndarray, draws: Draws) -> SearchState:
        """Update what was seen, move every particle in its subspace, and let it migrate."""
        subspace = self._subspace(state["groups"])
        code = np.arange(self.population, dtype=np.int64) * self.subspaces + subspace
        seen = _remember(state["code"], state["seen_x"], state["seen_keys"], code, state["x"], keys)
        best = _remember(
            state["visited"], state["subspace_x"], state["subspace_keys"], subspace, state["x"], keys
        )
        before = np.zeros(len(state["visited"]), dtype=np.int64)  # of a file of an earlier version
        visits = np.zeros(len(best[0]), dtype=np.int64)
        visits[np.searchsorted(best[0], state["visited"])] = state.get("visits", before)
        visits += np.bincount(np.searchsorted(best[0], subspace), minlength=len(visits))
        own_x = seen[1][np.searchsorted(seen[0], code)]
        social_x = best[1][np.searchsorted(best[0], subspace)]
        active = self._active(state)
        moved, velocity = self.swarm.move(
            state["x"], state["v"], own_x, social_x, state["low"], state["high"], draws
        )
        state = state | {
            "x": np.where(active, moved, state["x"]),
            "v": np.where(active, velocity, state["v"]),
            **dict(zip(("code", "seen_x", "seen_keys"), seen, strict=True)),
            **dict(zip(("visited", "subspace_x", "subspace_keys"), best, strict=True)),
            "visits": visits,
            "generation": state["generation"] + 1,
        }
        return state | {"groups": self._migrate(state, draws)}

    @cached_property
    def _paced_by_end(self) -> bool:
        """Whether a probability depends on how many generations there are."""
        symbols = {each: ca.SX.sym(each) for each in ("k", "n")}
        texts = [value for value in (self.explore, self.own, self.social) if isinstance(value, str)]
        return any(
            ca.depends_on(parse_expression(text, symbols, RATE_QUANTITY), symbols["n"]) for text in texts
        )

    # ---- migration ----

    def migration_probabilities(self, size: int, generation: int, generations: int) -> tuple[float, ...]:
        """Return the probabilities to leave by chance for each other group of a pool with `size` groups, and
        those to follow one's own best and the best of all, in a generation."""
        values = {"k": float(generation), "n": float(generations)}
        rates = tuple(_rate(name, getattr(self, name), values) for name in ("explore", "own", "social"))
        if sum(rates) > 1 + 1e-12:
            raise ValueRangeError(
                f"in generation {generation} explore + own + social is {sum(rates):.4g}: at most 1 is allowed"
            )
        return (rates[0] / (size - 1) if size > 1 else 0.0, rates[1], rates[2])

    def _migrate(self, state: SearchState, draws: Draws) -> np.ndarray:
        """Return the groups after each particle had its chance to change each of them (eq. 3.6)."""
        groups = state["groups"].copy()
        own, best = self._best_groups(state)
        generation, generations = int(state["generation"][0]), int(state["generations"][0])
        for pool, names in enumerate(self.pools.values()):
            size = len(names)
            rates = self.migration_probabilities(size, generation, generations)
            leave = migration_table(groups[:, pool], own[:, pool], best[pool], size, rates)
            chance = draws.uniform(self.population)
            target = (chance[:, None] >= np.cumsum(leave, axis=1)).sum(axis=1)
            groups[:, pool] = np.where(target < size, target, groups[:, pool])
        return groups

    def _best_groups(self, state: SearchState) -> tuple[np.ndarray, np.ndarray]:
        """Return the groups of each particle's best anywhere, and those of the best of all."""
        owner = state["code"] // self.subspaces
        order = np.lexsort((state["seen_keys"][:, 1], state["seen_keys"][:, 0], owner))
        first = order[np.searchsorted(owner[order], np.arange(self.population))]
        own = self._groups_of(state["code"][first] % self.subspaces)
        best = state["visited"][best_first(state["subspace_keys"])[:1]]
        return own, self._groups_of(best)[0]

    # ---- subspaces: mixed-radix numbers of the groups ----

    @cached_property
    def _sizes(self) -> np.ndarray:
        """How many groups each pool has: the radices."""
        return np.array([len(groups) for groups in self.pools.values()], dtype=np.int64)

    def _subspace(self, groups: np.ndarray) -> np.ndarray:
        """Return the number of each particle's subspace, from its groups."""
        weights = np.concatenate([[1], np.cumprod(self._sizes)[:-1]])
        return np.asarray((groups * weights).sum(axis=1))

    def _groups_of(self, subspace: np.ndarray) -> np.ndarray:
        """Return the groups of subspaces, a row each, from their numbers."""
        weights = np.concatenate([[1], np.cumprod(self._sizes)[:-1]])
        return np.asarray(np.asarray(subspace, dtype=np.int64)[:, None] // weights % self._sizes)

    def _membership(self, space: ParameterSpace) -> np.ndarray:
        """Return which group of which pool has which parameter: pools, groups, parameters; a parameter in no
        pool belongs to every group of the first."""
        table = np.zeros((len(self.pools), int(self._sizes.max()), len(space)), dtype=bool)
        for p, (pool, groups) in enumerate(self.pools.items()):
            for g, (group, names) in enumerate(groups.items()):
                table[p, g, space.places(names, f"group '{group}' of pool '{pool}'")] = True
        table[0][:, ~table.any(axis=(0, 1))] = True
        return table

    def _active(self, state: SearchState) -> np.ndarray:
        """Return which parameters each particle has."""
        pools = np.arange(len(self.pools))
        return np.asarray(np.asarray(state["has"])[pools, state["groups"]].any(axis=1))


def migration_table(
    current: np.ndarray, own: np.ndarray, best: int, size: int, rates: Sequence[float]
) -> np.ndarray:
    """Return for each particle the probability to go to each group of a pool; to stay is the rest (Kieboom,
    eq. 3.6). rates: as of `migration_probabilities`."""
    explore, follow_own, follow_best = rates
    group = np.arange(size)
    stays = np.full((len(current), size), 1 - explore)
    stays *= 1 - follow_own * (group == own[:, None])
    stays *= 1 - follow_best * (group == best)
    leave = 1 - stays
    leave[np.arange(len(current)), current] = 0.0
    return leave


def _remember(  # noqa: PLR0917 -- a table, and what is new
    codes: np.ndarray,
    xs: np.ndarray,
    best: np.ndarray,
    new_codes: np.ndarray,
    new_xs: np.ndarray,
    keys: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table of the best by code, ordered by code, with new entries; of equals the older stays."""
    order = np.lexsort((keys[:, 1], keys[:, 0], new_codes))
    first = order[np.unique(new_codes[order], return_index=True)[1]]
    all_codes = np.concatenate([codes, new_codes[first]])
    all_xs, all_keys = np.concatenate([xs, new_xs[first]]), np.concatenate([best, keys[first]])
    order = np.argsort(all_codes, kind="stable")
    codes, xs, best = all_codes[order], all_xs[order], all_keys[order]
    same = np.concatenate([codes[1:] == codes[:-1], [False]]) if len(codes) else np.zeros(0, dtype=bool)
    # where a code is there twice, the older stands first: keep the better of the two
    old = np.flatnonzero(same)
    take_new = precedes(best[old + 1], best[old])
    drop = np.concatenate([old[take_new], old[~take_new] + 1])
    keep = np.setdiff1d(np.arange(len(codes)), drop)
    return codes[keep], xs[keep], best[keep]


def _rate(name: str, value: float | str, values: Mapping[str, float]) -> float:
    """Return a probability in a generation."""
    if isinstance(value, str):
        symbols = {each: ca.SX.sym(each) for each in values}
        expression = parse_expression(value, symbols, RATE_QUANTITY)
        value = float(ca.Function("rate", list(symbols.values()), [expression])(*values.values()))
    if not 0 <= value <= 1:
        raise ValueRangeError(f"{name} is {value:.4g} in generation {values['k']:g}: 0 to 1 is allowed")
    return float(value)
