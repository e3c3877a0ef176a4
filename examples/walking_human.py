"""A human that walks by springs and dampers along a phase, and a job in which you change its goals.

strut evolve examples/human_job.toml --run-code -o slow.db            a gait for other goals, from this one
strut evolve examples/human_muscles_job.toml --run-code -o least.db   one that costs muscles little
python examples/walking_human.py                                      this one
"""

from strut import System, Trajectory, control, evolve, simulate, walkers

JOINTS = {  # what is driven alike, the left half a period later, and the range of its reference [rad]
    "hip": control.PhaseJoint(["hip_r", "hip_l"], (-0.8, 0.8)),
    "knee": control.PhaseJoint(["knee_r", "knee_l"], (-0.1, 1.5)),
    "ankle": control.PhaseJoint(["ankle_r", "ankle_l"], (-0.6, 0.6)),
}
POINTS = ("heel", "arch", "mid", "ball", "tip")
GAIT = {  # that a search found: shares of the cycle, angles [rad], stiffness [N m/rad], damping [N m s/rad]
    "hip": ((0.318, 0.741, 0.948, 0.843, 0.920), (0.630, 0.205, -0.121, -0.294), 4546.0, 24.6),
    "knee": ((0.365, 0.814, 0.468, 0.781, 0.104), (0.147, -0.077, 0.010, 1.204), 1260.0, 59.1),
    "ankle": ((0.248, 0.642, 0.452, 0.101, 0.771), (-0.198, 0.113, -0.352, -0.032), 3073.0, 26.7),
}
MAX_MUSCLE_RATE = 20.0
"""[rad/s] Of a joint whose muscle shortens without a load."""


def walking_human() -> System:
    """Return the human with its controller, its outputs those that measures of a walk integrate. Contact is
    inside the flow, for fixed steps and populations; height, mass, load [kg] and g [m/s^2] are parameters."""
    body = walkers.human(events=False)
    walker = control.phase_impedance(body, JOINTS, "const", frequency=0.9)
    for joint, (shares, angles, stiffness, damping) in GAIT.items():
        values = {f"{joint}_stiffness": stiffness, f"{joint}_damping": damping}
        values |= {f"{joint}_reference_share_{k}": share for k, share in enumerate(shares)}
        values |= {f"{joint}_reference_{k + 1}": angle for k, angle in enumerate(angles)}
        walker = walker.using(values)
    return evolve.walk_measures(
        walker,
        10.0,
        feet={side: [f"{point}_{side}" for point in POINTS] for side in "rl"},
        torques=[f"{joint}_{side}_torque" for joint in JOINTS for side in "rl"],
        assisting="assisting",
        muscle_rates={f"{joint}_{side}_torque": f"{joint}_{side}_rate" for joint in JOINTS for side in "rl"},
        max_muscle_rate=MAX_MUSCLE_RATE,
    ).system


def main() -> Trajectory:
    """Let it walk for ten seconds, and return the run."""
    run = simulate(walking_human(), 10.0, method="rk4", step=1.5e-4, ledger=False)
    distance = float(run.at(10.0)["x"] - run.at(5.0)["x"])
    print(f"from the fifth second to the tenth it walks {distance:.2f} m")
    return run


if __name__ == "__main__":
    main()
