"""Mistakes are told with their place, all at once; limits end what would never end."""

import pytest

from strut import network
from strut.network import NetworkError


def mistakes(text):
    with pytest.raises(NetworkError) as caught:
        network.loads(text, "m.cdn").system()
    return caught.value


def test_several_mistakes_of_reading_with_line_column_and_caret():
    error = mistakes('x = 1\ny = = 2\nnode "a" {\n  z =\n}\nnode node { }\ndefines { all = 1 }\nw = 2\n')
    assert [(p.mark.line, p.mark.column) for p in error.problems] == [(2, 5), (5, 1), (6, 6), (7, 11)]
    assert "m.cdn:2:5: '=' is not expected here\n    y = = 2\n        ^" in str(error)
    assert 'as a name, write it in quotes, "node"' in str(error)


def test_several_mistakes_of_meaning():
    text = 'a = "b + 1"\nc = "[1, 2] + [1, 2, 3]"\nnode "n{1:2}" {\n  v = [1, "q * 2"]\n}\nx\' = "foo(x)"\n'
    error = mistakes(text)
    assert [p.mark.line for p in error.problems] == [1, 2, 4, 6]
    assert "in <node n2>, expanded for 'v' in 'n2'" in str(error)
    assert "'b' is unknown here" in str(error)


def test_a_mistake_inside_an_expression_is_pointed_at():
    error = mistakes('x = "1 + * 2"')
    assert (error.problems[0].mark.line, error.problems[0].mark.column) == (1, 10)


def test_the_way_through_included_files_is_told(tmp_path):
    (tmp_path / "b.cdn").write_text("ok = 1\nx = = 1\n", encoding="utf-8")
    (tmp_path / "a.cdn").write_text('\ninclude "b.cdn"', encoding="utf-8")
    with pytest.raises(NetworkError, match=r"b.cdn:2:5: (.|\n)*included from .*a.cdn:2:1"):
        network.load(tmp_path / "a.cdn")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('a = "b" b = "a"', "depends on itself: "),
        ('x = "$(@@7)"', "expansion '@@7' does not exist"),
        ('node "n" : nothing {}', "no template 'nothing'"),
        ('"v{1:3}" = "{1,2}"', "3 name.s. but 2 values"),
        ('node "a" { x += 1 }', "is no edge"),
        ('node "a" { x = 0 } edge on "a" { x\'\' += 1 }', "first derivatives"),
        ('node "a" { x = 0 } edge on "a" { x\' <= 1 }', "can be added to by an edge, not set"),
        ('event "a" to "b" when "t > 1" {}', "no node here has states"),
        ('event when "sin(t)" {}', "made of < > <= >= =="),
        ('x\' = "[1; 2]"', "is 2×1: 1×1 is needed"),
        ('include "nowhere.cdn"', "there is no file 'nowhere.cdn'"),
        ("x = 1 ( 1", "the text ends in the middle"),
        ('x = "abc', "never closed"),
        ('f(x) = "f(x)" y = "f(1)"', "more than 100 deep|too deep"),
        ('node "a" { node "b" {} } y = "a.b.c"', "has no such variable"),
        ('node "a" {} node /((a{99}){99}){99}/ {}', "more than 2000 parts"),
        ('x = "dt[sin(t) * t, 1e7]()"', "order 10000000"),
        ('f(x) = "exp(sin(x) * x) / (1 + x)" y = "diff[f, 20; x](t)"', "derive something simpler"),
        ('x = "[1, 2][0:1/0]"', "'inf' is no whole number"),
        ('x = "[1, 2][0:1e12]"', "index 999999999999 is outside"),
        ('defines { n = 1 } x = "@n[+a]"', "'a' is no whole number"),
        ("x" + "'" * 30 + " = 1", "derivative of order 30"),
        ('node "n" {} integrator { methd = "euler" }', "has no 'methd'"),
    ],
)
def test_mistakes_are_named(text, what):
    with pytest.raises(NetworkError, match=what):
        network.loads(text).system()


def test_what_runs_away_is_stopped(tmp_path):
    (tmp_path / "a.cdn").write_text('include "b.cdn"', encoding="utf-8")
    (tmp_path / "b.cdn").write_text('include "a.cdn"', encoding="utf-8")
    with pytest.raises(NetworkError, match="includes itself"):
        network.load(tmp_path / "a.cdn")
    (tmp_path / "i.cdn").write_text('import "i.cdn" as "me"', encoding="utf-8")
    with pytest.raises(NetworkError, match="imports itself"):
        network.load(tmp_path / "i.cdn")
    for text, what in (
        ('node "{0:9}{0:9}{0:9}{0:9}{0:9}{0:9}{0:9}" {}', "more than 200000 names"),
        ('x = "{1:999999999||@0 + @1}"', "more than 200000 names"),
        ('x = "' + "{a," * 5000 + "b" + "}" * 5000 + '"', "nests too deeply"),
        (
            "templates { "
            + 'node "t0" {} '
            + " ".join(f'node "t{k}" {{ node "c{{0:9}}" : t{k - 1} {{}} }}' for k in range(1, 9))
            + " }",
            "more than 300000 nodes",
        ),
        ("{" * 500, "nest deeper|middle"),
        ('x = "{1:' + "9" * 5000 + '}"', "no whole number"),
        (
            'defines { a = "{x,x}" } '
            + " ".join(
                f'defines {{ a{k} = "@a{k - 1 if k else ""}@a{k - 1 if k else ""}" }}' for k in range(40)
            ),
            "more than",
        ),
    ):
        with pytest.raises(NetworkError, match=what):
            network.loads(text)


def test_thousands_of_nodes_load():
    text = """
    templates { node "T" { a = 1  x' = "-a * x" } }
    node "n{1:3000}" : T { x = "$(@@1 * 2)" }
    edge from "n{1:3000}" to "n$(@1 + 1)" { x' += "input.x - output.x" }
    """
    net = network.loads(text)
    assert (len(net.nodes), len(net.edges)) == (3000, 2999)
    last = net.root.children["n3000"]
    assert last.variables["x"].text == "6000"
    assert [e.input.name for e in last.inputs] == ["n2999"]


def test_states_that_nothing_leads_to_are_told():
    net = network.loads(
        'node "n" { initial-state "a" x = 0 x\' = 1 state "nope" event "a" to "b" when "x > 1" {} event "b" to "a" when "x < 0" {} }'
    )
    net.system()
    assert [w.message for w in net.warnings if "nope" in w.message] == [
        "nothing leads to state 'nope' of n: there are 'a', 'b'"
    ]
    right = network.loads(
        'node "n" { initial-state "a" x = 0 x\' = 1 state "b" event "a" to "b" when "x > 1" {} }'
    )
    right.system()
    assert not [w for w in right.warnings if "nothing leads" in w.message]


def test_mistakes_come_in_the_order_of_their_lines():
    with pytest.raises(NetworkError) as found:
        network.loads('node "a" {\n  x = "q"\n  y = "1 +"\n  z = "r"\n}\nnode "b" {\n  w = "s"\n}').system()
    lines = [p.mark.line for p in found.value.problems]
    assert lines == sorted(lines)
    assert len(lines) == 4
