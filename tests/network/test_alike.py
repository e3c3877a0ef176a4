"""Like edges are lowered together, and their C is a loop: the same numbers as one by one, in code that does not grow."""

import numpy as np
import pytest

from strut import network
from strut.network import alike
from strut.system import unit
from strut.system.compile import compiled, lowered


def coupled(count, term="w * sin(input.x - output.x - b + g)"):
    return f"""
    g = 0.3
    node "n{{1:{count}}}" {{ x = "$(@@1 * 0.1)"  a = "$(1 + @@1 * 0.01)"  x' = "-a * x" }}
    <no-self> edge all "n{{1:{count}}}" {{ w = "$(@@1 / {count})"  b = "$(0.1 * (@@1 - @@@1))"  x' += "{term}" }}
    """


def rates(system, x, backend="virtual", **p):
    model = compiled(system, backend=backend)
    values = [np.asarray(q.value, dtype=float)[0] for q in system.using(p).p]
    return model.evaluate("flow", np.zeros(len(x)), x, [], [], values)


TERMS = [
    "w * sin(input.x - output.x - b + g)",
    "w * cos(input.x + b)",
    "sin(b - output.x) / w",
    "w * (input.x - output.x)",
    "input.x > output.x ? w : -b^2",
    "w * max(0, input.x) + atan2(b, input.a) - t",
    "-sin(-input.x - -output.x) * 2 * cos(input.x - output.x + 1)",
]


@pytest.mark.parametrize("term", TERMS)
def test_together_is_as_one_by_one(term, monkeypatch):
    x = np.random.default_rng(1).normal(size=(3, 8))
    together = rates(network.loads(coupled(8, term)).system(), x, g=0.7)
    monkeypatch.setattr(alike, "LEAST", 10**9)
    assert together == pytest.approx(rates(network.loads(coupled(8, term)).system(), x, g=0.7), abs=1e-13)


def test_compiled_loops_give_the_same():
    x = np.random.default_rng(2).normal(size=(3, 12))
    system = network.loads(coupled(12)).system()
    assert "like terms" in unit.unit_text(lowered(system))
    assert rates(system, x, "native", g=0.1) == pytest.approx(rates(system, x, g=0.1), abs=1e-14)


def test_code_does_not_grow_with_edges():
    def code(count):
        lines = unit.unit_text(lowered(network.loads(coupled(count)).system())).splitlines()
        return sum(len(line) for line in lines if not line.startswith("STRUT_TABLE"))

    twenty, fifty = (code(n) for n in (20, 50))
    assert abs(fifty - twenty) < 30  # digits of sizes; edges are 380 and 2450


def test_sines_are_taken_for_nodes_not_for_edges():
    text = unit.unit_text(lowered(network.loads(coupled(20)).system()))
    flow = text[text.index("STRUT_(flow)(strut_real") : text.index("STRUT_(guards)(strut_real")]
    loop = flow[: flow.index("STRUT_SIN(")].rpartition("for (")[2]
    assert flow.count("STRUT_SIN(") == flow.count("STRUT_COS(") == 1
    assert loop.startswith("int k = 0; k < 20;")


def test_edges_that_are_not_alike_are_left_alone():
    """A vector among scalars, a name that means nothing in one edge: the slow way, and its mistakes."""
    net = network.loads(
        'node "n{1:20}" { x = "[1; 2]"  x\' = "0 * x" } edge from "n{1:20}" to "n$(@1 + 1)" { x\' += "input.x - output.x" }'
    )
    assert net.system().size("x") == 40
    with pytest.raises(network.NetworkError, match="'input.z' is unknown"):
        network.loads('node "n{1:20}" { x = 1  x\' = 0 } edge from "n{1:20}" to "n$(@1 + 1)" { x\' += "input.z" }').system()
