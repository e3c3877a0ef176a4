"""The order in which a system has its states and the rest: the same machine may be described in several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from strut.checks import checked
from strut.system.system import System

GROUP_WORDS = {
    "x": "states",
    "z": "discrete states",
    "u": "inputs",
    "p": "parameters",
    "outputs": "outputs",
}
"""Groups of names that have an order, and what each is called in a sentence."""
MAX_NAMES = 6
"""Names of one group that a sentence lists at most."""


@checked
def order_like(system: System, order: Mapping[str, Sequence[str]]) -> System:
    """Return the same system with what it has in another order: vectors of it are then in that order.

    order: labels by group ('x', 'z', 'u', 'p', 'outputs', and 'stored', 'supplied', 'dissipated' of the
    ledger); what it does not name comes last, as it stood.
    """

    def sort(entries: Sequence[Any], group: str, labels: Sequence[str]) -> list[Any]:
        """Sort entries, of which each has its first label in `labels`."""
        place = {label: k for k, label in enumerate(order.get(group, ()))}
        pairs = sorted(zip(labels, entries, strict=True), key=lambda pair: place.get(pair[0], len(place)))
        return [entry for _, entry in pairs]

    changes: dict[str, Any] = {
        group: tuple(sort(quantities, group, [q.labels[0] for q in quantities]))
        for group in ("x", "z", "u", "p")
        for quantities in [getattr(system, group)]
    }
    first_labels = [system.labels("outputs")[at.start] for at in system.slices("outputs").values()]
    outputs = sort(list(system.outputs), "outputs", first_labels) if system.outputs else []
    ledger = system.ledger
    stored, supplied, dissipated = (
        {name: channels[name] for name in sort(list(channels), kind, list(channels))}
        for kind, channels in (
            ("stored", ledger.stored),
            ("supplied", ledger.supplied),
            ("dissipated", ledger.dissipated),
        )
    )
    return system.replace(
        **changes,
        outputs={name: system.outputs[name] for name in outputs},
        ledger=replace(ledger, stored=stored, supplied=supplied, dissipated=dissipated),
    )


@checked
def other_orders(given: Mapping[str, Sequence[str]], stored: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which groups of names are the same in another order, in a phrase for each. given, stored: labels by
    group."""
    return [
        f"{word} {_list_text(stored[group])} (not {_list_text(given[group])})"
        for group, word in GROUP_WORDS.items()
        if group in given and group in stored
        if list(given[group]) != list(stored[group]) and sorted(given[group]) == sorted(stored[group])
    ]


@checked
def other_names(given: Mapping[str, Sequence[str]], stored: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which names only one side has, in a phrase for each group. given, stored: labels by group."""
    phrases = []
    for group, word in GROUP_WORDS.items():
        if group in given and group in stored:
            for names, others, who in (
                (stored[group], given[group], "the file"),
                (given[group], stored[group], "the system"),
            ):
                alone = [name for name in names if name not in others]
                if alone:
                    phrases.append(f"{word} {_list_text(alone)} of {who} alone")
    return phrases


def _list_text(names: Sequence[str]) -> str:
    """Return names with commas between, the first few of many."""
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


__all__ = ["order_like", "other_names", "other_orders"]
