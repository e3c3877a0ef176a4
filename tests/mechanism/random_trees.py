"""Random mechanisms, built three times: ours, Pinocchio's and MuJoCo's."""

import casadi as ca
import numpy as np

from strut.mechanism import Mechanism, Pose, joints
from strut.mechanism import spatial as algebra
from tests.mechanism.in_mujoco import translate

GRAVITY = 9.81


def unit(rng):
    a = rng.standard_normal(3)
    return a / np.linalg.norm(a)


def rotation(rng):
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return q * np.sign(np.linalg.det(q))


IN_MUJOCO = ("revolute", "revolute", "prismatic", "spherical", "universal", "cylindrical", "euler", "custom")
KINDS = (*IN_MUJOCO, "planar", "helical")
SIZES = {"free": 6, "spherical": 3, "planar": 3, "euler": 3, "universal": 2, "cylindrical": 2, "custom": 2}


def factors(row):
    """A joint of several axes as joints of one, each carried by the ones before: ("revolute" or "prismatic", axis)."""
    first, second = row["axis"], row["second"]
    return {
        "universal": [("revolute", first), ("revolute", second)],
        "cylindrical": [("revolute", first), ("prismatic", first)],
        "euler": [("revolute", axis) for axis in np.eye(3)[::-1]],
        "custom": [("prismatic", first), ("revolute", second)],
    }.get(row["kind"], [])


def slid_and_turned(along, about):
    """A joint that only its transform describes."""
    return lambda q: Pose.at(ca.SX(along) * q[0], algebra.rotation(ca.SX(about), q[1]))


class Plan:
    """Bodies, joints and inertias of a random tree, as numbers."""

    def __init__(self, seed, dof, kinds=KINDS, base="free"):
        rng = np.random.default_rng(seed)
        self.rows, have = [], 0
        while have < dof:
            kind = base if not self.rows and base else str(rng.choice(kinds))
            size = SIZES.get(kind, 1)
            if have + size > dof and kind != base:
                kind, size = "revolute", 1
            points = rng.standard_normal((3, 5))
            spread = (
                points @ points.T
            )  # the inertia of a cloud of points: any real body's obeys the same inequalities
            self.rows.append(
                {
                    "kind": kind,
                    "axis": unit(rng),
                    "second": unit(rng),
                    "R": rotation(rng),
                    "p": rng.uniform(-0.5, 0.5, 3),
                    "pitch": rng.uniform(0.05, 0.3),
                    "parent": int(rng.integers(-1, len(self.rows))) if self.rows else -1,
                    "mass": rng.uniform(0.3, 3),
                    "com": rng.uniform(-0.3, 0.3, 3),
                    "inertia": 0.02 * (np.trace(spread) * np.eye(3) - spread),
                }
            )
            if kind == "free":  # MuJoCo's free bodies are placed by their coordinates alone
                self.rows[-1] |= {"R": np.eye(3), "p": np.zeros(3)}
            have += size
        self.rng = rng

    def mechanism(self):
        m = Mechanism("random", g=GRAVITY)
        bodies = []
        for k, row in enumerate(self.rows):
            body = m.body(f"b{k}", row["mass"], row["com"], row["inertia"])
            joint = {
                "free": joints.free,
                "spherical": joints.spherical,
                "planar": lambda: joints.planar("z"),
                "revolute": lambda row=row: joints.revolute(row["axis"]),
                "prismatic": lambda row=row: joints.prismatic(row["axis"]),
                "helical": lambda row=row: joints.helical(row["axis"], row["pitch"]),
                "universal": lambda row=row: joints.universal(row["axis"], row["second"]),
                "cylindrical": lambda row=row: joints.cylindrical(row["axis"]),
                "euler": joints.spherical_euler,
                "custom": lambda row=row: joints.custom(
                    slid_and_turned(row["axis"], row["second"]), ("slide", "angle")
                ),
            }[row["kind"]]()
            parent = m.world if row["parent"] < 0 else bodies[row["parent"]]
            m.joint(f"j{k}", parent, body, joint, at=row["p"], rotation=ca.SX(row["R"]))
            m.frame(f"f{k}", body, row["com"] + 0.1)
            bodies.append(body)
        return m

    def state(self, tree):
        """A random configuration, velocity, acceleration and force in our order."""
        q = self.rng.uniform(-1, 1, tree.nq)
        for node in tree.nodes:
            where = tree.q_of[node.connection.name]
            kind = node.connection.joint.kind
            if kind in ("free", "spherical"):
                part = slice(where.stop - 4, where.stop)
                q[part] /= np.linalg.norm(q[part])
        return q, *(self.rng.standard_normal(tree.nv) for _ in range(3))


