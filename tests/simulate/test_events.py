"""Events: their times against closed forms, their order, their accumulation, and everything that could hang."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Discrete, Event, Param, State, System, walkers
from strut.codegen import INTEGRATORS, StepKind
from tests.problems import counter

EVENT_TOLERANCE = 1e-10  # [s], asked of event times; rounding alone allows about 1e-15
EXPLICIT = tuple(name for name, method in INTEGRATORS.items() if method.kind is not StepKind.IMPLICIT)
BACKENDS = ("native", "virtual")


def bounce_times(restitution, count, height=1.0, g=9.81):
    fall = np.sqrt(2 * height / g)
    return fall + np.concatenate([[0], np.cumsum(2 * fall * restitution ** np.arange(1, count))])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["rk4", "leapfrog", "predictor-corrector", "dopri5", "dop853"])
def test_bouncing_ball_matches_the_closed_form(method, backend):
    """A parabola is integrated exactly by every method of order two or more, so what is left is event location."""
    run = strut.simulate(
        walkers.bouncing_ball(restitution=0.9), t=3.0, method=method, step=0.013, backend=backend
    )
    times = run.events.times("bounce")
    assert len(times) == 4
    np.testing.assert_allclose(times, bounce_times(0.9, 4), rtol=0, atol=EVENT_TOLERANCE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8, 0.9])
def test_accumulating_bounces_end_the_run_where_they_accumulate(restitution, backend):
    run = strut.simulate(walkers.bouncing_ball(restitution=restitution), t=100.0, backend=backend)
    end = np.sqrt(2 / 9.81) * (1 + restitution) / (1 - restitution)
    assert run.status == "zeno"
    assert not run.ok
    assert run.t1 == pytest.approx(end, abs=EVENT_TOLERANCE)
    assert run["height"].min() > -1e-12  # it never fell through the floor


def test_nearly_elastic_bounces_accumulate_too():
    run = strut.simulate(walkers.bouncing_ball(restitution=0.99), t=1000.0)
    assert run.status == "zeno"
    assert run.t1 == pytest.approx(np.sqrt(2 / 9.81) * 1.99 / 0.01, abs=1e-8)


def test_dead_ball_does_not_hang():
    """Restitution 0 leaves the ball on the guard, pushed into it: its events accumulate at once."""
    run = strut.simulate(walkers.bouncing_ball(restitution=0.0), t=1.0)
    assert run.status == "zeno"
    rounding = np.sqrt(
        2 * 256 * np.finfo(float).eps / 9.81
    )  # [s] to fall through what a guard of 1 m counts as zero
    assert run.t1 == pytest.approx(np.sqrt(2 / 9.81), abs=rounding)
    assert run["height"].min() > -1e-12


def test_elastic_ball_keeps_bouncing():
    run = strut.simulate(walkers.bouncing_ball(restitution=1.0), t=50.0)
    assert run.status == "done"
    assert len(run.events) == 55
    assert run.ledger.residual < 1e-10


@pytest.mark.parametrize("method", EXPLICIT)
def test_fixed_step_event_times_have_the_order_of_the_method(method):
    """A pendulum's first passage through the bottom: the located time converges with the method's order."""
    angle, rate = State("angle", 1.0), State("rate", 0.0)
    swing = System(
        "swing",
        x=[angle, rate],
        flow={angle: rate, rate: -ca.sin(angle)},
        events=[Event("bottom", angle, direction="down")],
    )
    exact = strut.simulate(swing, t=3.0, rtol=1e-13, atol=1e-14).events.t[0]
    steps = np.array([0.5, 0.4, 0.3, 0.2]) if method == "dop853" else np.array([0.05, 0.025, 0.0125])
    errors = [
        abs(
            strut.simulate(swing, t=3.0, method=method, step=h, max_step=h, rtol=1e3, atol=1e3).events.t[0]
            - exact
        )
        for h in steps
    ]
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] > INTEGRATORS[method].order - 0.7


@pytest.mark.parametrize("backend", BACKENDS)
def test_events_without_a_reset_fire_once_per_crossing(backend):
    run = strut.simulate(counter(), t=20.0, backend=backend)
    rises = 0.5 + 2 * np.pi * np.arange(4)
    np.testing.assert_allclose(run.events.times("rise"), rises, atol=EVENT_TOLERANCE)
    np.testing.assert_allclose(run.events.times("fall"), rises[:3] + np.pi, atol=EVENT_TOLERANCE)
    np.testing.assert_allclose(
        run.events.times("bell"), 1e-3 + 2 * np.pi * np.arange(4), atol=EVENT_TOLERANCE
    )
    assert run["count"][-1] == 4
    assert run["falls"][-1] == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_both_directions(backend):
    x, hits = State("x", 0.5), Discrete("hits", 0)
    wave = System(
        "wave",
        x=[x],
        z=[hits],
        flow={x: ca.cos(strut.time)},
        events=[Event("zero", ca.sin(strut.time - 1), direction="both", reset={hits: hits + 1})],
    )
    run = strut.simulate(wave, t=10.0, backend=backend)
    np.testing.assert_allclose(run.events.t, 1 + np.pi * np.arange(3), atol=EVENT_TOLERANCE)
    assert run["hits"][-1] == 3


def test_grazing_inside_one_step_is_seen():
    """A peak that is over before the step ends: found from the rates at both ends; a miss stays a miss."""
    x = State("x", 0.0)
    for height, expected in ((1e-6, 1), (-1e-6, 0)):
        graze = System("graze", x=[x], flow={x: 1.0}, events=[Event("touch", height - (x - 0.5) ** 2)])
        run = strut.simulate(graze, t=1.0, method="rk4", step=1.0)
        assert len(run.events) == expected
        if expected:
            assert run.events.t[0] == pytest.approx(0.5 - np.sqrt(height), abs=EVENT_TOLERANCE)


def test_simultaneous_events_go_in_priority_order():
    x = State("x", 0.0)
    trace = Discrete("trace", 0)

    def mark(name, digit, priority):
        return Event(name, x - 1, priority=priority, reset={trace: 10 * trace + digit})

    clash = System(
        "clash",
        x=[x],
        z=[trace],
        flow={x: 1.0},
        events=[mark("late", 3, 5), mark("first", 1, -1), mark("second", 2, 0)],
    )
    for backend in BACKENDS:
        run = strut.simulate(clash, t=2.0, backend=backend)
        assert run.events.names == ("first", "second", "late")
        assert run["trace"][-1] == 123
        np.testing.assert_allclose(run.events.t, 1.0, atol=EVENT_TOLERANCE)


def test_an_event_can_cancel_another_at_the_same_instant():
    x, z = State("x", 0.0), Discrete("z", 0)
    clash = System(
        "clash",
        x=[x],
        z=[z],
        flow={x: 1.0},
        events=[
            Event("back", x - 1, priority=0, reset={x: 0.0}),
            Event("seen", x - 1, priority=1, reset={z: z + 1}),
        ],
    )
    for backend in BACKENDS:
        assert strut.simulate(clash, t=2.5, backend=backend).events.counts() == {"back": 2}


def test_a_reset_can_fire_another_event():
    """A counter that reaches its limit through a reset, not through the flow."""
    x, n = State("x", -0.5), Discrete("n", 0)
    chain = System(
        "chain",
        x=[x],
        z=[n],
        flow={x: 1.0},
        events=[Event("tick", x, reset={x: -1.0, n: n + 1}), Event("enough", n - 2.5, terminal=True)],
    )
    for backend in BACKENDS:
        run = strut.simulate(chain, t=100.0, backend=backend)
        assert run.status == "enough"
        assert run.ok
        assert run.t1 == pytest.approx(2.5, abs=EVENT_TOLERANCE)


def test_a_guard_that_is_positive_when_enabled_waits_for_its_next_crossing():
    x, on = State("x", 0.5), Discrete("on", 0)
    gate = System(
        "gate",
        x=[x],
        z=[on],
        flow={x: ca.cos(strut.time)},
        events=[Event("open", strut.time - 0.1, reset={on: 1}), Event("up", ca.sin(strut.time), when=on)],
    )
    for backend in BACKENDS:
        run = strut.simulate(gate, t=10.0, backend=backend)
        np.testing.assert_allclose(run.events.times("up"), [2 * np.pi], atol=EVENT_TOLERANCE)


def test_events_that_feed_each_other_at_one_instant_end_the_run():
    x, z = State("x", -1.0), Discrete("z", -1.0)
    loop = System(
        "loop",
        x=[x],
        z=[z],
        flow={x: 1.0},
        events=[Event("start", x, reset={z: 1}), Event("a", z, reset={z: -1}), Event("b", -z, reset={z: 1})],
    )
    for backend in BACKENDS:
        run = strut.simulate(loop, t=5.0, backend=backend)
        assert run.status == "zeno"
        assert run.t1 == pytest.approx(1.0, abs=EVENT_TOLERANCE)


def test_chattering_ends_the_run():
    """x' = -sign(x), switched by events at x = 0 with no hysteresis: it would chatter for ever."""
    x, s = State("x", 1.0), Discrete("s", 1.0)
    relay = System(
        "relay",
        x=[x],
        z=[s],
        flow={x: -s},
        events=[Event("down", x, direction="down", reset={s: -1}), Event("up", x, reset={s: 1})],
    )
    for backend in BACKENDS:
        run = strut.simulate(relay, t=5.0, backend=backend)
        assert run.status == "zeno"
        assert run.t1 == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("gap", [1e-13, 5e-13])
