"""strut: describe a walking machine once; simulate, analyse, optimise, drive and export it."""

__version__ = "0.1.0"

from strut import view, walkers
from strut.errors import StrutError
from strut.export import export
from strut.simulate import Hold, Trajectory, simulate, simulate_batch
from strut.system import (
    CONTROLLER,
    Delay,
    Discrete,
    Event,
    Input,
    Ledger,
    Param,
    Random,
    Sample,
    State,
    System,
    compiled,
    join,
    prefixed,
    time,
)
from strut.units import deg

__all__ = ["CONTROLLER", "Delay", "Discrete", "Event", "Hold", "Input", "Ledger", "Param", "Random", "Sample", "State", "StrutError",
           "System", "Trajectory", "compiled", "deg", "export", "join", "prefixed", "simulate", "simulate_batch", "time", "view", "walkers"]
