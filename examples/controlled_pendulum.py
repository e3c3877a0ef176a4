"""A discrete controller: a pendulum swung up by a motor whose controller runs at 100 Hz in Python."""

import math

import strut
from strut import Hold, walkers


def swing_up(now: strut.Moment) -> dict[str, float]:
    """Pump energy until there is enough to stand, then catch it. Returns the torque [N m], held for 10 ms."""
    angle, rate = now["angle"], now["rate"]
    missing = (
        now["mass"] * now["g"] * now["length"] * (1 + math.cos(angle))
        - now["mass"] * (now["length"] * rate) ** 2 / 2
    )
    from_top = math.remainder(angle - math.pi, 2 * math.pi)
    if abs(from_top) < 0.4 and abs(rate) < 3:
        return {"torque": -40 * from_top - 12 * rate}
    return {"torque": math.copysign(min(2.0, abs(missing)), missing * rate)}


def main() -> strut.Trajectory:
    pendulum = walkers.pendulum(angle=0.1)
    run = strut.simulate(pendulum, t=20, control=Hold(swing_up, every=0.01))
    print(run)
    print(f"after 20 s: {math.remainder(run['angle'][-1] - math.pi, 2 * math.pi):+.2e} rad from the top")
    print(
        f"the motor did {run.ledger.supplied['motor'][-1]:.3f} J of work; the books are open by "
        f"{run.ledger.residual:.1e} J"
    )
    return run


if __name__ == "__main__":
    main()
