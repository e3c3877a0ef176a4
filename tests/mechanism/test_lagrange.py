"""Second derivations: the recursions against Lagrange's equations from positions alone, against published closed forms, and their
derivatives by parameters against complex steps through code of another kind."""

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest

from strut import Param
from strut.mechanism import Mechanism, Tree, joints
from strut.mechanism.spatial import axis_of, rotation

TOLERANCE = 1e-12  # relative to the largest number compared; both sides are exact up to rounding


class Mass(NamedTuple):
    """A mass at (x, z) that turns by an angle, as functions of q: all Lagrange needs."""

    mass: float
    place: Callable[[ca.SX], tuple]
    inertia: float = 0.0
    angle: Callable[[ca.SX], ca.SX] = lambda q: ca.SX(0)


def lagrange(masses: list[Mass], n: int, g: float) -> ca.Function:
    """d/dt dT/dv - dT/dq + dV/dq = M a + bias, with velocities by differentiating the places."""
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    kinetic, potential = ca.SX(0), ca.SX(0)
    for m in masses:
        place = ca.vertcat(*m.place(q))
        speed, spin = ca.jacobian(place, q) @ v, ca.jacobian(m.angle(q), q) @ v
        kinetic += m.mass * ca.sumsqr(speed) / 2 + m.inertia * spin**2 / 2
        potential += m.mass * g * place[1]
    momentum = ca.gradient(kinetic, v)
    bias = ca.jacobian(momentum, q) @ v - ca.gradient(kinetic, q) + ca.gradient(potential, q)
    return ca.Function("lagrange", [q, v], [ca.jacobian(momentum, v), bias])


def hanging(length: float, angle: ca.SX) -> np.ndarray:
    """The end of a rod that hangs at angle zero: rotations about +y move it towards -x."""
    return np.array([-length * ca.sin(angle), -length * ca.cos(angle)])


def arm(
    name: str, m: tuple, length: float, com: tuple, inertia: tuple, g: float
) -> tuple[Mechanism, list[Mass], float]:
    """Two links that hang."""
    machine = Mechanism(name, planar=True, g=g)
    upper = machine.body("upper", m[0], (0, 0, -com[0]), inertia[0])
    lower = machine.body("lower", m[1], (0, 0, -com[1]), inertia[1])
    machine.joint("q1", machine.world, upper, joints.revolute())
    machine.joint("q2", upper, lower, joints.revolute(), at=(0, 0, -length))
    return (
        machine,
        [
            Mass(m[0], lambda q: hanging(com[0], q[0]), inertia[0], lambda q: q[0]),
            Mass(
                m[1],
                lambda q: hanging(length, q[0]) + hanging(com[1], q[0] + q[1]),
                inertia[1],
                lambda q: q[0] + q[1],
            ),
        ],
        g,
    )


def compass(
    m: float = 5.0, hip: float = 10.0, a: float = 0.5, b: float = 0.5, g: float = 9.81
) -> tuple[Mechanism, list[Mass], float]:
    """Goswami's biped on its stance foot: legs with a point mass at `a` from the foot and `b` from the hip."""
    machine = Mechanism("compass", planar=True, g=g)
    stance = machine.body(
        "stance", m + hip, (0, 0, (m * a + hip * (a + b)) / (m + hip)), m * hip / (m + hip) * b**2
    )
    swing = machine.body("swing", m, (0, 0, -b))
    machine.joint("stance", machine.world, stance, joints.revolute())
    machine.joint("swing", stance, swing, joints.revolute(), at=(0, 0, a + b))
    return (
        machine,
        [
            Mass(m, lambda q: -hanging(a, q[0])),
            Mass(hip, lambda q: -hanging(a + b, q[0])),
            Mass(m, lambda q: -hanging(a + b, q[0]) + hanging(b, q[0] + q[1])),
        ],
        g,
    )


MACHINES = {
    "double pendulum": arm("pendulum", (1.0, 1.0), 1.0, (1.0, 1.0), (0.0, 0.0), 9.81),
    "acrobot": arm("acrobot", (1.0, 1.0), 1.0, (0.5, 1.0), (0.083, 0.33), 9.8),  # Spong 1995
    "compass": compass(),
}


def states(count: int, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.uniform(-2, 2, (3, n)) for _ in range(count)]


