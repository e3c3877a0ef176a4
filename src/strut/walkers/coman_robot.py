"""COMAN, whole: its joints with motors, springs and servos, on ground; and motions of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from strut.actuator import MOTORS, dc_motors, drives
from strut.checks import checked
from strut.contact import Touch, anchored, compliant, geyer, hertz, linear, polygon, rigid
from strut.control import ReferenceSignal, servo, sine
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.mechanism import Mechanism, sense, watch
from strut.mechanism import system as system_of
from strut.mechanism.sensors import Sensor
from strut.mechanism.watchers import JointRange, Watcher
from strut.system import Expression, Param, System, sx, time
from strut.walkers.coman import FOOT_POINTS, STANDING_HEIGHT, coman_mechanism
from strut.walkers.coman_hulls import coman_hulls

PARTS: Mapping[str, Sequence[str] | None] = {
    "all": None,
    "legs-and-waist": (
        *("hip_sag", "hip_lat", "hip_yaw", "knee_sag", "ankle_lat", "ankle_sag"),
        *("waist_lat", "waist_sag", "waist_yaw"),
    ),
    "legs": ("hip_sag", "hip_lat", "hip_yaw", "knee_sag", "ankle_lat", "ankle_sag"),
}
"""Joints that move in each version: 23, 15 and 12 in space, of which those about y in a plane."""
GROUND_STIFFNESS, GROUND_DAMPING = 203600.0, 1006.0
"""[N/m, N s/m] Of one point on linear ground, as Dallali et al. tuned it; along the ground the same."""
HERTZ_STIFFNESS, HERTZ_DAMPING = 400e3, 400.0
"""[N/m^1.5, N s/m^1.5] Of one point on nonlinear ground, as Dallali et al. tuned it."""
GEYER_STIFFNESS, GEYER_SPEED = 27818.0, 0.3
"""[N/m, m/s] Of the public simulator's soft ground, at each point."""
POINTS_PER_FOOT: Mapping[str, int] = {"five": 5, "mesh": 200}
"""Points of each foot: the five of the paper, or the public simulator's mesh over the whole sole."""
RIGID_POINTS: Mapping[str, tuple[int, ...]] = {"planar": (1, 3), "free": (1, 2, 3, 4)}
"""Points of a foot on rigid ground, by base: toe and heel in a plane, the corners in space. The others lie
beside or between them, and would touch only what these touch."""
MESH_COLUMNS = 20
"""Points of the mesh along a foot; as many rows of them as make 200 lie across."""
MESH_GRIP_STIFFNESS, MESH_GRIP_DAMPING, MESH_FRICTION = 1e4, 10.0, 0.9
"""[N/m, N s/m, 1] Of friction at one point of the mesh (public simulator)."""
FRICTION = 0.7
"""[1] Coefficient of Coulomb friction of every ground, from the paper's example."""
FALL = ("waist", 0.30)
"""What has fallen, and how low it is then [m], as in the paper."""
GROUNDS = ("linear", "hertz", "geyer", "rigid", "none")
"""What COMAN may stand on; on 'none' it falls, or hangs where its base is fixed."""
RANGES: Mapping[str, str] = {
    "end": "the run ends, and is not ok",
    "record": "the event is recorded, and the run goes on as if nothing stopped the joint",
    "ignore": "nothing watches",
}
"""What happens where a joint leaves its range, or where the robot strikes itself."""
RANGE_SLACK = 0.01
"""[rad] By which a joint may pass the end of its range: straight elbows are at the end of theirs, and springs
let them pass it by milliradians."""
MOTOR = "rbe1211-csd17"
"""The motor and gear of every joint."""
LEG_SPRING = 415.0
"""[N m/rad] The springs of the joints of legs and waist that have one, in series with the gear."""
ARM_STIFFNESS = 120.0
"""[N m/rad] Of the shoulders' and elbows' springs and gears together."""
LEG_LINK_DAMPING, SPRING_DAMPING, GEAR_DAMPING = 8.0, 0.8, 4.2
"""[N m s/rad] Of links and springs, fitted at the knee (Dallali et al.), and of gears without a spring
(public simulator)."""
ARM_LINK_DAMPING = 1.0
"""[N m s/rad] Of the arms' links, which are too light for the knee's: ours, no paper prints it."""
SPRUNG = ("hip_sag", "knee_sag", "ankle_sag", "waist_sag", "waist_yaw")
"""Joints of legs and waist with a spring."""
SPRUNG_ARMS = ("shoulder_sag", "shoulder_lat", "elbow")
"""Joints of the arms with a spring."""
KP, KD = 150.0, 10.0
"""[V/rad, V s/rad] The gains of the servos, by default."""


