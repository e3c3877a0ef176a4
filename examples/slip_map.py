"""Which legs run? Kieboom's map of the spring-mass runner: 10,000 simulations over stiffness and angle of
attack.

The thesis needed 278 s interpreted and 6 s compiled; here it is a fraction of a second.
"""

import time

import numpy as np

import strut
from strut import walkers


def slip_map(side: int = 100) -> np.ndarray:
    """Steps until the runner falls, at most 24; rows are angles from 40 to 80 degrees, columns 0 to 50
    kN/m."""
    stiffness, attack = np.meshgrid(np.linspace(0, 50e3, side), np.radians(np.linspace(40, 80, side)))
    runs = strut.simulate_batch(
        walkers.slip(),
        t=100,
        p={"stiffness": stiffness.ravel(), "attack": attack.ravel()},
        method="dopri5",
        rtol=1e-6,
        atol=1e-8,
    )
    return runs["steps"].reshape(side, side)


def main() -> np.ndarray:
    slip_map(side=2)  # compiles, once and for all
    began = time.perf_counter()
    steps = slip_map()
    print(
        f"10,000 runs in {time.perf_counter() - began:.2f} s; {int((steps >= 24).sum())} of them reach 24 "
        f"steps\n"
    )
    for row in steps[::-4]:
        print("".join(" .:-=+*#%@"[min(9, int(n) * 9 // 24)] for n in row[::2]))
    print(
        "\nleft to right: stiffness 0 to 50 kN/m; bottom to top: angle of attack 40 to 80 degrees; @ runs on"
    )
    return steps


if __name__ == "__main__":
    main()
