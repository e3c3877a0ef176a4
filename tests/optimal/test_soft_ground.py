"""Ground that gives way is stiffened in stages: where a search begins, and how it goes on."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from strut import Param, contact, optimal
from strut.gait.section import default_section
from strut.gait.transport import weight_of
from strut.optimal.walk.compliant_stride import compliant_stride
from strut.optimal.walk.frozen_branch import CORNERS
from strut.optimal.walk.kinematic_stride import Kinematics
from strut.optimal.walk.soft_ground import SOFT_DEPTH, soft_ground, stiffen_ground
from tests.optimal.floating import on_rigid_ground, on_soft_ground, telescopic

STIFF = 1e5
"""[N/m] of ground that a search from an even stride does not find its way on."""


def on_stiff_ground(stiffness=STIFF):
    law = contact.linear(Param("stiffness", stiffness, "N/m"), Param("damping", 0.02 * stiffness, "N s/m"))
    return on_soft_ground(telescopic(), law=law)


@pytest.fixture(scope="module")
def walker():
    return on_stiff_ground()


def test_a_search_begins_where_a_foot_at_rest_is_a_part_of_its_height_deep(walker):
    section = default_section(walker)
    ground = soft_ground(walker, section)
    assert ground is not None
    assert ground.numbers == ("stiffness", "damping")
    depth = SOFT_DEPTH * Kinematics(walker, section).height()
    assert STIFF * ground.softness * depth == pytest.approx(weight_of(walker), rel=1e-6)
    softest = {q.name: float(np.ravel(q.value)[0]) for q in ground.system(walker, ground.softness).p}
    assert softest["damping"] / softest["stiffness"] == pytest.approx(0.02)
    assert ground.stiffness_text(1.0) == "1e+05 N/m"


def test_other_ground_needs_no_stages(walker):
    section = default_section(walker)
    for other in (on_stiff_ground(1e4), on_soft_ground(telescopic(), 1e5), on_rigid_ground(telescopic())):
        assert soft_ground(other, section) is None


def test_stages_become_shorter_where_one_fails_and_end_where_none_leads_further(walker):
    ground = soft_ground(walker, default_section(walker))
    assert ground is not None
    problem = optimal.Problem(walker).phase("step", until=default_section(walker))
    stiffnesses = []

    def solve_stage(stage, begin, **limits):
        stiffness = next(float(np.ravel(q.value)[0]) for q in stage.system.p if q.name == "stiffness")
        stiffnesses.append(stiffness)
        return SimpleNamespace(success=stiffness <= limit, stiffness=stiffness)

    limit = STIFF
    best, softness = stiffen_ground(problem, ground, "guess", solve_stage)
    assert softness == 1.0
    assert best.stiffness == STIFF
    assert stiffnesses == sorted(stiffnesses)
    limit, stiffnesses[:] = 4e4, []
    best, softness = stiffen_ground(problem, ground, "guess", solve_stage)
    assert limit / 1.05 < best.stiffness <= limit
    assert softness == pytest.approx(best.stiffness / STIFF)
    limit = 0.0
    best, softness = stiffen_ground(problem, ground, "guess", solve_stage)
    assert best is None
    assert softness == ground.softness


def test_a_plan_on_soft_ground_has_laws_without_corners(walker):
    """What a branch continues smoothly stays so for the same walker with other parameters."""
    soft = walker.using(stiffness=1e4, damping=200.0)
    again = compliant_stride(soft, default_section(walker), speed=0.5).branch.of_system(walker)
    assert again.actual is walker
    corners = []
    for system in (walker, again.system):
        f = system.function("flow", [ca.vertcat(*system.flow.values())], clock=False)
        corners.append(sum(f.instruction_id(k) in CORNERS for k in range(f.n_instructions())))
    assert corners[0] > 0
    assert corners[1] == 0