def to_pinocchio(plan, tree):
    """Pinocchio's model, and functions that take our q and give its q and the matrix from our to its velocities."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -GRAVITY])
    ids = []
    single = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}

    def composite(row):
        whole = pin.JointModelComposite()
        for kind, axis in factors(row):
            whole.addJoint(single[kind](axis))
        return whole

    for k, row in enumerate(plan.rows):
        joint = {
            "free": pin.JointModelFreeFlyer,
            "spherical": pin.JointModelSpherical,
            "planar": pin.JointModelPlanar,
            "revolute": lambda row=row: single["revolute"](row["axis"]),
            "prismatic": lambda row=row: single["prismatic"](row["axis"]),
            "helical": lambda row=row: pin.JointModelHelicalUnaligned(row["axis"], row["pitch"]),
        }.get(row["kind"], lambda row=row: composite(row))()
        parent = 0 if row["parent"] < 0 else ids[row["parent"]]
        ids.append(model.addJoint(parent, joint, pin.SE3(row["R"], row["p"]), f"j{k}"))
        model.appendBodyToJoint(
            ids[-1], pin.Inertia(row["mass"], row["com"], row["inertia"]), pin.SE3.Identity()
        )
        model.addFrame(
            pin.Frame(f"f{k}", ids[-1], pin.SE3(np.eye(3), row["com"] + 0.1), pin.FrameType.OP_FRAME)
        )

    def translate(q):
        theirs, P = np.zeros(model.nq), np.zeros((model.nv, model.nv))
        for node in tree.nodes:
            c = node.connection
            joint = model.joints[model.getJointId(c.name)]
            mine, where = q[tree.q_of[c.name]], tree.v_of[c.name]
            order = range(c.joint.nv)
            if c.joint.kind == "free":
                order = (3, 4, 5, 0, 1, 2)
            elif c.joint.kind == "planar":
                mine = np.array([mine[0], mine[1], np.cos(mine[2]), np.sin(mine[2])])
            theirs[joint.idx_q : joint.idx_q + joint.nq] = mine
            for row, column in enumerate(order):
                P[joint.idx_v + row, where.start + column] = 1
        return theirs, P

    return model, translate


def to_mujoco(plan, tree):
    """MuJoCo's model of the same tree, and the translation of states. Free joints move in world axes there."""
    import mujoco

    children = {}
    for k, row in enumerate(plan.rows):
        children.setdefault(row["parent"], []).append(k)

    def numbers(values):
        return " ".join(repr(float(v)) for v in values)

    def quaternion(R):
        out = np.zeros(4)
        mujoco.mju_mat2Quat(out, np.ascontiguousarray(R).reshape(-1))
        return out

    def body(k):
        row = plan.rows[k]
        kinds = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}
        parts = factors(row) or [(row["kind"], row["axis"])]
        own = "".join(
            f'<joint name="j{k}{f".{n}" if n else ""}" type="{kinds[kind]}"'
            + (f' axis="{numbers(axis)}"/>' if kind in ("revolute", "prismatic") else "/>")
            for n, (kind, axis) in enumerate(parts)
        )
        I = row["inertia"]  # noqa: E741
        full = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        place = (
            ""
            if row["kind"] == "free"
            else f' pos="{numbers(row["p"])}" quat="{numbers(quaternion(row["R"]))}"'
        )
        inner = "".join(body(c) for c in children.get(k, []))
        return (
            f'<body name="b{k}"{place}>{own}'
            f'<inertial pos="{numbers(row["com"])}" mass="{row["mass"]!r}" fullinertia="{full}"/>{inner}</body>'
        )

    text = f'<mujoco><compiler balanceinertia="false"/><option gravity="0 0 -{GRAVITY}"/><worldbody>{"".join(body(k) for k in children[-1])}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)

    return model, lambda q: translate(tree, model, q)
