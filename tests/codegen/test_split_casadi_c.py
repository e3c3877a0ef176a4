"""Generated C in pieces computes what it did in one."""

import casadi as ca
import numpy as np

from strut.codegen import compiler
from strut.codegen.split_casadi_c import split_long_functions
from strut.optimal.nlp import ready_stages as stage


def wild(n: int) -> ca.Function:
    x = ca.SX.sym("x", 3)
    y = x
    for k in range(n):
        y = ca.vertcat(
            ca.sin(y[1]) * y[0] + k, ca.if_else(y[2] > 0, y[0] / (1 + y[1] ** 2), y[2]), ca.fmax(y[0], -y[2])
        )
    return ca.Function("wild", [x], [y, ca.jacobian(y, x)])


def test_pieces_compute_the_same(monkeypatch):
    f = wild(40)
    x = np.array([0.3, -0.7, 1.1])
    monkeypatch.setattr(
        stage, "split_long_functions", lambda source: split_long_functions(source, long=50, piece=7)
    )
    source = stage._source([f])
    assert "casadi_f0_9(arg, res, a);" in source
    cc = compiler()
    path = stage.build(stage.key_of(source, cc), lambda: {"stages.c": source}, "stages.c", cc)
    compiled = ca.external("wild", str(path))
    for one, other in zip(f(x), compiled(x), strict=True):
        assert np.array_equal(np.array(one), np.array(other))


def test_short_functions_stay_whole():
    source = stage._source([wild(3)])
    assert split_long_functions(source) == source
    assert split_long_functions(source, long=10) != source
