"""Rigid bodies written in the language: against runs of the original, against mechanisms, and against what must hold."""

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, contact, joints, network
from strut.mechanism.spatial import Pose
from strut.mechanism.tree import Tree
from strut.system.quantity import sx, time
from tests.network.reading import begin

DATA = Path(__file__).parent / "data"
EXAMPLES = Path(__file__).parents[2] / "examples" / "network"
SAME = 1e-9  # same integrator, same step: what remains is the order of additions


def recorded(name):
    """Columns of a run of the original, those of one matrix together, column by column."""
    with (DATA / f"{name}.csv").open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    found = {}
    for k, name_ in enumerate(names):
        found.setdefault(name_.split("[")[0], []).append(table[:, k])
    return {name_: np.array(columns) for name_, columns in found.items()}


def values(state, name):
    if name in state:
        return np.atleast_2d(state[name])
    return np.array([state[key] for key in state if key.startswith(f"{name}[")])


def assert_follows(net, reference):
    """Does a run go as that of the original?"""
    wanted = recorded(reference)
    at = wanted.pop("t")[0]
    system = net.system(outputs=set(wanted))
    run = strut.simulate(system, t=float(at[-1]), **net.options())
    found = {name: np.array([run.at(at)[key] for key in names_of(system, name)]) for name in wanted}
    for name in wanted:
        assert np.allclose(found[name], wanted[name], rtol=SAME, atol=SAME), name


def names_of(system, name):
    sizes = {q.name: q.size for q in (*system.x, *system.z)} | {
        n: e.numel() for n, e in system.outputs.items()
    }
    return [name] if sizes[name] == 1 else [f"{name}[{k}]" for k in range(sizes[name])]


def example(name):
    return network.load(EXAMPLES / f"{name}.cdn")


JOINT = """
integrator {{ method = "runge-kutta" }}
include "physics/physics.cdn"
node "system" : physics.system {{
    node "a" : physics.joints.{kind} {{
        m = 1.2  com = "[0.1; 0.2; -0.3]"  I = "diag([0.05, 0.06, 0.04])"  q = "{q}"  dq = "{dq}"
    }}
    node "b" : physics.joints.revoluteX {{
        m = 0.7  tr = "[0.1; -0.1; -0.4]"  com = "[0.05; 0; -0.2]"  I = "Inertia.Cylinder(m, 0.05, 0.4)"  q = -0.6  dq = 1.5
    }}
    edge from "a" to "b" : physics.joint {{}}
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}}
"""


@pytest.mark.parametrize(
    "kind", ["revoluteX", "revoluteY", "revoluteZ", "prismaticX", "prismaticY", "prismaticZ", "prismaticXZ"]
)
def test_joints_move_as_in_the_original(kind):
    q, dq = ("[0.1; 0.2]", "[0.5; -0.2]") if kind == "prismaticXZ" else (0.3, 0.5)
    assert_follows(network.loads(JOINT.format(kind=kind, q=q, dq=dq)), f"joint_{kind}")


