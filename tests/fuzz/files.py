"""Files that were damaged or written badly: model files, URDF, MJCF, networks, runs, results and sweeps, each changed in many ways."""

import functools
import io
from pathlib import Path

import numpy as np

import strut
from strut import mechanism, network, ports, walkers
from strut.optimal.walk.sweep_file import SweepFile, SweepPoint
from strut.view import Result as Page

ROOT = Path(__file__).parents[2]

TOML = """
[bodies.thigh]
mass = 5.0
com = [0, 0, -0.2]
inertia = 0.1
[bodies.shank]
mass = "2 * 1.5"
com = [0, 0, -0.2]
inertia = 0.05
[joints.hip]
type = "revolute"
parent = "world"
child = "thigh"
axis = "y"
[joints.knee]
type = "revolute"
parent = "thigh"
child = "shank"
at = [0, 0, -0.4]
"""
URDF = """<robot name="r"><material name="m"><color rgba="1 0 0 1"/></material>
<link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry><material name="m"/></visual></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1"/></joint></robot>"""
MJCF = """<mujoco model="m"><compiler angle="degree"/><option gravity="0 0 -9.81"/><default><joint damping="1"/></default>
<worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1" mass="1"/>
<body name="b" pos="0 0 1"><joint name="j" axis="0 1 0" range="-90 90"/><geom type="sphere" size="0.1" density="1000"/></body></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>"""

WORDS = [
    *[
        "nan",
        "inf",
        "-inf",
        "1e400",
        "-1",
        "0",
        "1e-320",
        "None",
        "true",
        "[]",
        "{}",
        "[[[[",
        "<a>",
        "</a>",
        '"',
        "'",
        "\\",
        "{",
        "}",
        "=",
        "|",
        "$",
        "@",
        "#",
        "%",
        "&",
        "(",
        ")",
        "\x00",
        "\n",
        "\t",
        "ü",
        "漢",
        "𝕏",
    ],
    "9" * 5000,
    "{1:999999999}",
]
WORDS += [
    "(" * 3000,
    "[" * 3000,
    "<b>" * 3000,
    "a" * 10_000,
    "{" * 500,
    "1+" * 3000 + "1",
    "-" * 5000,
    "\ufeff",
    "\u202e",
    "a.b" * 300,
    "../../x",
    "/dev/zero",
]
"""What turns up in files, or should not."""


@functools.cache
def samples():
    """Whole files by kind, and how each is read."""
    scratch = Path("samples")
    scratch.mkdir(exist_ok=True)
    run = strut.simulate(walkers.rimless_wheel(), t=1.0).save(scratch / "run.h5").read_bytes()
    page = Page("a title", facts={"speed": "1 m/s"}, data={"x": [1.0, 2.0]})
    result = page.save(scratch / "page.json").read_bytes()
    networks = [path.read_bytes() for path in sorted(ROOT.glob("examples/network/[01]*.cdn"))]
    return {
        "toml": ([TOML.encode()], ".toml", lambda path: mechanism.system(mechanism.modelfile.load(path))),
        "graph": (
            [(ROOT / "examples" / "hoist.toml").read_bytes()],
            ".toml",
            lambda path: ports.system(ports.load(path)),
        ),
        "urdf": ([URDF.encode()], ".urdf", mechanism.urdf.load),
        "mjcf": ([MJCF.encode()], ".xml", mechanism.mjcf.load),
        "cdn": (
            networks,
            ".cdn",
            lambda path: network.load(path, roots=[ROOT / "examples" / "network"]).system(),
        ),
        "h5": ([run], ".h5", _look_at_run),
        "result": ([result], ".json", Page.load),
        "sweep": ([_sweep(scratch / "sweep.db")], ".db", _read_sweep),
    }


def _look_at_run(path):
    run = strut.Trajectory.load(path)
    run.table()
    run.events.counts()
    run.at(run.t1)
    return None


ASKED = {"walker": "w", "values": [1.0]}


def _sweep(path):
    path.unlink(missing_ok=True)
    file = SweepFile(path, ASKED)
    for k in range(20):
        numbers = {"speed": 0.1 * k, "cost": 1.0}
        plan = io.BytesIO()
        np.savez_compressed(
            plan,
            names=np.array(["a"]),
            values=np.array([1.0]),
            t0=np.linspace(0, 1, 3),
            x0=np.zeros((3, 2)),
            w0=np.zeros((2, 1, 1)),
            a0=np.zeros((2, 2)),
            b0=np.zeros((2, 2)),
        )
        file.put(SweepPoint(float(k), True, "done", numbers), plan.getvalue())
    return path.read_bytes()


def _read_sweep(path):
    SweepFile(path, ASKED).points()


def mutated(data, rng):
    """The bytes, changed in one to four places: cut, doubled, exchanged, or with something inserted."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at, length = int(rng.integers(len(data) + 1)), int(rng.integers(1, 40))
        kind = int(rng.integers(7))
        if kind == 0:
            del data[at : at + length]
        elif kind == 1:
            data[at:at] = data[at : at + length]
        elif kind == 2:
            data[at:at] = WORDS[int(rng.integers(len(WORDS)))].encode("utf-8", "replace")
        elif kind == 3 and at < len(data):
            data[at] = int(rng.integers(256))
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            other = int(rng.integers(len(data) + 1))
            data[at : at + length] = data[other : other + length]
        else:  # a number or a word in a text becomes another
            _exchange_word(data, at, rng)
        if not data:
            data = bytearray(b" ")
    return bytes(data)


def _exchange_word(data, at, rng):
    begin = at
    while begin < len(data) and not chr(data[begin]).isalnum():
        begin += 1
    end = begin
    while end < len(data) and (chr(data[end]).isalnum() or data[end] in b".-+"):
        end += 1
    data[begin:end] = WORDS[int(rng.integers(len(WORDS)))].encode("utf-8", "replace")


def schedule(count, seed):
    """So many damaged files, every kind in turn: kinds, texts and calls that read them."""
    rng = np.random.default_rng(seed)
    kinds = sorted(samples())
    for k in range(count):
        kind = kinds[k % len(kinds)]
        wholes, suffix, reader = samples()[kind]
        data = mutated(wholes[int(rng.integers(len(wholes)))], rng)
        path = Path(f"damaged{suffix}")
        path.write_bytes(data)
        yield kind, f"{kind} number {k} of seed {seed}", functools.partial(reader, path)
