"""The explicit port-Hamiltonian form, interconnection, power continuity and passivity, on random passive graphs too."""

import re

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strut
from strut import ports
from strut.errors import ModelError
from tests.ports.graphs import gears, motor

BALANCE = 1e-9
"""[1] Of powers in random states, relative to the largest: rounding, magnified by loops of a few elements."""
ROUNDING = 1e-10
"""[1] Of an eigenvalue, relative to the largest."""


def test_the_motor_has_the_matrices_of_the_book():
    form = ports.port_hamiltonian(motor())
    assert [q.name for q in form.x] == ["winding.p", "rotor.p"]
    m = form.matrices()
    assert m["J"] == pytest.approx(np.array([[0, -0.05], [0.05, 0]]))
    assert m["R"] == pytest.approx(np.diag([0.3, 1e-3]))
    assert m["g"] == pytest.approx(np.array([[1.0], [0.0]]))
    assert np.all(m["K"] == 0)
    assert np.all(m["S"] == 0)
    assert np.all(m["P"] == 0)


def test_the_form_of_a_graph_in_derivative_causality_is_its_system():
    form, s = ports.port_hamiltonian(gears()), ports.system(gears())
    ours, theirs = strut.simulate(form.system(), 4.0), strut.simulate(s, 4.0)
    assert ours.at(4.0)["rotor.p"] == pytest.approx(theirs.at(4.0)["rotor.p"], rel=1e-9)
    assert form.matrices()["R"][0, 0] > 0
    assert ours.ledger.residual < BALANCE * ours.ledger.turnover


def oscillator(name, mass, stiffness, damping):
    g = ports.BondGraph(name)
    g.effort_source(f"{name}_force", 0.0, domain="translation")
    g.one("v")
    g.inertia(f"{name}_mass", mass, domain="translation", initial=1.0)
    g.compliance(f"{name}_spring", stiffness=stiffness, domain="translation", initial=0.2)
    g.resistor("loss", damping, domain="translation")
    g.bond(f"{name}_force", "v")
    g.bond("v", f"{name}_mass", f"{name}_spring", "loss")
    return g


def controller():
    """A PD controller seen as a physical system: a spring and a damper that a velocity is told."""
    g = ports.BondGraph("pd")
    g.flow_source("hand", 0.0, domain="translation")
    g.one("v")
    g.compliance("kp", stiffness=40.0, domain="translation", initial=-0.1)
    g.resistor("kd", 3.0, domain="translation")
    g.bond("hand", "v")
    g.bond("v", "kp", "kd")
    return g


def test_interconnection_is_the_graph_of_both():
    """(B.5): a mass on a spring with a PD controller, joined as forms and drawn as one graph."""
    joined = ports.interconnect(
        ports.port_hamiltonian(oscillator("cart", 2.0, 5.0, 0.3)),
        ports.port_hamiltonian(controller()),
        ports={"cart_force": "hand"},
        name="held",
    )
    m = joined.matrices()
    assert np.array_equal(m["J"], -m["J"].T)
    assert np.linalg.eigvalsh(m["R"]).min() >= 0
    g = oscillator("cart", 2.0, 5.0, 0.3)
    g.compliance("kp", stiffness=40.0, domain="translation", initial=-0.1)
    g.resistor("kd", 3.0, domain="translation")
    g.bond("v", "kp", "kd")
    end, whole = strut.simulate(joined.system(), 3.0).at(3.0), strut.simulate(ports.system(g), 3.0).at(3.0)
    for name in ("cart_mass.p", "cart_spring.q", "kp.q"):
        assert end[name] == pytest.approx(whole[name], rel=1e-8)
    assert ports.power_residual(joined.system()) < BALANCE


def test_what_cannot_be_joined_is_said():
    form, pd = ports.port_hamiltonian(oscillator("cart", 2.0, 5.0, 0.3)), ports.port_hamiltonian(controller())
    with pytest.raises(ModelError, match="'pd' is not strictly proper.*exchange the two"):
        ports.interconnect(pd, form, ports={"hand": "cart_force"})
    with pytest.raises(ModelError, match="'cart' has no input 'hand' to join: .*cart_force"):
        ports.interconnect(form, pd, ports={"hand": "hand"})


def test_a_gear_is_strictly_proper_and_can_be_held():
    """In derivative causality P is nothing but rounding: it must not keep two forms from being joined."""
    form = ports.port_hamiltonian(gears(n=1 / 3))
    assert np.all(form.matrices()["P"] == 0)
    g = controller()
    joined = ports.interconnect(form, ports.port_hamiltonian(g), ports={"motor": "hand"}, name="held")
    assert ports.power_residual(joined.system()) < BALANCE
    assert np.linalg.eigvalsh(joined.matrices()["R"]).min() >= -ROUNDING
    with pytest.raises(ModelError, match="'gears' and 'gears' both have 'rotor.p'"):
        ports.interconnect(form, form, ports={"motor": "motor"})