TREE = """
integrator { method = "runge-kutta" }
include "physics/physics.cdn"
node "system" : physics.system {
    node "a" : physics.joints.prismaticX { m = 2  com = "[0; 0; 0.1]"  q = 0.1  dq = 0.5  τ = "-4 * q - 0.3 * dq" }
    node "b" : physics.joints.revoluteX {
        tr = "[0; 0; -0.5]"  com = "[0; 0.1; -0.3]"  m = 1.5  I = "Inertia.Cylinder(m, 0.05, 0.6)"  q = 0.4
    }
    node "c" : physics.joints.helicalY { tr = "[0.2; 0; 0]"  com = "[0; 0.05; -0.2]"  q = -0.3  node "joint" { h = 0.2 } }
    node "d" : physics.joints.revoluteZ {
        tr = "[0; 0; -0.6]"  com = "[0.25; 0; 0]"  I = "Inertia.Box(m, 0.5, 0.05, 0.05)"  dq = 2  τ = "-0.1 * dq"
    }
    node "s" : physics.joints.spherical { tr = "[0; 0.1; -0.4]"  com = "[0; 0; -0.2]"  m = 0.8  dq = "[0.3; -0.2; 1.1]" }
    edge from "a" to "{b,c}" : physics.joint {}
    edge from "b" to "d" : physics.joint {}
    edge from "c" to "s" : physics.joint {}
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""


def test_a_tree_moves_as_in_the_original():
    net = network.loads(TREE)
    assert_follows(net, "tree")
    now = begin(net, outputs=recorded("tree_begin"))
    for name, columns in recorded("tree_begin").items():
        if name != "t":
            assert np.allclose(now[name], columns[:, 0], rtol=1e-12, atol=1e-12), name


def test_jacobians_are_those_of_the_original_and_of_the_centre_of_mass():
    net = example("19_jacobians")
    assert_follows(net, "2_19_jacobians")
    now = begin(net)
    for name, columns in recorded("2_19_begin").items():
        if name != "t":
            assert np.allclose(now[name], columns[:, 0], rtol=1e-12, atol=1e-11), name
    # what the original calls Jcom does not give the velocity of the centre of mass; ours in the model does
    moved, dq, short = now["system.model.com"], now["system.model.dq"], 1e-6
    later = begin(net, **{f"system.p{k}.q": 0.1 * k + 0.2 * k * short for k in range(1, 5)})[
        "system.model.com"
    ]
    velocity = (now["system.model.Jcom"].reshape(4, 6).T @ dq)[3:]
    assert np.allclose(velocity, (later - moved) / short, atol=1e-5)
    assert net.find("system . p4 | children | jacJ")


def mechanism_of_all_joints():
    """The bodies of the example with all joints, as a mechanism, and where each begins: q and v in its terms."""
    made = Mechanism("all", g=9.81)
    box = [(0.2**2 + 0.3**2) / 12, (0.1**2 + 0.3**2) / 12, (0.1**2 + 0.2**2) / 12]
    base = made.body("float", mass=5, inertia=5 * 0.4 * 0.1**2)
    made.joint("float", made.world, base, joints.free())
    start = {"float": ((0, 0, 0, 0, 0, 0, 1), (0.1, 0.2, -0.3, 0.4, 0.5, -0.6))}

    def add(name, joint, q, v):
        body = made.body(name, mass=1, com=(0.05, -0.1, -0.15), inertia=box)
        made.joint(name, base, body, joint, at=(0.1, 0, -0.2))
        start[name] = (q, v)

    for k, (kind, axis) in enumerate(
        (kind, axis) for kind in ("revolute", "prismatic", "helical") for axis in "xyz"
    ):
        make = {
            "revolute": joints.revolute,
            "prismatic": joints.prismatic,
            "helical": lambda a: joints.helical(a, 0.2),
        }[kind]
        add(f"{kind}{axis.upper()}", make(axis), [0.1 * (k + 1)], [0.7])
    for axis, (i, j) in {"x": (1, 2), "y": (0, 2), "z": (0, 1)}.items():
        turn = np.eye(3)
        a, b = [(1, 2), (2, 0), (0, 1)]["xyz".index(axis)]
        turn[np.ix_([a, b], [a, b])] = [[np.cos(0.2), -np.sin(0.2)], [np.sin(0.2), np.cos(0.2)]]
        local = np.zeros(3)
        local[[i, j]] = -0.3, 0.4
        place = turn @ local
        add(f"planar{axis.upper()}", joints.planar(axis), [place[i], place[j], 0.2], [-0.4, 0.3, 0.5])
    add("cubical", joints.custom(lambda q: Pose.at(q), ("x", "y", "z")), [0.2, -0.3, 0.4], [0.5, -0.4, 0.3])
    add(
        "prismaticXZ",
        joints.custom(lambda q: Pose.at(ca.vertcat(q[0], 0, q[1])), ("x", "z")),
        [0.2, -0.3],
        [0.5, 0.4],
    )
    add("sphericalEuler", joints.spherical_euler("zyx"), [0.2, -0.3, 0.4], [0.5, -0.4, 0.3])
    add("spherical", joints.spherical(), [0, 0, 0, 1], [0.5, -0.4, 0.3])
    add("cylindrical", joints.cylindrical("z"), [0.2, -0.3], [0.5, 0.4])
    add("revolute", joints.revolute((0.6, 0, 0.8)), [-0.5], [1.0])
    return made, start


def test_every_joint_accelerates_as_in_a_mechanism():
    made, start = mechanism_of_all_joints()
    now = begin(example("17_joints"), outputs=[f"system.{name}.ddq" for name in start])
    tree = Tree(made)
    q, v = np.zeros(tree.nq), np.zeros(tree.nv)
    for name, (at, rate) in start.items():
        q[tree.q_of[name]], v[tree.v_of[name]] = at, rate
    forward = np.array(
        ca.Function("forward", [tree.q, tree.v], [tree.forward(ca.SX.zeros(tree.nv))])(q, v)
    ).ravel()
    order = {name: [2, 0, 1] for name in start if name.startswith("planar")}  # theirs: first the angle
    assert len(start) == 19
    for name in start:
        found = np.atleast_1d(now[f"system.{name}.ddq"])
        wanted = forward[tree.v_of[name]][order.get(name, slice(None))]
        assert np.allclose(found, wanted, rtol=1e-10, atol=1e-10), name


def test_what_is_fixed_is_a_part_of_what_carries_it():
    """A rod with 2 kg at its end, a rod on that, and one halfway: the mass matrix by hand."""
    text = """
    require "physics/physics.cdn"
    node "system" : physics.system {
        node "a" : physics.joints.revoluteY { com = "[0; 0; -0.5]"  q = 0.3 }
        node "f" : physics.joints.fixed { tr = "[0; 0; -1]"  m = 2  I = "zeros(3, 3)" }
        node "b" : physics.joints.revoluteY { com = "[0; 0; -0.5]"  tr = "[0; 0; -0.5]" }
        node "c" : physics.joints.revoluteY { com = "[0; 0; -0.5]" }
        edge from "a" to "{f,b}" : physics.joint {}
        edge from "f" to "c" : physics.joint {}
        include "physics/model.cdn"
        include "physics/dynamics.cdn"
    }"""
    now = begin(network.loads(text))
    assert now["system.dynamics.pλ"] == pytest.approx([-1, 0, 0])
    own = 0.25 + 0.004
    a, b, c = own + 2 + (1 + 0.004) + (1.5**2 + 0.004), 0.5 * 1 + 0.004, 0.5 * 1.5 + 0.004
    wanted = {("a", "a"): a, ("a", "b"): b, ("a", "c"): c, ("b", "b"): own, ("b", "c"): 0, ("c", "c"): own}
    order = {"a": 0, "c": 1, "b": 2}  # depth first, through what is fixed
    found = now["system.dynamics.H"].reshape(3, 3)
    for (i, j), value in wanted.items():
        assert found[order[i], order[j]] == found[order[j], order[i]] == pytest.approx(value), (i, j)


def rate_of(net, *names):
    """How the sum of some outputs changes when a run begins."""
    system = net.system(outputs=names)
    known = [(q.sym, ca.DM(np.asarray(q.value, dtype=float).reshape(-1))) for q in system.p]
    first = ca.vertcat(*[sx(q.value) for q in system.x])
    x = ca.vertcat(*[q.sym for q in system.x])
    flow = ca.vertcat(*[system.flow[q.name] for q in system.x])
    total = sum((system.outputs[name] for name in names), ca.SX(0))
    f = ca.Function("rate", [time, x, *(s for s, _ in known)], [ca.jtimes(total, x, flow)])
    given = [value for _, value in known]
    start = ca.Function("start", [s for s, _ in known], [first])(*given)
    return float(f(0, start, *given))


@pytest.mark.parametrize("name", ["16_own_joint", "17_joints"])
def test_energy_stays(name):
    assert rate_of(example(name), "system.model.T", "system.model.U") == pytest.approx(0, abs=1e-11)


def test_pendulums_as_in_the_literature():
    net = example("18_pendulums")
    system = net.system(outputs=("system.model.T", "system.model.U"))
    run = strut.simulate(system, t=2, **net.options())
    assert [run.at(2)[f"system.p{k}.q"] for k in range(1, 6)] == pytest.approx(
        [-0.267400, -0.200431, -0.078413, -0.044237, -0.014306], abs=1e-6
    )
    free = strut.simulate(system, t=2, p={f"system.p{k}.D": 0 for k in range(1, 6)}, **net.options())
    assert [free.at(2)[f"system.p{k}.q"] for k in range(1, 6)] == pytest.approx(
        [-0.523546, -0.082223, -0.021027, -0.181762, 0.065741], abs=1e-6
    )
    assert free.at(2)["system.model.T"] + free.at(2)["system.model.U"] == pytest.approx(-99.205709, abs=1e-6)


CHAIN = """
include "physics/physics.cdn"
node "system" : physics.system {
    node "p{1:2}" : physics.joints.revoluteY { com = "[0; 0; -0.5]"  tr = "[0; 0; -1]"  q = "0.3 * @@1"  dq = 0.7  ddq = "@@1" }
    node "s" : physics.joints.spherical { com = "[0.1; 0; -0.5]"  tr = "[0; 0; -1]"  dq = "[1; 2; 3]"  ddq = "[0.5; 0.6; 0.7]" }
    edge from "p1" to "p2" : physics.joint {}
    edge from "p2" to "s" : physics.joint {}
    include "physics/model.cdn"
    include "physics/KIND.cdn"
}
"""


def test_inverse_dynamics_and_gravity_compensation():
    bodies = ("p1", "p2", "s")
    forward = begin(network.loads(CHAIN.replace("KIND", "dynamics")))
    mass, bias = forward["system.dynamics.H"].reshape(5, 5), forward["system.dynamics.C"]
    net = network.loads(CHAIN.replace("KIND", "inverse_dynamics"))
    assert {q.name for q in net.system().u} == {f"system.{b}.{n}" for b in bodies for n in ("q", "dq", "ddq")}
    needed = begin(net)
    torques = np.hstack([needed[f"system.{b}.τ"] for b in bodies])
    assert np.allclose(torques, mass @ [1, 2, 0.5, 0.6, 0.7] + bias, atol=1e-12)
    still = CHAIN.replace("dq = 0.7", "").replace('dq = "[1; 2; 3]"', "")
    weight = begin(network.loads(still.replace("KIND", "dynamics")))["system.dynamics.C"]
    carried = begin(network.loads(CHAIN.replace("KIND", "gravity_compensation")))
    assert np.allclose(np.hstack([carried[f"system.{b}.τ"] for b in bodies]), weight, atol=1e-12)


def test_a_loop_on_the_world_swings_as_a_parallelogram():
    """One degree of freedom: 1.667083 θ'' = -2 g sin θ, whose period from 0.2 π is an elliptic integral."""
    net = example("20_closed_loop")
    run = strut.simulate(net.system(outputs=("system.pcl.stabilization.error",)), t=2, **net.options())
    t = np.linspace(1.8, 2, 2001)
    speed = run.at(t)["system.p1.dq"]
    k = int(np.argmax((speed[:-1] < 0) & (speed[1:] >= 0)))
    turning = t[k] - speed[k] * (t[k + 1] - t[k]) / (speed[k + 1] - speed[k])
    assert turning == pytest.approx(1.877749, abs=2e-6)
    assert np.max(np.abs(run.at(t)["system.p1.q"] + run.at(t)["system.p2.q"] - np.pi / 2)) < 1e-9
    assert np.max(np.abs([run.at(t)[f"system.pcl.stabilization.error[{i}]"] for i in range(5)])) < 1e-9


def test_the_pantograph_has_two_degrees_of_freedom():
    net = example("21_pantograph")
    system = net.system(outputs=("panto.parcl.stabilization.error",))
    run = strut.simulate(system, t=1, **net.options())
    at = run.at([0.05, 0.1, 0.25, 0.5, 1])
    assert at["panto.hip.q"] == pytest.approx([0.20555, 0.45820, 0.95506, 0.38596, 0.47096], abs=1e-5)
    assert at["panto.knee.q"] == pytest.approx([-0.94298, -1.05459, -1.12988, -1.08841, -1.06173], abs=1e-5)
    assert np.allclose(at["panto.ankle.q"], -at["panto.knee.q"], atol=1e-7)


LOOPS = """
include "physics/physics.cdn"
include "physics/cjoints.cdn"
node "system" : physics.system {
    node "a" : physics.joints.float {
        q = "[cos(0.2); sin(0.2); 0; 0; 0.1; 0.2; -0.3]"  com = "[0.1; 0.2; 0]"  dq = "[0.3; -0.4; 0.5; 0.1; 0.2; -0.3]"
        node "at" : physics.jacobian { location = "[0.2; 0.1; -0.3]" }
    }
    node "c" : physics.cjoints.KIND { tr = "[0.2; 0.1; -0.3]" }
    edge from "a" to "c" : physics.cjoint {}
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("revoluteX", (1, 2, 3, 4, 5)),
        ("revoluteZ", (0, 1, 3, 4, 5)),
        ("prismaticY", (0, 1, 2, 3, 5)),
        ("planarY", (3, 5)),
        ("cubical", (0, 1, 2)),
        ("spherical", (3, 4, 5)),
    ],
)
def test_closing_joints_hold_what_they_say(kind, held):
    """At rest relative to the world, a body accelerates only along what the joint leaves free; a force holds the rest."""
    text = LOOPS.replace("KIND", kind).replace('dq = "[0.3; -0.4; 0.5; 0.1; 0.2; -0.3]"', "")
    now = begin(network.loads(text))
    jacobian = now["system.a.at.J"].reshape(6, 6).T
    turned = now["system.a.baseToLocalTransform"].reshape(6, 6).T[:3, :3]
    moved = jacobian @ now["system.dynamics.ddq"]
    local = np.hstack([turned @ moved[:3], turned @ moved[3:]])
    free = [k for k in range(6) if k not in held]
    assert np.allclose(local[list(held)], 0, atol=1e-9)
    assert np.max(np.abs(local[free])) > 1e-3
    assert np.allclose(now["system.c.force"][free], 0)


