"""MATLAB functions: every operation equals CasADi, systems equal `simulate`, and nothing can be injected."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Input, Param, Random, Sample, State, System, walkers
from strut.codegen.backends import lower_system
from strut.codegen.c import OPERATIONS as IN_C
from strut.errors import CompileError, ModelError, ShapeError
from strut.export.identifiers import distinct
from strut.export.matlab import OPERATIONS, function_text, literal
from strut.mechanism import sensors
from strut.system.ported_function import Entry, Port, PortedFunction, make_ported_function
from strut.system.values import start
from tests.actuator.driven_tree import driven_tree
from tests.codegen.test_c import EVERY, POINTS, x, y
from tests.export.octave import matrix, needs_octave, numbers, octave
from tests.problems import driven, servo

SAME = 1e-12  # relative: the same operations, with other implementations of sin and the like
RUN = 1e-8  # relative: ode45 at a tolerance of 1e-10, over a few seconds and some jumps; ten times what was measured
STEPPED = 1e-10  # relative: the same steps by the same method, so rounding, magnified by the machine; measured 1e-14
COMAN_TIME = 0.01  # [s] a hundred steps of ode45 on stiff ground
MODELS = [*walkers.CATALOGUE.values(), driven, servo, driven_tree]


def every(names=EVERY):
    point = Port("point", "where", (Entry("x"), Entry("y")))
    result = Port("result", "all of them", tuple(Entry(name) for name in names))
    return make_ported_function(
        "every",
        "Every operation.",
        [(point, ca.vertcat(x, y))],
        [(result, ca.vertcat(*[EVERY[n] for n in names]))],
    )


@needs_octave
def test_every_operation(tmp_path):
    f = every()
    (tmp_path / "every.m").write_text(function_text(f, "every"))
    said = octave(
        tmp_path, "".join(f"printf('%.17g ', every({matrix(point.reshape(-1, 1))}));\n" for point in POINTS)
    )
    ours = numbers(said.replace("NaN", "nan").replace("Inf", "inf")).reshape(len(POINTS), -1)
    theirs = np.array([np.array(f.function(point)).reshape(-1) for point in POINTS])
    for k, name in enumerate(EVERY):
        np.testing.assert_allclose(ours[:, k], theirs[:, k], rtol=1e-14, atol=1e-300, err_msg=name)


@needs_octave
def test_what_is_not_real_is_nan(tmp_path):
    """As in C; MATLAB alone would go on with complex numbers."""
    s = ca.SX.sym("s")
    results = ca.vertcat(
        ca.sqrt(s),
        ca.log(s),
        ca.asin(3 * s),
        ca.acos(3 * s),
        ca.acosh(s),
        ca.atanh(3 * s),
        ca.log1p(3 * s),
        s**0.3,
    )
    f = make_ported_function(
        "f", "", [(Port("s", "", (Entry("s"),)), s)], [(Port("r", "", shape=(8, 1)), results)]
    )
    (tmp_path / "f.m").write_text(function_text(f, "f"))
    assert numbers(octave(tmp_path, "printf('%d ', isnan(f(-0.5)));")).tolist() == [1] * 8


@needs_octave
def test_a_branch_not_taken_does_not_spoil_the_other(tmp_path):
    s = ca.SX.sym("s")
    f = make_ported_function(
        "f",
        "",
        [(Port("s", "", (Entry("s"),)), s)],
        [(Port("r", "", (Entry("r"),)), ca.if_else(s > 0, 1 / s, -1))],
    )
    (tmp_path / "f.m").write_text(function_text(f, "f"))
    assert numbers(octave(tmp_path, "printf('%g %g', f(0), f(4));")).tolist() == [-1, 0.25]


def test_everything_that_c_can_say():
    assert set(OPERATIONS) == set(IN_C)


def test_an_operation_without_equivalent_is_named():
    s = ca.SX.sym("s")
    f = make_ported_function(
        "wrong", "", [(Port("s", "", (Entry("s"),)), s)], [(Port("r", "", (Entry("r"),)), ca.erfinv(s))]
    )
    with pytest.raises(
        CompileError, match="'wrong' uses CasADi operation OP_ERFINV, which has no MATLAB equivalent"
    ):
        function_text(f, "wrong")


@pytest.mark.parametrize("value", [0.0, -1.5, 1e-300, 0.1, 3.0, -2e20])
def test_literals_survive(value):
    assert float(literal(value).strip("()")) == value


def test_the_header_says_what_is_computed():
    text = function_text(lowered_flow(walkers.pendulum()), "pendulum_flow", "pendulum_parameters")
    head = text[: text.index("\n\n")]
    for words in (
        "dx = pendulum_flow(t, x, z, u, p)",
        "1 angle [rad] (from hanging straight down)",
        "a struct as pendulum_parameters()",
    ):
        assert words in head
    assert f"{lowered_flow(walkers.pendulum()).operations} operations" in head
    assert f"strut {strut.__version__}" in head
    assert all(line.startswith("%") for line in head.splitlines()[1:])


def lowered_flow(system):
    from strut.export.matlab_system import _ported_function, _ports

    low = lower_system(system)
    return _ported_function(low.functions["flow"], "flow", _ports(system, low))


def test_labels_must_fit():
    s = ca.SX.sym("s", 2)
    with pytest.raises(ShapeError, match="'s' of function 'f' has shape"):
        make_ported_function("f", "", [(Port("s", "", (Entry("s"),)), s)], [])
    with pytest.raises(ShapeError, match="2 arguments or results, but 1 labels"):
        PortedFunction("f", "", ca.Function("f", [s, ca.SX.sym("r")], []), (Port("s", "", shape=(2, 1)),), ())


# ---- systems ----


def arguments(system, rng):
    """Random values of t, x, z, u near where the system begins; p as it is."""
    s = start(system)
    return rng.uniform(0, 3), *(v + 0.1 * rng.standard_normal(v.shape) for v in (s.x, s.z, s.u)), s.p


@needs_octave
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_functions_equal_strut(make, tmp_path):
    """Flow, outputs, guards and resets at random points, with the parameters the struct gives."""
    system, rng = make(), np.random.default_rng(1)
    done = strut.export_matlab(system, tmp_path)
    low, name = lower_system(system), system.name
    code, expected = f"p = {name}_parameters();\n", []
    for _ in range(5):
        t, x0, z, u, p = arguments(system, rng)
        code += "".join(f"{n} = {matrix(v.reshape(-1, 1))};\n" for n, v in (("x", x0), ("z", z), ("u", u)))
        for label in ("flow", "outputs", "guards"):
            if f"{name}_{label}.m" in done.files:
                code += f"printf('%.17g ', {name}_{label}({t!r}, x, z, u, p));\n"
                f = low.functions[label]
                expected.append(np.array(f(*[t, x0, z, u, p, []][: f.n_in()])))
        for k, f in enumerate(low.resets):
            code += f"[a, b, finished] = {name}_reset({k + 1}, {t!r}, x, z, u, p); printf('%.17g ', a, b, finished);\n"
            expected += [*map(np.array, f(t, x0, z, u, p, [], [])), np.array(low.tables["terminal"][k])]
    ours, theirs = numbers(octave(tmp_path, code)), np.concatenate([np.reshape(e, -1) for e in expected])
    np.testing.assert_allclose(ours, theirs, rtol=SAME, atol=SAME * np.abs(theirs).max())


def fast_tree():
    """The tree with servos that sample each millisecond: four times in the run below."""
    return driven_tree(every=1e-3)


def coman_legs():
    """COMAN's legs in a plane, with motors, servos and ten points of contact, on their way into a squat."""
    return walkers.coman("legs", base="planar", references=walkers.coman_motion("squat", 0.1, 1.0))