def test_values_of_matrices_are_checked():
    form = ports.port_hamiltonian(motor())
    assert form.matrices({"kt": 0.2})["J"][1, 0] == 0.2
    with pytest.raises(ModelError, match="'motor' has no 'k': .*kt"):
        form.matrices({"k": 0.2})
    with pytest.raises(ModelError, match=r"'kt' of 'motor' is given 2 number\(s\): 1 are needed"):
        form.matrices({"kt": [0.2, 0.3]})


def test_a_source_that_follows_a_signal_is_no_input():
    g = oscillator("cart", 2.0, 5.0, 0.3)
    g.effort_source("assist", g["cart_mass"].flow, domain="translation")
    g.bond("assist", "v")
    with pytest.raises(
        ModelError, match="effort source 'assist' of 'cart' is a function of 'cart_mass_flow'"
    ):
        ports.port_hamiltonian(g)


@pytest.mark.parametrize(
    ("energy", "says"),
    [
        (lambda q: -(q**2), "an eigenvalue of its matrix is -1"),
        (lambda q: q**2 - q**4, r"it is -1e\+24 J at"),
        (lambda q: q**3, "it is -1e.18 J at"),
        (lambda q: q**4 - q**2, ""),
        (lambda q: ca.cos(q), ""),
        (lambda q: 0 * q, ""),
    ],
)
def test_an_energy_without_a_least_value_is_not_passive(energy, says):
    g = ports.BondGraph("hill")
    g.one("v")
    g.inertia("mass", 1.0, domain="translation")
    g.compliance("hill", energy=energy, domain="translation")
    g.bond("v", "mass", "hill")
    found = ports.check_passivity(g).findings
    assert len(found) == (1 if says else 0)
    assert re.search(f"compliance 'hill' has no least value: {says}" if says else "", "".join(found))


def test_a_law_that_supplies_far_away_is_not_passive():
    g = ports.BondGraph("orifice")
    g.one("v")
    g.inertia("water", 1e5, domain="hydraulic")
    g.resistor("orifice", effort=lambda f: f * (1 - f**2 / 100), domain="hydraulic")
    g.bond("v", "water", "orifice")
    assert not ports.check_passivity(g).ok


def test_a_form_that_does_not_exist_names_the_element():
    g = oscillator("cart", 2.0, 5.0, 0.3)
    g.resistor("air", effort=lambda f: 0.1 * f * ca.fabs(f), domain="translation")
    g.bond("v", "air")
    with pytest.raises(ModelError, match="resistor 'air' of 'cart' is not linear, so there is no matrix R"):
        ports.port_hamiltonian(g)
    assert ports.power_residual(ports.system(g)) < BALANCE


def test_passivity_is_refuted_by_name():
    assert ports.check_passivity(motor()).ok
    g = oscillator("cart", 2.0, -5.0, 0.3)
    g.resistor("pump", -1.0, domain="translation")
    g.resistor("odd", effort=lambda f: f**2, domain="translation")
    g.compliance("weight", energy=lambda q: 9.81 * q, domain="translation")
    g.bond("v", "pump", "odd", "weight")
    findings = ports.check_passivity(g).findings
    assert len(findings) == 4
    text = " ".join(findings)
    for part in (
        "compliance 'cart_spring' has no least value",
        "resistor 'pump' supplies energy: the least eigenvalue of its resistance is -1",
        "resistor 'odd' supplies energy: its power is",
        "compliance 'weight' grows without end",
    ):
        assert part in text


@st.composite
def passive_graphs(draw):
    """A tree of junctions, some joined through transformers and gyrators, with storages, resistors and a source at
    them; now and then one bond more, which closes a loop."""
    g = ports.BondGraph("random")
    number = st.floats(0.2, 5.0)
    count = draw(st.integers(1, 6))
    for k in range(count):
        (g.zero if draw(st.booleans()) else g.one)(f"j{k}")
        if k:
            other = f"j{draw(st.integers(0, k - 1))}"
            through = draw(st.sampled_from(["bond", "bond", "transformer", "gyrator"]))
            if through == "bond":
                g.bond(other, f"j{k}")
            else:
                getattr(g, through)(f"x{k}", draw(number))
                g.bond(other, f"x{k}")
                g.bond(f"x{k}", f"j{k}")
        for i in range(draw(st.integers(1, 3))):
            name, kind = f"e{k}_{i}", draw(st.sampled_from("ICRR"))
            if kind == "I":
                g.inertia(name, draw(number), domain="rotation")
            elif kind == "C":
                g.compliance(name, stiffness=draw(number), domain="rotation")
            else:
                g.resistor(name, draw(number), domain="rotation")
            g.bond(f"j{k}", name)
    if count > 2 and draw(st.booleans()):
        g.bond("j0", f"j{count - 1}")
    if draw(st.booleans()):
        source = draw(st.sampled_from([g.effort_source, g.flow_source]))
        source("source", ca.sin(strut.time), domain="rotation")
        g.bond("source", "j0")
    return g


