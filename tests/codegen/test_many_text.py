"""What the text of many runs has that of one has not: shared inverses, an order with few values alive, and the
mathematics of a card, here compiled for the processor."""

import ctypes
import importlib.machinery
import subprocess

import casadi as ca
import numpy as np
import pytest

from strut import walkers
from strut.codegen import compiler, cuda, lower_system, nvrtc
from strut.codegen.c import c_dialect
from strut.codegen.instructions import AssignmentLine, straight_line
from strut.codegen.lifetimes import most_alive, shorten_lifetimes
from strut.codegen.translation_unit import RUNTIME
from strut.errors import CompileError

HARNESS = """
#include <stdint.h>
#include "strut_card_math.h"
#define EACH(name) void each_##name(const strut_card_real *a, strut_card_real *b, int64_t n) \\
    { for (int64_t i = 0; i < n; i++) b[i] = strut_card_##name(a[i]); }
EACH(sin) EACH(cos) EACH(inverse) EACH(sqrt)
void fmin_fmax(strut_card_real a, strut_card_real b, strut_card_real *out) { out[0] = strut_card_fmin(a, b); out[1] = strut_card_fmax(a, b); }
"""


@pytest.fixture(scope="module", params=["double", "single"])
def card_math(request, tmp_path_factory):
    """The functions of a card over arrays, and the type of their numbers."""
    if compiler() is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("math")
    (folder / "math.c").write_text(HARNESS)
    flags = ["-DSTRUT_FLOAT"] if request.param == "single" else []
    command = [*compiler(), "-O1", "-shared", "-fPIC", f"-I{RUNTIME}", *flags, "-o", str(folder / "m.so")]
    subprocess.run([*command, str(folder / "math.c"), "-lm"], check=True)
    kind = np.float32 if request.param == "single" else np.float64
    return ctypes.CDLL(str(folder / "m.so")), kind


def values_of(card_math, name, arguments):
    library, kind = card_math
    a = np.ascontiguousarray(arguments, dtype=kind)
    b = np.zeros_like(a)
    getattr(library, f"each_{name}")(
        a.ctypes.data_as(ctypes.c_void_p), b.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(a))
    )
    return a, b


def units_off(got, exact, kind):
    """Differences in units of the last place of the exact values, which are long doubles."""
    return np.abs(got.astype(np.longdouble) - exact) / np.spacing(np.abs(exact).astype(kind))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_are_within_two_units_of_the_last_place(card_math, name):
    kind, rng = card_math[1], np.random.default_rng(1)
    for reach in (1.0, 10.0, 1e3):
        a, got = values_of(card_math, name, rng.uniform(-reach, reach, 20_000))
        exact = getattr(np, name)(a.astype(np.longdouble))
        near_zero = np.abs(exact) < 1e-3  # where reduction leaves an absolute error
        assert units_off(got, exact, kind)[~near_zero].max() < 2
        assert np.abs(got - exact)[near_zero].max(initial=0) < np.finfo(kind).eps * 1e-3


def test_sines_of_large_angles_keep_an_absolute_accuracy(card_math):
    kind = card_math[1]
    reach = 1e9 if kind is np.float64 else 1e5
    a, got = values_of(card_math, "sin", np.random.default_rng(2).uniform(-reach, reach, 20_000))
    assert np.abs(got - np.sin(a.astype(np.longdouble))).max() < 4 * np.finfo(kind).eps


@pytest.mark.parametrize(("name", "exact"), [("inverse", lambda a: 1 / a), ("sqrt", np.sqrt)])
def test_inverses_and_roots_are_within_two_units(card_math, name, exact):
    kind, rng = card_math[1], np.random.default_rng(3)
    reach = 200 if kind is np.float64 else 20
    a, got = values_of(card_math, name, 10.0 ** rng.uniform(-reach, reach, 20_000))
    assert units_off(got, exact(a.astype(np.longdouble)), kind).max() < 2


def test_what_has_no_number_is_as_elsewhere(card_math):
    nan, inf = np.nan, np.inf
    _, inverses = values_of(card_math, "inverse", [0.0, inf, -inf, nan])
    np.testing.assert_array_equal(inverses, [inf, 0, 0, nan])
    _, roots = values_of(card_math, "sqrt", [0.0, -1.0, nan])
    np.testing.assert_array_equal(roots, [0, nan, nan])
    _, sines = values_of(card_math, "sin", [inf, nan, 0.0])
    np.testing.assert_array_equal(sines, [nan, nan, 0])


