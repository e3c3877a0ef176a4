"""URDF in and out, against Pinocchio's own reading of the same text."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.errors import ModelError, StorageError, UnknownNameError
from strut.mechanism import Tree, joints, observe, system, urdf
from strut.walkers.coman import coman_mechanism

ROBOT = """<?xml version="1.0"?>
<robot name="two-arm">
  <link name="base"><inertial><origin xyz="0.1 0 0.05" rpy="0.3 -0.2 0.5"/><mass value="3"/><inertia ixx="0.05" ixy="0.001" ixz="0" iyy="0.04" iyz="0.002" izz="0.03"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 -0.15"/><mass value="0.8"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial></link>
  <link name="slider"><inertial><mass value="0.3"/><inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0.2 0.1" rpy="0.1 0.2 0.3"/><axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="9" velocity="9"/><dynamics damping="0.5"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/></joint>
  <joint name="rail" type="prismatic"><parent link="lower"/><child link="slider"/><origin xyz="0 0 -0.1" rpy="0 0.4 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <joint name="mount" type="fixed"><parent link="slider"/><child link="tool"/><origin xyz="0 0 -0.05"/></joint>
</robot>"""


def translate(tree, model, q):
    """Our q as Pinocchio's, and the matrix from our velocities to its: continuous joints are points on a circle there."""
    theirs, P = np.zeros(model.nq), np.zeros((model.nv, model.nv))
    for node in tree.nodes:
        name = node.connection.name
        if not node.columns:
            continue
        if name == "base":
            theirs[:7], P[:6, :6] = q[:7], np.roll(np.eye(6), 3, axis=1)
            continue
        joint = model.joints[model.getJointId(name)]
        angle = q[tree.q_of[name].start]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = (
            [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        )
        P[joint.idx_v, tree.v_of[name].start] = 1
    return theirs, P


def assert_same(tree, model, pin, seed):
    data = model.createData()
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1, 1, tree.nq), rng.standard_normal(tree.nv)
    if tree.nq != tree.nv:
        q[3:7] /= np.linalg.norm(q[3:7])
    theirs, P = translate(tree, model, q)
    bias, com = ca.Function("f", [tree.q, tree.v, tree.mechanism.gravity], [tree.bias, observe.com(tree)])(
        q, v, 9.81
    )
    expected = P.T @ pin.rnea(model, data, theirs, P @ v, np.zeros(model.nv))
    np.testing.assert_allclose(np.array(bias).reshape(-1), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.array(com).reshape(-1), pin.centerOfMass(model, data, theirs), atol=1e-12)


def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    tree = Tree(urdf.parse(ROBOT))
    model = pin.buildModelFromXML(ROBOT, pin.JointModelFreeFlyer())
    assert model.nv == tree.nv == 9
    assert_same(tree, model, pin, 0)


def test_what_we_write_others_read():
    """COMAN to URDF and into Pinocchio: same mass, centre of mass and bias forces."""
    pin = pytest.importorskip("pinocchio")
    m = coman_mechanism()
    tree = Tree(m)
    model = pin.buildModelFromXML(urdf.dump(m))
    assert model.nv == 29
    assert_same(tree, model, pin, 1)


def test_reading_what_we_wrote_gives_the_same_machine():
    first = urdf.parse(ROBOT, base="fixed")
    again = urdf.parse(urdf.dump(first))
    runs = [strut.simulate(system(m), t=1.0) for m in (first, again)]
    np.testing.assert_allclose(runs[0].raw.x_end[:6], runs[1].raw.x_end[:6], atol=1e-10)


def test_masses_can_stay_symbols():
    machine = system(urdf.parse(ROBOT, base="fixed", symbolic_masses=True))
    assert {"base_mass", "upper_mass", "lower_mass", "slider_mass"} <= set(machine.labels("p"))
    light, heavy = (
        strut.simulate(machine, t=0.5, p={"lower_mass": mass})["elbow"][-1] for mass in (0.1, 5.0)
    )
    assert light != pytest.approx(heavy)


