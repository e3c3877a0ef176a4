"""Forces from outside over time: they change momentum by their impulse, the account closes, and plans and
machines of designs know them."""

import numpy as np
import pytest

import strut
from strut import Mechanism, actuator, contact, joints, mechanism, optimal, simulate
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import hamiltonian_system
from strut.walkers.straight import ANGLE, hip_drive, level, on_foot, slope

FORCE, BEGIN, END = (7.0, -3.0, 5.0), 0.3, 0.75
IMPULSE = np.array(FORCE) * (END - BEGIN)
"""[N s]"""
EXACT = {"rtol": 1e-12, "atol": 1e-13}


def free_body(planar=False):
    """A body that nothing holds, without gravity; a push at its tip also turns it."""
    m = Mechanism("brick", planar=planar, g=0.0)
    brick = m.body("brick", mass=2.0, inertia=0.1 if planar else (0.1, 0.2, 0.15))
    m.joint("base", m.world, brick, joints.planar() if planar else joints.free())
    m.frame("tip", brick, (0.1, 0, 0.2) if planar else (0.1, -0.3, 0.2))
    m.push("tip")
    return m


def velocity_of_com(run, planar=False):
    """The velocity of the centre of mass at all points [m/s], from its path."""
    names = ("com_x", "com_z") if planar else ("com_x", "com_y", "com_z")
    h = 0.05
    t = np.array([run.t1 - 2 * h, run.t1 - h])
    return np.array([np.diff(run.at(t)[name])[0] / h for name in names])


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_push_changes_the_momentum_by_its_impulse(backend):
    """Once it is over, the centre of mass moves with a constant velocity, impulse over mass."""
    system = mechanism.system(free_body())
    run = simulate(system, t=1.0, u=strut.push("tip", t=(BEGIN, END), force=FORCE), backend=backend, **EXACT)
    assert np.abs(velocity_of_com(run) * 2.0 - IMPULSE).max() < 1e-9
    assert run.ledger.relative < 1e-9
    given = run.ledger.supplied["tip_push"]
    assert given[-1] > 1.0
    assert given[-1] == pytest.approx(run.ledger.stored["kinetic"][-1], rel=1e-9)
    before, after = run.at([BEGIN - 1e-6, END + 1e-6])["tip_push_x"]
    assert (before, after) == (0.0, 0.0)
    assert run.at(BEGIN + 1e-9)["tip_push_x"] == FORCE[0]


def test_hamiltonian_and_planar_systems_are_pushed_alike():
    m = free_body(planar=True)
    push = strut.push("tip", t=(BEGIN, END), force=(FORCE[0], FORCE[2]))
    run = simulate(mechanism.system(m), t=1.0, u=push, **EXACT)
    assert np.abs(velocity_of_com(run, True) * 2.0 - IMPULSE[[0, 2]]).max() < 1e-9
    other = simulate(hamiltonian_system(m), t=1.0, u=push, **EXACT)
    for name in ("base.x", "base.z"):
        assert other[name][-1] == pytest.approx(run[name][-1], abs=1e-9)


def biped():
    m = Mechanism("biped", planar=True)
    hip = m.body("hip", mass=10.0, inertia=0.1)
    m.joint("base", m.world, hip, joints.planar(), initial=(0.0, np.cos(0.14), 0.0))
    for side in "lr":
        leg = m.body(f"leg_{side}", mass=5.0, com=(0, 0, -0.5), inertia=0.2)
        m.joint(f"leg_{side}", hip, leg, joints.revolute(), initial=0.14 if side == "l" else -0.14)
        m.frame(f"foot_{side}", leg, (0, 0, -1.0))
    return m


