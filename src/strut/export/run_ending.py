"""How a run of an exported model ended: functions in C that say so in words, and whether all is well."""

from __future__ import annotations

from strut.codegen import Lowered, RunStatus
from strut.system import Event

MAX_TEXT_LENGTH = 1000
"""Most characters of what an event says of itself: C99 has 4095 for a string."""


def ending_prototypes(name: str) -> str:
    """Declarations for the header of a model NAME."""
    return f"""/* 1 where the run goes on, reached its end, or ended in an event that is meant to end it;
 * 0 where the machine failed, as in a fall, or the run cannot go on. */
int {name}_ok(const {name}_sim *s);

/* How the run stands, in words: the event that ended it, with what it means, or what went wrong. */
const char *{name}_ending(const {name}_sim *s);
"""


def ending_functions(low: Lowered, name: str) -> str:
    """Their definitions, of the events of the model and the statuses of the runtime."""
    events = {
        k: jump.source
        for k, jump in enumerate(low.jumps)
        if isinstance(jump.source, Event) and jump.source.terminal
    }
    good_ends = [k for k, event in events.items() if not event.failure]
    by_event = " || ".join(f"s->cause == {k}" for k in good_ends) or "0"
    event_cases = "".join(
        f"        case {k}: return {c_string(_event_text(event))};\n" for k, event in events.items()
    )
    status_cases = "".join(
        f"    case {status.value}: return {c_string(status.explanation)};\n"
        for status in RunStatus
        if status is not RunStatus.TERMINAL
    )
    return f"""
int {name}_ok(const {name}_sim *s)
{{
    if (s->status == STRUT_TERMINAL) return {by_event};
    return s->status == STRUT_RUNNING || s->status == STRUT_DONE;
}}

const char *{name}_ending(const {name}_sim *s)
{{
    switch (s->status) {{
{status_cases}    default:
        switch (s->cause) {{
{event_cases}        default: return "an event ended the run";
        }}
    }}
}}
"""


def _event_text(event: Event) -> str:
    """What a user reads where an event ended a run: its name, and what it says of itself."""
    text = f"event '{event.name}' ended the run"
    return f"{text}: {event.description}" if event.description else text


def c_string(text: str) -> str:
    """Words as a string of C: printable ASCII, of which nothing can end the string or be read otherwise."""
    plain = "".join(c if c.isascii() and c.isprintable() else "_" for c in text)[:MAX_TEXT_LENGTH]
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'"{escaped}"'


__all__ = ["c_string", "ending_functions", "ending_prototypes"]
