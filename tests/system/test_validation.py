"""What is wrong with a description is said when it is made: each mistake has its own error and its own sentence."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Input, Ledger, Param, Random, Sample, State, System, time
from strut.errors import GuardError, ModelError, ShapeError, UnknownNameError, ValueRangeError

x, v, k = State("x", 1.0), State("v", 0.0), Param("k", 1.0)


def make(**changes):
    fields = {"x": [x, v], "p": [k], "flow": {x: v, v: -k * x}, **changes}
    return System("mass", **fields)


def test_a_correct_system_is_accepted():
    system = make()
    assert system.labels("x") == ("x", "v")
    assert repr(system) == "<System mass: 2 states, 0 discrete, 0 inputs, 1 parameters, 0 events>"


MISTAKES = [
    (
        {"flow": {x: v, v: -ca.SX.sym("stray") * x}},
        UnknownNameError,
        "the flow of 'v' in system 'mass' uses 'stray'",
    ),
    ({"flow": {x: v, v: -k * x, "w": 0}}, UnknownNameError, "names 'w', which is not a state"),
    ({"flow": {x: v}}, ModelError, "state 'v' of system 'mass' has no flow"),
    (
        {"flow": {x: ca.vertcat(v, v), v: 0}},
        ShapeError,
        r"the flow of 'x' in system 'mass' has shape \(2, 1\): \(1, 1\) needed",
    ),
    ({"x": [x, v, State("x", 2.0)]}, ModelError, "state 'x' stands twice"),
    (
        {"p": [k, Param("k", 2.0)]},
        ModelError,
        "parameter 'k' stands twice in system 'mass' with different definitions",
    ),
    ({"p": [k, Param("x", 2.0)]}, ModelError, "'x' stands twice among the names"),
    ({"p": [k, Input("k2")]}, ModelError, "stands in p of system 'mass' but is an input: Param needed"),
    (
        {"events": [Event("never", k - 1)]},
        GuardError,
        "the guard of event 'never' in system 'mass' is .* never changes",
    ),
    ({"events": [Event("never", 1.0)]}, GuardError, "never changes during a run"),
    ({"events": [Event("truth", x < 0)]}, GuardError, "true or false: give a number that crosses zero"),
    ({"events": [Event("zeno", x)]}, ModelError, "event 'zeno' of system 'mass' has the name of a status"),
    (
        {"outputs": {"x[0]": x}},
        ModelError,
        r"output 'x\[0\]' is not a name: use letters, digits and _, with dots",
    ),
    ({"outputs": {"my hip": x}}, ModelError, "output 'my hip' is not a name"),
    ({"outputs": {"t": x}}, ModelError, "has the name of the time itself"),
    ({"events": Event("one", x)}, ModelError, r"events of system 'mass' is .*: give a list, events=\[...\]"),
    ({"events": [Event("wide", ca.vertcat(x, v))]}, ShapeError, "the guard of event 'wide'"),
    ({"events": [Event("hit", x, reset={"y": 0})]}, UnknownNameError, "the reset of event 'hit' names 'y'"),
    ({"events": [Event("hit", x, reset={k: 0})]}, UnknownNameError, "the reset of event 'hit' names 'k'"),
    (
        {"events": [Event("hit", x, when=v)]},
        ModelError,
        "the 'when' of event 'hit' in system 'mass' depends on 'v'",
    ),
    ({"events": [Event("hit", x), Event("hit", v)]}, ModelError, "'hit' stands twice among the events"),
    ({"samples": [Sample("slow", every=0.0, set={})]}, ModelError, "has period 0 s: it must be positive"),
    ({"samples": [Sample("slow", every=x, set={})]}, ModelError, "a period is constant during a run"),
    ({"outputs": {"y": ca.SX.sym("u")}}, UnknownNameError, "output 'y' in system 'mass' uses 'u'"),
    ({"outputs": {"x": v}}, ModelError, "'x' stands twice among the names"),
    (
        {"ledger": Ledger(stored={"e": x}, supplied={"e": v})},
        ModelError,
        "'e' stands twice among the ledger entries",
    ),
]


@pytest.mark.parametrize(("changes", "error", "message"), MISTAKES)
def test_mistakes_are_named(changes, error, message):
    with pytest.raises(error, match=message):
        make(**changes)


def test_initial_values_depend_on_parameters_only():
    late = State("late", v)
    with pytest.raises(
        ModelError,
        match="the initial value of 'late' in system 'mass' depends on 'v': initial values may depend on parameters only",
    ):
        make(x=[x, v, late], flow={x: v, v: -k * x, late: 0})


def test_random_numbers_act_through_samples_only():
    noise = Random("noise")
    with pytest.raises(ModelError, match="hold them in a discrete state with a Sample"):
        make(randoms=[noise], flow={x: v, v: noise - x})
    with pytest.raises(ModelError, match="a guard cannot use random numbers or delays"):
        make(randoms=[noise], events=[Event("hit", x - noise)])


def test_a_delay_cannot_delay_a_delay():
    first = Delay("first", signal=x, by=0.1)
    with pytest.raises(ModelError, match="a delay cannot delay a delay"):
        make(delays=[first, Delay("second", signal=first, by=0.1)])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: State("2x"), "state '2x' is not a name"),
        (lambda: State("a b"), "is not a name"),
        (lambda: State("x; system('rm')"), "is not a name"),
        (lambda: Param("m", float("nan")), "parameter 'm' is .*: a finite number is needed"),
        (lambda: Param("m", 2.0, "kg", bounds=(0, 1)), "parameter 'm' is 2 kg: allowed are 0 to 1 kg"),
        (lambda: Param("m", 1.0, bounds=(2, 1)), "the first must not exceed the second"),
        (lambda: Param("m", k), "parameter 'm' has an expression for its value"),
        (lambda: Event("e", x, direction="sideways"), "event 'e' has direction 'sideways'"),
        (lambda: Random("r", law="cauchy"), "allowed are 'uniform' and 'normal'"),
        (lambda: Delay("d", by=1.0), "delay 'd' has no signal"),
        (lambda: State("x", "hello"), "is not an expression"),
    ],
)
def test_quantities_check_themselves(build, message):
    with pytest.raises((ModelError, ValueRangeError), match=message):
        build()


def test_vectors_have_components():
    q = State("q", [1.0, 2.0, 3.0], "m")
    gain = Param("gain", [1.0, 2.0, 3.0])
    system = System(
        "vector",
        x=[q],
        p=[gain],
        flow={q: -ca.SX(gain.sym) * q.sym},
        outputs={"norm": ca.norm_2(q.sym), "twice": 2 * q.sym},
    )
    assert system.labels("x") == ("q[0]", "q[1]", "q[2]")
    import strut

    run = strut.simulate(system, t=1.0, x0={"q[1]": 5.0})
    assert run["q"].shape == (len(run.t), 3)
    np.testing.assert_allclose(run["q"][-1], [np.exp(-1), 5 * np.exp(-2), 3 * np.exp(-3)], rtol=1e-9)
    np.testing.assert_allclose(run["twice[2]"], 2 * run["q[2]"])
    np.testing.assert_allclose(run["norm"], np.linalg.norm(run["q"], axis=1))


def test_numpy_functions_and_arithmetic_accept_quantities():
    expression = np.sin(x) + 2 * x - x / 3 + x**2 + abs(-x) + np.float64(2) * x
    f = ca.Function("f", [x.sym], [expression])
    assert float(f(0.7)) == pytest.approx(np.sin(0.7) + 1.4 - 0.7 / 3 + 0.49 + 0.7 + 1.4)


def test_comparing_with_a_number_is_an_expression():
    z = Discrete("z", 1)
    f = ca.Function("f", [z.sym], [ca.if_else(z == 1, 10, 20), z != 1, np.arctan2(z, 2), np.sign(z)])
    assert [float(v) for v in f(1)] == [10, 0, np.arctan2(1, 2), 1]
    assert z == z
    assert z != x
    assert z in {z: 1}
    assert x not in {z: 1}


def test_using_keeps_symbols_and_checks_values():
    system = make()
    other = system.using(k=4.0, x=0.5)
    assert other.flow is system.flow
    assert other.p[0].value == 4.0
    assert system.p[0].value == 1.0
    with pytest.raises(UnknownNameError, match="has no 'kk': did you mean 'k'"):
        system.using(kk=1)
    with pytest.raises(ShapeError, match="1 number"):
        system.using(k=[1, 2])
    with pytest.raises(ValueRangeError, match="a finite number is needed"):
        system.using(k=np.inf)


def test_time_is_one_symbol_for_all():
    system = make(flow={x: v, v: ca.sin(time)})
    assert system["x"] is x.sym
    with pytest.raises(UnknownNameError, match="has no 'z'"):
        system["z"]


def test_discrete_states_have_no_flow():
    z = Discrete("z", 1)
    with pytest.raises(UnknownNameError, match="names 'z', which is not a state"):
        make(z=[z], flow={x: v, v: 0, z: 1})


def test_outputs_have_units():
    x = State("x", 1.0, "m")
    made = System(
        "s",
        x=(x,),
        flow={x: 1.0},
        outputs={"twice": 2 * x, "ratio": x / 2},
        output_units={"twice": "m", "ratio": ""},
    )
    assert made.output_units == {"twice": "m"}
    assert strut.add_prefix(made, "left").output_units == {"left.twice": "m"}
    assert strut.simulate(made, t=1).names.units == {"x": "m", "twice": "m"}
    assert made.replace(outputs={"twice": 3 * x, "new": x}).output_units == {"twice": "m"}
    with pytest.raises(
        UnknownNameError,
        match="output_units of system 's' name 'twcie', which is not an output: did you mean 'twice'",
    ):
        made.replace(output_units={"twcie": "m"})


@pytest.mark.parametrize("make", strut.walkers.CATALOGUE.values(), ids=list(strut.walkers.CATALOGUE))
def test_ready_made_machines_tell_all_units(make):
    made = make()
    assert set(made.output_units) == set(made.outputs)
