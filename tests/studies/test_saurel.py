"""Saurel's walkers: masses of the paper, mirrored steps, and the cheapest of the table's cases."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import UnknownNameError
from strut.gait import weight_of
from strut.optimal import Problem
from strut.studies.saurel_table1 import rows_of
from strut.studies.saurel_walks import CASES, guess, problem, repeated_torques, walk


@pytest.mark.parametrize(
    ("name", "mass"), [("saurel-a", 33.0), ("saurel-c", 60.3), ("saurel-d", 60.3), ("saurel-e", 65.9)]
)
def test_masses_are_those_of_the_paper(name, mass):
    walker = walkers.CATALOGUE[name]()
    assert weight_of(walker) / 9.81 == pytest.approx(mass, abs=0.05)


def test_a_step_in_space_is_mirrored_and_loses_energy():
    """What a landing takes is not negative, and a posture mirrored twice is itself."""
    walker = walkers.saurel_e()
    event = next(e for e in walker.events if e.name == "heel_strike")
    groups = walker.vectors()
    after = ca.vertcat(*[event.reset.get(q.name, q.sym) for q in walker.x])
    stored = ca.Function("stored", groups, [sum(walker.ledger.stored.values())])
    jump = ca.Function(
        "jump",
        [*groups, strut.time],
        [after, ca.vertcat(*[event.reset.get(q.name, q.sym) for q in walker.z])],
    )
    begin = strut.simulate(walker, t=0.0).end
    u, p = np.zeros(len(walker.u)), begin["p"]
    rng = np.random.default_rng(3)
    for _ in range(5):
        x = begin["x0"] + 0.2 * rng.standard_normal(len(begin["x0"]))
        x1, z1 = jump(x, begin["z0"], u, p, 0)
        assert float(stored(x1, z1, u, p)) < float(stored(x, begin["z0"], u, p))
        x2, _ = jump(x1, z1, u, p, 0)
        half = len(walker.x) // 2
        np.testing.assert_allclose(np.array(x2).reshape(-1)[:half], x[:half], atol=1e-12)


def test_torques_resume_on_the_other_side():
    walker = walkers.saurel_c()
    assert repeated_torques(walker) == {
        "stance_hip_torque": "swing_hip_torque",
        "swing_hip_torque": "stance_hip_torque",
    }
    with pytest.raises(UnknownNameError, match="'knee' is no input"):
        Problem(walker).resume({"stance_hip_torque": "-knee"})


def trusted(found):
    """What is asked of every case: an optimum, accurate, balanced, and the simulator agrees."""
    assert found.ok
    assert max(found.result.kkt.values()) <= 1e-6
    assert found.result.defect <= 1e-6
    assert found.energy_imbalance <= 1e-6
    assert found.design.replay.balance.relative <= 1e-6
    assert abs(found.design.replay.late) <= 1e-3


def test_the_compass_of_the_table():
    found = walk(CASES["M_A"])
    trusted(found)
    assert found.cost_of_transport <= 0.1007
    assert found.design.step_length >= 0.4 - 1e-6
    first, last = (found.result.phases[k].inputs(found.result.phases[k].t)[k, 0] for k in (0, -1))
    assert first == pytest.approx(-last, abs=1e-7)
    assert found.result.duration == pytest.approx(0.8, abs=1e-7)


def test_rows_say_which_formula_and_which_limits_are_ours():
    """The printed formula, from the jump of the rates itself, and what each row says of it."""
    case = CASES["M_A"]
    step = walk(case)
    rows = {row.quantity: row for row in rows_of(case, step)}
    # Equation 9 as it is printed, term by term: the norm of the jump is the root of twice the energy lost.
    weight_times_step = step.design.weight * step.design.step_length
    norm = np.sqrt(2 * step.design.energy_lost)
    printed = np.sin(0.05) + (norm + step.work) / weight_times_step
    assert step.printed_cost == pytest.approx(printed, rel=1e-8)
    energy_row = rows["M_A: cost of transport, energy formula"]
    printed_row = rows["M_A: cost of transport, printed formula"]
    assert float(energy_row.ours) == pytest.approx(step.cost_of_transport, abs=1e-5)
    assert float(printed_row.ours) == pytest.approx(printed, abs=1e-5)
    assert energy_row.remark.startswith("better than published by 46")
    assert "root of twice its energy" in printed_row.remark
    limits = rows["M_A: limits that are ours"].ours
    assert f"friction 0.7 (needs {step.friction_needed:.3f})" in limits
    assert f"torque 200 N m (up to {step.peak_torque:.1f})" in limits
    assert "stature 1.77 m" in limits


def test_random_guesses_lead_to_the_same_step():
    walker = CASES["M_A"].make()
    asked = problem(walker)
    costs = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        begin = guess(walker, random.uniform(0.35, 0.8), random)
        result = asked.solve(begin, accuracy=None, control="cubic", intervals=(4, 5), stages=6)
        assert result.ok
        costs.append(result.cost)
    assert np.ptp(costs) < 1e-7


@pytest.mark.parametrize("name", ["M_B", "M_C active", "M_C passive", "M_D"])
def test_other_cases_of_the_table(name):
    """Slow because each compiles a walker's stage functions."""
    case = CASES[name]
    found = walk(case)
    trusted(found)
    assert found.cost_of_transport <= case.published[0]
