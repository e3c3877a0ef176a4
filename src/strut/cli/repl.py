"""`strut repl`: a conversation with a network. Lines in, lines out; the terminal adds completion."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import strut
from strut.cli.answer import number_text
from strut.errors import ModelError, StrutError, UnknownNameError, did_you_mean
from strut.network import Edge, Network, Node, Variable
from strut.network.query import NetworkQuery
from strut.view.figures.figure import PALETTE, Figure, Line

HELP = """\
EXPRESSION            its value now: n1.x^2 + sin(t)
show [NODE]           variables of a node and their values now; of the network
find SELECTOR         what a selector finds: find nodes | /h.*/
NAME = EXPRESSION     set a state, a parameter or an input
step [COUNT]          go on by one step of the integrator, or by several
run SECONDS           go on in time
plot NAME ... [FILE]  what was since the last reset: here, or as FILE.html, .svg, .png
change STATEMENTS     more of the language: change node "n1" { a = 2 }; begins anew
reset                 back to the beginning, with the parameters set so far
help, quit"""
"""What `help` answers."""
PLOT_WIDTH, PLOT_HEIGHT = 64, 12
"""Columns and rows of a plot in the terminal [characters]."""
ASSIGNMENT = re.compile(r"^([\w.\[\]]+)\s*=(?!=)\s*(.+)$")
"""A line that sets a value, NAME = EXPRESSION."""


class Session:
    """A network, where its run has come to, and what to say to each line."""

    def __init__(self, network: Network, backend: str | None = None) -> None:
        self.network, self.backend = network, backend
        self.commands: dict[str, Callable[[str], str]] = {
            "show": self.show, "find": self.find, "step": self.step, "run": self.run, "plot": self.plot,
            "change": self.change, "reset": lambda _: self.reset(), "help": lambda _: HELP,
        }  # fmt: skip
        self.given: dict[str, Any] = {}
        self._begin()

    def _begin(self) -> None:
        self.asking = NetworkQuery(self.network)
        self.reset()

    def reset(self) -> str:
        """Go back to the beginning, with the parameters set so far."""
        self.t = 0.0
        self.now: dict[str, Any] = {}
        self.past: list[tuple[np.ndarray, dict[str, np.ndarray]]] = []
        return "at the beginning"

    # ---- lines ----

    def answer(self, line: str) -> str | None:
        """What to say to a line; None ends the conversation. Mistakes are answered, not raised."""
        line = line.strip()
        if not line or line.startswith("#"):
            return ""
        word, _, rest = line.partition(" ")
        if word in ("quit", "exit"):
            return None
        try:
            assignment = ASSIGNMENT.match(line)
            if assignment and word not in self.commands:
                return self.set(assignment[1], assignment[2])
            if word in self.commands:
                return self.commands[word](rest.strip())
            return format_value(self._value(line))
        except StrutError as error:
            return f"mistake: {error}"

    def talk(self, lines: Iterable[str]) -> Iterator[str]:
        """The answers to lines, until one says quit."""
        for line in lines:
            reply = self.answer(line)
            if reply is None:
                return
            if reply:
                yield reply

    def complete(self, text: str) -> list[str]:
        """Words that begin with a text: commands, names of nodes and of variables."""
        names = [*self.commands, "quit", *(n.path for n in self.network.nodes), *self._names()]
        return sorted({n for n in names if n.startswith(text)})

    def _names(self) -> list[str]:
        system = self.asking.system
        return [*(q.name for q in system.quantities()), *system.outputs]

    # ---- what can be asked ----

    def _value(self, text: str, of: str = "") -> np.ndarray:
        return self.asking.value(text, self.t, {**self.given, **self.now}, of)

    def show(self, path: str) -> str:
        """List the variables of a node or of the network with their values now, and what edges do."""
        thing = self.asking.place(path)
        lines = []
        for name, v in thing.variables.items():
            try:
                value = format_value(self._value(name, path))
            except StrutError as error:
                value = str(error).splitlines()[0]
            flags = f"  | {' '.join(sorted(v.flags))}" if v.flags else ""
            lines.append(f"{name:12} {value:>14}   {v.text}{flags}")
        edge = thing if isinstance(thing, Edge) else thing.own_edge if isinstance(thing, Node) else None
        if edge is not None:
            lines += [
                f"{a.name}{chr(39) if a.rate else ''} {'+=' if a.adds else '<='} {a.text}"
                for a in edge.actions.values()
            ]
        if isinstance(thing, Node) and thing.children:
            lines.append("in it: " + ", ".join(thing.children))
        return "\n".join(lines) or f"{thing!r} has nothing in it"

    def find(self, selector: str) -> str:
        """List what a selector finds."""
        things = self.network.find(selector)
        return (
            "\n".join(t.path if isinstance(t, (Node, Edge, Variable)) else t.name for t in things)
            or "nothing"
        )

    def set(self, name: str, text: str) -> str:
        """Give a state, a parameter or an input the value of an expression."""
        system = self.asking.system
        groups = {
            label: group
            for group in ("x", "z", "u", "p")
            for q in getattr(system, group)
            for label in (q.name, *q.labels)
        }
        if name not in groups:
            if name in system.outputs:
                raise ModelError(f"'{name}' is calculated from others: change its expression with 'change'")
            raise UnknownNameError(f"there is no '{name}' to set: {did_you_mean(name, list(groups))}")
        value = np.asarray(self._value(text)).reshape(-1, order="F")
        chosen: Any = float(value[0]) if value.size == 1 else value
        system.using({name: chosen})
        (self.now if groups[name] in "xz" else self.given)[name] = chosen
        return f"{name} = {format_value(value)}"

    def step(self, count: str) -> str:
        """Go on by so many steps of the integrator; by one unless given."""
        number = count or "1"
        if not number.isdecimal() or int(number) < 1:
            raise ModelError(f"'step {count}': a number of steps is needed, 1 or more")
        return self._go(int(number) * self.network.step)

    def run(self, seconds: str) -> str:
        """Go on in time by an expression's value [s]; by one second unless given."""
        length = float(self._value(seconds).reshape(-1)[0]) if seconds else 1.0
        if not 0 < length < float("inf"):
            raise ModelError(f"'run {seconds}': a positive time is needed")
        return self._go(length)

    def _go(self, length: float) -> str:
        system = self.asking.system.using({**self.given, **self.now})
        result = strut.simulate(
            system, t=(self.t, self.t + length), backend=self.backend, **self.network.options()
        )
        labels = [label for group in ("x", "z") for label in system.labels(group)]
        self.past.append(
            (np.array(result.t), {n: np.array(result[n]) for n in (*labels, *system.labels("outputs"))})
        )
        self.t = float(result.t[-1])
        self.now = {n: float(np.array(result[n])[-1]) for n in labels}
        happened = f", {len(result.events)} events" if len(result.events) else ""
        ended = "" if result.status == "done" else f", {result.status}"
        return f"t = {self.t:.9g}{happened}{ended}"

    def plot(self, rest: str) -> str:
        """Draw curves since the last reset: in characters, or into a file named last."""
        *names, last = rest.split() or [""]
        file = last if last.rsplit(".", 1)[-1] in ("html", "svg", "png") and "." in last else ""
        names = names if file else [*names, last]
        if not self.past:
            raise ModelError("nothing has happened yet: step or run first")
        labels = list(self.past[0][1])
        for name in names:
            if name not in labels:
                raise UnknownNameError(f"there is no '{name}' to plot: {did_you_mean(name, labels)}")
        t = np.concatenate([t for t, _ in self.past])
        curves = {name: np.concatenate([c[name] for _, c in self.past]) for name in names}
        if file:
            lines = [
                Line(name, t, y, PALETTE[k % len(PALETTE)]) for k, (name, y) in enumerate(curves.items())
            ]
            return f"wrote {Figure(tuple(lines), 't [s]', over_time=True).save(file)}"
        return "\n".join(text_plot(name, t, y) for name, y in curves.items())

    def change(self, text: str) -> str:
        """Run statements of the language on the network, and begin anew."""
        self.network.change(text)
        self._begin()
        return f"{self.network!r}; at the beginning"