def test_an_actuated_closing_joint_drives_what_it_leaves_free():
    """A pendulum, driven at its joint, or at a joint that closes on the world at the same place."""
    text = """
    include "physics/physics.cdn"  include "physics/cjoints.cdn"
    node "system" : physics.system {
        node "a" : physics.joints.revoluteY { com = "[0; 0; -0.5]"  q = 0.3  DRIVE }
        node "c" : physics.cjoints.revoluteY { LOOP }
        edge from "a" to "c" : physics.cjoint {}
        include "physics/model.cdn"
        include "physics/dynamics.cdn"
    }"""
    plain = begin(network.loads(text.replace("DRIVE", "τ = 2").replace("LOOP", "")))["system.a.ddq"]
    through = begin(network.loads(text.replace("DRIVE", "").replace("LOOP", "τ = -2")))["system.a.ddq"]
    assert plain == pytest.approx(through, abs=1e-12)
    assert plain == pytest.approx((2 - 9.81 * 0.5 * np.sin(0.3)) / (0.25 + 0.004), abs=1e-12)


def test_a_box_lands_on_one_edge_and_then_on_two():
    net = example("22_landing")
    names = (
        "system.model.T",
        "system.box.c1.p",
        "system.box.c2.dp",
        "system.box.c1.normalForce",
        "system.box.c2.normalForce",
    )
    run = strut.simulate(net.system(outputs=names), t=0.5, **net.options())
    first, second = (float(run.events.times(f"system.box.{c}.inactive_to_active")[0]) for c in ("c2", "c1"))
    # like the same box on rigid ground
    same = Mechanism("box", planar=True)
    body = same.body("box", mass=1.5, inertia=1.5 / 12 * 0.02)
    turn = np.array([[np.cos(0.1 * np.pi), np.sin(0.1 * np.pi)], [-np.sin(0.1 * np.pi), np.cos(0.1 * np.pi)]])
    x, z = turn @ [0, 0.1]
    same.joint("base", same.world, body, joints.planar(), initial=(x, z, 0.1 * np.pi), actuated=False)
    corners = contact.polygon(same, "box", [(-0.05, 0, -0.05), (0.05, 0, -0.05)], name="corner")
    other = strut.simulate(
        contact.rigid(same, corners, contact.plane()), t=0.13, rtol=1e-10, atol=1e-10, backend="virtual"
    )
    assert first == pytest.approx(float(other.events.t[0]), abs=1e-9)
    assert run.at(0.13)["system.box.q[0]"] == pytest.approx(float(other.at(0.13)["base.pitch"]), abs=1e-8)
    assert run.at(0.13)["system.box.dq[0]"] == pytest.approx(float(other.at(0.13)["base.wy"]), abs=1e-7)
    # what landed stands still, and in the end half of the weight rests on each
    assert np.allclose([run.at(first + 1e-6)[f"system.box.c2.dp[{k}]"] for k in range(3)], 0, atol=1e-7)
    assert run.at(second - 1e-6)["system.model.T"] > 0.01
    rest = run.at(0.5)
    assert rest["system.model.T"] < 1e-12
    assert [rest[f"system.box.{c}.normalForce"] for c in ("c1", "c2")] == pytest.approx(
        [1.5 * 9.81 / 2] * 2, rel=1e-6
    )


