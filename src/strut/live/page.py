"""`live_page`: one file with a machine that runs in the browser: sliders, pushes, its gait, multipliers and
maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from strut.catalogue import SYSTEM_DESCRIPTIONS
from strut.checks import checked
from strut.errors import ModelError, StrutError
from strut.export.wasm import module_bytes, module_script
from strut.files import put
from strut.gait.return_map import ReturnMap
from strut.gait.section import default_section
from strut.live.document import live_document, script
from strut.live.switch import add_live_switch
from strut.live.views import gait_views, page_views, section_of_page, section_shape
from strut.simulate import Trajectory, simulate
from strut.system import System, start
from strut.view.motion.film import encode_film, rows
from strut.view.motion.frames import sample_frames

SAMPLE_TIME = 3.0
"""Time [s] that a machine runs before its page is written, to see how large it is and how strong its feet
push."""
MAX_GAIT_STATES = 16
"""States of a machine up to which its page has the variational equations, the square of so many: larger
ones take minutes to compile, and megabytes."""
ADVISED_SPEED = 0.6
"""Speed [m/s] of the gait that a page of a machine that falls advises to design: most walkers have one."""
SHARED_BY_FILMS = ("units", "planar", "size", "newton", "window", "flat", "still", "tick", "meshes", "notes")
"""What a live film takes over from a recorded one: how large and how strong things are drawn."""


@checked
def live_page(
    machine: System | Trajectory | Any,
    path: str | Path,
    *,
    title: str | None = None,
    gait: bool | None = None,
    method: str | None = None,
    step: float | None = None,
    page: str | Path | None = None,
) -> Path:
    """Write a page on which a machine runs, and return where it is.

    machine: a System, or a run, gait or design: then the page begins with its parameters and state. path:
    .html. gait: whether the page finds gaits, which takes a second module; by default where the machine
    says what ends a step, has no samples, and has at most `MAX_GAIT_STATES` states. method, step: of
    integration, as of `export`. page: one of the same run, gait or design, which gets a switch 'Live' that
    leads here. Everything is in the file: no server, no network. Raises ModelError for what cannot run in a
    page, CompileError where there is no compiler for WebAssembly, StorageError for a `page` that is none.
    """
    system, begin = _machine_and_state(machine)
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".html", ".htm"):
        raise ModelError(f"a live page is written to a file .html, not '{target.name}'")
    text = live_text(system, begin, title=title or system.name, gait=gait, method=method, step=step)
    put(target, text)
    if page is not None:
        add_live_switch(Path(page), target)
    return target


def _machine_and_state(machine: Any) -> tuple[System, dict[str, list[float]] | None]:
    """The system of whatever is shown, with its own parameters, and the state it begins in."""
    if isinstance(machine, System):
        return machine, None
    plan = getattr(machine, "machine", None)
    if isinstance(plan, System):  # a design: its walker with its plan, which begins where the plan does
        return plan, None
    run = machine
    if not isinstance(run, Trajectory):
        run = getattr(machine, "trajectory", None)
    if not isinstance(run, Trajectory):
        raise ModelError(
            f"a live page is of a System, a run, a gait or a design, not of a {type(machine).__name__}"
        )
    if run.system is None:
        raise ModelError(
            f"'{run.system_name}' was loaded without its system: give it, Trajectory.load(file, system=...)"
        )
    x, z, u = run._states(np.array([run.t0]))
    if run.has_ledger:
        x = x[:, : len(run.names.x)]
    return run.system, {"x": x[0].tolist(), "z": z[0].tolist(), "u": u[0].tolist(), "p": run.p.tolist()}


def live_text(
    system: System,
    begin: dict[str, list[float]] | None,
    *,
    title: str,
    gait: bool | None = None,
    method: str | None = None,
    step: float | None = None,
) -> str:
    """Return the text of a live page. begin: states and parameters, where not the system's own."""
    module = module_bytes(system, page_views(system), method=method, step=step)
    modules, step_map = {"machine": module}, return_map_of_page(system, gait)
    if step_map is not None:
        modules["varied"] = module_bytes(step_map.varied, gait_views(step_map))
    return live_document(title, system.description, live_data(system, begin), modules)


def live_data(system: System, begin: dict[str, list[float]] | None) -> dict[str, Any]:
    """Return what the scripts of a page read of a machine. begin: as of `live_text`."""
    own = start(system)
    first = begin or {"x": own.x.tolist(), "z": own.z.tolist(), "u": own.u.tolist(), "p": own.p.tolist()}
    section = section_of_page(system)
    return {
        "p": first["p"],
        "u": first["u"],
        "begin": {"x": first["x"], "z": first["z"]} if begin else None,
        "film": _film_data(system, first),
        "push": "push" in page_views(system),
        "lift": _lift(system),
        "walk": _walk_data(system),
        "failures": [event.name for event in system.events if event.failure],
        "advice": _advice(system),
        "shape": None if section is None else section_shape(system, section),
        "portrait": _portrait(system),
        "timeScale": 1.0,
        "timeUnit": "" if system.dimensionless else " s",
        "worker": module_script() + script("newton.js") + script("worker.js"),
    }


