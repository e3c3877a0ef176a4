"""One generation of the search for exoskeletons on Ray ends as in this process."""

import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from strut import evolve
from strut.evolve.store import JobStore
from tests.evolve.ray_head import ROOT, ray_head

JOB = """
import sys
from pathlib import Path
from strut import evolve
from strut.studies.exoskeleton_search import exoskeleton_problem, search_exoskeletons
workers = evolve.RayWorkers() if sys.argv[2] == "ray" else evolve.Threads()
problem = exoskeleton_problem(["7-13"], duration=2.0, processes=1)
search_exoskeletons(Path(sys.argv[1]), problem, generations=1, population=12, workers=workers)
workers.close()
"""


ROUNDING = 1e-12
"""Merits may differ by: linear algebra of the screening rounds otherwise for other numbers of designs."""


def first_generation(path):
    """What a search has after one generation: the individuals, and their merits."""
    with closing(JobStore(path, read_only=True)) as store:
        state = store.read(0, 0).state
    return state["seen_x"], state["seen_keys"]


def check_alike(here, ray):
    """Check that two searches have the same individuals, to the last bit, with the same merits."""
    (x, keys), (other_x, other_keys) = first_generation(here), first_generation(ray)
    assert x.shape == (12, 78)
    np.testing.assert_array_equal(x, other_x)
    np.testing.assert_allclose(other_keys, keys, rtol=ROUNDING, atol=ROUNDING)
    assert len(np.unique(keys[:, 1])) > 10  # each has a merit of its own


@pytest.mark.timeout(3000)
@pytest.mark.slow  # a machine is compiled, and a cluster of two workers started
def test_a_generation_on_ray_is_that_of_one_process(tmp_path):
    """The same individuals with the same merits; some of them walk."""
    for way in ("here", "ray"):
        with ray_head(2) as (environment, _):
            command = [sys.executable, "-c", JOB, str(tmp_path / way), way]
            assert subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode == 0
    check_alike(tmp_path / "here" / "run1.db", tmp_path / "ray" / "run1.db")
    found = evolve.load_evolution(tmp_path / "ray" / "run1.db")
    assert found.evaluations == 12
    assert found.best.stage >= 3  # it walks
