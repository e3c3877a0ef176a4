"""A function called for one point after another gives what `evaluate` gives for all at once."""

import numpy as np
import pytest

from strut import Discrete, Input, Param, State, System, compile_system, time


def machine():
    x, z, u, p = State("x", np.zeros(2)), Discrete("z", 0.0), Input("u", 0.0), Param("p", 2.0)
    flow = {x: p * x.sym * time + u.sym}
    return System(
        "machine", x=[x], z=[z], u=[u], p=[p], flow=flow, outputs={"y": x.sym[0] * x.sym[1] + z.sym}
    )


@pytest.mark.parametrize("backend", ["native", "virtual"])
@pytest.mark.parametrize("which", ["flow", "outputs"])
def test_one_point_after_another(backend, which):
    model = compile_system(machine(), backend=backend)
    rng = np.random.default_rng(0)
    t, x, z, u = (
        rng.standard_normal(5),
        rng.standard_normal((5, 2)),
        rng.standard_normal((5, 1)),
        rng.standard_normal((5, 1)),
    )
    call = model.caller(which, [3.0])
    found = []
    for k in range(5):
        call.t[:], call.x[:], call.z[:], call.u[:] = t[k], x[k], z[k], u[k]
        found.append(call().copy())
    np.testing.assert_array_equal(found, model.evaluate(which, t, x, z, u, [3.0]))


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_parameters_must_be_as_many_as_there_are(backend):
    with pytest.raises(ValueError, match="broadcast"):
        compile_system(machine(), backend=backend).caller("flow", [1.0, 2.0])