def test_a_humanoid_stands_a_little_above_the_ground():
    names = (
        "coman.model.totalMass",
        "coman.ankleRight.heel.p",
        "coman.ankleLeft.toe.p",
        "coman.dynamics.ddq",
    )
    now = begin(example("24_coman"), outputs=names)
    assert now["coman.model.totalMass"] == pytest.approx(27.33174, abs=1e-12)
    assert now["coman.ankleRight.heel.p"] == pytest.approx([-0.03, -0.0726, 0.005])
    assert now["coman.ankleLeft.toe.p"] == pytest.approx([0.0825, 0.0726, 0.005])
    assert now["coman.dynamics.ddq"] == pytest.approx([0, 0, -9.81, *[0] * 6], abs=1e-9)  # it falls as one


SOFT = """
require "physics/contacts.cdn"
node "system" : physics.system {
    node "ball" : physics.joints.cubical {
        q = "[0; 0; -0.01]"  dq = "[DX; 0; 0]"  m = 2
        node "c" : physics.contacts.soft { initial-state "active"  location = "[0, 0.1; 0, 0; 0, 0]"  contactPoint = "location" }
    }
    include "physics/model.cdn"
    include "physics/dynamics.cdn"
}
"""


def test_soft_contacts_push_and_rub():
    now = begin(network.loads(SOFT.replace("DX", "0")))
    normal = 1e6 * 2 * 0.01**3
    assert now["system.ball.c.force"] == pytest.approx([0, -0.1 * normal, 0, 0, 0, 2 * normal])
    assert now["system.ball.ddq"] == pytest.approx([0, 0, normal - 9.81])
    slow = begin(network.loads(SOFT.replace("DX", "0.1")))
    rubbing = 0.0001 * 2 * np.sqrt(2 * 1e7 * 2) * 0.1
    assert slow["system.ball.c.forceTangential"] == pytest.approx([-rubbing, 0] * 2)
    fast = begin(network.loads(SOFT.replace("DX", "5000")))
    assert fast["system.ball.c.forceTangential"] == pytest.approx([-0.6 * normal, 0] * 2)


def test_a_soft_contact_lands_lifts_and_lands_again():
    text = (
        SOFT.replace('initial-state "active"', "")
        .replace("-0.01", "0.02")
        .replace("[0, 0.1; 0, 0; 0, 0]", "[0; 0; 0]")
    )
    net = network.loads(text.replace("DX", "0.3"))
    run = strut.simulate(net.system(outputs=("system.ball.c.forceNormal",)), t=0.3, rtol=1e-8, atol=1e-9)
    landing = run.events.times("system.ball.c.inactive_to_active")
    assert landing[0] == pytest.approx(np.sqrt(2 * 0.02 / 9.81), abs=1e-9)
    after = run.at(landing[0] + 1e-9)
    assert [after[f"system.ball.dq[{k}]"] for k in range(3)] == pytest.approx([0, 0, 0], abs=1e-6)
    assert run["system.ball.c.forceNormal"].max() > 2 * 9.81
