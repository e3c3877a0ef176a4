"""Which intervals of a mesh are split."""

from types import SimpleNamespace

import numpy as np

from strut.optimal.solver.refine import MAX_PARTS, refine_mesh

ACCURACY, ORDER = 1e-7, 6


def solution(sizes):
    """Four equal intervals of one phase with such defects, and no other wish."""
    phase = SimpleNamespace(t=np.linspace(0, 1, len(sizes) + 1), duration=1.0)
    return SimpleNamespace(
        phases=[phase],
        defects=[SimpleNamespace(size=np.array(sizes))],
        exceeds_limits=lambda k: np.zeros(len(sizes), dtype=bool),
        inputs_too_coarse=False,
    )


def test_intervals_that_are_too_inaccurate_are_halved_and_nothing_else():
    (fractions,) = refine_mesh(solution([2e-7, 9e-8, 1e-9, 1e-12]), ACCURACY, ORDER)
    np.testing.assert_allclose(fractions, [1 / 8, 1 / 8, 1 / 4, 1 / 4, 1 / 4])


def test_where_halves_were_not_enough_those_that_are_nearly_too_inaccurate_are_halved_too():
    (fractions,) = refine_mesh(solution([2e-7, 9e-8, 1e-9, 1e-12]), ACCURACY, ORDER, MAX_PARTS)
    np.testing.assert_allclose(fractions, [1 / 16] * 4 + [1 / 8] * 2 + [1 / 4] * 2)


def test_nothing_is_split_where_all_is_accurate():
    assert refine_mesh(solution([9e-8, 9e-8]), ACCURACY, ORDER, MAX_PARTS) is None
