"""A machine on a floating base, down a slope: way and height are shifted together, and the posture says how high
the base is."""

import math

import numpy as np
import pytest
from examples import rabbit

from strut import optimal, walkers
from strut.gait.section import section_of
from strut.gait.transport import distance_between, ground_stretch, on_slope
from strut.optimal.walk.flight_stride import flight_stride
from strut.optimal.walk.step_goal import StepGoal
from strut.system import parameters, start

SLOPE = math.radians(3.0)
"""Downhill [rad]."""


@pytest.fixture(scope="module")
def downhill():
    return on_slope(walkers.runner(), SLOPE)


def names(walker, places):
    return [walker.labels("x")[i] for i in places]


def test_only_the_way_is_cyclic(downhill):
    section = section_of(downhill)
    assert names(downhill, section.cyclic) == ["base.x"]
    assert "base.z" in section.names
    assert section.moves_along(1)
    assert not section.moves_along(2)
    assert section_of(walkers.runner()).shear is None  # on the flat height is not shifted at all


@pytest.mark.parametrize("slope", [SLOPE, -0.1, 0.2])
def test_height_moves_by_the_tangent_of_the_slope(downhill, slope):
    section, p = section_of(downhill), parameters(downhill).copy()
    place = downhill.slices("p")["slope"].start
    p[place] = slope
    assert section.shears(p)[1, 0] == pytest.approx(-math.tan(slope), rel=1e-12)
    by_p = np.array(section.moved_by_parameters(p, [2.0]))
    assert by_p[1, place] == pytest.approx(-2.0 / math.cos(slope) ** 2, rel=1e-9)


def test_what_repeats_does_not_notice_a_shift_along_the_ground(downhill):
    section, p, x = section_of(downhill), parameters(downhill), start(downhill).x
    way = 0.7
    moved = x.copy()
    moved[:2] += way * math.cos(SLOPE), -way * math.sin(SLOPE)
    free = list(section.free)
    own = section.repeating_part(x, p)[free]
    assert section.repeating_part(moved, p)[free] == pytest.approx(own, abs=1e-13)
    assert section.whole(own, moved, p) == pytest.approx(moved, abs=1e-13)
    z = start(downhill).z
    assert distance_between(downhill.replace(symmetry={}), (x, z), (moved, z), p, section) == pytest.approx(
        way
    )
    stretch = ground_stretch(downhill, section, list(section.cyclic))
    assert float(downhill.function("stretch", [stretch])(0, x, z, start(downhill).u, p)) == pytest.approx(
        1 / math.cos(SLOPE)
    )


def test_a_base_that_is_the_foot_begins_where_it_is():
    """Way and height of a foot that stands are given by the ground, whatever the posture."""
    walker = on_slope(walkers.compass_duindam(), SLOPE)
    section = section_of(walker)
    assert names(walker, section.cyclic) == ["foot_x", "foot_z"]
    assert section.shear is None


def test_a_stride_downhill_has_its_feet_on_the_ground(downhill):
    goal = StepGoal(speed=0.8, slope=SLOPE)
    stride = flight_stride(downhill, "foot_l_touchdown", goal)
    stance, flight = stride.guess.phases
    begin = np.asarray(stance.x([0.0]))[0]
    end = np.asarray(flight.x([1.0]))[0]
    s = start(downhill)
    for foot, x in (("foot_r", begin), ("foot_l", end)):
        gap = float(downhill.function("gap", [downhill[f"{foot}_gap"]])(0, x, s.z, s.u, s.p))
        assert gap == pytest.approx(0.0, abs=1e-8)
    assert end[1] - begin[1] == pytest.approx(-math.tan(SLOPE) * (end[0] - begin[0]), abs=1e-8)


@pytest.mark.slow  # half a minute: a five-link walker of fourteen states is designed and its gait compiled
def test_a_floating_walker_is_designed_downhill():
    """Its stance foot is on the slope at the beginning, its swing foot at the end, and what gravity gives is
    weight by the descent along the slope."""
    design = optimal.design(rabbit.walker(), speed=0.6, slope=SLOPE)
    assert design.ok, design.wrong
    assert design.replay.run["foot_r_gap"][0] == pytest.approx(0.0, abs=1e-7)
    fallen = design.weight * design.step_length * math.sin(SLOPE)
    assert design.replay.balance.fallen == pytest.approx(fallen, rel=1e-6)
    assert design.gait.step_length == pytest.approx(design.step_length, rel=1e-6)
