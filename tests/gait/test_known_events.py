"""A return map of the events that are known to happen: the same derivatives, and a run with another one ends there."""

import numpy as np
import pytest

from strut import gait, walkers
from strut.codegen import lower_system
from strut.errors import NoGaitError, UnknownNameError
from strut.gait import ReturnMap


@pytest.fixture(scope="module")
def kneed():
    return gait.find(walkers.kneed())


def code(step):
    lowered = lower_system(step.varied)
    return sum(f.n_instructions() for f in [*lowered.functions.values(), *lowered.resets])


def test_the_gait_of_known_events_has_the_same_multipliers_and_less_code(kneed):
    happened = {event.name for event in kneed.trajectory.events}
    again = gait.find(kneed.system, kneed.x0, z0=kneed.z0, events=happened)
    np.testing.assert_allclose(again.multipliers, kneed.multipliers, rtol=0, atol=1e-9)
    assert again.period == pytest.approx(kneed.period, rel=1e-12)
    known, whole = (ReturnMap(kneed.system, x0=kneed.vector, events=names) for names in (happened, None))
    assert code(known) < code(whole)


def test_a_step_with_another_event_is_none(kneed):
    with pytest.raises(NoGaitError, match="knee_strike") as caught:
        gait.find(kneed.system, kneed.x0, z0=kneed.z0, events=["heel_strike"], walk=0, starts=0)
    assert set(caught.value.fell) == {"knee_strike_ready"}


def test_an_event_that_is_none_is_refused(kneed):
    with pytest.raises(UnknownNameError, match=r"no event 'knee_stroke'.*did you mean 'knee_strike'"):
        gait.find(kneed.system, events=["knee_stroke"])


def test_flags_that_nothing_changes_are_numbers(kneed):
    step = ReturnMap(kneed.system, x0=kneed.vector, z0=kneed.z0, events=["knee_strike"])
    flags = dict(step._kept_flags(("knee_strike",)))
    assert "armed" in flags
    assert not {"knee_strike_locked", "knee_strike_bent"} & flags.keys()
