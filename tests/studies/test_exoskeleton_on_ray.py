"""One generation of the search for exoskeletons on Ray ends as in this process."""

import subprocess
import sys

import pytest

from strut import evolve
from tests.evolve.ray_head import ROOT, ray_head
from tests.evolve.test_store import content

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


@pytest.mark.timeout(3000)
@pytest.mark.slow  # a machine is compiled, and a cluster of two workers started
def test_a_generation_on_ray_is_that_of_one_process(tmp_path):
    """The same individuals with the same measures, to the last bit; some of them walk."""
    for way in ("here", "ray"):
        with ray_head(2) as (environment, _):
            command = [sys.executable, "-c", JOB, str(tmp_path / way), way]
            assert subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode == 0
    assert content(tmp_path / "ray" / "run1.db") == content(tmp_path / "here" / "run1.db")
    found = evolve.load_evolution(tmp_path / "ray" / "run1.db")
    assert found.evaluations == 12
    assert found.best.stage >= 3  # it walks