@pytest.mark.parametrize("ground", ["rigid", "compliant"])
def test_pushes_act_on_machines_that_stand(ground):
    m = biped()
    m.push("hip")
    feet = ["foot_l", "foot_r"]
    system = (
        contact.rigid(m, feet, friction=0.8)
        if ground == "rigid"
        else contact.compliant(m, feet, law=contact.linear(2e4, 400.0), friction=contact.viscous(300.0))
    )
    run, still = (simulate(system, t=0.3, u=u) for u in (strut.push("hip", (0.1, 0.2), (40.0, 400.0)), None))
    assert run.ledger.relative < 1e-6
    assert run.ledger.supplied["hip_push"][-1] > 1.0  # it is lifted, against a weight of 196 N
    assert still.ledger.supplied["hip_push"][-1] == 0.0
    assert run["base.z"][-1] > still["base.z"][-1] + 0.01


def test_schedules_hold_between_their_times():
    body = Mechanism("cart", planar=True)
    body.joint("rail", body.world, body.body("cart", mass=2.0), joints.prismatic((1, 0, 0)))
    system = mechanism.system(body)
    schedule = strut.Schedule([0.0, 0.5, 0.8], [4.0, -2.0, 0.0])
    run = simulate(system, t=1.0, u={"rail_force": schedule})
    assert run["rail_rate"][-1] == pytest.approx((4.0 * 0.5 - 2.0 * 0.3) / 2.0, abs=1e-12)
    # beside a controller, at times of its own
    body.push("cart")
    system = mechanism.system(body)
    seen = []
    both = simulate(
        system,
        t=1.0,
        u=strut.push("cart", (0.25, 0.55), (10.0, 0.0)),
        control=strut.Hold(lambda moment: (seen.append(moment.t), {"rail_force": 1.0})[1], every=0.1),
    )
    assert both["rail_rate"][-1] == pytest.approx((1.0 + 10.0 * 0.3) / 2.0, abs=1e-12)
    assert np.allclose(seen, np.arange(10) / 10)
    vector = simulate(
        system,
        t=1.0,
        u=strut.push("cart", (0.25, 0.55), (10.0, 0.0)),
        control=strut.Hold(lambda moment: [1.0, 0.0, 0.0], every=0.1),
    )
    assert vector["rail_rate"][-1] == pytest.approx(both["rail_rate"][-1], abs=1e-12)
    # a run that begins in the middle of a push
    late = simulate(system, t=(0.4, 1.0), u=strut.push("cart", (0.25, 0.55), (10.0, 0.0)))
    assert late["rail_rate"][-1] == pytest.approx(10.0 * 0.15 / 2.0, abs=1e-12)
    # what ends with the run was never changed
    whole = simulate(system, t=0.55, u=strut.push("cart", (0.25, 0.55), (10.0, 0.0)))
    assert whole.raw.u_end[1] == 10.0


def test_mistakes_are_told():
    m = free_body()
    system = mechanism.system(m)
    with pytest.raises(UnknownNameError, match="has no frame or body 'tap' to push: did you mean 'tip'"):
        m.push("tap")
    with pytest.raises(UnknownNameError, match="'top_push_x', which is no input of 'brick'.*m.push"):
        simulate(system, t=1.0, u=strut.push("top", (0, 1), (1, 0, 0)))
    with pytest.raises(ValueRangeError, match="it must end after it begins"):
        strut.push("tip", (1.0, 1.0), (1, 0, 0))
    with pytest.raises(ValueRangeError, match="has 4 numbers: give x, y and z"):
        strut.push("tip", (0.0, 1.0), (1, 0, 0, 0))
    with pytest.raises(
        ModelError, match="push 'tip' has two numbers, x and z of a plane, and .* give x, y and z"
    ):
        simulate(system, t=1.0, u=strut.push("tip", (0, 1), (20, 20)))
    with pytest.raises(ValueRangeError, match="2 times and 3 values"):
        strut.Schedule([0, 1], [1, 2, 3])
    with pytest.raises(ValueRangeError, match="must be finite and rise"):
        strut.Schedule([1, 1], [1, 2])
    with pytest.raises(ModelError, match="holds its inputs: give numbers"):
        strut.simulate_batch(system, t=1.0, u=strut.push("tip", (0, 1), (1, 0, 0)), x0={})
    with pytest.raises(ModelError, match="the controller sets 'tip_push_x', which has a schedule"):
        simulate(
            system,
            t=1.0,
            u=strut.push("tip", (0, 1), (1, 0, 0)),
            control=strut.Hold(lambda moment: {"tip_push_x": 1.0}, every=0.1),
        )


