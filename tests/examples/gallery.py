"""What the gallery page says of each example: its picture, and a line that the example prints."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gallery.md"
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Shown:
    """An entry of the page."""

    example: str
    picture: str
    printed: str


def entries():
    """The entries of the page, by the example's file."""
    text = PAGE.read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        example, picture, printed = (
            re.search(pattern, section)
            for pattern in (r"\]\(\.\./examples/([^)]+)\)", r"!\[[^\]]*\]\(([^)]+)\)", r"It prints `([^`]+)`")
        )
        assert example, section
        assert picture, section
        assert printed, section
        found[example[1]] = Shown(example[1], picture[1], printed[1])
    return found


def check_printed(example, said, rel=1e-3):
    """The line in the page is in what the example said: the same words, and numbers that agree to what a reader sees."""
    line, words = (" ".join(text.split()) for text in (entries()[example].printed, said))
    numbers = [float(number) for number in NUMBER.findall(line)]
    pattern = f"({NUMBER.pattern})".join(re.escape(part) for part in NUMBER.split(line))
    said_so = [[float(number) for number in match.groups()] for match in re.finditer(pattern, words)]
    if not any(each == pytest.approx(numbers, rel=rel) for each in said_so):
        raise AssertionError(
            f"docs/gallery.md says that examples/{example} prints {line!r}, but it printed:\n{said}"
        )