def assert_equal(ours: ca.DM, theirs: np.ndarray, tolerance: float = TOLERANCE) -> None:
    theirs = np.asarray(theirs, dtype=float)
    np.testing.assert_allclose(
        np.array(ours).reshape(theirs.shape), theirs, rtol=0, atol=tolerance * max(1.0, np.abs(theirs).max())
    )


@pytest.mark.parametrize("name", MACHINES)
def test_recursions_are_lagranges_equations(name):
    """Mass matrix, bias, inverse dynamics, and forward dynamics both ways."""
    machine, masses, g = MACHINES[name]
    tree, theirs = Tree(machine), lagrange(masses, 2, g)
    third = ca.SX.sym("third", 2)
    results = [
        tree.mass_matrix,
        tree.bias,
        tree.inverse(third),
        tree.forward(third),
        tree.articulated_body_algorithm(third),
    ]
    ours = ca.Function("ours", [tree.q, tree.v, third], results)
    for q, v, x in states(20, 2):
        M, bias = (np.array(r) for r in theirs(q, v))
        bias = bias.reshape(-1)
        solved = np.linalg.solve(M, x - bias)
        exact = ours(q, v, x)
        for value, expected in zip(exact[:3], (M, bias, M @ x + bias), strict=True):
            assert_equal(value, expected)
        for value in exact[3:]:
            assert_equal(value, solved, TOLERANCE * np.linalg.cond(M))


def test_goswamis_compass():
    """His matrices, in absolute angles of the legs (swing, stance) from the vertical."""
    m, hip, a, b, g = 5.0, 10.0, 0.5, 0.5, 9.81
    length = a + b
    tree = Tree(compass(m, hip, a, b, g)[0])
    f = ca.Function("f", [tree.q, tree.v], [tree.mass_matrix, tree.bias])
    A = np.array(
        [[0.0, 1.0], [1.0, -1.0]]
    )  # our rates (stance, swing relative to it) from his (swing, stance)
    for q, v, _ in states(10, 2):
        swing, stance = q[0] + q[1], q[0]
        rates = np.array([v[0] + v[1], v[0]])
        apart = swing - stance
        M = [
            [m * b**2, -m * length * b * np.cos(apart)],
            [-m * length * b * np.cos(apart), (hip + m) * length**2 + m * a**2],
        ]
        N = m * length * b * np.sin(apart) * np.array([-(rates[1] ** 2), rates[0] ** 2])
        G = g * np.array([m * b * np.sin(swing), -(hip * length + m * a + m * length) * np.sin(stance)])
        ours = [np.array(r) for r in f(q, v)]
        assert_equal(A.T @ ours[0] @ A, M)
        assert_equal(A.T @ ours[1].reshape(-1), N + G)


def test_duindams_compass():
    """The floating walker of his section 4.2, on a slope: the whole mass matrix, and the bias of its angles."""
    m, hip, g, slope = 1.0, 5.0, 9.81, np.deg2rad(3)
    machine = Mechanism("walker", planar=True, g=g)
    along, foot = machine.body("along"), machine.body("foot")
    stance = machine.body("stance", m + hip, (0, 0, (m / 2 + hip) / (m + hip)), m * hip / (m + hip) / 4)
    swing = machine.body("swing", m, (0, 0, -0.5))
    machine.joint("q1", machine.world, along, joints.prismatic("x"), rotation=rotation(axis_of("y"), slope))
    machine.joint("q2", along, foot, joints.prismatic("z"))
    machine.joint("q3", foot, stance, joints.revolute("-y"))  # his angles are positive backwards
    machine.joint("q4", stance, swing, joints.revolute("-y"), at=(0, 0, 1))
    tree = Tree(machine)
    f = ca.Function("f", [tree.q, tree.v], [tree.mass_matrix, tree.bias])
    total, top = 2 * m + hip, 1.5 * m + hip
    for q, v, _ in states(10, 4):
        _, _, q3, q4 = q
        _, _, v3, v4 = v
        both = q3 + q4
        upper = np.array(
            [
                [total, 0, -top * np.cos(q3) + m / 2 * np.cos(both), m / 2 * np.cos(both)],
                [0, total, -top * np.sin(q3) + m / 2 * np.sin(both), m / 2 * np.sin(both)],
                [0, 0, hip + 1.5 * m - m * np.cos(q4), m / 4 * (1 - 2 * np.cos(q4))],
                [0, 0, 0, m / 4],
            ]
        )
        M, bias = (np.array(r) for r in f(q, v))
        assert_equal(M, upper + np.triu(upper, 1).T)
        coriolis = np.array(
            [m * np.sin(q4) * v3 * v4 + m / 2 * np.sin(q4) * v4**2, -m / 2 * np.sin(q4) * v3**2]
        )
        low = m / 2 * g * np.sin(both - slope)
        assert_equal(bias[2:].reshape(-1), coriolis + np.array([-g * top * np.sin(q3 - slope) + low, low]))
        assert_equal(
            bias[:2].reshape(-1) - _foot_coriolis(q, v, m, top),
            total * g * np.array([-np.sin(slope), np.cos(slope)]),
        )


