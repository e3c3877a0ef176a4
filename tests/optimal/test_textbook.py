"""Textbook problems over all transcriptions, with the order of each."""

import numpy as np
import pytest

from strut import optimal
from strut.optimal.nlp.scheme import METHODS, tableau
from tests.optimal import textbook

ORDER = {"radau": 5, "gauss": 6, "hermite-simpson": 4, "shooting": 4}


@pytest.mark.parametrize("method", METHODS)
def test_kirk_and_the_order_of_every_transcription(method):
    problem, exact, meshes = textbook.kirk(), textbook.kirk_least(), (5, 10, 20)
    found = [
        problem.solve(method=method, intervals=n, steps=2, control="quadratic", accuracy=None) for n in meshes
    ]
    assert all(r.ok for r in found)
    errors = np.array([abs(r.cost - exact) for r in found])
    order = -np.polyfit(np.log(meshes), np.log(errors), 1)[0]
    assert abs(order - ORDER[method]) < 0.4, (method, order, errors)
    # Kirk prints x1 = 7.289 t - 6.103 + 6.696 exp(-t) - 0.593 exp(t), to three digits
    t = np.linspace(0, 2, 5)
    assert (
        np.abs(found[-1].at(t)["x1"] - (7.289 * t - 6.103 + 6.696 * np.exp(-t) - 0.593 * np.exp(t))).max()
        < 4e-3
    )
    assert np.abs(found[-1].at(t)["x2"] - (7.289 - 6.696 * np.exp(-t) - 0.593 * np.exp(t))).max() < 4e-3
    assert abs(found[-1].accurate_totals["effort"] - exact) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_brachistochrone(method):
    guess = {"duration": 0.5, "x": (0, 1), "y": (0, 0.6), "v": (0.1, 6), "angle": (1.5, 0.1)}
    found = textbook.brachistochrone().solve(guess, method=method, steps=2, control="linear", accuracy=1e-6)
    assert found.ok, found.status
    assert abs(found.duration - np.sqrt(np.pi / 32.174)) < 2e-6  # a cycloid; Betts prints 0.312480130


@pytest.mark.parametrize("method", METHODS)
def test_goddard(method):
    how = {"method": method, "intervals": 40, "steps": 2, "control": "constant"}
    found = textbook.goddard().solve(textbook.GODDARD_GUESS, accuracy=1e-5, **how)
    assert found.ok, (found.status, found.kkt, found.worst, found.meshes)
    assert abs(-found.cost - 1.01283) < 1e-5  # COPS: 1.01283


@pytest.mark.parametrize("method", METHODS)
def test_hock_schittkowski_71(method):
    found = textbook.hs071().solve(method=method, intervals=1, control="constant", backend="virtual")
    assert found.ok
    assert abs(found.cost - 17.0140173) < 1e-6
    exact = {"x1": 1.0, "x2": 4.742999637, "x3": 3.821149979, "x4": 1.379408293}
    assert all(abs(found.parameters[n] - v) < 1e-6 for n, v in exact.items())


def test_least_time_is_bang_bang():
    found = optimal.Problem(textbook.sled()).phase(duration=(0.1, 10)).begin(x=0, v=0).end(x=1, v=0)
    from strut.system.quantity import time

    found = found.minimise(time).solve({"duration": 3.0, "force": (1, -1)}, control="constant", intervals=10)
    assert found.ok
    assert abs(found.duration - 2) < 1e-8
    assert np.allclose(np.abs(found.phases[0].w), 1, atol=1e-6)


@pytest.mark.parametrize(("split", "share"), [("absolute", 2), ("positive", 1)])
@pytest.mark.parametrize("method", ["radau", "shooting"])
def test_split_by_sign_is_exact_where_signs_change_at_nodes(split, share, method):
    """Least fuel: thrust, coast, brake, each of the first and last for (T - sqrt(T^2 - 4)) / 2."""
    T = 2.5
    burn = (T - np.sqrt(T**2 - 4)) / 2  # 0.5, a fifth of T
    system = textbook.sled()
    fuel = optimal.Integral("fuel", system["force"], split=split)
    problem = optimal.Problem(system).phase(duration=T).begin(x=0, v=0).end(x=1, v=0).minimise(fuel)
    found = problem.solve(method=method, control="constant", intervals=10, steps=2)
    assert found.ok
    assert abs(found.cost - share * burn) < 1e-6
    assert abs(found.totals["fuel"] - found.accurate_totals["fuel"]) < 1e-6


def test_tables_are_those_of_the_books():
    radau = tableau("radau", 2)
    assert np.allclose(radau.c, [1 / 3, 1])
    assert np.allclose(radau.A, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]])
    gauss = tableau("gauss", 2)
    assert np.allclose(gauss.c, [0.5 - 3**0.5 / 6, 0.5 + 3**0.5 / 6])
    assert np.allclose(gauss.A, [[1 / 4, 1 / 4 - 3**0.5 / 6], [1 / 4 + 3**0.5 / 6, 1 / 4]])
    assert np.allclose(
        tableau("hermite-simpson", 3).A, [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]]
    )
