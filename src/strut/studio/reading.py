"""What a text says, before it is saved: its mistakes with their places, what can be set, its graph, and a
short run. Models are data, and reading them runs nothing that they name; Python is only parsed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strut import contact, mechanism, network, ports
from strut.errors import ModelError, StrutError, UnknownNameError
from strut.mechanism.io.machine_tables import MACHINE_TABLES
from strut.simulate import Trajectory, simulate
from strut.studio.program_marks import TextMark, find_program_marks
from strut.system import System
from strut.view.motion.frames import middle, require_frames
from strut.view.motion.svg import Strip, last_step, strip
from strut.view.motion.svg import text as svg_text
from strut.walkers import CATALOGUE, ROBOTS

PREVIEW_SAMPLES = 300
"""Points of each curve of a preview."""
PREVIEW_CURVES = 8
"""Curves of a preview at most."""
PREVIEW_METHODS: dict[str, dict[str, Any]] = {"coman": {"method": "rkc", "step": 1e-3}}
"""How machines with stiff drives are integrated, as `strut run` does it; step in s."""
PICTURE_PIXELS = (640.0, 300.0)
"""Width and height into which a picture is drawn [px]: in a tall one lines would be too thin to be seen."""
DRAWN_SIZES = 1.5
"""How far a machine goes in the picture of a preview at most, in its own sizes: farther, it is a speck."""
QUOTE_INDENT = "    "
"""Stands before a line of a model file that a message quotes."""
PREVIEW_TOLERANCE = 1e-6
"""Relative and absolute tolerance of a preview: pictures need no more."""


def read_model(name: str, text: str) -> System:
    """Return the system that a text describes; what it is, its name's end says.

    name: of its file; relative to the folder of the process, so that what it includes is found.
    """
    suffix = Path(name).suffix
    stem = re.sub(r"\W", "_", Path(name).stem)
    if suffix == ".cdn":
        return network.loads(text, name).system()
    if suffix == ".toml":
        if _has_table(text, "element"):
            return ports.system(ports.parse(text, name, stem))
        if any(_has_table(text, table) for table in MACHINE_TABLES):
            return contact.parse(text, name, stem)
        return mechanism.system(mechanism.modelfile.parse(text, name, stem))
    raise ModelError(f"'{name}' is read when it is run: marks, sliders and previews are for .cdn and .toml")


def find_marks(name: str, text: str) -> list[TextMark]:
    """Return what is wrong with a text, each with its place; nothing where it is right."""
    suffix = Path(name).suffix
    if suffix == ".py":
        return find_program_marks(name, text)
    try:
        if suffix == ".toml" and _has_table(text, "search"):
            return []  # a job: what it says is checked when it is started
        elif suffix in (".cdn", ".toml"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_model(name, text)
    except network.NetworkError as error:
        return [
            TextMark(p.mark.line if p.mark else 0, p.mark.column if p.mark else 0, p.message)
            for p in error.problems
        ]
    except StrutError as error:
        return [mark_of(name, text, str(error))]
    return []


def mark_of(name: str, text: str, message: str) -> TextMark:
    """Return a message about a text as a mark in it: where the text stands beside, neither the file and the
    line nor what stands in it are said once more, nor shown with a caret."""
    head, line, column = message, 0, 0
    begin = re.match(rf"{re.escape(name)}(?:, line (\d+))?[:,] +(?:is not TOML: )?", message)
    if begin is not None:
        not_toml = "not TOML: " if begin[0].endswith("TOML: ") else ""
        head, line = not_toml + message[begin.end() :], int(begin[1] or 0)
    lines = head.split("\n")
    quote = QUOTE_INDENT + text.splitlines()[line - 1] if line else ""
    if quote and len(lines) > 2 and lines[-2] == quote and lines[-1].strip() == "^":
        column = len(lines[-1]) - len(QUOTE_INDENT)
        lines = lines[:-2]
    return TextMark(line or _line_of(message, text), column, "\n".join(lines))


def facts_of(name: str, system: System | None, *, is_job: bool = False) -> dict[str, bool | None]:
    """Return what a model has of that which commands and options need (`forms.REASONS`); None where that is
    known only when it is run. system: None where it is not known."""
    suffix = Path(name).suffix
    is_model = suffix != ".py" and not is_job

    def answer_if_read(has: Callable[[System], bool]) -> bool | None:
        return has(system) if system is not None else None if is_model else False

    return {
        "model": is_model,
        "job": is_job,
        "events": answer_if_read(lambda s: bool(s.events)),
        "walks": answer_if_read(lambda s: s.walk is not None),
        "inputs": answer_if_read(lambda s: bool(s.u)),
        "random": answer_if_read(lambda s: bool(s.randoms)),
        "memoryless": answer_if_read(lambda s: not s.delays),
        "robot file": suffix in (".urdf", ".xml"),
        "MJCF file": suffix == ".xml",
    }


def describe(system: System) -> dict[str, Any]:
    """Return what can be set of a system, and what it has, as data for JSON."""

    def entries(group: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": q.name,
                "value": q.value.tolist() if isinstance(q.value, np.ndarray) else None,
                "unit": q.unit,
                "low": _finite(q.bounds[0]),
                "high": _finite(q.bounds[1]),
                "about": q.description,
                "internal": q.internal,
            }
            for q in group
        ]

    return {
        "name": system.name,
        "about": system.description,
        "parameters": entries(system.p),
        "states": entries(system.x),
        "inputs": entries(system.u),
        "events": [event.name for event in system.events],
    }


def describe_text(name: str, text: str | None, read: Callable[[], System]) -> dict[str, Any]:
    """Describe what a text or a name stands for, with what commands may do with it under `has`; where it
    cannot be read, the sentence that says why under `error`."""
    is_job = text is not None and name.endswith(".toml") and _has_table(text, "search")
    if is_job:
        about = "A job: it is checked when it is started, with evolve."
        return {"error": about, "has": facts_of(name, None, is_job=True)}
    if name.endswith(".py"):
        about = f"A program: it is read here, and nothing of it is run. In a terminal: strut run {name}"
        return {"error": about, "has": facts_of(name, None)}
    try:
        system = read()
    except StrutError as error:
        return {"error": _sentence_of(name, text, str(error)), "has": facts_of(name, None)}
    return {**describe(system), "has": facts_of(name, system)}


def preview(
    system: System, values: Mapping[str, float], seconds: float, method: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a short run as curves, with a picture of its last step where the system has a scene; under
    `drawn` what the picture shows. method: of integration, as options of `simulate`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = simulate(
            system.using(dict(values)) if values else system,
            t=seconds,
            rtol=PREVIEW_TOLERANCE,
            atol=PREVIEW_TOLERANCE,
            ledger=False,
            **(method or {}),
        )
    if run.t1 <= run.t0:
        raise ModelError(
            f"there is nothing to look at, for the run ends where it begins: "
            f"{run.ending_meaning or run.message}"
        )
    t = np.linspace(run.t0, run.t1, PREVIEW_SAMPLES)
    names = [*run.names.x][:PREVIEW_CURVES]
    moments = run.at(t)
    drawn, about = _picture(run) if system.scene.parts else (None, "")
    picture = svg_text(drawn.figures, drawn.box, _width(drawn), drawn.title) if drawn else ""
    return {
        "t": t.tolist(),
        "curves": {name: _plain(np.asarray(moments[name]).ravel()) for name in names},
        "units": {name: run.names.units.get(name, "") for name in names},
        "status": run.status,
        "end": run.t1,
        "picture": picture,
        "drawn": about,
    }


def _picture(run: Trajectory) -> tuple[Strip, str]:
    """The last step of a run as a strip of poses, and what it shows: of a machine that goes far in it, such
    as one that falls without ground, as much of the beginning as can be seen."""
    stage = require_frames(run)
    begin, end = last_step(stage, run)
    places = np.mean([[middle(piece, k) for k in range(len(stage.t))] for piece in stage.pieces], axis=0)
    during = (stage.t >= begin) & (stage.t <= end)
    away = np.linalg.norm(places - places[np.argmax(during)], axis=1)
    if away[during].max(initial=0.0) <= DRAWN_SIZES * stage.size:
        return strip(run, (begin, end)), f"{begin:.3g} to {end:.3g} s"
    stop = float(stage.t[during & (away <= DRAWN_SIZES * stage.size)][-1])
    whole = f"it goes {away[during].max():.3g} m in {end - begin:.3g} s"
    if stop <= begin:
        return strip(run, (begin, end)), whole
    falls = "" if _has_ground(run) else "; nothing holds it: a table [contact] gives a machine ground"
    return strip(run, (begin, stop)), f"{begin:.3g} to {stop:.3g} s of a longer way: {whole}{falls}"


def _width(drawn: Strip) -> int:
    """The width [px] of a picture that is no higher than `PICTURE_PIXELS`."""
    width, height = np.asarray(drawn.box[1]) - np.asarray(drawn.box[0])
    return int(min(PICTURE_PIXELS[0], PICTURE_PIXELS[1] * width / max(height, 1e-9)))


def _has_ground(run: Trajectory) -> bool:
    """Whether anything but joints can stop the machine of a run: events, or ground that is drawn."""
    assert run.system is not None
    return bool(run.system.events) or run.system.scene.floor is not None


def graph_of(name: str, text: str) -> str:
    """Return the graph of a network or a bond graph, as SVG; nothing for other texts."""
    if name.endswith(".cdn"):
        return network.loads(text, name).graph()
    if name.endswith(".toml") and _has_table(text, "element"):
        return ports.svg(ports.parse(text, name, re.sub(r"\W", "_", Path(name).stem)))
    return ""


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of the page: do, name, text, values, seconds; what is wrong is a sentence under
    `error`."""
    name, text = str(request.get("name", "")), request.get("text")

    def system() -> System:
        if text is not None:
            return read_model(name, str(text))
        machines = {**CATALOGUE, **ROBOTS}
        if name not in machines:
            raise UnknownNameError(f"there is no ready-made machine '{name}'")
        return machines[name]()

    tasks: dict[str, Callable[[], dict[str, Any]]] = {
        "check": lambda: {"marks": [vars(mark) for mark in find_marks(name, str(text))]},
        "describe": lambda: describe_text(name, None if text is None else str(text), system),
        "graph": lambda: {"svg": graph_of(name, str(text or ""))},
        "preview": lambda: preview(
            system(),
            dict(request.get("values") or {}),
            float(request.get("seconds", 5.0)),
            PREVIEW_METHODS.get(name) if text is None else None,
        ),
    }
    try:
        return tasks[str(request.get("do"))]()
    except StrutError as error:
        return {"error": str(error)}


def _has_table(text: str, name: str) -> bool:
    return re.search(rf"^\s*\[\[?\s*{name}\b", text, re.MULTILINE) is not None


def _sentence_of(name: str, text: str | None, message: str) -> str:
    """What is wrong with a model, beside its text: with its line alone where that is known."""
    if text is None or not message.startswith(f"{name}, line "):
        return message
    mark = mark_of(name, text, message)
    return f"line {mark.line}: {mark.message}"


def _line_of(message: str, text: str) -> int:
    """The line that a message names, or the first with something that it quotes."""
    line_number = re.search(r"\bline (\d+)", message)
    if line_number:
        return int(line_number.group(1))
    lines = text.splitlines()
    for quoted in re.findall(r"'([^'\n]{1,80})'", message):
        for number, line in enumerate(lines, 1):
            if quoted in line:
                return number
    return 0


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _plain(values: np.ndarray) -> list[float | None]:
    return [_finite(value) for value in values]
