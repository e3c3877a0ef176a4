"""Finer points of the language, which large models rest on."""

import numpy as np
import pytest

import strut
from strut import network
from strut.network.text.errors import NetworkError
from tests.network.reading import begin


def rows(text, end, step, *names):
    """Values at whole steps, the last instant included."""
    net = network.loads(text)
    walk = strut.simulate(net.system(step=step), t=end + 1e-9 * step, backend="virtual", **net.options(step))
    at = walk.at(step * np.arange(round(end / step) + 1))
    return [np.array(at[n]) for n in names]


# ---- elements ----


def test_elements_of_rates_are_lists():
    text = """
    node "n" { a = "[0, 0, 0]"  a'[2, 0] = "[5, 3]" }
    edge on "n" { a'[0, 1] += "[1, t]" }
    node "m" { b = "[0, 0; 0, 0]"  b'[3] = 2 }
    """
    a, b = rows(text, 0.2, 0.1, "n.a", "m.b")
    assert np.allclose(a[1], [0.4, 0, 0.5])
    assert np.allclose(a[2], [0.8, 0.01, 1.0])
    assert np.allclose(b[2].ravel(), [0, 0, 0, 0.4])


def test_elements_of_matrices_are_blocks_or_pairs():
    text = """
    node "n" { m = "zeros(3, 3)"  p = "zeros(3, 3)"  l = "zeros(2, 2)"  c = "zeros(3, 1)" }
    edge on "n" {
        "m[[0; 2], [1, 2]]" <= "[1, 2; 3, 4]"
        "p[[0, 2], [1, 2]]" <= "[5, 6]"
        l[1, 2] <= "[7, 8]"
        "c[0; 2]" <= "[9; 10]"
    }
    """
    now = begin(network.loads(text))
    assert np.allclose(now["n.m"].reshape(3, 3, order="F"), [[0, 1, 2], [0, 0, 0], [0, 3, 4]])
    assert np.allclose(now["n.p"].reshape(3, 3, order="F"), [[0, 5, 0], [0, 0, 0], [0, 0, 6]])
    assert np.allclose(now["n.l"].reshape(2, 2, order="F"), [[0, 8], [7, 0]])
    assert np.allclose(now["n.c"].ravel(), [9, 0, 10])
    picked = network.evaluate_expression("[1, 2, 3; 4, 5, 6; 7, 8, 9][[0; 2], [1, 2]]")
    assert np.allclose(picked, [[2, 3], [8, 9]])


def test_elements_that_are_not_there_are_told():
    with pytest.raises(NetworkError, match=r"'a' has 2 element\(s\), counted from 0: there is none at 2"):
        network.loads('a = "[0, 0]"  a\'[2] = 1').system()


# ---- functions ----


def test_arguments_may_be_rates():
    text = """
    f(a, b) = "a² * b"
    g(a, b, a' = 1) = "diff[f; a](a, b, a')"
    h(x, ẋ) = "x + 10 * ẋ"
    one = "g(2, 3)"  five = "g(2, 3, 5)"  sum = "h(1, 2)"
    """
    now = begin(network.loads(text))
    assert (now["one"], now["five"], now["sum"]) == (12, 60, 21)


# ---- texts ----


def test_lists_may_stand_on_lines():
    net = network.loads('"{a,b,\n      c}" = "{1,2,\n      3}"')
    assert [begin(net)[n] for n in "abc"] == [1, 2, 3]


def test_what_a_map_counts_it_counts_for_itself():
    text = """
    defines { n = "{2,3,1}"  first = "{@n|@k[+@0]}"  again = "{@n|@k[+@0]}" }
    a = "[{@first||@0, @1}]"  b = "[{@again||@0, @1}]"
    """
    now = begin(network.loads(text))
    assert now["a"].ravel().tolist() == now["b"].ravel().tolist() == [0, 2, 5]


def test_what_is_empty_counts_as_zero():
    assert begin(network.loads('x = "$(6 - @nothing)"'))["x"] == 6


def test_ranges_that_end_before_they_begin_are_empty():
    assert begin(network.loads('defines { l = "{3:+-1}" } n = "@l[~]"'))["n"] == 0


def test_commas_separate_further_only_in_what_was_mapped():
    text = r"""
    defines {
        spans = "{1,5|@0:+1\,@0}"
        kept = "{1\,2,3}"
    }
    a = "[{@spans||@0, @1}]"
    n = "@kept[~]"  b = "[@kept[1]]"
    """
    now = begin(network.loads(text))
    assert now["a"].ravel().tolist() == [1, 2, 1, 5, 6, 5]
    assert now["n"] == 2
    assert now["b"].ravel().tolist() == [1, 2]


