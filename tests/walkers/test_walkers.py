"""The ready-made machines against closed forms and published numbers."""

import numpy as np
import pytest

import strut
from strut import walkers


def test_rimless_wheel_rolls_at_the_closed_form_speed():
    run = strut.simulate(walkers.rimless_wheel(), t=60.0, rtol=1e-12, atol=1e-13)
    after = run.events[-1].after["rate"]
    alpha, slope = np.pi / 8, 0.08
    closed = np.sqrt(
        4 * 9.81 * np.sin(alpha) * np.sin(slope) * np.cos(2 * alpha) ** 2 / np.sin(2 * alpha) ** 2
    )
    assert after == pytest.approx(1.095462839648, abs=1e-12)
    assert after == pytest.approx(closed, abs=1e-12)


def test_rimless_wheel_books_close_at_every_step():
    """The loss at impact is declared as 1/2 m (l rate)^2 sin^2(2 alpha), so this is a check and not a definition."""
    run = strut.simulate(walkers.rimless_wheel(), t=60.0)
    steps = len(run.events)
    assert steps > 50
    after = [0, *(np.flatnonzero(run.t == t)[-1] for t in run.events.t)]
    assert np.abs(np.diff(run.ledger.imbalance[after])).max() < 1e-10  # [J] in each step
    lost = run.ledger.lost["impact"][-1]
    kinetic, gravity = run.ledger.stored["kinetic"], run.ledger.stored["gravity"]
    assert lost == pytest.approx(-(kinetic[-1] - kinetic[0] + gravity[-1] - gravity[0]), abs=1e-8)


@pytest.mark.parametrize(("slope", "rate"), [(0.02, 0.3), (0.0, 1.0), (-0.05, 1.0)])
def test_rimless_wheel_comes_to_rest_where_the_slope_cannot_feed_it(slope, rate):
    """It rocks between two spokes, ever faster: an accumulation of events."""
    run = strut.simulate(walkers.rimless_wheel(slope=slope, rate=rate), t=100.0)
    assert run.status == "zeno"
    assert abs(run.raw.x_end[1]) < 1e-9


def test_pendulum_period_is_the_elliptic_integral():
    from scipy.special import ellipk

    period = 4 * np.sqrt(1 / 9.81) * ellipk(np.sin(0.5) ** 2)
    run = strut.simulate(walkers.pendulum(), t=3 * period)
    assert run["angle"][-1] == pytest.approx(1.0, abs=1e-9)
    assert run["rate"][-1] == pytest.approx(0.0, abs=1e-8)


def test_pendulum_ledger_accounts_for_motor_and_damper():
    run = strut.simulate(walkers.pendulum(damping=0.4, torque=1.5), t=20.0)
    books = run.ledger
    assert books.residual < 1e-8
    assert books.dissipated["damper"][-1] > 1
    assert books.supplied["motor"][-1] == pytest.approx(1.5 * (run["angle"][-1] - run["angle"][0]), abs=1e-8)


def test_slip_runs_24_steps_with_the_thesis_parameters():
    run = strut.simulate(walkers.slip(), t=100.0)
    assert run.status == "finished"
    assert run["steps"][-1] == 24
    assert run.ledger.residual < 1e-6  # of 1.8 kJ; the model is conservative
    assert np.all(run["force"] >= -1e-6)


@pytest.mark.parametrize(
    ("kilonewtons", "low", "high"),
    [
        (10, 56.5, 59.25),
        (15, 62.75, 65.25),
        (20, 66.25, 68.75),
        (25, 68.75, 71.0),
        (30, 70.5, 72.75),
        (40, 73.0, 75.0),
        (50, 74.5, 76.75),
    ],
)
def test_slip_stable_angles(kilonewtons, low, high):
    """The interval of angles of attack that reach 24 steps without moving backward, within one cell of 0.25 degrees."""
    angles = np.arange(40, 80.01, 0.25)
    runs = strut.simulate_batch(
        walkers.slip(), t=100, p={"stiffness": 1e3 * kilonewtons, "attack": np.radians(angles)}
    )
    inside = angles[(runs.status == "finished") & (runs["vx"] > 0)]
    around = inside[(inside > low - 2) & (inside < high + 2)]
    assert around.min() == pytest.approx(low, abs=0.25)
    assert around.max() == pytest.approx(high, abs=0.25)


@pytest.mark.parametrize(
    "options", [{"method": "dopri5", "rtol": 1e-6, "atol": 1e-8}, {"method": "rk4", "step": 5e-3}, {}]
)
def test_slip_map(options):
    """The J-shaped region of the thesis, 100 x 100 over stiffness and angle: 581 +- 15 cells reach 24 steps."""
    stiffness, attack = np.meshgrid(np.linspace(0, 50e3, 100), np.radians(np.linspace(40, 80, 100)))
    runs = strut.simulate_batch(
        walkers.slip(), t=100, p={"stiffness": stiffness.ravel(), "attack": attack.ravel()}, **options
    )
    reached = (runs["steps"] >= 24).reshape(100, 100)
    assert abs(reached.sum() - 581) <= 15
    assert set(runs.status) == {"fell", "finished"}
    columns = [np.flatnonzero(reached[:, k]) for k in (30, 60, 99)]
    middles = [c.mean() for c in columns]
    assert middles[0] < middles[1] < middles[2]  # the stiffer the leg, the steeper: the stroke of the J


def test_every_machine_of_the_catalogue_runs_and_closes_its_books():
    for name, make in walkers.CATALOGUE.items():
        run = strut.simulate(make(), t=2.0)
        assert run.ok or run.ended_in_failure, name  # some fall by themselves
        assert run.ledger.relative < 1e-8, name


def test_unknown_value_is_named():
    with pytest.raises(strut.StrutError, match="has no 'stifness': did you mean 'stiffness'"):
        walkers.slip(stifness=1)
