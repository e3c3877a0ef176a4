"""Patterns of selectors: as `re` understands them, and none takes long."""

import random
import re
import time

import pytest

from strut import network
from strut.network import NetworkError
from strut.network.build.pattern import StepBudget, pattern
from strut.network.text.errors import Mistake

SAME = [
    "h.*", "n([0-9]+)", "(left|right)_(.*)", "(a|aa)+b", "(a+)+b", "([a-c]|[^x])*(b?)a", "a{2,4}(b{0,3}?)c", "(?:ab|a)(c|bcd)(d*)",
    "^a+$", "(a|b)*?(ab)?", r"\w+\d\s?", "[^ab]c|(ab){2}", "(a)|(b)|(c)", "((a)|b)+", "(a(b(c)?)?)*",
]  # fmt: skip


def always_searched(text):
    """The pattern, with `re` taken away."""
    whole = pattern(text)
    return type(whole)(whole.text, False, whole.compiled, whole.code)


@pytest.mark.parametrize("text", SAME)
def test_same_matches_and_groups_as_re(text):
    chance = random.Random(0)
    wanted, searched = re.compile(text), always_searched(text)
    matched = 0
    for _ in range(2000):
        name = "".join(
            chance.choice(chance.choice(["ab", "abcd", "a019_x"])) for _ in range(chance.randint(0, 7))
        )
        name = chance.choice(
            [
                name,
                "left_" + name,
                f"n{chance.randint(1, 99)}",
                name[:2] * 2,
                "h" + name,
                "aa" + name,
                "aab",
                "aabbc",
            ]
        )
        match = wanted.fullmatch(name)
        found = searched.groups(name, StepBudget())
        assert found == (None if match is None else (match[0], *(g or "" for g in match.groups()))), name
        matched += match is not None
    assert matched


@pytest.mark.parametrize(
    "text",
    [
        "(a|aa)+b",
        "(a+)+b",
        "(a*)*b",
        "(a|a)*b",
        "(.*)*b",
        "((a|b)*)*c",
        ".*.*.*.*.*.*b",
        "(a|aa)" * 30 + "b",
        "(a?){60}b",
        "(x+x+)+y",
    ],
)
def test_patterns_that_backtrack_forever_do_not(text):
    began = time.monotonic()
    net = network.loads(f'node "{"a" * 60}" {{}}  node "{"a" * 59}b" {{}}  node | /{text}/ {{ v = 1 }}')
    assert time.monotonic() - began < 5
    found = [n.name for n in net.nodes if "v" in n.variables]
    assert found == ([] if text[-1] != "b" else ["a" * 59 + "b"])


def test_long_names_and_many_of_them():
    began = time.monotonic()
    with pytest.raises(
        NetworkError, match="patterns take more than 2000000 steps, /.*.*.*x/ among them: write it plainer"
    ):
        network.loads(f'node "{"a" * 1_000_000}{{1:3}}" {{}}  node | /.*.*.*x/ {{}}')
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(" * 900 + ")" * 900, "is no pattern: it nests too deep"),
        ("(a", r"/\(a/ is no pattern: missing \), unterminated subpattern"),
        ("a" * 3000, "has 3000 characters: 2000 are the most"),
        ("((a{99}){99}){99}", "more than 2000 parts"),
        (r"(a+)+\1", "refers to what it found"),
        ("(?=(a+)+b).*", "looks ahead"),
    ],
)
def test_patterns_that_are_refused(text, said):
    with pytest.raises(Mistake, match=said):
        pattern(text).groups("a" * 60, StepBudget())


def test_what_looks_ahead_is_matched_where_it_is_plain():
    assert pattern("(?!left)[a-z]+").groups("right", StepBudget()) == ("right",)
    assert pattern(r"(.)\1").groups("aa", StepBudget()) == ("aa", "a")
    assert pattern("(?i)LEFT").groups("left", StepBudget()) == ("left",)