def test_mimic_limits_and_damping():
    text = ROBOT.replace(
        '<axis xyz="0 1 0"/></joint>',
        '<axis xyz="0 1 0"/><mimic joint="shoulder" multiplier="-2" offset="0.1"/></joint>',
    )
    m = urdf.parse(text, base="fixed", stops=True)
    assert Tree(m).nv == 2
    assert m.connections["shoulder"].stop.high == 1.0
    assert float(ca.DM(m.connections["shoulder"].damping)) == 0.5
    assert m.connections["elbow"].joint.gear[0] == "shoulder"


def test_a_sidecar_closes_loops(tmp_path):
    rods = "".join(
        f'<link name="rod{k}"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.0835417" ixy="0" ixz="0" iyy="0.0835417" iyz="0" izz="0.0004"/></inertial></link>'
        for k in (1, 2, 3)
    )
    hinges = "".join(
        f'<joint name="q{k}" type="continuous"><parent link="{p}"/><child link="rod{k}"/><origin xyz="0 0 {z}"/><axis xyz="0 1 0"/></joint>'
        for k, p, z in ((1, "ground", 0), (2, "rod1", -1), (3, "rod2", -1))
    )
    (tmp_path / "bar.urdf").write_text(f'<robot name="bar"><link name="ground"/>{rods}{hinges}</robot>')
    (tmp_path / "bar.toml").write_text(
        '[close]\nkind = "hinge"\na = "rod3"\na_at = [0, 0, -1]\nb = "world"\nb_at = [-1, 0, 0]\naxis = [0, 1, 0]\n'
    )
    m = urdf.load(tmp_path / "bar.urdf", base="fixed", loops=tmp_path / "bar.toml")
    for name, value in (("q1", -0.2 * np.pi), ("q2", 0.7 * np.pi), ("q3", 0.3 * np.pi)):
        c = m.connections[name]
        m.connections[name] = type(c)(**{**vars(c), "initial": (value,)})
    plain = system(m, project=0.05)
    run = strut.simulate(plain.replace(events=[strut.Event("turn", plain["q1_rate"])]), t=10.0)
    np.testing.assert_allclose(np.diff(run.events.t), 1.877749, atol=1e-5)


CHAIN = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
JOINT = '<joint name="j" type="{}"><parent link="a"/><child link="{}"/><axis xyz="{}"/></joint>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot", "is not XML"),
        ("<sdf/>", "a URDF begins with <robot>"),
        (
            CHAIN.format(JOINT.format("revolute", "c", "0 1 0")),
            "joint 'j' names link 'c', which does not exist",
        ),
        (CHAIN.format(JOINT.format("revolute", "b", "0 1 1")), "joint 'j' has the axis .* of length 1.41421"),
        (CHAIN.format(JOINT.format("ball", "b", "0 1 0")), "joint 'j' has type 'ball'"),
        (CHAIN.format(JOINT.format("revolute", "b", "0 one 0")), "the axis of joint 'j' is '0 one 0'"),
        (CHAIN.format(""), "has 2 roots: links a, b have no parent"),
        (
            CHAIN.format(
                JOINT.format("revolute", "b", "0 1 0")
                + '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'
            ),
            "form a cycle",
        ),
        (
            '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link></robot>',
            "link 'a' has an <inertial> without <inertia>",
        ),
        (
            '<robot name="r"><link name="a"><inertial><mass value="-1"/><inertia/></inertial></link></robot>',
            "body 'a' has mass -1 kg",
        ),
        (
            '<robot name="r"><link name="a"><inertial><mass value="heavy"/><inertia/></inertial></link></robot>',
            "the mass of link 'a' is 'heavy'",
        ),
        (
            CHAIN.format('<joint name="j" type="revolute"><child link="b"/></joint>'),
            "joint 'j' has no <parent",
        ),
        (
            '<robot name="r"><link name="a"><inertial><origin xyz="0 0"/><mass value="1"/><inertia/></inertial></link></robot>',
            "URDF: the xyz of the origin of the inertial of link 'a' is '0 0'",
        ),
        (
            CHAIN.format(
                '<joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin rpy="up"/></joint>'
            ),
            "URDF: the rpy of the origin of joint 'j' is 'up'",
        ),
        ('<robot name="r"/>', "URDF has no <link>: a URDF has at least one"),
        ('<robot name="r"><link/></robot>', "<link> number 1 has no name"),
        ('<robot name="r"><link name="a"/><link name="a"/></robot>', "has two links 'a'"),
        (
            '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
            '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><mimic joint="k"/></joint>'
            '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j"/></joint></robot>',
            "mimic one another in a circle",
        ),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(ModelError, match=message):
        urdf.parse(text)


