"""Ways to search: swarms, evolution, gradients by chance, grids; one file each."""

from dataclasses import fields, is_dataclass
from typing import Any

from strut.checks import checked
from strut.errors import ModelError, did_you_mean
from strut.evolve.searches.cma_es import CmaEs
from strut.evolve.searches.differential import DifferentialEvolution
from strut.evolve.searches.genetic import GeneticAlgorithm
from strut.evolve.searches.grid import Grid
from strut.evolve.searches.metamorphic import MetamorphicSwarm
from strut.evolve.searches.method import SearchMethod, SearchState
from strut.evolve.searches.nsga2 import Nsga2
from strut.evolve.searches.particle_filter import ParticleFilter
from strut.evolve.searches.spsa import Spsa
from strut.evolve.searches.swarm import Swarm

SEARCHES: dict[str, type] = {
    "swarm": Swarm,
    "metamorphic": MetamorphicSwarm,
    "cma-es": CmaEs,
    "differential": DifferentialEvolution,
    "genetic": GeneticAlgorithm,
    "nsga2": Nsga2,
    "particle-filter": ParticleFilter,
    "spsa": Spsa,
    "grid": Grid,
}
"""By the word of a job file, the class of each search."""


def search_settings(method: SearchMethod) -> dict[str, Any]:
    """Return the kind and settings of a search, as a job file and the store have them; of one's own, the name
    of its class is its kind."""
    kind = next((word for word, each in SEARCHES.items() if type(method) is each), type(method).__qualname__)
    names: list[str] = [each.name for each in fields(method)] if is_dataclass(method) else []
    values: dict[str, Any] = {name: getattr(method, name) for name in names}
    if isinstance(method, MetamorphicSwarm):  # its swarm's settings stand beside its own
        swarm = values.pop("swarm")
        values |= {each.name: getattr(swarm, each.name) for each in fields(swarm)}
    return {"kind": kind, **values}


@checked
def make_search(settings: dict[str, Any]) -> SearchMethod:
    """Return the search that a job file or a store describes: its `kind`, and settings by name."""
    values = dict(settings)
    kind = values.pop("kind", None)
    if kind not in SEARCHES:
        raise ModelError(f"kind of the search is '{kind}': {did_you_mean(kind, list(SEARCHES))}")
    if kind == "metamorphic":
        own = {name: values.pop(name) for name in ("pools", "explore", "own", "social") if name in values}
        return MetamorphicSwarm(**own, swarm=_make(Swarm, "swarm", values))
    method: SearchMethod = _make(SEARCHES[kind], kind, values)
    return method


def _make(of: type, kind: str, values: dict[str, Any]) -> Any:
    """Return a search of a class with settings by name; raises ModelError for one that it has not."""
    settings = [each.name for each in fields(of)]
    for name in values:
        if name not in settings:
            raise ModelError(f"the search '{kind}' has no setting '{name}': {did_you_mean(name, settings)}")
    return of(**values)


__all__ = [
    "SEARCHES",
    "CmaEs",
    "DifferentialEvolution",
    "GeneticAlgorithm",
    "Grid",
    "MetamorphicSwarm",
    "Nsga2",
    "ParticleFilter",
    "SearchMethod",
    "SearchState",
    "Spsa",
    "Swarm",
    "make_search",
    "search_settings",
]
