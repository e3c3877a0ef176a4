"""Gaits: known ones from poor guesses, scaling laws, and none where there is none."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import strut
from strut.errors import NoGaitError, UnknownNameError
from strut.gait import ReturnMap, decay, find, find_all
from strut.gait.newton import OrbitSteps, newton
from strut.system import Param
from strut.walkers import compass, compass_duindam, kneed, rimless_wheel, round_foot, simplest, slip

COMPASS = {
    "stance": 0.218668802939,
    "swing": -0.323388558059,
    "stance_rate": -1.092383589884,
    "swing_rate": -0.377373948907,
}
POOR = [
    {"stance": 0.3, "swing": -0.4, "stance_rate": -1.0, "swing_rate": -0.5},
    {"stance": 0.25, "swing": -0.25, "stance_rate": -1.2, "swing_rate": 0.0},
    {"stance": 0.1, "swing": -0.1, "stance_rate": -0.3, "swing_rate": 0.5},
]


def close(found, wanted, tolerance):
    """Are all wanted multipliers among those found?"""
    return all(np.abs(np.asarray(found) - w).min() < tolerance for w in wanted)


@pytest.mark.parametrize("guess", POOR)
def test_compass_from_poor_guesses(guess):
    gait = find(compass(), guess)
    for name, value in COMPASS.items():
        assert gait.x0[name] == pytest.approx(value, abs=1e-9)
    assert gait.period == pytest.approx(0.734346391159, abs=1e-9)
    assert gait.step_length == pytest.approx(0.535445415430, abs=1e-9)
    assert gait.energy_per_step == pytest.approx(5.498121985, abs=1e-9)
    assert close(
        gait.multipliers, [-0.199726127 + 0.544476062j, -0.199726127 - 0.544476062j, 0.131572624, 0], 1e-7
    )
    assert gait.stable


def test_simplest_walker_from_a_poor_guess():
    gait = find(simplest(), {"stance": 0.25, "hip": 0.45, "stance_rate": -0.25, "hip_rate": 0.0})
    assert gait.x0["stance"] == pytest.approx(0.20031090054425, abs=1e-9)
    assert gait.x0["stance_rate"] == pytest.approx(-0.19983247300495, abs=1e-9)
    assert gait.period == pytest.approx(3.88246375285135, abs=1e-9)
    assert close(gait.multipliers, [-0.190099841066 + 0.557598776682j], 1e-7)


def test_long_and_short_gaits_of_duindams_compass():
    """Section 4.1.5 of the notes on the thesis."""
    long, short = find_all(compass(leg_mass=1, hip_mass=5, g=9.8))
    slope = math.radians(3)
    for gait, leg, rate, other, period, length in (
        (long, 0.299294, -1.072963, 0.708407, 0.782798, 0.589692),
        (short, 0.279554, -1.164771, 0.569874, 0.607858, 0.551855),
    ):
        assert gait.x0["stance"] + slope == pytest.approx(leg, abs=1e-6)
        assert gait.x0["stance_rate"] == pytest.approx(rate, abs=1e-6)
        assert gait.x0["swing_rate"] - gait.x0["stance_rate"] == pytest.approx(other, abs=1e-6)
        assert gait.period == pytest.approx(period, abs=1e-6)
        assert gait.step_length == pytest.approx(length, abs=1e-6)
    assert long.stable
    assert not short.stable
    assert close(long.multipliers, [-0.2933 + 0.3926j, 0.0865], 1e-4)
    assert close(short.multipliers, [4.461, 0.438, 0.030], 1e-3)
    assert long.speed == pytest.approx(0.7533, abs=1e-4)


def test_feet_that_are_free_walk_the_same_gait():
    free, pinned = find(compass_duindam()), find(compass(leg_mass=1, hip_mass=5, g=9.8))
    assert free.period == pytest.approx(pinned.period, abs=1e-9)
    assert free.step_length == pytest.approx(pinned.step_length, abs=1e-9)
    assert close(free.multipliers, pinned.multipliers, 1e-7)


@pytest.mark.parametrize(
    "walker",
    [compass(slope=0.04), simplest(slope=0.012), round_foot(), kneed(), rimless_wheel(slope=0.15)],
)
def test_passive_gaits_cost_the_sine_of_the_slope(walker):
    gait = find(walker)
    slope = float(next(q for q in walker.p if q.name == "slope").value[0])
    assert gait.cost_of_transport == pytest.approx(math.sin(slope), abs=1e-9)
    assert gait.residual < 1e-10
    assert gait.trajectory.status == "done"


def test_rimless_wheel_has_its_closed_form():
    gait = find(rimless_wheel(slope=0.15))
    alpha, c = math.pi / 8, math.cos(math.pi / 4)
    assert gait.x0["rate"] == pytest.approx(
        math.sqrt(4 * 9.81 * math.sin(alpha) * math.sin(0.15) * c * c / (1 - c * c)), abs=1e-10
    )
    assert close(gait.multipliers, [c**2, 0], 1e-9)


def test_times_and_speeds_scale():
    """Period as the root of l/g, speed as the root of g l, angles not at all."""
    base = find(compass())
    for leg, g in ((2.0, 9.81), (1.0, 1.62), (0.3, 24.8)):
        other = find(compass(a=0.5 * leg, b=0.5 * leg, g=g))
        assert other.period / base.period == pytest.approx(math.sqrt(leg * 9.81 / g), rel=1e-9)
        assert other.speed / base.speed == pytest.approx(math.sqrt(leg * g / 9.81), rel=1e-9)
        assert other.x0["stance"] == pytest.approx(base.x0["stance"], abs=1e-9)
        assert other.multipliers == pytest.approx(base.multipliers, abs=1e-7)


def test_derivative_by_a_parameter_is_that_of_the_gait():
    h = 1e-5
    up, down = (find(compass(slope=0.05 + s), COMPASS) for s in (h, -h))
    found = find(compass(slope=0.05), COMPASS).derivative("slope")
    for name in COMPASS:
        assert found[name] == pytest.approx((up.x0[name] - down.x0[name]) / (2 * h), rel=1e-6)
    assert found["period"] == pytest.approx((up.period - down.period) / (2 * h), rel=1e-6)
    with pytest.raises(UnknownNameError, match="slope"):
        up.derivative("slop")


def test_derivative_of_a_mirrored_gait():
    """The same walker with free feet, whose steps are mirrored, changes in the same way."""
    free, pinned = find(compass_duindam()), find(compass(leg_mass=1, hip_mass=5, g=9.8))
    assert free.derivative("hip_mass")["period"] == pytest.approx(
        pinned.derivative("hip_mass")["period"], abs=1e-8
    )


def test_disturbances_decay_as_multipliers_say():
    gait = find(round_foot())
    assert decay(gait) == pytest.approx(abs(gait.multipliers[0]), rel=1e-2)


@pytest.mark.parametrize("walker", [compass(slope=-0.01), compass(slope=0.45), simplest(slope=0.3)])
def test_no_gait_says_so(walker):
    with pytest.raises(NoGaitError, match="no gait of .* was found with .*slope=.* ended early: ") as told:
        find(walker, starts=100)
    assert told.value.closest > 1e-6
    assert told.value.fell


def test_coming_to_rest_is_no_gait():
    """On level ground the wheel's map has a fixed point, at rest; the simulator sees infinitely many impacts there."""
    with pytest.raises(NoGaitError, match="fixed points that are no gaits.*zeno"):
        find(rimless_wheel(slope=0.0), starts=100)


