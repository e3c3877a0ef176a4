"""Ready-made machines. Each is a function that returns a `System`, keyword arguments replacing its default
values; or a `Mechanism`. They are imported when they are first used."""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from strut.import_on_demand import import_on_demand
from strut.mechanism import Mechanism
from strut.system import System

if TYPE_CHECKING:
    from strut.walkers.anthropomorphic import anthropomorphic_attachments, anthropomorphic_exoskeleton
    from strut.walkers.bouncing_ball import bouncing_ball
    from strut.walkers.coman import coman_mechanism
    from strut.walkers.coman_planar import coman_planar, coman_planar_mechanism
    from strut.walkers.coman_robot import coman, coman_motion
    from strut.walkers.dribbel_robot import dribbel_robot
    from strut.walkers.driven import compass_driven
    from strut.walkers.duindam import compass_duindam, dribbel, trunk_3d
    from strut.walkers.exoskeleton import exoskeleton, exoskeleton_attachments
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

Made = TypeVar("Made", System, Mechanism)


class _Makers(Mapping[str, Callable[..., Made]], Generic[Made]):
    """Functions that make machines, by another name; each is imported when it is asked for."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Callable[..., Made]:
        maker: Callable[..., Made] = getattr(sys.modules[__name__], self.names[name])
        return maker

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


CATALOGUE: Mapping[str, Callable[..., System]] = _Makers(
    {
        "bouncing-ball": "bouncing_ball",
        "compass": "compass",
        "compass-driven": "compass_driven",
        "compass-duindam": "compass_duindam",
        "dribbel": "dribbel",
        "kneed": "kneed",
        "pendulum": "pendulum",
        "point-3d": "point_3d",
        "rabbit": "rabbit",
        "rijt": "rijt",
        "rimless-wheel": "rimless_wheel",
        "round-foot": "round_foot",
        "runner": "runner",
        "saurel-a": "saurel_a",
        "saurel-b": "saurel_b",
        "saurel-c": "saurel_c",
        "saurel-d": "saurel_d",
        "saurel-e": "saurel_e",
        "simplest": "simplest",
        "slip": "slip",
        "trunk-3d": "trunk_3d",
        "van-der-pol": "van_der_pol",
    }
)
"""Systems by the name the command line knows them."""

MECHANISMS: Mapping[str, Callable[..., Mechanism]] = _Makers(
    {
        "coman": "coman_mechanism",
        "coman-planar": "coman_planar_mechanism",
        "human": "human_mechanism",
    }
)
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

import_on_demand(
    __name__,
    {
        "bouncing_ball": ("bouncing_ball",),
        "coman": ("coman_mechanism",),
        "coman_planar": ("coman_planar", "coman_planar_mechanism"),
        "driven": ("compass_driven",),
        "duindam": ("compass_duindam", "dribbel", "trunk_3d"),
        "human": ("human", "human_mechanism"),
        "kneed": ("kneed",),
        "pendulum": ("pendulum",),
        "point": ("point_3d",),
        "rabbit": ("rabbit",),
        "rijt": ("HumanoidBody", "rijt", "rijt_mechanism"),
        "rimless_wheel": ("rimless_wheel",),
        "runner": ("runner",),
        "saurel": ("saurel_a", "saurel_b", "saurel_c", "saurel_d", "saurel_e"),
        "simplest": ("simplest",),
        "slip": ("slip",),
        "straight": ("compass", "round_foot"),
        "van_der_pol": ("van_der_pol",),
        "anthropomorphic": ("anthropomorphic_attachments", "anthropomorphic_exoskeleton"),
        "coman_robot": ("coman", "coman_motion"),
        "dribbel_robot": ("dribbel_robot",),
        "exoskeleton": ("exoskeleton", "exoskeleton_attachments"),
    },
)
