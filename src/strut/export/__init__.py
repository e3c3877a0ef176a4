"""Handing over: systems and functions as C for any machine and as MATLAB."""

from strut.export.c import Export, export
from strut.export.controller import export_controller
from strut.export.functions import export_functions
from strut.export.matlab_system import export_matlab

__all__ = ["Export", "export", "export_controller", "export_functions", "export_matlab"]
