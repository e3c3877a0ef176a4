"""Searches: known optima, agreement with libraries, and that only the order counts."""

import itertools

import numpy as np
import pytest

from strut import evolve
from strut.errors import ArgumentError, ModelError, ValueRangeError
from strut.evolve.searches import make_search, search_settings
from strut.evolve.searches.bounds import bounce, reflect
from strut.evolve.searches.metamorphic import migration_table
from strut.evolve.streams import Purpose, RandomStream
from tests.evolve.problems import CAMEL_STAGES, camel_problem

CAMEL_MINIMUM = -1.031628453489877
"""Of the six-hump camel."""
SEEDS = 20

METHODS = {
    # how many generations each needs, and how near it comes: the rougher ones only find the basin
    "swarm": (evolve.Swarm(), 60, 5e-5),
    "ring": (evolve.Swarm(neighbours=2), 70, 5e-5),
    "regrouping": (evolve.Swarm(regroup=1.1e-4), 70, 5e-5),
    "cma-es": (evolve.CmaEs(), 30, 5e-5),
    "differential": (evolve.DifferentialEvolution(), 60, 5e-5),
    "genetic": (evolve.GeneticAlgorithm(), 80, 5e-5),
    "nsga2": (evolve.Nsga2(population=40), 60, 5e-5),
    "particle-filter": (evolve.ParticleFilter(population=20, first=100), 60, 2e-3),
    "spsa": (evolve.Spsa(descents=20), 80, 5e-3),
}


@pytest.mark.parametrize("name", METHODS)
def test_every_search_finds_the_camels_minimum_from_every_seed(name):
    method, generations, tolerance = METHODS[name]
    problem = camel_problem()
    values = [evolve.search(problem, method, generations, seed=seed).best.value for seed in range(SEEDS)]
    assert max(values) < CAMEL_MINIMUM + tolerance
    assert min(values) > CAMEL_MINIMUM - 1e-12


def test_staged_goals_are_reached_in_order():
    problem = camel_problem(CAMEL_STAGES)
    paths = set()
    for seed in range(SEEDS):
        evolution = evolve.search(problem, evolve.Swarm(population=8), 90, seed=seed)
        stages = evolution.columns()["best_stage"]
        assert (np.diff(stages) >= 0).all()
        assert stages[-1] == 3
        assert evolution.best.value == pytest.approx(CAMEL_MINIMUM, abs=1e-4)
        paths.add(tuple(np.unique(stages)))
    assert (1, 2, 3) in paths  # luck may begin further


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"spsa"}))
def test_only_the_order_of_individuals_counts(name):
    method = METHODS[name][0]
    best = [
        evolve.search(camel_problem(goal), method, 8, seed=3).best.parameters
        for goal in ("f", "exp(3 * f) - 7")
    ]
    assert best[0] == best[1]


def test_the_grid_holds_every_point_once_the_last_parameter_fastest():
    seen = []

    def note(x, y):
        seen.extend(zip(x.tolist(), y.tolist(), strict=True))
        return x + y

    problem = evolve.SearchProblem(
        {"x": (0.0, 1.0), "y": (0.0, 2.0)}, evolve.of_function(note, vectorised=True), "value"
    )
    evolution = evolve.search(problem, evolve.Grid(points=5, population=7))
    assert len(seen) == len(set(seen)) == 25
    assert seen[:5] == [(0.0, 0.5 * k) for k in range(5)]
    assert evolution.best.parameters == {"x": 0.0, "y": 0.0}


def test_a_swarm_moves_as_the_constriction_form_says():
    """v = K (v + r1 phi (own - x) + r2 phi (social - x)), K = 0.729 and phi = 2.05 (Clerc and Kennedy)."""
    method = evolve.Swarm(population=4, own_pull=0.729 * 2.05, social_pull=0.729 * 2.05, max_velocity=10.0)
    stream = RandomStream(1)
    x, v, own, social = stream.draws(0, Purpose.BEGIN).uniform(4, 4, 3) * 0.01
    low, high = np.full(3, -1.0), np.full(3, 1.0)
    moved, velocity = method.move(x, v, own, social, low, high, stream.draws(1, Purpose.TELL))
    draws = stream.draws(1, Purpose.TELL)
    r1, r2 = draws.uniform(4, 3), draws.uniform(4, 3)
    expected = 0.729 * (v + r1 * 2.05 * (own - x) + r2 * 2.05 * (social - x))
    np.testing.assert_allclose(velocity, expected, rtol=1e-13)
    np.testing.assert_allclose(moved, x + expected, rtol=1e-13)


