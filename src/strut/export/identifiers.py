"""Users' names and words made safe for C and MATLAB: nothing they wrote can end a comment, begin a statement
or collide."""

from __future__ import annotations

import re
from collections.abc import Iterable


def identifier(name: str) -> str:
    """A C identifier for any name: ASCII letters, digits and _ stay, the rest is spelled by its code
    point."""
    text = "".join(
        c if c.isascii() and c.isalnum() else "_" if c.isascii() else f"u{ord(c):04x}" for c in name
    ).strip("_")
    return text if text and not text[0].isdigit() else f"m_{text}"


def identifiers(names: Iterable[str], prefix: str) -> list[str]:
    """Upper-case constants, one per name, all different."""
    words: list[str] = []
    for name in names:
        word = base = f"{prefix}_{identifier(name)}".upper()
        number = 2
        while word in words:
            word, number = f"{base}_{number}", number + 1
        words.append(word)
    return words


def comment(text: str) -> str:
    """Words for a C comment: printable ASCII on one line, with nothing that could end it or continue it."""
    plain = "".join(c if c.isascii() and c.isprintable() else " " for c in text)
    return plain.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *").replace("??", "?")


C_WORDS = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned
void volatile while R w INFINITY NAN pow fabs fmin fmax fmod remainder copysign"""
MATLAB_WORDS = """break case catch classdef continue do else elseif end for function global if otherwise
parfor persistent return spmd switch try until while unwind_protect unwind_protect_cleanup end_try_catch
end_unwind_protect endfor endfunction endif endparfor endswitch endwhile abs acos acosh asin asinh atan
atan2 atanh ceil cos cosh double erf exp expm1 floor hypot isreal log log1p max min NaN Inf rem sign sin
sinh sqrt tan tanh zeros strut_real strut_if strut_copysign strut_remainder"""
RESERVED = frozenset((C_WORDS + " " + MATLAB_WORDS).split())
"""Words that no name of ours may be: keywords, and functions that the generated text calls."""
MAX_NAME_LENGTH = 63
"""Letters of a name in MATLAB, its namelengthmax."""
LOCAL = re.compile(r"[aw]\d+")
"""Locals of the C and MATLAB that we write."""


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Identifiers, one per name, all different, no word of C or MATLAB, none of `taken`, short enough for
    both."""
    used = {*taken, *RESERVED}
    words: list[str] = []
    for name in names:
        word = base = identifier(name)[:MAX_NAME_LENGTH]
        number = 2
        while word in used or LOCAL.fullmatch(word):
            ending = f"_{number}"
            word, number = base[: MAX_NAME_LENGTH - len(ending)] + ending, number + 1
        used.add(word)
        words.append(word)
    return words
