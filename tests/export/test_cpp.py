"""Exported headers in C++: included, called, and linked to what the C compiler made."""

import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

import strut
from strut import walkers
from strut.system.ported_function import Entry, Port, make_ported_function

STRICT_C = ["cc", "-std=c99", "-O2", "-pedantic", "-Wall", "-Wextra", "-Werror"]
STRICT_CPP = ["g++", "-std=c++11", "-O2", "-pedantic", "-Wall", "-Wextra", "-Werror"]

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler here")


def linked(directory, names, main):
    """The output of a C++ program that is linked to several exported models."""
    (directory / "program.cpp").write_text(main)
    for name in names:
        subprocess.run([*STRICT_C, "-c", "-o", f"{name}.o", f"{name}.c"], cwd=directory, check=True)
    objects = [f"{name}.o" for name in names]
    subprocess.run([*STRICT_CPP, "-o", "program", "program.cpp", *objects, "-lm"], cwd=directory, check=True)
    return subprocess.run([directory / "program"], capture_output=True, text=True, check=True).stdout


def test_two_models_in_one_cpp_program(tmp_path):
    pendulum, ball = walkers.pendulum(), walkers.bouncing_ball()
    strut.export(pendulum, tmp_path, jacobians=True)
    strut.export(ball, tmp_path)
    out = linked(
        tmp_path,
        ["pendulum", "bouncing_ball"],
        """#include <cstdio>
#include "pendulum.h"
#include "bouncing_ball.h"

static pendulum_sim a;
static bouncing_ball_sim b;

int main()
{
    strut_options options = strut_defaults();
    strut_real by_x[4], by_u[2], by_p[64], x[2], z[1] = {0};
    pendulum_initial(pendulum_p0, x, z);
    pendulum_begin(&a, &options, 0, x, z, pendulum_u0, pendulum_p0, strut_stream(0, 0), nullptr, 0);
    pendulum_run(&a, 1);
    pendulum_jacobian_of_flow(&a, by_x, by_u, by_p);
    bouncing_ball_initial(bouncing_ball_p0, b.x, b.z);
    bouncing_ball_begin(&b, &options, 0, b.x, b.z, bouncing_ball_u0, bouncing_ball_p0, strut_stream(0, 0), nullptr, 0);
    bouncing_ball_run(&b, 1);
    std::printf("%.17g %.17g", a.x[0], b.x[0]);
}
""",
    )
    expected = [float(strut.simulate(s, t=1.0, ledger=False).raw.x_end[0]) for s in (pendulum, ball)]
    np.testing.assert_allclose([float(v) for v in out.split()], expected, rtol=1e-12)


def test_functions_in_cpp(tmp_path):
    a = ca.SX.sym("a")
    square = make_ported_function(
        "square", "", [(Port("a", "", (Entry("a"),)), a)], [(Port("b", "", (Entry("b"),)), a**2)]
    )
    strut.export_functions("plain", {"square": square}, tmp_path, languages=["c"], unit="math")
    out = linked(
        tmp_path,
        ["plain_math"],
        """#include <cstdio>
#include "plain_math.h"

int main()
{
    strut_real a[1] = {3}, b[1];
    plain_square(a, b);
    std::printf("%g", b[0]);
}
""",
    )
    assert out == "9"