def test_particles_bounce_and_points_fold_back():
    x, v = bounce(np.array([[1.2, -3.0]]), np.array([[0.5, -2.0]]), np.full(2, -1.0), np.full(2, 1.0), 0.5)
    np.testing.assert_allclose(x, [[0.9, 0.0]])
    np.testing.assert_allclose(v, [[-0.25, 1.0]])
    np.testing.assert_allclose(
        reflect(np.array([1.25, -0.5, 4.25]), np.zeros(3), np.ones(3)), [0.75, 0.5, 0.25]
    )


def test_cma_es_does_what_its_library_does():
    """An optimiser that is never saved does the same, but for rounding: it keeps one half of the covariance
    matrix, and the other may differ in the last digit."""
    import cmaes

    space = evolve.ParameterSpace(tuple(evolve.SearchParameter(f"p{k}", 0.0, 1.0) for k in range(5)))
    method, stream = evolve.CmaEs(population=8), RandomStream(4)
    state = method.begin(space, stream.draws(0, Purpose.BEGIN), 10)
    start = space.first_points(stream.draws(0, Purpose.BEGIN).uniform(1, 5))[0]
    library = cmaes.CMA(
        mean=start, sigma=0.3, bounds=np.tile([0.0, 1.0], (5, 1)), n_max_resampling=10, population_size=8
    )
    for k in range(10):
        x = method.ask(state, stream.draws(k, Purpose.ASK))
        library._rng = np.random.RandomState(stream.draws(k, Purpose.ASK).words(1).astype(np.uint32))
        expected = np.array([library.ask() for _ in range(8)])
        np.testing.assert_allclose(x, expected, rtol=1e-10)
        values = ((x - 0.3) ** 2).sum(axis=1)
        library.tell([(row, value) for row, value in zip(expected, values, strict=True)])
        keys = np.column_stack([np.ones(8), values])
        state = method.tell(state, x, keys, stream.draws(k, Purpose.TELL))


def test_differential_evolution_does_as_well_as_scipys():
    """Same scheme (rand/1/bin), same settings and evaluations, on Rosenbrock's valley in four parameters:
    the medians over seeds lie within a factor of ten of each other."""
    from scipy.optimize import differential_evolution

    def valley(**p):
        v = list(p.values())
        return sum(100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(v))

    bounds = {f"p{k}": (-2.0, 2.0) for k in range(4)}
    problem = evolve.SearchProblem(bounds, evolve.of_function(valley, vectorised=True), "value")
    ours = [
        evolve.search(problem, evolve.DifferentialEvolution(40, scale=0.7), 200, seed=s).best.value
        for s in range(7)
    ]
    theirs = [
        differential_evolution(
            lambda v: valley(**dict(zip(bounds, v, strict=True))),
            list(bounds.values()),
            strategy="rand1bin",
            maxiter=199,
            popsize=10,
            mutation=0.7,
            recombination=0.9,
            polish=False,
            tol=0,
            init="random",
            updating="deferred",
            rng=s,
            vectorized=True,
        ).fun
        for s in range(7)
    ]
    assert 0.1 < np.median(ours) / np.median(theirs) < 10


