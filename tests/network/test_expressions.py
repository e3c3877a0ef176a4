"""Expressions: every row of values measured on the original, shapes, derivatives."""

from pathlib import Path

import numpy as np
import pytest

from strut import network
from strut.network import NetworkError
from tests.network.reading import begin

ROWS = (Path(__file__).parent / "data" / "expressions.tsv").read_text(encoding="utf-8").splitlines()[1:]
ROUNDING = 1e-14  # the original adds up in another order


@pytest.mark.parametrize("row", ROWS, ids=[row.split("\t")[0] for row in ROWS])
def test_values_and_shapes_are_those_of_the_original(row):
    expression, rows, columns, values = row.split("\t")
    found = network.evaluate_expression(expression)
    assert found.shape == (int(rows), int(columns))
    wanted = np.array([float(v) for v in values.split()])
    assert np.allclose(found.ravel(order="F"), wanted, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)


@pytest.mark.parametrize(
    ("expression", "shapes"),
    [
        ("[1, 2; 3, 4] + [1, 2, 3]", "2×2 on the left, 1×3 on the right"),
        ("[1, 2, 3] .* [1, 2]", "1×3 on the left, 1×2 on the right"),
        ("[1, 2; 3]", "1×2 and 1×1"),
        ("1 ? [1, 2] : [1; 2]", "1×2 and 2×1"),
        ("linsolve(eye(2), [1; 2; 3])", "2×2 and 3×1"),
        ("vcat([1, 2], [1; 2])", "1×2 on 2×1"),
        ("inv([1, 2])", "1×2"),
    ],
)
def test_shapes_that_do_not_fit_are_both_named(expression, shapes):
    with pytest.raises(NetworkError, match=shapes.replace("(", "\\(")):
        network.evaluate_expression(expression)


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("1 +", "ends where a value is needed"),
        ("sin(1, 2)", "sin takes 1 argument"),
        ("foo(1)", "no function 'foo'"),
        ("x + 1", "'x' is a variable or unknown"),
        ("[1, 2, 3][3]", "index 3 is outside: there are 3"),
        ("min(1, 2, 3)", "takes 1 or 2"),
        ("1 $ 2", "is no part of an expression"),
        ("(1", "'\\)' is needed"),
        ("((((" * 100 + "1", "nests deeper"),
        ("zeros(1e9, 1)", "up to 2000"),
    ],
)
def test_wrong_expressions_say_what_is_wrong(expression, what):
    with pytest.raises(NetworkError, match=what):
        network.evaluate_expression(expression)


def test_blanks_separate_columns_but_signs_do_not():
    assert network.evaluate_expression("[1 -2]").tolist() == [[-1.0]]
    assert network.evaluate_expression("[1 2;3 4][1, :]").tolist() == [[3.0, 4.0]]


def test_a_pseudo_inverse_of_changing_numbers_of_any_rank():
    matrix = "[a, b; 2 * a, 2 * b; 1, 0]"
    full = begin(f'a = 1 b = "t + 2" m = "pinv({matrix})"')["m"]
    assert np.allclose(full.reshape(2, 3, order="F"), np.linalg.pinv([[1, 2], [2, 4], [1, 0]]), atol=1e-12)
    short = begin('a = 1 b = "t + 2" m = "pinv([a, b; 2 * a, 2 * b])"')["m"]
    assert np.allclose(short.reshape(2, 2, order="F"), np.linalg.pinv([[1, 2], [2, 4]]), atol=1e-9)


def test_derivatives_of_functions():
    values = begin(
        """
        f(a, b) = "a^2 * b"
        g(v) = "v[0]^2 + v[1]^3"
        h(v) = "[v[0]^2; v[0] * v[1]]"
        total = "diff[f; a](2, 3)"
        both = "diff[f; a, b](2, 3)"
        chained = "diff[f; a](2, 3, 5)"
        partial = "pdiff[f; b](2, 3)"
        second = "pdiff[f, 2; a](2, 3)"
        gradient = "∂[g; v]([2; 3])"
        jacobian = "∂[h; v]([2; 3])"
        solved = "linsolve[k; x](0)"
        k(x) = "3 * x - 6"
        """
    )
    assert (values["total"], values["both"], values["chained"], values["partial"], values["second"]) == (
        12,
        16,
        60,
        4,
        6,
    )
    assert values["gradient"].tolist() == [4, 27]
    assert values["jacobian"].reshape(2, 2, order="F").tolist() == [
        [4, 0],
        [3, 2],
    ]  # the original fills one entry only
    assert values["solved"] == 2


def test_time_derivatives_follow_the_equations():
    values = begin(
        """
        x = 2
        x' = "-x"
        y = 1
        y'' = "-y"
        f(a) = "a^2"
        s = "[x, 1; t, y]"
        d1 = "x'"
        d2 = "x''"
        d3 = "dt[x^2]()"
        d4 = "f(x)'"
        d5 = "ÿ"
        d6 = "s'"
        d7 = "dt[x * y, 2]()"
        d8 = "(x + t)'"
        """
    )
    assert [values[f"d{k}"] for k in (1, 2, 3, 4, 5, 7, 8)] == [-2, 2, -8, -8, -1, 0, -1]
    assert values["d6"].reshape(2, 2, order="F").tolist() == [[-2, 0], [1, 0]]


def test_rand_is_a_number_of_its_own_for_every_place():
    text = 'node "n{1:3}" { x = "rand(-5, 5)" x\' = 0 }'
    first, again = network.loads(text).system(seed=1), network.loads(text).system(seed=1)
    other = network.loads(text).system(seed=2)
    values = [[float(q.value[0]) for q in s.p] for s in (first, again, other)]
    assert values[0] == values[1] != values[2]
    assert len(set(values[0])) == 3


def test_log10_is_exact_at_powers_of_ten():
    powers = range(-30, 31)
    text = "".join(f'x{k + 30} = "1e{k} + 0 * t"  y{k + 30} = "log10(x{k + 30})"  ' for k in powers)
    now = begin(text)
    assert [now[f"y{k + 30}"] for k in powers] == list(powers)
    assert network.evaluate_expression("floor(log10(1000))") == 3
    assert network.evaluate_expression("log10([1, 10; 100, 2])").ravel() == pytest.approx(
        [0, 1, 2, np.log10(2)], abs=1e-15
    )
    assert network.evaluate_expression("log10(0)") == -np.inf
    slope = begin(
        'f(x) = "log10(x)"  v = "[10; 100; 7; 1e-3] + 0 * t"  y = "[∂[f](v[0]); ∂[f](v[1]); ∂[f](v[2]); ∂[f](v[3])]"'
    )["y"]
    assert slope == pytest.approx(1 / (np.array([10, 100, 7, 1e-3]) * np.log(10)), rel=1e-14)
