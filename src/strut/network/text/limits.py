"""Limits on the size of a model: long texts, and files that include files again and again, are refused before
they take minutes."""

from __future__ import annotations

from dataclasses import dataclass

from strut.network.text.errors import LimitExceeded, Mark, Source

MAX_TEXT = 2_000_000
"""Length of one text, at most [characters]: reading takes up to five seconds for a million."""
MAX_INCLUDED = 4_000_000
"""Length of all texts together that a model includes and imports, at most [characters]."""
MAX_INCLUDES = 2000
"""Number of files that a model includes and imports, at most, each counted as often as it is read."""


def check_text(source: Source, mark: Mark | None = None) -> None:
    """Raise `LimitExceeded`, at a place if one is given, if a text is too long for a model."""
    if len(source.text) > MAX_TEXT:
        raise LimitExceeded(
            f"'{source.name}' has {len(source.text)} characters: a model has at most {MAX_TEXT}; make many "
            f"things alike with generators, "
            "'node \"n{1:1000}\"', and read numbers from a table",
            mark,
        )


@dataclass
class Includes:
    """How many files one model has included and imported so far, and how many characters they have."""

    files: int = 0
    characters: int = 0

    def add(self, source: Source, mark: Mark) -> None:
        """Count one more file; raise `LimitExceeded` if they are too many or too long together."""
        check_text(source, mark)
        self.files += 1
        self.characters += len(source.text)
        if self.files > MAX_INCLUDES:
            raise LimitExceeded(
                f"more than {MAX_INCLUDES} files are included, '{source.name}' again and again: does each "
                f"include the next several times? "
                "'require' reads a file once",
                mark,
            )
        if self.characters > MAX_INCLUDED:
            raise LimitExceeded(
                f"included files have more than {MAX_INCLUDED} characters together, '{source.name}' among "
                f"them: "
                "'require' reads a file once",
                mark,
            )
