"""Pages of networks: small whatever a network has, and with a graph that can be read."""

from pathlib import Path

import pytest

import strut
from strut import network
from strut.view.pages.page import run_report

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"
SLOW = ("18_pendulums", "19_jacobians", "20_closed_loop", "21_pantograph", "22_landing", "24_coman")
"""Examples that take five seconds or more to build and compile."""
MAX_PAGE = 500_000
"""Letters of a page at most."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in sorted(EXAMPLES.glob("*.cdn"))
    ],
)
def test_the_page_of_a_run_is_small(name):
    net = network.load(EXAMPLES / f"{name}.cdn")
    run = strut.simulate(net.system(), t=0.2 if name == "24_coman" else 3.0, **net.options())
    report = run_report(run)
    report.picture(net.graph(), "the graph")
    assert len(report.document()) < MAX_PAGE