def last(system, directory, t):
    """Final time, states and jumps of the example."""
    strut.export_matlab(system, directory)
    said = octave(
        directory,
        f"[T, X, Z, jumps] = {system.name}_example({t});\nprintf('%.17g ', T(end), X(end, :), Z(end, :)); printf('\\n');\nprintf('%.17g ', jumps(:, 1));",
    )
    end, jumps = said.split("\n")
    return numbers(end), numbers(jumps)


@needs_octave
@pytest.mark.parametrize(
    ("make", "t"),
    [
        (walkers.pendulum, 3),
        (walkers.rimless_wheel, 5),
        (walkers.slip, 2),
        (walkers.bouncing_ball, 2),
        (servo, 1),
        pytest.param(fast_tree, 0.0032, marks=pytest.mark.slow),  # half a minute of ode45
        pytest.param(driven_tree, 0.031, marks=pytest.mark.slow),  # a minute and a half of ode45
        pytest.param(coman_legs, COMAN_TIME, marks=pytest.mark.slow),  # minutes of ode45
    ],
)
def test_the_example_runs_as_simulate_does(make, t, tmp_path):
    system = make()
    end, jumps = last(system, tmp_path, t)
    run = strut.simulate(system, t=t)
    expected = np.concatenate([[run.t1], run.raw.x_end[: system.size("x")], run.raw.z_end])
    np.testing.assert_allclose(end, expected, rtol=RUN, atol=RUN)
    np.testing.assert_allclose(jumps, np.sort([*run.events.t, *run.samples.t]), rtol=RUN, atol=RUN)


