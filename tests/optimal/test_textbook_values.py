"""Problems of textbooks come out to the digits of the books, and to those of closed forms."""

import numpy as np
import pytest

pytest.importorskip("scipy")
from tests.optimal.textbook_smooth import SMOOTH
from tests.optimal.textbook_switched import SWITCHED, catalyst_mixing


@pytest.mark.parametrize("make", [*SMOOTH, *SWITCHED], ids=lambda make: make.__name__)
def test_value(make):
    textbook = make()
    if textbook.printed:  # what was derived here is what the book has
        assert abs(textbook.cost - float(textbook.printed)) <= 1.001 * textbook.half_digit
    solution = textbook.solve()
    assert solution.ok, (solution.status, solution.kkt, solution.meshes)
    assert abs(solution.cost - textbook.cost) <= textbook.close, solution.cost - textbook.cost
    if make in SWITCHED and make is not catalyst_mixing:  # bang-bang, and off, to the last interval
        inputs = np.concatenate([m.w.reshape(-1) for m in solution.phases])
        low, high = solution.problem.bounds("u")
        distances = np.abs(inputs[:, None] - np.array([low.min(), 0.0, high.max()]))
        assert distances.min(axis=1).max() < 1e-5