def attempt(make, g):
    """What a function makes of a graph, or why it does not."""
    try:
        return make(g), ""
    except ModelError as error:
        return None, str(error)


def equations_of(g, s):
    """What each element and junction of a graph says, as expressions of its system that should be zero: a second
    reading of the graph, which knows nothing of causality. Also all efforts and flows, by bond."""
    solved = ports.solve_graph(g)
    e, f = (
        {k: solved.solution.values[k, which] for k in range(len(g.bonds))}
        for which in (ports.Given.EFFORT, ports.Given.FLOW)
    )
    rate = ca.vertcat(*[s.flow[q.name] for q in s.x], ca.SX(0, 1))
    values = {q.name: q.sym for q in s.x} | dict(s.outputs)
    sums = []
    for name, element in g.elements.items():
        at = solved.wiring.at[name]
        first, last, kind = at[0].bond, at[-1].bond, element.kind.value
        if kind in ("0", "1"):
            common, summed = (e, f) if kind == "0" else (f, e)
            sums += [common[a.bond] - common[first] for a in at[1:]]
            sums += [sum((summed[a.bond] if a.inward else -summed[a.bond] for a in at), start=ca.SX(0))]
            continue
        law = next(iter(element.laws.values()))
        if kind in ("I", "C"):
            own = element.ports[0].state
            state, (given, answer) = values[own.name], (e, f) if kind == "I" else (f, e)
            moves = ca.jtimes(state, s.vector("x"), rate) if rate.numel() else ca.SX(0)
            slope = ca.jacobian(element.energy_slope(element.ports[0]), own.sym)
            sums += [moves + ca.jacobian(state, strut.time) - given[first], answer[first] - slope * state]
        elif kind == "R":
            sums += [e[first] - law * f[first]]
        elif kind in ("Se", "Sf"):
            sums += [(e if kind == "Se" else f)[first] - ca.sin(strut.time)]
        elif kind == "TF":
            sums += [f[last] - law * f[first], e[first] - law * e[last]]
        elif kind == "GY":
            sums += [e[last] - law * f[first], e[first] - law * f[last]]
        if len(element.ports) == 1:  # what the system shows is what the bond carries
            sums += [values[f"{name}.effort"] - e[first], values[f"{name}.flow"] - f[first]]
    return sums, [*e.values(), *f.values()]


@settings(max_examples=40, deadline=None)
@given(passive_graphs())
def test_random_graphs_fulfil_all_equations_of_their_elements(g):
    s, _ = attempt(ports.system, g)
    if s is None:
        return
    sums, carried = equations_of(g, s)
    assert len(sums) >= 2 * len(g.bonds)  # as many as determine all efforts and flows
    residuals, sizes = ca.vertcat(*sums), ca.vertcat(*carried, ca.SX(1))
    x = np.random.default_rng(0).uniform(-1, 1, s.size("x"))
    off, size = s.function("residuals", [residuals, sizes])(0.7, x, [], [], [])
    assert np.abs(np.array(off)).max(initial=0) < ROUNDING * np.abs(np.array(size)).max()


@settings(max_examples=60, deadline=None)
@given(passive_graphs())
def test_random_passive_graphs_keep_the_balance(g):
    if any(
        len([b for b in g.bonds if j in (b.tail[0], b.head[0])]) < 2
        for j, e in g.elements.items()
        if not e.ports
    ):
        return  # a junction with a single bond is refused, and tested elsewhere
    s, refusal = attempt(ports.system, g)
    if s is None:  # the bond more can say the same twice, or tie a storage to the rate of another's answer
        assert re.search("without a unique solution|second derivative|conflict", refusal)
        return
    if s.ledger.stored:
        assert ports.power_residual(s) < BALANCE
    assert ports.junction_residual(g) < BALANCE
    assert ports.check_passivity(g).ok
    form, refusal = attempt(ports.port_hamiltonian, g)
    if form is None:  # the rate of a source acts on a storage that is tied to it
        assert "is tied to source 'source', whose rate acts on it" in refusal
        assert ports.causality(g).dependent
        return
    m = form.matrices()
    assert np.array_equal(m["J"], -m["J"].T)
    dissipation = np.block([[m["R"], m["P"]], [m["P"].T, m["S"]]])
    if dissipation.size:
        eigenvalues = np.linalg.eigvalsh(dissipation)
        assert eigenvalues.min() >= -ROUNDING * max(1.0, eigenvalues.max())
    if form.x:
        assert ports.power_residual(form.system()) < BALANCE
    if form.x and form.u:  # the source is answered the same by both
        u = form.u[0]
        answer = s.outputs["source.flow" if g["source"].kind.value == "Se" else "source.effort"]
        x = np.linspace(0.3, 1.1, s.size("x"))
        theirs = float(s.function("answer", [answer])(0.7, x, [], [], []))
        ours = ca.Function("answer", [ca.vertcat(*[q.sym for q in form.x]), u.sym], [form.outputs])(
            x, np.sin(0.7)
        )
        assert float(ours) == pytest.approx(theirs, rel=1e-8, abs=1e-9)
