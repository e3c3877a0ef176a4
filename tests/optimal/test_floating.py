"""Walkers on a floating base: what is refused before a search, the stride it begins from, and a design."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from strut import Input, State, System, contact, mechanism, optimal, simulate, walkers
from strut.errors import ModelError, NoStrideError
from strut.gait.section import default_section, section_of
from strut.optimal.walk.broken_limits import broken_clearance
from strut.optimal.walk.costs import add_weight_parameters
from strut.optimal.walk.frozen_branch import compares
from strut.optimal.walk.kinematic_stride import kinematic_stride
from strut.optimal.walk.step_problem import phase_events
from tests.optimal.floating import five_links, on_rigid_ground, on_soft_ground, telescopic


@pytest.fixture(scope="module")
def walker():
    return on_rigid_ground(telescopic(), fall=("torso", 0.4))


@pytest.fixture(scope="module")
def found(walker):
    return optimal.design(walker, speed=0.5)


# ---- refused before the search ----


def rough_symmetry():
    """A mechanism whose feet differ by a quarter, and a symmetry that does not ask for that."""
    m = telescopic(masses=(2.0, 2.5))
    return on_rigid_ground(m, symmetry=mechanism.symmetry(m, inertias=False))


REFUSED = {
    "no symmetry": (
        lambda: on_rigid_ground(telescopic(), symmetry=None),
        r"stands on its feet 'foot_l', 'foot_r' in turn, but nothing says .* contact.rigid\(..., symmetry='auto'\)",
    ),
    "sticks and slides": (
        lambda: on_soft_ground(telescopic(), friction=contact.anchored(1e5, 3e3, 0.8)),
        r"feet of 'telescopic' stick and slide at moments that nobody knows before the search "
        r"\('foot_.*_slide'.*contact.coulomb\(mu, speed=0.1\) or contact.viscous\(damping\)",
    ),
    "creeps too slowly": (
        lambda: on_soft_ground(telescopic(), friction=contact.coulomb(0.8)),
        r"the friction under 'foot_.' of 'telescopic' turns over within 0.001 m/s: .* "
        r"contact.coulomb\(mu, speed=0.1\).* contact.viscous\(damping\) and ask the design for friction=mu",
    ),
    "too soft": (
        lambda: on_soft_ground(telescopic(), stiffness=100.0),
        r"the ground does not carry 'telescopic': .* m deep, foot 'foot_.' is pushed by .* N, and it weighs "
        r"157 N. Make the ground stiffer",
    ),
    "no impact to count": (
        lambda: on_soft_ground(telescopic()),
        "nothing is lost at once where 'telescopic' lands: .* ask for 'positive-work', 'absolute-work' or",
        "energy",
    ),
    "heel and toe": (
        lambda: on_soft_ground(telescopic(heels=True), feet=("foot_l", "heel_l", "foot_r", "heel_r")),
        "touches the ground at 4 points .*planned on rigid ground in a plane. Let each foot be one point, or",
    ),
    "unequal": (
        rough_symmetry,
        "left and right of 'telescopic' are not alike: exchanged, '.*' changes at another",
    ),
    "no motors": (
        lambda: on_rigid_ground(telescopic(actuated=False)),
        r"nothing drives 'telescopic': let its joints be actuated",
    ),
    "no other side": (
        lambda: on_rigid_ground(
            telescopic(sides=("_left", "_right")),
            ("foot_left", "foot_right"),
            mechanism.symmetry(telescopic(sides=("_left", "_right")), sides=("_left", "_right")),
        ),
        "exchanges no other foot with 'foot_.*': let their names differ by _l and _r",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_before_the_search(case):
    make, sentence, *cost = REFUSED[case]
    with pytest.raises(ModelError, match=sentence):
        optimal.design(make(), cost=(cost or ["squared-torque"])[0], speed=0.5)


def test_a_trade_off_refuses_before_the_search_what_a_design_refuses():
    with pytest.raises(ModelError, match="nothing drives 'telescopic': let its joints be actuated"):
        optimal.trade_off(on_rigid_ground(telescopic(actuated=False)), "speed", [0.4, 0.5], workers=1)


def test_a_step_that_no_posture_has_is_refused(walker):
    with pytest.raises(
        NoStrideError, match="no posture of 'telescopic' ends a step of 3 m .* another step_length"
    ):
        optimal.design(walker, step_length=3.0, speed=0.5)


# ---- the stride ----


@pytest.fixture(scope="module")
def trunk():
    return walkers.trunk_3d()


@pytest.mark.parametrize("speed", [0.3, 0.6, 1.0])
def test_the_stride_keeps_the_ground_the_limits_and_its_speed(walker, speed):
    section = default_section(walker)
    stride = kinematic_stride(walker, section, speed=speed)
    assert stride.step_length / stride.period == pytest.approx(speed)
    gaps = walker.function("gaps", [walker["foot_l_gap"], walker["foot_r_gap"]], clock=False)
    rows = np.array([stride.guess[name] for name in walker.labels("x")]).T
    z, u, p = (np.zeros(walker.size(g)) for g in "zup")
    p[:] = [float(q.value[0]) for q in walker.p]
    stance = 1 if section.startswith("foot_l") else 0
    ends = [[float(g) for g in gaps(row, z, u, p)] for row in rows[[0, -1]]]
    assert abs(ends[0][stance]) < 1e-6
    assert np.abs(ends[1]).max() < 1e-6
    middle = [float(g) for g in gaps(rows[len(rows) // 2], z, u, p)]
    assert middle[1 - stance] > 0.01
    for name in ("leg_l", "leg_r"):
        assert stride.guess[name].min() >= -0.25 - 1e-9
        assert stride.guess[name].max() <= 0.1 + 1e-9
    assert stride.branch is not None


def test_stiff_legs_in_space_have_a_stride(trunk):
    """A foot that scuffs may land once it has passed the other and come out of the ground: the landing of the
    stride is that of such a foot, after which the other is let go."""
    stride = kinematic_stride(trunk, default_section(trunk), speed=0.5)
    assert stride.branch is not None
    assert {stride.branch.z0[f"foot_l_{flag}"] for flag in ("on", "passed", "armed")} == {0.0}
    assert [stride.branch.discrete[0][f"foot_l_{flag}"].item() for flag in ("passed", "armed")] == [1.0, 1.0]
    assert list(stride.branch_of(2).conditions) == ["foot_l_passes", "foot_l_touchdown"]
    assert stride.branch_of(2).discrete[0]["foot_l_passed"].item() == 0.0
    assert stride.branch_of(3) is None
    assert np.ptp(stride.guess["foot_x"]) == pytest.approx(0, abs=1e-9)  # the stance foot stays
    assert stride.guess["leg_l_roll"].max() > 0.2  # the other leg swings outwards, over the ground


def test_a_branch_goes_with_the_weights_of_costs(trunk):
    """What stands beside a cost has a weight, a parameter of the walker: the landing of its stride is the
    same."""
    branch = kinematic_stride(trunk, default_section(trunk), speed=0.5).branch
    weighted = add_weight_parameters(trunk, {"energy": 1.0, "squared-torque": 0.1})
    again = branch.of_system(weighted)
    assert again.actual is weighted
    assert {"weight_energy", "weight_squared_torque"} <= set(again.system.labels("p"))
    assert compares(weighted, default_section(trunk))
    assert not compares(again.system, default_section(trunk))


def test_a_walker_that_falls_by_itself_is_designed_from_its_stride(trunk):
    section = default_section(trunk)
    stride = kinematic_stride(trunk, section, speed=0.5)
    guess = {**stride.guess, "duration": stride.period}
    step = optimal.design(trunk, speed=0.5, guess=guess, phases=[section], accuracy=1e-6)
    assert step.result.ok
    assert step.speed == pytest.approx(0.5)
    # On the flat, motors bring the energy to where it is before the landing that takes it again.
    energy = trunk.function("energy", [sum(trunk.ledger.stored.values())], clock=False)
    plan = step.result.phases[0]
    before, after = (float(energy(plan.x[k], plan.z, np.zeros(6), step.result.p)) for k in (-1, 0))
    assert step.energy_lost > 0.1
    assert before - after == pytest.approx(step.energy_lost, rel=1e-6)


def test_a_posture_far_from_a_step_will_do(walker):
    bad = walker.using({"hip_l": 0.6, "hip_r": 0.6, "base.z": 1.0, "base.pitch": -0.5})
    assert kinematic_stride(bad, default_section(bad), speed=0.5).step_length > 0.1


# ---- the design ----


def test_a_design_is_found_and_is_a_gait(found):
    assert found.ok, found.wrong
    assert found.speed == pytest.approx(0.5, abs=1e-6)
    assert found.gait is not None, found.replay.no_gait
    assert found.gait.step_length == pytest.approx(found.step_length, abs=1e-3)
    assert found.replay.balance.relative < 1e-6


def test_a_clearance_is_the_height_of_the_swing(walker, found):
    """In the middle of the swing, by time; less towards its ends, as a parabola is. No phase of its own is needed."""
    section = found.section
    assert phase_events(walker, section, None, swings=True) == (section,)
    problem = optimal.step_problem(walker, [section], branch=found.result.problem.branch, clearance=0.03)
    (swing,) = [r for r in problem.requirements if r.name == "the swing foot is above the ground"]
    assert [swing.bounds(part)[0] for part in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([0, 0.0225, 0.03, 0])
    assert broken_clearance(found.replay, 0.0) == ()
    assert re.fullmatch(
        r"foot 'foot_l' swings 0\.\d+ m lower than a parabola of 0\.2 m over its swing",
        broken_clearance(found.replay, 0.2)[0],
    )


def test_a_plan_that_the_simulator_does_not_follow_says_what_came_and_what_to_try(found):
    """A foot that begins deep in the ground ends the run with an event of its own, named with its meaning."""
    deep = optimal.replay(found.result, {**found.result.x0, "leg_l": -0.4})
    assert deep.outcome_text == "foot_l_inside: deep in the ground: the foot ran into a step, or began there"
    story = replace(found)
    object.__setattr__(story, "replay", SimpleNamespace(ok=False, outcome_text=deep.outcome_text))
    assert deep.outcome_text in story.wrong[0]
    assert "'foot_l' lands wherever it touches the ground" in story.advice
    assert "--clearance 0.02" in story.advice
    assert found.advice == ""


@pytest.mark.slow  # half a minute: a five-link walker of its own, twice
def test_a_five_link_walker_clears_the_ground_as_asked():
    asked = 0.03  # m
    walker = on_rigid_ground(five_links(), fall=("torso", 0.3))
    low, high = (optimal.design(walker, speed=0.6, clearance=each) for each in (None, asked))
    assert low.ok, low.wrong
    assert high.ok, high.wrong
    assert high.result.cost > low.result.cost
    (swing,) = high.result.phases
    part = np.linspace(0.01, 0.99, 99)
    heights = high.replay.run.at(part * swing.duration)["foot_l_gap"]
    assert (heights - 4 * asked * part * (1 - part)).min() > -1e-3 * asked
    (limit,) = [each for each in high.active_limits if each.field == "clearance"]
    assert limit.source == "asked"
    assert limit.slope > 0


def test_limits_of_joints_are_kept(found):
    run = found.replay.run
    for name in ("leg_l", "leg_r"):
        assert run[name].min() > -0.25 - 1e-4
        assert run[name].max() < 0.1 + 1e-4


def test_the_machine_begins_with_its_plan_and_its_second_step_is_the_mirror_image(found):
    machine, T = found.machine, found.gait.period
    run = simulate(machine, t=1.2 * T, rtol=1e-11, atol=1e-12)
    landings = [e.name for e in run.events if e.name.endswith("touchdown")]
    first, image = found.section, next(f.lands for f in machine.walk.feet if f.lands != found.section)
    assert landings[0] == first
    assert image not in landings[:1]
    late = run.at(np.array([T + 0.05 * T, 0.05 * T]))
    assert late["hip_l_torque_planned"][0] == pytest.approx(
        late["hip_r_torque_planned"][1], rel=1e-2, abs=1e-2
    )
    assert late["hip_l"][0] == pytest.approx(late["hip_r"][1], abs=1e-2)


def test_the_height_of_a_machine_with_its_plan_is_no_state_to_be_shifted(found):
    """On level ground, rigid contact feels the height; its plan of inputs must not hide that."""
    cyclic = section_of(found.machine, found.section).cyclic
    assert [found.machine.labels("x")[i] for i in cyclic] == ["base.x"]


def test_states_on_a_limit_keep_small_defects():
    """IPOPT's relaxed bounds moved states on a bound by 1e-8. Where the flow feels that, as Baumgarte's term of
    rigid contact does, every interval on the bound had a defect, and was split in vain."""
    x, v, u = State("x", limits=(-math.inf, 0.1)), State("v"), Input("u")
    system = System("held", x=(x, v), u=(u,), flow={x: v.sym, v: u.sym + 400 * (0.1 - x.sym)})
    problem = optimal.Problem(system).phase(duration=1.0).begin(x=0, v=1).end(x=0, v=-1)
    effort = problem.minimise(optimal.Integral("effort", u.sym**2))
    result = effort.solve(accuracy=1e-10, tolerance=1e-11, intervals=10, control="cubic")
    motion = result.phases[0]
    assert result.ok, result.status
    assert (motion.x[:, 0] > 0.1 - 1e-6).sum() > 3  # it does lie on the limit
    assert motion.x[:, 0].max() <= 0.1
    assert result.defect < 1e-10
