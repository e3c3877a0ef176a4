"""strut: describe a walking machine once; simulate, analyse, optimise, drive and export it."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from strut.version import VERSION as __version__

if TYPE_CHECKING:
    from strut import (
        actuator,
        contact,
        control,
        evolve,
        gait,
        linear,
        linkage,
        live,
        mechanism,
        network,
        optimal,
        ports,
        report,
        view,
        walkers,
    )
    from strut.codegen import CONTROLLER, compile_system
    from strut.errors import StrutError
    from strut.export import (
        equations,
        export,
        export_controller,
        export_functions,
        export_matlab,
        export_wasm,
    )
    from strut.mechanism import Mechanism, constraints, joints
    from strut.simulate import (
        Hold,
        Moment,
        Schedule,
        Trajectory,
        push,
        simulate,
        simulate_batch,
        summarise_batch,
    )
    from strut.system import (
        Delay,
        Discrete,
        Disturbance,
        Event,
        Foot,
        Input,
        Ledger,
        Param,
        Random,
        Sample,
        State,
        Switch,
        System,
        Walk,
        add_prefix,
        alternate,
        join,
        time,  # noqa: F401 strut.time; not in __all__, to leave the module of that name alone
    )
    from strut.units import deg

_ROOMS = (
    "actuator",
    "contact",
    "control",
    "evolve",
    "gait",
    "linear",
    "linkage",
    "live",
    "mechanism",
    "network",
    "optimal",
    "ports",
    "report",
    "view",
    "walkers",
)
"""Packages that are names of `strut`: imported when first asked for, so that `import strut` costs nothing."""

_HOMES = {
    "strut.codegen": ("CONTROLLER", "compile_system"),
    "strut.errors": ("StrutError",),
    "strut.export": (
        *("equations", "export", "export_controller", "export_functions", "export_matlab"),
        "export_wasm",
    ),
    "strut.mechanism": ("Mechanism", "constraints", "joints"),
    "strut.simulate": (
        "Hold",
        "Moment",
        "Schedule",
        "Trajectory",
        "push",
        "simulate",
        "simulate_batch",
        "summarise_batch",
    ),
    "strut.system": (
        *(
            "Delay",
            "Discrete",
            "Disturbance",
            "Event",
            "Foot",
            "Input",
            "Ledger",
            "Param",
            "Random",
            "Sample",
            "State",
            "Switch",
            "System",
        ),
        *("Walk", "alternate", "join", "add_prefix", "time"),
    ),
    "strut.units": ("deg",),
}
"""By module, the names of `strut` that it holds."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Lazy(ModuleType):
    """The module `strut` itself: it imports what a name stands for when the name is first used.

    `strut.simulate` and `strut.export` are functions although packages have these names too; importing such a
    package would set the attribute to it, so that is refused.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"strut.{name}")  # which sets the attribute
        if name not in _HOME_OF:
            raise AttributeError(f"module 'strut' has no attribute '{name}'", name=name, obj=self)
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name in _HOME_OF and isinstance(value, ModuleType) and value.__name__ == f"strut.{name}":
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_ROOMS, *_HOME_OF})


sys.modules[__name__].__class__ = _Lazy

__all__ = [
    "CONTROLLER",
    "Delay",
    "Discrete",
    "Disturbance",
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
    "Schedule",
    "State",
    "StrutError",
    "Switch",
    "System",
    "Trajectory",
    "Walk",
    "__version__",
    "actuator",
    "add_prefix",
    "alternate",
    "compile_system",
    "constraints",
    "contact",
    "control",
    "deg",
    "equations",
    "evolve",
    "export",
    "export_controller",
    "export_functions",
    "export_matlab",
    "export_wasm",
    "gait",
    "join",
    "joints",
    "linear",
    "linkage",
    "live",
    "mechanism",
    "network",
    "optimal",
    "ports",
    "push",
    "report",
    "simulate",
    "simulate_batch",
    "summarise_batch",
    "view",
    "walkers",
]
