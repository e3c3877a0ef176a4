"""Every Jacobian strut generates, against central differences, compiled and virtual."""

import numpy as np
import pytest

from strut import compile_system, walkers
from strut.codegen.backends import lower_system
from strut.codegen.lower import JACOBIANS
from strut.system.values import start
from tests.problems import driven, pleiades, servo

LARGE = {
    walkers.trunk_3d,
    walkers.dribbel,
    walkers.saurel_e,
    walkers.runner,
}  # a minute to compile; compass_duindam is made of the same parts
SYSTEMS = [*(make for make in walkers.CATALOGUE.values() if make not in LARGE), driven, servo, pleiades]
STEP = 1e-6
TOLERANCE = 1e-7  # of central differences with this step


@pytest.mark.parametrize("backend", ["native", "virtual"])
@pytest.mark.parametrize("make", SYSTEMS, ids=lambda make: make.__name__)
def test_jacobians_match_differences(make, backend):
    system = make()
    low = lower_system(system, jacobians=True)
    model = compile_system(system, jacobians=True, backend=backend)
    rng = np.random.default_rng(1)
    values = start(system)
    point = {
        "t": 0.3,
        "x": values.x + 0.1 * rng.standard_normal(len(values.x)),
        "z": values.z,
        "u": values.u,
        "p": values.p,
        "d": np.zeros(0),
        "random": np.zeros(low.sizes["NR"]),
    }
    for which, (_, variables) in JACOBIANS.items():
        functions = {
            "flow_jacobian": [low.functions["flow"]],
            "guard_jacobian": [low.functions["guards"]],
            "reset_jacobian": low.resets,
        }[which]
        for jump, f in enumerate(functions):
            if not sum(f.numel_out(k) for k in range(f.n_out())):
                continue
            arguments = {k: v for k, v in point.items() if k not in ("d", "random")}
            extra = {} if which == "guard_jacobian" else {"d": point["d"]}
            if which == "reset_jacobian":
                extra |= {"random": point["random"], "jump": jump}
            exact = model.jacobian(which, **arguments, **extra)
            for name in variables:
                assert exact[name] == pytest.approx(
                    differences(f, point, name), abs=TOLERANCE * max(1, np.abs(exact[name]).max(initial=0))
                )


def differences(f, point, name):
    def value(shift, k):
        moved = dict(point)
        moved[name] = np.array(np.atleast_1d(point[name]), dtype=float)
        moved[name][k] += shift
        result = f.call([moved[n] for n in f.name_in()])
        return np.concatenate([np.array(r).reshape(-1) for r in result])

    size = np.size(point[name])
    columns = []
    for k in range(size):
        h = STEP * max(1.0, abs(np.atleast_1d(point[name])[k]))
        columns.append((value(h, k) - value(-h, k)) / (2 * h))
    height = sum(f.numel_out(k) for k in range(f.n_out()))
    return np.array(columns).T.reshape(height, size)