def test_every_mistake_names_the_file(tmp_path):
    text = CHAIN.format(JOINT.format("revolute", "b", "0 one 0"))
    (tmp_path / "legs.urdf").write_text(text)
    with pytest.raises(ModelError, match="legs.urdf: the axis of joint 'j' is '0 one 0'"):
        urdf.load(tmp_path / "legs.urdf")


HAND = """

<?xml version="1.0"?>
<robot name="hand"><link name="palm"><inertial><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="-3.5e-8" iyz="0" izz="1e-3"/></inertial>
    <visual><geometry><box size="1 1 1"/><sphere radius="1"/></geometry></visual>
    <visual><geometry><mesh filename="m.stl" scale="1 1 1 1"/></geometry></visual><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <link name="a"><inertial><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="c"><inertial><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="d"/>
  <joint name="one" type="continuous"><parent link="palm"/><child link="a"/><axis xyz="0 1 0"/><origin xyz="0 0.1 0.2"/></joint>
  <joint name="two" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/><origin xyz="0 0 0.2"/><mimic joint="one" multiplier="2" offset="0.1"/></joint>
  <joint name="three" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/><origin xyz="0 0 0.2"/><mimic joint="{}" multiplier="-3" offset="0.2"/></joint>
  <joint name="tip" type="fixed"><parent link="c"/><child link="d"/><mimic joint="one"/></joint>
</robot>"""  # fmt: skip


def test_what_is_careless_is_read_with_a_warning():
    """A moment of inertia that rounding made negative, shapes that are none, <mimic> on a fixed joint, a declaration that is late."""
    pin = pytest.importorskip("pinocchio")
    with pytest.warns(UserWarning, match="hand.urdf") as caught:
        tree = Tree(urdf.parse(HAND.format("wrist"), where="hand.urdf"))
    told = [str(w.message) for w in caught]
    assert len(told) == 5
    assert all(text.startswith("hand.urdf: ") for text in told)
    for part in (
        "body 'palm' has a negative principal moment of inertia, -3.5e-08 kg m^2",
        "a visual of link 'palm' has 2 shapes",
        "a visual of link 'palm': scale is '1 1 1 1'",
        "joint 'three' (continuous) mimics 'wrist', which does not exist: it moves freely",
        "joint 'tip' (fixed) mimics 'one': it has no coordinate that could follow, so <mimic> is left out",
    ):
        assert sum(part in text for text in told) == 1, part
    assert len(tree.mechanism.shapes["palm"]) == 1
    free = HAND.format("wrist").replace('<mimic joint="one" multiplier="2" offset="0.1"/>', "").strip()
    with pytest.warns(UserWarning, match="negative principal moment"):
        tree = Tree(urdf.parse(free))
    assert_same(tree, pin.buildModelFromXML(free, pin.JointModelFreeFlyer()), pin, 3)


def test_a_joint_that_mimics_a_mimic_follows_its_leader():
    with pytest.warns(UserWarning, match="negative principal moment"):
        m = urdf.parse(HAND.format("two"))
    assert m.connections["three"].joint.gear == ("one", -6.0, pytest.approx(-3 * 0.1 + 0.2))
    assert Tree(m).nv == 7


