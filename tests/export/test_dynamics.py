"""The dynamics of mechanisms as C and as MATLAB functions: equal to CasADi, and to what the mechanism does when simulated."""

import ctypes
import subprocess

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, Param, constraints, joints, mechanism
from strut.codegen.backends import lower_system
from strut.errors import ModelError
from strut.mechanism import Stop
from strut.system.ported_function import Entry, Port, make_ported_function
from strut.walkers.coman import coman_mechanism
from tests.export.octave import matrix, needs_octave, numbers, octave

STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
SAME = 1e-12  # relative to the largest entry: the same operations in the same order


def biped(loop=True):
    """A planar biped with springs, a damper, a stop, armatures and symbolic lengths; the loop joins its feet."""
    m = Mechanism("biped", planar=True)
    length = Param("length", 0.43, "m", bounds=(0.3, 0.6))
    pelvis = m.body("pelvis", mass=9.7, inertia=0.08)
    m.joint("base", m.world, pelvis, joints.planar(), actuated=False)
    for side, swing in (("_l", 0.3), ("_r", -0.3)):
        thigh = m.body("thigh" + side, mass=8.4, com=(0, 0, -0.43 * length), inertia=0.14)
        shank = m.body(
            "shank" + side, mass=Param("shank_mass" + side, 3.1, "kg"), com=(0, 0, -length / 2), inertia=0.05
        )
        m.joint(
            "hip" + side,
            pelvis,
            thigh,
            joints.revolute("y"),
            spring=Param("hip_spring" + side, 20.0, "N m/rad"),
            initial=-swing,
        )
        m.joint(
            "knee" + side,
            thigh,
            shank,
            joints.revolute("y"),
            at=(0, 0, -length),
            damping=0.3,
            armature=0.02,
            stop=Stop(-0.1, 1.5, 300.0),
            initial=2 * swing,
        )
        m.frame("foot" + side, shank, (0, 0, -length))
    if loop:
        m.constrain(constraints.point("feet", "foot_l", "foot_r"))
    return m


def pushed():
    """A prescribed motion: forward dynamics depends on time."""
    m = Mechanism("pushed", planar=True)
    cart = m.body("cart", mass=1.0)
    rod = m.body("rod", mass=0.5, com=(0, 0, -0.2), inertia=0.01)
    m.joint("rail", m.world, cart, joints.prismatic("x"))
    m.joint("pivot", cart, rod, joints.revolute("y"))
    m.constrain(constraints.prescribed("drive", "rail", 0.1 * ca.sin(3 * strut.time)))
    return m


MECHANISMS = [coman_mechanism, biped, pushed]


def points(f, rng):
    """Random values for every argument; parameters at their own values."""
    return [
        np.array(p.values) if p.values is not None else rng.uniform(-1, 1, p.rows_columns[0])
        for p in f.inputs
    ]


@pytest.mark.parametrize("make", MECHANISMS, ids=lambda make: make.__name__)
def test_c_equals_casadi(make, tmp_path):
    m = make()
    functions = mechanism.functions(m)
    done = strut.export_functions(m.name, functions, tmp_path, languages=["c"])
    assert set(done.files) == {
        f"{m.name}_dynamics.h",
        f"{m.name}_dynamics.c",
        "strut_math.h",
        "strut_template.h",
    }
    library = tmp_path / "lib.so"
    subprocess.run(
        ["cc", "-O1", *STRICT, "-fPIC", "-shared", "-o", library, tmp_path / f"{m.name}_dynamics.c", "-lm"],
        check=True,
    )
    c, rng = ctypes.CDLL(str(library)), np.random.default_rng(3)
    pointer = ctypes.POINTER(ctypes.c_double)
    for name, f in functions.items():
        call = getattr(c, f"{m.name}_{name}")
        call.restype = None
        for _ in range(3):
            values = points(f, rng)
            results = [np.full(p.rows_columns[0] * p.rows_columns[1], np.nan) for p in f.outputs]
            passed = [
                ctypes.c_double(v[0]) if p.name == "t" else v.ctypes.data_as(pointer)
                for p, v in zip(f.inputs, values, strict=True)
            ]
            call(*passed, *[r.ctypes.data_as(pointer) for r in results])
            expected = f.function.call([ca.DM(v) for v in values])
            for ours, theirs in zip(results, expected, strict=True):
                exact = np.array(theirs).reshape(-1, order="F")
                np.testing.assert_allclose(
                    ours, exact, rtol=SAME, atol=SAME * np.abs(exact).max(), err_msg=name
                )


