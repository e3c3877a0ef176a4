"""Flows of like terms: the loops in C compute what the written-out expressions say, and what does not fit is refused."""

import subprocess
import threading

import casadi as ca
import numpy as np
import pytest

from strut import Input, Param, State, System, export, simulate_batch
from strut.codegen import translation_unit as unit
from strut.codegen.backends import compile_system, lower_system
from strut.errors import ModelError, ShapeError, UnknownNameError
from strut.system.quantity import time
from strut.system.sums import Like, Sums, Terms

N = 60


def sums(q, p, u, kernel=None, rows=None, reads=None):
    """Rates of q: two numbers for each of N / 2 points, of sines that are made beforehand, and of what all kinds of places hold."""
    entries = [*((q, k) for k in range(N)), *((p, k) for k in range(N)), (u, 0)]
    others = ca.vertcat(time, 2.5, -0.5, q[0] * q[1], p[0] ** 2)
    angle, s = ca.SX.sym("angle"), ca.SX.sym("s", 5)
    made = [Like(angle, ca.vertcat(ca.sin(angle), ca.cos(angle)), np.arange(N)[None, :])]
    first = len(entries) + others.numel()
    rng = np.random.default_rng(3)
    count = 4 * N
    if reads is None:
        reads = np.array(
            [
                first + rng.integers(0, 2 * N, count),
                rng.integers(0, N, count),
                N + rng.integers(0, N, count),
                rng.integers(2 * N, first, count),
                np.full(count, N),
            ]
        )
    if kernel is None:
        kernel = ca.vertcat(s[0] * s[1] / s[2] + s[3], ca.cos(s[2] + s[4]) * s[1] - s[3] * s[0])
    rows = 2 * rng.integers(0, N // 2, count) if rows is None else rows
    slots = s if kernel.numel() != 1 or len(reads) == 5 else s[: len(reads)]
    return Sums(
        {"q": ca.vertcat(q[1], *[0] * (N - 1))}, entries, others, made, [Terms(slots, kernel, reads, rows)]
    )


@pytest.fixture
def parts():
    return State("q", np.linspace(-1, 1, N)), Param("p", np.linspace(0.5, 1.5, N)), Input("u", 0.3)


def rates(system, backend):
    rng = np.random.default_rng(5)
    x, p = rng.normal(size=(3, N)), rng.uniform(0.5, 2, N)
    return compile_system(system, backend=backend).evaluate("flow", [0.0, 0.5, 1.0], x, [], [0.7], p)


def test_loops_compute_what_the_expressions_say(parts):
    q, p, u = parts
    system = System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts))
    assert "flow" in lower_system(system).looped
    plain = System("plain", x=(q,), p=(p,), u=(u,), flow=dict(system.flow))
    assert not lower_system(plain).looped
    expected = rates(plain, "virtual")
    assert rates(system, "virtual") == pytest.approx(expected, rel=1e-15)
    assert rates(system, "native") == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_variants_stay_sums_and_joined_systems_are_written_out(parts):
    q, p, u = parts
    system = System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts))
    more = system.replace(outputs={"y": q[0] * p[0]})
    assert isinstance(more.flow, Sums)
    assert rates(more, "native") == pytest.approx(rates(system, "native"))
    assert list(system.flow) == ["q"]
    assert "q" in system.flow
    assert "r" not in system.flow


def test_the_key_tells_tables_apart(parts):
    q, p, u = parts

    def digest(rows):
        return lower_system(System("sums", x=(q,), p=(p,), u=(u,), flow=sums(q, p, u, rows=rows))).digest

    rows = 2 * (np.arange(4 * N) % (N // 2))
    assert digest(rows) == digest(rows.copy())
    assert digest(rows) != digest(rows[::-1].copy())


def test_the_key_is_that_of_another_making_of_the_same():
    def digest():
        q, p, u = State("q", np.zeros(N)), Param("p", np.ones(N)), Input("u", 0.3)
        return lower_system(System("sums", x=(q,), p=(p,), u=(u,), flow=sums(q, p, u))).digest

    assert digest() == digest()


def test_what_terms_read_must_be_there(parts):
    q, p, u = parts
    with pytest.raises(UnknownNameError, match="uses 'u', which the system does not have"):
        System("sums", x=(q,), p=(p,), flow=sums(*parts))
    other = Param("p", np.linspace(0.5, 1.5, N))
    with pytest.raises(UnknownNameError, match="uses 'p', which the system does not have"):
        System("sums", x=(q,), p=(other,), u=(u,), flow=sums(*parts))
    stranger = ca.SX.sym("stranger")
    with pytest.raises(ModelError, match="like terms use 'stranger', which is none of their slots"):
        System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts, kernel=ca.vertcat(stranger, 0)))
    with pytest.raises(ShapeError, match="read entry 1000 of"):
        System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts, reads=np.full((5, 4 * N), 1000)))
    with pytest.raises(ShapeError, match="added to row 60 of 60"):
        System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts, rows=np.full(4 * N, N - 1)))
    with pytest.raises(ShapeError, match="240 like terms have 3 rows"):
        System("sums", x=(q,), p=(p,), u=(u,), flow=sums(*parts, rows=np.arange(3)))


