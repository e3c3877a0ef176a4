"""A walk in an exoskeleton, with derivatives by pins and control, and a little better by them."""

import numpy as np
import pytest

from strut import linkage
from strut.errors import ModelError
from strut.studies.exoskeleton_gait import exoskeleton_tables, exoskeleton_walker, stride_references
from strut.studies.exoskeleton_refinement import DifferentiableWalk, refine_walk
from strut.studies.exoskeleton_start import check_carries, start_linkage
from strut.system import start

PAIR = ("j1", "j3")
DURATION = 1.0
"""[s] Of a walk."""


def topology():
    """A four-bar at the hip, and a chain of two links from the trunk to the shank."""
    return linkage.topologies(linkage.human_leg(), 4, 6)[1]


def walking_numbers():
    """Pins of a sketch, and a controller that follows a stride: it walks, with its trunk assisted."""
    design = linkage.sketch_values(topology())
    motion = linkage.follow_postures(topology(), design, linkage.stride_postures(60))
    references = stride_references(motion)
    numbers = {q.name: float(q.value[0]) for q in exoskeleton_tables(topology(), PAIR).parameters}
    for joint in topology().joints:
        if joint in PAIR:
            numbers |= references[joint]
            for k in (1, 2):
                numbers |= {f"{joint}_stiffness_{k}": 4000.0, f"{joint}_damping_{k}": 50.0}
        else:
            numbers[f"{joint}_damping"] = 0.2
    for k in (1, 2):
        numbers |= {f"ankle_stiffness_{k}": 200.0, f"ankle_damping_{k}": 15.0}
    pins = [each.name for each in linkage.pin_parameters(topology())]
    return numbers | dict(zip(pins, design[0].tolist(), strict=True))


def test_how_linkages_begin():
    """As the machine that was made with these pins begins; derivatives by differences of what begins."""
    machine, design = exoskeleton_walker(topology(), None, PAIR), linkage.sketch_values(topology())[0]
    begin = start_linkage(machine, topology(), design)
    own = dict(zip(machine.labels("x"), start(machine).x, strict=True))
    for name, value in begin.states.items():
        assert value == pytest.approx(own[name], abs=1e-12)
    for k in range(len(design)):
        step = 1e-6 * np.eye(len(design))[k]
        ends = [start_linkage(machine, topology(), design + sign * step).states for sign in (1, -1)]
        for name, slopes in begin.slopes.items():
            assert slopes[k] == pytest.approx((ends[0][name] - ends[1][name]) / 2e-6, abs=1e-8)


def test_designs_that_carry_no_stride():
    design = linkage.sketch_values(topology())[0]
    check_carries(topology(), PAIR, design)
    names = [each.name for each in linkage.pin_parameters(topology())]
    long, flat = design.copy(), design.copy()
    long[names.index("j5_x")] = 0.9
    with pytest.raises(ModelError, match=r"a bar has .* m: 0.7 m is allowed"):
        check_carries(topology(), PAIR, long)
    flat[[names.index("j6_x"), names.index("j6_z")]] = 0.0, 0.98
    with pytest.raises(ModelError, match="comes near a singularity along a stride"):
        check_carries(topology(), PAIR, flat)


@pytest.mark.timeout(3000)
@pytest.mark.slow  # 19 coordinates on rigid ground are compiled, and runs are differentiated in Python
def test_slopes_of_a_walk():
    """By a pin, a reference and a spring's damping they agree with central differences."""
    walk = DifferentiableWalk(topology(), PAIR, linkage.sketch_values(topology()), duration=DURATION)
    numbers = walking_numbers()
    bounds = {q.name: (q.low, q.high) for q in walk.bounds()}
    assert "j1_stiffness_on" not in bounds
    names = ["j5_x", "j1_reference_2", "j2_damping"]
    slopes = walk.slopes(numbers, names)
    for name in names:
        step = 1e-4 * (bounds[name][1] - bounds[name][0])
        ends = [walk.measures({**numbers, name: numbers[name] + sign * step}) for sign in (1, -1)]
        for measure, accuracy in (("speed", 1e-3), ("assist_time", 1e-3), ("power_absolute", 1e-2)):
            by_difference = (ends[0][measure] - ends[1][measure]) / (2 * step)
            assert slopes[measure][name] == pytest.approx(by_difference, rel=accuracy)


@pytest.mark.timeout(3000)
@pytest.mark.slow  # tens of walks, each differentiated in Python
def test_a_walk_is_refined():
    """A few steps along slopes bring the speed nearer to what is asked for, with less assistance."""
    walk = DifferentiableWalk(topology(), PAIR, linkage.sketch_values(topology()), duration=DURATION)
    numbers = walking_numbers()
    refined = refine_walk(walk, numbers, iterations=1)
    print(refined.before, refined.after, refined.polished.message, refined.seconds)
    assert refined.polished.value > refined.polished.before + 0.03
    assert refined.after["time"] == DURATION
    assert walk.measures(refined.parameters) == pytest.approx(refined.after)