@checked
def coman(  # noqa: PLR0913 -- options of a public function, by keyword
    parts: str = "all",
    *,
    base: str = "free",
    ground: str = "linear",
    motors: bool = True,
    references: Mapping[str, ReferenceSignal | float] | None = None,
    kp: float = KP,
    kd: float = KD,
    events: bool = True,
    feet: str = "five",
    ranges: str | None = None,
    collisions: str | None = None,
    pushed: Sequence[str] = (),
    sensors: Sequence[Sensor] = (),
) -> System:
    """COMAN with its motors and servos, standing on the points of its feet.

    parts: a name of `PARTS`. base: 'free', 'planar', or 'fixed', as of `coman_mechanism`.
    ground: a name of `GROUNDS`; on 'rigid' it stands on the corners of its feet, in a plane on toes and
        heels. Of 'linear' ground stiffness and damping are parameters, ground_stiffness [N/m] and
        ground_damping [N s/m], of each point and along the ground too.
    motors: False for ideal torques in the place of motors and springs.
    references: what joints follow, by name, as `coman_motion` gives them; zero for the others, upright.
    kp, kd: of the servos, in volts or N m per rad and per rad/s; kp=0 leaves them out, and the inputs free.
    events: False for contact inside the flow, see `contact.compliant`; nothing then ends a run that falls.
    feet: a name of `POINTS_PER_FOOT`: 'five', or a 'mesh' of 200, on compliant ground and without events
        alone. On 'geyer' ground the mesh has the public simulator's numbers; on others each point has its
        share of what the five points have.
    ranges: a name of `RANGES`, what happens where a joint leaves its range by more than `RANGE_SLACK`. 'end'
        by default, as in the public simulator: no stop is modelled, so what would follow is no motion of the
        robot. Without events nothing can watch, and 'ignore' is the default.
    collisions: a name of `RANGES`, what happens where capsules about its bodies meet (`coman_hulls`;
        neighbours are excused); the run says which. 'end' by default, 'ignore' without events.
    pushed: frames and bodies at which forces from outside act, 'chest': inputs chest_push_x and so on, for
        `strut.push`.
    sensors: what is read of it besides, as of `mechanism.sense`.
    """
    usual = "end" if events else "ignore"
    ranges, collisions = ranges or usual, collisions or usual
    for word, value, allowed in (
        ("parts", parts, PARTS),
        ("ground", ground, GROUNDS),
        ("feet", feet, POINTS_PER_FOOT),
        ("ranges", ranges, RANGES),
        ("collisions", collisions, RANGES),
    ):
        if value not in allowed:
            raise UnknownNameError(f"COMAN has no {word} '{value}': {did_you_mean(value, list(allowed))}")
    if feet == "mesh" and (events or ground == "rigid"):
        raise ModelError(
            "COMAN's mesh of 200 points a foot stands on compliant ground, without events: give "
            "events=False and ground='linear', 'hertz' or 'geyer', or feet='five'"
        )
    for word, value in (("ranges", ranges), ("collisions", collisions)):
        if value != "ignore" and not events:
            raise ModelError(
                f"COMAN without events cannot watch itself, which {word}='{value}' asks for: give "
                f"events=True, or {word}='ignore'"
            )
    mechanism = coman_mechanism(PARTS[parts], base)
    for frame in pushed:
        mechanism.push(frame)
    machine = _on_ground(mechanism, base, ground, events=events, feet=feet)
    machine = machine.using(z=STANDING_HEIGHT) if base != "fixed" else machine
    names = [drive.name for drive in drives(machine)]
    if motors:
        machine = _with_motors(machine, names)
    if kp == 0 and references:
        raise ModelError(
            f"COMAN without servos (kp=0) follows nothing: {', '.join(references)} were given as references; "
            f"leave them out, or give kp a value above zero"
        )
    for name in references or {}:
        if name not in names:
            raise UnknownNameError(f"COMAN has no joint '{name}' that moves: {did_you_mean(name, names)}")
    if kp != 0:
        followed = {**dict.fromkeys(names, 0.0), **(references or {})}
        machine = servo(machine, followed, kp=kp, kd=kd).replace(name="coman")
    machine = _with_watchers(machine, mechanism, ranges, collisions)
    return sense(machine, mechanism, sensors) if sensors else machine


def _with_watchers(machine: System, mechanism: Mechanism, ranges: str, collisions: str) -> System:
    """The machine with watchers of its joints' ranges and of its hulls."""
    watchers: list[Watcher] = []
    if ranges != "ignore":
        limits = {
            joint: (low - RANGE_SLACK, high + RANGE_SLACK) for joint, (low, high) in mechanism.limits.items()
        }
        watchers.append(JointRange(limits, ends=ranges == "end"))
    if collisions != "ignore":
        watchers.append(coman_hulls(mechanism, ends=collisions == "end"))
    return watch(machine, mechanism, watchers) if watchers else machine


