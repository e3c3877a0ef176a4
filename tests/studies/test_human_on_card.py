"""The human of the study on a graphics card and on the processor: equal states, and equal contact events."""

import numpy as np
import pytest
from bench.human_on_card import AGREEMENT, WAYS, compare_devices, differences, observed_human, run_variations
from bench.populations import card_or_reason

from tests.simulate.fake_card import fake_driver, fake_driver_file

__all__ = ["fake_driver", "fake_driver_file"]


def assert_equal_runs(way):
    """Half a second of 33 humans: states and times of events to 1e-9, and as many of every event."""
    system = observed_human(**way)
    here, there = run_variations(system, "cpu"), run_variations(system, "cuda")
    assert there.device != "cpu"
    assert not any(np.isnan(values).any() for values in here.outputs.values())
    state, moment, unlike = differences(here, there)
    assert unlike == 0
    assert max(state, moment) <= AGREEMENT
    return here


@pytest.mark.slow  # two kernels compiled for the processor: a quarter of a minute
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_the_kernels_walk_as_the_processor_does(fake_driver, way):
    here = assert_equal_runs(way)
    touches = sum(counts.sum() for name, counts in here.counts.items() if name.endswith("_touchdown"))
    assert (touches > len(here.status)) == way["events"]  # each lands on several points


@pytest.mark.slow  # two kernels compiled by nvcc: a minute
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_real_card_walks_as_the_processor_does(way):
    reason = card_or_reason()
    if reason:
        pytest.skip(f"needs a graphics card: {reason}")
    assert_equal_runs(way)


def test_differences_are_seen_and_the_lack_of_a_card_is_told():
    """One state that is off, and one event more, are counted; without a card the section says why."""
    here = run_variations(observed_human(events=True), "cpu")
    assert differences(here, here) == (0.0, 0.0, 0)
    there = run_variations(observed_human(events=True), "cpu")
    there.outputs["state_x"][3, 7] += 1e-6
    there.counts["heel_r_touchdown"][5] += 1
    state, moment, unlike = differences(here, there)
    assert state == pytest.approx(1e-6, rel=1e-6)
    assert (moment, unlike) == (0.0, 1)
    reason = card_or_reason()
    if reason:
        assert compare_devices().rows[0].note == reason