def test_a_link_without_inertia_that_can_move_is_named():
    with pytest.raises(ModelError, match="body 'b' has no mass and carries none, but joint 'j' can move it"):
        system(urdf.parse(CHAIN.format(JOINT.format("revolute", "b", "0 1 0")), base="fixed"))


def test_files_and_loops_that_are_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        urdf.load(tmp_path / "none.urdf")
    (tmp_path / "r.urdf").write_text(ROBOT)
    with pytest.raises(StorageError, match="cannot read the loops"):
        urdf.load(tmp_path / "r.urdf", loops=tmp_path / "none.toml")
    with pytest.raises(ModelError, match="loop 'close' closes on b = 'nowhere', which is no link"):
        urdf.parse(ROBOT, loops={"close": {"kind": "point", "a": "tool", "b": "nowhere"}})


def test_joints_that_urdf_cannot_say():
    from strut.mechanism import Mechanism

    m = Mechanism("screw")
    m.joint("s", m.world, m.body("b", 1.0, inertia=1.0), joints.helical("x", 0.1))
    with pytest.raises(ModelError, match="joint 's' is helical, which URDF cannot say"):
        urdf.dump(m)


def test_lengths_and_inertias_can_stay_symbols():
    """The same bias forces as with numbers, and the forces of another robot when the symbols are changed."""
    plain = Tree(urdf.parse(ROBOT, base="fixed"))
    m = urdf.parse(ROBOT, base="fixed", symbolic_masses=True, symbolic_lengths=True, symbolic_inertias=True)
    tree = Tree(m)
    params = {p.name: p for p in m.params.values()}
    assert {
        "shoulder_at_y",
        "shoulder_at_z",
        "elbow_at_z",
        "upper_com_z",
        "base_com_x",
        "lower_inertia_yy",
        "base_inertia_xy",
    } <= set(params)
    assert "elbow_at_x" not in params  # zeros stay zeros
    symbols = ca.vertcat(*[p.sym for p in params.values()])
    f = ca.Function("f", [tree.q, tree.v, symbols], [tree.bias])
    g = ca.Function("g", [plain.q, plain.v, plain.mechanism.gravity], [plain.bias])
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-1, 1, tree.nq), rng.standard_normal(tree.nv)
    own = {name: float(p.value[0]) for name, p in params.items()}
    np.testing.assert_allclose(np.array(f(q, v, list(own.values()))), np.array(g(q, v, 9.81)), atol=1e-12)
    longer = Tree(urdf.parse(ROBOT.replace('xyz="0 0 -0.4"', 'xyz="0 0 -0.7"'), base="fixed"))
    h = ca.Function("h", [longer.q, longer.v, longer.mechanism.gravity], [longer.bias])
    changed = own | {"elbow_at_z": -0.7}
    np.testing.assert_allclose(np.array(f(q, v, list(changed.values()))), np.array(h(q, v, 9.81)), atol=1e-12)


def test_joints_may_be_without_motors():
    driven, passive = urdf.parse(ROBOT, base="fixed"), urdf.parse(ROBOT, base="fixed", actuated=("elbow",))
    assert {name for name, c in driven.connections.items() if c.actuated and c.joint.nv} > {"elbow"}
    assert [
        name for name, c in passive.connections.items() if c.actuated and c.joint.nv and name != "base"
    ] == ["elbow"]
    with pytest.raises(UnknownNameError, match="no joint 'elbw' to be actuated: did you mean 'elbow'"):
        urdf.parse(ROBOT, base="fixed", actuated=("elbw",))


def test_a_loop_that_is_no_table_is_refused():
    text = '<robot name="r"><link name="a"/></robot>'
    with pytest.raises(ModelError, match="loop 'shut' is 1: give a table with a and b, the links"):
        urdf.parse(text, loops={"shut": 1})
