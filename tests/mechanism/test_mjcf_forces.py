"""Passive forces of MJCF against MuJoCo's own: tendons, springs of balls, gravcomp, fluids, gravity aside, and flags."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.errors import ModelError
from strut.mechanism import Mechanism, Tree, forces, joints, mjcf, modelfile, system
from strut.mechanism.generalised_forces import forces_of
from tests.mechanism.in_mujoco import translate
from tests.mechanism.test_mjcf import parameters, random_state, relative

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-9  # relative, asked for

ARM = """<mujoco><option {option}><flag {flag}/></option><default><tendon stiffness="30"/></default><worldbody>
  <site name="post" pos="0.3 0.2 0.9"/>
  <body name="a" pos="0 0 1" gravcomp="0.7"><joint name="h" axis="0 1 0" pos="0.1 0 0" ref="10" stiffness="4" springref="30" damping="0.2"/>
    <geom type="box" size="0.05 0.1 0.2" pos="0 0 -0.2" euler="20 10 0"/><site name="tip" pos="0 0.1 -0.4"/>
    <body name="b" pos="0 0 -0.5"><joint name="s" type="slide" axis="0 0.6 0.8" springref="0.2"/><geom type="capsule" size="0.05 0.2"/><site name="b" pos="0.1 0 0"/>
      <body name="c" pos="0 0.2 -0.3" gravcomp="1.5"><joint name="o" type="ball" stiffness="5" damping="0.1"/>
        <geom type="ellipsoid" size="0.05 0.1 0.15" pos="0.1 0 0.1"/><site name="end" pos="0 0.1 0.2"/></body></body></body>
  <body name="d" pos="1 0 0"><freejoint name="fly"/><geom type="ellipsoid" size="0.05 0.1 0.15" pos="0.1 0 0.1"/></body></worldbody>
  <tendon>{tendon}</tendon></mujoco>"""  # fmt: skip
FIXED = '<fixed name="t" {}><joint joint="h" coef="0.5"/><joint joint="s" coef="-2"/></fixed>'
LINE = '<spatial name="t" {}><site site="post"/><site site="tip"/><site site="end"/><pulley divisor="3"/><site site="b"/><site site="post"/></spatial>'
FIT = {
    "ball, gravcomp, joint springs": ARM.format(option="", flag="", tendon=""),
    "a fixed tendon": ARM.format(option="", flag="", tendon=FIXED.format('damping="2"')),
    "a fixed tendon with a slack range": ARM.format(option="", flag="", tendon=FIXED.format('springlength="-0.5 0.5"')),
    "a spatial tendon": ARM.format(option="", flag="", tendon=LINE.format('stiffness="20" damping="2"')),
    "a spatial tendon that is slack": ARM.format(option="", flag="", tendon=LINE.format('springlength="0 1.2"')),
    "a fluid": ARM.format(option='density="1000" viscosity="0.3" wind="1 2 3"', flag="", tendon=""),
    "gravity aside": ARM.format(option='gravity="1 -2 -9"', flag="", tendon=""),
    "gravity upwards": ARM.format(option='gravity="0 0 3"', flag="", tendon=""),
    "no gravity": ARM.format(option='density="1000"', flag='gravity="disable"', tendon=FIXED.format("")),
    "no springs": ARM.format(option="", flag='spring="disable"', tendon=FIXED.format('damping="2"')),
    "no dampers": ARM.format(option="", flag='damper="disable"', tendon=LINE.format('damping="2"')),
}  # fmt: skip


def forces_and_bias(m, tree):
    """What acts along the velocities besides inertia, as a function of q and v."""
    symbols, values = parameters(m)
    f = ca.Function("f", [tree.q, tree.v, symbols], [forces_of(tree, {})[0] - tree.bias])
    return lambda q, v: np.array(f(q, v, values)).reshape(-1)


@pytest.mark.parametrize("case", FIT)
def test_forces_are_mujocos(case):
    model = mujoco.MjModel.from_xml_string(FIT[case])
    data = mujoco.MjData(model)
    m = mjcf.parse(FIT[case])
    tree = Tree(m)
    ours = forces_and_bias(m, tree)
    rng = np.random.default_rng(7)
    for _ in range(3):
        q, v = random_state(tree, rng)
        theirs, P, turning = translate(tree, model, q)
        data.qpos[:], data.qvel[:] = theirs, P @ v
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        expected = P.T @ (data.qfrc_passive - data.qfrc_bias - M @ turning(v))
        assert relative(ours(q, v), expected) < TOLERANCE


@pytest.mark.parametrize("case", ["a spatial tendon", "gravity aside", "a fixed tendon"])
def test_the_account_of_energy_closes(case):
    run = strut.simulate(system(mjcf.parse(FIT[case])), t=0.5)
    assert run.ok
    assert run.ledger.residual < 1e-7 * run.ledger.turnover


def test_a_spring_tuned_by_time_constant():
    """MuJoCo's stiffness and damping of a joint with 'springdamper', which it works out from the inertia that the joint feels."""
    text = """<mujoco><worldbody><body name="a"><joint name="h" axis="0 1 0" springdamper="0.2 0.7"/><geom type="box" size="0.05 0.1 0.2" pos="0.1 0 -0.2"/>
      <body name="b" pos="0.1 0 -0.5"><joint name="k" axis="0 1 0.5" armature="0.1" springdamper="0.1 1"/><geom type="capsule" size="0.05 0.2" pos="0 0 -0.2"/></body></body></worldbody></mujoco>"""  # fmt: skip
    model = mujoco.MjModel.from_xml_string(text)
    m = mjcf.parse(text)
    for k, name in enumerate(("h", "k")):
        assert float(ca.DM(m.connections[name].spring)) == pytest.approx(
            model.jnt_stiffness[k], rel=TOLERANCE
        )
        assert float(ca.DM(m.connections[name].damping)) == pytest.approx(
            model.dof_damping[k].flat[0], rel=TOLERANCE
        )


