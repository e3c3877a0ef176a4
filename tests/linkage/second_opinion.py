"""Another way to look at a design: by the constraint Jacobian of its mechanism, which shares nothing with the
arrays of strut.linkage, and by pseudo-arclength continuation instead of steps in the posture."""

import casadi as ca
import numpy as np

from strut import linkage, mechanism
from strut.mechanism.closure import all_rows

ROWS = ("x", "z")


class SecondOpinion:
    """Closure error and Jacobian of the mechanism of a topology, as functions of joint angles and pins."""

    def __init__(self, topology):
        self.topology = topology
        m = linkage.linkage_mechanism(topology)
        tree, params = mechanism.Tree(m), m.parameter_set()
        rows = all_rows(tree)
        params.add(rows.phi, rows.K)
        keep = [k for k, label in enumerate(rows.labels) if label.rpartition("_")[2] in ROWS]
        self.names = [q.name for q in params]
        self.defaults = params.values
        self.of = tree.q_of
        self.function = ca.Function("rows", [tree.q, params.symbols], [rows.phi[keep], rows.K[keep, :]])
        self.limb = [tree.q_of[joint].start for joint in topology.limb.joints]
        self.links = [k for k in range(tree.nq) if k not in self.limb]
        self.size = tree.nq

    def numbers(self, values):
        """All parameters, with the pins of a design."""
        p = self.defaults.copy()
        for each, value in zip(linkage.pin_parameters(self.topology), values, strict=True):
            p[self.names.index(each.name)] = value
        return p

    def angles(self, motion, design, sample):
        """The joint angles of the mechanism where a motion is."""
        q = np.zeros(self.size)
        q[self.limb] = motion.postures[sample]
        for joint, angles in linkage.carrying_angles(motion).items():
            q[self.of[joint].start] = angles[design, sample]
        return q

    def rates(self, q, p):
        """By the null space of the constraint Jacobian: rates of all joints of the linkage for unit rates of
        the limb's joints."""
        K = np.array(self.function(q, p)[1])
        null = np.linalg.svd(K)[2][np.linalg.matrix_rank(K) :].T
        basis = null @ np.linalg.pinv(null[self.limb])
        angles = linkage.joint_angles(self.topology)
        return np.array(
            [
                sum(weight * basis[self.of[name].start] for name, weight in angles[joint].items())
                for joint in self.topology.joints
            ]
        )

    def turns_back(self, values, q, posture, step, tries):
        """Whether the branch from q towards a posture turns back before it gets there: pseudo-arclength
        continuation of angles of links and share of the way. Also the least regularity on the way."""
        p, start = self.numbers(values), q[self.limb].copy()

        def place(u):
            at = np.zeros(self.size)
            at[self.links], at[self.limb] = u[:-1], start + u[-1] * (posture - start)
            return at

        def evaluate(u):
            phi, K = (np.array(e) for e in self.function(place(u), p))
            return phi[:, 0], np.column_stack([K[:, self.links], K[:, self.limb] @ (posture - start)])

        u = np.append(q[self.links], 0.0)
        tangent, least = np.append(np.zeros(len(self.links)), 1.0), np.inf
        for _ in range(tries):
            jacobian = evaluate(u)[1]
            least = min(least, 1 / np.linalg.svd(self.rates(place(u), p), compute_uv=False)[0])
            along = np.linalg.svd(jacobian)[2][-1]
            along *= np.sign(along @ tangent) or 1.0
            if along[-1] < 0:
                return True, 0.0  # the share of the way shrinks: a fold was passed
            tangent = along
            v = u + step * tangent
            for _ in range(20):
                phi, jacobian = evaluate(v)
                residual = np.append(phi, tangent @ (v - u) - step)
                if np.abs(residual).max() < 1e-12:
                    break
                v = v - np.linalg.solve(np.vstack([jacobian, tangent]), residual)
            u = v
            if u[-1] > 1:
                return False, least
        return False, least
