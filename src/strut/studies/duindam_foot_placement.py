"""Duindam's foot placement in space: fixed footholds, his lateral law, and the line that it follows."""

from __future__ import annotations

import numpy as np

from strut.control import foot_placement, step_feedback
from strut.control.adjust import substitute_symbols
from strut.gait import Gait, find
from strut.simulate import Trajectory, simulate
from strut.studies.study import Row, Study
from strut.system import System, limit_to
from strut.walkers import point_3d

LATERAL_GAIN = 0.3
"""His K_l [s]."""
LINE_GAINS = {"position_gain": 1.0, "velocity_gain": 1.5}
"""His K_p [rad/s/m] and K_d [rad/m]."""
RATE_LIMIT = 0.3
"""[rad/s] His limit of the reference."""
CYCLES = {2.0: 0.09666, 1.5: 0.16433, 1.2: 0.22536}
"""By rate of the pitch after landing [rad/s], the rate of the roll [rad/s] with which a step repeats."""
FIRST_GUESS = {"pitch_rate": 2.0, "roll_rate": CYCLES[2.0]}
"""[rad/s] Rates from which gaits are looked for."""
GAINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Gains of the lateral law [s]."""
FIRST_RATES = {"pitch_rate": 2.0 / np.cos(0.1) ** 2, "roll_rate": 0.1}
"""[rad/s] His first state: momenta 2 and 0.1 N m s of a hip of 1 kg."""
PUSH_TIME, PUSH_SPEED = 2.0, 0.1
"""When [s] and by how much [m/s] the hip is pushed to the right. How much is not published."""
WATCHED_TIME = 20.0
"""[s] How long it walks after the push."""


def loop_with_gain(gain: float) -> System:
    """Return the walker with his lateral law (5.40)."""
    walker = point_3d()
    return foot_placement(walker, "swing_roll", rate=walker["roll_rate"], gain=gain, at="midstance")


def gait_with_gain(gain: float, pitch_rate: float = 2.0) -> Gait:
    """Return the gait of the walker with his lateral law that begins with a rate of the pitch [rad/s]."""
    return find(loop_with_gain(gain), {"pitch_rate": pitch_rate, "roll_rate": CYCLES[pitch_rate]})


def line_at_midstance(**gains: float) -> System:
    """Return the walker that follows the line y = 0, all of its law read when the hip is over the foot."""
    walker = point_3d()
    return foot_placement(
        walker,
        "swing_roll",
        rate=walker["roll_rate"],
        gain=LATERAL_GAIN,
        at="midstance",
        position=walker["hip_sideways"],
        velocity=walker["hip_sideways_rate"],
        rate_limit=RATE_LIMIT,
        **gains,
    )


def line_until_landing() -> System:
    """Return the walker that follows the line y = 0, place and speed read until it lands (5.41, 5.42)."""
    loop = loop_with_gain(LATERAL_GAIN)
    tipping = LINE_GAINS["position_gain"] * loop["hip_sideways"]
    tipping += LINE_GAINS["velocity_gain"] * loop["hip_sideways_rate"]
    reference = limit_to(tipping, RATE_LIMIT)
    nominal = loop["swing_roll"]
    return substitute_symbols(loop, [nominal], [nominal + loop["swing_roll_gain"] * reference])


def run_with_push(loop: System) -> tuple[Trajectory, Trajectory]:
    """Return a run up to the push to the right, and the one after it."""
    before = simulate(loop, t=PUSH_TIME, x0=FIRST_RATES)
    # the hip gets PUSH_SPEED to the right: in the mirror, to the left where the left leg stands
    pushed = before.end["x0"].copy()
    pushed[loop.labels("x").index("roll_rate")] += (
        before["side"][-1] * PUSH_SPEED / np.cos(before["roll"][-1])
    )
    return before, simulate(loop, t=(PUSH_TIME, PUSH_TIME + WATCHED_TIME), x0=pushed, z0=before.end["z0"])


def describe_multipliers(cycle: Gait) -> str:
    """Return the multipliers that are neither 0 nor the 1 of the energy, and their modulus where complex."""
    own = [m for m in cycle.multipliers if abs(m) > 1e-6 and abs(m - 1) > 1e-6]
    texts = [
        f"{m.real:.3f}" if abs(m.imag) < 1e-9 else f"{m.real:.3f}±{m.imag:.3f}i ({abs(m):.3f})"
        for m in own
        if m.imag > -1e-9
    ]
    return ", ".join(texts)


def rows() -> list[Row]:
    """Compare multipliers and pushed walks with what Duindam says of them."""
    nominal = gait_with_gain(0.0)
    fallen = simulate(point_3d(), t=30.0, x0=FIRST_RATES)
    table = [
        Row(
            "step of the cycle with pitch rate 2 rad/s: roll rate [rad/s], time [s], speed [m/s]",
            "0.1, -, -",
            f"{nominal.x0['roll_rate']:.5f}, {nominal.period:.4f}, {nominal.speed:.3f}",
            "he begins with momenta 2 and 0.1 near it; the mass drops out",
        ),
        Row(
            "fixed footholds",
            "falls sideways after a few steps",
            f"{fallen.status} after {len([e for e in fallen.events if e.name == 'landing'])} steps",
            "from his first state: a deviation grows by the multiplier below at every step",
        ),
    ]
    published = {(2.0, 0.0): "one outside the unit circle", (2.0, 0.3): "stable"}
    for rate in CYCLES:
        for gain in GAINS:
            cycle = gait_with_gain(gain, rate)
            remark = "" if all(abs(m) < 1 + 1e-6 for m in cycle.multipliers) else "unstable"
            table.append(
                Row(
                    f"pitch rate {rate:g} rad/s, K_l {gain:g} s: multipliers",
                    published.get((rate, gain), "-"),
                    describe_multipliers(cycle),
                    remark,
                )
            )
    table += _pushed_rows()
    steady = loop_with_gain(LATERAL_GAIN)
    missing = energy_of_gait(nominal) - steady["energy"]
    energy_loop = step_feedback(steady, {"push_off_work": 0.5 * missing}, at="midstance")
    table.append(
        Row(
            "push-off to another energy, half of what is missing in a step: multipliers",
            "possible",
            describe_multipliers(find(energy_loop, FIRST_GUESS)),
            "the 1 of the energy has become 1 - 0.5",
        )
    )
    return table


def _pushed_rows() -> list[Row]:
    """Return what becomes of a walk that is pushed, alone and along a line, and how stable the line is."""
    before, after = run_with_push(loop_with_gain(LATERAL_GAIN))
    table = [
        Row(
            "pushed to the right at 2 s, K_l 0.3: speed before and after [m/s]",
            "recovers, faster",
            f"{_speed(before, 1.0):.3f}, {_speed(after, 5.0):.3f}" + _fate(after),
            f"the push is {PUSH_SPEED:g} m/s; push-off keeps the energy that it gave",
        )
    ]
    for word, loop in (
        ("at midstance", line_at_midstance(**LINE_GAINS)),
        ("until it lands", line_until_landing()),
    ):
        _, after = run_with_push(loop)
        swings = after.at(np.linspace(after.t1 - 5.0, after.t1, 500))["hip_y"]
        table.append(
            Row(
                f"the line y = 0 followed after the push, K_p 1, K_d 1.5, read {word}: y of the hip [m]",
                "returns to 0",
                f"{swings.min():+.3f} to {swings.max():+.3f}" + _fate(after),
                "when they are read is not published: so it is not his law"
                if word == "at midstance"
                else "when they are read is not published: so it comes back",
            )
        )
    for gains in (LINE_GAINS, {"position_gain": 0.3}):
        cycle = find(line_at_midstance(**gains), FIRST_GUESS)
        k_p, k_d = gains["position_gain"], gains.get("velocity_gain", 0.0)
        table.append(
            Row(
                f"the line read at midstance, K_p {k_p:g}, K_d {k_d:g}: multipliers",
                "-",
                describe_multipliers(cycle),
                "a speed that is read there is the rate again, as if K_l were 0.75: his limit "
                "of 0.3 rad/s holds what grows"
                if k_d
                else "stable without K_d",
            )
        )
    return table


def energy_of_gait(cycle: Gait) -> float:
    """Return the energy [J] of a gait."""
    return float(cycle.trajectory["energy"][0])


def _speed(run: Trajectory, span: float) -> float:
    """Return the mean speed along the line over the last seconds [m/s]."""
    times = np.array([run.t1 - span, run.t1])
    x = run.at(times)["hip_x"]
    return float((x[1] - x[0]) / span)


def _fate(run: Trajectory) -> str:
    """Return what ended a run early, if something did."""
    return "" if run.status == "done" else f" ({run.status})"


STUDY = Study(
    "duindam-foot-placement",
    "Port-based modeling and control for efficient bipedal walking robots, section 5.4",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