SLIDER = """<mujoco><option gravity="0 0 0">{}</option><worldbody><body name="a"><joint name="s" type="slide" axis="1 0 0" frictionloss="2"/>
  <geom size="0.1" mass="0.5"/></body></worldbody></mujoco>"""


def test_dry_friction_stops_a_slider():
    """v0 = 3 m/s, friction 2 N on 0.5 kg: without the smoothing it stops after 0.75 s and 1.125 m; with it, it still creeps."""
    machine = system(mjcf.parse(SLIDER.format("")))
    run = strut.simulate(machine, t=2.0, x0={"s_rate": 3.0})
    stopped = 3.0**2 / (2 * 2.0 / 0.5)
    assert run["s"][-1] == pytest.approx(stopped, abs=2 * forces.FRICTION_SPEED * 0.75)
    assert abs(run["s_rate"][-1]) < 1e-3 * forces.FRICTION_SPEED
    assert run.ledger.residual < 1e-8
    assert run["s_rate"][0] == 3.0
    free = strut.simulate(
        system(mjcf.parse(SLIDER.format('<flag frictionloss="disable"/>'))), t=1.0, x0={"s_rate": 3.0}
    )
    assert free["s_rate"][-1] == pytest.approx(3.0)
    ignored = mjcf.parse(SLIDER.format(""), ignore=["frictionloss"])
    assert not ignored.forces


def test_flags_are_obeyed_under_ignore():
    text = ARM.format(
        option="",
        flag='gravity="disable" limit="disable" actuation="disable" constraint="disable"',
        tendon="",
    )
    m = mjcf.parse(
        text.replace('ref="10"', 'ref="10" range="-9 99"'),
        stops=True,
        ignore=["gravity", "tendon", "constraint"],
    )
    assert [p.value[0] for p in m.params.values()] == [0.0]
    assert not m.limits
    assert m.connections["h"].stop is None
    assert not any(c.actuated for c in m.connections.values() if c.joint.nv == 1)


def test_ranges_of_tendons_become_stops():
    text = ARM.format(
        option="", flag="", tendon=FIXED.format('stiffness="0" range="-0.1 0.1" limited="true"')
    )
    assert "t_stop" not in mjcf.parse(text).forces
    m = mjcf.parse(text, stops=True)
    tree = Tree(m)
    effect = m.forces["t_stop"].effect(tree)
    f = ca.Function("f", [tree.q, tree.v], [effect.tau, effect.stored])
    q, v = np.zeros(tree.nq), np.zeros(tree.nv)
    q[tree.q_of["h"]], q[tree.q_of["s"]] = 1.0, 0.1
    tau, stored = f(q, v)
    beyond = 0.5 * 1.0 - 2 * 0.1 - 0.1
    assert float(stored) == pytest.approx(1e3 * beyond**2 / 2)
    assert float(tau[tree.v_of["h"].start]) == pytest.approx(-1e3 * beyond * 0.5)


@pytest.mark.parametrize(
    ("tendon", "message"),
    [
        ('<spatial name="t"><site site="tip"/><geom geom="ball"/><site site="end"/></spatial>', "tendon 't' wraps around geom 'ball' and has a spring.*ignore=\\['tendon'\\]"),
        ('<spatial name="t"><site site="tap"/></spatial>', "tendon 't' has site 'tap': did you mean 'tip'"),
        ('<fixed name="t"><joint joint="o" coef="1"/></fixed>', "tendon 't' has joint 'o': known: h, s"),
        ('<fixed name="t" armature="1"/>', "tendon 't' has an armature"),
        ('<spatial name="t"><pulley divisor="0"/></spatial>', "a pulley of tendon 't' has the divisor 0: it must be positive"),
        ('<fixed name="t"/><fixed name="t"/>', "has two tendons 't'"),
    ],
)  # fmt: skip
def test_mistakes_in_tendons_are_named(tendon, message):
    with pytest.raises(ModelError, match=message):
        mjcf.parse(ARM.format(option="", flag="", tendon=tendon))


def test_a_tendon_without_a_spring_may_wrap():
    wrapped = (
        '<spatial name="t" stiffness="0"><site site="tip"/><geom geom="ball"/><site site="end"/></spatial>'
    )
    assert "t_tendon" not in mjcf.parse(ARM.format(option="", flag="", tendon=wrapped)).forces


def test_forces_that_a_file_or_a_mirror_cannot_say():
    m = Mechanism("m")
    m.joint("hip_l", m.world, m.body("leg_l", 1.0, inertia=1.0), joints.revolute("y"))
    m.force(forces.dry_friction("rub_l", "hip_l", 0.1))
    with pytest.raises(
        ModelError, match="mechanism 'm' has the force 'rub_l', which a model file cannot say"
    ):
        modelfile.dump(m)
    with pytest.raises(ModelError, match="force 'rub_l', which has no mirror image"):
        m.mirror()
    with pytest.raises(ModelError, match="has a force 'rub_l' already"):
        m.force(forces.dry_friction("rub_l", "hip_l", 0.1))
    m.force(forces.dry_friction("other", "knee_l", 0.1))
    with pytest.raises(ModelError, match="force 'other' acts in joint 'knee_l': known: hip_l"):
        system(m)