def test_a_gait_repeats_in_the_simulator():
    gait = find(compass(slope=0.06))
    run = strut.simulate(gait.system, t=10 * gait.period + 1e-6, x0=gait.x0, rtol=1e-12, atol=1e-14)
    assert run.events.counts()["heel_strike"] == 10
    last = run.events[len(run.events) - 1]
    assert last.after["stance"] == pytest.approx(gait.x0["stance"], abs=1e-9)


def take_off(vx: float, vy: float) -> dict[str, float]:
    """A dimensionless runner that takes off at its angle of attack of 60 degrees, as it lands: symmetric stance."""
    return {"y": math.sin(math.radians(60)), "vx": vx, "vy": vy}


@pytest.mark.parametrize("vy", [0.08934225, 1.19305619])
def test_a_fixed_point_of_a_machine_that_conserves_energy_stays(vy):
    """A symmetric stance repeats itself: any (vx, vy) whose take-off height is that of landing is a gait, one of a family."""
    runner = slip(mass=1, length=1, stiffness=10.7, attack=math.radians(60), g=1)
    step = ReturnMap(runner, x0=take_off(1.25, vy))
    height = lambda v: float(step(np.array([step.start.x[1], 1.25, v])).y[0] - step.start.x[1])  # noqa: E731
    low, high = vy - 1e-4, vy + 1e-4
    for _ in range(60):  # bisection: to the last digit, without the method under test
        middle = (low + high) / 2
        low, high = (middle, high) if height(low) * height(middle) > 0 else (low, middle)
    exact = take_off(1.25, low)
    gait = find(runner, exact)
    assert np.abs(gait.y0 - list(exact.values())).max() < 1e-12
    assert gait.neutral
    near = find(runner, {name: value + 1e-6 for name, value in exact.items()})
    assert np.abs(near.y0 - list(exact.values())).max() < 2e-6


