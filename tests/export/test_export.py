"""The exported C: builds with every warning on, allocates nothing, and gives the numbers of `simulate`."""

import shutil
import subprocess

import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Param, Random, Sample, State, System, walkers
from strut.export.identifiers import comment, identifier, identifiers
from strut.mechanism import sensors
from tests.actuator.driven_tree import driven_tree
from tests.problems import driven, servo
from tests.simulate.test_backends import echo, noisy

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
SAME = 1e-12  # relative: the same operations in the same order, by the same compiler
FALLS = {
    walkers.trunk_3d,
    walkers.saurel_b,
    walkers.saurel_d,
    walkers.saurel_e,
    walkers.runner,
}  # without a controller, before the first second is printed
MODELS = [*(make for make in walkers.CATALOGUE.values() if make not in FALLS), driven, servo, noisy, echo]
FREE_FEET = {
    walkers.compass_duindam,
    walkers.dribbel,
}  # gaps are judged to a billionth of a metre: float cannot


def build(directory, name, *flags, main="main.c"):
    program = directory / "program"
    subprocess.run(
        ["cc", "-O2", *STRICT, *flags, "-o", program, directory / main, directory / f"{name}.c", "-lm"],
        check=True,
        capture_output=True,
        text=True,
    )
    return program


def table(program):
    lines = subprocess.run([program], capture_output=True, text=True, check=False).stdout.split("\n")
    return np.array([[float(v) for v in line.split()] for line in lines if line and line[0] != "#"])


@pytest.mark.parametrize("make", [*MODELS, driven_tree], ids=lambda make: make.__name__)
def test_the_example_gives_the_numbers_of_simulate(make, tmp_path):
    """main.c prints every second; a batch that stops at every second takes the same steps."""
    system = make()
    strut.export(system, tmp_path)
    rows = table(build(tmp_path, system.name))
    shown = system.replace(outputs={f"copy{k}": system[q.name] for k, q in enumerate(system.x)}, walk=None)
    batch = strut.simulate_batch(
        shown, t=10.0, at=np.arange(1.0, 11.0), outputs=list(shown.outputs), x0={}, ledger=False
    )
    expected = np.column_stack([batch[name][0] for name in shown.outputs])
    finished = np.all(np.isfinite(expected), axis=1)
    expected = expected[finished][: len(rows)]
    np.testing.assert_allclose(
        rows[: len(expected), 1:], expected, rtol=SAME, atol=SAME * np.abs(expected).max(initial=0.0)
    )
    assert rows[-1, 0] == pytest.approx(batch.t[0], rel=SAME)


