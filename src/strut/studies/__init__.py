"""Published results, computed anew: `strut reproduce NAME` prints them beside ours."""

from strut.studies import duindam_compass, garcia_simplest, goswami_bifurcation, saurel_table1
from strut.studies.study import Row, Study

STUDIES: dict[str, Study] = {
    s.name: s for s in (duindam_compass.STUDY, garcia_simplest.STUDY, goswami_bifurcation.STUDY, saurel_table1.STUDY)
}
"""By the name the command line knows them."""

__all__ = ["STUDIES", "Row", "Study"]
