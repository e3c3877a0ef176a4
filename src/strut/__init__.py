"""strut: describe a walking machine once; simulate, analyse, optimise, drive and export it."""

from strut import actuator, contact, gait, linear, mechanism, network, optimal, report, view, walkers
from strut.codegen import CONTROLLER, compiled
from strut.errors import StrutError
from strut.export import export, export_functions, export_matlab
from strut.mechanism import Mechanism, constraints, joints
from strut.simulate import Hold, Moment, Trajectory, simulate, simulate_batch
from strut.system import (
    Delay,
    Discrete,
    Event,
    Foot,
    Input,
    Ledger,
    Param,
    Random,
    Sample,
    State,
    System,
    Walk,
    join,
    prefixed,
    time,  # noqa: F401 strut.time; not in __all__, to leave the module of that name alone
)
from strut.units import deg
from strut.version import VERSION as __version__

__all__ = [
    "CONTROLLER",
    "Delay",
    "Discrete",
    "Event",
    "Foot",
    "Hold",
    "Input",
    "Ledger",
    "Mechanism",
    "Moment",
    "Param",
    "Random",
    "Sample",
    "State",
    "StrutError",
    "System",
    "Trajectory",
    "Walk",
    "__version__",
    "actuator",
    "compiled",
    "constraints",
    "contact",
    "deg",
    "export",
    "export_functions",
    "export_matlab",
    "gait",
    "join",
    "joints",
    "linear",
    "mechanism",
    "network",
    "optimal",
    "prefixed",
    "report",
    "simulate",
    "simulate_batch",
    "view",
    "walkers",
]
