"""A random tree with a motor, a spring, stiction, a servo and a sensor at every joint."""

from dataclasses import replace

import numpy as np

from strut import Mechanism, actuator, control, joints, mechanism
from strut.mechanism import sensors

JOINTS = 5


def driven_tree(every=0.01):
    """Five links of random shape, each hung on a random one before it; servos that sample [s]."""
    rng = np.random.default_rng(17)
    m = Mechanism("driven_tree")
    bodies = [m.world]
    for k in range(JOINTS):
        cloud = rng.standard_normal((3, 5))
        spread = 0.01 * cloud @ cloud.T
        inertia = np.trace(spread) * np.eye(3) - spread
        body = m.body(f"link{k}", rng.uniform(0.5, 2), 0.1 * rng.standard_normal(3), inertia)
        axis = rng.standard_normal(3)
        parent = bodies[int(rng.integers(len(bodies)))]
        m.joint(f"j{k}", parent, body, joints.revolute(tuple(axis / np.linalg.norm(axis))),
                at=tuple(0.2 * rng.standard_normal(3)), initial=rng.uniform(-1, 1))  # fmt: skip
        bodies.append(body)
    m.frame("tip", bodies[-1], (0.1, 0.2, 0.3))
    motor = replace(actuator.MOTORS["rbe1211-csd17"], coulomb=0.02, stiction=0.03)
    driven = actuator.dc_motors(
        mechanism.system(m), motor, spring=300.0, spring_damping=2.0, link_damping=4.0, current="state"
    )
    references = {f"j{k}": control.sine(0.3, 0.5, phase=k) for k in range(JOINTS)}
    served = control.servo(driven, references, kp=30, kd=2, ki=5, limit=20, every=every)
    watched = [sensors.Imu("tip"), sensors.Anchor("tip"), sensors.Encoder("j1", 1e-3)]
    return mechanism.sense(served, m, watched)