def flow_like(seed, count=400):
    """A function of many operations whose results are needed late: sums over products."""
    rng, x = np.random.default_rng(seed), ca.SX.sym("x", 6)
    values = list(ca.vertsplit(x))
    for _ in range(count):
        a, b = (values[int(k)] for k in rng.integers(0, len(values), 2))
        values.append([a + b, a * b, ca.sin(a) - b, a / (1 + b * b)][int(rng.integers(4))])
    return ca.Function("f", [x], [ca.vertcat(*[ca.sin(v) for v in values[-40:]])])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_order_keeps_dependencies_and_shortens_lives(seed):
    f = flow_like(seed)
    body = straight_line(f, "f", c_dialect(("x",), ("y",)), share_inverses=True)
    ordered = shorten_lifetimes(body)
    assert sorted(map(repr, ordered)) == sorted(map(repr, body))
    known = {line.target for line in body if line.local}
    done = set()
    for line in ordered:
        assert {name for name in line.reads if name in known} <= done
        done.add(line.target)
    assert most_alive(ordered) <= most_alive(body)


def test_values_are_counted_while_they_wait():
    """a and b wait for c; c alone for the result."""
    lines = [("a", True, ("x[0]",)), ("b", True, ("x[1]",)), ("c", True, ("a", "b")), ("y[0]", False, ("c",))]
    assert most_alive([AssignmentLine(t, local, "", reads) for t, local, reads in lines]) == 3


def test_what_is_divided_by_one_value_shares_its_inverse():
    x = ca.SX.sym("x", 4)
    d = ca.sin(x[3])
    f = ca.Function("f", [x], [ca.vertcat(x[0] / d, x[1] / d, x[2] / d, 1 / d, x[0] / 3)])
    lines = straight_line(f, "f", c_dialect(("x",), ("y",)), share_inverses=True)
    texts = [line.expression for line in lines]
    assert sum("STRUT_INVERSE" in text for text in texts) == 1
    assert not any(" / " in text for text in texts if "3" not in text)


def test_nvrtc_is_found_in_wheels_and_none_that_is_newer_than_the_driver(tmp_path, monkeypatch):
    """Both generations of wheels; the newest that the driver knows, else what there is."""
    for folder, name in (("cu13", "libnvrtc.so.13"), ("cuda_nvrtc", "libnvrtc.so.12")):
        library = tmp_path / "nvidia" / folder / "lib" / name
        library.parent.mkdir(parents=True)
        library.touch()
        library.with_name(name.replace("libnvrtc", "libnvrtc-builtins")).touch()
    spec = importlib.machinery.ModuleSpec("nvidia", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "nvidia")]
    monkeypatch.setattr(nvrtc.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(nvrtc.ctypes.util, "find_library", lambda name: None)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert nvrtc.find_nvrtc().name == "libnvrtc.so.13"
    assert nvrtc.find_nvrtc(newest=12).name == "libnvrtc.so.12"
    assert nvrtc.find_nvrtc(newest=11).name == "libnvrtc.so.13"
    monkeypatch.setattr(cuda.shutil, "which", lambda name: None)
    assert cuda.find_cuda_compiler(12040).path.name == "libnvrtc.so.12"
    monkeypatch.setattr(cuda.shutil, "which", lambda name: f"/somewhere/{name}")
    assert cuda.find_cuda_compiler(12040).kind == "nvcc"  # where it is, it is the first choice


def test_a_library_that_is_no_nvrtc_is_told(tmp_path):
    (tmp_path / "libnvrtc.so.13").write_text("nothing")
    with pytest.raises(CompileError, match=r"NVRTC, .*libnvrtc.so.13, cannot be loaded .* install the wheel"):
        nvrtc.Nvrtc(tmp_path / "libnvrtc.so.13")


def test_an_nvcc_that_writes_nothing_is_told(tmp_path, monkeypatch):
    fake = tmp_path / "nvcc"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path / "cache"))
    chosen = cuda.CudaCompiler("nvcc", fake)
    with pytest.raises(CompileError, match="ended well but wrote no machine code: set NVCC"):
        cuda.build_device_library(lower_system(walkers.pendulum()), "rk4", capability=90, chosen=chosen)
    fake.write_text("#!/bin/sh\necho 'unsupported gpu architecture' >&2\nexit 1\n")
    with pytest.raises(
        CompileError, match="could not compile the generated C:\nunsupported gpu architecture"
    ):
        cuda.build_device_library(lower_system(walkers.pendulum()), "rk4", capability=90, chosen=chosen)
