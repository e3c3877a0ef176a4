"""`prebuild_all`: modules that come with a wheel (`make modules`), so that pages of these machines need no
compiler.

A module is found again by what it was made of, and so by the version of CasADi that it was built with; with
another one it is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strut.codegen import build_wasm_module, keep_prebuilt, write_prebuilt_list
from strut.export.wasm import scene_views
from strut.live.page import return_map_of_page
from strut.live.views import gait_views, page_views
from strut.system import System


def prebuild(system: System, *, method: str | None = None, step: float | None = None) -> list[Path]:
    """Build the modules of a machine: for `export`, for its page, and for the gaits on it; return where they
    are. method, step: by which it is integrated on its page, where not by the usual one."""
    modules = [
        build_wasm_module(system, scene_views(system), method=method, step=step),
        build_wasm_module(system, page_views(system), method=method, step=step),
    ]
    step_map = return_map_of_page(system, None)
    if step_map is not None:
        modules.append(build_wasm_module(step_map.varied, gait_views(step_map)))
    return [keep_prebuilt(module) for module in modules]


def prebuild_all(machines: Mapping[str, Any], methods: Mapping[str, Mapping[str, Any]]) -> None:
    """Build the modules of machines, list them for `strut doctor`, and say how large they are, compressed.
    machines: functions that make them, by name. methods: how some are integrated, as of `prebuild`."""
    total, modules = 0.0, {}
    for name, make in machines.items():
        modules[name] = prebuild(make(), **methods.get(name, {}))
        sizes = [path.stat().st_size / 1e3 for path in modules[name]]
        total += sum(sizes)
        print(f"{name}: {' + '.join(f'{size:.0f}' for size in sizes)} kB", flush=True)
    write_prebuilt_list(modules)
    print(f"{len(machines)} machines: {total:.0f} kB", flush=True)