def test_defines_may_wear_dots():
    now = begin(network.loads('defines { q = "{x,y}"  q̇ = "{u,v}" }  @q = "{1,2}"  "@q̇" = "{3,4}"'))
    assert [now[n] for n in "xyuv"] == [1, 2, 3, 4]


def test_the_annotation_at_the_head_is_the_networks():
    net = network.loads(
        "# a comment\n## What this\n## is.\n\n## Of x.\nx = 1\n\n## Of nobody.\n\n## Of y.\ny = 2"
    )
    assert net.root.note == "What this\nis."
    assert [net.root.variables[n].note for n in "xy"] == ["Of x.", "Of y."]
    assert network.loads("## Of x.\nx = 1").root.note == ""


def test_a_bracket_too_many_is_left_out_with_a_warning():
    net = network.loads('x = "[1; 2]]"')
    assert begin(net)["x"].ravel().tolist() == [1, 2]
    net.system()
    assert any("']' after '[1; 2]' is left out" in str(w) for w in net.warnings)


# ---- selectors, edges, interfaces ----


def test_selectors_that_refer_to_nothing_select_nothing():
    net = network.loads('node "a" {}  edge "e_@nobody" from @1 to "a" {}')
    assert not net.edges
    assert any("nothing is selected" in str(w) for w in net.warnings)


def test_reductions_see_both_sides():
    """The first's expansions come first, each as often as it was expanded, then the second's."""
    text = """
    node "n{1:3}" {}
    defines { chain = nodes | name | append-context("<@0>") | reduce(last, "@0@@@0") }
    debug-print "@chain[1] @chain[~]"
    """
    assert network.loads(text).said[0].endswith("<n1><n2><n3> 1")


def test_recursion_keeps_the_expansion_it_began_with():
    text = """
    node "top" { node "in1" { node "in2" {} } }
    defines { found = | "top" | recurse(children | /in(.)/) }
    debug-print "@{@found}"
    """
    assert network.loads(text).said[0].endswith(" top,top,top")


def test_edges_live_where_they_are_said():
    """So that a template takes an edge on itself along, and one between nodes further down."""
    text = """
    templates {
        node "t" {
            x = 1
            x' = "-x"
            w = 3
            edge "push" on self { x' += "w" }
            node "g" { node "{a,b}" { y = 0 } node "a" { y = 7 } }
            edge from "g" . "a" to "g" . "b" { y <= "input.y + w" }
        }
    }
    node "i" : t { w = 5 }
    """
    net = network.loads(text)
    assert net.value("i.x'") == 4
    assert net.value("i.g.b.y") == 12
    assert sorted(e.path for e in net.edges) == ["i.edge", "i.push"]


def test_the_child_of_an_interface_sees_name_and_variable():
    text = 'node "n{1:2}" { x = "@@1" }  node | /n(.)/ { node self | parent { interface { "y@1" = "x" in "@@@0" } } }  s = "10 * y1 + y2"'
    assert begin(network.loads(text))["s"] == 12


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            'node "a" {} node "b" { y = 1 } edge from "a" to "b" { x\' += 1 }',
            "does nothing to 'x', which its output <node b> does not have",
        ),
        ('edge "e" { x += 1 }', "goes from nowhere to nowhere"),
        (
            'node "a" { y = 1  node "b" {}  edge from "b" to self { y += 1 } }',
            "are not in the same node: no edge joins them",
        ),
        (
            'initial-state "a"  k = 3  event "a" to "b" when "k > 2" {}',
            "never changes: the event never happens",
        ),
    ],
)
def test_what_has_no_effect_is_a_warning(text, what):
    net = network.loads(text)
    net.system()
    assert any(what in str(w) for w in net.warnings)


def test_layouts_in_polar_coordinates():
    net = network.loads('node "a" {}  layout "a" at 2 : "pi / 2"  node "n{1:4}" {}  layout "n1" at 0, 0')
    assert net.root.children["a"].place == pytest.approx((0, 2))
    ring = network.loads('node "n{1:4}" {}  include "layout/circular.cdn"')
    places = np.array([n.place for n in ring.nodes])
    assert np.allclose(np.hypot(*(places - np.roll(places, 1, axis=0)).T), 3)


# ---- templates ----


def test_templates_rank_in_the_order_in_which_they_are_applied():
    text = 'templates { node "t1" { x = 1  f(a) = "1"  node "c" { y = 1 } }  node "t2" { x = 2  f(a) = "2" } }  node "i" : t1, t2 {}  v = "i.f(0)"'
    net = network.loads(text)
    net.change('templates { node "t1" { x = 10  f(a) = "10"  z = 5 } }')
    assert [begin(net)[n] for n in ("i.x", "v", "i.z")] == [2, 2, 5]
    net.change('unapply templates-root . "t2" from "i"')
    assert [begin(net)[n] for n in ("i.x", "v")] == [10, 10]


