"""Prepared runs end where ordinary ones do."""

import pytest

from strut import simulate_batch
from strut.simulate.prepared_run import PreparedRun
from strut.system.values import start
from strut.walkers import compass, rimless_wheel


@pytest.mark.parametrize("backend", ["native", "virtual"])
@pytest.mark.parametrize("walker", [compass(), rimless_wheel()])
def test_a_prepared_run_is_that_of_a_batch(walker, backend, monkeypatch):
    monkeypatch.setenv("STRUT_BACKEND", backend)
    usual = simulate_batch(walker, 1.7)
    ready = PreparedRun(walker, 1.7)
    assert ready.native == (backend == "native")
    begin = start(walker)
    ready.x0[0], ready.z0[0], ready.u[0], ready.p[0] = begin.x, begin.z, begin.u, begin.p
    ready(0.9)
    assert ready.t[0] == 0.9
    for _ in range(2):
        ready()
        assert dict(zip(ready.jumps, ready.counts[0], strict=True)) == {
            name: count[0] for name, count in usual.counts.items()
        }
        assert ready.x == pytest.approx(usual.x, abs=1e-9)
        assert ready.z == pytest.approx(usual.z, abs=1e-9)
        assert ready.t[0] == usual.t[0] == 1.7
        assert ready.status == "done"


def test_a_run_that_falls_says_so():
    ready = PreparedRun(compass(), 5.0)
    begin = start(compass(), x0=[0.2, -0.3, -0.1, 0.0])
    ready.x0[0], ready.z0[0], ready.p[0] = begin.x, begin.z, begin.p
    ready()
    assert ready.status == "sit"
    assert ready.t[0] < 5
