"""MJCF against MuJoCo's own reading of the same text: masses, bias forces and places at random configurations."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.errors import ModelError, StorageError
from strut.mechanism import Tree, mjcf, observe, shapes, system
from tests.mechanism.in_mujoco import translate

TOLERANCE = 1e-9  # relative, asked for

mujoco = pytest.importorskip("mujoco")

INERTIAL = '<inertial pos="0.02 0.01 -0.1" euler="10 20 30" mass="1.3" diaginertia="0.03 0.02 0.02"/>'
CASES = {
    "hinges and slides": f"""
      <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">{INERTIAL}<joint name="h" axis="0 1 1"/>
        <body name="b" pos="0 0 -0.4" axisangle="0 3 4 50"><joint name="s" type="slide" axis="1 0 0.5"/>
          <inertial pos="0 0 -0.2" mass="0.7" fullinertia="0.02 0.03 0.025 0.001 0.002 -0.003"/>
          <body name="c" zaxis="0.3 0.2 -0.5" pos="0 0.1 0">{INERTIAL}</body></body></body>
      <body name="d" xyaxes="0 1 0.1 -1 0.2 0">{INERTIAL}<joint name="k" axis="0 0 2"/></body>""",
    "joints away from the origin": f"""
      <body name="a" pos="0.1 0.2 0.3" quat="1 2 3 4">{INERTIAL}<joint name="h" pos="0.3 -0.2 0.1" axis="0 1 1"/><site name="here" pos="0 0 1"/>
        <body name="b" pos="0 0 -0.4"><joint name="o" type="ball" pos="0.1 0.1 0.3"/>{INERTIAL}
          <body name="c" pos="0 0.1 0">{INERTIAL}<joint name="l" type="slide" pos="3 4 5" axis="0 1 0"/></body></body></body>""",
    "several joints": f"""
      <body name="a" pos="0.1 0.2 0.3" euler="90 0 0">{INERTIAL}
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1" ref="1.25"/>
        <joint name="p" axis="0 1 0" pos="0 0.1 0.2" ref="30"/><joint name="r" axis="1 0 0" pos="0.3 0 0"/>
        <body name="b" pos="0 0 -0.4"><joint name="u" axis="1 0 0" ref="-20"/><joint name="o" type="ball" pos="0 0 0.1"/>{INERTIAL}</body></body>""",
    "free bodies": f"""
      <body name="a" pos="0.1 0.2 0.3" euler="10 20 200"><freejoint name="root"/>{INERTIAL}
        <body name="b" pos="0 0 -0.4"><joint name="h" axis="0 1 0" armature="0.2"/>{INERTIAL}</body></body>
      <body name="c" pos="1 0 0"><joint type="free" name="other" damping="0"/>{INERTIAL}</body>""",
    "geoms": """
      <body name="a"><joint name="h" axis="0 1 0"/><geom size="0.1"/><geom type="capsule" size="0.04 0.2" pos="0 0 -0.2" euler="20 0 10"/>
        <body name="b" pos="0 0 -0.4"><joint name="k" axis="0 1 0" armature="0.01"/>
          <geom type="cylinder" size="0.05" fromto="0 0 0 0.1 0.2 -0.4" density="500"/><geom type="box" size="0.1 0.02 0.03" mass="2" pos="0.1 0 0" quat="1 0.2 0 0"/>
          <body name="c" pos="0 0 -0.4"><joint name="l" axis="1 0 0"/><geom type="ellipsoid" size="0.1 0.05 0.02" pos="0 0.2 0"/>
            <geom type="box" size="0.03" fromto="0 0 0 0.3 0.2 0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 -0.3"/>
            <geom type="ellipsoid" size="0.04" fromto="0 0 0.1 0 -0.2 0"/><geom type="capsule" size="0.02" fromto="0 0 0.3 0 0 0.1" mass="0"/>
            <geom type="capsule" size="0.02" fromto="0 0 0.1 0 0 0.3"/></body></body></body>""",
    "frames": f"""
      <frame pos="0.1 0 0.2" euler="0 30 0"><body name="a" pos="0 0.1 0" euler="10 0 0"><joint name="h" axis="0 1 0"/>{INERTIAL}
        <frame pos="0 0.2 0" euler="0 0 40"><site name="f" pos="0 0 0.1"/><geom size="0.1" pos="1 0 0" mass="1"/>
          <body name="b" pos="0 0 -0.4"><joint name="k" axis="0 1 0"/>{INERTIAL}</body></frame></body></frame>""",
}
HEAD = '<mujoco model="test"><compiler {}/><worldbody>{}</worldbody></mujoco>'
WITH = {name: HEAD.format("", body) for name, body in CASES.items()}
WITH |= {
    "radians": HEAD.format('angle="radian" eulerseq="ZXZ"', CASES["several joints"].replace("30", "0.5").replace("-20", "-0.3").replace("90", "1.5")),
    "mixed euler": HEAD.format('eulerseq="zXy"', CASES["hinges and slides"]),
    "total mass": HEAD.format('settotalmass="14" inertiafromgeom="true"', CASES["geoms"]),
    "careless": HEAD.format('boundmass="1.5" boundinertia="0.025" balanceinertia="true"', CASES["hinges and slides"]),
    "groups": HEAD.format('inertiagrouprange="1 2"', CASES["geoms"].replace('mass="2"', 'mass="2" group="1"').replace('size="0.1"/>', 'size="0.1" group="2"/>').replace('density="500"', 'group="3"').replace('size="0.04" f', 'size="0.04" group="1" f')),
    "from geoms only": HEAD.format('inertiafromgeom="true"', CASES["frames"].replace("</body></frame>", '<geom size="0.2"/></body></frame>', 1)),
    "defaults": """<mujoco><compiler autolimits="false"/><option gravity="0 0 -3.7"/>
      <default><joint armature="0.1" axis="1 0 0"/><geom density="300" type="capsule" size="0.05 0.3"/>
        <default class="heavy"><geom density="2000" euler="0 40 0"/><joint axis="0 1 0"/><default class="ball"><geom type="sphere"/><joint type="ball"/></default></default></default>
      <worldbody><geom type="plane" size="1 1 1"/><light pos="0 0 3"/>
        <body name="a"><joint name="i"/><geom/>
          <body name="b" childclass="heavy" pos="0 0 1"><joint name="j"/><geom/><geom class="main" size="0.02"/>
            <body name="c" pos="0 0 1"><joint name="k" class="ball"/><geom class="ball"/><geom quat="1 0 1 0"/></body></body></body></worldbody></mujoco>""",
}  # fmt: skip


def random_state(tree, rng):
    q = rng.uniform(-1, 1, tree.nq)
    for node in tree.nodes:
        if node.connection.joint.kind in ("free", "spherical"):
            where = tree.q_of[node.connection.name]
            part = slice(where.stop - 4, where.stop)
            q[part] /= np.linalg.norm(q[part])
    return q, rng.standard_normal(tree.nv)


def parameters(m):
    params = list(m.params.values())
    return ca.vertcat(*[p.sym for p in params]), np.concatenate([p.value for p in params])


def relative(ours, theirs):
    return np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("case", WITH)
def test_against_mujoco(case):
    text = WITH[case]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    m = mjcf.parse(text)
    tree = Tree(m)
    assert tree.nv == model.nv
    symbols, values = parameters(m)
    names = [model.body(k).name for k in range(1, model.nbody)]
    sites = [model.site(k).name for k in range(model.nsite)]
    results = [
        tree.mass_matrix,
        tree.bias,
        *[observe.position(tree, n) for n in names + sites],
        *[ca.vec(observe.pose(tree, n).R.T) for n in names],
    ]
    f = ca.Function("f", [tree.q, tree.v, symbols], results)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, v = random_state(tree, rng)
        theirs, P, turning = translate(tree, model, q)
        data.qpos[:], data.qvel[:] = theirs, P @ v
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        ours, bias, *places = (np.array(r) for r in f(q, v, values))
        assert relative(ours, P.T @ M @ P) < TOLERANCE
        assert relative(bias.reshape(-1), P.T @ (data.qfrc_bias + M @ turning(v))) < TOLERANCE
        expected = [*data.xpos[1:], *data.site_xpos, *data.xmat[1:]]
        for name, here, there in zip([*names, *sites, *names], places, expected, strict=True):
            assert np.abs(here.reshape(-1) - there).max() < TOLERANCE, name


def test_a_run_begins_where_mujoco_does():
    for case in ("several joints", "free bodies"):
        model = mujoco.MjModel.from_xml_string(WITH[case])
        m = mjcf.parse(WITH[case])
        tree = Tree(m)
        q = np.concatenate(
            [np.array(n.connection.initial, dtype=float) for n in tree.nodes if n.connection.joint.nq]
        )
        theirs = translate(tree, model, q)[0]
        if case == "free bodies":
            theirs[3:7] *= np.sign(
                theirs[3:7] @ model.qpos0[3:7]
            )  # a quaternion and its negative are one rotation
        np.testing.assert_allclose(theirs, model.qpos0, atol=1e-12)


PASSIVE = """<mujoco><option timestep="0.0001" integrator="RK4"/><worldbody>
  <body name="a"><joint name="h" axis="0 1 0" stiffness="20" springref="40" damping="0.3" ref="10"/><geom type="capsule" size="0.05" fromto="0 0 0 0.1 0 -0.5"/>
    <body name="b" pos="0 0 -0.5"><joint name="s" type="slide" axis="0 0 1" stiffness="900" springref="0.1" damping="2" range="-1 1"/><geom type="box" size="0.1 0.1 0.1"/>
      <body name="c" pos="0 0.2 -0.5"><joint name="o" type="ball" damping="0.05"/><geom type="capsule" size="0.05" fromto="0 0 0 0.1 0 -0.5"/></body></body></body></worldbody></mujoco>"""  # fmt: skip


def test_a_run_against_mujoco():
    """Springs, dampers and a ball: half a second of motion, MuJoCo at a small step; its fourth order leaves less than 1e-7."""
    model = mujoco.MjModel.from_xml_string(PASSIVE)
    data = mujoco.MjData(model)
    run = strut.simulate(system(mjcf.parse(PASSIVE)), t=0.5)
    for _ in range(5000):
        mujoco.mj_step(model, data)
    ours = [run[n][-1] for n in ("h", "s", "o.qw", "o.qx", "o.qy", "o.qz")]
    np.testing.assert_allclose(ours, data.qpos, atol=1e-7)
    assert run.ledger.residual < 1e-8


CLOSED = """<mujoco><worldbody>
  <body name="a" pos="0 0 1"><joint name="q1" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/><site name="tip" pos="0.5 0 0"/>
    <body name="b" pos="0.5 0 0"><joint name="q2" axis="0 1 0" pos="0 0 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.4"/><site name="end" pos="0 0 -0.4"/></body></body>
  <body name="c" pos="0 0 0.6"><joint name="q3" axis="0 1 0" ref="20"/><geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/><site name="top" pos="0.5 0 0"/></body>
  <body name="d" pos="0.2 1 0"><freejoint name="fly"/><geom size="0.1"/></body></worldbody>
  <tendon><fixed name="one"><joint joint="q1" coef="1"/><joint joint="q3" coef="-1"/></fixed>
    <fixed name="two"><joint joint="q1" coef="0.5"/><joint joint="q2" coef="1.5"/></fixed>
    <spatial name="line"><site site="tip"/><site site="end"/><pulley divisor="2"/><site site="top"/><site site="tip"/></spatial></tendon>
  <equality>{}</equality></mujoco>"""  # fmt: skip


@pytest.mark.parametrize(
    ("equality", "q"),
    [
        ('<connect name="e" body1="b" body2="c" anchor="0 0 -0.4"/>', {"q1": 0.3, "q2": -0.3, "q3": 0.3 + np.deg2rad(20)}),
        ('<connect name="e" site1="end" site2="top"/>', {"q1": 0.3, "q2": -0.3, "q3": 0.3 + np.deg2rad(20)}),
        ('<connect name="e" body1="d" anchor="0.1 0 0"/>', {}),
        ('<weld name="e" body1="a" body2="d"/>', {}),
        ('<weld name="e" body1="a" body2="d" relpose="0.6 0 0 1 0 0 0" anchor="0.1 0 0"/>', {"q1": 0.3, "fly": (0.5 * np.cos(0.3), 0, 1 - 0.5 * np.sin(0.3), 0, np.sin(0.15), 0, np.cos(0.15))}),
        ('<joint name="e" joint1="q2" joint2="q3" polycoef="0.1 -2"/>', {"q2": 0.1 - 0.6, "q3": 0.3 + np.deg2rad(20)}),
        ('<joint name="e" joint1="q3" polycoef="0.2"/>', {"q3": 0.2 + np.deg2rad(20)}),
        ('<joint name="e" joint1="q2" joint2="q3" polycoef="0.1 -2 0.5 0.3 -1"/>', {"q2": 0.1 - 0.6 + 0.5 * 0.09 + 0.3 * 0.027 - 0.0081, "q3": 0.3 + np.deg2rad(20)}),
        ('<tendon name="e" tendon1="two" tendon2="one" polycoef="0.1 2 0.5"/>', {"q1": 0.3, "q2": (0.1 + 2 * 0.2 + 0.5 * 0.04 - 0.5 * 0.3) / 1.5, "q3": 0.1 + np.deg2rad(20)}),
        ('<tendon name="e" tendon1="line" polycoef="0"/>', {}),
    ],
)  # fmt: skip
def test_equalities_hold_where_mujocos_do(equality, q):
    text = CLOSED.format(equality)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    m = mjcf.parse(text)
    tree = Tree(m)
    full = np.concatenate(
        [np.array(n.connection.initial, dtype=float) for n in tree.nodes if n.connection.joint.nq]
    )
    for name, value in q.items():
        full[tree.q_of[name]] = value
    rows = m.constraints["e"].rows(tree)
    f = ca.Function("f", [tree.q], [rows.phi, rows.K])
    rng = np.random.default_rng(2)
    for moved in (full, full + 0.01 * rng.standard_normal(tree.nq)):
        theirs, P, _ = translate(tree, model, moved)
        data.qpos[:] = theirs
        mujoco.mj_forward(model, data)
        phi, K = (np.array(r) for r in f(moved))
        error = np.array(data.efc_pos[: data.ne])
        assert len(error) == len(phi)
        if moved is full:
            np.testing.assert_allclose(phi, 0, atol=1e-12)
            np.testing.assert_allclose(error, 0, atol=1e-12)
            J = _dense(data, model)[: data.ne] @ P
            ranks = [np.linalg.matrix_rank(rows, tol=1e-9) for rows in (K, J, np.vstack([K, J]))]
            assert ranks == [np.linalg.matrix_rank(K)] * 3  # the same velocities are allowed
        else:
            assert np.linalg.norm(error[:3]) == pytest.approx(np.linalg.norm(phi[:3]), rel=1e-9)


def _dense(data, model):
    if not mujoco.mj_isSparse(model):
        return data.efc_J.reshape(data.nefc, model.nv)
    J = np.zeros((data.nefc, model.nv))
    for row in range(data.nefc):
        at, count = data.efc_J_rowadr[row], data.efc_J_rownnz[row]
        J[row, data.efc_J_colind[at : at + count]] = data.efc_J[at : at + count]
    return J


def test_a_closed_chain_runs():
    run = strut.simulate(
        system(
            mjcf.parse(CLOSED.format('<connect name="e" body1="b" body2="c" anchor="0 0 -0.4"/>')),
            project=0.05,
        ),
        t=1.0,
    )
    assert run.ok
    assert run["closure_error"].max() < 1e-6
    assert run.ledger.residual < 1e-5 * run.ledger.turnover


def test_ranges_actuators_masses_and_shapes():
    text = PASSIVE.replace("</mujoco>", '<actuator><motor joint="h"/></actuator></mujoco>')
    m = mjcf.parse(text, stops=True, symbolic_masses=True)
    assert m.connections["s"].stop.high == 1.0
    assert m.connections["h"].stop is None
    machine = system(m)
    assert machine.labels("u") == ("h_torque",)
    assert {"a_mass", "b_mass", "c_mass", "g"} <= set(machine.labels("p"))
    found = shapes.in_numbers(m)
    np.testing.assert_allclose(
        sorted([found["c"][0].start.tolist(), found["c"][0].end.tolist()]),
        [[0, 0, 0], [0.1, 0, -0.5]],
        atol=1e-15,
    )
    np.testing.assert_allclose(found["b"][0].size, [0.2, 0.2, 0.2])
    limited = PASSIVE.replace('range="-1 1"', 'range="-1 1" limited="false"')
    assert mjcf.parse(limited, stops=True).connections["s"].stop is None


def test_meshes_are_named():
    text = """<mujoco><compiler meshdir="parts"/><asset><mesh name="m" file="leg.stl" scale="0.1 0.1 0.1"/><material name="red" rgba="1 0 0 1"/></asset>
      <worldbody><body name="a"><joint axis="0 1 0"/>{}<geom type="mesh" mesh="m" material="red"/></body></worldbody></mujoco>"""
    m = mjcf.parse(text.format(INERTIAL))
    (mesh,) = m.shapes["a"]
    assert mesh.path == "parts/leg.stl"
    assert mesh.colour == (1.0, 0.0, 0.0, 1.0)
    with pytest.raises(
        ModelError, match="mesh 'm' is in the file 'parts/leg.stl', and a model given as text has no folder"
    ):
        mjcf.parse(text.format(""))


BODY = '<mujoco><worldbody><body name="leg">{}</body></worldbody></mujoco>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco", "is not XML"),
        ("<robot/>", "an MJCF file begins with <mujoco>"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "declares XML entities"),
        ('<mujoco><option density="-1.2"/></mujoco>', "<option> has density -1.2: it must not be negative"),
        ('<mujoco><option><flag spring="off"/></option></mujoco>', "<flag> has spring=\"off\": it is 'enable' or 'disable'"),
        ('<mujoco><include file="other.xml"/></mujoco>', "what <include> asks for is in the file 'other.xml', and a model given as text has no folder"),
        ('<mujoco><deformable/></mujoco>', "<mujoco> has <deformable>.*ignore=\\['deformable'\\] \\(--ignore deformable\\)"),
        ('<mujoco><body name="leg"/></mujoco>', "has a <body> outside of <worldbody>: it is a part of a model, to be included by another file"),
        ('<mujoco><compiler coordinate="global"/></mujoco>', "only 'local' coordinates"),
        ('<mujoco><compiler angle="grad"/></mujoco>', 'angle="grad"'),
        ('<mujoco><compiler eulerseq="xy"/></mujoco>', 'eulerseq="xy"'),
        ('<mujoco><default><default/></default></mujoco>', "a <default> inside another has no class"),
        (BODY.format('<composite type="cable"/>'), "body 'leg' has a <composite>"),
        (BODY.format('<flexcomp name="f"/>'), "body 'leg' has a <flexcomp>"),
        (BODY.format('<joint name="j" type="free" frictionloss="0.1"/><geom size="1"/>'), "free joint 'j' of body 'leg' has a frictionloss"),
        (BODY.format('<joint name="j" springdamper="1 1"/>'), "joint 'j' has a springdamper, and some joint moves no mass"),
        (BODY.format('<joint name="j" type="ball" springdamper="1 1"/><geom size="1"/>'), "ball joint 'j' of body 'leg' has a springdamper"),
        (BODY.format('<joint name="j" type="screw"/>'), "joint 'j' of body 'leg' has type 'screw'"),
        (BODY.format('<joint name="j" magic="1"/>'), "joint 'j' of body 'leg' has the attribute magic"),
        (BODY.format('<joint name="j" class="c"/>'), "'j' has class 'c'"),
        (BODY.format('<joint name="j" axis="0 0 0"/>'), "joint 'j' of body 'leg' has an axis without length"),
        (BODY.format('<joint name="j" damping="much"/>'), "damping of joint 'j' of body 'leg' is 'much'"),
        (BODY.format('<joint name="j" type="free" armature="3"/><geom size="1"/>'), "free joint 'j' of body 'leg' has an armature"),
        (BODY.format('<joint name="j" type="free"/><joint name="k"/>'), "body 'leg' has a free joint: it must be its only one"),
        (BODY.format('<geom name="g" type="cone"/>'), "geom 'g' of body 'leg' has type 'cone'"),
        (BODY.format('<geom type="box" size="1 1"/>'), "a geom of body 'leg' is a box of size \\[1.0, 1.0, 0.0\\]"),
        (BODY.format('<geom size="1" density="heavy"/>'), "density of a geom of body 'leg' is 'heavy'"),
        (BODY.format('<geom size="1" quat="0 0 0 0"/>'), "quat of a geom of body 'leg'.*no length"),
        (BODY.format('<geom size="1" quat="1 0 0 0" euler="0 0 0"/>'), "has quat and euler"),
        (BODY.format('<geom size="1" xyaxes="1 0 0 2 0 0"/>'), "are parallel"),
        (BODY.format('<inertial mass="1"/>'), "the inertial of body 'leg' needs a mass, and either"),
        ('<mujoco><worldbody><body name="leg"/><body name="leg"/></worldbody></mujoco>', "has two bodies 'leg'"),
        (BODY.format('<geom type="mesh" mesh="m"/>'), "a geom of body 'leg' has mesh 'm': there are none"),
        (BODY.format('<geom size="1" mass="-1"/>'), "a geom of body 'leg' has mass -1: it must not be negative"),
        (CLOSED.format('<flex name="t"/>'), "equality 't' is a <flex>"),
        (CLOSED.format('<tendon name="t" tendon1="u"/>'), "equality 't' has tendon1 'u': known: one, two, line"),
        (CLOSED.format('<joint name="t" joint1="q1" active="yes"/>'), "an equality has active=\"yes\""),
        (CLOSED.format('<connect name="t" body1="x" anchor="0 0 0"/>'), "equality 't' has body1 'x'"),
        (CLOSED.format('<weld name="t" site1="tip" site2="tap"/>'), "equality 't' has site2 'tap': did you mean 'tip'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(text, message):
    with pytest.raises(ModelError, match=message):
        mjcf.parse(text)


def test_what_may_be_left_out_knowingly():
    m = mjcf.parse(
        BODY.format('<joint name="j" frictionloss="0.1"/><geom size="1"/>'), ignore=["frictionloss"]
    )
    assert Tree(m).nv == 1


def test_files(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        mjcf.load(tmp_path / "none.xml")
    (tmp_path / "two.xml").write_text(PASSIVE)
    assert set(mjcf.load(tmp_path / "two.xml").bodies) == {"world", "a", "b", "c"}
