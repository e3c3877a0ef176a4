"""Gaits: limit cycles of walkers, their stability, how they change with parameters, and where their energy
goes."""

from typing import TYPE_CHECKING

from strut.errors import NoGaitError
from strut.gait.branch import Bifurcation, Branch
from strut.gait.follow import doubled_branch, follow
from strut.import_on_demand import import_on_demand

Bifurcation.doubled = doubled_branch  # following reads branches, so a branch cannot read it

if TYPE_CHECKING:
    from strut.gait.basin import Basin, basin
    from strut.gait.bifurcation_map import BifurcationMap, bifurcation_map
    from strut.gait.energetics import Energetics, ImpactLoss, froude, impact_loss
    from strut.gait.find import find, find_all
    from strut.gait.flow_jumps import locate_jumps
    from strut.gait.gait import Gait
    from strut.gait.gaits_at import GaitAtValue, gaits_at
    from strut.gait.load import load
    from strut.gait.metabolic import muscle_metabolic_power, work_metabolic_power
    from strut.gait.return_map import ReturnMap
    from strut.gait.robust import Survived, decay, push, sensitivity_norm, step_down, step_up, wrong_parameter
    from strut.gait.rough_ground import RoughWalk, walk_over
    from strut.gait.search_log import BudgetWarning, GaitSearchInterrupted
    from strut.gait.transport import COST_MEANINGS, distance, weight, weight_of

__all__ = [
    "COST_MEANINGS",
    "Basin",
    "Bifurcation",
    "BifurcationMap",
    "Branch",
    "BudgetWarning",
    "Energetics",
    "Gait",
    "GaitAtValue",
    "GaitSearchInterrupted",
    "ImpactLoss",
    "NoGaitError",
    "ReturnMap",
    "RoughWalk",
    "Survived",
    "basin",
    "bifurcation_map",
    "decay",
    "distance",
    "find",
    "find_all",
    "follow",
    "froude",
    "gaits_at",
    "impact_loss",
    "load",
    "locate_jumps",
    "muscle_metabolic_power",
    "push",
    "sensitivity_norm",
    "step_down",
    "step_up",
    "walk_over",
    "weight",
    "weight_of",
    "work_metabolic_power",
    "wrong_parameter",
]

import_on_demand(
    __name__,
    {
        "basin": ("Basin", "basin"),
        "bifurcation_map": ("BifurcationMap", "bifurcation_map"),
        "energetics": ("Energetics", "ImpactLoss", "froude", "impact_loss"),
        "find": ("find", "find_all"),
        "flow_jumps": ("locate_jumps",),
        "gait": ("Gait",),
        "gaits_at": ("GaitAtValue", "gaits_at"),
        "load": ("load",),
        "metabolic": ("muscle_metabolic_power", "work_metabolic_power"),
        "return_map": ("ReturnMap",),
        "robust": (
            "Survived",
            "decay",
            "push",
            "sensitivity_norm",
            "step_down",
            "step_up",
            "wrong_parameter",
        ),
        "rough_ground": ("RoughWalk", "walk_over"),
        "search_log": ("BudgetWarning", "GaitSearchInterrupted"),
        "transport": ("COST_MEANINGS", "distance", "weight", "weight_of"),
    },
)