def test_events_that_crawl_end_the_run(backend, gap):
    """Each event sets the state back by less than the clock is read: a second would take 1e13 of them."""
    x = State("x", 0.0)
    crawl = System("crawl", x=[x], flow={x: 1.0}, events=[Event("back", x - 1, reset={x: 1 - gap})])
    run = strut.simulate(crawl, t=3.0, backend=backend)
    assert run.status == "zeno"
    assert run.t1 == pytest.approx(1.0, abs=1e-9)
    assert run.statistics["steps"] < 2000
    assert run.message.startswith("event 'back' accumulates at t = 1 s")


@pytest.mark.parametrize("backend", BACKENDS)
def test_events_that_are_close_in_a_short_run_are_no_crawl(backend):
    """30 ps with an event every 0.1 ps are 300 events, and a run as long as it should be."""
    x = State("x", 0.0)
    fast = System("fast", x=[x], flow={x: 1.0}, events=[Event("back", x - 1e-13, reset={x: 0.0})])
    run = strut.simulate(fast, t=3e-11, backend=backend, atol=1e-25)
    assert run.status == "done"
    assert len(run.events) == pytest.approx(300, abs=2)


def test_terminal_event_carries_the_state():
    run = strut.simulate(walkers.slip(stiffness=1e3), t=100.0)
    assert run.status == "fell"
    assert run.ended_in_failure
    assert not run.ok
    assert run.events[-1].name == "fell"
    assert run.events[-1].before["y"] == pytest.approx(0, abs=1e-9)


