"""The listings of the thesis in which the language was described, against runs of the original."""

import csv
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import network
from tests.network.reading import begin

DATA = Path(__file__).parent / "data"
EXAMPLES = Path(__file__).parents[2] / "examples" / "network"
SAME = 1e-9  # same integrator, same step: what remains is the order of additions


def recorded(name):
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return names, np.array(rows, dtype=float)


def run(example, reference, until=np.inf, **options):
    """Ours from the original's first row on, and the original's rows."""
    names, rows = recorded(reference)
    rows = rows[rows[:, 0] <= until]
    net = network.load(EXAMPLES / f"{example}.cdn")
    system = net.system()
    states = {q.name for q in system.x}
    start = {name: value for name, value in zip(names, rows[0], strict=True) if name in states}
    walk = strut.simulate(system, t=float(rows[-1, 0]), x0=start, **{**net.options(), **options})
    return walk, names, rows


@pytest.mark.parametrize(
    ("example", "reference"),
    [
        ("03_spring", "2_3_spring"),
        ("05_many", "2_5_many"),
        ("08_templates", "2_8_templates"),
        ("09_integrator", "2_9_integrator"),
        ("11_hopf", "2_11_hopf"),
        ("12_van_der_pol", "2_12_vanderpol"),
        ("13_matsuoka", "2_13_matsuoka"),
        ("14_morphed", "2_14_morphed"),
    ],
)
def test_trajectories_are_those_of_the_original(example, reference):
    walk, names, rows = run(example, reference)
    at = walk.at(rows[:, 0])
    for k, name in enumerate(names[1:], 1):
        assert np.allclose(at[name], rows[:, k], rtol=SAME, atol=SAME), name


@pytest.mark.parametrize(
    ("example", "reference"),
    [
        ("01_falling_mass", "2_1_acceleration"),
        ("02_two_masses", "2_2_two_masses"),
        ("04_generator", "2_4_generator"),
    ],
)
def test_small_ones_too(example, reference):
    walk, names, rows = run(example, reference, backend="virtual", until=0.6)
    at = walk.at(rows[:, 0])
    for k, name in enumerate(names[1:], 1):
        assert np.allclose(at[name], rows[:, k], rtol=SAME, atol=SAME), name


@pytest.mark.parametrize(
    ("example", "nodes", "edges"),
    [
        ("05_many", 10, 50),
        ("07_selectors", 6, 6),
        ("08_templates", 5, 8),
        ("11_hopf", 5, 8),
        ("13_matsuoka", 3, 2),
    ],
)
def test_counts(example, nodes, edges):
    net = network.load(EXAMPLES / f"{example}.cdn")
    assert (len(net.nodes), len(net.edges)) == (nodes, edges)


def test_contexts_and_selectors():
    assert [begin(network.load(EXAMPLES / "06_contexts.cdn"))[f"n{k}.v"] for k in (1, 2, 3)] == [2, 4, 6]
    values = begin(network.load(EXAMPLES / "07_selectors.cdn"))
    assert [values[f"n{k}_{side}.v"] for k in (1, 2, 3) for side in ("left", "right")] == [2, 1] * 3
    net = network.load(EXAMPLES / "07_selectors.cdn")
    ends = sorted((e.input.name, e.output.name) for e in net.edges)
    assert ends == sorted(
        [(f"n{k}_left", f"n{k}_right") for k in (1, 2, 3)]
        + [(f"n{k}_right", f"n{k}_left") for k in (1, 2, 3)]
    )


def test_pogo_sticks_bounce_as_often_and_rest_where_they_did():
    """The original accepts a contact up to 1 mm late; ours is exact, so times differ by up to 1 mm / speed."""
    walk, names, rows = run("10_pogo", "2_10_pogo")
    last = rows[-1]
    for k, name in enumerate(names[1:], 1):
        if name.endswith("bounced"):
            assert abs(walk.at(10)[name] - last[k]) <= 1, name  # the last bounces are lower than 1 mm
    for node, mass, stiffness in (("p2", 0.3, 500), ("p3", 0.4, 600)):
        assert walk.at(10)[f"{node}.y"] == pytest.approx(0.1 - mass * 9.81 / stiffness, abs=1e-4)
    before = rows[rows[:, 0] < 0.55]
    assert np.allclose(walk.at(before[:, 0])["p2.y"], before[:, names.index("p2.y")], atol=SAME)
    touch = walk.events.times("p1.air_to_ground")[0]
    assert walk.at(touch)["p1.y"] == pytest.approx(0.1, abs=1e-12)


def test_the_runner_makes_24_steps():
    walk, names, rows = run("15_slip", "2_15_slip")
    assert walk.status.startswith("slip.terminate")
    assert walk.at(walk.t1)["slip.steps"] == rows[-1, names.index("slip.steps")] == 24
    assert len(walk.events.times("slip.ground_to_air")) == 23
    assert walk.t1 == pytest.approx(
        rows[-1, 0], rel=0.01
    )  # contacts of the original come up to 1 mm late, 24 times
