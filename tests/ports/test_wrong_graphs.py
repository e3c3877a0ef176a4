"""Wrong graphs: errors that name the element and say why."""

import numpy as np
import pytest

import strut
from strut import ports
from strut.errors import ModelError, ShapeError, StrutError, UnknownNameError


def graph():
    g = ports.BondGraph("wrong")
    g.one("j")
    g.inertia("coil", 1.0, domain="electrical")
    g.bond("j", "coil")
    return g


def test_a_bond_between_domains():
    g = graph()
    g.inertia("wheel", 1.0, domain="rotation")
    g.bond("j", "wheel")
    with pytest.raises(
        ModelError,
        match="bond .* of 'wrong' joins domains: .*'wheel' is rotation, .*'coil' is electrical|'coil' is electrical, .*'wheel' is rotation",
    ):
        ports.system(g)


def test_sources_in_conflict_are_both_named():
    g = ports.BondGraph("wrong")
    g.zero("node")
    g.one("wire")
    for name in ("battery", "dynamo"):
        g.effort_source(name, 12.0, domain="electrical")
    g.resistor("load", 1.0, domain="electrical")
    g.bond("battery", "node")
    g.bond("dynamo", "node")
    g.bond("node", "load")
    del g.elements["wire"]
    with pytest.raises(
        ModelError, match=r"conflict at bond dynamo -> node: effort source 'dynamo' .*battery -->\| node"
    ):
        ports.system(g)


def test_a_port_that_is_not_connected():
    g = graph()
    g.resistor("copper", 1.0, domain="electrical")
    g.effort_source("supply", 1.0, domain="electrical")
    g.bond("supply", "j")
    with pytest.raises(
        ModelError, match=r"resistor 'copper' of 'wrong' is not connected: add bond\('OTHER', 'copper'\)"
    ):
        ports.system(g)


def test_a_port_with_two_bonds():
    g = graph()
    g.one("k")
    g.bond("k", "coil")
    g.bond("j", "k")
    with pytest.raises(
        ModelError, match="inertia 'coil' .* has 2 bonds .*: a port has one, put a 0- or 1-junction"
    ):
        ports.system(g)


def test_a_junction_of_one_bond():
    with pytest.raises(
        ModelError, match=r"1-junction 'j' of 'wrong' has 1 bond\(s\): a junction joins at least two"
    ):
        ports.system(graph())


