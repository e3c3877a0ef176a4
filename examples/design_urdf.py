"""A walker of your own: two legs from a URDF, made to walk on level ground by a motor and a spring that are
found at once.

Run it with `python examples/design_urdf.py`; it prints what it finds. `design_walker` is all there is to it.
"""

from __future__ import annotations

from pathlib import Path

from strut import Param, contact, mechanism, optimal, report
from strut.optimal import Design
from strut.system import System

URDF = Path(__file__).parent / "compass.urdf"


def walker() -> System:
    robot = mechanism.urdf.load(URDF, symbolic_masses=True, actuated=())
    robot.planar = True
    robot.frame("stance_foot", robot.bodies["stance_leg"])
    robot.frame("swing_foot", robot.bodies["swing_leg"], (0, 0, -0.8))
    hip = contact.Between(
        "hip", {"swing": 1, "stance": -1}, spring=Param("hip_spring", 0.0, "N m/rad", bounds=(0, 200))
    )
    swap = {"stance": "swing", "swing": "stance"}
    legs = contact.Legs(
        ("foot_x", "foot_z"), "stance_foot", "swing_foot", swap, "hip", fall=0.6, drives=[hip], margin=0.02
    )
    return contact.stepping(robot, legs, contact.plane(Param("slope", 0.05, "rad", bounds=(-0.2, 0.2))))


def design_walker(speed: float = 0.5) -> Design:
    """hip_spring and the mass at the hip, with the torque of the hip: level ground, least squared torque."""
    free = {"hip_spring": (0.0, 200.0), "hip_mass": (5.0, 20.0)}
    return optimal.design(walker(), free=free, cost="squared-torque", speed=speed, slope=0.0)


def main(directory: str | Path | None = None) -> Design:
    design = design_walker()
    print(design.table())
    if directory is not None:
        print(report.design_result(design).folder(directory).directory / "index.html")
    return design


if __name__ == "__main__":
    main("two_legs")
