"""Gaits: limit cycles of walkers, their stability, how they change with parameters, and where their energy goes."""

from strut.errors import NoGaitError
from strut.gait.energetics import Energetics, ImpactLoss, froude, impact_loss, weight_of
from strut.gait.find import find, find_all
from strut.gait.gait import Gait
from strut.gait.map import ReturnMap

__all__ = ["Energetics", "Gait", "ImpactLoss", "NoGaitError", "ReturnMap", "find", "find_all", "froude", "impact_loss", "weight_of"]
