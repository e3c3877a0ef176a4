"""Our C equals CasADi's virtual machine, operation by operation and for random expressions; and nothing can be injected."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strut import Param, State, System, compile_system
from strut.codegen.backends import lower_system
from strut.codegen.c import OPERATIONS, emit
from strut.codegen.c_tables import literal
from strut.codegen.lower import SIGNATURES

a, b = State("a", 0.7), State("b", -0.4)
x, y = a.sym, b.sym

EVERY = {
    "add": x + y,
    "sub": x - y,
    "mul": x * y,
    "div": x / y,
    "neg": -x,
    "inv": 1 / x,
    "sq": x**2,
    "cube": x**3,
    "fourth": x**4,
    "sqrt": ca.sqrt(x * x),
    "half": (x * x + 1) ** 0.5,
    "three_halves": ca.fabs(x) ** 1.5,
    "minus_half": ca.fabs(x + 1e-3) ** -0.5,
    "minus_three_halves": ca.fabs(x + 1e-3) ** -1.5,
    "pow": ca.fabs(x) ** y,
    "constpow": ca.fabs(x) ** 1.7,
    "twice": x + x,
    "sin": ca.sin(x),
    "cos": ca.cos(x),
    "tan": ca.tan(x),
    "asin": ca.asin(x / 9),
    "acos": ca.acos(x / 9),
    "atan": ca.atan(x),
    "atan2": ca.atan2(x, y),
    "sinh": ca.sinh(x),
    "cosh": ca.cosh(x),
    "tanh": ca.tanh(x),
    "asinh": ca.asinh(x),
    "acosh": ca.acosh(1 + x * x),
    "atanh": ca.atanh(x / 9),
    "exp": ca.exp(x),
    "expm1": ca.expm1(x),
    "log": ca.log(1 + x * x),
    "log1p": ca.log1p(x * x),
    "hypot": ca.hypot(x, y),
    "erf": ca.erf(x),
    "floor": ca.floor(x),
    "ceil": ca.ceil(x),
    "fmod": ca.fmod(x, y),
    "remainder": ca.remainder(x, y),
    "fabs": ca.fabs(x),
    "sign": ca.sign(x),
    "copysign": ca.copysign(x, y),
    "fmin": ca.fmin(x, y),
    "fmax": ca.fmax(x, y),
    "lt": x < y,
    "le": x <= y,
    "eq": x == y,
    "ne": x != y,
    "not": ca.logic_not(x > 0),
    "and": ca.logic_and(x > 0, y > 0),
    "or": ca.logic_or(x > 0, y > 0),
    "if": ca.if_else(x > y, ca.sin(x), y**2),
    "const": ca.SX(1e-300),
    "inf": ca.SX(np.inf) + x,
}
POINTS = np.array([[0.7, -0.4], [-1.3, 0.2], [0.0, 1.0], [2.5, 2.5], [-0.1, -3.0]])


@pytest.fixture(scope="module")
def models():
    system = System("every", x=[a, b], flow={a: 0, b: 0}, outputs=EVERY)
    return compile_system(system, backend="native"), compile_system(system, backend="virtual")


def test_every_operation(models):
    native, virtual = (m.evaluate("outputs", np.zeros(len(POINTS)), POINTS, [], [], []) for m in models)
    for k, name in enumerate(EVERY):
        np.testing.assert_allclose(native[:, k], virtual[:, k], rtol=1e-14, atol=1e-300, err_msg=name)


def test_every_operation_of_the_table_is_tested():
    f = ca.Function("f", [x, y], [ca.vertcat(*EVERY.values())])
    used = {f.instruction_id(k) for k in range(f.n_instructions())}
    skipped = {ca.OP_ASSIGN, ca.OP_LIFT}  # CasADi removes or never makes these in SX
    assert set(OPERATIONS) - skipped - used == set()


leaf = st.sampled_from([x, y]) | st.floats(-3, 3, allow_nan=False).map(ca.SX)
expressions = st.recursive(
    leaf,
    lambda inner: st.tuples(
        st.sampled_from(
            [
                lambda p, q: p + q,
                lambda p, q: p * q,
                lambda p, q: p - ca.sin(q),
                lambda p, q: ca.if_else(p > q, p, ca.cos(q)),
                lambda p, q: ca.fmax(p, q) * ca.tanh(p),
                lambda p, q: ca.atan2(p, 1 + q * q),
                lambda p, q: ca.exp(-p * p) / (2 + ca.cos(q)),
            ]
        ),
        inner,
        inner,
    ).map(lambda t: t[0](t[1], t[2])),
    max_leaves=25,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(expressions, min_size=1, max_size=5))
def test_random_expressions(chosen):
    """One small compilation per example, so few of them; each holds several expressions."""
    system = System("random", x=[a, b], flow={a: 0, b: 0}, outputs={f"y{k}": e for k, e in enumerate(chosen)})
    native, virtual = (
        compile_system(system, backend=backend).evaluate("outputs", np.zeros(5), POINTS, [], [], [])
        for backend in ("native", "virtual")
    )
    np.testing.assert_allclose(native, virtual, rtol=1e-12, atol=1e-12)


@given(st.floats())
def test_literals_survive(value):
    text = literal(value)
    if np.isfinite(value):
        assert float(text[2:-1]) == value
    else:
        assert "STRUT_" in text


def test_names_of_users_do_not_reach_the_code():
    """Unicode and C keywords are fine as names, because the generated functions never mention them."""
    double, phi = State("double", 1.0), State("φ", 1.0)
    k = Param("return", 2.0)
    system = System("struct", x=[double, phi], p=[k], flow={double: -k * double, phi: double})
    text = emit(lower_system(system).functions["flow"], "flow", *SIGNATURES["flow"])
    assert "φ" not in text
    assert "return" not in text
    assert compile_system(system).evaluate("flow", 0.0, [1.0, 1.0], [], [], [2.0]).tolist() == [[-2.0, 1.0]]


def test_whole_powers_are_multiplied():
    f = ca.Function("f", [x], [x**3 + x**4])
    assert "POW" not in emit(f, "f", ("x",), ("y",))


def test_long_functions_are_split_and_give_the_same(monkeypatch):
    """Split into parts of a few statements, every operation still equals the virtual machine, also as strict C."""
    import subprocess

    import strut
    from strut.codegen import c as emitter
    from strut.codegen.translation_unit import generate

    monkeypatch.setattr(emitter, "MAX_STATEMENTS", 10)
    monkeypatch.setattr(emitter, "PART_STATEMENTS", 4)
    monkeypatch.setenv("STRUT_CACHE", str(strut.codegen.cache.cache_directory() / "split"))
    k = Param("k", 0.3)
    chained = x
    for step in range(40):
        chained = ca.sin(chained + k * y) * (1 + step) / (2 + chained**2)
    system = System("split", x=[a, b], p=[k], flow={a: chained, b: chained * y}, outputs=EVERY)
    assert "_part3" in generate(lower_system(system)).functions
    native, virtual = (compile_system(system, backend=backend) for backend in ("native", "virtual"))
    for which in ("flow", "outputs"):
        ours, theirs = (
            m.evaluate(which, np.zeros(len(POINTS)), POINTS, [], [], [0.3]) for m in (native, virtual)
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)
    directory = strut.codegen.cache.cache_directory()
    strut.export(system, directory / "c")
    subprocess.run(
        [
            "cc",
            "-c",
            "-O2",
            "-std=c99",
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
            directory / "c" / "split.o",
            directory / "c" / "split.c",
        ],
        check=True,
    )
