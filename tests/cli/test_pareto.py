"""`strut pareto`, and the graph on the page of a network."""

from pathlib import Path

from typer.testing import CliRunner

from strut.cli.app import application

NETWORK = Path(__file__).parents[2] / "examples" / "network" / "13_matsuoka.cdn"


def invoke(*words):
    return CliRunner().invoke(application([words[0]]), list(words))


def test_a_table_is_weighed_and_its_page_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("cost,speed\n1,1\n2,3\n3,2\n", encoding="utf-8")
    result = invoke("pareto", "a.csv", "--less", "cost", "--more", "speed", "-o", "front.html")
    assert result.exit_code == 0, result.output
    assert "2 of 3 candidates" in result.output
    assert "strut pareto a.csv --less cost --more speed" in Path("front.html").read_text(encoding="utf-8")


def test_a_network_has_its_graph_on_its_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke("run", str(NETWORK), "-t", "1", "-o", "net.html")
    assert result.exit_code == 0, result.output
    assert 'data-drawing="drawing-1"' in Path("net.html").read_text(encoding="utf-8")
