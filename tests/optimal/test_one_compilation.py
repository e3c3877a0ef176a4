"""What is compiled of a walker serves for every choice of costs, bounds and free parameters."""

import pytest

from strut import gait, optimal, walkers
from strut.codegen import lower_system

BOTH = {"energy": 1.0, "squared-torque": 0.1}


@pytest.fixture(scope="module")
def designs():
    walker = walkers.compass()
    torque = optimal.design(walker, speed=0.5, slope=0.0)
    both = optimal.design(walker, "hip_mass", BOTH, speed=0.5, slope=0.0, step_length=(0.2, 0.6))
    return torque, both


def digest(system):
    return lower_system(system).digest()


def test_machines_and_passive_gaits_share_their_code(designs):
    torque, both = designs
    assert torque.ok
    assert both.ok
    assert digest(torque.machine) == digest(both.machine)
    assert digest(torque.passive.system) == digest(both.passive.system)


def test_weights_of_costs_are_parameters_of_the_problem_and_not_of_the_machine(designs):
    names = [{q.name for q in system.p} for system in (designs[1].result.problem.system, designs[1].machine)]
    assert [{n for n in group if n.startswith("weight_")} for group in names] == [
        {"weight_energy", "weight_squared_torque"},
        set(),
    ]


def test_a_gait_without_the_weights_of_costs_can_be_begun_from(designs):
    like = gait.find(walkers.compass())
    again = optimal.design(
        walkers.compass(), "hip_mass", BOTH, like=like, speed=0.5, slope=0.0, step_length=(0.2, 0.6)
    )
    assert again.ok
    assert again.result.cost == pytest.approx(designs[1].result.cost, rel=1e-8)