def test_divergence_is_marked():
    x = State("x", 1.0)
    blow_up = System("blow_up", x=[x], flow={x: x**2})  # infinite at t = 1
    for method, kw in (("dop853", {}), ("dopri5", {}), ("rk4", {"step": 0.01})):
        run = strut.simulate(blow_up, t=2.0, method=method, **kw)
        assert run.status in ("not finite", "step too small")
        assert not run.ok
        assert run.t1 < 1.2
        assert np.all(np.isfinite(run["x"]))


def test_too_many_steps():
    run = strut.simulate(walkers.pendulum(), t=10.0, max_steps=7)
    assert run.status == "too many steps"
    assert run.statistics["steps"] == 7


def test_van_der_pol_period():
    """Kieboom, model 2.12: period 11.61223 s and amplitude 2.02151 for mu = 5."""
    plain = walkers.van_der_pol()
    system = plain.replace(events=[Event("peak", plain["velocity"], direction="down")])
    run = strut.simulate(system, t=60.0)
    peaks = run.events.times("peak")
    assert np.diff(peaks)[-1] == pytest.approx(11.61223, abs=5e-6)
    assert run.events[-1].before["position"] == pytest.approx(2.02151, abs=5e-6)


def test_event_times_shift_with_a_parameter():
    """A parameter stays a symbol: the same compiled system answers for any value."""
    drop = walkers.bouncing_ball()
    for g in (1.6, 9.81, 24.8):
        run = strut.simulate(drop, t=2.0, p={"g": g})
        assert run.events.t[0] == pytest.approx(np.sqrt(2 / g), abs=EVENT_TOLERANCE)


