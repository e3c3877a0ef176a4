"""Like edges are lowered together, and their C is a loop: the same numbers as one by one, in code that does not grow."""

from pathlib import Path

import numpy as np
import pytest

from strut import network
from strut.codegen import lower_sums as looped
from strut.codegen import translation_unit as unit
from strut.codegen.backends import compile_system, lower_system
from strut.network.lower import like_reader
from strut.system.sums import Sums, Totals
from strut.system.values import start

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"


def coupled(count, term="w * sin(input.x - output.x - b + g)"):
    return f"""
    g = 0.3
    node "n{{1:{count}}}" {{ x = "$(@@1 * 0.1)"  a = "$(1 + @@1 * 0.01)"  x' = "-a * x" }}
    <no-self> edge all "n{{1:{count}}}" {{ w = "$(@@1 / {count})"  b = "$(0.1 * (@@1 - @@@1))"  x' += "{term}" }}
    """


def rates(system, x, backend="virtual", **p):
    model = compile_system(system, backend=backend)
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
    monkeypatch.setattr(like_reader, "MIN_EDGES_FOR_LOOP", 10**9)
    assert together == pytest.approx(rates(network.loads(coupled(8, term)).system(), x, g=0.7), abs=1e-13)


NODE = 'x = "$(@@1 * 0.1)"  a = 0.3  x\' = "-a * x"'
KINDS = {
    "a constant": ('x\' += "w * (input.x - output.x) * pi"', NODE, ""),
    "a function": (
        'x\' += "f(input.x - output.x, w) + f(1)"',
        NODE,
        'f(d, k = 2)(g) = "k * sin(g * d) + h(d)"  h(d) = "a0 * d"  a0 = 3',
    ),
    "what a function finds": ('b = "$(@@1)"  x\' += "f(input.x)"', NODE, 'f(d)(b, output.a) = "d * b - a"'),
    "a variable of the edge": ('d = "input.x - output.x"  x\' += "w * d * d"', NODE, ""),
    "a variable of the node": ('x\' += "w * input.r"', f'{NODE}  s = "x + 1"  r = "sqrt(s^2 + 1)"', ""),
    "a fixed variable of the node": ('x\' += "w * input.x / input.k"', f'{NODE}  k = "2 * a + g"', ""),
    "sines of variables": ('x\' += "w * sin(input.r - output.x)"', f'{NODE}  r = "x^2"', ""),
    "vectors": (
        'x\' += "w * R * (input.x - output.x)"',
        NODE.replace('"$(@@1 * 0.1)"', '"[$(@@1 * 0.1); 1]"'),
        'R = "[0, 1; -1, 0]"',
    ),
    "elements": (
        'x\' += "[input.x[1]; w] * output.x[0]"',
        NODE.replace('"$(@@1 * 0.1)"', '"[$(@@1 * 0.1); 1]"'),
        "",
    ),
    "numbers for vectors": (
        'x\' += "w * input.a"',
        NODE.replace('"$(@@1 * 0.1)"', '"[$(@@1 * 0.1); 1]"'),
        "",
    ),
    "inputs and time": ('x\' += "w * input.i * (t - dt)"', f"{NODE}  i = 2 | in", ""),
    "sums of other edges": ('s += "w * input.x"  x\' += "w * input.s"', f"{NODE}  s = 0", ""),
}


def of_kind(kind, count):
    edge, node, top = KINDS[kind]
    return f"""g = 0.3  {top}
    node "n{{1:{count}}}" {{ {node} }}
    <no-self> edge all "n{{1:{count}}}" {{ w = "$(@@1 / {count})"  {edge} }}
    """


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_edges_say_is_the_same_together_and_compiled(kind, monkeypatch):
    def found(backend):
        system = network.loads(of_kind(kind, 16)).system()
        x = np.random.default_rng(1).normal(size=(3, system.size("x")))
        p, u = ([float(q.value[0]) for q in group] for group in (system.p, system.u))
        model = compile_system(system, backend=backend)
        values = [model.evaluate(name, [0.0, 1.0, 2.0], x, [], u, p) for name in ("flow", "outputs")]
        return isinstance(system.flow, Sums), system.labels("outputs"), np.hstack(values)

    summed, names, native = found("native")
    assert summed
    together = found("virtual")[2]
    monkeypatch.setattr(like_reader, "MIN_EDGES_FOR_LOOP", 10**9)
    summed, known, alone = found("virtual")
    assert not summed
    assert names == known
    assert together == pytest.approx(alone, rel=1e-13, abs=1e-13)
    assert native == pytest.approx(alone, rel=1e-13, abs=1e-13)