def stepped(system, directory, *, t, step, method):
    """Final time, states, times of jumps and status of a run by `strut_run`."""
    strut.export_matlab(system, directory)
    said = octave(
        directory,
        f"[T, X, Z, jumps, status] = strut_run({system.name}_model(), {t!r}, {step!r}, '{method}');\n"
        "printf('%.17g ', T(end), X(end, :), Z(end, :)); printf('\\n%s\\n', status);\n"
        "printf('%.17g ', jumps(:, 1));",
    )
    end, status, jumps = said.split("\n")
    return numbers(end), status, numbers(jumps)


def compare_steps(system, directory, *, backends, **how):
    """A run in Octave beside those of the same method and step here."""
    end, status, jumps = stepped(system, directory, **how)
    for backend in backends:
        run = strut.simulate(
            system, t=how["t"], method=how["method"], step=how["step"], backend=backend, ledger=False
        )
        assert status == (run.status if run.status in ("done", "zeno", "not finite") else "terminal")
        expected = np.concatenate([[run.t1], run.raw.x_end[: system.size("x")], run.raw.z_end])
        np.testing.assert_allclose(end, expected, rtol=STEPPED, atol=STEPPED)
        np.testing.assert_allclose(
            jumps, np.sort([*run.events.t, *run.samples.t]), rtol=STEPPED, atol=STEPPED
        )


def grazing():
    """A guard that is positive for a moment within a step: at 0.303 s, for 2 ms."""
    x0, n = State("x", 0.0), Discrete("n", 0.0)
    return System(
        "grazing",
        x=[x0],
        z=[n],
        flow={x0: 1.0},
        events=[Event("up", 1e-6 - (x0 - 0.303) ** 2, reset={n: n + 1})],
    )


def metered():
    """A decay whose integral acts back on nothing."""
    x, work = State("x", 1.0), State("work", 0.0)
    return System("metered", x=[x, work], flow={x: -3 * x, work: x**2})


def told_to_stop():
    """It begins with an event, and another ends it."""
    x0, n = State("x", 1.0), Discrete("n", 0.0)
    events = [
        Event("first", x0 - 0.5, eager=True, reset={n: n + 1}),
        Event("over", x0 - 2, terminal=True),
    ]
    return System("told", x=[x0], z=[n], flow={x0: x0}, events=events)