def test_modulated_storage():
    g = graph()
    with pytest.raises(
        ModelError,
        match=r"compliance 'c' is modulated by 'level': its energy would change without power. Give it a further port",
    ):
        g.compliance("c", capacity=strut.Input("level", 1.0), domain="electrical")
    coil = g["coil"]
    with pytest.raises(ModelError, match="compliance 'c' is modulated by 'coil_flow'"):
        g.compliance("c", energy=lambda q: q**2 * (1 + coil.flow), domain="electrical")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda g: g.bond("coil", "j"), "a bond leads away from inertia 'coil': power is counted into it, turn the bond round"),
        (lambda g: g.bond("j", "cool"), "ends at 'cool', which is no element: did you mean 'coil'"),
        (lambda g: g.bond("j", "j"), "from 'j' to itself"),
        (lambda g: g.bond("j"), "leads nowhere"),
        (lambda g: g.bond("j.a", "coil"), "a junction has no named ports"),
        (lambda g: g.inertia("coil", 1.0, domain="electrical"), "has an element 'coil' already"),
        (lambda g: g.inertia("x", 1.0, domain="electric"), "domain 'electric': did you mean 'electrical'"),
        (lambda g: g.inertia("x", 1.0, domain="thermal"), "nothing stores the integral of a temperature"),
        (lambda g: g.inertia("x", domain="rotation"), "is given 0 of inertia and energy: give one"),
        (lambda g: g.inertia("x", strut.Param("m", 1.0, "N/m"), domain="translation"), r"the inertia of inertia 'x' is in N/m: a quantity in \(N s\)/\(m/s\)"),
        (lambda g: g.compliance("x", stiffness=strut.Param("m", 1.0, "m/N"), domain="translation"), "is in m/N"),
        (lambda g: g.effort_source("x", strut.Input("F", 1.0, "N m"), domain="translation"), "the effort of effort source 'x' is in N m: a quantity in N is needed"),
        (lambda g: g.gyrator("x", strut.Param("k", 1.0, "V"), domains=("electrical", "rotation")), r"the ratio of gyrator 'x' is in V: a quantity in \(N m\)/\(A\)"),
        (lambda g: g.resistor("x", 1.0, conductance=2.0, domain="electrical"), "is given 2 of resistance, conductance, effort, flow: give one"),
        (lambda g: g.inertia("x", [[1.0, 2.0], [0.0, 1.0]], domain="translation", size=2), "not symmetric"),
        (lambda g: g.inertia("x", [[1.0, 0.0], [0.0, 1.0]], domain="translation"), "has 2 rows and 2 columns"),
        (lambda g: g.storage("x", {"a": ("R", "rotation")}, lambda q: q), "port 'a' of storage 'x' is 'R': write 'I' or 'C'"),
        (lambda g: g.storage("x", {"a": ("C", "rotation")}, lambda q: q**2, initial={"b": 1.0}), "has no port 'b'"),
        (lambda g: g.inertia("x", float("nan"), domain="rotation"), "the inertia of inertia 'x' is nan: a finite number is needed"),
        (lambda g: g.inertia("x", 0.0, domain="rotation"), "the inertia of inertia 'x' is zero: it is divided by"),
        (
            lambda g: g.inertia("x", -1e-3, domain="rotation"),
            "the inertia of inertia 'x' is -0.001: what it stores would be negative",
        ),
        (
            lambda g: g.compliance("x", capacity=[[1.0, 2.0], [2.0, 1.0]], size=2, domain="electrical"),
            "the capacity of .* 'x' is a matrix with a negative eigenvalue",
        ),
        (lambda g: g.effort_source("x", float("inf"), domain="rotation"), "the effort of effort source 'x' is inf"),
        (lambda g: g.compliance("x", stiffness=1.0, initial=float("nan"), domain="rotation"), "where compliance 'x' begins is nan"),
        (lambda g: g.transformer("x", []), "the ratio of transformer 'x' is \\[\\]: a number"),
        (lambda g: g["spool"], "has no element 'spool'"),
        (lambda g: g.expose("coil", "j"), "has a 'coil' already"),
        (lambda g: g.include("x", g), "cannot be part of itself"),
        (lambda g: ports.system(ports.BondGraph("none")), "bond graph 'none' is empty"),
        (lambda g: g["j"].effort, "1-junction 'j' has 0 ports .* ambiguous"),
        (lambda g: g["coil"].port("x"), "has no port 'x'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(build, says):
    with pytest.raises(StrutError, match=says):
        build(graph())


def test_a_symbol_that_nobody_owns():
    import casadi as ca

    g = graph()
    g.resistor("r", ca.SX.sym("mystery"), domain="electrical")
    g.bond("j", "r")
    with pytest.raises(ModelError, match="has 'mystery' in it, which is no parameter, no input"):
        ports.system(g)


def test_sizes_that_differ_are_named():
    g = ports.BondGraph("sizes")
    g.one("v")
    g.inertia("a", 1.0, domain="translation", size=2)
    g.inertia("b", 1.0, domain="translation", size=3)
    g.bond("v", "a", "b")
    with pytest.raises(ModelError, match=r"joins sizes: .* put a transformer with a matrix"):
        ports.system(g)


def test_a_law_the_wrong_way_round_says_what_to_write():
    g = ports.BondGraph("valve")
    g.effort_source("pump", 2e5, domain="hydraulic")
    g.zero("node")
    g.resistor("orifice", effort=lambda f: f * abs(float(1)), domain="hydraulic")
    g.resistor("leak", 1e8, domain="hydraulic")
    g.bond("pump", "node")
    g.bond("node", "orifice", "leak")
    with pytest.raises(
        ModelError,
        match=r"resistor 'orifice' .* is given its effort, and its law says the effort as a function of the flow: .*pump.*node.*; give the law the other way round, flow=",
    ):
        ports.system(g)


def geared(ratio=0.5, initial=0.0):
    g = ports.BondGraph("geared")
    g.one("fast")
    g.one("slow")
    g.inertia("rotor", 1.0, domain="rotation", initial=2.0)
    g.inertia("wheel", 3.0, domain="rotation", initial=initial)
    g.transformer("gear", ratio)
    g.resistor("bearing", 1.0, domain="rotation")
    g.bond("fast", "rotor", "gear")
    g.bond("gear", "slow")
    g.bond("slow", "wheel", "bearing")
    return g


def test_a_storage_that_follows_cannot_begin_elsewhere():
    ports.system(geared(initial=3.0))  # 3 kg m^2 at half of 2 rad/s
    with pytest.raises(
        ModelError,
        match=r"inertia 'wheel' of 'geared' begins at \[4.0\], .* what it is tied to makes that \[3.0\]. Leave its initial value away",
    ):
        ports.system(geared(initial=4.0))


def test_what_must_be_divided_by_zero_is_named():
    g = ports.BondGraph("wrong")
    g.effort_source("supply", 1.0, domain="electrical")
    g.zero("node")
    g.resistor("short", 0.0, domain="electrical")
    g.resistor("load", 1.0, domain="electrical")
    g.bond("supply", "node")
    g.bond("node", "short", "load")
    with pytest.raises(
        StrutError, match="the resistance of resistor 'short' is zero, and what the graph gives"
    ):
        ports.system(g)
    h = ports.BondGraph("wrong")
    h.effort_source("motor", 1.0, domain="rotation")
    h.transformer("gear", 0.0)
    h.inertia("wheel", 1.0, domain="rotation")
    h.bond("motor", "gear")
    h.bond("gear", "wheel")
    with pytest.raises(StrutError, match="the ratio of transformer 'gear' is zero"):
        ports.system(h)


def test_an_element_that_was_taken_out_leaves_its_bond():
    g = geared()
    del g.elements["wheel"]
    with pytest.raises(
        ModelError, match="bond slow -> wheel of 'geared' ends at 'wheel', which is no element any more"
    ):
        ports.system(g)


def test_an_energy_takes_as_many_arguments_as_there_are_ports():
    with pytest.raises(
        ModelError, match=r"the energy of storage 's' does not take the states of its 2 port\(s\)"
    ):
        graph().storage("s", {"a": ("C", "rotation"), "b": ("C", "rotation")}, lambda q: q**2)


def test_equal_domains_of_ones_own_are_one():
    def chemical():
        return ports.Domain("chemical", "potential", "rate", "J/mol", "mol/s", "J s/mol", "mol")

    g = ports.BondGraph("cell")
    g.zero("node")
    g.compliance("store", capacity=1.0, domain=chemical())
    g.resistor("reaction", 1.0, domain=chemical())
    g.bond("node", "store", "reaction")
    assert [q.name for q in ports.system(g).x] == ["store.q"]


def test_kinds_of_errors():
    assert issubclass(ShapeError, ModelError)
    assert issubclass(UnknownNameError, ModelError)


def motor_without_domains(unit):
    g = graph()
    g.gyrator("motor", strut.Param("kt", 0.05, unit))  # its neighbours say what it joins
    g.one("speed")
    g.inertia("rotor", 1.0, domain="rotation")
    g.resistor("bearing", 1.0, domain="rotation")
    g.bond("j", "motor")
    g.bond("motor", "speed")
    g.bond("speed", "rotor", "bearing")
    return g


def test_a_ratio_whose_unit_does_not_fit_the_neighbours():
    ports.system(motor_without_domains("N m/A"))
    with pytest.raises(ModelError, match=r"ratio of gyrator 'motor' of 'wrong' is in N m: .*\(N m\)/\(A\)"):
        ports.system(motor_without_domains("N m"))


def test_a_unit_that_is_unknown_names_the_element():
    g = graph()
    with pytest.raises(ModelError, match="the resistance of resistor 'copper': .*'ohm'.*did you mean 'Ohm'"):
        g.resistor("copper", strut.Param("R", 1.0, "ohm"), domain="electrical")


def pushed(mass):
    """A mass that is pushed."""
    g = ports.BondGraph("pushed")
    g.effort_source("push", 1.0, domain="translation")
    g.inertia("cart", mass, domain="translation")
    g.one("way")
    g.bond("push", "way")
    g.bond("way", "cart")
    return g


def test_a_parameter_of_zero_is_refused_as_a_divisor():
    """When the graph is made, when a value is set, and when a run or a batch begins."""
    with pytest.raises(
        StrutError, match="the inertia of inertia 'cart' is zero with the value of parameter 'mass'"
    ):
        pushed(strut.Param("mass", 0.0, "kg"))
    with pytest.raises(
        StrutError, match="the capacity of compliance 'c' is zero with the value of parameter 'C'"
    ):
        ports.BondGraph("g").compliance("c", capacity=strut.Param("C", 0.0), domain="electrical")
    mass = strut.Param("mass", 2.0, "kg")
    system = ports.system(pushed(mass))
    text = "parameter 'mass' is 0 kg: allowed are numbers above zero"
    with pytest.raises(StrutError, match=text):
        system.using(mass=0.0)
    for options in ({}, {"method": "radau"}, {"method": "rk4", "step": 0.1}, {"backend": "virtual"}):
        with pytest.raises(StrutError, match=text):
            strut.simulate(system, t=1.0, p={"mass": 0.0}, **options)
    with pytest.raises(StrutError, match=text):
        strut.simulate_batch(system, t=1.0, p={"mass": np.array([1.0, 0.0])})
    assert mass.bounds[0] == -np.inf  # elsewhere it may be anything


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ledger": False},
        {"backend": "virtual"},
        {"method": "rk4", "step": 0.1},
        {"method": "radau"},
        {"method": "bdf", "backend": "virtual"},
    ],
)
def test_an_expression_of_zero_ends_a_run_before_it_begins(options):
    """Its states stay finite, its energy is no number: the run is not ok, and says why."""
    a = strut.Param("a", 1.0)
    system = ports.system(pushed(2 * a))
    run = strut.simulate(system, t=1.0, p={"a": 0.0}, **options)
    assert (run.ok, run.status) == (False, "not finite")
    assert (
        "the stored energy is infinite or not a number at t = 0 s: something is divided by zero"
        in run.message
    )
    batch = strut.simulate_batch(system, t=1.0, p={"a": np.array([1.0, 0.0])})
    assert batch.status.tolist() == ["done", "not finite"]