GROWING = (
    "a variable of the node",
    "a fixed variable of the node",
    "sines of variables",
    "numbers for vectors",
    "inputs and time",
)
"""Those whose nodes' own variables, outputs, are few and simple enough to be written one by one."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in GROWING])
def test_code_does_not_grow_with_edges_of_any_kind(kind):
    def length(count):
        text = unit.generate(lower_system(network.loads(of_kind(kind, count)).system())).functions
        return sum(len(line) for line in text.splitlines() if not line.startswith("STRUT_TABLE"))

    assert abs(length(40) - length(30)) < 40  # digits of sizes; edges are 870 and 1560


def test_what_edges_add_is_summed_up_once_however_many_read_it():
    """Totals of totals: three levels, each of them one loop over 240 edges."""
    node = f'{NODE}  s = 0  r = 0  q = "r + 1"'
    edge = 's += "w * sin(input.x - output.x)"  r += "input.s * w"  x\' += "input.q - output.r"'
    text = f'node "n{{1:16}}" {{ {node} }}  <no-self> edge all "n{{1:16}}" {{ w = 0.1  {edge} }}'
    system = network.loads(text).system()
    x = np.random.default_rng(1).normal(size=16)
    s = 0.1 * np.sin(x[None, :] - x[:, None]).sum(axis=1)
    r = 0.1 * (s.sum() - s)
    rate = -0.3 * x + ((r + 1).sum() - (r + 1)) - 15 * r
    found = compile_system(system, backend="native").evaluate(
        "flow", 0.0, x, [], [], [float(q.value[0]) for q in system.p]
    )
    assert found[0] == pytest.approx(rate, rel=1e-12)
    assert len(lower_system(system).looped) == 2


@pytest.mark.parametrize("edge", ['s <= "[input.x; 1]"', 's[1] += "input.x"'])
def test_edges_that_set_or_add_to_elements_are_taken_one_by_one(edge):
    text = f'node "n{{1:20}}" {{ {NODE}  s = "[0; 0]"  y\' = "s[1] + x" }}  edge from "n{{1:20}}" to "n$(@1 + 1)" {{ {edge} }}'
    system = network.loads(text).system()
    assert not any(isinstance(like, Totals) for like in system.flow.made)
    values = {q.name: float(q.value[0]) for q in (*system.x, *system.p)}
    rates = compile_system(system).evaluate(
        "flow", 0.0, [values[n] for n in system.labels("x")], [], [], [values[q.name] for q in system.p]
    )
    found = dict(zip(system.labels("x"), rates[0], strict=True))
    assert found["n7.y"] == pytest.approx(0.7 + (1 if "<=" in edge else 0.6))


def test_derivatives_in_functions_are_taken_edge_by_edge():
    """Of what a function is given nothing is known that could be derived; the edges' own equations are."""
    system = network.loads(
        f"""f(d) = "dt[d]"  node "n{{1:16}}" {{ {NODE}  y = 0  y' = 0 }}
        <no-self> edge all "n{{1:16}}" {{ y' += "f(input.x)" }}"""
    ).system()
    x = np.arange(16.0)
    values = dict(zip(system.labels("x"), compile_system(system, backend="virtual").evaluate(
        "flow", 0.0, [v for k in x for v in (k, 0.0)], [], [], [float(q.value[0]) for q in system.p])[0], strict=True))  # fmt: skip
    assert [values[f"n{k + 1}.y"] for k in range(16)] == pytest.approx(-0.3 * (x.sum() - x))


def test_compiled_loops_give_the_same():
    x = np.random.default_rng(2).normal(size=(3, 12))
    system = network.loads(coupled(12)).system()
    assert "like terms" in unit.unit_text(lower_system(system))
    assert rates(system, x, "native", g=0.1) == pytest.approx(rates(system, x, g=0.1), abs=1e-14)


