"""`prebuild_all`: modules that come with a wheel (`make modules`), so that pages of these machines need no
compiler.

A module is found again by what it was made of, and so by the version of CasADi that it was built with; with
another one it is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from strut.codegen import build_wasm_module, keep_prebuilt
from strut.export.wasm import scene_views
from strut.live.page import return_map_of_page
from strut.live.views import gait_views, page_views
from strut.system import System


def prebuild(system: System) -> list[Path]:
    """Build the modules of a machine: for `export`, for its page, and for the gaits on it; return where they
    are."""
    modules = [build_wasm_module(system, scene_views(system)), build_wasm_module(system, page_views(system))]
    step = return_map_of_page(system, None)
    if step is not None:
        modules.append(build_wasm_module(step.varied, gait_views(step)))
    return [keep_prebuilt(module) for module in modules]


def prebuild_all(machines: Iterable[System]) -> None:
    """Build the modules of machines, and say how large they are."""
    for system in machines:
        sizes = [path.stat().st_size / 1e3 for path in prebuild(system)]
        print(f"{system.name}: {' + '.join(f'{size:.0f}' for size in sizes)} kB", flush=True)
