"""One step of the walkers, against models derived another way, published gaits and closed forms."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.walkers import compass, compass_duindam, kneed, round_foot, simplest
from tests.walkers.oracle import Walker

SLOPE3 = np.radians(3)


def strikes(run, name="heel_strike"):
    return [e for e in run.events if e.name == name]


def along(angle):
    """From a foot up its leg."""
    return ca.vertcat(-ca.sin(angle), ca.cos(angle))


def test_compass_returns_to_itself():
    run = strut.simulate(compass(), t=0.75, rtol=1e-12, atol=1e-13)
    strike = strikes(run)[0]
    assert strike.t == pytest.approx(0.734346391159, abs=1e-9)
    for name in ("stance", "swing", "stance_rate", "swing_rate"):
        assert strike.after[name] == pytest.approx(run[name][0], abs=1e-9)
    assert strike.after["step_length"] == pytest.approx(0.535445415430, abs=1e-9)
    assert run.ledger.lost["heel_strike"][-1] == pytest.approx(5.498121985, abs=1e-9)


def test_simplest_walker_returns_to_itself():
    run = strut.simulate(simplest(), t=4.0, rtol=1e-12, atol=1e-13)
    strike = strikes(run)[0]
    assert strike.t == pytest.approx(3.88246375285135, abs=1e-9)
    assert strike.after["stance"] == pytest.approx(0.20031090054425, abs=1e-9)
    assert strike.after["stance_rate"] == pytest.approx(-0.19983247300495, abs=1e-9)


def test_compass_with_light_legs_is_the_simplest_walker():
    """Legs whose mass is at the feet and goes to nothing."""
    start = simplest()
    light = compass(a=1e-3, b=0.999, leg_mass=1e-6, hip_mass=1.0, g=1.0, slope=0.009, stance=0.20031090054425 - 0.009,
                    swing=-0.20031090054425 - 0.009, stance_rate=-0.19983247300495,
                    swing_rate=-0.19983247300495 * np.cos(2 * 0.20031090054425))  # fmt: skip
    run = strut.simulate(light, t=4.5)
    strike = strikes(run)[0]
    assert strike.t == pytest.approx(strikes(strut.simulate(start, t=4.5))[0].t, abs=2e-2)


def test_round_feet_step_as_rolling_bodies_do():
    R, c, b, m, inertia, hip, gamma = 0.2, 1.0, 0.5, 0.5, 0.02, 1.0, 0.01
    normal, tangent = np.array([np.sin(gamma), np.cos(gamma)]), np.array([np.cos(gamma), -np.sin(gamma)])

    def masses(q):
        centre, s, w = q[:2], q[2], q[3]
        top = centre + c * along(s)
        return [
            (m, centre + (c - b) * along(s), inertia, s),
            (hip, top, 0, s),
            (m, top - b * along(w), inertia, w),
        ]

    def rolls(place, angle):
        def rows(q, v):
            spin = ca.jtimes(angle(q), q, v)  # counter-clockwise
            arm = -R * normal
            speed = ca.jtimes(place(q), q, v) + spin * ca.vertcat(-arm[1], arm[0])
            return ca.vertcat(ca.dot(ca.DM(normal), speed), ca.dot(ca.DM(tangent), speed))

        return rows

    def swing_centre(q):
        return q[:2] + c * along(q[2]) - c * along(q[3])

    oracle = Walker(
        2,
        masses,
        rolls(lambda q: q[:2], lambda q: q[2]),
        rolls(swing_centre, lambda q: q[3]),
        lambda q: ca.dot(ca.DM(normal), swing_centre(q)) - R,
        1.0,
    )
    start = {"stance": 0.19, "swing": -0.21, "stance_rate": -0.25, "swing_rate": -0.15}
    q = np.concatenate([R * normal, [start["stance"], start["swing"]]])
    spin = start["stance_rate"]
    v = np.concatenate([-R * spin * tangent, [spin, start["swing_rate"]]])
    duration, q1, v1 = oracle.step(q, v)
    strike = strikes(strut.simulate(round_foot(**start), t=4.0, rtol=1e-12, atol=1e-13))[0]
    assert strike.t == pytest.approx(duration, abs=1e-8)
    np.testing.assert_allclose(
        [strike.after[n] for n in ("swing", "stance", "swing_rate", "stance_rate")],
        [*q1[2:], *v1[2:]],
        atol=1e-8,
    )


def test_knees_step_as_point_masses_do():
    a1, b1, a2, b2, hip, thigh, shank, gamma = 0.375, 0.125, 0.175, 0.325, 0.5, 0.5, 0.05, 0.0504
    leg = a1 + b1 + a2 + b2
    normal = np.array([np.sin(gamma), np.cos(gamma)])

    def masses(q):
        foot, s, t, k = q[:2], q[2], q[3], q[4]
        top = foot + leg * along(s)
        knee = top - (a2 + b2) * along(t)
        return [
            (shank, foot + a1 * along(s), 0, s),
            (thigh, foot + (a1 + b1 + a2) * along(s), 0, s),
            (hip, top, 0, s),
            (thigh, top - b2 * along(t), 0, t),
            (shank, knee - b1 * along(k), 0, k),
        ]

    def swing_foot(q):
        return q[:2] + leg * along(q[2]) - (a2 + b2) * along(q[3]) - (a1 + b1) * along(q[4])

    def rows(place):
        return lambda q, v: ca.jtimes(place(q), q, v)

    oracle = Walker(
        3,
        masses,
        rows(lambda q: q[:2]),
        rows(swing_foot),
        lambda q: ca.dot(ca.DM(normal), swing_foot(q)),
        9.81,
        locks=[(2, 1)],
    )
    start = {
        "stance": 0.19,
        "swing": -0.29,
        "shank": -0.29,
        "stance_rate": -1.11,
        "swing_rate": -0.06,
        "shank_rate": -0.06,
    }
    q = np.array([0, 0, 0.19, -0.29, -0.29])
    v = np.array([0, 0, -1.11, -0.06, -0.06])
    duration, q1, v1 = oracle.step(q, v)
    run = strut.simulate(kneed(**start), t=1.0, rtol=1e-12, atol=1e-13)
    strike = strikes(run)[0]
    assert strike.t == pytest.approx(duration, abs=1e-8)
    after = [strike.after[n] for n in ("swing", "stance", "swing_rate", "stance_rate")]
    np.testing.assert_allclose(after, [q1[2], q1[3], v1[2], v1[3]], atol=1e-7)
    assert strike.before["shank"] == pytest.approx(strike.before["swing"], abs=1e-12)
    assert strike.before["shank_rate"] == pytest.approx(strike.before["swing_rate"], abs=1e-12)


@pytest.mark.parametrize("make", [compass, round_foot, kneed, simplest])
def test_fifty_steps_balance(make):
    """The energy account closes; what gravity gives, heel strikes take; the gait is periodic."""
    walker = make()
    run = strut.simulate(walker, t=60.0 if make in (compass, kneed) else 210.0)
    assert run.ok
    found = strikes(run)
    assert len(found) >= 50
    size = max(np.abs(e).max() for e in run.ledger.stored.values())
    assert run.ledger.residual < 1e-9 * size
    lengths = [e.after["step_length"] for e in found[-3:]]
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)


def test_a_rolling_foot_comes_as_far_as_gravity_says():
    """What gravity gives in a step is weight by the drop of the ground over its length; legs apart by the
    same angle come further by as much as the foot rolls, its radius by that angle."""
    walker = round_foot()
    run = strut.simulate(walker, t=210.0, rtol=1e-11, atol=1e-12)
    before, last = strikes(run)[-2:]
    length, height = last.after["step_length"], run.ledger.stored["gravity"]
    times = np.asarray(run.t)
    fallen = np.interp(before.t, times, height) - np.interp(last.t, times, height)
    assert fallen == pytest.approx(2.0 * 1.0 * length * np.sin(0.01), rel=1e-5)  # 2 kg, gravity of 1
    apart = last.before["stance"] - last.before["swing"]
    assert length == pytest.approx(2 * np.sin(abs(apart) / 2) + 0.2 * abs(apart), rel=1e-3)


def test_duindams_passive_gait_and_step_down():
    walker = compass_duindam()
    run = strut.simulate(walker, t=30.0)
    landings = np.sort([*run.events.times("foot_l_touchdown"), *run.events.times("foot_r_touchdown")])
    np.testing.assert_allclose(np.diff(landings)[-5:], 0.782798, atol=2e-6)
    assert run["step_length"][-1] == pytest.approx(0.589692, abs=2e-6)
    assert run["speed"][-1] == pytest.approx(0.7533, abs=1e-4)
    assert run["steps"][-1] == len(landings)
    assert run.ledger.residual < 1e-9 * np.abs(run.ledger.stored["gravity"]).max()
    assert strut.simulate(walker.using(step_down=0.020), t=25.0).ok
    assert strut.simulate(walker.using(step_down=0.022), t=25.0).status == "fall"


def test_both_compass_models_are_one_machine():
    """Free feet with events, and the fewest coordinates with exchanged legs: the same strikes."""
    free = compass_duindam(leg_mass=5.0, hip_mass=10.0, g=9.81, leg=0.218668802939, leg_rate=-1.092383589884,
                           hip=-0.323388558059 - 0.218668802939, hip_rate=-0.377373948907 + 1.092383589884)  # fmt: skip
    few, many = strut.simulate(compass(), t=3.0), strut.simulate(free, t=3.0)
    landings = np.sort([*many.events.times("foot_l_touchdown"), *many.events.times("foot_r_touchdown")])
    np.testing.assert_allclose(landings, few.events.times("heel_strike"), atol=1e-8)


def test_compass_impact_map_in_closed_form():
    """Duindam's equation 4.15, with his masses."""
    m, mh = 1.0, 5.0
    rng = np.random.default_rng(3)
    for _ in range(5):
        q3, w3, w4 = -rng.uniform(0.15, 0.4), -rng.uniform(0.8, 1.5), rng.uniform(-1, 0.5)
        D = 3 * m + 4 * mh - 2 * m * np.cos(4 * q3)
        matrix = -np.array([[m - 2 * (m + 2 * mh) * np.cos(2 * q3), m],
                            [8 * (m + mh) * (1 + 2 * np.cos(2 * q3)) * np.sin(q3) ** 2, 2 * m * np.cos(2 * q3) - m]]) / D  # fmt: skip
        walker = compass(
            leg_mass=m, hip_mass=mh, slope=0.0, stance=q3, swing=-q3, stance_rate=w3, swing_rate=w3 + w4
        )
        strike = next(e for e in walker.events if e.name == "heel_strike")
        names = walker.labels("x")
        start = strut.simulate(walker, t=0.0)
        f = ca.Function("f", [ca.vertcat(*[q.sym for q in walker.x]), ca.vertcat(*[q.sym for q in walker.z]),
                              ca.vertcat(*[q.sym for q in walker.p]), strut.time],
                        [ca.vertcat(*[strike.reset[n] for n in names])])  # fmt: skip
        after = dict(
            zip(
                names,
                np.array(f(start.end["x0"], start.end["z0"], start.end["p"], 0.0)).reshape(-1),
                strict=True,
            )
        )
        expected = matrix @ [w3, w4]
        np.testing.assert_allclose(
            [after["stance_rate"], after["swing_rate"] - after["stance_rate"]], expected, atol=1e-12
        )


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"stance_rate": -0.2}, "sit"),
        ({"slope": 0.09}, "fall"),
        ({"stance_rate": -2.9}, "take_off"),
    ],
)
def test_runs_that_end_say_how(values, status):
    run = strut.simulate(compass(**values), t=20.0)
    assert run.status == status
    assert run.t1 < 20.0
    assert run.events[-1].name == status


