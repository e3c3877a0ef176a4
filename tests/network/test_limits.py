"""Texts that would take minutes or fill the screen: each is answered within seconds, by a result or a short message."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

from strut import network
from strut.network import NetworkError
from tests.network.reading import begin

PATIENCE = 10  # [s] for one text, on a machine that is busy
LONGEST_MESSAGE = 2500  # [characters]


@contextmanager
def soon():
    began = time.monotonic()
    yield
    assert time.monotonic() - began < PATIENCE


# ---- includes ----


@pytest.mark.parametrize("word", ["include", "import"])
def test_a_tree_of_files(tmp_path, word):
    """Each names the next four times: a million readings."""
    for k in range(10):
        lines = [f'{word} "f{k + 1}.cdn"' + (f' as "n{j}"' if word == "import" else "") for j in range(4)]
        (tmp_path / f"f{k}.cdn").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "f10.cdn").write_text("x = 1", encoding="utf-8")
    with (
        soon(),
        pytest.raises(
            NetworkError, match=r"more than 2000 files are included, '.*f\d+.cdn' again and again"
        ) as caught,
    ):
        network.load(tmp_path / "f0.cdn")
    assert len(str(caught.value)) < LONGEST_MESSAGE


def test_many_long_files(tmp_path):
    (tmp_path / "long.cdn").write_text("# " + "a" * 999_998, encoding="utf-8")
    (tmp_path / "model.cdn").write_text('include "long.cdn"\n' * 5, encoding="utf-8")
    with (
        soon(),
        pytest.raises(NetworkError, match="included files have more than 4000000 characters together"),
    ):
        network.load(tmp_path / "model.cdn")


def test_changes_do_not_add_up():
    net = network.loads("x = 1")
    for _ in range(3):
        net.change('include "layout/line.cdn"\n' * 900)
    with pytest.raises(NetworkError, match="more than 2000 files"):
        net.change('include "layout/line.cdn"\n' * 2001)


# ---- functions ----


def doubling(levels, body):
    lines = ['f0(x) = "x + 1"', *(f'f{k + 1}(x) = "{body.replace("F", f"f{k}")}"' for k in range(levels))]
    return "\n".join([*lines, 'a = "t"', f'y = "f{levels}(a)"'])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [("F(x) / 2 + F(x) / 2", 3), ("F(x + 1) / 2 + F(x + 1) / 2", 33), ("F(F(x) - F(x) + x)", 3)],
    ids=["same argument", "same calculation", "calls in calls"],
)
def test_functions_that_call_each_other_twice(body, wanted):
    """Two to the thirtieth calls, of which thirty differ."""
    with soon():
        assert begin(doubling(30, body), t=2.0)["y"] == pytest.approx(wanted, abs=1e-12)


def test_functions_that_call_each_other_twice_with_other_arguments():
    with (
        soon(),
        pytest.raises(
            NetworkError, match="functions are called more than 5000 times here, 'f.*name what they share"
        ) as caught,
    ):
        begin(doubling(30, "F(x + 1) + F(x - 1)"))
    assert len(str(caught.value)) < LONGEST_MESSAGE
    with soon():
        assert begin(doubling(10, "F(x + 1) + F(x - 1)"), t=0.0)["y"] == pytest.approx(1024)


def test_random_numbers_are_not_shared():
    text = 'f(x) = "rand() + 0 * x"  g(x) = "[f(x), f(x), rand(), rand()]"  y = "g(1)"'
    assert len(set(np.round(begin(text)["y"], 12))) == 4


def test_a_long_sum_as_an_argument():
    total = " + ".join(["x"] * 5000)
    assert begin(f'f(x) = "2 * x"  g(x) = "f({total})"  a = 1  y = "g(a)"')["y"] == 10_000


# ---- long texts ----

MILLIONS = 10_000_000


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"x{k} = 1" for k in range(800_000)),
        'x = "' + "a" * MILLIONS + '"',
        "a" * MILLIONS + " = 1",
        "{" * MILLIONS,
        "~" * MILLIONS,
    ],
    ids=["statements", "string", "name", "braces", "garbage"],
)
def test_ten_million_characters(text):
    with (
        soon(),
        pytest.raises(
            NetworkError, match=r"'text' has \d+ characters: a model has at most 2000000"
        ) as caught,
    ):
        network.loads(text)
    assert len(str(caught.value)) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('x = "' + "a" * 200_000 + '"', "is unknown here"),
        ('x = "a' + ".a" * 100_000 + '"', "is unknown"),
        ('x = "' + "1 + " * 100_000 + '1"', "an expression has 400001 characters, 300000 are the most"),
        ("x" + "'" * 200_000 + " = 1", "a derivative of order"),
        ("node x {} node | /" + "a" * 100_000 + "/ {}", "2000 are the most"),
        ('include "' + "a" * 100_000 + '"', "there is no file|cannot read"),
        ("apply " + "a" * 100_000, "finds no template"),
        ("integrator { " + "a" * 100_000 + " = 1 }", "the integrator has no"),
        (
            'defines { a0 = "xy" }\n'
            + "\n".join(f'defines {{ a{k + 1} = "@a{k}@a{k}" }}' for k in range(22))
            + '\nx = "@a22"',
            "characters",
        ),
        ('x = "$(' + "a" * 100_000 + ')"', "cannot calculate"),
    ],
    ids=[
        "name",
        "path",
        "sum",
        "primes",
        "pattern",
        "file",
        "template",
        "integrator",
        "defines",
        "calculation",
    ],
)
def test_messages_about_long_things_are_short(text, said):
    with soon(), pytest.raises(NetworkError, match=said) as caught:
        network.loads(text).system()
    assert len(str(caught.value)) < LONGEST_MESSAGE
