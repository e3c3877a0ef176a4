"""Names and numbers in the files of others."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, StorageError

MAX_DEPTH = 200
"""Most elements inside one another in a file of others. They are read by recursion, of which Python allows a
thousand."""
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
"""A comment of XML. Other readers forgive '--' inside of one."""
MISSING_SPACE = re.compile(r"""(=\s*"[^"<]*")(?=[A-Za-z_])""")
"""An attribute without a space before the next one, which other readers forgive."""
MAX_NUMBER = 1e40
"""Largest number that is read, in any unit: more is no measure of a machine, and powers would overflow."""


class ReadWarning(UserWarning):
    """Something in a file written by others that is left out, or read in another way than it says."""


def read(path: str | Path) -> str:
    """Read the text of a file; raise StorageError where that fails."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StorageError(f"cannot read {path}: it is no text in UTF-8") from error


def xml(text: str, where: str) -> ElementTree.Element:
    """The root element. Declarations of entities are refused: a model needs none, and nested ones exhaust
    memory."""
    if "<!ENTITY" in text:
        raise ModelError(f"{where} declares XML entities: write them out")
    text = text.removeprefix("\ufeff").lstrip()  # a declaration must come first of all
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        try:
            root = ElementTree.fromstring(MISSING_SPACE.sub(r"\1 ", COMMENT.sub("", text)))
        except (ElementTree.ParseError, ValueError):
            raise ModelError(f"{where} is not XML: {error}") from error
        how = "it is read without comments, and with spaces between attributes"
        warnings.warn(f"{where} is not XML as it stands: {error}; {how}", ReadWarning, stacklevel=5)
    except (ValueError, RecursionError) as error:  # a declaration with an encoding that is none
        raise ModelError(
            f"{where} is not XML that can be read: its encoding is unknown; write it in UTF-8"
        ) from error
    check_depth(root, where)
    return root


def check_depth(root: ElementTree.Element, where: str) -> None:
    """Raise ModelError where elements are nested deeper than `MAX_DEPTH`."""
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
        if not level:
            return
    raise ModelError(
        f"{where} has elements nested deeper than {MAX_DEPTH}: bodies carry at most that many one after "
        f"another"
    )


@contextlib.contextmanager
def name_file_in_errors(where: str) -> Iterator[None]:
    """Put the name of a file before errors about the model that is read inside."""
    try:
        yield
    except ModelError as error:
        if where in str(error):
            raise
        raise type(error)(f"{where}: {error}") from error


def name_of(text: str) -> str:
    """A foreign name as a name of ours: what is no letter, digit or _ becomes _."""
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in text)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def _short(text: str) -> str:
    """Text of a file as messages show it: not more than a line."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def numbers(text: str, least: int, most: int, what: str) -> np.ndarray:
    """Read between `least` and `most` finite numbers; `what` names them in errors."""
    needed = f"{least}" if least == most else f"{least} to {most}"
    plural = "number is" if most == 1 else "numbers are"
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError as error:
        raise ModelError(f"{what} is '{_short(text)}': {needed} {plural} needed") from error
    if np.all(np.isfinite(values)) and np.abs(values).max(initial=0.0) > MAX_NUMBER:
        raise ModelError(f"{what} is '{_short(text)}': numbers up to {MAX_NUMBER:g} are read")
    if not least <= len(values) <= most or not np.all(np.isfinite(values)):
        raise ModelError(f"{what} is '{_short(text)}': {needed} finite {plural} needed")
    return values


def number(text: str, what: str) -> float:
    """Read one finite number."""
    return float(numbers(text, 1, 1, what)[0])


def words(values: Any) -> str:
    """Write numbers, exactly, with spaces between them."""
    return " ".join(repr(float(v)) for v in np.asarray(values).reshape(-1))
