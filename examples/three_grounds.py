"""One box, three grounds: rigid with events, compliant, and hard in fixed steps.

The same mechanism and the same feet are dropped, tilted and sliding, on each. What differs is what you pay
and what you learn.
"""

import strut
from strut import Mechanism, contact, joints

DROP = {"base.z": 0.3, "base.pitch": 0.2, "base.vx": 1.0}
MU = 0.4


def box() -> tuple[Mechanism, list[contact.Touch]]:
    m = Mechanism("box", planar=True)
    body = m.body("box", mass=2.0, inertia=0.013)
    m.joint("base", m.world, body, joints.planar("y"), actuated=False)
    return m, contact.polygon(m, "box", [(-0.1, 0, -0.1), (0.1, 0, -0.1)], name="foot")


# Rigid: feet stop dead and slide or hold; every change is an event, located to rounding.
rigid = contact.rigid(*box(), friction=MU)

# Compliant: a damped spring under each foot, and one along the ground that lets go at the friction limit.
soft = contact.compliant(*box(), law=contact.linear(1e5, 3e3), friction=contact.anchored(1e5, 3e3, MU))

# Stepped: impulses every millisecond and no events, for robots with many contacts.
stepped = contact.time_stepped(*box(), friction=MU, dt=1e-3)


def main() -> dict[str, strut.Trajectory]:
    runs = {
        name: strut.simulate(system, t=1.0, x0=DROP)
        for name, system in (("rigid", rigid), ("soft", soft), ("stepped", stepped))
    }
    for name, run in runs.items():
        books = run.ledger
        before, after = (sum(energy[k] for energy in books.stored.values()) for k in (0, -1))
        print(
            f"{name:8s} at x = {run['base.x'][-1]:.4f} m, feet carry {run['foot_0_normal'][-1]:.3f} and "
            f"{run['foot_1_normal'][-1]:.3f} N;"
        )
        print(
            f"         {len(run.t)} points, {len(run.events)} events; {before - after:.4f} J gone, "
            f"{books.residual:.0e} J unexplained:"
        )
        for where, joules in books.summary().items():
            if where != "residual" and abs(joules) > 1e-3:
                print(f"           {where:28s} {joules:+.4f} J")
    return runs


if __name__ == "__main__":
    main()
