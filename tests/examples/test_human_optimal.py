"""The human's step that is planned whole: what it says, and that its forces move it as Newton has it."""

import casadi as ca
import numpy as np
import pytest

from strut.studies.human_beyond import force_peaks
from tests.examples.gallery import check_printed
from tests.examples.test_examples import load

ROUNDING = 0.02  # relative: a mesh that stays coarse, where other compilers may end a little elsewhere
GRADIENTS = 126.8  # [N m] of torque to which gradients came on soft ground, from a swarm's best
COARSE = 0.01  # of the weight times a phase: what forces, every millisecond, leave open on this mesh


@pytest.mark.slow(reason="a search of 22 states in four phases, 15 s of processor")
@pytest.mark.timeout(1800)
def test_the_human_is_planned_whole(capsys):
    example = load("human_optimal")
    design = example.main()
    check_printed("human_optimal.py", capsys.readouterr().out, rel=ROUNDING)
    assert design.result.success
    assert design.result.kkt["feasibility"] < 1e-9
    assert not design.ok  # on a mesh that stays coarse
    assert (design.speed, design.step_length) == pytest.approx((1.3, 0.72))
    assert example.sum_of_torques(design) < GRADIENTS / 1.5
    force = example.stride_force(design)
    assert 0.5 < np.count_nonzero(force > 0) / len(force) < 0.6
    assert len(force_peaks(force)) == 2
    walker, plan = design.planned_system, design.result
    height = walker["com_z"]
    flow = ca.vertcat(*[walker.flow[q.name] for q in walker.x])
    rise = walker.function("rise", [ca.jtimes(height, walker.vector("x"), flow)], clock=False)
    both = force.reshape(2, -1).sum(axis=0)
    times = np.arange(0, plan.duration, example.SAMPLING)
    for phase in plan.phases:
        begin, end = (
            float(rise(phase.x[k], phase.z, phase.inputs(phase.t[[k]])[0], plan.p)) for k in (0, -1)
        )
        inside = (times >= phase.t[0]) & (times <= phase.t[-1])
        lasts = phase.t[-1] - phase.t[0]
        gained = 9.81 * (both[inside].mean() - 1) * lasts
        assert gained == pytest.approx(end - begin, abs=9.81 * COARSE * max(lasts, 0.1)), phase.until


@pytest.mark.slow(reason="meshes that become finer until the simulator follows, four minutes of processor")
@pytest.mark.timeout(3600)
def test_the_simulator_repeats_a_fine_plan(capsys):
    """Event by event, and its gait, which no run in one go would follow, by multiple shooting."""
    example = load("human_optimal")
    design = example.main("fine")
    assert design.ok, design.wrong
    assert "the simulator repeats it" in capsys.readouterr().out
    assert example.sum_of_torques(design) == pytest.approx(66.6, rel=ROUNDING)
    assert design.gait is not None
    assert not design.gait.stable
    assert design.replay.pieces.agrees(list(example.PHASES))
