"""Optional dependencies: imported when they are used, and asked for by the extra that installs them."""

from __future__ import annotations

import importlib
from typing import Any

from strut.errors import MissingExtraError

EXTRAS = {
    "scipy": ("SciPy", "stiff"),
    "pandas": ("pandas", "data"),
    "plotly": ("plotly", "view"),
    "PIL": ("Pillow", "view"),
    "trimesh": ("trimesh", "view"),
    "matplotlib": ("matplotlib", "paper"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "film"),
    "mujoco": ("mujoco", "bench"),
    "cmaes": ("cmaes", "evolve"),
    "sympy": ("SymPy", "equations"),
    "qpsolvers": ("qpsolvers", "qp"),
    "proxsuite": ("proxsuite", "qp"),
    "pyarrow": ("pyarrow", "data"),
    "ray": ("ray", "ray"),
    "starlette": ("starlette", "studio"),
    "uvicorn": ("uvicorn", "studio"),
    "ziglang": ("ziglang", "compiler"),
}
"""By the package as Python imports it: its name for people and for pip, and the extra of strut that installs
it."""


def optional_module(module: str, purpose: str) -> Any:
    """Import a module of an optional dependency, such as 'scipy.optimize'.

    purpose: what it is needed for, the first words of the error where it is missing: "method 'radau'".
    Raises `MissingExtraError`, which says how to install it.
    """
    top = module.partition(".")[0]
    package, extra = EXTRAS[top]
    try:
        importlib.import_module(top)
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(package, purpose, extra) from error