def test_interfaces_of_templates_rank_too():
    text = """
    templates {
        node "t1" { node "a" { x = 1 }  interface { s = x in a } }
        node "t2" { node "b" { x = 2 }  interface { s = x in b } }
    }
    node "i" : t1, t2 {}
    """
    net = network.loads(text)
    assert net.value("i.s") == 2
    net.change('templates { node "t1" { interface { s = x in a } } }')
    assert net.value("i.s") == 2
    net.change('unapply templates-root . "t2" from "i"')
    assert net.value("i.s") == 1


# ---- runs ----


def test_clocks_tick_at_the_last_instant_too():
    a, b = rows("a = 0 | discrete\na' = 1\nb = 0\nb' = \"b - 2\" | discrete", 0.3, 0.1, "a", "b")
    assert a.ravel().tolist() == [0, 1, 2, 3]
    assert b.ravel().tolist() == [0, -2, -6, -14]


def test_dt_is_the_step_of_the_run():
    system = network.loads('x = "dt"').system(step=0.25)
    assert [float(q.value[0]) for q in system.p if q.name == "dt"] == [0.25]


# ---- the library ----


def test_lists_of_bodies():
    """Degrees of freedom, chains and parents, as texts for algorithms of one's own."""
    text = """
    include "physics/physics.cdn"
    node "system" : physics.system {
        node "base" : physics.joints.planarY {}
        node "arm" : physics.joints.spherical {}
        node "leg" : physics.joints.revoluteY {}
        node "foot" : physics.joints.revoluteY {}
        edge from "{base,leg}" to ["{arm,leg}", "foot"] : physics.joint {}
        include "physics/dynamics.cdn"
        parents = "[{@parentsdof||@0; @1}]"
        whole = "[{@bodydofex||@0, @1}]"
        foot_chain = "[@bodychain[$(@bodies[!foot] + 1)]]"
        last = "[{@lastbodydof||@0, @1}]"
    }
    """
    net = network.loads(text)
    value = {
        n: net.value(n, of="system").ravel().tolist()
        for n in ("parents", "whole", "foot_chain", "last", "dynamics.pλ")
    }
    assert value["parents"] == value["dynamics.pλ"]
    assert value["whole"] == list(range(8))
    assert len(value["foot_chain"]) == 3
    assert value["foot_chain"][-1] == 0
    assert sorted(value["last"]) == [2, 5, 6, 7]


def test_homogeneous_matrices():
    text = 'require "physics/physics.cdn"  require "physics/transform.cdn"'
    net = network.loads(text)
    c, s = np.cos(0.3), np.sin(0.3)
    assert np.allclose(
        net.value("Transform.RotationX(0.3)"), [[1, 0, 0, 0], [0, c, s, 0], [0, -s, c, 0], [0, 0, 0, 1]]
    )
    assert np.allclose(
        net.value("Transform.RotationFromAxisAngle([0; 0; 1], 0.3)"), [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    )
    moved = net.value("Transform.FromRotTrans(eye(3), [1, 2, 3])")
    assert np.allclose(moved, net.value("Transform.Translation([1; 2; 3])"))
    assert np.allclose(network.evaluate_expression("inverse([2, 0; 0, 4])"), [[0.5, 0], [0, 0.25]])


def test_a_chain_as_robots_use_it():
    """Names without quotes, remarks that touch numbers, a chain by `{$(@1+1)}`, numbers of nodes from outside."""
    text = """
    #**** numbers ****#
    defines { M ?= 9 # unless said before
    }
    Lead =  -0.5#was -0.4
    Up   =  4#2
    templates{
      node Segment{ a' = "2 * pi * rate" rate=Up }
      edge pull{ a' += "k * sin(input.a - output.a - lag)" }
    }
    node "seg{1}" : Segment {rate = Up}
    node "seg{2:@M}" : Segment { a = "0.1 * @@1" }
    <bidirectional> edge from
    "seg{1:@M}" to "seg{$(@1+1)}" : pull{
      k = [Up, 8]
      lag = [Lead, "-Lead"]
    }
    edge from "seg{1}" to "seg{1}" : pull{k=0 lag=0}
    layout{"seg{1:@M}"   at 4,@[+++]}
    """
    net = network.loads(f"defines {{ M = 4 }} {text}")
    assert [len(net.nodes), len(net.edges)] == [4, 7]
    assert [v.text for v in net.find('"edge_{1:6}".k')] == ["Up", "8"] * 3
    system = net.system().using(Up=1)
    run = strut.simulate(system, t=8)
    angles = [float(run.at([8.0])[f"seg{k}.a"][0]) for k in range(1, 5)]
    assert np.diff(angles) == pytest.approx([0.5] * 3, abs=1e-6)
