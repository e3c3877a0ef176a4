"""The port-Hamiltonian form: configuration Q and momentum p = M(q) v, energy H(Q, p), and the interconnection
between them.

Duindam, theorem 2.17, in directions of velocities: with theta the directions in which the velocities v move
    the configuration,

    Q' = B(Q) v,   p' = -dH/dtheta + G(p) v + tau,   v = dH/dp = M^-1 p,   H = p' M^-1 p / 2 + U(Q).

G is skew: it comes from the brackets of the velocity fields (zero for plain coordinates, the gyroscopic terms
of rotations for body velocities), so H changes by the power tau' v of the ports and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.generalised_forces import forces_of
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.pushes import pushes_of
from strut.mechanism.states import coordinate_names, quantities_of, velocity_names
from strut.mechanism.tree import Tree
from strut.system import Ledger, State, System


@dataclass(frozen=True, eq=False)
class Hamiltonian:
    """Expressions of tree.q and `p`: the energy, its gradient along the directions of velocity, v = dH/dp,
    and the skew interconnection G(p)."""

    tree: Tree
    p: ca.SX
    H: ca.SX
    gradient: ca.SX
    v: ca.SX
    G: ca.SX

    def rate(self, tau: ca.SX) -> ca.SX:
        """The rate p' for generalised forces tau at the ports."""
        return -self.gradient + self.G @ self.v + tau


def hamiltonian(tree: Tree) -> Hamiltonian:
    """The port-Hamiltonian form of a tree without constraints."""
    if tree.mechanism.constraints:
        raise ModelError(
            f"mechanism '{tree.mechanism.name}' has constraints: its Hamiltonian form is for trees"
        )
    p = ca.SX.sym("p", tree.nv)
    v = tree.factors.solve(p)
    constant_v = ca.SX.sym("held", tree.nv)
    U = observe.potential(tree)
    # dH/dq at constant p is -d(v'Mv/2)/dq at constant v: the derivative of M^-1 is never formed
    slope = ca.jacobian(U - ca.dot(constant_v, tree.mass_matrix @ constant_v) / 2, tree.q)
    gradient = ca.substitute([(slope @ _fields(tree)).T], [constant_v], [v])[0]
    return Hamiltonian(tree, p, ca.dot(p, v) / 2 + U, gradient, v, _interconnection(tree, p))


def _fields(tree: Tree) -> ca.SX:
    """B(q): how velocities move coordinates. A quaternion's pull to unit length is no motion and is left
    out."""
    rate = tree.qdot - ca.substitute([tree.qdot], [tree.v], [ca.SX.zeros(tree.nv)])[0]
    return ca.jacobian(rate, tree.v)


def _interconnection(tree: Tree, p: ca.SX) -> ca.SX:
    """G(p), joint by joint, from the brackets [b_i, b_j] = sum_k c_ijk b_k of the fields of each: G_ij =
    -sum_k c_ijk p_k."""
    G = ca.SX.zeros(tree.nv, tree.nv)
    B = _fields(tree)
    for node in tree.nodes:
        joint = node.connection.joint
        if joint.gear or joint.rate is None:
            continue
        rows, columns = tree.q_of[node.connection.name], tree.v_of[node.connection.name]
        own, q = B[rows, columns], tree.q[rows]
        inverse = ca.solve(own.T @ own, own.T)
        for i in range(joint.nv):
            for j in range(i):
                bracket = ca.jtimes(own[:, j], q, own[:, i]) - ca.jtimes(own[:, i], q, own[:, j])
                value = ca.dot(inverse @ bracket, p[columns])
                G[columns.start + i, columns.start + j] = -value
                G[columns.start + j, columns.start + i] = value
    return G


@checked
def hamiltonian_system(mechanism: Mechanism, description: str = "") -> System:
    """The mechanism as a system whose states are coordinates and momenta (NAME_momentum); it moves as
    `system` does."""
    tree, params = Tree(mechanism), mechanism.parameter_set()
    form = hamiltonian(tree)
    positions, velocities, inputs = quantities_of(tree)
    start = ca.Function("start", [tree.q, tree.v, *[q.sym for q in params]], [tree.mass_matrix @ tree.v])
    momenta = []
    values = start(
        ca.vertcat(*[ca.SX(s.value) for s in positions], ca.SX(0, 1)),
        ca.vertcat(*[ca.SX(s.value) for s in velocities], ca.SX(0, 1)),
        *[q.sym for q in params],
    )
    for k, name in enumerate(_momentum_names(tree)):
        momenta.append(State(name, ca.simplify(values[k]), "N s"))
    tau, entries = forces_of(tree, inputs, params)
    pushes = pushes_of(tree)
    tau, entries["supplied"] = tau + pushes.tau, entries["supplied"] | pushes.supplied
    q = ca.vertcat(*[s.sym for s in positions], ca.SX(0, 1))
    symbols = ca.vertcat(*[s.sym for s in momenta], ca.SX(0, 1))

    def bound(expressions: dict[str, ca.SX]) -> dict[str, ca.SX]:
        if not expressions:
            return {}
        first = ca.substitute(list(expressions.values()), [tree.v], [form.v])
        return dict(zip(expressions, ca.substitute(first, [tree.q, form.p], [q, symbols]), strict=True))

    rates = bound({"q": tree.qdot, "p": form.rate(tau)})
    speeds = bound({"v": tree.v})["v"]
    flow = {s.name: rates["q"][k] for k, s in enumerate(positions)} | {
        s.name: rates["p"][k] for k, s in enumerate(momenta)
    }
    return System(
        mechanism.name,
        x=(*positions, *momenta),
        u=(*inputs.values(), *pushes.inputs),
        p=tuple(params),
        flow=flow,
        outputs={s.name: speeds[k] for k, s in enumerate(velocities)},
        output_units={s.name: s.unit for s in velocities},
        ledger=Ledger(
            bound({"hamiltonian": form.H, **entries["stored"]}),
            bound(entries["supplied"]),
            bound(entries["dissipated"]),
        ),
        description=description or f"port-Hamiltonian mechanism of {len(tree.nodes)} bodies",
    )


def _momentum_names(tree: Tree) -> list[str]:
    """Names of the momenta, in the order of the velocities."""
    names = []
    for node in tree.nodes:
        c = node.connection
        if not c.joint.gear:
            single = c.joint.nv == 1
            names += [f"{coordinate_names(c)[0] if single else name}_momentum" for name in velocity_names(c)]
    return names
