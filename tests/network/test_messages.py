"""What is said about mistakes: each with file, line and column, the first line about the mistake itself, and what may be meant."""

import re

import pytest

from strut import network
from strut.errors import ValueRangeError
from strut.network import NetworkError

BODY = """include "physics/physics.cdn"
node "system" : physics.system {
    node "a" : physics.joints.%s { com = "[0; 0; -1]" }
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""

MISTAKES = [
    # words of the language
    (
        'node "a" {\n  x = 1\n}\nnoed "b" { }',
        "4:1",
        "'noed' is no word of the language: did you mean 'node'?",
    ),
    ('templats { node "a" {} }', "1:1", "did you mean 'templates'?"),
    ('x = 1\nevnt "a" to "b" when "x > 1" {}', "2:1", "did you mean 'event'?"),
    ('node "a" {}\nedge form "a" to "a" {}', "2:6", "did you mean 'from'?"),
    ('node "a" {}\nedge from "a" ot "a" {}', "2:15", "'ot' is not expected here: did you mean 'to'?"),
    ('integrater { method = "euler" }', "1:1", "did you mean 'integrator'?"),
    ('x = 1\nincldue "a.cdn"', "2:1", "did you mean 'include'?"),
    ("x = 1 | otu", "1:9", "did you mean 'out'?"),
    ("x = 1\ny = = 2", "2:5", "'=' is not expected here"),
    ("x = 1\nx y = 2", "2:3", "'y' is not expected here"),
    ("node node {}", "1:6", 'as a name, write it in quotes, "node"'),
    # expressions
    ('x = 1\ny = "sin(t"', "2:11", "')' is needed at the end: the '(' before it is never closed"),
    ('y = "[1, 2"', "1:11", "']' is needed at the end"),
    ('x = 1 y = "x[1"', "1:15", "']' is needed at the end"),
    ('y = "(1 + 2"', "1:12", "')' is needed at the end"),
    ('y = "sin((t)"', "1:13", "')' is needed at the end"),
    ('y = "max(1 2)"', "1:12", "',' or ')' is needed where '2' stands"),
    ('y = "sin(2 +"', "1:13", "the expression ends where a value is needed"),
    ('y = "1 ? 2"', "1:11", "':' is needed"),
    ('y = "1 /* 2"', "1:9", "a value is needed where '*' stands"),
    ('y = "sinn(1)"', "1:1", "there is no function 'sinn': did you mean 'sin'?"),
    ('y = "min(1,2,3)"', "1:1", "min takes 1 or 2 argument(s), not 3"),
    ('node "ab" { v = 1 }\nx = "ab.w"', "2:1", "<node ab> has no such variable; known: v"),
    ('rate = 1\nx = "2 * rat"', "2:1", "'rat' is unknown here: did you mean 'rate'?"),
    ('x = "[1,2;3]"', "1:1", "the rows of a matrix are 1×2 and 1×1"),
    ('x = "eye(2) * eye(3)"', "1:1", "2×2 on the left, 3×3 on the right"),
    ('f(a) = "a"\ny = "f(1,2)"', "2:1", "f(a) takes 1 argument(s), not 2"),
    ('f(a) = "a + q"\ny = "f(1)"', "1:1", "'q' is unknown here"),
    ('x = 1\nx = 1 ("a", "b")', "2:1", "'a' is unknown here"),
    ('x\' = "[1; 2]"', "1:1", "is 2×1: 1×1 is needed"),
    # texts
    ('x = "{1:3"', "1:1", "'{' in '{1:3' is never closed: add '}'"),
    ('x = "$(1 + )"', "1:1", "cannot calculate '1 + '"),
    ('x = "$$(1,2)"', "1:1", "write $$(condition, if so, if not)"),
    ('x = "1 @ 2"', "1:1", "refers to nothing: write @0, @1 or the name of a define"),
    ('x = "$(@@7)"', "1:1", "expansion '@@7' does not exist"),
    ('"v{1:3}" = "{1,2}"', "1:1", "3 name(s) but 2 values"),
    # templates, files, settings
    (BODY % "revolutY", "3:16", "'revolutY' is not in physics.joints: did you mean 'revoluteY'?"),
    (
        BODY.replace("physics.joints", "physics.joint") % "revoluteY",
        "3:16",
        "'revoluteY' is not in physics.joint: there are none",
    ),
    (
        BODY.replace("physics.joints", "phisics.joints") % "revoluteY",
        "3:16",
        "'phisics' is not: did you mean 'physics'?",
    ),
    (
        'templates { node "spring" {} }\nnode "n" {}\napply "sprung" to "n"',
        "3:7",
        "'sprung' is not: did you mean 'spring'?",
    ),
    ('integrator { method = "eulr" }', "1:23", "did you mean 'euler'?"),
    ("integrator {\n  default-timestop = 1 }", "2:3", "did you mean 'default-timestep'?"),
    ('integrator { default-timestep = "abc" }', "1:33", "default-timestep is no number"),
    ('x = 1\ninclude "no.cdn"', "2:1", "there is no file 'no.cdn'"),
    ('x = 1\nimport "no.cdn" as "n"', "2:1", "there is no file 'no.cdn'"),
    ('input "i" type "file" { settings { path = "no.txt" } }', "1:1", "there is no file 'no.txt'"),
    # events and states
    (
        'initial-state "a"\nevent "a" to "b" when "t > " {}',
        "2:28",
        "the expression ends where a value is needed",
    ),
    ('x = 0  x\' = 1\nevent when "x > 1" within "abc" {}', "2:1", "'abc' is unknown here"),
    (
        'x = 0  x\' = 1\nevent when "x > 1" { set x = "[1;2]" }',
        "2:1",
        "the event sets 'x' to 2×1: 1×1 is needed",
    ),
    ('x = 1\nx\' = "-x" state "q"', "2:1", "no node here has states: add initial-state"),
    # where things stand
    ('node "a" {\n  x += 1 }', "2:3", "is no edge"),
    ('x = 1\n"2x" = 1', "2:1", "'2x' is no name of a variable"),
    ('x = 1\nnode "" {}', "2:1", "a node without a name"),
    ('node "a" {}\nlayout { "a" at "x", 1 }', "2:10", "cannot calculate 'x'"),
    ('node "n" {}\nnode | "n" | subset("a") {}', "2:14", "cannot calculate 'a'"),
    ('polynomial p() {\n piece from 0 to 1 = 1, "b" } y = "p(0.5)"', "1:1", "'b' is unknown here"),
]


def problems(text):
    """What is wrong with a model."""
    try:
        network.loads(text, "m.cdn").system()
    except NetworkError as error:
        return error.problems
    return ()


@pytest.mark.parametrize(
    ("text", "place", "what"), MISTAKES, ids=[m[0].splitlines()[-1][:40] for m in MISTAKES]
)
def test_every_mistake_has_its_place_and_says_what_is_wrong(text, place, what):
    with pytest.raises(NetworkError) as caught:
        network.loads(text, "m.cdn").system()
    first = str(caught.value).splitlines()[0]
    assert first.startswith(f"m.cdn:{place}: ")
    assert what in first
    assert all(p.mark is not None for p in caught.value.problems)


def test_whatever_is_cut_short_is_told_with_its_place():
    """Every beginning of a model is a model, or a mistake with a place; never another error."""
    text = 'defines { n = 3 } templates { node "t" { x = "{1:@n||@0 + @1}" } } node "a{1:2}" : t { x\' = "-k * x" k = 2 (0, 4) }'
    text += ' edge "e" from "a1" to "a2" : [| "t"] { x\' += "sin(input.x - @@1)" state "s" } event "s" to "q" when "a1.x > 1" within 0.1 {}'
    for end in range(1, len(text), 3):
        for problem in problems(text[:end]):
            assert re.match(r"m.cdn:\d+:\d+: ", str(problem)), text[:end]


def test_expressions_are_checked_beside_mistakes_of_reading():
    text = 'x = = 1\nnode "a" {\n  y = "sin(2"\n  z = "{1:2}("\n  f(q) = "q +"\n}\nw = "1 + 1"\nnode "b" { v = "[1" \n noed "c" {} }\n'
    places = [(p.mark.line, p.mark.column, p.message.split(":")[0]) for p in problems(text)]
    assert places == [
        (1, 5, "'=' is not expected here"),
        (3, 13, "')' is needed at the end"),
        (5, 14, "the expression ends where a value is needed"),
        (8, 19, "']' is needed at the end"),
        (9, 2, "'noed' is no word of the language"),
    ]


def test_a_step_of_the_file_that_leads_nowhere_has_its_place():
    with pytest.raises(ValueRangeError, match=r"m.cdn:2:33: the step is -1.0 s: it must be positive"):
        network.loads('x = 0  x\' = 1\nintegrator { default-timestep = "-1" }', "m.cdn").run_steps(1)


COUPLED = """node "a" { x = 1  x' = "0" }
node "b" { x = 5  x' = "0" }
edge from "a" to "b" { %s
    x' += "%s" }
"""


def test_a_bare_name_beside_that_of_the_input_is_warned_of():
    """In an edge `x` is the input's, so that `input.x - x` is zero: the output's was meant."""
    net = network.loads(COUPLED % ("", "input.x - x"))
    net.system()
    (warning,) = net.warnings
    assert (warning.mark.line, warning.message) == (
        4,
        "'x' in <edge edge> is that of its input, the same as 'input.x': for that of its output <node b> write "
        "'output.x'",
    )


@pytest.mark.parametrize(
    ("own", "rate"),
    [("", "input.x - output.x"), ("", "x - output.x"), ("x = 3", "input.x - x"), ("", "2 * x")],
)
def test_names_in_edges_that_are_clear_are_not_warned_of(own, rate):
    net = network.loads(COUPLED % (own, rate))
    net.system()
    assert not net.warnings
