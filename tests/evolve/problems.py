"""Problems that several tests search."""

from strut import evolve
from strut.studies.kieboom_camel import BOUNDS, STAGES, camel

CAMEL_BOUNDS, CAMEL_STAGES = BOUNDS, list(STAGES)


def camel_problem(goals="f"):
    evaluation = evolve.of_function(camel, ("f", "fx", "fy"), vectorised=True)
    return evolve.SearchProblem(CAMEL_BOUNDS, evaluation, goals)
