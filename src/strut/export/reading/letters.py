"""Names as a person writes them in equations: greek letters, letters by unit, words as indices."""

from __future__ import annotations

from collections.abc import Iterable

from strut.system import Quantity

GREEK = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
    ),
    *("rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Omega"),
)
"""Words that are letters."""
LETTERS = {
    "rad": r"\theta",
    "m": "x",
    "kg": "m",
    "kg m^2": "J",
    "N m": r"\tau",
    "N": "F",
    "N/m": "k",
    "N m/rad": "k",
    "N s/m": "d",
    "N m s/rad": "d",
    "m/s^2": "g",
    "V": "u",
    "A": "i",
    "Pa": "p",
    "Ohm": "R",
}
"""The letter of a quantity whose name is a word, by its unit."""
PARAMETER_LETTERS = {"m": "l", "rad": r"\gamma"}
"""Letters of parameters where they are others: a length rather than a place."""
QUANTITY_WORDS = {
    *("mass", "length", "inertia", "torque", "force", "angle", "position", "spring", "stiffness", "damping"),
    *("damper", "rate", "speed", "slope", "voltage", "current"),
}
"""Words that say what the letter says already."""


def letters(quantities: Iterable[Quantity]) -> dict[str, str]:
    """Return how each quantity is written in LaTeX, by its name; of two that would look alike, both by their
    whole names."""
    written = {q.name: _letter(q) for q in quantities}
    counts: dict[str, int] = {}
    for text in written.values():
        counts[text] = counts.get(text, 0) + 1
    return {
        name: text if counts[text] == 1 else _words(name.replace(".", "_").split("_"))
        for name, text in written.items()
    }


def _letter(q: Quantity) -> str:
    if "." in q.name:  # mass.p: the p of the mass
        part, _, last = q.name.rpartition(".")
        if len(last) == 1:
            return f"{last}_{{{_index(part.replace('.', '_').split('_'))}}}"
    words = q.name.replace(".", "_").split("_")
    if _is_symbol(words[0]) and words[-1] not in QUANTITY_WORDS:
        return _words(words)
    own = PARAMETER_LETTERS if q.kind == "parameter" else {}
    letter = own.get(q.unit, LETTERS.get(q.unit, ""))
    if not letter:
        return _words(words)
    rest = [word for word in words if word not in QUANTITY_WORDS]
    return f"{letter}_{{{_index(rest)}}}" if rest else letter


def _is_symbol(word: str) -> bool:
    """One letter, a greek one, or either with a number behind it."""
    stem = word.rstrip("0123456789")
    return len(stem) == 1 or stem in GREEK


def _words(words: list[str]) -> str:
    """The first word as a symbol, the others as its index."""
    first = words[0]
    stem = first.rstrip("0123456789")
    number = first[len(stem) :]
    head = f"\\{stem}" if stem in GREEK else stem if len(stem) == 1 else f"\\mathrm{{{stem}}}"
    index = _index([*([number] if number else []), *words[1:]])
    return f"{head}_{{{index}}}" if index else head


def _index(words: list[str]) -> str:
    return r",\,".join(word if len(word) == 1 or word.isdigit() else f"\\mathrm{{{word}}}" for word in words)
