"""`LoadedNetwork`: what lowering needs of a network."""

from __future__ import annotations

from typing import Protocol

from strut.network.build.selectors import SelectorRunner
from strut.network.model import Node


class LoadedNetwork(Protocol):
    """A name, the node that holds all others, and how selectors find things in it; `Network` is one."""

    name: str
    root: Node
    select: SelectorRunner

    @property
    def step(self) -> float:
        """The step the file asks for [s]."""
        ...
