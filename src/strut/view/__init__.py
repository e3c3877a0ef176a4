"""Looking at results: figures, pages, films. To be imported it needs nothing; pages want the extra `view`, PNG, SVG and PDF `paper`."""

from strut.simulate.trajectory import SHOWN
from strut.view.animation import animation
from strut.view.design_result import design_result
from strut.view.figure import NEUTRAL, PALETTE, Figure
from strut.view.folder import folder
from strut.view.gait_result import gait_result
from strut.view.gaits import basin, bifurcation, multipliers, pareto, trade_off
from strut.view.joules import energy, energy_areas, energy_flow, energy_per_step, ledger_table, residual
from strut.view.page import page
from strut.view.plots import (
    Panels,
    contact_forces,
    friction_cone,
    held,
    outputs,
    phase_portrait,
    phase_portraits,
    plot,
    poincare,
    sections,
    states,
)
from strut.view.report import Report, Rows
from strut.view.result import Chapter, Result
from strut.view.save import save
from strut.view.svg import stick_figure, still
from strut.view.sweep_result import sweep_result
from strut.view.table_file import table_report

SHOWN.update(animate=animation, plot=plot)  # a run shows itself; the room of runs does not know this one

__all__ = [
    "NEUTRAL",
    "PALETTE",
    "Chapter",
    "Figure",
    "Panels",
    "Report",
    "Result",
    "Rows",
    "animation",
    "basin",
    "bifurcation",
    "contact_forces",
    "design_result",
    "energy",
    "energy_areas",
    "energy_flow",
    "energy_per_step",
    "folder",
    "friction_cone",
    "gait_result",
    "held",
    "ledger_table",
    "multipliers",
    "outputs",
    "page",
    "pareto",
    "phase_portrait",
    "phase_portraits",
    "plot",
    "poincare",
    "residual",
    "save",
    "sections",
    "states",
    "stick_figure",
    "still",
    "sweep_result",
    "table_report",
    "trade_off",
]
