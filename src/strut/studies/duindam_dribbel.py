"""Duindam's Dribbel on level ground: a hip motor, a PD law in current, and what its constants do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strut.errors import ModelError
from strut.gait import find
from strut.simulate import Trajectory, simulate
from strut.studies.study import Row, Study
from strut.walkers import dribbel_robot

WEIGHT = 9.2 * 9.81
"""[N] Weight of the whole machine."""
AVERAGED_TIME = 5.0
"""[s] End of a run over which he averages."""
SWEPT_TIME = 10.0
"""[s] For which it must walk in a sweep, as he asks."""
LONG_TIME = 60.0
"""[s] For which the chosen controller must walk."""
SWEEPS = {
    "hip_set": (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5),
    "hip_kp": (2.0, 6.0, 10.0, 14.0, 18.0),
    "hip_kd": (0.0, 0.125, 0.25, 0.375, 0.5),
}
"""What is changed around his choice: [rad, A/rad, A s/rad]."""
MEASURED_STRIDES = (6, 21)
"""Numbers of strides between which a run comes to its gait as its slowest deviation does, above the errors of
integration."""
CHOSEN = {"hip_set": 0.3, "hip_kp": 10.0, "hip_kd": 0.0}
"""What he chose: [rad, A/rad, A s/rad]."""
ACCURACY = 1e-7
"""[1] Relative accuracy of runs."""


@dataclass(frozen=True)
class WalkAverages:
    """Averages of a walk: speed [m/s], mechanical and electrical power of the motor [W], the largest current
    [A], the largest height of a foot [m] and the largest bend of each knee [rad]."""

    speed: float
    mechanical: float
    electrical: float
    current: float
    clearance: float
    bends: tuple[float, float]

    @property
    def transport(self) -> float:
        """His cost of transport (5.30), of mechanical power."""
        return self.mechanical / (WEIGHT * self.speed)

    @property
    def electrical_transport(self) -> float:
        """The same of electrical power."""
        return self.electrical / (WEIGHT * self.speed)


def _whole_strides(run: Trajectory) -> tuple[float, float]:
    """Return the first and the last instant [s], among the last seconds of a run, in which the right knee is
    latched: over parts of a stride averages would depend on when a run ends, by a tenth. All of these seconds
    where it is latched less than twice."""
    earliest = run.t1 - AVERAGED_TIME
    latchings = [e.t for e in run.events if e.name == "knee_r_latch" and e.t >= earliest]
    return (latchings[0], latchings[-1]) if len(latchings) > 1 else (earliest, run.t1)


def averages(run: Trajectory) -> WalkAverages:
    """Return averages over the whole strides of the last seconds of a walk. Raises ModelError for one that
    fell."""
    if not run.ok:
        raise ModelError(f"Dribbel did not walk on: {run.status} at {run.t1:.2f} s")
    begin, end = _whole_strides(run)
    late = run.at(np.linspace(begin, end, 10001))
    supplied = np.interp([begin, end], run.t, run.ledger.supplied["hip_electrical"])
    return WalkAverages(
        speed=float(late["hip_x"][-1] - late["hip_x"][0]) / (end - begin),
        mechanical=float(late["hip_power"].mean()),
        electrical=float(np.diff(supplied)[0]) / (end - begin),
        current=float(np.abs(late["hip_current"]).max()),
        clearance=min(float(late[f"foot_{side}_gap"].max()) for side in "lr"),
        bends=(float(-late["knee_l"].min()), float(-late["knee_r"].min())),
    )


def approach(run: Trajectory) -> float:
    """Return by how much a deviation shrinks in a stride, as a run comes to its gait: by this the modulus of
    the largest multiplier is known without derivatives."""
    latchings = [e.after for e in run.events if e.name == "knee_r_latch"]
    names = ("ankle", "hip", "ankle_rate", "hip_rate", "knee_l_rate", "knee_r_rate")
    states = np.array([[float(state[name]) for name in names] for state in latchings])
    changes = np.linalg.norm(np.diff(states, axis=0), axis=1)
    first, last = MEASURED_STRIDES
    return float((changes[last] / changes[first]) ** (1 / (last - first)))


def walk(seconds: float, begin: Trajectory | None = None, **values: float) -> Trajectory:
    """Return a run of Dribbel with other constants, from where it begins or from where another run ended."""
    x0, z0 = (None, None) if begin is None else (begin.end["x0"], begin.end["z0"])
    return simulate(dribbel_robot(**values), t=seconds, x0=x0, z0=z0, rtol=ACCURACY)


def sweep(name: str, values: Sequence[float], chosen: Trajectory) -> dict[float, WalkAverages | None]:
    """Return by value what a walk with it is like; None where it falls within ten seconds. Each walk begins
    where that with the value next to it ended, from his choice outwards."""
    middle = CHOSEN[name]
    results: dict[float, WalkAverages | None] = {}
    for side in (
        sorted(v for v in values if v >= middle),
        sorted((v for v in values if v < middle), reverse=True),
    ):
        before = chosen
        for value in side:
            run = walk(SWEPT_TIME, before, **{name: value})
            results[value] = averages(run) if run.ok else None
            before = run if run.ok else before
    return dict(sorted(results.items()))


def rows() -> list[Row]:
    """Compare the chosen controller, and what its constants do, with what Duindam says of them."""
    run = walk(LONG_TIME)
    chosen = averages(run)
    stride = find(dribbel_robot())
    table = [
        Row("walks for [s]", "10 in simulation", f"{run.t1:g}"),
        Row(
            "speed [m/s]",
            "0.54 simulated, 0.32 measured",
            f"{chosen.speed:.3f}",
            "ground, latches and gear are ours: not published",
        ),
        Row(
            "cost of transport, mechanical",
            "0.22 simulated",
            f"{chosen.transport:.3f}",
            "with the gear of 81, which is ours; with 26 it is 0.05",
        ),
        Row(
            "cost of transport, electrical",
            "0.23 measured",
            f"{chosen.electrical_transport:.3f}",
            "his measured power is what the batteries give less that of electronics and knees",
        ),
        Row(
            "largest multiplier of a stride, modulus",
            "stable",
            f"{abs(stride.multipliers[0]):.4f}",
            f"of the return map from one latching of the right knee to the next; a run comes to its gait by "
            f"{approach(run):.2f} a stride",
        ),
        Row("largest current [A]", "7.5", f"{chosen.current:.2f}", "of 8 allowed"),
        Row(
            "largest bends of the inner and the outer knee [rad]",
            "inner bends less",
            f"{chosen.bends[0]:.2f}, {chosen.bends[1]:.2f}",
            "left is inner: its knees differ less here than he sees",
        ),
    ]
    published = {
        "hip_set": "power rises",
        "hip_kp": "cost, clearance and speed rise",
        "hip_kd": "cost, clearance and speed fall",
    }
    for name, values in SWEEPS.items():
        for value, result in sweep(name, values, run).items():
            text = (
                "falls"
                if result is None
                else f"{result.speed:.2f} m/s, {result.mechanical:.1f} W, cost {result.transport:.3f}, "
                f"clearance {100 * result.clearance:.1f} cm"
            )
            table.append(Row(f"{name} {value:g}", published[name], text))
    return table


STUDY = Study(
    "duindam-dribbel",
    "Port-based modeling and control for efficient bipedal walking robots, section 5.3",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
