"""Ready-made machines. Each is a function that returns a `System`, keyword arguments replacing its default
values; or a `Mechanism`. Those with servos or linkages are imported when they are first used."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from strut.mechanism import Mechanism
from strut.system import System
from strut.walkers.bouncing_ball import bouncing_ball
from strut.walkers.coman import coman_mechanism
from strut.walkers.coman_planar import coman_planar, coman_planar_mechanism
from strut.walkers.driven import compass_driven
from strut.walkers.duindam import compass_duindam, dribbel, trunk_3d
from strut.walkers.human import human, human_mechanism
from strut.walkers.kneed import kneed
from strut.walkers.pendulum import pendulum
from strut.walkers.point import point_3d
from strut.walkers.rabbit import rabbit
from strut.walkers.rijt import HumanoidBody, rijt, rijt_mechanism
from strut.walkers.rimless_wheel import rimless_wheel
from strut.walkers.runner import runner
from strut.walkers.saurel import saurel_a, saurel_b, saurel_c, saurel_d, saurel_e
from strut.walkers.simplest import simplest
from strut.walkers.slip import slip
from strut.walkers.straight import compass, round_foot
from strut.walkers.van_der_pol import van_der_pol

if TYPE_CHECKING:
    from strut.walkers.anthropomorphic import anthropomorphic_attachments, anthropomorphic_exoskeleton
    from strut.walkers.coman_robot import coman, coman_motion
    from strut.walkers.dribbel_robot import dribbel_robot
    from strut.walkers.exoskeleton import exoskeleton, exoskeleton_attachments

_HOMES = {
    "anthropomorphic_attachments": "anthropomorphic",
    "anthropomorphic_exoskeleton": "anthropomorphic",
    "coman": "coman_robot",
    "coman_motion": "coman_robot",
    "dribbel_robot": "dribbel_robot",
    "exoskeleton": "exoskeleton",
    "exoskeleton_attachments": "exoskeleton",
}
"""Names that are imported when they are first used, and the module that holds each: they need `control` or
`linkage`, which others do not."""


class _LazyWalkers(ModuleType):
    """This package itself. `coman` and others are functions although modules have these names too; importing
    such a module would set the attribute to it, so that is refused."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name, obj=self)
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_HOMES})


class _Makers(Mapping[str, Callable[..., System]]):
    """Functions that make systems, by another name; each is imported when it is asked for."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Callable[..., System]:
        maker: Callable[..., System] = getattr(sys.modules[__name__], self.names[name])
        return maker

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


CATALOGUE: dict[str, Callable[..., System]] = {
    "bouncing-ball": bouncing_ball,
    "compass": compass,
    "compass-driven": compass_driven,
    "compass-duindam": compass_duindam,
    "dribbel": dribbel,
    "kneed": kneed,
    "pendulum": pendulum,
    "point-3d": point_3d,
    "rabbit": rabbit,
    "rijt": rijt,
    "rimless-wheel": rimless_wheel,
    "round-foot": round_foot,
    "runner": runner,
    "saurel-a": saurel_a,
    "saurel-b": saurel_b,
    "saurel-c": saurel_c,
    "saurel-d": saurel_d,
    "saurel-e": saurel_e,
    "simplest": simplest,
    "slip": slip,
    "trunk-3d": trunk_3d,
    "van-der-pol": van_der_pol,
}
"""Systems by the name the command line knows them."""

MECHANISMS: dict[str, Callable[..., Mechanism]] = {
    "coman": coman_mechanism,
    "coman-planar": coman_planar_mechanism,
    "human": human_mechanism,
}
"""Mechanisms by the name the command line knows them."""

ROBOTS: Mapping[str, Callable[..., System]] = _Makers(
    {"coman": "coman", "coman-planar": "coman_planar", "human": "human"}
)
"""Mechanisms with their drives, servos and ground, by the name of the mechanism: what runs on the command
line. Their dynamics alone are those of the mechanism."""

__all__ = [
    "CATALOGUE",
    "MECHANISMS",
    "ROBOTS",
    "HumanoidBody",
    "anthropomorphic_attachments",
    "anthropomorphic_exoskeleton",
    "bouncing_ball",
    "coman",
    "coman_mechanism",
    "coman_motion",
    "coman_planar",
    "coman_planar_mechanism",
    "compass",
    "compass_driven",
    "compass_duindam",
    "dribbel",
    "dribbel_robot",
    "exoskeleton",
    "exoskeleton_attachments",
    "human",
    "human_mechanism",
    "kneed",
    "pendulum",
    "point_3d",
    "rabbit",
    "rijt",
    "rijt_mechanism",
    "rimless_wheel",
    "round_foot",
    "runner",
    "saurel_a",
    "saurel_b",
    "saurel_c",
    "saurel_d",
    "saurel_e",
    "simplest",
    "slip",
    "trunk_3d",
    "van_der_pol",
]

globals().pop("coman", None)  # the module of COMAN's bodies, which has the name of the function
sys.modules[__name__].__class__ = _LazyWalkers