def return_map_of_page(system: System, wanted: bool | None) -> ReturnMap | None:
    """The map whose fixed points are gaits; None where none is wanted, or none can be."""
    if wanted is False:
        return None
    try:
        default_section(system)
        if wanted is None and (system.samples or system.size("x") > MAX_GAIT_STATES):
            return None
        return ReturnMap(system)
    except ModelError:
        if wanted:
            raise
        return None


def _film_data(system: System, first: dict[str, list[float]]) -> dict[str, Any] | None:
    """How a machine looks, and where in the view of its scene everything stands; None where nothing is
    seen."""
    if not system.scene.parts:
        return None
    x, z, p = (np.array(first[group]) for group in "xzp")
    stage = sample_frames(simulate(system, t=SAMPLE_TIME, x0=x, z0=z, p=p))
    if stage is None:
        raise StrutError(f"nothing of '{system.name}' can be seen: its scene has no finite place")
    film = encode_film(stage, system.dimensionless)
    places: dict[str, list[int]] = {}
    at = 0
    for name, expression in system.scene.columns().items():
        places[name] = [at, expression.numel()]
        at += expression.numel()
    scene = system.scene
    pieces = []
    for k, (piece, original) in enumerate(zip(film["pieces"], scene.parts, strict=True)):
        own = {n: places[f"{original.name}/{k}/{n}"] for n in original.values}
        pieces.append({**{n: v for n, v in piece.items() if n != "values"}, "places": own})
    centre = film["centre"]
    return {
        "pieces": pieces,
        "pushes": [
            {"name": a.name, "at": places[f"{a.name}>{k}>at"], "force": places[f"{a.name}>{k}>force"]}
            for k, a in enumerate(scene.arrows)
        ],
        "pivots": [
            {"kind": h.kind, "at": places[f"{h.name}@{k}@at"], "axis": places[f"{h.name}@{k}@axis"]}
            for k, h in enumerate(scene.hinges)
        ],
        "com": places.get("com!"),
        "ground": scene.floor is not None,
        "swaps": _swap_pairs(system),
        "centre": {"width": 3, "count": 1, "still": rows(centre)[0].tolist()},
        **{n: film[n] for n in SHARED_BY_FILMS},
    }


def _swap_pairs(system: System) -> list[list[int]]:
    """The parts that change places where legs exchange their names, by number."""
    places: dict[str, list[int]] = {}
    for k, piece in enumerate(system.scene.parts):
        places.setdefault(piece.name, []).append(k)
    return [
        [a, b]
        for one, other in system.scene.swaps.items()
        for a, b in zip(places.get(one, ()), places.get(other, ()), strict=False)
        if system.scene.parts[a].kind == system.scene.parts[b].kind
    ]


def _lift(system: System) -> list[Any] | None:
    """The state that puts the machine higher over the ground: its group and its place."""
    name = "" if system.walk is None else system.walk.lift
    for group in ("x", "z"):
        if name and name in system.labels(group):
            return [group, system.labels(group).index(name)]
    return None


def _walk_data(system: System) -> dict[str, Any] | None:
    """What a page needs to know of a walk: which events end a step, and the parameter that a map begins
    with."""
    walk = system.walk
    if walk is None or not walk.step_events or not system.p:
        return None
    labels = list(system.labels("p"))
    return {
        "steps": list(walk.step_events),
        "stepLength": system.labels("z").index(walk.step_length) if walk.step_length else -1,
        "parameter": labels.index(walk.slope) if walk.slope in labels else 0,
    }


def _advice(system: System) -> str:
    """What to do with a walker that falls before it has made a step, where it says what ends its steps."""
    if system.walk is None or not (system.walk.section or system.walk.step_events):
        return ""
    if not system.u:
        return "Other values of the parameters may walk, such as ground that goes down: move a slider."
    word = system.name.replace("_", "-")
    name = word if word in SYSTEM_DESCRIPTIONS else "MODEL"
    return (
        f"It needs ground that goes down, or a controller. In a terminal, 'strut control {name} --speed "
        f"{ADVISED_SPEED:g} -o held' designs a gait and holds it: open held/index-live.html."
    )


def _portrait(system: System) -> list[int]:
    """The two states of the first phase portrait: the last angle and its rate, where the flow says so."""
    names = list(system.labels("x"))
    for k in reversed(range(len(system.x))):
        q = system.x[k]
        flow = system.flow[q.name]
        for j, other in enumerate(system.x):
            if q.size == 1 and other.size == 1 and q.unit != "m" and str(flow) == str(other.sym):
                return [names.index(q.name), j if len(names) == len(system.x) else names.index(other.name)]
    return [0, min(1, len(names) - 1)]


__all__ = ["live_data", "live_page", "live_text", "return_map_of_page"]
