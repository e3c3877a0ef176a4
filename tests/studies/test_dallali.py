"""COMAN's published experiments, each with the tolerance of what was printed."""

import pytest

from strut.studies import STUDIES

WEIGHT = 28.357 * 9.81  # [N]


def numbers(text):
    return [float(word) for word in text.split() if word[0].isdigit()]


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
    spans = {
        side: [
            numbers(part) for part in ours[f"force under the {side} foot, least to largest [N]"].split("; ")
        ]
        for side in ("right", "left")
    }
    for (low, high), (left_low, left_high) in zip(spans["right"], spans["left"], strict=True):
        # where one foot bears least the other bears most, and both the weight; each is as the other, mirrored
        assert low + left_high == pytest.approx(WEIGHT, rel=0.01)
        assert high + left_low == pytest.approx(WEIGHT, rel=0.01)
        assert low == pytest.approx(left_low, abs=0.02 * WEIGHT)
    # soft ground gives more: the waist goes as far as it is asked, 100 mm to and fro, and further
    (linear,), (nonlinear,) = (numbers(p) for p in ours["waist to the side, to and fro [mm]"].split("; "))
    assert 100 < linear < 105 < nonlinear < 120
    # what was computed, to a twentieth: the paper has figures alone
    for joint, errors in (("hip", (30.6, 33.5)), ("ankle", (30.4, 30.4))):
        text = ours[f"largest error of the right {joint} roll [mrad]"]
        assert [numbers(p)[0] for p in text.split("; ")] == pytest.approx(errors, rel=0.05)