def test_symmetry_of_free_walkers_is_an_involution_and_keeps_the_energy():
    for name in ("compass-duindam", "dribbel", "trunk-3d"):
        walker = strut.walkers.CATALOGUE[name]()
        x, z, p = (ca.vertcat(*[q.sym for q in getattr(walker, group)]) for group in "xzp")
        u = ca.vertcat(*[q.sym for q in walker.u], ca.SX(0, 1))
        swapped = [
            ca.vertcat(*[walker.symmetry.get(q.name, q.sym) for q in getattr(walker, group)])
            for group in "xz"
        ]
        swap = ca.Function("swap", [x, z, p], swapped)
        energy = ca.Function("energy", [x, z, u, p], [sum(walker.ledger.stored.values())])
        start = strut.simulate(walker, t=0.0).end
        rng = np.random.default_rng(0)
        x0 = start["x0"] + 0.1 * rng.standard_normal(len(start["x0"]))
        z0, p0 = start["z0"], start["p"]
        x1, z1 = (np.array(r).reshape(-1) for r in swap(x0, z0, p0))
        x2, z2 = (np.array(r).reshape(-1) for r in swap(x1, z1, p0))
        np.testing.assert_allclose(x2, x0, atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(z2, z0)
        u0 = np.zeros(len(walker.u))
        assert float(energy(x1, z1, u0, p0)) == pytest.approx(float(energy(x0, z0, u0, p0)), rel=1e-12)
