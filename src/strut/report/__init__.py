"""Gaits, designs and trade-offs as `view.Result`s, of which pages, folders and files are made."""

from typing import TYPE_CHECKING

from strut.import_on_demand import import_on_demand

if TYPE_CHECKING:
    from strut.report.controlled import controlled_result
    from strut.report.design import design_result
    from strut.report.designs import designs_result
    from strut.report.evolution import evolution_result
    from strut.report.front import front_figures
    from strut.report.gait import gait_result
    from strut.report.graph import graph_report, power_samples
    from strut.report.held import held_result, recovery_figure
    from strut.report.held_sweep import held_sweep_result
    from strut.report.live import follow_job
    from strut.report.pareto import MeritTable, load_merits, pareto_result
    from strut.report.runs import runs_result
    from strut.report.search_comparison import comparison_figure
    from strut.report.stepping import stepping_histories, stepping_strip
    from strut.report.sweep import sweep_result, sweeps_figure

__all__ = [
    "MeritTable",
    "comparison_figure",
    "controlled_result",
    "design_result",
    "designs_result",
    "evolution_result",
    "follow_job",
    "front_figures",
    "gait_result",
    "graph_report",
    "held_result",
    "held_sweep_result",
    "load_merits",
    "pareto_result",
    "power_samples",
    "recovery_figure",
    "runs_result",
    "stepping_histories",
    "stepping_strip",
    "sweep_result",
    "sweeps_figure",
]

import_on_demand(
    __name__,
    {
        "controlled": ("controlled_result",),
        "design": ("design_result",),
        "designs": ("designs_result",),
        "evolution": ("evolution_result",),
        "front": ("front_figures",),
        "gait": ("gait_result",),
        "graph": ("graph_report", "power_samples"),
        "held": ("held_result", "recovery_figure"),
        "held_sweep": ("held_sweep_result",),
        "live": ("follow_job",),
        "pareto": ("MeritTable", "load_merits", "pareto_result"),
        "runs": ("runs_result",),
        "search_comparison": ("comparison_figure",),
        "stepping": ("stepping_histories", "stepping_strip"),
        "sweep": ("sweep_result", "sweeps_figure"),
    },
)
