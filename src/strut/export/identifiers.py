"""Users' names and words made safe for C: nothing they wrote can end a comment, begin a statement or collide."""

from __future__ import annotations

from collections.abc import Iterable


def identifier(name: str) -> str:
    """A C identifier for any name: ASCII letters, digits and _ stay, the rest is spelled by its code point."""
    text = "".join(c if c.isascii() and c.isalnum() else "_" if c.isascii() else f"u{ord(c):04x}" for c in name).strip("_")
    return text if text and not text[0].isdigit() else f"m_{text}"


def identifiers(names: Iterable[str], prefix: str) -> list[str]:
    """Upper-case constants, one per name, all different."""
    found: list[str] = []
    for name in names:
        word = base = f"{prefix}_{identifier(name)}".upper()
        number = 2
        while word in found:
            word, number = f"{base}_{number}", number + 1
        found.append(word)
    return found


def comment(text: str) -> str:
    """Words for a C comment: printable ASCII on one line, with nothing that could end it or continue it."""
    plain = "".join(c if c.isascii() and c.isprintable() else " " for c in text)
    return plain.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *").replace("??", "?")