def test_pushes_have_mirror_images():
    m = Mechanism("pair")
    trunk = m.body("trunk", mass=5.0, inertia=1.0)
    m.joint("base", m.world, trunk, joints.free())
    arm = m.body("arm_l", mass=1.0, com=(0, 0, -0.2), inertia=0.1)
    m.joint("shoulder_l", trunk, arm, joints.revolute((1, 0, 0)), at=(0, 0.2, 0.5))
    m.frame("hand_l", arm, (0, 0, -0.5))
    m.mirror("_l")
    for frame in ("trunk", "hand_l", "hand_r"):
        m.push(frame)
    system = contact.rigid(m, ["hand_l", "hand_r"], symmetry="auto")
    assert str(system.symmetry["trunk_push_y"]) == "(-trunk_push_y)"
    assert str(system.symmetry["hand_l_push_x"]) == "hand_r_push_x"
    assert actuator.drives(system)[0].name == "shoulder_l"
    assert not any("push" in drive.name for drive in actuator.drives(system))


def own_compass(push):
    """The compass, which can be pushed at its hip."""
    m = Mechanism("compass", planar=True)
    stance = m.body("stance_leg", 5.0, (0, 0, 0.5))
    foot = on_foot(m)
    m.joint("stance", foot, stance, joints.revolute(ANGLE), initial=0.2187, rate=-1.0924, actuated=False)
    hip = level(m, "hip", stance, "stance", at=(0, 0, 1.0), mass=10.0)
    swing = m.body("swing_leg", 5.0, (0, 0, -0.5))
    m.joint("swing", hip, swing, joints.revolute(ANGLE), initial=-0.3234, rate=-0.3774, actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -1.0))
    if push:
        m.push("hip")
    swap = {"stance": "swing", "swing": "stance"}
    legs = contact.Legs(
        ("foot_x", "foot_z"), "stance_foot", "swing_foot", swap, "hip", 0.75, [hip_drive()], margin=0.02
    )
    return contact.stepping(m, legs, contact.plane(slope(np.radians(3))))


def test_a_design_leaves_pushes_alone_and_its_machine_can_be_pushed(tmp_path, capfd):
    designs = [
        optimal.design(own_compass(push), cost="squared-torque", slope=0.0, speed=0.5, intervals=16)
        for push in (False, True)
    ]
    assert all(each.ok for each in designs)
    assert designs[1].result.cost == pytest.approx(designs[0].result.cost, rel=1e-6)
    machine = designs[1].machine
    assert [q.name for q in machine.u] == ["hip_push_x", "hip_push_z"]
    calm = simulate(machine, t=0.5, **EXACT)
    pushed = simulate(machine, t=0.5, u=strut.push("hip", (0.1, 0.3), (20.0, 0.0)), **EXACT)
    # the hip goes forwards, by a moment about the foot of nearly 20 N m for 0.2 s
    assert pushed.at(0.3)["stance"] < calm.at(0.3)["stance"] - 5e-3
    assert pushed.ledger.supplied["hip_push"][-1] > 0
    assert pushed.ledger.relative < 1e-9
    back = optimal.load(designs[1].save(tmp_path / "design.h5"), own_compass(True))
    assert [q.name for q in back.machine.u] == ["hip_push_x", "hip_push_z"]
    assert back.data()["x0"] == designs[1].data()["x0"]
    assert "overconstrained" not in capfd.readouterr().err
