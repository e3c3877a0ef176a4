"""Port-based curve tracking: energies that do not change, closed forms, and a machine of one's own."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, control, joints, mechanism, walkers
from strut.errors import ModelError, ValueRangeError
from strut.gait import find
from strut.studies.duindam_tracking import puck_on_circle, tracked_compass


def test_the_puck_gets_the_forces_of_the_closed_form():
    """Equation 5.24: u = (a1/|q| + a a1 a2) J y, with the momenta a1, a2 along and across the circle."""
    loop = puck_on_circle()
    both = loop.function("forces", [loop["x_force"], loop["y_force"]], "xp", clock=False)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.normal(size=2), rng.normal(size=2)
        radius = np.linalg.norm(q)
        along, across = np.array([-q[1], q[0]]) / radius @ v, q / radius @ v
        a = 1.0 / np.sqrt(across**2 + 1e-3)
        expected = (along / radius + a * along * across) * np.array([-v[1], v[0]])
        forces = [float(f) for f in both([*q, *v], strut.system.start(loop).p)]
        assert np.allclose(forces, expected, rtol=1e-12, atol=1e-12)


def test_the_kinetic_energy_of_the_puck_does_not_change():
    """100 s, to 1e-12: the powers of both terms are zero by their form; the integrator of order 8 at rtol 1e-14
    leaves its rounding, 3e-13. The puck comes to a circle."""
    run = strut.simulate(puck_on_circle(), t=100.0, rtol=1e-14, atol=1e-16)
    kinetic = run.ledger.stored["kinetic"]
    assert np.abs(kinetic / kinetic[0] - 1).max() < 1e-12
    for term in ("nominal", "transfer"):
        assert np.abs(run.ledger.supplied[term]).max() < 1e-12 * kinetic[0]
    radius = np.hypot(run["x"], run["y"])
    assert np.ptp(radius[run.t > 50]) < 1e-9 < 0.1 < np.ptp(radius)


def three_links():
    """A machine of one's own: an arm of three links on a table."""
    m = Mechanism("arm", planar=True, g=0.0)
    at = m.world
    for k, (length, mass) in enumerate([(0.5, 2.0), (0.4, 1.0), (0.3, 0.5)]):
        link = m.body(f"link_{k}", mass, (0, 0, length / 2), 0.02)
        place = (0, 0, 0) if k == 0 else (0, 0, [0.5, 0.4][k - 1])
        m.joint(f"joint_{k}", at, link, joints.revolute("y"), at=place, initial=0.2 * k, rate=0.8 - 0.5 * k)
        at = link
    return mechanism.system(m)


def test_three_links_follow_a_curve_with_the_energy_they_have():
    """In more than two coordinates no frame is needed: the covariant derivative of the field is enough."""
    s = np.linspace(0, 6, 80)
    curve = np.column_stack([s, 0.4 * np.sin(s), 0.3 * np.cos(s)])
    field = control.nearest_point_field(curve, width=0.1)
    loop = control.port_tracking(three_links(), field, transfer=2.0)
    run = strut.simulate(loop, t=5.0, rtol=1e-11, atol=1e-12)
    kinetic = run.ledger.stored["kinetic"]
    assert np.abs(kinetic / kinetic[0] - 1).max() < 1e-9
    assert run["speed_across"][0] > 0.1 > 1e-2 > run["speed_across"][-1]
    assert run.ledger.residual < 1e-9
    # it has come near the curve
    end = np.array([run[f"joint_{k}"][-1] for k in range(3)])
    assert np.linalg.norm(curve - end, axis=1).min() < 0.05


@pytest.fixture(scope="module")
def passive():
    return find(walkers.compass_driven())


def test_the_compass_survives_nine_centimetres(passive):
    """Duindam: 11 cm with curve tracking, 2 cm without; the foot must push all the time, or the run ends."""
    loop = tracked_compass(passive)
    for machine, height, fine in ((loop, 0.09, True), (passive.system, 0.05, False)):
        z0 = {**passive.z0, "foothold_z": passive.z0["foothold_z"] + height}
        run = strut.simulate(machine, t=12.0, x0=passive.x0, z0=z0)
        assert (run.status == "done") is fine
        if fine:
            assert run["stance_normal"].min() > 0
            assert abs(run.ledger.supplied["nominal"][-1]) < 1e-10
            assert abs(run.ledger.supplied["transfer"][-1]) < 1e-10
            assert abs(run.ledger.supplied["potential"][-1]) > 0.05
            assert run.ledger.residual < 1e-6
            # the disturbance has become motion along the curve, or is gone
            assert run["speed_across"][-1] < 0.1 < run["speed_across"].max()


def test_fitted_directions_are_those_of_the_curve(passive):
    curve = control.curve_of(passive, ("stance", "swing"))
    q = ca.SX.sym("q", 2)
    fitted = ca.Function("fitted", [q], [control.fitted_field(curve)(q)])
    tangents = np.gradient(curve, axis=0)
    for k in range(5, 55, 10):
        cosine = np.array(fitted(curve[k]))[:, 0] @ tangents[k] / np.linalg.norm(tangents[k])
        assert cosine > np.cos(0.15)  # [rad]: a polynomial of degree 4 does no better


def test_what_is_refused(passive):
    circle = np.column_stack([np.cos(np.linspace(0, 3)), np.sin(np.linspace(0, 3))])
    with pytest.raises(
        ModelError, match=r"has 2 coordinates \(stance, swing\) and 1 inputs: .* one for each"
    ):
        control.port_tracking(walkers.compass(), control.nearest_point_field(circle))
    with pytest.raises(ModelError, match="the field has 3 numbers, and 'compass_driven' 2 coordinates"):
        control.port_tracking(passive.system, lambda q: ca.vertcat(q, 1))
    with pytest.raises(ValueRangeError, match="transfer of port tracking is -1: 0 or more"):
        control.port_tracking(passive.system, control.nearest_point_field(circle), transfer=-1.0)
    with pytest.raises(ValueRangeError, match="width of a field is 0: a positive number is needed"):
        control.nearest_point_field(circle, width=0.0)
    with pytest.raises(ValueRangeError, match="would have .* points 1e-06 apart: up to 2000 are allowed"):
        control.nearest_point_field(circle, width=1e-6)
    with pytest.raises(ValueRangeError, match="degree of a fitted field is 40: .*, 1 to 10"):
        control.fitted_field(circle, degree=40)
    with pytest.raises(ModelError, match="a curve is an array of finite numbers"):
        control.nearest_point_field(circle[:2])
    with pytest.raises(ModelError, match="has two coordinates, and the curve 3"):
        control.fitted_field(np.column_stack([circle, circle[:, 0]]))
    with pytest.raises(ModelError, match="a matrix of 2 rows and columns that has an inverse"):
        control.nearest_point_field(circle, measure=np.ones((2, 2)))
