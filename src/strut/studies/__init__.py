"""Published results, computed anew: `strut reproduce NAME` prints them beside ours."""

from strut.studies import (
    dallali_generation,
    dallali_ground,
    dallali_knee,
    dallali_sway,
    dallali_walk,
    duindam_bungee,
    duindam_compass,
    duindam_dribbel,
    duindam_foot_placement,
    duindam_gait_search,
    duindam_springs,
    duindam_tracking,
    garcia_simplest,
    goswami_bifurcation,
    kieboom_camel,
    kieboom_coman,
    kieboom_descent,
    kieboom_exoskeleton,
    kieboom_gaits,
    kieboom_gradients,
    kieboom_human,
    kieboom_landings,
    kieboom_metamorphic,
    kieboom_perturbed,
    kieboom_pushes,
    kieboom_tasks,
    kieboom_topologies,
    rijt_limits,
    rijt_sweeps,
    saurel_actuators,
    saurel_table1,
)
from strut.studies.rijt_tables import BASELINE_STUDY, FINAL_STUDY
from strut.studies.study import Row, SearchOrder, SearchStudy, Study

_ALL = (
    dallali_generation,
    dallali_ground,
    dallali_knee,
    dallali_sway,
    dallali_walk,
    duindam_bungee,
    duindam_compass,
    duindam_dribbel,
    duindam_foot_placement,
    duindam_gait_search,
    duindam_springs,
    duindam_tracking,
    garcia_simplest,
    goswami_bifurcation,
    kieboom_camel,
    kieboom_coman,
    kieboom_descent,
    kieboom_exoskeleton,
    kieboom_gaits,
    kieboom_gradients,
    kieboom_human,
    kieboom_landings,
    kieboom_metamorphic,
    kieboom_perturbed,
    kieboom_pushes,
    kieboom_tasks,
    kieboom_topologies,
    rijt_limits,
    rijt_sweeps,
    saurel_actuators,
    saurel_table1,
)
STUDIES: dict[str, Study] = {
    study.name: study for study in (*[module.STUDY for module in _ALL], BASELINE_STUDY, FINAL_STUDY)
}
"""All studies, by the name the command line knows them."""

__all__ = ["STUDIES", "Row", "SearchOrder", "SearchStudy", "Study"]
