"""Pictures: half arrows, causal strokes, and power in motion."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import strut
from strut import ports, report
from strut.cli.app import main
from strut.errors import ModelError, ShapeError
from tests.ports.graphs import bridge, gears, motor
from tests.ports.test_graphfile import MOTOR

SVG = "{http://www.w3.org/2000/svg}"


def bonds_drawn(text):
    """By bond, its lines as pairs of points: the bond itself, the barb, the stroke, and more for a vector."""
    drawn = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        title, lines = group.find(f"{SVG}title"), group.findall(f"{SVG}line")
        if lines:
            drawn[title.text] = [
                np.array([[float(line.get(k + n)) for k in "xy"] for n in "12"]) for line in lines
            ]
    return drawn


@pytest.mark.parametrize("make", [motor, gears, bridge])
def test_every_bond_has_its_half_arrow_and_its_stroke_where_causality_says(make):
    g = make()
    drawn, strokes = bonds_drawn(ports.svg(g)), ports.causality(g).strokes()
    assert set(drawn) == {str(b) for b in g.bonds} == set(strokes)
    for bond in g.bonds:
        line, barb, stroke = drawn[str(bond)]
        assert np.allclose(barb[1], line[1], atol=0.11)  # the half arrow ends at the head
        along, across = line[1] - line[0], stroke[1] - stroke[0]
        assert abs(along @ across) < 0.02 * np.linalg.norm(along) * np.linalg.norm(across)
        at_head = np.linalg.norm(stroke.mean(axis=0) - line[1]) < np.linalg.norm(
            stroke.mean(axis=0) - line[0]
        )
        assert at_head == (strokes[str(bond)] == bond.head[0])


def test_elements_do_not_lie_on_each_other():
    text = ports.svg(motor())
    places = [
        (float(t.get("x")), float(t.get("y")))
        for t in ET.fromstring(text).iter(f"{SVG}text")
        if t.get("font-weight")
    ]
    assert len(places) == len(motor().elements)
    gaps = [np.hypot(a[0] - b[0], a[1] - b[1]) for k, a in enumerate(places) for b in places[:k]]
    assert min(gaps) > 40


def test_modulated_ones_and_vectors_are_marked():
    import casadi as ca

    g = ports.BondGraph("marked")
    g.one("v")
    g.inertia("mass", 1.0, domain="translation", size=2)
    g.transformer("lever", ca.horzcat(ca.sin(strut.time), 1.0))
    g.one("out")
    g.compliance("spring", stiffness=1.0, domain="translation")
    g.bond("v", "mass", "lever")
    g.bond("lever", "out")
    g.bond("out", "spring")
    text = ports.svg(g)
    assert ">MTF<" in text
    drawn = bonds_drawn(text)
    assert [len(drawn[b]) for b in ("v -> mass", "out -> spring")] == [4, 3]


def test_power_through_the_graph_is_that_of_the_run():
    g = motor()
    run = strut.simulate(ports.system(g), 0.5)
    samples = report.power_samples(g, run, frames=40)
    moments = run.at(samples.times)
    power = moments["copper.effort"] * moments["copper.flow"]
    assert samples.powers["current -> copper"] == pytest.approx(power.reshape(-1), rel=1e-9)
    incoming = samples.powers["supply -> current"]
    outgoing = sum(samples.powers[f"current -> {e}"] for e in ("winding", "copper", "motor.in"))
    assert incoming == pytest.approx(outgoing, rel=1e-9, abs=1e-9)
    assert samples.energies["rotor"][-1] == pytest.approx(run.ledger_at(0.5).stored["rotor"][-1], rel=1e-9)
    text = ports.svg(g, samples)
    root = ET.fromstring(text)
    animations = list(root.iter(f"{SVG}animate"))
    assert len(animations) == 2 * len(g.bonds) + 2  # width and dashes of bonds, discs of two storages
    assert all(len(a.get("values").split(";")) == 40 and a.get("dur") == "0.500s" for a in animations)
    assert "<script" not in text
    # energy flows in: the dashes of the supply's bond run towards its head, their offset falls
    dashes = next(a for a in animations if a.get("attributeName") == "stroke-dashoffset")
    offsets = dashes.get("values").split(";")
    assert float(offsets[-1]) < float(offsets[0])


def test_a_page_has_the_graph_in_motion(tmp_path):
    pytest.importorskip("plotly")
    g = motor()
    path = report.graph_report(g, strut.simulate(ports.system(g), 0.2)).save(tmp_path / "motor.html")
    text = path.read_text()
    assert "Power through the graph" in text
    assert text.count("<animate ") == 2 * len(g.bonds) + 2


def test_a_run_of_another_graph_is_refused():
    run = strut.simulate(ports.system(motor()), 0.1)
    with pytest.raises(ModelError, match="is not one of this graph 'motor', whose 'winding.p' it has not"):
        report.power_samples(motor(), run)
    with pytest.raises(ShapeError, match="bond supply -> current has 3 powers: 2 are needed"):
        ports.svg(motor(), ports.PowerSamples(np.array([0.0, 1.0]), {"supply -> current": np.zeros(3)}, {}))


def test_the_command_line_draws_and_writes_pages(tmp_path, monkeypatch, capsys):
    pytest.importorskip("plotly")
    (tmp_path / "motor.toml").write_text(MOTOR)
    monkeypatch.chdir(tmp_path)
    for words in (["graph", "motor.toml"], ["run", "motor.toml", "-t", "0.1", "-o", "motor.html"]):
        with pytest.raises(SystemExit) as leaving:
            main(words)
        assert leaving.value.code == 0
    assert len(bonds_drawn((tmp_path / "motor.svg").read_text())) == 7
    assert "<animate " in (tmp_path / "motor.html").read_text()
    assert re.search("motor.svg: 8 nodes, 7 edges", capsys.readouterr().out)