@pytest.mark.parametrize("term", ["w * sin(input.x - output.x - b + g)", "g * (input.x - output.x)^3"])
def test_edges_that_read_neighbours_are_runs_without_tables(term):
    """All to all: two runs for each node, up to it and behind it; loops that compilers can vectorise."""
    x = np.random.default_rng(3).normal(size=(3, 43))
    system = network.loads(coupled(43, term)).system()
    text = unit.unit_text(lower_system(system))
    loop = text[text.index("/* 1806 like terms, in 84 runs */") :]
    inner = loop[loop.index("for (; k + 4 <= length") : loop.index("lanes0[l] +=")]
    assert "[k + l]" in inner
    assert "table" not in inner
    assert rates(system, x, "native", g=0.1) == pytest.approx(rates(system, x, g=0.1), abs=1e-13)


def test_code_does_not_grow_with_edges():
    def code(count):
        lines = unit.unit_text(lower_system(network.loads(coupled(count)).system())).splitlines()
        return sum(len(line) for line in lines if not line.startswith("STRUT_TABLE"))

    twenty, fifty = (code(n) for n in (20, 50))
    assert abs(fifty - twenty) < 30  # digits of sizes; edges are 380 and 2450


def test_sines_are_taken_for_nodes_not_for_edges():
    text = unit.unit_text(lower_system(network.loads(coupled(20)).system()))
    flow = text[text.index("STRUT_(flow)(strut_real") : text.index("STRUT_(guards_and_rates)(strut_real")]
    loop = flow[: flow.index("STRUT_SIN(")].rpartition("for (")[2]
    assert flow.count("STRUT_SIN(") == flow.count("STRUT_COS(") == 1
    assert loop.startswith("int k = 0; k < 20;")


def test_edges_that_are_not_alike_are_left_alone():
    """A vector among scalars, a name that means nothing in one edge: the slow way, and its mistakes."""
    net = network.loads(
        'node "n{1:20}" { x = "[1; 2]"  x\' = "0 * x" } edge from "n{1:20}" to "n$(@1 + 1)" { x\' += "input.x - output.x" }'
    )
    assert net.system().size("x") == 40
    with pytest.raises(network.NetworkError, match="index 7 is outside: there are 2"):
        network.loads('node "n{1:20}" { x = "[1; 2]"  x\' = "x[7]" }').system()
    with pytest.raises(network.NetworkError, match="'input.z' is unknown"):
        network.loads(
            'node "n{1:20}" { x = 1  x\' = 0 } edge from "n{1:20}" to "n$(@1 + 1)" { x\' += "input.z" }'
        ).system()


@pytest.mark.parametrize("name", ["02_two_masses", "05_many", "08_templates", "11_hopf", "23_chains"])
def test_listings_are_the_same_in_loops_however_short(name, monkeypatch):
    """Where two are many: every like pair of edges, variables and equations of a listing goes through sums and loops."""

    def found(backend):
        system = network.load(EXAMPLES / f"{name}.cdn").system()
        begin, model = start(system), compile_system(system, backend=backend)
        x = begin.x + 0.1 * np.random.default_rng(0).normal(size=(3, len(begin.x)))
        z, u = (np.tile(v, (3, 1)) for v in (begin.z, begin.u))
        values = [
            model.evaluate(function, [0.0, 0.3, 0.9], x, z, u, begin.p) for function in ("flow", "outputs")
        ]
        return lower_system(system).looped, np.hstack(values)

    alone = found("virtual")[1]
    monkeypatch.setattr(like_reader, "MIN_EDGES_FOR_LOOP", 2)
    monkeypatch.setattr(looped, "MIN_TERMS", 1)
    monkeypatch.setattr(looped, "MIN_OPERATIONS", 1)
    loops, native = found("native")
    assert "flow" in loops
    assert native == pytest.approx(alone, rel=1e-13, abs=1e-13)
    assert found("virtual")[1] == pytest.approx(alone, rel=1e-14, abs=1e-14)
