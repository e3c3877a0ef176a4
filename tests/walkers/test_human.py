"""The planar human: its size against Winter's table, its dynamics against MuJoCo, its energy, its contacts."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import Tree, observe
from strut.simulate import simulate

LEDGER = 1e-7  # relative: what the account of a fall may leave open, as asked for
ROUNDING = 1e-9  # relative, of accelerations against MuJoCo


def standing(name, mechanism):
    """What `observe` says of the body that stands upright, in numbers, by the size of the body."""
    tree = Tree(mechanism)
    value = ca.Function("f", [tree.q, mechanism.parameter_set().symbols], [getattr(observe, name)(tree)])
    q = np.zeros(11)
    q[1] = (0.245 + 0.246) * 1.8 + 0.055
    return np.array(value(q, mechanism.parameter_set().values)).ravel()


def test_mass_and_centre_of_mass_are_those_of_the_table():
    mechanism = walkers.human_mechanism()
    assert Tree(mechanism).nv == 11
    assert standing("mass", mechanism)[0] == pytest.approx(70.0, rel=1e-12)
    hip, thigh, shank = 0.055 + 0.491 * 1.8, 0.245 * 1.8, 0.246 * 1.8
    knee, ankle = hip - thigh, hip - thigh - shank
    heights = [  # of the parts, with their shares of the mass
        (0.678, hip + 0.626 * 0.288 * 1.8),
        (0.200, hip - 0.433 * thigh),
        (0.093, knee - 0.433 * shank),
        (0.024, ankle - 0.03),
        (0.005, 0.005),
    ]
    expected = sum(share * height for share, height in heights)
    assert standing("com", mechanism)[2] == pytest.approx(expected, rel=1e-9)
    assert expected == pytest.approx(1.05, abs=0.02)  # as a person of this height


SCALING = 1e-12  # relative: rounding of a sum of ten segments


@pytest.mark.parametrize("size", [(0.9, 8.75), (1.55, 48.0), (2.1, 120.0)])
def test_everything_scales_with_height_and_mass(size):
    """In random postures whose places scale with the height: the mass matrix, in lengths of the body, and gravity's
    energy are those of 1.8 m and 70 kg times the mass and powers of the height, gaps times the height."""
    usual, other = walkers.human(events=False), walkers.human(*size, events=False)
    taller, heavier = size[0] / 1.8, size[1] / 70.0
    names = usual.labels("x")
    rates = [k for k, name in enumerate(names) if name.endswith("_rate")]
    lengths = np.array([taller if name in ("x", "z", "x_rate", "z_rate") else 1.0 for name in names])

    def values(human, x):
        state = ca.vertcat(*[human[name] for name in names])
        matrix = ca.hessian(ca.SX(human.ledger.stored["kinetic"]), state)[0][rates, rates]
        gaps = ca.vertcat(*[human[foot.gap] for foot in human.walk.feet])
        f = human.function("f", [matrix, human.ledger.stored["gravity"], gaps], "xp")
        return [np.array(each) for each in f(0.0, x, strut.system.start(human).p)]

    random = np.random.default_rng(4)
    for _ in range(5):
        x = random.uniform(-1, 1, len(names))
        matrix, energy, gaps = values(usual, x)
        scaled_matrix, scaled_energy, scaled_gaps = values(other, x * lengths)
        arms = np.outer(1 / lengths[rates], 1 / lengths[rates])
        close = {"rtol": 0.0, "atol": SCALING * np.abs(matrix).max() * heavier * taller**2}
        np.testing.assert_allclose(scaled_matrix, heavier * taller**2 * arms * matrix, **close)
        np.testing.assert_allclose(scaled_energy, heavier * taller * energy, rtol=SCALING)
        np.testing.assert_allclose(scaled_gaps, taller * gaps, rtol=0, atol=SCALING)
    fall = next(event for event in other.events if event.name == "fall")
    height = other.function("height", [fall.guard], "xp")
    low = np.zeros(len(names))
    low[names.index("z")] = 0.65 * taller
    assert float(height(0.0, low, strut.system.start(other).p)) == pytest.approx(0.0, abs=SCALING)


def test_height_and_mass_may_be_said_first():
    first, named = walkers.human(1.7, 60), walkers.human(height=1.7, mass=60.0)
    values = {q.name: q.value.item() for q in first.p}
    assert (values["height"], values["mass"], values["load"]) == (1.7, 60.0, 0.0)
    assert values == {q.name: q.value.item() for q in named.p}
    assert {q.name: q.value.item() for q in walkers.human().p} | {"height": 1.7, "mass": 60.0} == values
    with pytest.raises(ValueRangeError, match="parameter 'height' is 180 m: allowed are 0.5 to 2.5 m"):
        walkers.human(180, 75)


def test_what_acts_does_not_scale():
    """As the docstring says: toes, ligaments, assistance and ground are those of 1.8 m and 70 kg, whoever is on them."""
    usual, small = walkers.human(events=False), walkers.human(0.9, 8.75, events=False)
    x = np.zeros(len(usual.labels("x")))
    for name, value in {"pitch": 0.3, "knee_r": -0.2, "toe_r": 0.4, "z": 5.0}.items():
        x[usual.labels("x").index(name)] = value
    parts = ("toe_r_spring", "knee_r_ligament", "assist")
    energies = [
        human.function("e", [human.ledger.stored[part] for part in parts], "xp")(
            0.0, x, strut.system.start(human).p
        )
        for human in (usual, small)
    ]
    assert [float(each) for each in energies[0]] == [float(each) for each in energies[1]]
    assert all(float(each) > 0 for each in energies[0])
    ground = {q.name: q.value.item() for q in small.p if q.name.startswith(("ground", "friction"))}
    assert ground == {q.name: q.value.item() for q in usual.p if q.name in ground}


def test_a_small_body_begins_as_deep_in_the_ground():
    small = walkers.human(height=0.9, mass=8.75, events=False)
    assert float(strut.system.start(small).x[1]) == pytest.approx(
        (float(strut.system.start(walkers.human(events=False)).x[1]) + 0.003) / 2 - 0.003
    )


def test_unknown_grounds_are_told():
    with pytest.raises(ModelError, match="ground is 'sand'"):
        walkers.human(ground="sand")
    with pytest.raises(ModelError, match="events=False is of soft ground"):
        walkers.human(ground="rigid", events=False)


def test_a_human_for_plans_has_a_persons_ranges_and_stands_on_heel_and_ball():
    human = walkers.human(ground="holding", assist=0.0)
    assert {f.name for f in human.walk.feet} == {"heel_r", "ball_r", "heel_l", "ball_l"}
    assert "friction" not in human.labels("p")  # feet hold: a plan limits it itself
    ranges = {q.name: np.rad2deg(q.range) for q in human.x}
    assert ranges["knee_r"] == pytest.approx([1, 135])
    assert ranges["hip_l"] == pytest.approx([-30, 120])
    assert not np.isfinite(ranges["pitch"]).any()
    freely = {q.name: q.range for q in walkers.human(events=False).x}
    assert not np.isfinite(freely["knee_r"]).any()  # runs alone know no ranges
    with pytest.raises(ModelError, match="events=False is of soft ground"):
        walkers.human(ground="holding", events=False)
    with pytest.raises(UnknownNameError, match="friction"):
        walkers.human(ground="holding", friction=0.5)


def mujoco_model():
    """The body written down once more, for MuJoCo, from the table in the thesis' proportions."""
    mujoco = pytest.importorskip("mujoco")
    H, M = 1.8, 70.0

    def body(name, at, mass, com, inertia, joint, inside):
        return (
            f'<body name="{name}" pos="{at[0]} 0 {at[1]}">{joint}<inertial pos="{com[0]} 0 {com[1]}" '
            f'mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>{inside}</body>'
        )

    def hinge(name, axis, more=""):
        return f'<joint name="{name}" type="hinge" axis="0 {axis} 0" {more}/>'

    def leg(side):
        toe_inertia = 0.175 * (0.0163 * H) ** 2
        damping = 2 * np.sqrt(12 * (toe_inertia + 0.175 * 0.03**2))
        spring = f'stiffness="12" damping="{damping}"'
        toe = body(
            f"toe{side}", (0.12, -0.05), 0.175, (0.03, 0), toe_inertia, hinge(f"toe{side}", -1, spring), ""
        )
        foot = body(
            f"foot{side}",
            (0, -0.246 * H),
            0.84,
            (0.04, -0.03),
            0.84 * (0.475 * 0.18) ** 2,
            hinge(f"ankle{side}", -1),
            toe,
        )
        L = 0.246 * H
        shank = body(
            f"shank{side}",
            (0, -0.245 * H),
            0.0465 * M,
            (0, -0.433 * L),
            0.0465 * M * (0.302 * L) ** 2,
            hinge(f"knee{side}", 1),
            foot,
        )
        L = 0.245 * H
        return body(
            f"thigh{side}",
            (0, 0),
            0.1 * M,
            (0, -0.433 * L),
            0.1 * M * (0.323 * L) ** 2,
            hinge(f"hip{side}", -1),
            shank,
        )

    L = 0.288 * H
    base = '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>' + hinge(
        "pitch", 1
    )
    trunk = body(
        "trunk", (0, 0), 0.678 * M, (0, 0.626 * L), 0.678 * M * (0.496 * L) ** 2, base, leg("_r") + leg("_l")
    )
    text = (
        '<mujoco><compiler angle="radian" balanceinertia="false" boundinertia="0"/>'
        f'<option gravity="0 0 -9.81" integrator="Euler"/><worldbody>{trunk}</worldbody></mujoco>'
    )
    return mujoco, mujoco.MjModel.from_xml_string(text)