@needs_octave
@pytest.mark.parametrize("make", MECHANISMS, ids=lambda make: make.__name__)
def test_matlab_equals_casadi(make, tmp_path):
    """With the struct of parameters as NAME_parameters gives it; results have their shapes."""
    m, rng = make(), np.random.default_rng(4)
    functions = mechanism.functions(m, frames=list(m.frames)[:2])
    done = strut.export_functions(m.name, functions, tmp_path, languages=["matlab"])
    assert all(file.endswith(".m") for file in done.files)
    code, expected = f"p = {m.name}_parameters();\n", []
    for name, f in functions.items():
        values = points(f, rng)
        given = ", ".join(
            "p" if p.values is not None else matrix(v.reshape(-1, 1))
            for p, v in zip(f.inputs, values, strict=True)
        )
        words = [f"r{k}" for k in range(len(f.outputs))]
        code += f"[{', '.join(words)}] = {m.name}_{name}({given});\n"
        code += "".join(f"printf('%d ', size({w})); printf('%.17g ', {w}); printf('\\n');\n" for w in words)
        expected += zip([name] * len(words), f.function.call([ca.DM(v) for v in values]), strict=True)
    for line, (name, exact) in zip(octave(tmp_path, code).splitlines(), expected, strict=True):
        said, exact = numbers(line), np.array(exact)
        assert tuple(said[:2]) == exact.shape, name
        np.testing.assert_allclose(
            said[2:], exact.reshape(-1, order="F"), rtol=SAME, atol=SAME * np.abs(exact).max(), err_msg=name
        )


@pytest.mark.parametrize("make", [biped, lambda: biped(loop=False), pushed], ids=["loop", "tree", "pushed"])
def test_forward_dynamics_is_that_of_the_system(make):
    """The same accelerations as the flow of the assembled system, constraints, springs and stops included."""
    m, rng = make(), np.random.default_rng(5)
    system, f = mechanism.system(m), mechanism.functions(m)["forward_dynamics"]
    driven = [
        k
        for k, e in enumerate(next(p for p in f.inputs if p.name == "tau").entries)
        if e.note != "not actuated"
    ]
    nq, nv = (len(next(p for p in f.inputs if p.name == n).entries) for n in ("q", "v"))
    for _ in range(4):
        t, q, v, u = (
            rng.uniform(0, 1),
            rng.uniform(-1, 1, nq),
            rng.uniform(-1, 1, nv),
            rng.uniform(-5, 5, len(driven)),
        )
        tau = np.zeros(nv)
        tau[driven] = u
        p = np.concatenate([each.value for each in system.p])
        flow = np.array(
            lower_system(system).functions["flow"](t, np.concatenate([q, v]), [], u, p, [])
        ).reshape(-1)
        found = f.function.call([*([t] if f.inputs[0].name == "t" else []), q, v, tau, p])[0]
        np.testing.assert_allclose(
            np.array(found).reshape(-1), flow[nq:], rtol=1e-10, atol=1e-10 * np.abs(flow).max()
        )


@pytest.mark.parametrize(
    "make", [coman_mechanism, biped, lambda: biped(loop=False)], ids=["coman", "loop", "tree"]
)
def test_the_functions_fit_together(make):
    """M a + bias = inverse dynamics, and = tau + K' force of the forward dynamics."""
    functions, rng = mechanism.functions(make()), np.random.default_rng(6)
    f = {name: each.function for name, each in functions.items()}
    q, v, tau, p = points(functions["forward_dynamics"], rng)
    answer = f["forward_dynamics"].call([q, v, tau, p])
    a = answer[0]
    constraint = f["constraint_jacobian"](q, p).T @ answer[1] if len(answer) == 2 else 0
    total = np.array(tau + constraint).reshape(-1)
    scale = 1e-9 * np.abs(total).max()
    np.testing.assert_allclose(
        np.array(f["mass_matrix"](q, p) @ a + f["bias"](q, v, p)).reshape(-1), total, atol=scale
    )
    np.testing.assert_allclose(np.array(f["inverse_dynamics"](q, v, a, p)).reshape(-1), total, atol=scale)


def test_jacobians_are_derivatives_of_positions():
    functions = mechanism.functions(biped())
    q, p = points(functions["position_foot_l"], np.random.default_rng(7))
    v, step = np.random.default_rng(8).uniform(-1, 1, 7), 1e-6
    turn = np.array(
        [[np.cos(q[2]), np.sin(q[2])], [-np.sin(q[2]), np.cos(q[2])]]
    )  # the base's velocities are in its own frame
    rate = np.concatenate([turn @ v[:2], v[2:]])
    for place, jacobian in (("position_foot_l", "jacobian_foot_l"), ("com_position", "com_jacobian")):
        f, J = functions[place].function, np.array(functions[jacobian].function(q, p))[-3:]
        moved = np.array(f(q + step * rate, p) - f(q - step * rate, p)).reshape(-1) / (2 * step)
        np.testing.assert_allclose(J @ v, moved, atol=1e-9)


def test_coman_is_counted():
    """Robotran's generator: 4106 for inverse dynamics, 17414 for mass matrix and bias."""
    functions = mechanism.functions(coman_mechanism(), frames=[])
    assert functions["inverse_dynamics"].operations <= 4106
    assert functions["mass_matrix"].operations + functions["bias"].operations <= 17414


