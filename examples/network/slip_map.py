"""Which legs run? The map of the spring-mass runner over stiffness and angle of attack, from 15_slip.cdn.

A plain number in the file is a parameter of the system: the network is read and compiled once, and run 10,000
    times.
"""

from pathlib import Path

import numpy as np

import strut
from strut import network

FILE = Path(__file__).with_name("15_slip.cdn")


def slip_map(stiffness: np.ndarray, attack: np.ndarray) -> np.ndarray:
    """Steps until the runner falls, at most 24, for stiffnesses [N/m] and angles of attack from the ground
    [degrees]."""
    net = network.load(FILE)
    k, angle = np.meshgrid(stiffness, attack)
    system = net.system(outputs=())
    p = {"slip.k": k.ravel(), "slip.aoa": np.radians(90 - angle.ravel())}
    runs = strut.simulate_batch(system, t=30, p=p, **net.options())
    return runs["slip.steps"].reshape(k.shape)


def main() -> np.ndarray:
    steps = slip_map(np.linspace(0, 50e3, 100), np.linspace(40, 80, 100))
    print(
        f"{int((steps >= 24).sum())} of {steps.size} reach 24 steps, as many as of walkers.slip "
        f"(examples/slip_map.py draws them)"
    )
    return steps


if __name__ == "__main__":
    main()
