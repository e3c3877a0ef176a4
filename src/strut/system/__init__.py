"""The waist: hybrid systems over named vectors, and their compilation."""

from strut.system.compile import compiled
from strut.system.compose import join, prefixed
from strut.system.event import Event, Sample
from strut.system.ledger import Ledger
from strut.system.native import CONTROLLER
from strut.system.quantity import Delay, Discrete, Input, Param, Quantity, Random, State, time
from strut.system.system import System

__all__ = [
    "CONTROLLER",
    "Delay",
    "Discrete",
    "Event",
    "Input",
    "Ledger",
    "Param",
    "Quantity",
    "Random",
    "Sample",
    "State",
    "System",
    "compiled",
    "join",
    "prefixed",
    "time",
]