def test_the_header_documents(tmp_path):
    done = strut.export_functions("biped", mechanism.functions(biped()), tmp_path)
    text = (tmp_path / "biped_dynamics.h").read_text()
    for words in (
        "BIPED_DYNAMICS_Q_HIP_L = 3, /* [rad] */",
        "BIPED_DYNAMICS_A_BASE_VX = 0, /* [m/s^2] */",
        "BIPED_DYNAMICS_TAU_BASE_VX_FORCE = 0, /* [N], not actuated */",
        f"{done.operations['inverse_dynamics']} operations",
        "out_M[7 x 7]: mass matrix",
        "feet_x",
    ):
        assert words in text
    assert "biped_forward_dynamics.m" in done.files


def test_one_file_of_c_beside_the_model(tmp_path):
    """The functions and the whole system live in one program, in single precision too."""
    m = biped(loop=False)
    strut.export_functions(m.name, mechanism.functions(m), tmp_path)
    strut.export(mechanism.system(m), tmp_path)
    (tmp_path / "both.c").write_text(
        '#include "biped.h"\n#include "biped_dynamics.h"\nint main(void)\n{\n    static biped_sim sim;\n'
        "    strut_real q[BIPED_DYNAMICS_NQ] = {0}, M[49];\n    biped_mass_matrix(q, biped_dynamics_p0, M);\n"
        "    return sim.status + (M[0] > R(30) && M[0] < R(34) ? 0 : 1);\n}\n"
    )
    for flags in ([], ["-DSTRUT_FLOAT"]):
        files = [tmp_path / name for name in ("both.c", "biped.c", "biped_dynamics.c")]
        subprocess.run(["cc", *STRICT, *flags, "-o", tmp_path / "both", *files, "-lm"], check=True)
        assert subprocess.run([tmp_path / "both"], check=False).returncode == 0


def test_functions_of_any_origin(tmp_path):
    """Names of users are made safe for both languages; words stay in comments."""
    s, r = ca.SX.sym("s", 2), ca.SX.sym("r")
    evil = "*/ int injected; /*\nint injected;"
    double = Port("double", evil, (Entry("a b", evil, evil), Entry("a.b")))
    ports = [(double, s), (Port("w", "", (Entry("1"),), values=(2.0,)), r)]
    f = make_ported_function("if", evil, ports, [(Port("double", evil, shape=(2, 2)), s @ s.T * r)])
    strut.export_functions("for", {"if": f}, tmp_path, unit="while")
    subprocess.run(["cc", "-c", *STRICT, "-o", tmp_path / "o.o", tmp_path / "for_while.c"], check=True)
    symbols = subprocess.run(["nm", tmp_path / "o.o"], capture_output=True, text=True, check=True).stdout
    assert "for_if" in symbols
    assert "injected" not in symbols


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ModelError, match="no export to 'matlb': did you mean 'matlab'"):
        strut.export_functions("m", {}, tmp_path, languages=["matlb"])
    r = ca.SX.sym("r")
    first, second = (
        make_ported_function(n, "", [(Port("p", "", (Entry("r"),), values=(v,)), r)], [])
        for n, v in (("f", 1.0), ("g", 2.0))
    )
    with pytest.raises(ModelError, match="different parameters"):
        strut.export_functions("m", {"f": first, "g": second}, tmp_path)
    still = Mechanism("still")
    still.joint("weld", still.world, still.body("block", 1.0), joints.fixed())
    with pytest.raises(ModelError, match="'still' cannot move"):
        mechanism.functions(still)


def test_free_bases_and_gears(tmp_path):
    """A joint whose coordinates outnumber its velocities, and one that follows another."""
    m = Mechanism("flyer")
    trunk = m.body("trunk", 5.0, inertia=(0.2, 0.3, 0.4))
    m.joint("base", m.world, trunk, joints.free())
    first, second = (m.body(n, 1.0, com=(0.1, 0, 0), inertia=0.02) for n in ("first", "second"))
    m.joint("lead", trunk, first, joints.revolute("y"), at=(0.2, 0, 0), spring=4.0, rest=0.1)
    m.joint("follow", first, second, joints.gear("lead", -2.0), at=(0.2, 0, 0), damping=0.3)
    functions, rng = mechanism.functions(m), np.random.default_rng(9)
    assert [len(p.entries) for p in functions["forward_dynamics"].inputs] == [8, 7, 7, 1]
    q, v, tau, p = points(functions["forward_dynamics"], rng)
    a = functions["forward_dynamics"].function(q, v, tau, p)
    back = functions["inverse_dynamics"].function(q, v, a, p)
    np.testing.assert_allclose(np.array(back).reshape(-1), tau, atol=1e-10)
    strut.export_functions(m.name, functions, tmp_path)
    subprocess.run(["cc", "-c", *STRICT, "-o", tmp_path / "o.o", tmp_path / "flyer_dynamics.c"], check=True)
