"""The port-Hamiltonian form moves as the other does, and its interconnection is skew."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param
from strut.errors import ModelError
from strut.mechanism import Mechanism, Tree, constraints, joints, system
from strut.mechanism.hamiltonian import hamiltonian, hamiltonian_system
from tests.mechanism.test_mechanism import chain


def arm_on_a_floating_base(base):
    m = Mechanism("floater")
    body = m.body("body", 3.0, (0.05, -0.02, 0.1), [0.2, 0.01, 0.0, 0.3, 0.02, 0.25])
    upper = m.body("upper", 1.0, (0, 0, -0.2), [0.02, 0.02, 0.002])
    lower = m.body("lower", Param("tip_mass", 0.7, "kg"), (0, 0, -0.15), [0.01, 0.01, 0.001])
    rate = {
        "free": (0.5, -1.0, 0.7, 0.3, 0.2, 0.1),
        "spherical": (0.5, -1.0, 0.7),
        "planar": (0.3, -0.2, 1.5),
    }[base]
    m.joint("base", m.world, body, getattr(joints, base)(), rate=rate, actuated=False)
    m.joint(
        "shoulder", body, upper, joints.revolute("x"), at=(0, 0.1, 0), initial=0.4, rate=1.0, damping=0.05
    )
    m.joint("elbow", upper, lower, joints.revolute("y"), at=(0, 0, -0.4), initial=-0.7, spring=2.0)
    return m


@pytest.mark.parametrize("base", ["free", "spherical", "planar"])
def test_both_forms_move_alike(base):
    m = arm_on_a_floating_base(base)
    plain, momentum = (
        strut.simulate(make(m), t=2.0, u={"elbow_torque": 0.3}) for make in (system, hamiltonian_system)
    )
    times = np.linspace(0, 2, 21)
    for name in plain.names.x:
        np.testing.assert_allclose(momentum.at(times)[name], plain.at(times)[name], atol=2e-8, err_msg=name)
    assert momentum.ledger.residual < 1e-8


def test_the_interconnection_is_duindams():
    """Skew; zero for plain coordinates; for a free body P(p) = [[pa~, pb~], [pb~, 0]], so that p' = P(p) v without forces."""
    tree = Tree(arm_on_a_floating_base("free"))
    form = hamiltonian(tree)
    f = ca.Function("g", [tree.q, form.p], [form.G])
    rng = np.random.default_rng(0)
    q = rng.standard_normal(tree.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    p = rng.standard_normal(tree.nv)
    G = np.array(f(q, p))
    np.testing.assert_allclose(G, -G.T, atol=1e-12)

    def tilde(a):
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    expected = np.block([[tilde(p[:3]), tilde(p[3:6])], [tilde(p[3:6]), np.zeros((3, 3))]])
    np.testing.assert_allclose(G[:6, :6], expected, atol=1e-12)
    np.testing.assert_allclose(G[6:, :], 0, atol=1e-12)


def test_velocity_is_the_gradient_of_the_energy_by_momentum():
    tree = Tree(chain(3))
    form = hamiltonian(tree)
    f = ca.Function(
        "v",
        [tree.q, form.p, tree.mechanism.gravity],
        [form.v, ca.jacobian(form.H, form.p).T, form.gradient, ca.jacobian(form.H, tree.q).T],
    )
    v, by_p, gradient, by_q = (np.array(r) for r in f([0.3, -0.5, 0.9], [1.0, -2.0, 0.5], 9.81))
    np.testing.assert_allclose(v, by_p, rtol=1e-12)
    np.testing.assert_allclose(gradient, by_q, rtol=1e-10, atol=1e-12)


def test_constraints_are_refused():
    m = chain(1)
    m.constrain(constraints.prescribed("drive", "q1", strut.time))
    with pytest.raises(ModelError, match="has constraints: its Hamiltonian form is for trees"):
        hamiltonian_system(m)