def test_a_genetic_algorithm_does_as_well_as_pymoos():
    """Same operators and settings, same evaluations, on Rastrigin's eggs in five parameters: medians over seeds
    vary by a factor of three for either."""
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    def eggs(x):
        y = x - 0.7
        return (y**2 - 10 * np.cos(2 * np.pi * y) + 10).sum(axis=1)

    class Eggs(Problem):
        def __init__(self):
            super().__init__(n_var=5, n_obj=1, xl=-5.12, xu=5.12)

        def _evaluate(self, x, out, *_, **__):
            out["F"] = eggs(x)

    evaluation = evolve.of_function(lambda **p: eggs(np.column_stack(list(p.values()))), vectorised=True)
    problem = evolve.SearchProblem({f"p{k}": (-5.12, 5.12) for k in range(5)}, evaluation, "value")
    ours = [evolve.search(problem, evolve.GeneticAlgorithm(30), 40, seed=s).best.value for s in range(9)]
    theirs = [minimize(Eggs(), GA(pop_size=30), ("n_gen", 40), seed=s).F[0] for s in range(9)]
    assert np.median(ours) < 3 * np.median(theirs)


# ---- metamorphic ----

POOLS = {
    "A": {"a1": ["p1"], "a2": ["p2", "p3"]},
    "B": {"b1": ["p4", "p5"], "b2": ["p5", "p6"], "b3": ["p6", "p7"]},
    "C": {"c1": ["p8"], "c2": ["p9"]},
}


def test_subspaces_are_counted():
    assert evolve.MetamorphicSwarm(POOLS).subspaces == 12
    roombots = {f"dof{k}": {"oscillate": ["r", "x"], "rotate": [], "lock": ["x"]} for k in range(6)}
    assert evolve.MetamorphicSwarm(roombots).subspaces == 729


def test_individuals_have_the_parameters_of_their_groups_and_of_no_pool():
    space = evolve.ParameterSpace(tuple(evolve.SearchParameter(f"p{k}", 0.0, 1.0) for k in range(1, 11)))
    method, stream = evolve.MetamorphicSwarm(POOLS, swarm=evolve.Swarm(24)), RandomStream(0)
    state = method.begin(space, stream.draws(0, Purpose.BEGIN), 5)
    x = method.ask(state, stream.draws(0, Purpose.ASK))
    kinds = {tuple(np.flatnonzero(~np.isnan(row)) + 1) for row in x}
    assert len(kinds) == 12
    assert (1, 4, 5, 8, 10) in kinds
    assert (2, 3, 6, 7, 9, 10) in kinds
    subspaces = method._subspace(state["groups"])
    assert sorted(np.bincount(subspaces, minlength=12)) == [2] * 12


def test_migration_probabilities_are_equation_3_6_and_sum_to_one():
    current, own = np.array([0, 1, 2]), np.array([0, 0, 1])
    table = migration_table(current, own, 1, 3, (0.01 / 2, 0.05, 0.07))
    stay = 1 - table.sum(axis=1)
    assert ((table >= 0) & (table < 1)).all()
    assert (stay > 0).all()
    assert table[0, 1] == pytest.approx(1 - (1 - 0.005) * (1 - 0.07))
    assert table[0, 2] == pytest.approx(0.005)
    assert table[1, 0] == pytest.approx(1 - (1 - 0.005) * (1 - 0.05))
    assert table[2, 1] == pytest.approx(1 - (1 - 0.005) * (1 - 0.05) * (1 - 0.07))
    assert (table[np.arange(3), current] == 0).all()


def test_stationary_populations_of_the_toy_example():
    """Once the second group is everybody's best, 0.106525 of the first come over per generation and 0.01 of
    the second go back: 3.43 and 36.57 of 40 in the long run (Kieboom, eq. 3.8 with its labels right). Counted
    over 200 independent runs, a chi-square test of the two classes does not refuse these at 0.1 %."""
    groups = np.zeros((200, 40), dtype=int)
    draws = RandomStream(5).draws(0, Purpose.TELL)
    table = np.array(
        [migration_table(np.array([c]), np.array([1]), 1, 2, (0.01, 0.05, 0.05))[0] for c in range(2)]
    )
    assert table[0, 1] == pytest.approx(0.106525)
    assert table[1, 0] == pytest.approx(0.01)
    for _ in range(150):
        groups = np.where(draws.uniform(200, 40) < table[groups, 1 - groups], 1 - groups, groups)
    counts = np.bincount(groups.ravel(), minlength=2)
    expected = 200 * 40 * np.array([0.01, 0.106525]) / 0.116525
    assert expected[0] / 200 == pytest.approx(3.43, abs=0.005)
    assert ((counts - expected) ** 2 / expected).sum() < 10.83  # chi-square, one degree of freedom, 0.1 %


