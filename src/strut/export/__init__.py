"""Handing over: systems and functions as C for any machine, as MATLAB and as WebAssembly, and as equations
for people."""

from strut.export.c import Export, export
from strut.export.controller import export_controller
from strut.export.functions import export_functions
from strut.export.matlab_system import export_matlab
from strut.export.reading.equations import Equations, equations
from strut.export.wasm import export_wasm

__all__ = [
    "Equations",
    "Export",
    "equations",
    "export",
    "export_controller",
    "export_functions",
    "export_matlab",
    "export_wasm",
]