def _foot_coriolis(q: np.ndarray, v: np.ndarray, m: float, top: float) -> np.ndarray:
    """What the turning legs push on the foot: mass times centripetal acceleration, of the hip's side and of the swing leg."""
    both, rate = q[2] + q[3], v[2] + v[3]
    return top * v[2] ** 2 * np.array([np.sin(q[2]), -np.cos(q[2])]) - m / 2 * rate**2 * np.array(
        [np.sin(both), -np.cos(both)]
    )


# ---- derivatives by parameters ----

NAMES = ("m1", "m2", "l1", "c1", "c2", "I1", "I2", "g")
VALUES = np.array([1.1, 0.7, 0.9, 0.4, 0.6, 0.083, 0.12, 9.8])


def spong(p: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The acrobot's M and bias as he prints them, in numbers that may be complex; angles from hanging."""
    m1, m2, l1, c1, c2, I1, I2, g = p
    c, s = np.cos(q[1]), np.sin(q[1])
    M12 = m2 * (c2**2 + l1 * c2 * c) + I2
    M = np.array(
        [[m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * c) + I1 + I2, M12], [M12, m2 * c2**2 + I2]]
    )
    turning = m2 * l1 * c2 * s * np.array([-(v[1] ** 2) - 2 * v[0] * v[1], v[0] ** 2])
    low = m2 * c2 * g * np.sin(q[0] + q[1])
    return M, turning + np.array([(m1 * c1 + m2 * l1) * g * np.sin(q[0]) + low, low])


def by_complex_step(f: Callable[[np.ndarray], np.ndarray], p: np.ndarray) -> np.ndarray:
    """Columns of df/dp without cancellation."""
    h = 1e-30
    return np.array([np.imag(f(p + 1j * h * e)) / h for e in np.eye(len(p))]).T


def test_derivatives_by_mass_length_and_inertia():
    """Of inverse and forward dynamics and of the mass matrix, by every number of the acrobot."""
    params = {name: Param(name, float(value)) for name, value in zip(NAMES, VALUES, strict=True)}
    m = Mechanism("acrobot", planar=True, g=params["g"])
    upper = m.body("upper", params["m1"], (0, 0, -params["c1"]), params["I1"])
    lower = m.body("lower", params["m2"], (0, 0, -params["c2"]), params["I2"])
    m.joint("q1", m.world, upper, joints.revolute())
    m.joint("q2", upper, lower, joints.revolute(), at=(0, 0, -params["l1"]))
    tree, third = Tree(m), ca.SX.sym("third", 2)
    p = ca.vertcat(*[params[name].sym for name in NAMES])
    wanted = [
        tree.inverse(third),
        tree.forward(third),
        tree.articulated_body_algorithm(third),
        ca.vec(tree.mass_matrix),
    ]
    exact = ca.Function("exact", [tree.q, tree.v, third, p], [ca.jacobian(w, p) for w in wanted])
    for q, v, x in states(10, 2):

        def inverse(p, q=q, v=v, x=x):
            M, bias = spong(p, q, v)
            return M @ x + bias

        def forward(p, q=q, v=v, x=x):
            M, bias = spong(p, q, v)
            return np.linalg.solve(M, x - bias)

        def matrix(p, q=q, v=v):
            return spong(p, q, v)[0].reshape(-1)

        found = exact(q, v, x, VALUES)
        for ours, theirs in zip(found, (inverse, forward, forward, matrix), strict=True):
            assert_equal(ours, by_complex_step(theirs, VALUES), 1e-11)