def test_accelerations_are_those_of_mujoco():
    """In the air, in random states, with random torques."""
    mujoco, model = mujoco_model()
    data = mujoco.MjData(model)
    names = [model.joint(k).name for k in range(model.njnt)]
    human = walkers.human(events=False, assist=0.0)
    rates = human.function("rates", [ca.vertcat(*[human.flow[f"{name}_rate"] for name in names])], "xup")
    values = strut.system.start(human)
    random = np.random.default_rng(3)
    x_names, u_names = human.labels("x"), human.labels("u")
    for _ in range(20):
        q, v, tau = (random.uniform(-1, 1, 11) for _ in range(3))
        q = np.abs(q) + 0.1  # no ligament holds
        q[1] += 3.0  # in the air
        x, u = np.zeros(len(x_names)), np.zeros(len(u_names))
        for k, name in enumerate(names):
            x[x_names.index(name)], x[x_names.index(f"{name}_rate")] = q[k], v[k]
            if f"{name}_torque" in u_names:
                u[u_names.index(f"{name}_torque")] = 50 * tau[k]
        data.qpos[:], data.qvel[:] = q, v
        data.qfrc_applied[:] = [50 * tau[k] * (f"{name}_torque" in u_names) for k, name in enumerate(names)]
        mujoco.mj_forward(model, data)
        ours = np.array(rates(0.0, x, u, values.p)).ravel()
        np.testing.assert_allclose(ours, data.qacc, rtol=ROUNDING, atol=ROUNDING * np.abs(data.qacc).max())


