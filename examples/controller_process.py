"""A whole-body controller as a program of its own: exported as C, built, and run against the simulator
through pipes, as a robot's real-time computer would run it.

The simulator sends the time and what sensors read, the program answers with torques. The commands are those
of the controller inside the simulator, to the last digits.

    python examples/controller_process.py [DIRECTORY]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from pushed_biped import PUSH, controller, machine

import strut
from strut import export_controller

DURATION = 0.2


def run_as_process(directory: Path) -> np.ndarray:
    """The times and torques of a controller that is another process, a row per sample."""
    export_controller(controller, directory)
    subprocess.run(["make", "-s"], cwd=directory, check=True)
    rows: list[list[float]] = []
    with subprocess.Popen(
        [directory / controller.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(moment: strut.Moment) -> dict[str, float]:
            sensors = [moment[label] for each in controller.sensors for label in each.labels]
            print(moment.t, *map(repr, sensors), file=process.stdin, flush=True)
            _, *commands = map(float, process.stdout.readline().split())
            rows.append([moment.t, *commands])
            return dict(zip(controller.command, commands, strict=True))

        strut.simulate(machine, t=DURATION, u=PUSH, control=strut.Hold(ask, every=controller.every))
        process.stdin.close()
    return np.array(rows)


def main(directory: str = "") -> np.ndarray:
    with tempfile.TemporaryDirectory() as scratch:
        rows = run_as_process(Path(directory or scratch))
    run = controller.run(machine, t=DURATION, u=PUSH)
    inside = np.stack([run[name] for name in controller.command], axis=1)
    apart = float(abs(rows[:, 1:] - inside).max())
    print(f"{len(rows)} samples by a process of its own; torques differ by at most {apart:.1g} N m")
    return rows


if __name__ == "__main__":
    main(*sys.argv[1:])