def powered_walker(push: float):
    """Kuo's walker on level ground: the simplest one, whose trailing leg pushes off just before the other lands."""
    walker = simplest(slope=0.0)
    strength = Param("push", push, "m/s")
    angle, rate = walker["stance"], walker["stance_rate"]
    speed = ca.cos(2 * angle) * rate + ca.sin(2 * angle) * strength.sym
    after = {"stance_rate": speed, "hip_rate": (1 - ca.cos(2 * angle)) * speed}
    events = (replace(e, reset={**e.reset, **after}) if e.name == "heel_strike" else e for e in walker.events)
    return walker.replace(name="powered", p=(*walker.p, strength), events=tuple(events))


def test_of_several_gaits_the_one_nearest_to_the_guess_is_returned():
    """From 3 % beside the short gait, Newton leads back to it, though the long one is nearer."""
    walker = powered_walker(0.04)
    long, short = find_all(walker, starts=300)
    assert long.stable
    assert not short.stable
    for gait in (long, short):
        for factor in (1.0, 0.97, 0.99, 1.01, 1.03):
            guess = dict(zip(gait.names, factor * gait.y0, strict=True))
            nearest = min((long, short), key=lambda g: np.linalg.norm(g.y0 - factor * gait.y0))
            assert find(walker, guess).period == pytest.approx(nearest.period, abs=1e-9)


def test_a_poor_guess_nearer_to_the_unstable_gait_gives_that_one():
    guess = {"stance": 0.3, "swing": -0.3, "stance_rate": -1.5, "swing_rate": -0.5}
    gait = find(compass(), guess)
    assert not gait.stable
    assert np.linalg.norm(gait.y0 - list(guess.values())) == pytest.approx(0.3716116, abs=1e-6)
    assert np.linalg.norm(np.subtract(list(COMPASS.values()), list(guess.values()))) == pytest.approx(
        0.4339932, abs=1e-6
    )


class Magnifier:
    """A linear map around a fixed point of known place, of which one direction is magnified."""

    def __init__(self, factor):
        turn = np.array([[0.8, -0.6], [0.6, 0.8]])
        self.matrix = turn @ np.diag([factor, 0.5]) @ turn.T
        self.fixed = np.array([0.3, -1.7])

    def many(self, y, *, rough=False):
        del rough
        ends = self.fixed + (y - self.fixed) @ self.matrix.T
        count = len(y)
        return OrbitSteps(
            y=ends,
            by_y=np.tile(self.matrix, (count, 1, 1)),
            ok=np.ones(count, bool),
            status=np.full(count, ""),
        )


@pytest.mark.parametrize("factor", [3.0, 1e7])
def test_a_fixed_point_that_magnifies_rounding_is_found(factor):
    """At 1e7 the residual cannot be below 1e-9, though the state is known to all its digits."""
    step = Magnifier(factor)
    points = newton(step, step.fixed[None] + [[3e-7, 2e-7]])
    assert points.converged.all()
    np.testing.assert_allclose(points.y[0], step.fixed, rtol=1e-14)


def test_angles_far_from_where_the_machine_was_described_are_named():
    """The same gait, of a machine that was described with its stance leg lying down."""
    found = find(compass(slope=strut.deg(3)))
    assert found.turned_angles == ()
    lying = find(compass(slope=strut.deg(3)).using(stance=2.5), dict(found.x0))
    assert abs(lying.period - found.period) < 1e-9
    (sentence,) = lying.turned_angles
    assert sentence.startswith("'stance' is about 0.2")  # nearest to 2.5 where the step begins
    assert "far from 2.5, where the machine was described" in sentence
    assert lying.data()["turned_angles"] == [sentence]
    assert sentence in strut.report.gait_result(lying).verdict
