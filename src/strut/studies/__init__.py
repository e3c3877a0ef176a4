"""Published results, computed anew: `strut reproduce NAME` prints them beside ours."""

from strut.studies import duindam_compass, duindam_gait_search, duindam_springs, garcia_simplest, goswami_bifurcation
from strut.studies.study import Row, Study

STUDIES: dict[str, Study] = {
    s.name: s
    for s in (duindam_compass.STUDY, duindam_gait_search.STUDY, duindam_springs.STUDY, garcia_simplest.STUDY, goswami_bifurcation.STUDY)
}
"""By the name the command line knows them."""

__all__ = ["STUDIES", "Row", "Study"]