def not_a_number():
    x0 = State("x", 1.0)
    return System("wrong", x=[x0], flow={x0: -1 / ca.sqrt(x0)})


@needs_octave
@pytest.mark.parametrize(
    ("make", "t", "step", "method"),
    [
        (walkers.pendulum, 3.0, 1e-2, "rk4"),
        (walkers.rimless_wheel, 3.0, 5e-3, "rk4"),
        (walkers.slip, 2.0, 2e-3, "rk4"),
        (walkers.bouncing_ball, 2.0, 1e-2, "euler"),
        (walkers.bouncing_ball, 9.0, 0.1, "rk4"),
        (servo, 1.0, 5e-3, "rkc"),
        (metered, 1.0, 0.05, "rkc"),
        (grazing, 1.0, 0.1, "rk4"),
        (told_to_stop, 1.0, 0.05, "rk4"),
        (not_a_number, 1.0, 0.01, "rk4"),
    ],
)
def test_fixed_steps_are_those_of_simulate(make, t, step, method, tmp_path):
    """To rounding, events and samples, eager, grazing, accumulating and terminal ones, included."""
    compare_steps(make(), tmp_path, backends=["native"], t=t, step=step, method=method)


@needs_octave
def test_a_tree_with_drives_runs_the_same_everywhere(tmp_path):
    """C, virtual machine and Octave: five motors with winding, stiction, spring and servo, over ten samples."""
    compare_steps(fast_tree(), tmp_path, backends=["native", "virtual"], t=0.0102, step=1e-4, method="rk4")


@needs_octave
@pytest.mark.slow  # Octave reads and runs functions of 30,000 lines: minutes
def test_octave_runs_the_whole_robot(tmp_path):
    """COMAN with 23 motors, springs and servos, sensors, watchers and ten points of contact, as it squats and
    sways: the exported folder in Octave, beside the simulator."""
    motion = {**walkers.coman_motion("squat", 0.1, 0.5), **walkers.coman_motion("sway", 0.05, 0.4)}
    robot = walkers.coman(references=motion, sensors=[sensors.Imu("chest"), sensors.ZeroMomentPoint()])
    compare_steps(robot, tmp_path, backends=["native"], t=0.05, step=1e-3, method="rkc")


@needs_octave
def test_strut_run_says_what_is_wrong(tmp_path):
    strut.export_matlab(walkers.pendulum(), tmp_path)
    said = octave(
        tmp_path,
        "try, strut_run(pendulum_model(), 1, 0, 'rk4'), catch e, disp(e.message), end\n"
        "try, strut_run(pendulum_model(), 1, 0.1, 'ode45'), catch e, disp(e.message), end\n",
    )
    assert said.splitlines() == [
        "the step is 0 s: it must be positive and finite",
        "there is no method 'ode45': give one of euler, rk4, rkc",
    ]


@needs_octave
def test_a_model_with_other_parameters_begins_as_they_say(tmp_path):
    """Initial values that are expressions follow, and so does the run."""
    k = Param("k", 2.0)
    x0 = State("x", 3 * k)
    system = System("decay", x=[x0], p=[k], flow={x0: -k * x0})
    strut.export_matlab(system, tmp_path)
    said = octave(
        tmp_path,
        "p = decay_parameters(); p.k = 1;\n[T, X] = strut_run(decay_model(p), 1, 0.1, 'rk4'); printf('%.17g', X(end));",
    )
    expected = strut.simulate(system, t=1.0, p={"k": 1.0}, method="rk4", step=0.1)["x"][-1]
    assert abs(float(said) - expected) < 1e-14