def test_a_rate_that_is_one_term_is_a_velocity():
    q, v = State("q", np.zeros(50)), State("v", np.zeros(50))
    s = ca.SX.sym("s", 1)
    entries = [*((q, k) for k in range(50)), *((v, k) for k in range(50))]
    own = {"q": ca.SX.zeros(50), "v": ca.SX.zeros(50)}
    moving = Terms(s, s, np.arange(50, 100)[None, :], np.arange(50))
    falling = Terms(s, -ca.sin(s), np.arange(50)[None, :], np.arange(50, 100))
    system = System("springs", x=(q, v), flow=Sums(own, entries, ca.SX(0, 1), [], [moving, falling]))
    assert lower_system(system).tables["velocity_of"] == [*range(50, 100), *[-1] * 50]


def test_many_parameters_need_no_stack():
    """Parameters and what is prepared of them lie in the caller's memory: a thread with a small stack is enough."""
    count = 40_000  # with as many cosines 0.6 MB, more than twice the stack below
    q, p = State("q", np.zeros(10)), Param("p", np.linspace(0, 1, count))
    s = ca.SX.sym("s", 2)
    entries = [*((q, k) for k in range(10)), *((p, k) for k in range(count))]
    reads = np.array([np.arange(count) % 10, 10 + np.arange(count)])
    terms = Terms(s, s[0] * ca.cos(s[1]) + 1 / count, reads, np.arange(count) % 10)
    system = System(
        "many", x=(q,), p=(p,), flow=Sums({"q": ca.SX.zeros(10)}, entries, ca.SX(0, 1), [], [terms])
    )
    model = compile_system(system)
    found = {}

    def work():
        found["rate"] = model.evaluate("flow", 0.0, np.ones(10), [], [], p.value)
        found["end"] = simulate_batch(system, 1e-4, method="rk4", step=1e-4).x

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    expected = np.cos(p.value).reshape(-1, 10).sum(axis=0) + 0.1
    assert found["rate"][0] == pytest.approx(expected, rel=1e-12)
    assert found["end"][0] == pytest.approx(1e-5 * np.ones(10), rel=1)


def test_exported_loops_stand_alone(parts, tmp_path):
    q, p, u = parts
    s = ca.SX.sym("s", 1)
    waves = Terms(s, ca.sin(s), np.arange(8 * N)[None, :] % (2 * N), np.arange(8 * N) % N)
    flow = Sums(
        {"q": -2 * q.sym},
        [*((q, k) for k in range(N)), *((p, k) for k in range(N))],
        ca.SX(0, 1),
        [],
        [waves],
    )
    system = System("sums", x=(q,), p=(p,), u=(u,), flow=flow)
    written = export(system, tmp_path)
    assert "like terms" in (tmp_path / "sums.c").read_text()
    assert written.operations["flow"] > 4 * N
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    lines = subprocess.run(
        [tmp_path / "sums"], capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    end = simulate_batch(system, 10.0).x[0]
    assert np.array(lines[-1].split(), dtype=float)[1:] == pytest.approx(
        end, rel=1e-5, abs=1e-5
    )  # rtol of the runs, many steps


def test_what_is_not_worth_loops_is_written_out():
    q = State("q", np.zeros(4))
    s = ca.SX.sym("s", 1)
    terms = Terms(s, ca.sin(s), np.arange(4)[None, :], np.arange(4))
    system = System(
        "few", x=(q,), flow=Sums({"q": ca.SX.zeros(4)}, [(q, k) for k in range(4)], ca.SX(0, 1), [], [terms])
    )
    assert not lower_system(system).looped
    assert "for (int" not in unit.generate(lower_system(system)).functions
