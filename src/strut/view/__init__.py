"""Looking at results: figures, pages, films. To be imported it needs nothing; pages want the extra `view`,
PNG, SVG and PDF `paper`."""

from strut.simulate.trajectory import VERBS
from strut.view.figures.contact_plots import contact_forces, friction_cone
from strut.view.figures.energy_plots import (
    energy,
    energy_areas,
    energy_flow,
    energy_per_step,
    ledger_table,
    residual,
)
from strut.view.figures.figure import BACKENDS, NEUTRAL, PALETTE, Figure
from strut.view.figures.gait_plots import basin, bifurcation, multipliers, pareto, trade_off
from strut.view.figures.matplotlib_backend import matplotlib_figure, svg
from strut.view.figures.plotly_backend import mime, plotly_figure
from strut.view.figures.plots import (
    Panels,
    held_signals,
    internal_signals,
    outputs,
    phase_portrait,
    phase_portraits,
    plot,
    plot_samples,
    poincare,
    sections,
    states,
)
from strut.view.figures.save import save
from strut.view.figures.stride_plots import (
    convergence,
    drive_power,
    stride_angles,
    stride_portraits,
    work_loops,
)
from strut.view.motion.animation import animation
from strut.view.motion.svg import stick_figure, still
from strut.view.pages.comparison import comparison
from strut.view.pages.folder import folder
from strut.view.pages.page import page
from strut.view.pages.report import Report, Rows
from strut.view.pages.result import STORAGE, Chapter, Result
from strut.view.pages.result_file import load as load_result
from strut.view.pages.result_file import save as save_result
from strut.view.pages.table_file import table_report

VERBS.update(
    animate=animation, plot=plot, plot_samples=plot_samples
)  # a run shows itself; the room of runs does not know this one
BACKENDS.update(plotly=plotly_figure, matplotlib=matplotlib_figure, save=save, mime=mime, svg=svg)
STORAGE.update(save=save_result, load=load_result)  # methods of figures and results, which are plain data

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
    "comparison",
    "contact_forces",
    "convergence",
    "drive_power",
    "energy",
    "energy_areas",
    "energy_flow",
    "energy_per_step",
    "folder",
    "friction_cone",
    "held_signals",
    "internal_signals",
    "ledger_table",
    "multipliers",
    "outputs",
    "page",
    "pareto",
    "phase_portrait",
    "phase_portraits",
    "plot",
    "plot_samples",
    "poincare",
    "residual",
    "save",
    "sections",
    "states",
    "stick_figure",
    "still",
    "stride_angles",
    "stride_portraits",
    "table_report",
    "trade_off",
    "work_loops",
]
