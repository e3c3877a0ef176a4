"""Kieboom's examples of searches, in a short form; the whole ones are `strut reproduce`."""

import numpy as np
import pytest

from strut.studies import kieboom_camel, kieboom_metamorphic


def test_the_camel(monkeypatch):
    monkeypatch.setattr(kieboom_camel, "SEEDS", 3)
    rows = {row.quantity: row for row in kieboom_camel.rows()}
    for name in ("least value, swarm", "least value, swarm in stages", "least value, CMA-ES"):
        assert float(rows[name].ours) == pytest.approx(-1.0316, abs=5e-5)
        assert rows[name].remark == "reached by 3 of 3 seeds"
    assert rows["stages in their order"].ours == "3 of 3 searches"


def test_the_metamorphic_swarm(monkeypatch):
    """Of 40 particles 36.57 are in the better subspace in the limit; 12 runs of it lie within four times
    their standard error, and below rather than above, because some have found it late."""
    monkeypatch.setattr(kieboom_metamorphic, "RUNS", 12)
    assert kieboom_metamorphic.stationary_population() == (
        pytest.approx(3.433, abs=1e-3),
        pytest.approx(36.567, abs=1e-3),
    )
    counts, reached = kieboom_metamorphic.populations()
    means = counts[:, -10:].mean(axis=1)
    assert abs(means.mean() - 36.567) < 4 * means.std() / np.sqrt(12) + 0.4
    assert reached == 12
