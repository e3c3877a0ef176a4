"""COMAN's legs in a plane: the sums of the listing, its feet, its energy on both grounds."""

import casadi as ca
import numpy as np
import pytest

from strut import walkers
from strut.errors import ModelError
from strut.mechanism import Tree, observe
from strut.simulate import simulate


def test_sums_are_those_of_the_listing():
    mechanism = walkers.coman_planar_mechanism()
    tree = Tree(mechanism)
    assert tree.nv == 9
    assert float(observe.mass(tree)) == pytest.approx(27.33174, abs=1e-9)
    places = ca.vertcat(*[observe.position(tree, name) for name in ("heel_r", "toe_l")])
    q = np.zeros(9)
    q[1] = 0.5268
    heel, toe = np.array(ca.Function("f", [tree.q], [places])(q)).reshape(2, 3)
    np.testing.assert_allclose(heel, (-0.03, 0, 0.005), atol=1e-12)
    np.testing.assert_allclose(toe, (0.0825, 0, 0.005), atol=1e-12)
    assert {each.limits for each in walkers.coman_planar(ground="soft").u} == {(-30.0, 30.0)}


@pytest.mark.parametrize(
    "how", [{"ground": "rigid"}, {"ground": "soft"}, {"ground": "soft", "events": False}]
)
def test_the_account_of_a_fall_closes(how):
    run = simulate(walkers.coman_planar(**how, pitch=0.05), 0.6, rtol=1e-9, atol=1e-10)
    assert run.status in {"fall", "topple", "done"}
    assert run.ledger.relative < 1e-7


def test_unknown_ground_is_refused():
    with pytest.raises(ModelError, match="ground is 'sand'"):
        walkers.coman_planar(ground="sand")
    with pytest.raises(ModelError, match="events=False is of soft ground"):
        walkers.coman_planar(events=False)
