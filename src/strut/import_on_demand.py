"""`import_on_demand`: names of a package whose modules are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package that imports what some of its names stand for when they are first used.

    Many a function has the name of its module, `strut.gait.find`; importing such a module would set the name
    to it, so that is refused.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__["_HOME_OF"]:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name, obj=self)
        value = getattr(importlib.import_module(f"{self.__name__}.{self._HOME_OF[name]}"), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self._HOME_OF or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._HOME_OF})


def import_on_demand(package: str, homes: Mapping[str, Iterable[str]]) -> None:
    """Let a package import names when they are first used. It calls this at its end.

    package: its `__name__`. homes: by module within it, the names of the package that it holds. For typing,
    the package imports the same names under `TYPE_CHECKING`.
    """
    module = sys.modules[package]
    home_of = {name: home for home, names in homes.items() for name in names}
    for name in home_of:
        if isinstance(vars(module).get(name), ModuleType):  # a module that was imported before
            del vars(module)[name]
    vars(module)["_HOME_OF"] = home_of
    module.__class__ = _LazyPackage


__all__ = ["import_on_demand"]
