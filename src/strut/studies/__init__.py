"""Published results, computed anew: `strut reproduce NAME` prints them beside ours."""

from strut.studies import (
    dallali_generation,
    dallali_knee,
    dallali_sway,
    duindam_compass,
    duindam_foot_placement,
    duindam_gait_search,
    duindam_springs,
    duindam_tracking,
    garcia_simplest,
    goswami_bifurcation,
    kieboom_camel,
    kieboom_metamorphic,
    saurel_actuators,
    saurel_table1,
)
from strut.studies.study import Row, Study

_ALL = (
    dallali_generation,
    dallali_knee,
    dallali_sway,
    duindam_compass,
    duindam_foot_placement,
    duindam_gait_search,
    duindam_springs,
    duindam_tracking,
    garcia_simplest,
    goswami_bifurcation,
    kieboom_camel,
    kieboom_metamorphic,
    saurel_actuators,
    saurel_table1,
)
STUDIES: dict[str, Study] = {study.STUDY.name: study.STUDY for study in _ALL}
"""All studies, by the name the command line knows them."""

__all__ = ["STUDIES", "Row", "Study"]
