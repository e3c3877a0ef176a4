"""Feet of humans in exoskeletons stay on the ground, whatever the linkage and however soft its actuators."""

import numpy as np
import pytest

import strut
from strut import linkage
from strut.errors import ModelError
from strut.studies.exoskeleton_gait import exoskeleton_tables, exoskeleton_walker, machine_values
from strut.studies.exoskeleton_start import check_carries, start_linkage
from tests.studies.test_exoskeleton_refinement import PAIR, topology, walking_numbers

CASES = 6
"""Random designs, each with a controller of its own."""
MAX_DEPTH = 1e-6
"""[m] Inside the ground: drift that is pulled back is less."""


def sound_designs(count):
    """Random pins that carry a stride, the sketch first."""
    parameters = linkage.pin_parameters(topology())
    low, high = np.array([(each.low, each.high) for each in parameters]).T
    rng, designs = np.random.default_rng(4), [linkage.sketch_values(topology())[0]]
    while len(designs) < count:
        pins = rng.uniform(low, high)
        try:
            check_carries(topology(), PAIR, pins)
        except ModelError:
            continue
        designs.append(pins)
    return designs


@pytest.mark.timeout(3000)
@pytest.mark.slow  # 19 coordinates on rigid ground are compiled, a minute and more
def test_no_foot_is_inside_the_ground():
    """From stiff to limp: it walks or falls, and no foot goes through the ground; loops stay closed."""
    names = [each.name for each in linkage.pin_parameters(topology())]
    tables, machine = exoskeleton_tables(topology(), PAIR), exoskeleton_walker(topology(), None, PAIR)
    rng, endings = np.random.default_rng(5), []
    for pins in sound_designs(CASES):
        numbers = walking_numbers()
        for joint in (*PAIR, "ankle"):
            stiffness, damping = 10 ** rng.uniform(0.5, 3.7), rng.uniform(0.5, 50.0)
            for k in (1, 2):
                numbers |= {f"{joint}_stiffness_{k}": stiffness, f"{joint}_damping_{k}": damping}
        values = machine_values(tables, numbers) | dict(zip(names, pins.tolist(), strict=True))
        begin = start_linkage(machine, topology(), pins).states
        run = strut.simulate(machine.using(values), 2.0, x0=begin)
        depth = max(-run[f"{point}_{side}_gap"].min() for point in ("heel", "ball") for side in "rl")
        endings.append((run.status, depth))
        assert run.status in {"done", "fall", "topple"}, run.message
        assert depth < MAX_DEPTH
        assert np.abs(run["closure_error"]).max() < 1e-8
        assert run.ledger.residual < 1e-6
    print(endings)
