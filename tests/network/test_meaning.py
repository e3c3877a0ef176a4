"""What the language means where one could think otherwise; every value here is what the original gives for the text."""

import numpy as np
import pytest

from strut import network
from strut.network import NetworkError
from tests.network.reading import begin


@pytest.mark.parametrize(
    ("text", "values"),
    [
        # counters: the last reference of a text is read first, and every sign counts
        ('defines { c = 3 } x = "@c[+1] * 100 + @c"', {"x": 303}),
        ('defines { c = 3 } x = "@c + 100 * @c[+1]"', {"x": 304}),
        ('defines { c = 4 } x = "$(@c + 100 * @c[+1])"', {"x": 405}),
        ('defines { c = 4 } x = "@c[++]"  y = "@c"', {"x": 4, "y": 6}),
        ('defines { c = 4 } y = "@c[++5]"  z = "@c"', {"y": 4, "z": 14}),
        # groups that do not exist have index 0; [~] counts the texts of an expansion, the whole among them
        ('node "n" { g = "@1[!]"  h = "@5[~]"  k = "@0[~]" }', {"n.g": 0, "n.h": 1, "n.k": 1}),
        ('"v_{a,b}_{1:2}" = "@0[~]"', {"v_a_1": 3, "v_b_2": 3}),
        # a reduction sees its whole list one level out, a map does not
        ('node "n{1:2}" { r = "{1,2,3||@0 + 10 * @1 + 1000 * $(@@0 + 1)}" }', {"n1.r": 4051, "n2.r": 4051}),
        ('node "n{1:2}" { r = "{1,2,3||@0 + 10 * @1 + 1000 * @@@@1}" }', {"n1.r": 2051, "n2.r": 4051}),
        ('node "n{1:2}" { m = "{1,2|$(@0 + 10 * @@@1)||@0 + @1}" }', {"n1.m": 23, "n2.m": 43}),
        # what a name or a context puts on top is no list: its index is 0; the groups of a pattern count what they matched
        ('node "{pa,pb,qa}" {} node nodes | name { i = "@@0[!]" }', {"pa.i": 0, "pb.i": 0, "qa.i": 0}),
        (
            'node "{a,b}" {} node nodes | append-context("x{1:3}") { i = "@@0[!] + 10 * @@0[~]" }',
            {"a.i": 30, "b.i": 30},
        ),
        (
            'node "{pa,pb,qa}" {} node /([pq])([ab])/ { i = "100 * @@0[!] + 10 * @@1[!] + @@2[!]" }',
            {"pa.i": 0, "pb.i": 101, "qa.i": 210},
        ),
        # every selector begins at the children of where it stands
        (
            'node "a" { v = 1  node "b" { v = 2  node "c" { v = 3 } }  set children . v = 9 }',
            {"a.v": 1, "a.b.v": 2, "a.b.c.v": 9},
        ),
        ('node "a" { v = 1  node parent { u = 7 } }', {"a.u": 7}),
        (
            'node "n{1:4}" { x = 0 } edge from "n1" to siblings { x += 1 }',
            {"n1.x": 0, "n2.x": 1, "n3.x": 2, "n4.x": 3},
        ),
        (
            'node "n{1:3}" { x = 0 } edge from "n{1:2}" to | "@0" | siblings(1,1) { x += 1 }',
            {"n1.x": 0, "n2.x": 1, "n3.x": 1},
        ),
        # self is where the whole selector began, also inside an argument
        ('node "a" { node "b" { x = 1 }  node nodes | if(self | "a") { z = 3 } }', {"a.b.z": 3}),
        # edges are always new; each of a pair of directions has a number; lists behind from and to
        (
            'node "n{1:2}" { x = 0 } <bidirectional(a,b)> edge "e" from "n1" to "n2" { w = [3, 4]  x += "w" }',
            {"e_1.w": 3, "e_2.w": 4},
        ),
        (
            'node "n{1:2}" { x = 0 } edge "e" from "n1" to "n2" { x += 1 } edge "e" from "n1" to "n2" { x += 10 }',
            {"n2.x": 11},
        ),
        ('node "n{1:2}" { x = 0 } <bidirectional> edge all "n{1:2}" { x += 1 }', {"n1.x": 3, "n2.x": 3}),
        (
            'node "n{1:2}" { x = 0 } <bidirectional, no-self> edge all "n{1:2}" { x += 1 }',
            {"n1.x": 1, "n2.x": 1},
        ),
        (
            'node "k{1:2}" { node "a{1:5}" { x = 0 } edge from "a{1:3}" to ["a4","a5"] { x += "input.w" } node "a{1:3}" { w = "@@1" } }',
            {"k1.a4.x": 4, "k1.a5.x": 2, "k2.a4.x": 2, "k2.a5.x": 4},
        ),
        # what is set to what its template says follows the template again
        (
            'templates { node "t" { x = 1 } } node "j" : t { x = 5 } node "j" { x = 1 } templates { node "t" { x = 2 } }',
            {"j.x": 2},
        ),
        (
            'templates { node "t" { x = 1 } } node "j" : t { x = 1 } templates { node "t" { x = 7 } }',
            {"j.x": 7},
        ),
        (
            'templates { node "t" { x = 1 } } node "j" : t { x = 5 } templates { node "t" { x = 5 } node "t" { x = 7 } }',
            {"j.x": 5},
        ),
        (
            'templates { node "t" { x = 1 } } node "j" : t { x = 5 | out } node "j" { x = 1 } templates { node "t" { x = 2 } }',
            {"j.x": 1},
        ),
        (
            'templates { node "t" { x = 1  y = 2 } } node "i" : t {} node "j" : t { x = 5 } templates { node "t" { delete "x" } }',
            {"j.x": 5},
        ),
        # nothing to set, nothing set
        ('x = 1  node "a" {}  set /y.*/ = 3  set "a" = 4', {"x": 1}),
        ('x = 0  x\' = 1  event when "x > 5" { set "nobody" . y = 1  set x = 0 }', {"x": 0}),
    ],
)
def test_texts_mean_what_they_mean_in_the_original(text, values):
    known = begin(text)
    assert {name: known[name] for name in values} == values