@pytest.mark.slow  # compiles COMAN's legs twice, here and as an engineer would
def test_coman_with_motors_servos_and_sensors_is_one_folder(tmp_path):
    """C that is built and run, and MATLAB beside it; the program stands as `simulate` does."""
    robot = walkers.coman(
        "legs",
        base="planar",
        references={"r_knee_sag": 0.1, "l_knee_sag": 0.1},
        sensors=[sensors.Imu("chest"), sensors.ZeroMomentPoint()],
    )
    strut.export(robot, tmp_path)
    files = {*strut.export_matlab(robot, tmp_path).files, *(path.name for path in tmp_path.iterdir())}
    assert {"coman.c", "coman.h", "main.c", "Makefile", "coman_flow.m", "coman_example.m"} <= files
    main = (tmp_path / "main.c").read_text()
    (tmp_path / "main.c").write_text(main.replace("second <= 10", "second <= 1"))
    rows = table(build(tmp_path, "coman"))
    expected = strut.simulate(robot, t=1.0, ledger=False).raw.x_end
    np.testing.assert_allclose(rows[-1, 1:], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow  # compiles the whole robot twice, here and as an engineer would: a minute
def test_the_whole_robot_is_one_folder_that_its_makefile_builds(tmp_path):
    """COMAN with 23 motors, springs and servos, sensors, watchers, and ten points of contact, as it squats and
    sways: `make`, run, and compared with the simulator after every second."""
    motion = {**walkers.coman_motion("squat", 0.1, 0.5), **walkers.coman_motion("sway", 0.05, 0.4)}
    robot = walkers.coman(
        references=motion,
        sensors=[
            sensors.Imu("chest"),
            sensors.Encoder("r_knee_sag", 2 * np.pi / 2**14),
            sensors.FootForce("r_sole0", [f"r_sole{k}" for k in range(5)]),
            sensors.ZeroMomentPoint(),
        ],
    )
    assert sum(name.endswith("_voltage") for name in robot.outputs) == 2 * 23  # asked, and applied
    strut.export(robot, tmp_path)
    main = (tmp_path / "main.c").read_text()
    (tmp_path / "main.c").write_text(main.replace("second <= 10", "second <= 2"))
    made = subprocess.run(["make", "-C", tmp_path], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    rows = table(tmp_path / "coman")
    shown = robot.replace(outputs={f"copy{k}": robot[q.name] for k, q in enumerate(robot.x)}, walk=None)
    batch = strut.simulate_batch(
        shown, t=2.0, at=np.array([1.0, 2.0]), outputs=list(shown.outputs), x0={}, ledger=False
    )
    expected = np.column_stack([batch[name][0] for name in shown.outputs])
    assert rows.shape == (2, 1 + 124)
    np.testing.assert_allclose(rows[:, 1:], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", [walkers.slip, walkers.pendulum, walkers.rimless_wheel])
def test_one_run_equals_simulate(make, tmp_path):
    system = make()
    strut.export(system, tmp_path, jacobians=True)
    n, name = len(system.labels("x")), system.name
    (tmp_path / "one.c").write_text(f"""
#include <stdio.h>
#include "{name}.h"
int main(void)
{{
    static {name}_sim sim;
    strut_options options = strut_defaults();
    strut_real size;
    options.ledger = 1;
    {name}_initial({name}_p0, sim.x, sim.z);
    {name}_begin(&sim, &options, 0, sim.x, sim.z, {name}_u0, {name}_p0, 0, 0, 0);
    {name}_run(&sim, 4);
    printf("%.17g", (double)sim.t);
    for (int i = 0; i < {n}; i++) printf(" %.17g", (double)sim.x[i]);
    printf(" %.17g\\n", (double){name}_imbalance(&sim, &size));
    return 0;
}}
""")
    row = table(build(tmp_path, name, main="one.c"))[0]
    run = strut.simulate(system, t=4.0)
    np.testing.assert_allclose(row[1:-1], run.raw.x_end[:n], rtol=SAME)
    assert abs(row[-1]) < 1e-6


@pytest.mark.parametrize(
    "make", [make for make in MODELS if make not in FREE_FEET], ids=lambda make: make.__name__
)
def test_single_precision(make, tmp_path):
    """One macro makes everything float, with no double left to slow a microcontroller down."""
    system = make()
    strut.export(system, tmp_path)
    rows = table(build(tmp_path, system.name, "-DSTRUT_FLOAT", "-Wdouble-promotion"))
    exact = table(build(tmp_path, system.name))
    assert len(rows) == len(exact)
    np.testing.assert_allclose(rows[:3], exact[:3], rtol=2e-3, atol=2e-3)


def test_functions_can_be_replaced(tmp_path):
    """A sine that counts its calls: the model calls it and nothing else."""
    strut.export(walkers.pendulum(), tmp_path)
    (tmp_path / "mine.h").write_text("extern int calls;\nextern double my_sin(double);\n")
    (tmp_path / "main.c").write_text(
        (tmp_path / "main.c")
        .read_text()
        .replace(
            "int main(void)",
            "#include <math.h>\nint calls;\ndouble my_sin(double a) { calls++; return sin(a); }\nint main(void)",
        )
        .replace("    return pendulum_ok", "    if (!calls) return 9;\n    return pendulum_ok")
    )
    program = build(tmp_path, "pendulum", "-DSTRUT_SIN=my_sin", "-include", str(tmp_path / "mine.h"))
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0
    symbols = subprocess.run(
        [
            "cc",
            "-c",
            *STRICT,
            "-DSTRUT_SIN=my_sin",
            "-include",
            tmp_path / "mine.h",
            "-o",
            tmp_path / "p.o",
            tmp_path / "pendulum.c",
        ],
        check=True,
    )
    assert symbols.returncode == 0
    undefined = subprocess.run(
        ["nm", "-u", tmp_path / "p.o"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "my_sin" in undefined
    assert "sin" not in undefined


@pytest.mark.parametrize("make", [walkers.slip, echo, noisy], ids=lambda make: make.__name__)
def test_nothing_but_math_is_needed(make, tmp_path):
    """No heap, no input or output, no state outside the struct."""
    system = make()
    strut.export(system, tmp_path, jacobians=True)
    subprocess.run(
        ["cc", "-c", "-O2", *STRICT, "-o", tmp_path / "m.o", tmp_path / f"{system.name}.c"], check=True
    )
    undefined = set(
        subprocess.run(["nm", "-u", tmp_path / "m.o"], capture_output=True, text=True, check=True)
        .stdout.replace("U ", "")
        .split()
    )
    allowed = {
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sincos",
        "exp",
        "log",
        "pow",
        "sqrt",
        "hypot",
        "ceil",
        "floor",
        "fmod",
        "memcpy",
        "memset",
        "memmove",
        "_GLOBAL_OFFSET_TABLE_",
        "__stack_chk_fail",
    }
    assert undefined <= allowed
    writable = [
        line
        for line in subprocess.run(
            ["nm", tmp_path / "m.o"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if line.split()[-2] in "bBdDC"
    ]
    assert writable == []


def test_jacobians_can_be_called(tmp_path):
    """d(rate')/d(angle) of a pendulum is -g/l cos(angle)."""
    strut.export(walkers.pendulum(), tmp_path, jacobians=True)
    (tmp_path / "jac.c").write_text("""
#include <stdio.h>
#include "pendulum.h"
int main(void)
{
    static pendulum_sim sim;
    strut_options options = strut_defaults();
    strut_real a[4], b[2], c[8];
    pendulum_initial(pendulum_p0, sim.x, sim.z);
    pendulum_begin(&sim, &options, 0, sim.x, sim.z, pendulum_u0, pendulum_p0, 0, 0, 0);
    pendulum_jacobian_of_flow(&sim, a, b, c);
    printf("%.17g %.17g\\n", a[1], a[2]);
    return 0;
}
""")
    row = table(build(tmp_path, "pendulum", main="jac.c"))[0]
    np.testing.assert_allclose(row, [-9.81 * np.cos(1.0), 1.0], rtol=1e-14)


def test_what_you_edited_is_kept(tmp_path):
    strut.export(walkers.pendulum(), tmp_path)
    (tmp_path / "main.c").write_text("/* mine */")
    done = strut.export(walkers.pendulum(), tmp_path)
    assert (tmp_path / "main.c").read_text() == "/* mine */"
    assert "main.c" not in done.files


@pytest.mark.parametrize("name", ["strut_math", "clean", "strut"])
def test_names_that_would_collide(tmp_path, name):
    x = State("x", 1.0)
    strut.export(System(name, x=[x], flow={x: -x}), tmp_path)
    subprocess.run(["make", "-s", "-C", tmp_path], check=True)
    rows = table(tmp_path / f"{name}_model")
    np.testing.assert_allclose(rows[:, 1], np.exp(-rows[:, 0]), rtol=1e-9)


def test_a_system_without_continuous_states(tmp_path):
    n = Discrete("n", 0)
    strut.export(System("count", z=[n], samples=[Sample("s", every=0.1, set={n: n + 1})]), tmp_path)
    assert table(build(tmp_path, "count"))[:, 0].tolist() == list(range(1, 11))


def test_two_models_live_in_one_program(tmp_path):
    strut.export(walkers.slip(), tmp_path)
    strut.export(walkers.pendulum(), tmp_path)
    (tmp_path / "both.c").write_text(
        '#include "slip.h"\n#include "pendulum.h"\nint main(void) { static slip_sim a; static pendulum_sim b; return a.status + b.status + SLIP_X_VX - 2; }\n'
    )
    subprocess.run(
        [
            "cc",
            *STRICT,
            "-o",
            tmp_path / "both",
            tmp_path / "both.c",
            tmp_path / "slip.c",
            tmp_path / "pendulum.c",
            "-lm",
        ],
        check=True,
    )
    assert subprocess.run([tmp_path / "both"], check=False).returncode == 0


def test_the_makefile_works(tmp_path):
    strut.export(walkers.rimless_wheel(), tmp_path / "new" / "place")
    subprocess.run(["make", "-s", "-C", tmp_path / "new" / "place"], check=True)
    program = tmp_path / "new" / "place" / "rimless_wheel"
    assert len(table(program)) == 10
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("# t [s]; angle [rad]; rate [rad/s]\n")
    assert len((tmp_path / "new" / "place" / "main.c").read_text().splitlines()) <= 20


def test_words_of_users_cannot_leave_their_comment(tmp_path):
    """Names and descriptions with everything that could end a comment or begin a statement."""
    evil = "*/ int injected(void) { return 1; } /* \\\n#error ??/ ' \" é"
    k = Param("φ", 1.0, unit=evil, description=evil)
    x = State("double", 1.0, unit="*/", description=evil)
    system = System("main", x=[x], p=[k], flow={x: -k * x}, description=evil, outputs={"y": x})
    files = strut.export(system, tmp_path).files
    assert "main_model.c" in files
    build(tmp_path, "main_model")
    assert "int injected" not in (tmp_path / "main_model.h").read_text().replace("* / int injected", "")


def test_identifiers():
    assert identifier("left.hip") == "left_hip"
    assert identifier("φ") == "u03c6"
    assert identifier("3x") == "m_3x"
    assert identifiers(["a.b", "a_b", "A.B"], "m") == ["M_A_B", "M_A_B_2", "M_A_B_3"]
    assert "*/" not in comment("a */ b")


def test_a_file_in_the_way_is_reported(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(strut.StrutError, match="cannot create"):
        strut.export(walkers.slip(), tmp_path / "taken")


def test_operations_are_counted(tmp_path):
    done = strut.export(walkers.pendulum(), tmp_path)
    assert 5 < done.operations["flow"] < 20


def everything():
    """A system with all that a system can have."""
    x, k, n = State("x", 1.0), Discrete("k", 0.0), Discrete("n", 0)
    r = Random("r")
    past = Delay("past", signal=x, by=0.5, before=1.0)
    return System(
        "all",
        x=[x],
        z=[k, n],
        randoms=[r],
        delays=[past],
        flow={x: k - past},
        samples=[Sample("s", every=0.25, set={k: r})],
        events=[Event("e", x - 0.9, reset={n: n + 1})],
    )


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler here")
def test_the_runtime_is_device_code(tmp_path):
    """nvcc compiles model and runtime for the GPU, a run per thread."""
    from strut.codegen.backends import lower_system
    from strut.codegen.translation_unit import generate, runtime_sources

    code = generate(lower_system(everything()))
    for name, text in runtime_sources().items():
        (tmp_path / name).write_text(text)
    (tmp_path / "kernel.cu").write_text(f"""
#include "strut_math.h"
{code.sizes_text("m")}
#include "strut_types.h"
{code.functions}
#include "strut_run.h"
__global__ void go(m_sim *s, const strut_options *o, const double *x, const double *z, const double *u, const double *p, double *history, double t)
{{
    m_begin(s, o, 0, x, z, u, p, strut_stream(0, threadIdx.x), history, 4096);
    m_run(s, t);
}}
""")
    done = subprocess.run(
        ["nvcc", "-ptx", "-o", tmp_path / "k.ptx", tmp_path / "kernel.cu"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


def test_delays_samples_and_randoms_are_exported(tmp_path):
    system = everything()
    strut.export(system, tmp_path)
    rows = table(build(tmp_path, "all"))
    batch = strut.simulate_batch(
        system.replace(outputs={"y": system["x"]}), t=10.0, at=np.arange(1.0, 11.0), outputs=["y"]
    )
    np.testing.assert_allclose(rows[:, 1], batch["y"][0], rtol=1e-11)


def stepper(failure):
    """A level that rises, and ends a run at 2.5 s in an event that is a failure or is none."""
    x = State("level", 0.0)
    over = Event("over", x - 2.5, terminal=True, failure=failure, description='"too" high, 5 \\ 6??/')
    return System("tank", x=[x], flow={x: 1.0}, events=[over])


@pytest.mark.parametrize("failure", [True, False])
def test_the_example_exits_as_its_run_ended(failure, tmp_path):
    """A run that failed, such as one that fell, is no success of the program."""
    system = stepper(failure)
    strut.export(system, tmp_path)
    done = subprocess.run([build(tmp_path, "tank")], capture_output=True, text=True, check=False)
    assert done.returncode == (2 if failure else 0)  # STRUT_TERMINAL
    assert (done.returncode == 0) == strut.simulate(system, 10).ok
    assert done.stderr == "t = 2.5 s: event 'over' ended the run: \"too\" high, 5 \\ 6??/\n"


def test_the_example_says_nothing_of_a_run_that_reached_its_end(tmp_path):
    strut.export(walkers.pendulum(), tmp_path)
    done = subprocess.run([build(tmp_path, "pendulum")], capture_output=True, text=True, check=True)
    assert done.stderr == ""