def format_value(value: np.ndarray) -> str:
    """Write a number, or a matrix, as the language does."""
    m = np.atleast_2d(value)
    if m.size == 1:
        return number_text(float(m.reshape(-1)[0]))
    return "[" + "; ".join(", ".join(number_text(float(v)) for v in row) for row in m) + "]"


def text_plot(name: str, t: np.ndarray, y: np.ndarray) -> str:
    """Draw a curve in characters."""
    low, high = float(np.min(y)), float(np.max(y))
    span = high - low or 1.0
    grid = [[" "] * PLOT_WIDTH for _ in range(PLOT_HEIGHT)]
    times = np.linspace(t[0], t[-1], PLOT_WIDTH)
    for column, value in enumerate(np.interp(times, t, y)):
        grid[PLOT_HEIGHT - 1 - round((value - low) / span * (PLOT_HEIGHT - 1))][column] = "*"
    lines = ["".join(row).rstrip() for row in grid]
    edge = {0: f"{high:.4g}", PLOT_HEIGHT - 1: f"{low:.4g}"}
    rows = [f"{edge.get(k, ''):>10} |{line}" for k, line in enumerate(lines)]
    return "\n".join([f"{name}", *rows, f"{'':>10} {t[0]:<10.4g}{t[-1]:>{PLOT_WIDTH - 9}.4g} s"])


def converse(session: Session, say: Callable[[str], None]) -> None:
    """Answer lines from standard input until it ends; in a terminal with a prompt, history and completion
    (the Tab key)."""
    if not sys.stdin.isatty():
        for reply in session.talk(sys.stdin):
            say(reply)
        return
    prompt = f"{session.network.name}> "
    with contextlib.suppress(ImportError):
        import readline

        readline.set_completer_delims(" ()+-*/^,;[]=<>")
        readline.set_completer(lambda text, k: [*session.complete(text), None][k])
        readline.parse_and_bind("tab: complete")
    say("help says what can be said")
    while True:
        try:
            answer = session.answer(input(prompt))
        except (EOFError, KeyboardInterrupt):
            return
        if answer is None:
            return
        say(answer)
