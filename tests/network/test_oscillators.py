"""Oscillators of the library: closed forms, periods and phases."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import network
from tests.network.reading import begin

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"


def loaded(text, **files):
    imports = "\n".join(f'import "oscillators/{path}.cdn" as "{name}"' for name, path in files.items())
    return network.loads(f"templates {{ {imports} }}\n{text}")


def run(net, t, x0=None, p=None, **options):
    return strut.simulate(
        net.system(), t=t, x0=x0, p=p, **{"rtol": 1e-10, "atol": 1e-10, "backend": "virtual", **options}
    )


def crossings(walk, name, begin_, end):
    """Times at which a curve comes up through zero."""
    t = np.linspace(begin_, end, 4001)
    x = walk.at(t)[name]
    k = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    for _ in range(3):  # the secant, again between closer points
        low, high = t[k], t[k + 1]
        a, b = walk.at(low)[name], walk.at(high)[name]
        middle = low - a * (high - low) / (b - a)
        width = (high - low) / 100
        t = np.stack([middle - width, middle + width]).T.ravel()
        k = np.arange(0, len(t), 2)
    return middle


def test_van_der_pol_has_its_period_and_amplitude():
    net = loaded('node "v" : vdp.oscillator {}', vdp="van_der_pol")
    walk = run(net, 60, backend="auto")
    up = crossings(walk, "v.x", 30, 60)
    assert np.diff(up) == pytest.approx([11.61223] * (len(up) - 1), abs=1e-4)
    assert np.max(walk.at(np.linspace(40, 60, 20001))["v.x"]) == pytest.approx(2.02151, abs=1e-5)


def test_forcing_moves_van_der_pol():
    net = loaded('node "v" : vdp.forced {}', vdp="van_der_pol")
    free = loaded('node "v" : vdp.oscillator {}', vdp="van_der_pol")
    pushed = begin(net, **{"v.φ": np.pi / 2})["v.force"]
    assert pushed == pytest.approx(1)
    assert abs(run(net, 5).at(5)["v.x"] - run(free, 5).at(5)["v.x"]) > 1e-3


@pytest.mark.parametrize(
    ("values", "period", "amplitude"),
    [
        ({"a": 2, "b": 2, "Tau": 0.1}, 0.62832, 0.2896),
        ({"a": 2.5, "b": 2.5, "Tau": 0.2}, 0.89209, 0.48037),
    ],
)
def test_matsuoka(values, period, amplitude):
    net = loaded('node "m" : matsuoka.oscillator {}', matsuoka="matsuoka")
    start = {"m.neuron1.x": 0.1, "m.neuron2.x": -0.05, "m.neuron1.v": 0, "m.neuron2.v": 0.05}
    walk = run(
        net, 20, x0=start, p={f"m.{k}": v for k, v in values.items()}, rtol=1e-8, atol=1e-8, backend="auto"
    )
    up = crossings(walk, "m.χ", 15, 20)
    assert np.diff(up).mean() == pytest.approx(period, abs=2e-5)
    assert np.max(walk.at(np.linspace(15, 20, 20001))["m.χ"]) == pytest.approx(amplitude, abs=2e-4)


def test_matsuoka_knows_its_frequency():
    now = begin(loaded('node "m" : matsuoka.oscillator { Tau = 0.1 }', matsuoka="matsuoka"))
    assert now["m.frequency"] == pytest.approx(10 / (2 * np.pi))
    assert now["m.margin"] == pytest.approx(0)


def test_matsuoka_can_be_pushed():
    text = 'node "a" : matsuoka.oscillator {}  node "b" : matsuoka.oscillator {}  edge from "a" to "b" : matsuoka.coupling {}'
    net = loaded(text, matsuoka="matsuoka")
    system = net.system()
    alone = loaded(
        'node "a" : matsuoka.oscillator {}  node "b" : matsuoka.oscillator {}', matsuoka="matsuoka"
    ).system()
    assert str(system.flow["b.neuron1.x"]) != str(alone.flow["b.neuron1.x"])
    assert str(system.flow["a.neuron1.x"]) == str(alone.flow["a.neuron1.x"])


def test_hopf_grows_as_its_closed_form_in_both_coordinates():
    text = 'node "p" : polar.oscillator { γ = 5  r = 0.01 }  node "c" : circle.oscillator { γ = 5  x = 0.01  y = 0 }'
    net = loaded(text, polar="hopf_polar", circle="hopf")
    t = np.linspace(0, 2, 11)
    at = run(net, 2).at(t)
    wanted = (1 + (1 / 0.01**2 - 1) * np.exp(-2 * 5 * t)) ** -0.5
    assert np.allclose(at["p.r"], wanted, atol=1e-8)
    assert np.allclose(at["c.amplitude"], wanted, atol=1e-8)
    assert np.allclose(at["p.χ"], at["c.χ"], atol=1e-8)
    assert np.allclose(at["p.φ"], 2 * np.pi * t, atol=1e-8)


def test_hopf_functions_are_those_of_a_run():
    """They find the values of the oscillator that calls them."""
    text = """
    node "functions" : polar."functions" {}
    node "p" : polar.oscillator {
        γ = 2  r = 0.5  φ = 0.4  target_amplitude = 2
        later = "[functions.Amplitude(0.3); functions.Phase(0.3); functions.X(0.3); functions.Y(0.3)]"
        soon = "functions.TimeForAmplitude(1.5)"
        enough = "functions.TimeForRelConv(0.75)"
        quicker = "functions.GammaForRelConv(0.1, 0.9)"
    }
    """
    net = loaded(text, polar="hopf_polar")
    now = begin(net)
    walk = run(net, 0.3)
    end = walk.at(0.3)
    amplitude, phase, x, y = now["p.later"].ravel()
    assert end["p.r"] == pytest.approx(amplitude, abs=1e-9)
    assert end["p.φ"] == pytest.approx(phase, abs=1e-9)
    assert (x, y) == pytest.approx((amplitude * np.cos(phase), amplitude * np.sin(phase)))
    assert walk.at(float(now["p.soon"]))["p.r"] == pytest.approx(1.5, abs=1e-9)
    assert now["p.enough"] == pytest.approx(now["p.soon"])
    assert run(net, 0.1, p={"p.γ": now["p.quicker"]}).at(0.1)["p.r"] == pytest.approx(1.8, abs=1e-9)


def test_coordinates_of_oscillators_turn_into_each_other():
    """What the library gives for the rates of polar and Cartesian coordinates are those rates."""
    text = """
    node "p" : hopf_polar.oscillator, polar.cartesian_dot { r = 0.4  φ = 0.7 }
    node "c" : hopf.oscillator, cartesian.polar_dot { x = 0.3  y = 0.2 }
    node "forced" : hopf.oscillator, cartesian.add_polar, polar.polar_input { x = 0.3  y = 0.2  s_r_dot = 0.5  s_φ_dot = 2 }
    node "moved" : hopf_polar.oscillator, cartesian.cartesian_input { r = 0.4  φ = 0.7  s_x_dot = 0.5  s_y_dot = -1 }
    node "free" : hopf_polar.oscillator { r = 0.4  φ = 0.7 }
    """
    net = loaded(text, polar="polar", cartesian="cartesian", hopf="hopf", hopf_polar="hopf_polar")
    for dot, of in (("p.x_dot", "p.x"), ("p.y_dot", "p.y"), ("c.r_dot", "c.r"), ("c.φ_dot", "c.φ")):
        assert net.value(dot) == pytest.approx(net.value(of + "'")), of
    assert net.value("forced.r'") == pytest.approx(net.value("c.r'") + 0.5)
    assert net.value("forced.φ'") == pytest.approx(net.value("c.φ'") + 2)
    assert net.value("moved.r'") == pytest.approx(net.value("free.r'") + 0.5 * np.cos(0.7) - np.sin(0.7))
    assert net.value("moved.φ'") == pytest.approx(
        net.value("free.φ'") + (-np.cos(0.7) - 0.5 * np.sin(0.7)) / 0.4
    )


def test_chains_settle_a_fifth_of_a_turn_apart():
    net = network.load(EXAMPLES / "23_chains.cdn")
    walk = strut.simulate(net.system(), t=60, method="rk4", step=0.005)
    end = walk.at(60)
    turn = 2 * np.pi
    for first, second in ((1, 2), (2, 3), (3, 4), (4, 5)):
        for chain in "hca":
            lag = (end[f"{chain}{second}.φ"] - end[f"{chain}{first}.φ"]) % turn
            assert np.degrees(lag) == pytest.approx(72, abs=1e-5), (chain, first)
    assert [end[f"a{k}.r"] for k in range(1, 6)] == pytest.approx([1.1, 1.2, 1.3, 1.4, 1.5])
    assert [end[f"c{k}.r"] for k in range(1, 6)] == pytest.approx([1] * 5, abs=1e-6)
    assert end["h1.φ"] - walk.at(59)["h1.φ"] == pytest.approx(turn, abs=1e-6)


def test_phase_oscillators_with_amplitude():
    """r' = γ (A - r) r is logistic; two that are coupled one way close their distance: tan(ψ/2) falls as
    e^(-w ∫r dt), and ∫r dt = ln(r/r0)/γ + ln((A - r0)/(A - r))/γ."""
    text = """
    node "a{1,2}" : phase.oscillator { φ = [0, 2]  r = 0.2  γ = 3  target_amplitude = 1.5  target_frequency = 0.5 }
    edge from "a1" to "a2" : phase.coupling { weight = 2 }
    """
    at = run(loaded(text, phase="phase"), 2).at(2)
    assert at["a1.r"] == pytest.approx(1.5 / (1 + (1.5 / 0.2 - 1) * np.exp(-3 * 1.5 * 2)), abs=1e-9)
    assert at["a1.φ"] == pytest.approx(2 * np.pi)
    pulled = np.log((1.5 - 0.2) / (1.5 - at["a1.r"])) / 3
    assert np.tan((at["a2.φ"] - at["a1.φ"]) / 2) == pytest.approx(np.tan(1) * np.exp(-2 * pulled), abs=1e-8)
    assert at["a2.χ"] == pytest.approx(at["a2.r"] * np.cos(at["a2.φ"]))


def test_controlled_amplitude_follows_critically_damped():
    text = 'node "a" : amplitude.oscillator { target_amplitude = 2  γ = 8  offset = 1 }'
    at = run(loaded(text, amplitude="amplitude"), 1).at(1)
    assert at["a.r"] == pytest.approx(2 * (1 - (1 + 4) * np.exp(-4)), abs=1e-9)
    assert at["a.χ"] == pytest.approx(1 + at["a.r"])


@pytest.mark.parametrize(
    ("library", "name", "amplitude"), [("morphed", "f", "μ"), ("awo", "g", "target_amplitude")]
)
def test_any_shape_is_approached_exponentially(library, name, amplitude):
    shape = "cos(θ * 2 + 0.2 * pi) * (0.1 + sin(θ))"
    text = f'node "m" : lib.oscillator {{ {name}(θ) = "{shape}"  φ = 0.3  r = 6  γ = 1.5  {amplitude} = 2 }}'
    walk = run(loaded(text, lib=library), 2)
    t = np.array([0, 0.5, 1, 2])
    at = walk.at(t)
    p = at["m.φ"]
    error = at["m.r"] - 2 * np.cos(p * 2 + 0.2 * np.pi) * (0.1 + np.sin(p))
    assert np.allclose(error, error[0] * np.exp(-1.5 * t), atol=1e-8)
    assert np.allclose(p, 0.3 + 2 * np.pi * t)


def test_all_of_them_at_once():
    net = network.loads('import "oscillators/all.cdn" as "o"\n' + "\n".join(
        f'node "{kind}" : o.{kind}.oscillator {{}}'
        for kind in ("phase", "amplitude", "hopf", "hopf_polar", "van_der_pol", "matsuoka", "morphed", "awo")
    ))  # fmt: skip
    assert len(net.nodes) == 11  # the import is one, and two neurons
    assert len(net.system().x) == 2 + 3 + 2 + 2 + 2 + 4 + 2 + 2


def test_polar_rates_of_a_cartesian_oscillator():
    net = loaded(
        'node "h" : hopf.oscillator, cartesian.polar_dot { x = 0.3  y = 0.4 }',
        hopf="hopf",
        cartesian="cartesian",
    )
    now = begin(net)
    assert now["h.r_dot"] == pytest.approx((1 - 0.25) * 0.5)
    assert now["h.frequency"] == pytest.approx(1)


def test_what_children_show_and_began_with():
    text = """
    node "n{1,2}" { x = "@@1"  x' = 1 }
    include "algorithms/initial.cdn"
    include "algorithms/interface_children_numeric.cdn"
    include "algorithms/interface_children.cdn"
    include "layout/line.cdn"
    total = "x1 + x2 + n2_x0"
    """
    net = network.loads(text)
    at = run(net, 3).at(3)
    assert at["total"] == pytest.approx(1 + 2 + 2 * 3 + 2)
    assert [n.place for n in net.nodes] == [(0, 0), (3, 0)]


def test_the_map_of_the_runner():
    """The stable angles at 20 kN/m, 66.25 to 68.75 degrees, and where they are at 10 and 40."""
    source = importlib.util.spec_from_file_location("slip_map", EXAMPLES / "slip_map.py")
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    attack = np.arange(55, 77, 0.25)
    steps = module.slip_map(np.array([10e3, 20e3, 40e3]), attack)
    for k, (low, high) in enumerate([(56.5, 59.25), (66.25, 68.75), (73.0, 75.0)]):
        runs = attack[steps[:, k] >= 24]
        assert runs.min() == pytest.approx(low, abs=0.25)
        assert runs.max() == pytest.approx(high, abs=0.25)
