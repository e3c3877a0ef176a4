"""States of a tree, as MuJoCo writes them. Its free joints move in world axes, and what is attached to them turns with them."""

import numpy as np


def translate(tree, model, q):
    """Our q as MuJoCo's, the matrix P from our velocities to its, and as a function the rate of P times velocities."""
    import mujoco

    theirs, P, spins = np.zeros(model.nq), np.zeros((model.nv, model.nv)), []
    for node in tree.nodes:
        c = node.connection
        if not c.joint.nv:
            continue
        joint = model.joint(c.name)
        mine, where = q[tree.q_of[c.name]], tree.v_of[c.name]
        at, row = int(joint.qposadr[0]), int(joint.dofadr[0])
        if c.joint.kind == "free":
            theirs[at : at + 7] = [*mine[:3], mine[6], *mine[3:6]]
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, theirs[at + 3 : at + 7])
            P[row : row + 3, where.start + 3 : where.stop] = R.reshape(3, 3)
            P[row + 3 : row + 6, where.start : where.start + 3] = np.eye(3)
            spins.append((row, where.start, R.reshape(3, 3)))
        elif c.joint.kind == "spherical":
            theirs[at : at + 4] = [mine[3], *mine[:3]]
            P[row : row + 3, where] = np.eye(3)
        else:
            theirs[at : at + c.joint.nv] = mine  # joints of one axis, one after another
            P[row : row + c.joint.nv, where] = np.eye(c.joint.nv)

    def turning(v):
        rate = np.zeros(model.nv)
        for row, start, R in spins:
            rate[row : row + 3] = R @ np.cross(v[start : start + 3], v[start + 3 : start + 6])
        return rate

    return theirs, P, turning