def test_param_objects_of_one_name_are_one_parameter():
    x = State("x", 1.0)
    a, b = Param("k", 2.0), Param("k", 2.0)
    system = System("twice", x=[x], p=[a, b], flow={x: -a * x - b * x})
    assert system.labels("p") == ("k",)
    assert strut.simulate(system, t=1.0)["x"][-1] == pytest.approx(np.exp(-4), rel=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fast_guard_shortens_the_steps(backend):
    """A clock that beats three times a second beside a ballistic body, whose own steps would be seconds long."""
    height, velocity, phase, beats = (
        State("height", 0.0),
        State("velocity", -1.0),
        State("phase", 0.1),
        Discrete("beats", 0),
    )
    cpg = System(
        "cpg",
        x=[height, velocity, phase],
        z=[beats],
        flow={height: velocity, velocity: -9.81, phase: 20.0},
        events=[Event("beat", ca.sin(phase), reset={beats: beats + 1})],
    )
    for method in ("dop853", "dopri5"):
        run = strut.simulate(cpg, t=10.0, method=method, backend=backend)
        expected = (2 * np.pi * np.arange(1, 32) - 0.1) / 20
        np.testing.assert_allclose(run.events.t, expected[expected < 10], atol=EVENT_TOLERANCE)


@pytest.mark.parametrize("rate", [20, 100, 1000])
def test_a_guard_of_time_alone(rate):
    x = State("x", 0.0)
    tick = System("tick", x=[x], flow={x: 0.0}, events=[Event("beat", ca.sin(rate * strut.time + 0.1))])
    run = strut.simulate(tick, t=10.0)
    assert len(run.events) == int((10 * rate + 0.1) / (2 * np.pi))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_guard_on_zero_at_the_beginning_fires_if_it_rises(backend):
    falling = strut.simulate(
        walkers.bouncing_ball(height=0.0, velocity=-1.0, restitution=0.5), t=0.05, backend=backend
    )
    assert falling.events.t[0] == 0.0
    assert falling["height"].min() > -1e-12
    rising = strut.simulate(walkers.bouncing_ball(height=0.0, velocity=1.0), t=0.05, backend=backend)
    assert len(rising.events) == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_only_records_on_a_guard_at_rest_on_zero_fires_once(backend):
    """A guard that begins at zero, with a rate of zero, and then rises. One whose reset stops the mass, and
    by chance changes nothing, fires again and ends the run: a mass would fall through its ground otherwise."""
    x, v, seen = State("x", 0.0), State("v", 0.0), Discrete("seen", 0.0)
    for reset, status in (({}, "done"), ({seen: 1.0}, "done"), ({v: 0.0}, "zeno")):
        limit = Event("limit", guard=x.sym, reset=reset)
        mass = System("mass", x=[x, v], z=[seen], flow={x: v.sym, v: 1.0}, events=[limit])
        run = strut.simulate(mass, 2.0, backend=backend)
        assert run.status == status
        if status == "done":
            np.testing.assert_array_equal(run.events.times("limit"), [0.0])
            assert run["x"][-1] == pytest.approx(2.0, rel=1e-9)
    # a discrete state that the flow reads is more than a record
    pushed = System("mass", x=[x, v], z=[seen], flow={x: v.sym, v: 1.0 + 0 * seen.sym + 1e-3 * seen.sym},
                    events=[Event("limit", guard=x.sym, reset={seen: 0.0})])  # fmt: skip
    assert strut.simulate(pushed, 2.0, backend=backend).status == "zeno"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_guard_that_is_no_number_ends_the_run(backend):
    x = State("x", 1.0)
    lost = System("lost", x=[x], flow={x: -1.0}, events=[Event("never", ca.sqrt(x - 2))])
    run = strut.simulate(lost, t=1.0, backend=backend)
    assert run.status == "not finite"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_system_of_discrete_states_only(backend):
    n = Discrete("n", 0)
    counting = System(
        "counting",
        z=[n],
        samples=[strut.Sample("tick", every=0.1, set={n: n + 1})],
        events=[Event("enough", n - 4.5, terminal=True)],
    )
    run = strut.simulate(counting, t=1.0, backend=backend)
    assert run.status == "enough"
    assert run["n"].tolist()[-1] == 5
    assert run.t1 == pytest.approx(0.4)
