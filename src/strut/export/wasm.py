"""`export_wasm`: a system as a module for WebAssembly that says what it is, and a script that opens it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.codegen import RunStatus, WasmModule, build_wasm_module, lower_system, wasm_section
from strut.errors import StorageError, ValueRangeError
from strut.files import put
from strut.system import Quantity, System, operation_count, start, time
from strut.version import VERSION

SECTION = "strut"
"""The name of the custom section in which a module describes itself, as JSON."""


def view_function(system: System, name: str, expression: ca.SX, asked: ca.SX | None = None) -> ca.Function:
    """Return a function of the state for a module's views. asked: what else it is a function of."""
    a = ca.SX(0, 1) if asked is None else asked
    dense = ca.densify(ca.vec(expression))
    return ca.Function(name, [time, *system.vectors(), a], [dense])


def scene_views(system: System) -> dict[str, ca.Function]:
    """Return what a picture of a system needs, as views: `scene`, all that moves in it, and `ground`, how
    high it is at x, y."""
    views = {}
    columns = [ca.vec(e) for e in system.scene.columns().values()]
    if columns:
        views["scene"] = view_function(system, "scene", ca.vertcat(*columns))
    floor = system.scene.floor
    if floor is not None:
        views["ground"] = view_function(system, "ground", floor.height, ca.vertcat(floor.x, floor.y))
    return views


def describe_module(
    system: System, module: WasmModule, asked: int, more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a module says of itself."""
    begin = start(system)
    layout = (
        [[name, e.numel()] for name, e in system.scene.columns().items()] if "scene" in module.views else []
    )
    return {
        "written_by": f"strut {VERSION}",
        "name": system.name,
        "description": system.description,
        "method": module.method,
        "step": module.step,
        "p": _entries(system.p, begin.p),
        "u": _entries(system.u, begin.u),
        "x": _entries(system.x, begin.x),
        "z": _entries(system.z, begin.z),
        "y": [
            {"name": label, "unit": system.output_units.get(label.split("[")[0], "")}
            for label in system.labels("outputs")
        ],
        "jumps": list(module.jumps),
        "events": {e.name: e.description for e in system.events},
        "statuses": [status.word for status in RunStatus],
        "views": [{"name": name, "size": size} for name, size in module.views.items()],
        "asked": asked,
        "scene": layout,
        **more,
    }


def _entries(quantities: tuple[Quantity, ...], values: Any) -> list[dict[str, Any]]:
    """Name, unit, bounds, text and value of every number of a vector, and that it is internal where it is."""
    labels = [(label, q) for q in quantities for label in q.labels]
    return [
        {
            "name": label,
            "unit": q.unit,
            "low": _bound(q.bounds[0]),
            "high": _bound(q.bounds[1]),
            "text": q.description,
            "value": float(value),
            **({"internal": True} if q.internal else {}),
        }
        for (label, q), value in zip(labels, values, strict=True)
    ]


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) and abs(value) < 1e300 else None


def module_bytes(
    system: System,
    views: Mapping[str, ca.Function] | None = None,
    *,
    method: str | None = None,
    step: float | None = None,
    more: Mapping[str, Any] | None = None,
) -> bytes:
    """Return a system as a module that describes itself. views: see `build_wasm_module`. more: further
    words of its description."""
    functions = dict(views or {})
    module = build_wasm_module(system, functions, method=method, step=step)
    asked = max([f.numel_in(5) for f in functions.values()], default=0)
    text = json.dumps(describe_module(system, module, asked, more or {}), allow_nan=False)
    return wasm_section(module.code, SECTION, text.encode())


def module_script() -> str:
    """Return the script that opens modules, for pages and for Node."""
    return (resources.files("strut.export") / "scripts" / "module.js").read_text(encoding="utf-8")


@checked
def export_wasm(
    system: System, path: str | Path, *, method: str | None = None, step: float | None = None
) -> tuple[Path, dict[str, int]]:
    """Write `NAME.wasm`, a module for WebAssembly, and `NAME.js`, the script that opens it in a page or in
    Node; return where the module is, and how many operations its functions take.

    Its numbers are those of `simulate`. It owns its memory, imports nothing but functions of JavaScript's
    Math, and has parameters, states, outputs and the scene. method, step: as of `simulate`; a network says
    how it wants to be run, `**net.options()`. Raises ModelError for a system with delays, CompileError
    where there is no compiler for WebAssembly.
    """
    target = Path(path).expanduser()
    if target.suffix != ".wasm":
        raise ValueRangeError(f"a module for WebAssembly is written to a file .wasm, not '{target.name}'")
    if step is not None and not (math.isfinite(step) and step > 0):
        raise ValueRangeError(f"the step is {step} s: it must be positive")
    code = module_bytes(system, scene_views(system), method=method, step=step)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror}; choose another place") from error
    put(target, code)
    put(target.with_suffix(".js"), module_script())
    low = lower_system(system)
    operations = {n: operation_count(f) for n, f in low.functions.items() if not low.gives_nothing(n)}
    return target, operations


__all__ = ["describe_module", "export_wasm", "module_bytes", "module_script", "scene_views", "view_function"]
