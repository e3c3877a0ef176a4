"""Butcher tableaux of the explicit Runge-Kutta methods: the only place where these numbers stand.

`runge_kutta_c` writes the C of each, the engine in Python reads them, and `integrators` gives each a name for
users.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Tableau:
    """Coefficients of an explicit Runge-Kutta method whose last evaluation is the first of the next step.

    name: of its C function. order: of convergence.
    c, a, b: the stages; b is divided by `divisor`, so that weights can stand as in a book: (1, 2, 2, 1) / 6.
    quadrature: weights of the stages for what is integrated beside the motion and acts back on nothing, of a
        method of which some b are negative: the integral of what is never negative would be negative where it
        jumps from step to step. Without any, b.

    An adaptive method (an embedded pair) has in addition:
    errors: weights of the error estimates over the stages and the evaluation at the end. A method without
        them has a fixed step.
    dense: weights of the powers 1, 2, ... of the dense output, or of its terms 3, 4, ... where there are
        extra stages; without any, it is the cubic through both ends (of an order of 1: the straight line).
    extra_a, extra_c: stages that only the dense output needs.
    damping: exponent of the error before, in the PI control of the step size.
    """

    name: str
    order: int
    c: tuple[float, ...]
    a: Rows
    b: tuple[float, ...]
    divisor: int = 1
    quadrature: tuple[float, ...] = ()
    errors: Rows = ()
    dense: Rows = ()
    extra_c: tuple[float, ...] = ()
    extra_a: Rows = ()
    damping: float = 0.0

    @property
    def adaptive(self) -> bool:
        """Does it estimate its error, and so choose its step?"""
        return bool(self.errors)

    @property
    def degree(self) -> int:
        """Degree of the polynomial that is its dense output."""
        return 7 if self.extra_a else len(self.dense) or 3

    @property
    def stages(self) -> int:
        """How many rates a step keeps, those of the dense output and that at its end included."""
        return len(self.b) + 1 + len(self.extra_a)


EULER = Tableau("euler", 1, c=(0,), a=(), b=(1,))

RK4 = Tableau(  # Kutta 1901
    "rk4", 4, c=(0, 1 / 2, 1 / 2, 1), a=((1 / 2,), (0, 1 / 2), (0, 0, 1)), b=(1, 2, 2, 1), divisor=6
)

RKC_DAMPING = 2 / 13
"""[1] How much is given up of the real interval of stability, so that it is a strip and not a string of
beads."""


def _chebyshev_tableau(name: str, stages: int) -> Tableau:
    """The Runge-Kutta-Chebyshev method of second order (Sommeijer, Shampine and Verwer 1997, equations 2.1 to
    2.8), its recursion written out as a tableau: stable for real rates down to -0.65 stages^2 / step."""
    w0 = 1 + RKC_DAMPING / stages**2
    T = [np.polynomial.Chebyshev.basis(j) for j in range(stages + 1)]
    values = [[float(d(w0)) for d in (t, t.deriv(), t.deriv(2))] for t in T]
    w1 = values[stages][1] / values[stages][2]
    weight = [v[2] / v[1] ** 2 if v[1] else 0.0 for v in values]
    weight[0] = weight[1] = weight[2]
    rows = [np.zeros(stages), np.zeros(stages)]
    rows[1][0] = weight[1] * w1
    for j in range(2, stages + 1):
        mu, nu = 2 * weight[j] * w0 / weight[j - 1], -weight[j] / weight[j - 2]
        push = 2 * weight[j] * w1 / weight[j - 1]
        row = mu * rows[j - 1] + nu * rows[j - 2]
        row[j - 1] += push
        row[0] -= (1 - weight[j - 1] * values[j - 1][0]) * push
        rows.append(row)
    a = tuple(tuple(float(v) for v in row[:j]) for j, row in enumerate(rows[1:-1], 1))
    c = (0.0, *[float(row.sum()) for row in rows[1:-1]])
    b = tuple(float(v) for v in rows[-1])
    return Tableau(name, 2, c=c, a=a, b=b, quadrature=_positive_weights(c))


def _positive_weights(c: tuple[float, ...]) -> tuple[float, ...]:
    """Return positive weights of values at times `c` of a step, of second order: of each the part of the step
    that is nearest to it, tilted so that straight lines are integrated exactly."""
    at = np.array(c)
    middles = (at[1:] + at[:-1]) / 2
    shares = np.diff(np.concatenate([[0.0], middles, [1.0]]))
    mean = shares @ at
    weights = shares * (1 + (0.5 - mean) * (at - mean) / (shares @ (at - mean) ** 2))
    assert (weights > 0).all()
    return tuple(float(v) for v in weights)


RKC = _chebyshev_tableau("rkc", 10)

DOPRI5 = Tableau(  # Dormand, Prince 1980; interpolant of Shampine 1986
    "dopri5",
    5,
    c=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    a=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    b=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    errors=((-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),),
    dense=(
        (1.0, 0, 0, 0, 0, 0, 0),
        (
            -8048581381 / 2820520608,
            0,
            131558114200 / 32700410799,
            -1754552775 / 470086768,
            127303824393 / 49829197408,
            -282668133 / 205662961,
            40617522 / 29380423,
        ),
        (
            8663915743 / 2820520608,
            0,
            -68118460800 / 10900136933,
            14199869525 / 1410260304,
            -318862633887 / 49829197408,
            2019193451 / 616988883,
            -110615467 / 29380423,
        ),
        (
            -12715105075 / 11282082432,
            0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ),
    ),
    damping=0.04,
)

DOP853 = Tableau(  # Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, section II.10
    "dop853",
    8,
    c=(
        0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
    ),
    a=(
        (0.05260015195876773,),
        (0.0197250569845379, 0.0591751709536137),
        (0.02958758547680685, 0, 0.08876275643042054),
        (0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792),
        (0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242),
        (0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
        (
            0.03709200011850479,
            0,
            0,
            0.17038392571223998,
            0.10726203044637328,
            -0.015319437748624402,
            0.008273789163814023,
        ),
        (
            0.6241109587160757,
            0,
            0,
            -3.3608926294469414,
            -0.868219346841726,
            27.59209969944671,
            20.154067550477894,
            -43.48988418106996,
        ),
        (
            0.47766253643826434,
            0,
            0,
            -2.4881146199716677,
            -0.590290826836843,
            21.230051448181193,
            15.279233632882423,
            -33.28821096898486,
            -0.020331201708508627,
        ),
        (
            -0.9371424300859873,
            0,
            0,
            5.186372428844064,
            1.0914373489967295,
            -8.149787010746927,
            -18.52006565999696,
            22.739487099350505,
            2.4936055526796523,
            -3.0467644718982196,
        ),
        (
            2.273310147516538,
            0,
            0,
            -10.53449546673725,
            -2.0008720582248625,
            -17.9589318631188,
            27.94888452941996,
            -2.8589982771350235,
            -8.87285693353063,
            12.360567175794303,
            0.6433927460157636,
        ),
    ),
    b=(
        0.054293734116568765,
        0,
        0,
        0,
        0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ),
    errors=(
        (
            0.01312004499419488,
            0,
            0,
            0,
            0,
            -1.2251564463762044,
            -0.4957589496572502,
            1.6643771824549864,
            -0.35032884874997366,
            0.3341791187130175,
            0.08192320648511571,
            -0.022355307863886294,
            0,
        ),
        (
            -0.18980075407240762,
            0,
            0,
            0,
            0,
            4.450312892752409,
            1.8915178993145003,
            -5.801203960010585,
            -0.4226823213237919,
            -0.1521609496625161,
            0.20136540080403034,
            0.02265179219836082,
            0,
        ),
    ),
    dense=(
        (
            -8.428938276109013,
            0,
            0,
            0,
            0,
            0.5667149535193777,
            -3.0689499459498917,
            2.38466765651207,
            2.117034582445028,
            -0.871391583777973,
            2.2404374302607883,
            0.6315787787694688,
            -0.08899033645133331,
            18.148505520854727,
            -9.194632392478356,
            -4.436036387594894,
        ),
        (
            10.427508642579134,
            0,
            0,
            0,
            0,
            242.28349177525817,
            165.20045171727028,
            -374.5467547226902,
            -22.113666853125306,
            7.733432668472264,
            -30.674084731089398,
            -9.332130526430229,
            15.697238121770845,
            -31.139403219565178,
            -9.35292435884448,
            35.81684148639408,
        ),
        (
            19.985053242002433,
            0,
            0,
            0,
            0,
            -387.0373087493518,
            -189.17813819516758,
            527.8081592054236,
            -11.57390253995963,
            6.8812326946963,
            -1.0006050966910838,
            0.7777137798053443,
            -2.778205752353508,
            -60.19669523126412,
            84.32040550667716,
            11.99229113618279,
        ),
        (
            -25.69393346270375,
            0,
            0,
            0,
            0,
            -154.18974869023643,
            -231.5293791760455,
            357.6391179106141,
            93.40532418362432,
            -37.45832313645163,
            104.0996495089623,
            29.8402934266605,
            -43.53345659001114,
            96.32455395918828,
            -39.17726167561544,
            -149.72683625798564,
        ),
    ),
    extra_c=(0.1, 0.2, 0.7777777777777778),
    extra_a=(
        (
            0.056167502283047954,
            0,
            0,
            0,
            0,
            0,
            0.25350021021662483,
            -0.2462390374708025,
            -0.12419142326381637,
            0.15329179827876568,
            0.00820105229563469,
            0.007567897660545699,
            -0.008298,
        ),
        (
            0.03183464816350214,
            0,
            0,
            0,
            0,
            0.028300909672366776,
            0.053541988307438566,
            -0.05492374857139099,
            0,
            0,
            -0.00010834732869724932,
            0.0003825710908356584,
            -0.00034046500868740456,
            0.1413124436746325,
        ),
        (
            -0.42889630158379194,
            0,
            0,
            0,
            0,
            -4.697621415361164,
            7.683421196062599,
            4.06898981839711,
            0.3567271874552811,
            0,
            0,
            0,
            -0.0013990241651590145,
            2.9475147891527724,
            -9.15095847217987,
        ),
    ),
    damping=0.02,
)

BASIS = np.zeros((8, 7))
"""Powers of a in the terms a, ab, a2b, a2b2, a3b2, a3b3, a4b3 (b = 1 - a) of the dense output of order 7."""
_term = np.array([0.0, 1.0])
for _k in range(7):
    BASIS[: len(_term), _k] = _term
    _term = polynomial.polymul(_term, [1.0, -1.0] if _k % 2 == 0 else [0.0, 1.0])
