"""pinv of matrices that change: against singular value decompositions, over conditions, ranks and shapes, and its derivative."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import network
from strut.network.lower.pseudo_inverse import MIN_SINGULAR_VALUE, pinv
from tests.network.reading import begin

ROUNDING = (
    50 * np.finfo(float).eps
)  # times the condition of what is kept: the error of a backward stable method
SHAPES = [(1, 4), (4, 1), (2, 2), (3, 3), (5, 3), (3, 5), (6, 6)]


def matrix(rng, shape, singular_values):
    """A random matrix with these singular values."""
    p = min(shape)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0][:, :p] for n in shape)
    return left @ np.diag(singular_values) @ right.T


def error(found, a):
    """Relative to the pseudo-inverse, in units of the condition of what is kept."""
    sizes = np.linalg.svd(a, compute_uv=False)
    kept = sizes[sizes > MIN_SINGULAR_VALUE * sizes[0]] if sizes[0] > 0 else np.ones(1)
    wanted = np.linalg.pinv(a, rcond=MIN_SINGULAR_VALUE)
    return np.linalg.norm(found - wanted, 2) * kept[-1] / (kept[0] / kept[-1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_condition_rank_and_size(shape):
    rng = np.random.default_rng(0)
    symbol = ca.SX.sym("a", *shape)
    f = ca.Function("f", [symbol], [pinv(symbol)])
    p = min(shape)
    spectra = [np.logspace(0, -cond, p) for cond in (0, 1, 3, 5, 5.9) for _ in range(10)]
    spectra += [np.r_[np.logspace(0, -cond, r), np.zeros(p - r)] for r in range(p) for cond in (0, 2, 5)]
    for sizes in spectra:
        a = matrix(rng, shape, sizes) * 10 ** rng.uniform(-8, 8)
        assert error(np.array(f(a)), a) < ROUNDING
    for values in (np.zeros(shape), np.ones(shape), np.eye(*shape)):
        assert error(np.array(f(values)), values) < ROUNDING


@pytest.mark.parametrize("shape", [(3, 3), (5, 4), (4, 6), (7, 7)], ids=str)
@pytest.mark.parametrize("condition", [7, 9, 12])
def test_singular_values_below_the_threshold_are_dropped_exactly(shape, condition):
    """Also where they are far from rounding: what is kept is not turned by what is dropped."""
    rng = np.random.default_rng(1)
    symbol = ca.SX.sym("a", *shape)
    f = ca.Function("f", [symbol], [pinv(symbol)])
    for _ in range(20):
        sizes = -np.sort(rng.uniform(0, condition, min(shape)))
        sizes[0] = 0
        near = np.abs(sizes + 6) < 1.5
        sizes[near] = np.where(
            sizes[near] > -6, -4.5, -7.5
        )  # clear of the threshold by a factor of thirty on both sides
        a = matrix(rng, shape, 10.0**sizes)
        assert error(np.array(f(a)), a) < ROUNDING


CONTACT_LIKE = "[0.00014, 0.00011, 5e-05; 0.00011, 0.0001, 3e-05; 5e-05, 3e-05, 1.00005]"


def test_a_heavy_and_a_light_direction():
    """A condition of 1e5, as multipliers of loops and impacts have it; constant and changing alike."""
    for text in (CONTACT_LIKE, f"{CONTACT_LIKE} * (1 + t)"):
        now = begin(f'm = "{text}" | out  back = "pinv(m)"  rest = "m * back * m - m"')
        assert np.max(np.abs(now["rest"])) < 1e-15


@pytest.mark.parametrize("backend", ["auto", "virtual"])
def test_compiled_and_virtual(backend):
    rng = np.random.default_rng(2)
    net = network.loads('x = 1  x\' = "-x"  a = "zeros(4, 3)" | in  back = "pinv(a)"')
    system = net.system()
    for sizes in ([1, 1, 1], [1, 1e-3, 1e-5], [1, 0.1, 0], [1, 0, 0], [0, 0, 0]):
        a = matrix(rng, (4, 3), sizes)
        run = strut.simulate(
            system.using(a=a.ravel(order="F")), t=0.01, method="euler", step=0.01, backend=backend
        )
        found = np.array([run[f"back[{k}]"][0] for k in range(12)]).reshape((3, 4), order="F")
        assert error(found, a) < ROUNDING


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (5, 5)], ids=str)
def test_derivatives_where_the_rank_stays(shape):
    """dA⁺ = -A⁺ dA A⁺ + A⁺A⁺ᵀ dAᵀ (1 - A A⁺) + (1 - A⁺A) dAᵀ A⁺ᵀA⁺ (Golub and Pereyra), also for repeated singular values."""
    rng = np.random.default_rng(3)
    a, da = ca.SX.sym("a", *shape), ca.SX.sym("da", *shape)
    f = ca.Function(
        "f", [a, da], [ca.reshape(ca.jtimes(ca.vec(pinv(a)), ca.vec(a), ca.vec(da)), shape[1], shape[0])]
    )
    p = min(shape)
    for sizes in (
        np.ones(p),
        np.logspace(0, -3, p),
        np.r_[1, 0.5 * np.ones(p - 2), 0],
        np.r_[np.ones(p - 1), 0],
    ):
        now = matrix(rng, shape, sizes)
        left, right = rng.normal(size=(shape[0],) * 2), rng.normal(size=(shape[1],) * 2)
        change = left @ now + now @ right  # keeps the rank
        back = np.linalg.pinv(now, rcond=MIN_SINGULAR_VALUE)
        wanted = -back @ change @ back
        wanted += back @ back.T @ change.T @ (np.eye(shape[0]) - now @ back)
        wanted += (np.eye(shape[1]) - back @ now) @ change.T @ back.T @ back
        found = np.array(f(now, change))
        assert np.max(np.abs(found - wanted)) < 1e-9 * np.max(np.abs(wanted))


def test_what_is_not_a_number_stays_so():
    symbol = ca.SX.sym("a", 3, 3)
    values = np.eye(3)
    values[1, 2] = np.nan
    assert np.isnan(np.array(ca.Function("f", [symbol], [pinv(symbol)])(values))).any()
