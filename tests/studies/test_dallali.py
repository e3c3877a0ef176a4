"""COMAN's published experiments, each with the tolerance of what was printed."""

import pytest

from strut.studies import STUDIES


def rows(name):
    return {row.quantity: row.ours for row in STUDIES[name].rows()}


def test_the_knee():
    ours = rows("dallali-knee")
    assert float(ours["voltage at 90 degrees [V]"]) == pytest.approx(0.684, rel=0.01)
    assert float(ours["error at 90 degrees [mrad]"]) == pytest.approx(3.4, abs=0.05)
    assert float(ours["voltage that stiction adds at the end [V]"]) == pytest.approx(0.6, abs=0.005)
    assert "copper" in ours["energy of the move [J]"]


def test_the_equations_are_shorter_than_published():
    ours = rows("dallali-generation")
    assert int(ours["inverse dynamics, operations"]) < 4106
    assert int(ours["mass matrix and bias, operations"]) < 17414


@pytest.mark.slow  # COMAN's legs on two grounds in space: minutes
def test_the_sway():
    ours = rows("dallali-sway")
    for ground in ours["force under the right foot, least to largest [N]"].split("; "):
        low, high = (float(word) for word in ground.split() if word[0].isdigit())
        assert 0 <= low < 139.1 < high <= 285
