"""Population search: swarms, evolution and goals in stages, that lose nothing when they are killed."""

from strut.evolve.best_runs import run_individuals
from strut.evolve.comparison import SearchComparison, compare
from strut.evolve.evaluations.design_starts import DesignEvaluation, of_design
from strut.evolve.evaluations.encoded import EncodedEvaluation
from strut.evolve.evaluations.evaluation import OK, Evaluated, Evaluation
from strut.evolve.evaluations.function import FunctionEvaluation, of_function
from strut.evolve.evaluations.program import ProgramEvaluation, of_program
from strut.evolve.evaluations.recorded_gradients import RecordedGradient, RecordedGradients
from strut.evolve.evaluations.scenarios import FixedScenarios, Scenarios
from strut.evolve.evaluations.system_runs import SystemEvaluation, of_system
from strut.evolve.evaluations.tasks import TaskEvaluation
from strut.evolve.evolution import Evolution, load_evolution, load_individuals
from strut.evolve.export import export_individuals
from strut.evolve.fronts import hypervolume
from strut.evolve.goals import SearchFront, SearchGoal, front, maximise, minimise
from strut.evolve.individual import Individual
from strut.evolve.job_lock import JobState, job_state, wait_for_state
from strut.evolve.pareto import ParetoFront
from strut.evolve.personal_bests import load_personal_bests
from strut.evolve.polish import PolishedIndividual, polish
from strut.evolve.problem import SearchProblem
from strut.evolve.sampled_peaks import follow_peaks, remember_peaks
from strut.evolve.search import SearchProgress, search
from strut.evolve.searches import (
    SEARCHES,
    CmaEs,
    DifferentialEvolution,
    GeneticAlgorithm,
    Grid,
    MetamorphicSwarm,
    Nsga2,
    ParticleFilter,
    SearchMethod,
    Spsa,
    Swarm,
    make_search,
)
from strut.evolve.side_by_side import SideBySideProgress, search_side_by_side
from strut.evolve.space import ParameterSpace, SearchParameter
from strut.evolve.walk_measures import WalkMeasures, walk_measures
from strut.evolve.workers import Processes, RayWorkers, Threads, Workers

__all__ = [
    "OK",
    "SEARCHES",
    "CmaEs",
    "DesignEvaluation",
    "DifferentialEvolution",
    "EncodedEvaluation",
    "Evaluated",
    "Evaluation",
    "Evolution",
    "FixedScenarios",
    "FunctionEvaluation",
    "GeneticAlgorithm",
    "Grid",
    "Individual",
    "JobState",
    "MetamorphicSwarm",
    "Nsga2",
    "ParameterSpace",
    "ParetoFront",
    "ParticleFilter",
    "PolishedIndividual",
    "Processes",
    "ProgramEvaluation",
    "RayWorkers",
    "RecordedGradient",
    "RecordedGradients",
    "Scenarios",
    "SearchComparison",
    "SearchFront",
    "SearchGoal",
    "SearchMethod",
    "SearchParameter",
    "SearchProblem",
    "SearchProgress",
    "SideBySideProgress",
    "Spsa",
    "Swarm",
    "SystemEvaluation",
    "TaskEvaluation",
    "Threads",
    "WalkMeasures",
    "Workers",
    "compare",
    "export_individuals",
    "follow_peaks",
    "front",
    "hypervolume",
    "job_state",
    "load_evolution",
    "load_individuals",
    "load_personal_bests",
    "make_search",
    "maximise",
    "minimise",
    "of_design",
    "of_function",
    "of_program",
    "of_system",
    "polish",
    "remember_peaks",
    "run_individuals",
    "search",
    "search_side_by_side",
    "wait_for_state",
    "walk_measures",
]
