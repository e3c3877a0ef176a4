"""The bifurcation map that a page's worker walks is that of `gait.bifurcation_map`, and of gaits: run in Node."""

import base64
import shutil
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import gait, walkers
from strut.codegen import find_wasm_compiler
from strut.export.wasm import module_bytes, module_script
from strut.live.document import script
from strut.live.page import live_data, return_map_of_page
from strut.live.views import gait_views, page_views
from tests.node import ask_node

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or find_wasm_compiler() is None,
    reason="Node, or a compiler for WebAssembly (clang and lld, or ziglang), is not installed",
)
SAME_TIME = 3e-5
"""Of step times [s]: the page integrates to 1e-7, and at the slopes that are compared a walk settles to 0.8^34 of
where it began."""
STEPS, KEPT = 50, 16
"""As the page asks for them."""


def packed(code):
    return base64.b64encode(code).decode()


def map_in_node(system, name, values, with_gait=True):
    """Step times by value, as the worker walks them: from the gait that it finds first, or without one."""
    step = return_map_of_page(system, None) if with_gait else None
    data = live_data(system, None)
    order = {"p": data["p"], "u": data["u"]}
    orders = [order | {"kind": "gait", "near": None}] if step else []
    orders.append(
        order
        | {
            "kind": "map",
            "index": list(system.labels("p")).index(name),
            "values": list(map(float, values)),
            "steps": STEPS,
            "last": KEPT,
        }
    )
    answers = ask_node(
        Path(__file__).parent / "worker_case.js",
        module=module_script(),
        newton=script("newton.js"),
        worker=script("worker.js"),
        wasm=packed(module_bytes(system, page_views(system))),
        varied=packed(module_bytes(step.varied, gait_views(step))) if step else "",
        shape=data["shape"],
        walk=data["walk"],
        orders=orders,
    )
    points = np.array(answers[-1]["points"]).reshape(-1, 2)
    return {float(v): points[points[:, 0] == v, 1] for v in values}


def test_no_step_time_is_scattered_where_one_gait_is_stable():
    """Near 3.977 and 4.010 degrees feet were left where ground of another slope had been, and the compass went
    from there to other walks."""
    system, values = walkers.compass(slope=strut.deg(3)), np.radians(np.linspace(2.9, 4.15, 39))
    times = map_in_node(system, "slope", values)
    walk = gait.bifurcation_map(
        gait.find(system.using({"slope": values[0]})), "slope", values[-1], values=39, steps=STEPS, kept=KEPT
    )
    for value in values:
        ours = walk.step_time[np.isclose(walk.at, value, rtol=1e-12)]
        assert len(times[value]) == len(ours) == KEPT
        np.testing.assert_allclose(times[value], ours.mean(), atol=SAME_TIME, rtol=0)
        assert np.ptp(ours) < SAME_TIME


def test_without_a_gait_it_begins_as_the_machine_does():
    values = np.radians([2.5, 3.0, 3.5])
    times = map_in_node(walkers.compass(slope=strut.deg(3)), "slope", values, with_gait=False)
    for value in values:
        period = gait.find(walkers.compass(slope=float(value))).period
        np.testing.assert_allclose(times[value], period, atol=SAME_TIME, rtol=0)


def test_rattling_is_no_walking():
    """A rimless wheel on ground too flat stops with ever shorter steps."""
    times = map_in_node(walkers.rimless_wheel(), "slope", [0.04, 0.05, 0.1])
    assert [len(times[v]) for v in (0.04, 0.05, 0.1)] == [0, 0, KEPT]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("simplest", (0.004, 0.009, 0.0125)),
        pytest.param("kneed", (0.045, 0.055, 0.065), marks=pytest.mark.slow),
        pytest.param("compass-duindam", (0.03, 0.045, 0.058), marks=pytest.mark.slow),
        pytest.param("dribbel", (0.049, 0.052, 0.056), marks=pytest.mark.slow),
    ],
)
def test_settled_steps_of_others_are_those_of_their_gaits(name, values):
    """Slow ones: their return maps take up to a minute to compile."""
    times = map_in_node(walkers.CATALOGUE[name](), "slope", values)
    for value in values:
        period = gait.find(walkers.CATALOGUE[name](slope=value)).period
        assert len(times[value]) == KEPT
        np.testing.assert_allclose(times[value], period, atol=SAME_TIME, rtol=0)