@pytest.mark.parametrize("events", [True, False])
def test_the_account_of_a_fall_closes(events):
    """Nobody holds it: it falls, over its knees and ligaments, and every joule is somewhere."""
    run = simulate(walkers.human(events=events), 1.0, rtol=1e-9, atol=1e-10)
    assert run.status in {"fall", "topple"}
    assert abs(run.ledger.relative) < LEDGER


def test_a_slope_is_there_where_it_is_asked_for():
    assert "slope" not in walkers.human(events=False).labels("p")
    inclined = walkers.human(events=False, inclined=True, slope=0.1)
    level = simulate(walkers.human(events=False), 0.05, rtol=1e-9, atol=1e-9)
    down = simulate(inclined, 0.05, rtol=1e-9, atol=1e-9)
    same = simulate(inclined.using(slope=0.0), 0.05, rtol=1e-9, atol=1e-9)
    assert same["x"][-1] == pytest.approx(level["x"][-1], abs=1e-8)
    assert abs(down["z"][-1] - level["z"][-1]) > 1e-5


def test_assistance_holds_the_trunk_and_is_told():
    leaning = walkers.human(events=False, pitch=0.2)
    helped = simulate(leaning, 0.2, rtol=1e-8, atol=1e-8)
    alone = simulate(leaning.using(assist=0.0), 0.2, rtol=1e-8, atol=1e-8)
    assert helped["assisting"][0] == 1
    assert helped["assist_torque"][0] == pytest.approx(-3000 * (0.2 - np.deg2rad(5)))
    assert alone["assisting"].max() == 0
    assert helped["pitch"][-1] < 0.1 < 0.2 < alone["pitch"][-1]


@pytest.mark.slow  # 62 events on rigid ground: most of a minute to compile
def test_it_falls_on_rigid_ground_too():
    run = simulate(walkers.human(ground="rigid"), 0.5, rtol=1e-9, atol=1e-10)
    assert run.status in {"fall", "topple"}
    assert abs(run.ledger.relative) < LEDGER
    assert run.events.counts()["tip_r_touchdown"] > 0