def test_kinds_are_counted():
    text = 'node "{a,b}" {} edge "e" on "a" {} defines { kinds = objects | type | append-context("@0@0[!]@1") } debug-print "@{@kinds}"'
    assert network.loads(text).said[0].endswith(" node02,node02,edge11")


def test_a_deleted_node_leaves_its_edges_behind():
    net = network.loads(
        'node "a" {} node "b" { x = 0 } edge "e" from "a" to "b" { w = 1  x += 1 } delete "a"  edge "e" { u = 3 }'
    )
    assert [e.name for e in net.edges] == ["e"]
    assert net.edges[0].input is None
    assert begin(net)["b.x"] == 0
    assert "goes from nowhere to nowhere" in str(net.warnings[0])
    assert str(net.warnings[0]).startswith("text:1:")


def test_deleted_variables_of_a_template_leave_what_follows_it():
    net = network.loads(
        'templates { node "t" { x = 1  y = 2 } } node "i" : t {} templates { node "t" { delete "x" } }'
    )
    assert list(net.root.children["i"].variables) == ["y"]


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        (
            'node "a" { x = 0 }\nedge from "a" to "bb" { x += 1 }',
            "m.cdn:2:18",
            "there is no node 'bb' in <node network>, and so no edge",
        ),
        ('node "apple" { x = 0 }\nedge from "appel" to "apple" {}', "m.cdn:2:11", "did you mean 'apple'?"),
        ('node "n{1:2}" {}\nedge all "n{1:3}" {}', "m.cdn:2:10", "there is no node 'n3'"),
        (
            'node "g" { node "a" {} }\nedge from "g" . "a" to "g" . "c" {}',
            "m.cdn:2:24",
            "there is no node 'g . c'",
        ),
        ('x = 1\ndelete "y"', "m.cdn:2:8", "nothing is deleted: 'y' is not in <node network>"),
        ('x = 1\ndelete nodes | /q/ . "y"', "m.cdn:2:8", "nothing is deleted: 'nodes | q . y'"),
        (
            'x = 1\nset "y" = 2',
            "m.cdn:2:5",
            "nothing is set: the selector finds no variable in <node network>",
        ),
        ('x = 0  x\' = 1  event when "x > 5" {\n  set y = 1 }', "m.cdn:2:3", "sets no variable"),
    ],
)
def test_what_finds_nothing_is_a_warning_with_its_place(text, place, what):
    net = network.loads(text, "m.cdn")
    net.system()
    assert len(net.warnings) == 1
    assert str(net.warnings[0]).startswith(place + ": ")
    assert what in str(net.warnings[0])