def _on_ground(machine: Mechanism, base: str, ground: str, *, events: bool, feet: str) -> System:
    """The mechanism on its ground."""
    if ground == "none":
        return system_of(machine)
    points = _mesh_points(machine) if feet == "mesh" else five_points()
    if ground == "rigid":
        points = [f"{side}_sole{k}" for side in "rl" for k in RIGID_POINTS[base]]
        return rigid(machine, points, friction=FRICTION, fall=FALL)
    share = POINTS_PER_FOOT["five"] / POINTS_PER_FOOT[feet]
    stiffness: Expression = GROUND_STIFFNESS
    damping: Expression = GROUND_DAMPING
    if ground == "linear":  # parameters, so that other ground needs no compiling
        stiffness = Param(
            "ground_stiffness", GROUND_STIFFNESS, "N/m", bounds=(1.0, 1e8), description="of soft ground"
        )
        damping = Param("ground_damping", GROUND_DAMPING, "N s/m", bounds=(0.0, 1e6))
    law = {
        "linear": linear(share * sx(stiffness), share * sx(damping)),
        "hertz": hertz(share * HERTZ_STIFFNESS, share * HERTZ_DAMPING),
        "geyer": geyer(GEYER_STIFFNESS, GEYER_SPEED),
    }[ground]
    grip = anchored(share * sx(stiffness), share * sx(damping), FRICTION)
    if feet == "mesh" and ground == "geyer":
        grip = anchored(MESH_GRIP_STIFFNESS, MESH_GRIP_DAMPING, MESH_FRICTION)
    return compliant(machine, points, law=law, friction=grip, events=events, fall=FALL if events else None)


def five_points() -> list[str]:
    """The frames of the paper's points under both feet."""
    return [f"{side}_sole{k}" for side in "rl" for k in range(len(FOOT_POINTS))]


def _mesh_points(machine: Mechanism) -> list[Touch]:
    """Points in rows over both soles, as frames of the mechanism."""
    (back, front), (right, left) = ([f(p[k] for p in FOOT_POINTS) for f in (min, max)] for k in (0, 1))
    rows = POINTS_PER_FOOT["mesh"] // MESH_COLUMNS
    places = [
        (x, y, FOOT_POINTS[0][2])
        for x in np.linspace(back, front, MESH_COLUMNS).tolist()
        for y in np.linspace(right, left, rows).tolist()
    ]
    return [touch for side in "rl" for touch in polygon(machine, f"{side}_foot", places, name=f"{side}_mesh")]


def _with_motors(machine: System, names: Sequence[str]) -> System:
    """The same motor at every joint, with the springs and dampers that each has."""
    arm_spring = 1 / (1 / ARM_STIFFNESS - 1 / MOTORS[MOTOR].gear_stiffness)
    groups: tuple[tuple[Callable[[str], bool], dict[str, float]], ...] = (
        (lambda n: n.endswith(SPRUNG), {"spring": LEG_SPRING, "spring_damping": SPRING_DAMPING}),
        (lambda n: n.endswith(SPRUNG_ARMS), {"spring": arm_spring, "spring_damping": SPRING_DAMPING}),
        (lambda n: not n.endswith(SPRUNG + SPRUNG_ARMS), {"spring_damping": GEAR_DAMPING}),
    )
    for belongs, springs in groups:
        for arm, damping in ((False, LEG_LINK_DAMPING), (True, ARM_LINK_DAMPING)):
            chosen = [n for n in names if belongs(n) and ("shoulder" in n or "elbow" in n) == arm]
            if chosen:
                spring = springs.get("spring", math.inf)
                machine = dc_motors(
                    machine,
                    MOTOR,
                    chosen,
                    spring=spring,
                    spring_damping=springs["spring_damping"],
                    link_damping=damping,
                )
    return machine


@checked
def coman_motion(
    kind: str, amplitude: float, frequency: float, parts: str = "all"
) -> dict[str, ReferenceSignal]:
    """References of a motion that repeats, for `coman(references=...)`.

    kind: 'squat', hips and ankles bend by amplitude (1 - cos), knees by twice that, back (public simulator);
        'sway', the legs lean to both sides, their feet level; 'arms-up', the shoulders lift the arms forward.
    amplitude: [rad]. frequency: [Hz].
    """
    wave = ReferenceSignal(amplitude * (1 - ca.cos(2 * math.pi * frequency * time)))
    lean = sine(amplitude, frequency)
    motions = {
        "squat": {"hip_sag": -1 * wave, "knee_sag": 2 * wave, "ankle_sag": -1 * wave},
        "sway": {"hip_lat": lean, "ankle_lat": -1 * lean},
        "arms-up": {"shoulder_sag": -1 * wave},
    }
    if kind not in motions:
        raise UnknownNameError(f"COMAN has no motion '{kind}': {did_you_mean(kind, list(motions))}")
    if kind == "arms-up" and parts != "all":
        raise ValueRangeError(f"COMAN of parts '{parts}' has no arms to lift: take parts='all'")
    return {f"{side}_{joint}": follow for side in "rl" for joint, follow in motions[kind].items()}


__all__ = ["coman", "coman_motion"]
