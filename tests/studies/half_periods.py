"""Half a period of a gait, walked by another machine than its own: the same fixed point, and the same derivative."""

import numpy as np

from strut.gait import Gait
from strut.gait.exchange import mirror
from strut.simulate import simulate
from strut.system import System, parameters

DIFFERENCE = 1e-6  # of the states along a random direction, on both sides


def check_half_period(
    gait: Gait, other: System, *, period: float, return_error: float, agreement: float
) -> None:
    """Compare a gait of one step, whose phase is a state, with half a period of a machine that time drives, between
    its phases 0.25 and 0.75. period: of the controller [s]. return_error: by which it may end beside its beginning.
    agreement: of derivatives along a random direction, relative to the largest entry."""
    machine = gait.system
    names = [name for name in gait.names if name != "phase"]
    places = [machine.labels("x").index(name) for name in names]

    def half_period(y):
        begin = 0.25 * period
        x0 = {"x": 0.0, **dict(zip(names, y, strict=True))}
        run = simulate(other, (begin, begin + period / 2), x0=x0, rtol=1e-12, atol=1e-13, ledger=False)
        assert run.status == "done"
        end = dict(zip(other.labels("x"), run.raw.x_end, strict=True)) | {"phase": 0.75}
        x = np.array([end[name] for name in machine.labels("x")])
        return mirror(machine, x, np.zeros(machine.size("z")), parameters(machine))[0][places]

    y = np.array([gait.x0[name] for name in names])
    np.testing.assert_allclose(half_period(y), y, rtol=0, atol=return_error)
    own = [gait.names.index(name) for name in names]
    direction = np.random.default_rng(0).normal(size=len(names))
    direction /= np.linalg.norm(direction)
    step = DIFFERENCE * direction
    differences = (half_period(y + step) - half_period(y - step)) / (2 * DIFFERENCE)
    expected = gait.jacobian[np.ix_(own, own)] @ direction
    np.testing.assert_allclose(differences, expected, rtol=0, atol=agreement * np.abs(expected).max())
