"""A walker that is described without a ledger: its energies are not known, which is not the same as zero."""

import math

import casadi as ca
import pytest

from strut import Event, Param, State, System, Walk, gait, report
from strut.errors import ModelError


def spoked_wheel(**walk):
    """A rimless wheel by hand: angle from the vertical, spokes 0.6 rad apart."""
    angle, rate, foot = State("angle", -0.2, "rad"), State("rate", 1.4, "rad/s"), State("foot", 0.0, "m")
    slope, weight = Param("slope", 0.06, "rad"), Param("weight", 400.0, "N")
    strike = Event(
        "strike",
        angle - slope - 0.3,
        reset={angle: angle - 0.6, rate: rate * math.cos(0.6), foot: foot + 1.6 * math.sin(0.3)},
    )
    flow = {angle: rate, rate: 9.81 / 0.8 * ca.sin(angle), foot: 0.0}
    said = {"section": "strike", "progress": ("foot",), "slope": "slope", "weight": weight} | walk
    return System(
        "wheel", x=(angle, rate, foot), p=(slope, weight), flow=flow, events=(strike,), walk=Walk(**said)
    )


def test_energies_without_a_ledger_are_not_zero():
    found = gait.find(spoked_wheel())
    assert found.multipliers[0].real == pytest.approx(math.cos(0.6) ** 2, rel=1e-6)
    assert math.isnan(found.energy_per_step)
    assert math.isnan(found.cost_of_transport)
    page = report.gait_result(found)
    assert page.headline["energy"] == "not known: no ledger"
    assert "cost of transport" not in page.headline


def test_a_walk_names_what_it_means():
    slope = Param("slope", 0.06, "rad")
    with pytest.raises(ModelError, match="slope of the walk of system 'wheel' is Param.*give the name of a"):
        spoked_wheel(slope=slope)
    with pytest.raises(ModelError, match="progress of the walk of system 'wheel' is 'foot': give the names"):
        spoked_wheel(progress="foot")
