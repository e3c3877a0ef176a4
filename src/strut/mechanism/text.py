"""Names and numbers in the files of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, StorageError

MAX_NESTING = 200
"""Elements of a file inside one another, at most."""


def read(path: str | Path) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StorageError(f"cannot read {path}: it is no text in UTF-8") from error


def xml(text: str, where: str) -> ElementTree.Element:
    """The root element. Declarations of entities are refused: a model needs none, and nested ones exhaust memory."""
    if "<!ENTITY" in text:
        raise ModelError(f"{where} declares XML entities: write them out")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise ModelError(f"{where} is not XML: {error}") from error
    level, depth = [root], 0
    while level:
        level, depth = [inner for element in level for inner in element], depth + 1
        if depth > MAX_NESTING:
            raise ModelError(f"{where} has elements nested more than {MAX_NESTING} deep: no robot is")
    return root


def name_of(text: str) -> str:
    """A foreign name as a name of ours: what is no letter, digit or _ becomes _."""
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in text)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def numbers(text: str, least: int, most: int, what: str) -> np.ndarray:
    """Between `least` and `most` finite numbers."""
    needed = f"{least}" if least == most else f"{least} to {most}"
    plural = "number is" if most == 1 else "numbers are"
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError as error:
        raise ModelError(f"{what} is '{text}': {needed} {plural} needed") from error
    if not least <= len(values) <= most or not np.all(np.isfinite(values)):
        raise ModelError(f"{what} is '{text}': {needed} finite {plural} needed")
    return values


def number(text: str, what: str) -> float:
    """One finite number."""
    return float(numbers(text, 1, 1, what)[0])


def words(values: Any) -> str:
    """Numbers, exactly, with spaces between them."""
    return " ".join(repr(float(v)) for v in np.asarray(values).reshape(-1))