def test_chains_may_end():
    assert not network.loads('node "n{1:3}" {} edge from "n{1:3}" to "n$(@1 + 1)" {}').warnings


EVENTS = """
integrator { method = "runge-kutta" }
x = 0  x' = 1  n = 0  m = 0  seen = 0  k = 1
initial-state "low"
edge self { k <= "2" state "high" }
event any to any when "x > 0.27" within 0.0001 { set m = "x"  set seen = "10 * seen + 2" }
event "low" to "high" when "x > 0.25" within 0.0001 { set n = "n + k"  set seen = "10 * seen + 1" }
"""


def test_two_events_in_one_step():
    """Both are taken, in the order of the file, when the first of them is due."""
    rows = network.loads(EVENTS).run_steps(0.4, 0.1)
    assert rows.t == pytest.approx([0, 0.1, 0.2, 0.27, 0.37, 0.4], abs=1e-6)
    assert rows["n"].tolist() == [0, 0, 0, 1, 1, 1]
    assert rows["m"] == pytest.approx([0, 0, 0, 0.27, 0.27, 0.27], abs=1e-6)
    assert rows["seen"].tolist() == [0, 0, 0, 21, 21, 21]
    assert np.all(rows["k"] == [1, 1, 1, 2, 2, 2])


def test_sets_see_the_state_before_the_event():
    text = """
    x = 0  x' = 1  got = 0  k = 1
    initial-state "a"
    edge self { k <= "5" state "a"  k <= "7" state "b" }
    event "a" to "b" when "x > 0.15" { set got = "k" }
    """
    rows = network.loads(text).run_steps(0.3, 0.1)
    assert rows["got"].tolist() == [0, 0, 5, 5]
    assert rows["k"].tolist() == [5, 5, 7, 7]


def test_missing_levels_are_still_mistakes():
    with pytest.raises(NetworkError, match="expansion '@@7' does not exist"):
        network.loads('x = "$(@@7)"')


LOOP = """
include "physics/physics.cdn"
include "physics/cjoints.cdn"
integrator { method = "runge-kutta" }
node "system" : physics.system {
    node "p{1:3}" : physics.joints.revoluteY { tr = "[0; 0; -1]"  com = "[0; 0; -0.5]"  I = "Inertia.Box(m, 0.05, 0.05, 1)" }
    node "p1" { tr = "[0; 0; 0]"  q = "-0.5" }
    node "p{2:3}" { q = ["0.5 * pi + 0.5", "0.5 * pi - 0.5"] }
    edge from "p{1:3}" to "p$(@1 + 1)" : physics.joint {}
    node "c" : physics.cjoints.revoluteY { tr = "[0; 0; -1]" }
    edge from "p3" to "c" : physics.cjoint {}
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""


def test_closing_joints_know_how_far_they_moved():
    """A parallelogram: the joint turns against the sum of the others. Angles after 0.3 s are the original's."""
    rows = network.loads(LOOP).run_steps(0.3, 0.001, outputs=["system.c.q"])
    turned = sum(rows[f"system.p{k}.q"] - rows[f"system.p{k}.q"][0] for k in (1, 2, 3))
    assert rows["system.c.q"] == pytest.approx(-turned, abs=1e-9)
    assert rows["system.c.q"][-1] == pytest.approx(-0.23438485682314059, abs=1e-9)
    assert rows["system.p2.q"][-1] == pytest.approx(1.8364114699717566, abs=1e-9)
