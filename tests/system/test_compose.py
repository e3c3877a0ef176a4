"""Systems made of systems: prefixes, connections, couplings, shared parameters."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Event, Input, Ledger, Param, State, System, add_prefix, join
from strut.errors import AlgebraicLoopError, ModelError, UnknownNameError


def mass():
    x, v = State("x", 1.0, "m"), State("v", 0.0, "m/s")
    m, g = Param("m", 2.0, "kg"), Param("g", 9.81, "m/s^2")
    force = Input("force", 0.0, "N")
    return System(
        "mass",
        x=[x, v],
        u=[force],
        p=[m, g],
        flow={x: v, v: force / m},
        outputs={"momentum": m * v},
        events=[Event("zero", x, direction="down", reset={v: v})],
        ledger=Ledger(stored={"kinetic": m * v**2 / 2}, supplied={"push": force * v}),
    )


def spring():
    """Its two ends come in as positions and velocities; what the ends do to it is booked as supplied."""
    a, b, va, vb = Input("a"), Input("b"), Input("va"), Input("vb")
    k = Param("k", 8.0, "N/m")
    pull = k * (b - a)
    return System(
        "spring",
        u=[a, b, va, vb],
        p=[k],
        outputs={"pull": pull},
        ledger=Ledger(stored={"elastic": k * (b - a) ** 2 / 2}, supplied={"ends": pull * (vb - va)}),
    )


def chain():
    left, right, link = add_prefix(mass(), "left"), add_prefix(mass(), "right"), add_prefix(spring(), "link")
    return join(
        "chain",
        left,
        right,
        link,
        share=["g"],
        connect={
            "link.a": "left.x",
            "link.b": "right.x",
            "link.va": "left.v",
            "link.vb": "right.v",
            "left.force": "link.pull",
            "right.force": -link["link.pull"],
        },
    )


def test_names_are_prefixed_and_shared():
    system = chain()
    assert system.labels("x") == ("left.x", "left.v", "right.x", "right.v")
    assert system.labels("p") == ("left.m", "g", "right.m", "link.k")
    assert system.labels("u") == ()
    assert [e.name for e in system.events] == ["left.zero", "right.zero"]
    assert set(system.ledger.stored) == {"left.kinetic", "right.kinetic", "link.elastic"}


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_two_masses_on_a_spring(backend):
    """Relative motion oscillates at sqrt(2 k / m); the centre of mass stays; the joint ledger closes."""
    run = strut.simulate(chain(), t=3.0, x0={"left.x": 1.0, "right.x": 2.0}, backend=backend)
    omega = np.sqrt(2 * 8 / 2)
    np.testing.assert_allclose(run["right.x"] - run["left.x"], np.cos(omega * run.t), atol=1e-8)
    np.testing.assert_allclose(run["left.momentum"] + run["right.momentum"], 0, atol=1e-9)
    assert np.ptp(run.ledger.energy) < 1e-8
    assert run.ledger.residual < 1e-8  # what one part supplies the other receives


def test_couplings_add_to_the_flow():
    left, right = add_prefix(mass(), "left"), add_prefix(mass(), "right")
    pull = 8 / 2 * (right["right.x"] - left["left.x"])
    system = join(
        "coupled",
        left,
        right,
        couplings={"left.v": pull, "right.v": -pull},
        outputs={"gap": right["right.x"] - left["left.x"]},
    )
    run = strut.simulate(system, t=3.0, x0={"right.x": 2.0}, ledger=False)
    np.testing.assert_allclose(run["gap"], np.cos(np.sqrt(8) * run.t), atol=1e-8)


def test_a_part_can_be_nested_twice():
    inner = join("pair", add_prefix(mass(), "a"), add_prefix(mass(), "b"))
    outer = join("quad", add_prefix(inner, "left"), add_prefix(inner, "right"))
    assert outer.labels("x")[:2] == ("left.a.x", "left.a.v")
    assert outer.labels("x")[-1] == "right.b.v"


def test_initial_values_delays_and_samples_follow_their_part():
    length = Param("length", 2.0)
    x = State("x", length)
    past = strut.Delay("past", signal=x, by=0.1 * length, before=length)
    z = strut.Discrete("z", 0.0)
    part = System(
        "part",
        x=[x],
        z=[z],
        p=[length],
        delays=[past],
        flow={x: -past},
        samples=[strut.Sample("s", every=length / 4, set={z: z + x})],
    )
    both = join("both", add_prefix(part, "a"), add_prefix(part, "b"))
    one = strut.simulate(part, t=2.0, p={"length": 3.0})
    two = strut.simulate(both, t=2.0, p={"b.length": 3.0})
    assert two["b.x"][-1] == pytest.approx(one["x"][-1], rel=1e-7)
    assert two["b.z"][-1] == pytest.approx(one["z"][-1], rel=1e-7)
    assert two["a.x"][0] == 2.0


def amplifier(name):
    u = Input("u")
    return add_prefix(System("amplifier", u=[u], outputs={"y": 2 * u}), name)


def test_algebraic_loops_are_named():
    with pytest.raises(AlgebraicLoopError, match=r"a\.u <- b\.u <- a\.u"):
        join("ring", amplifier("a"), amplifier("b"), connect={"a.u": "b.y", "b.u": "a.y"})


def test_feedthrough_in_a_line_is_no_loop():
    x = State("x", 1.0)
    source = System("source", x=[x], flow={x: -x}, outputs={"out": x})
    line = join("line", source, amplifier("a"), amplifier("b"), connect={"b.u": "a.y", "a.u": "out"})
    assert float(ca.Function("f", [x.sym], [line.outputs["b.y"]])(3.0)) == 12.0


def test_mistakes_are_named():
    a = amplifier("a")
    with pytest.raises(UnknownNameError, match="connects to 'a.v', which is not an input"):
        join("bad", a, connect={"a.v": "a.y"})
    with pytest.raises(UnknownNameError, match="connects from 'a.z', which no part has"):
        join("bad", a, connect={"a.u": "a.z"})
    with pytest.raises(UnknownNameError, match="couples to 'a.x', which is not a state"):
        join("bad", a, couplings={"a.x": 1})
    one, other = (
        System("one", u=[Input("w")], outputs={"y": 1.0}),
        System("other", u=[Input("v")], outputs={"y": 2.0}),
    )
    with pytest.raises(ModelError, match="two parts of 'bad' have an output 'y': prefix them"):
        join("bad", one, other)
    with pytest.raises(ModelError, match=r"two parts of 'bad' have a ledger entry \(stored\) 'kinetic'"):
        join("bad", mass(), mass())
    with pytest.raises(UnknownNameError, match="no part has a parameter 'g' to share"):
        join("bad", a, share=["g"])
    with pytest.raises(ModelError, match="give them one value before sharing"):
        join("bad", add_prefix(mass(), "l"), add_prefix(mass().using(g=1.6), "r"), share=["g"])


def test_what_expressions_share_stays_shared():
    """Two rates with a long common part, joined to what drives it: it is computed once, as before."""
    a, b, push = State("a", 0.1), State("b", 0.2), Input("push")
    long = push.sym + a.sym
    for _ in range(50):
        long = ca.sin(long) + b.sym
    part = System("part", x=[a, b], u=[push], flow={a: long, b: -long})
    c = State("c", 0.3)
    whole = join("whole", part, System("source", x=[c], flow={c: -c.sym}), connect={"push": "c"})

    def count(system):
        return system.function("flow", [ca.vertcat(*system.flow.values())]).n_instructions()

    assert count(whole) <= count(part) + 6
