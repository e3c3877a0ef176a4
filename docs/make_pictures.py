"""Make the pictures of the gallery and of the README again, each from the example that it belongs to.

Run it with `python docs/make_pictures.py`, or with names to make only some:
`python docs/make_pictures.py compass hopper`. The pictures are drawn by the package itself, and what an
example prints is shown while it runs.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import strut
from strut import contact, linkage, mechanism, network, optimal, report, view, walkers
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_gait import FREQUENCY
from strut.studies.exoskeleton_pictures import PICTURE_STEP, last_strides
from strut.studies.kieboom_topologies import numbered_topologies
from strut.studies.known_exoskeletons import refined_exoskeletons
from strut.view.figures.figure import PALETTE, Cells, Figure, Line

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, PICTURES = ROOT / "examples", ROOT / "docs" / "pictures"
MAX_BYTES = 60_000
"""Of one picture: the whole gallery is read in a second."""
MAX_POINTS = 400
"""Of one curve in a picture: more cannot be seen at this size."""


def load(path: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, EXAMPLES / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def curves(run: strut.Trajectory, names: dict[str, str], y: str, begin: float | None = None) -> Figure:
    """Quantities of a run over time: names of the run, and what the legend calls them."""
    t = np.linspace(run.t[0] if begin is None else begin, run.t1, MAX_POINTS)
    values = run.at(t)
    lines = [
        Line(label, t, values[name], color)
        for (name, label), color in zip(names.items(), PALETTE, strict=False)
    ]
    return Figure(tuple(lines), "time [s]", y, legend=len(lines) > 1, height=190)


def compass(place: Path) -> None:
    walk = strut.simulate(walkers.compass(slope=strut.deg(3)), t=3)
    strikes = walk.events.times("heel_strike")
    view.stick_figure(
        walk, place / "compass.svg", (strikes[0] + 1e-6, strikes[3] - 1e-6), poses=25, width=760
    )


def first_system(place: Path) -> None:
    curves(load("first_system.py").main(), {"height": "height"}, "height [m]").save(
        place / "first_system.svg"
    )


def controlled_pendulum(place: Path) -> None:
    curves(load("controlled_pendulum.py").main(), {"angle": "angle"}, "angle [rad]").save(
        place / "controlled_pendulum.svg"
    )


def hopper(place: Path) -> None:
    run = load("hopper.py").main(Path(tempfile.mkdtemp()))
    curves(run, {"height": "height", "apex": "last apex"}, "height [m]").save(place / "hopper.svg")


def zmp_walk(place: Path) -> None:
    example = load("zmp_walk.py")
    machine = example.biped()
    legs = example.inverse(machine)
    player = strut.control.MotionPlayer(legs.joints, example.KNOTS)
    motion = strut.control.zmp_walk(legs, example.PATTERN)
    run = example.walk(example.walker(machine, player), player, motion)
    view.stick_figure(run, place / "zmp_walk.svg", (1.0, 7.0), poses=16, width=760)


def coman(place: Path) -> None:
    example = load("coman.py")
    names = {f"r_{joint}_sag_voltage": joint for joint in ("hip", "knee", "ankle")}
    curves(example.squat(example.robot()), names, "voltage [V]").save(place / "coman.svg")


def walking_human(place: Path) -> None:
    run = load("walking_human.py").main()
    t = np.linspace(7.0, 10.0, MAX_POINTS)
    angles = [
        Line(joint, t, np.rad2deg(run.at(t)[f"{joint}_r"]), color)
        for joint, color in zip(("hip", "knee", "ankle"), PALETTE, strict=False)
    ]
    Figure(tuple(angles), "time [s]", "angle of the right leg [deg]", height=190).save(
        place / "walking_human.svg"
    )


def walking_human_strides(place: Path) -> None:
    run = load("walking_human.py").main()
    view.stick_figure(run, place / "walking_human_strides.svg", (8.0, 10.0), poses=19, width=760)


def human_optimal(place: Path) -> None:
    example = load("human_optimal.py")
    design = example.main("fine")
    force = example.stride_force(design)
    t = np.arange(len(force)) * 2 * design.step_time / len(force)
    Figure(
        (Line("planned", t, force, PALETTE[0]),),
        "time since the heel landed [s]",
        "force on a foot [weights]",
        height=190,
    ).save(place / "human_optimal.svg")


def slip_map(place: Path) -> None:
    steps = load("slip_map.py").main()
    x, y = np.linspace(0, 50, len(steps)), np.linspace(40, 80, len(steps))
    cells = Cells(x, y, steps.astype(float), "steps")
    Figure((cells,), "stiffness [kN/m]", "angle of attack [deg]", height=260).save(place / "slip_map.svg")


def three_grounds(place: Path) -> None:
    lines = []
    for (name, run), color, dash in zip(
        load("three_grounds.py").main().items(), PALETTE, ("solid", "dash", "dot"), strict=False
    ):
        t = np.linspace(0, run.t1, MAX_POINTS)
        lines.append(Line(name, t, run.at(t)["base.z"], color, dash))
    Figure(tuple(lines), "time [s]", "height of the box [m]", height=190).save(place / "three_grounds.svg")


def biped(place: Path) -> None:
    falling = mechanism.system(mechanism.modelfile.load(EXAMPLES / "biped.toml"))
    posture = {"hip_l": -0.5, "knee_l": 0.3, "hip_r": 0.4, "knee_r": 0.2}
    view.still(strut.simulate(falling, t=0.1, x0=posture), place / "biped.svg", t=0.0, width=300, height=300)


def servo_leg(place: Path) -> None:
    names = {name: name.replace("_", ", its ") for name in ("hip", "hip_reference", "knee", "knee_reference")}
    run = strut.simulate(contact.load(EXAMPLES / "servo_leg.toml"), t=4.0)
    curves(run, names, "angle [rad]").save(place / "servo_leg.svg")


def demo(place: Path) -> None:
    design = load("demo.py").main(Path(tempfile.mkdtemp()))
    view.stick_figure(design.replay.run, place / "demo.svg", width=420)


def design_urdf(place: Path) -> None:
    view.stick_figure(load("design_urdf.py").main().replay.run, place / "design_urdf.svg", width=420)


def rabbit(place: Path) -> None:
    view.stick_figure(load("rabbit.py").main().replay.run, place / "rabbit.svg", width=420)


def rabbit_drives(place: Path) -> None:
    example = load("rabbit.py")
    example.drive_figure(example.drive_curves()).save(place / "rabbit_drives.svg")


def running(place: Path) -> None:
    view.stick_figure(load("running.py").main().replay.run, place / "running.svg", width=420)


def polar_hopper(place: Path) -> None:
    hop = optimal.replay(load("polar_hopper.py").main()).run
    cuts = [hop.t0, *[e.t for e in hop.events if e.name in ("touchdown", "takeoff")], hop.t1]
    lines = []
    for k, (begin, end) in enumerate(pairwise(cuts)):
        seen = hop.at(np.linspace(begin + 1e-6, end - 1e-6, MAX_POINTS // 3))
        label = ("down", "on its leg", "up")[k]
        lines.append(Line(label, seen["mass_x"], seen["mass_y"], PALETTE[k]))
    figure = Figure(tuple(lines), "forward [m]", "height [m]", legend=True, height=220)
    figure.save(place / "polar_hopper.svg")


def foot_placement(place: Path) -> None:
    run = load("foot_placement.py").main()
    seen = run.at(np.linspace(run.t0, run.t1, MAX_POINTS))
    landings = [e.after for e in run.events if e.name == "landing"]
    feet = np.array([[float(after[f"stands_{axis}"]) for axis in "xy"] for after in landings])
    lines = [
        Line("hip", seen["hip_x"], seen["hip_y"], PALETTE[0]),
        Line("feet", feet[:, 0], feet[:, 1], PALETTE[1]),
    ]
    figure = Figure(tuple(lines), "forward [m]", "to the left [m]", legend=True, height=220)
    figure.save(place / "foot_placement.svg")


def held_gait(place: Path) -> None:
    report.recovery_figure(load("held_gait.py").main()).save(place / "held_gait.svg")


def pushed_biped(place: Path) -> None:
    view.stick_figure(load("pushed_biped.py").main().trajectory, place / "pushed_biped.svg", width=420)


def catching_steps(place: Path) -> None:
    view.stick_figure(load("catching_steps.py").main().trajectory, place / "catching_steps.svg", width=420)


def controller_process(place: Path) -> None:
    load("pushed_biped.py")
    run = load("controller_process.py").main()
    t, *torques = run.T
    words = ("right hip", "left hip", "right knee", "left knee")
    lines = [Line(word, t, row, color) for word, row, color in zip(words, torques, PALETTE, strict=False)]
    figure = Figure(tuple(lines), "time [s]", "torque [N m]", legend=True, height=190)
    figure.save(place / "controller_process.svg")


def elastic_drives(place: Path) -> None:
    load("elastic_drives.py").main(place / "elastic_drives.svg")


def arm_linkage(place: Path) -> None:
    load("arm_linkage.py").main(place / "arm_linkage.svg")


def leg_linkages(place: Path) -> None:
    """All linkages of an exoskeleton's leg, five in a row."""
    width, height, columns = 150, 210, 5
    drawings = []
    for number, (topology, _) in numbered_topologies().items():
        row, column = divmod(number - 1, columns)
        drawing = linkage.draw_linkage(topology, title=f"linkage {number}")
        head = re.match(r"(<svg [^>]*?)(viewBox=\"[^\"]*\") ([^>]*>)", drawing)
        assert head is not None
        opening, view_box, size = head.groups()
        at = f'x="{width * column}" y="{height * row + 20}" width="{width}" height="{height - 30}"'
        rest = re.sub(r'(width|height)="[^"]*"', "", size)
        drawings.append(f"{opening}{view_box} {at} {rest}" + drawing[len(opening + view_box + size) + 1 :])
        drawings.append(
            f'<text x="{width * column + width / 2}" y="{height * row + 14}" fill="currentColor" '
            f'font-size="13" font-family="sans-serif" text-anchor="middle">{number}</text>\n'
        )
    rows = -(-len(numbered_topologies()) // columns)
    (place / "leg_linkages.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * columns} {height * rows}" '
        f'width="{width * columns}" height="{height * rows}">\n{"".join(drawings)}</svg>\n',
        encoding="utf-8",
    )


def worn_exoskeleton(place: Path) -> None:
    """A step in the exoskeleton of the package that needs least power."""
    machine = next(iter(refined_exoskeletons().values())).machine()
    walk = strut.simulate(machine, DURATION, method="rk4", step=PICTURE_STEP, ledger=False)
    run = last_strides(machine, walk, FREQUENCY)
    last_step = run.t1 - 0.5 / FREQUENCY, run.t1
    view.stick_figure(run, place / "worn_exoskeleton.svg", last_step, poses=5, width=520)


def bond_graphs(place: Path) -> None:
    load("bond_graphs.py").main(place / "bond_graphs.svg")


def codesign(place: Path) -> None:
    view.stick_figure(
        load("codesign.py").main()["round feet"].both.replay.run, place / "codesign.svg", width=420
    )


def robust(place: Path) -> None:
    view.stick_figure(load("robust.py").main().robust.designs[0].replay.run, place / "robust.svg", width=420)


def step_over(place: Path) -> None:
    run = load("step_over.py").main(Path(tempfile.mkdtemp()) / "step_over.html").run
    first = run.events.times("heel_strike")[0]
    view.stick_figure(run, place / "step_over.svg", (run.t[0], first - 1e-6), width=520)


def own_walker(place: Path) -> None:
    downhill, *_ = load("own_walker.py").main()
    view.phase_portrait(strut.simulate(downhill.system, t=6), "lean", "spin").save(place / "own_walker.svg")


def oscillator_leg(place: Path) -> None:
    run = load("oscillator_leg.py").main()
    curves(run, {"leg.hip": "hip", "leg.knee": "knee"}, "angle [rad]", begin=run.t1 - 4).save(
        place / "oscillator_leg.svg"
    )


def networks(place: Path) -> None:
    ring = network.load(EXAMPLES / "network" / "11_hopf.cdn")
    (place / "networks.svg").write_text(ring.graph(), encoding="utf-8")


MAKERS: dict[str, Callable[[Path], Any]] = {
    maker.__name__: maker
    for maker in (
        *(
            compass,
            first_system,
            controlled_pendulum,
            hopper,
            slip_map,
            walking_human,
            walking_human_strides,
            coman,
            zmp_walk,
            three_grounds,
            biped,
            servo_leg,
            own_walker,
            oscillator_leg,
            networks,
        ),
        *(
            demo,
            design_urdf,
            elastic_drives,
            bond_graphs,
            arm_linkage,
            leg_linkages,
            worn_exoskeleton,
            codesign,
            robust,
            rabbit,
            rabbit_drives,
            running,
            human_optimal,
            held_gait,
        ),
        polar_hopper,
        foot_placement,
        step_over,
        pushed_biped,
        catching_steps,
        controller_process,
    )
}


def main(*names: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name in names or MAKERS:
        print(f"== {name}", flush=True)
        MAKERS[name](PICTURES)
        size = (PICTURES / f"{name}.svg").stat().st_size
        assert size < MAX_BYTES, (
            f"{name}.svg has {size} bytes: draw fewer points, at most {MAX_BYTES} are wanted"
        )
        print(f"== {name}.svg, {size} bytes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
