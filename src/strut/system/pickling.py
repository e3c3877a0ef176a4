"""Pickling what is made of CasADi expressions, for pools of processes.

CasADi pickles no expression by itself. Here all expressions of an object are written together, as one CasADi
function of their symbols, so that what they share stays shared and a system that is loaded has the same
content hash: nothing is compiled again. Every symbol that was ever pickled has a key; a process that knows
the key uses its own symbol, so that expressions made of a system fit the system that comes back. Files are
another matter: see `strut.simulate.storage`.
"""

from __future__ import annotations

import io
import pickle
import secrets
from typing import Any

import casadi as ca

_symbols: dict[str, ca.SX] = {}
_keys: dict[int, str] = {}
"""Both ways between symbols and their keys. Symbols are kept, so that the address that identifies one is not
used again."""


def name_symbol(key: str, symbol: ca.SX) -> ca.SX:
    """Give a symbol a key that is the same in every process; returns the symbol."""
    _symbols[key], _keys[symbol.element_hash()] = symbol, key
    return symbol


def _key_of(symbol: ca.SX) -> str:
    address = symbol.element_hash()
    if address not in _keys:
        name_symbol(secrets.token_hex(12), symbol)
    return _keys[address]


def _symbol_of(key: str, name: str) -> ca.SX:
    return _symbols[key] if key in _symbols else name_symbol(key, ca.SX.sym(name))


class Packed:
    """An object that pickles, and deep copies, with all expressions in it; a copy has the same symbols."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return unpack, pack(self)

    def __copy__(self) -> Any:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


class _Pickler(pickle.Pickler):
    """Everything but expressions; these are numbered and collected."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.expressions: list[ca.SX] = []
        self.places: dict[int, int] = {}

    def persistent_id(self, thing: Any) -> int | None:
        if not isinstance(thing, ca.SX):
            return None
        if id(thing) not in self.places:
            self.places[id(thing)] = len(self.expressions)
            self.expressions.append(thing)
        return self.places[id(thing)]

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, Packed):  # its expressions belong to the whole
            return _empty, (type(thing),), thing.__getstate__()
        return NotImplemented


def _empty(kind: type) -> Any:
    return object.__new__(kind)


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, expressions: list[ca.SX]) -> None:
        super().__init__(io.BytesIO(data))
        self.expressions = expressions

    def persistent_load(self, place: Any) -> ca.SX:
        """The expression of a number."""
        expression: ca.SX = self.expressions[place]
        return expression


def pack(thing: Any) -> tuple[bytes, tuple[tuple[str, str], ...], str]:
    """An object as data: without its expressions, then the keys and names of their symbols, then the
    expressions."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(thing)
    symbols = ca.symvar(ca.veccat(*pickler.expressions)) if pickler.expressions else []
    function = ca.Function("expressions", [ca.vertcat(*symbols, ca.SX(0, 1))], pickler.expressions)
    return file.getvalue(), tuple((_key_of(s), s.name()) for s in symbols), function.serialize()


def unpack(data: bytes, symbols: tuple[tuple[str, str], ...], function: str) -> Any:
    """The object that `pack` made data of."""
    arguments = ca.vertcat(*[_symbol_of(key, name) for key, name in symbols], ca.SX(0, 1))
    return _Unpickler(data, ca.Function.deserialize(function).call([arguments])).load()
