"""`CommandForm`: what can be started from the page, as fields; and the words a filled form stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

MAX_TEXT = 2000
"""Most characters of one value of a form."""
REASONS = {
    "model": "this file is no model: choose a machine, a network or a bond graph",
    "job": "this is for jobs, files .toml with a table [search]",
    "events": "nothing happens to this model that could end a step",
    "walks": "this model does not walk: nothing says what ends its steps",
    "inputs": "this model has no inputs, so no motors",
    "random": "this model draws no random numbers",
    "memoryless": "this model has delays, which a page cannot remember",
    "robot file": "for FILE.urdf and FILE.xml alone",
    "MJCF file": "for FILE.xml (MJCF) alone",
}
"""What a command or a field may need of a model, and what is said where the model does not have it."""


@dataclass(frozen=True)
class FormField:
    """One option of a command.

    flag: as it is typed, --speed. kind: text, integer, number or switch. repeats: whether it may be given
    more than once; then its value is a list. needs: a key of `REASONS`, of models for which there is the
    option. belongs_to: the name of another field without which this one says nothing.
    """

    name: str
    flag: str
    kind: str = "text"
    help: str = ""
    default: str = ""
    repeats: bool = False
    needs: str = ""
    belongs_to: str = ""


@dataclass(frozen=True)
class CommandForm:
    """A command that can be started.

    about: what it does. subject: what it is given, a model or a job. fields: its options. suffix: what the
    name of the file that it writes ends in; empty where it writes a folder. needs: keys of `REASONS`, of
    models for which there is the command.
    """

    command: str
    about: str
    subject: str = "model"
    fields: tuple[FormField, ...] = field(default=())
    suffix: str = ""
    needs: tuple[str, ...] = ()

    def words(self, subject: str, values: Mapping[str, Any], output: str) -> list[str]:
        """Return the command as words for the system, none of which any shell reads.

        subject: the model or job. values: of fields, by name. output: where it writes.
        """
        options = {each.name: each for each in self.fields}
        words = [self.command, subject]
        for name, value in values.items():
            if name not in options:
                raise UnknownNameError(
                    f"strut {self.command} has no field '{name}' here: {did_you_mean(name, list(options))}"
                )
            words += _words_of(options[name], value)
        return [*words, f"--output={output}"]


def _words_of(option: FormField, value: Any) -> list[str]:
    """What a field's value stands for; nothing where it is empty."""
    if option.kind == "switch":
        if not isinstance(value, bool):
            raise ValueRangeError(f"{option.flag} is {value!r}: it is a switch, true or false")
        return [option.flag] if value else []
    items = value if option.repeats and isinstance(value, list) else [value]
    # in one word with its flag, so that no value is taken for an option
    return [f"{option.flag}={_text(option, item)}" for item in items if str(item).strip()]


def _text(option: FormField, value: Any) -> str:
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise ValueRangeError(f"{option.flag} is {value!r}: text or a number is needed")
    text = str(value).strip()
    if len(text) > MAX_TEXT or "\0" in text:
        raise ValueRangeError(f"{option.flag} has {len(text)} characters: at most {MAX_TEXT} are taken")
    kinds = {"integer": int, "number": float}
    if option.kind in kinds:
        try:
            kinds[option.kind](text)
        except ValueError as error:
            raise ValueRangeError(f"{option.flag} is '{text}': {option.kind} needed") from error
    return text
