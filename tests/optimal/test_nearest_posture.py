"""Postures that conditions leave: also where some of them say nothing, or repeat others."""

import casadi as ca
import numpy as np
import pytest

from strut.optimal.walk.kinematic_stride import nearest_posture

FREE = (np.full(2, -np.inf), np.full(2, np.inf))


def test_the_nearest_point_of_a_line():
    q = ca.SX.sym("q", 2)
    posture = nearest_posture(q, [q[0] + q[1] - 1], np.zeros(2), FREE)
    assert posture == pytest.approx([0.5, 0.5], abs=1e-6)


def test_rows_that_repeat_others_are_no_hindrance(capfd):
    """Three conditions on two positions: a leg of one metre with its foot at a place, and that place again."""
    q = ca.SX.sym("q", 2)
    rows = [q[0] - 0.3, q[1] - ca.sqrt(1 - q[0] ** 2), ca.sumsqr(q) - 1]
    posture = nearest_posture(q, rows, np.array([0.1, 0.9]), FREE)
    assert posture == pytest.approx([0.3, np.sqrt(1 - 0.09)], abs=1e-6)
    assert nearest_posture(q, [*rows, q[1] - 0.5], np.array([0.1, 0.9]), FREE) is None
    assert not "".join(capfd.readouterr())  # no solver warns of what it was given


def test_a_condition_that_no_position_changes_is_not_met():
    q = ca.SX.sym("q", 2)
    assert nearest_posture(q, [q[0], q[1], ca.SX(0.1)], np.zeros(2), FREE) is None
