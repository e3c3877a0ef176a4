"""What was varied, in the unit in which it was asked."""

import math

import numpy as np
import pytest

from strut.errors import ValueRangeError
from strut.view.figures.figure import Figure, Flow, Line, Points
from strut.view.figures.swept_axis import swept_axis


def test_values_titles_and_tables_are_in_the_unit_that_was_asked():
    axis = swept_axis("slope", "rad", "deg")
    angles = np.radians([3.0, 3.5])
    assert axis.title == "slope [deg]"
    assert axis.in_unit(angles) == pytest.approx([3.0, 3.5])
    assert axis.label(angles[1]) == "slope 3.5 deg"
    heads, rows = axis.table(["slope [rad]", "ok"], [[angles[0], "yes"], [angles[1], "no"]])
    assert heads == ["slope [deg]", "ok"]
    assert rows[1] == [pytest.approx(3.5), "no"]


def test_without_a_unit_nothing_is_changed():
    axis = swept_axis("mass", "kg")
    assert (axis.title, axis.label(0.25), axis.unit) == ("mass [kg]", "mass 0.25", "")
    assert axis.sentence("reached mass = 0.25") == "reached mass = 0.25"
    assert swept_axis("weight_energy", "").title == "weight_energy"


def test_figures_are_drawn_over_it():
    slope, flow = np.radians([3.0, 5.0]), Flow({"a": 1.0}, {"b": 1.0}, "m", "J")
    figure = Figure((Line("l", slope, slope), Points("p", slope, slope), flow), "slope [rad]", "period [s]")
    drawn = swept_axis("slope", "rad", "deg").figure(figure)
    assert (drawn.x, drawn.y) == ("slope [deg]", "period [s]")
    for trace in drawn.traces[:2]:
        assert trace.x == pytest.approx([3.0, 5.0])
        assert trace.y == pytest.approx(slope)
    assert drawn.traces[2] is flow


@pytest.mark.parametrize("end", ["", ".", ": no gait", ", and on"])
def test_sentences_name_values_in_it(end):
    axis = swept_axis("slope", "rad", "deg")
    assert axis.sentence(f"reached slope = {math.radians(5):.6g}{end}") == f"reached slope = 5 deg{end}"
    assert axis.sentence("hip_slope = 0.1 and 12 points") == "hip_slope = 0.1 and 12 points"
    assert axis.sentence("beyond slope = -1e-05 it falls") == "beyond slope = -0.00057296 deg it falls"


def test_a_unit_of_something_else_is_refused():
    with pytest.raises(ValueRangeError, match="does not fit a quantity in rad"):
        swept_axis("slope", "rad", "kg")