def test_a_metamorphic_swarm_has_these_populations():
    """The same by its own moves: particles of 200 runs in one swarm, which migrate independently of one another
    once all have seen the second group."""
    space = evolve.ParameterSpace(tuple(evolve.SearchParameter(name, 0.0, 1.0) for name in "xy"))
    method = evolve.MetamorphicSwarm(
        {"pool": {"one": ["x"], "two": ["x", "y"]}},
        explore=0.01,
        own=0.05,
        social=0.05,
        swarm=evolve.Swarm(200 * 40),
    )
    stream, generations = RandomStream(5), 200
    state = method.begin(space, stream.draws(0, Purpose.BEGIN), generations)
    for generation in range(generations):
        x = method.ask(state, stream.draws(generation, Purpose.ASK))
        keys = np.column_stack([np.zeros(len(x)), np.isnan(x[:, 1])])
        state = method.tell(state, x, keys, stream.draws(generation, Purpose.TELL))
    counts = np.bincount(state["groups"][:, 0], minlength=2)
    expected = 200 * 40 * np.array([0.01, 0.106525]) / 0.116525
    assert ((counts - expected) ** 2 / expected).sum() < 10.83  # chi-square, one degree of freedom, 0.1 %


def toy(x, y=None):
    """Kieboom's toy example: f1 = x without y, f2 = 2 - |x - 0.5| - |y - 0.5| with it."""
    return x if y is None else 2 - abs(x - 0.5) - abs(y - 0.5)


def test_a_metamorphic_swarm_moves_to_the_better_subspace():
    parameters = [evolve.SearchParameter(name, 0.0, 1.0, first=(0.0, 0.25)) for name in "xy"]
    problem = evolve.SearchProblem(parameters, evolve.of_function(toy), evolve.maximise("value"))
    method = evolve.MetamorphicSwarm({"pool": {"one": ["x"], "two": ["x", "y"]}})
    evolution = evolve.search(problem, method, 70, seed=1)
    assert set(evolution.best.parameters) == {"x", "y"}
    assert evolution.best.value == pytest.approx(2.0, abs=1e-2)


# ---- wrong input ----


def test_a_name_is_a_search_with_its_defaults():
    named = evolve.search(camel_problem(), "differential", 2, seed=1).best
    assert named == evolve.search(camel_problem(), evolve.DifferentialEvolution(), 2, seed=1).best


def test_settings_describe_a_search():
    for method, _, _ in METHODS.values():
        assert make_search(search_settings(method)) == method
    swarm = evolve.MetamorphicSwarm(POOLS, explore="0.2 / (1 + k)", swarm=evolve.Swarm(9))
    assert make_search(search_settings(swarm)) == swarm


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: evolve.Swarm(population=1), ValueRangeError, "population is 1"),
        (lambda: make_search({"kind": "swam"}), ModelError, "did you mean 'swarm'"),
        (lambda: make_search({"kind": "swarm", "inertial": 1}), ModelError, "did you mean 'inertia'"),
        (lambda: evolve.MetamorphicSwarm({}), ModelError, "needs pools"),
        (lambda: evolve.ParticleFilter(noise=0.1, last_noise=0.2), ValueRangeError, "cannot be above noise"),
        (
            lambda: evolve.search(camel_problem(), evolve.Grid(points=10**6)),
            ModelError,
            "points: 1e\\+09 are allowed",
        ),
        (lambda: evolve.search(camel_problem(), evolve.Swarm, 2), ArgumentError, "such as Swarm"),
        (lambda: evolve.search(camel_problem(), "swam", 2), ModelError, "did you mean 'swarm'"),
    ],
)
def test_wrong_settings_are_explained(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_probabilities_above_one_are_refused():
    method = evolve.MetamorphicSwarm(POOLS, explore=0.6, own=0.3, social="0.05 * k")
    with pytest.raises(ValueRangeError, match="in generation 3 explore \\+ own \\+ social is 1.05"):
        method.migration_probabilities(2, 3, 10)