@needs_octave
def test_events_with_conditions_and_ends(tmp_path):
    """A disabled event does not happen; a terminal one ends the run."""
    h, on, n = State("h", 1.0), Discrete("on", 0.0), Discrete("n", 0.0)
    system = System(
        "fall",
        x=[h],
        z=[on, n],
        flow={h: -1.0},
        events=[
            Event("first", h - 0.7, direction="down", reset={on: 1.0}),
            Event("off", h - 0.8, direction="down", when=on, reset={n: n + 10}),
            Event("on_now", h - 0.5, direction="both", when=on, reset={n: n + 1}),
            Event("ground", h, direction="down", terminal=True),
        ],
    )
    end, jumps = last(system, tmp_path, 5)
    np.testing.assert_allclose(end, [1.0, 0.0, 1.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(jumps, [0.3, 0.5, 1.0], rtol=1e-9)


@needs_octave
def test_random_numbers_are_drawn(tmp_path):
    x0, k, r = State("x", 0.0), Discrete("k", 0.0), Random("r", law="normal")
    system = System(
        "walk", x=[x0], z=[k], randoms=[r], flow={x0: k}, samples=[Sample("s", every=0.1, set={k: r})]
    )
    strut.export_matlab(system, tmp_path)
    drawn = numbers(octave(tmp_path, "[T, X, Z] = walk_example(2); printf('%g ', unique(Z));"))
    assert len(drawn) >= 20
    assert drawn.min() < 0 < drawn.max()


def test_delays_are_refused(tmp_path):
    x0 = State("x", 1.0)
    late = Delay("late", signal=x0, by=0.5)
    with pytest.raises(ModelError, match="has the delay 'late'"):
        strut.export_matlab(System("d", x=[x0], delays=[late], flow={x0: -late}), tmp_path)


def test_the_example_is_kept(tmp_path):
    strut.export_matlab(walkers.pendulum(), tmp_path)
    (tmp_path / "pendulum_example.m").write_text("% mine")
    assert "pendulum_example.m" not in strut.export_matlab(walkers.pendulum(), tmp_path).files
    assert (tmp_path / "pendulum_example.m").read_text() == "% mine"


@needs_octave
def test_words_of_users_stay_in_comments(tmp_path):
    """Keywords, names that collide once made safe, vectors, and text that tries to leave its comment."""
    evil = "\nsystem('touch injected');\n%}\n%{ ' \" ... é"
    p = [
        Param("end", 2.0, evil, description=evil),
        Param("a.b", 3.0),
        Param("a_b", [5.0, 7.0]),
        Param("φ", 1.0),
        Param("w3", 1.0),
    ]
    x0 = State("sin", 1.0, evil, description=evil)
    u = Input("function", 0.5, evil)
    rate = p[0] + p[1] * 10 + p[2][1] * 100 + ca.sin(x0) * u + p[3] * p[4]
    system = System("end", x=[x0], u=[u], p=p, flow={x0: rate}, description=evil, outputs={"while": x0 * 2})
    strut.export_matlab(system, tmp_path)
    said = numbers(
        octave(
            tmp_path,
            "p = end_parameters(); printf('%.17g ', end_flow(0, 1, [], 0.5, p), end_outputs(0, 1, [], 0.5, p));",
        )
    )
    np.testing.assert_allclose(said, [2 + 30 + 700 + np.sin(1.0) / 2 + 1, 2], rtol=1e-15)
    assert not (tmp_path / "injected").exists()
    octave(tmp_path, "end_example(0.01);")


def test_distinct_names():
    assert distinct(["a.b", "a_b", "end", "x", "w12"], ["x"]) == ["a_b", "a_b_2", "end_2", "x_2", "w12_2"]
    long = distinct(["l" * 80, "l" * 80 + "m"])
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 63


@needs_octave
@pytest.mark.parametrize("make", [walkers.pendulum, walkers.rimless_wheel])
def test_the_example_alone_prints_one_line(tmp_path, make):
    strut.export_matlab(make(), tmp_path)
    said = octave(tmp_path, f"{make().name}_example(0.5)\n").strip().splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"{make().name}: 0.5 s, ")
