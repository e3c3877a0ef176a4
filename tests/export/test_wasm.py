"""Modules for WebAssembly: in Node they do what the processor does, events included, for every ready-made machine."""

import shutil
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut import walkers
from strut.codegen import cache, find_wasm_compiler, wasm_module
from strut.errors import CompileError, ModelError, ValueRangeError
from strut.system import start
from tests.node import ask_node

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or find_wasm_compiler() is None,
    reason="Node, or a compiler for WebAssembly (clang and lld, or ziglang), is not installed",
)
EQUAL = 1e-10
"""Difference from native code after 10 s, relative to 1 + the largest state, and of the time [s] of every event on the
way, relative to 1 + that time: what was asked. Sines of browsers
and of the C library differ in the last digit, which an unstable machine magnifies."""
QUICK = (
    "bouncing-ball",
    "compass",
    "kneed",
    "pendulum",
    "point-3d",
    "rimless-wheel",
    "slip",
    "simplest",
    "van-der-pol",
)
"""Machines that are compiled, for the processor and as modules, within two seconds."""
MAGNIFY = {"point-3d"}
"""Machines that magnify rounding beyond `EQUAL`, so that the end is measured against what one unit in the last place
does to native code: its gait is unstable, a last digit grows a million times in ten seconds, and in every single
second it is `EQUAL`."""
FINER = {"coman-planar": {"rtol": 1e-13, "atol": 1e-15}}
"""Tolerances of steps, where those of `simulate` are as large as `EQUAL`. Where soft ground begins to press, a last
digit decides whether a step is accepted: native code that begins one unit in the last place beside takes 96 to 109
steps instead of 108, and ends 1e-10 away, which is its tolerance. With these both are as near to the solution as is
asked, states 3e-14 apart."""


def run_in_node(path, t=10.0, **order):
    order |= {"wasm": str(path), "js": str(Path(path).with_suffix(".js")), "t": t}
    return ask_node(Path(__file__).parent / "wasm_case.js", **order)


def machine(name):
    return {**walkers.CATALOGUE, **walkers.ROBOTS}[name]()


def end_of(run):
    return np.concatenate([run.end["x0"], run.end["z0"]])


MACHINES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in [*walkers.CATALOGUE, *walkers.ROBOTS]
]


@needs_node
@pytest.mark.parametrize("name", MACHINES)
def test_ten_seconds_are_those_of_the_processor(name, tmp_path):
    """Slow ones: compiling takes up to 30 s, and COMAN has 64,000 steps."""
    system = machine(name)
    exported = strut.export(system, tmp_path / "machine.wasm")
    assert exported.files == ("machine.wasm", "machine.js")
    options = FINER.get(name, {})
    native = strut.simulate(system, t=10.0, **options)
    module = run_in_node(tmp_path / "machine.wasm", options=options, events=True)
    assert module["status"] == native.status
    assert sum(module["counts"].values()) == len(native.events) + len(native.samples)
    print(
        f"{name} ran {native.t1:.5g} s, {len(native.events)} events, {len(native.samples)} samples: {native.status}"
    )
    x, z = (np.array(module[group]) for group in "xz")
    size = 1 + np.abs(native.end["x0"]).max(initial=0.0)
    allowed = EQUAL
    if (
        name in MAGNIFY
    ):  # what one unit in the last place of the initial state makes of the end, in native code
        begin = start(system).x
        other = strut.simulate(system, t=10.0, x0=np.nextafter(begin, np.inf))
        allowed = 10 * np.abs(other.end["x0"] - native.end["x0"]).max() / size
        assert 1e-11 < allowed < 1e-6
    clocked = set(native.samples.names)
    jumps = [(event, t) for event, t in module["jumps"] if event not in clocked]
    assert [event for event, _ in jumps] == list(native.events.names)
    late = np.abs(np.array([t for _, t in jumps]) - native.events.t)
    assert np.all(late <= allowed * (1 + native.events.t))
    assert abs(module["t"] - native.t1) <= allowed * (1 + native.t1)
    assert np.abs(x - native.end["x0"]).max(initial=0.0) <= allowed * size
    assert np.abs(z - native.end["z0"]).max(initial=0.0) <= allowed * (1 + np.abs(z).max(initial=0.0))
    outputs = [float(np.ravel(native[label])[-1]) for label in system.labels("outputs")]
    finite = np.isfinite(outputs)
    worst = np.abs(np.array(module["y"], dtype=float)[finite] - np.array(outputs)[finite]).max(initial=0.0)
    assert worst <= 1e3 * allowed * (
        1 + np.abs(np.array(outputs)[finite]).max(initial=0.0)
    )  # forces are stiff


def every_function():
    """A machine of one's own whose output is every function that C has and a module must bring or ask for."""
    a, b = strut.State("a", -7.3), strut.State("b", 0.4)
    s = a.sym
    terms = [ca.sin(s), ca.cos(s), ca.tan(s), ca.asin(b.sym), ca.acos(b.sym), ca.atan(s), ca.atan2(s, b.sym)]
    terms += [ca.sinh(s / 5), ca.cosh(s / 5), ca.tanh(s), ca.asinh(s), ca.acosh(2 + s**2), ca.atanh(b.sym)]
    terms += [
        ca.exp(s / 9),
        ca.expm1(s / 9),
        ca.log(2 + s**2),
        ca.log1p(s**2),
        (2 + s**2) ** 0.3,
        ca.sqrt(1 + s**2),
    ]
    terms += [ca.hypot(s, b.sym), ca.erf(s / 3), ca.erf(b.sym), ca.floor(s), ca.ceil(s), ca.fmod(s, b.sym)]
    terms += [
        ca.remainder(s, b.sym),
        ca.fabs(s),
        ca.fmin(s, b.sym),
        ca.fmax(s, b.sym),
        ca.copysign(b.sym, s),
        ca.sign(s),
    ]
    return strut.System(
        name="every_function",
        x=(a, b),
        flow={"a": 1.7, "b": 0.1 * ca.cos(s)},
        outputs={f"f{k}": term for k, term in enumerate(terms)},
    )


@needs_node
def test_an_unstable_walker_is_equal_in_every_second(tmp_path):
    """Each begun where native code is: what it magnifies is then a second's rounding, not ten."""
    system = machine("point-3d")
    strut.export(system, tmp_path / "machine.wasm")
    begin = start(system)
    x, z, worst = begin.x, begin.z, 0.0
    for second in range(10):
        native = strut.simulate(system, t=(second, second + 1), x0=x, z0=z)
        module = run_in_node(
            tmp_path / "machine.wasm", t=second + 1.0, x=x.tolist(), z=z.tolist(), **{"from": float(second)}
        )
        assert module["status"] == native.status == "done"
        x, z = native.end["x0"], native.end["z0"]
        worst = max(worst, np.abs(np.array(module["x"]) - x).max() / (1 + np.abs(x).max()))
    assert worst <= EQUAL


@needs_node
@pytest.mark.parametrize("t", [0.5, 3.1, 7.7])
def test_every_function_of_c_is_there(t, tmp_path):
    system = every_function()
    strut.export(system, tmp_path / "f.wasm")
    native, module = strut.simulate(system, t=t), run_in_node(tmp_path / "f.wasm", t=t)
    outputs = np.array([native[name][-1] for name in system.labels("outputs")])
    assert len(outputs) > 30
    np.testing.assert_allclose(module["y"], outputs, rtol=1e-13, atol=1e-14)


@needs_node
@pytest.mark.parametrize("method", ["rk4", "rkc"])
def test_fixed_steps_are_those_of_the_processor(method, tmp_path):
    """Also of a method whose stages need more than the one before."""
    system = walkers.pendulum()
    strut.export(system, tmp_path / "p.wasm", method=method, step=1e-3)
    native, module = (
        strut.simulate(system, t=1.0, method=method, step=1e-3),
        run_in_node(tmp_path / "p.wasm", t=1.0),
    )
    np.testing.assert_allclose(module["x"], native.end["x0"], atol=1e-12, rtol=0)


@needs_node
def test_a_module_says_what_it_is(tmp_path):
    system = walkers.compass(slope=strut.deg(3))
    strut.export(system, tmp_path / "walk.wasm")
    about = run_in_node(tmp_path / "walk.wasm", t=0.1)["about"]
    slope = next(q for q in about["p"] if q["name"] == "slope")
    assert slope["unit"] == "rad"
    assert slope["value"] == strut.deg(3)
    assert about["name"] == "compass"
    assert [q["name"] for q in about["x"]] == list(system.labels("x"))
    assert [q["name"] for q in about["y"]] == list(system.labels("outputs"))
    assert "heel_strike" in about["jumps"]


@needs_node
def test_other_parameters_and_the_scene(tmp_path):
    system = walkers.compass(slope=strut.deg(3))
    strut.export(system, tmp_path / "walk.wasm")
    module = run_in_node(tmp_path / "walk.wasm", t=2.0, p={"slope": 0.04, "hip_mass": 12.0})
    native = strut.simulate(system, t=2.0, p={"slope": 0.04, "hip_mass": 12.0})
    np.testing.assert_allclose(module["x"], native.end["x0"], rtol=1e-12)
    assert module["ground"] == pytest.approx(-1.5 * np.tan(0.04), rel=1e-14)
    expected = np.array(
        system.function("scene", [*system.scene.columns().values()]).call(
            [native.t1, native.end["x0"], native.end["z0"], native.end["u"], native.end["p"]]
        ),
        dtype=object,
    )
    flat = np.concatenate([np.array(e).ravel() for e in expected])
    np.testing.assert_allclose(module["scene"], flat, rtol=1e-12, atol=1e-12)


@needs_node
def test_a_module_is_compiled_once(tmp_path, monkeypatch):
    strut.export(walkers.pendulum(), tmp_path / "a.wasm")
    monkeypatch.setattr(wasm_module, "_compile", lambda *_: pytest.fail("it was compiled again"))
    strut.export(walkers.pendulum(), tmp_path / "b.wasm")
    assert (tmp_path / "a.wasm").read_bytes() == (tmp_path / "b.wasm").read_bytes()


def test_delays_are_refused(tmp_path):
    x = strut.State("x", 1.0)
    past = strut.Delay("past", signal=x.sym, by=0.5, before=1.0)
    system = strut.System(name="late", x=(x,), delays=(past,), flow={"x": -past.sym})
    with pytest.raises(
        ModelError, match=r"'late' has delays \('past'\): a module for WebAssembly has no memory"
    ):
        strut.export(system, tmp_path / "x.wasm")


def test_without_a_compiler_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm_module, "find_wasm_compiler", lambda: None)
    with pytest.raises(
        CompileError, match=r"no compiler for WebAssembly found: install clang and lld .*strut\[compiler\]"
    ):
        strut.export(walkers.pendulum(), tmp_path / "x.wasm")


def test_bad_orders_are_refused(tmp_path):
    with pytest.raises(ValueRangeError, match="has no Jacobians: leave out jacobians"):
        strut.export(walkers.pendulum(), tmp_path / "x.wasm", jacobians=True)
    with pytest.raises(ValueRangeError, match=r"written to a file \.wasm, not 'x.web'"):
        strut.export_wasm(walkers.pendulum(), tmp_path / "x.web")
    with pytest.raises(ModelError, match="there is no method 'radau' in WebAssembly"):
        strut.export_wasm(walkers.pendulum(), tmp_path / "x.wasm", method="radau")


def test_zig_serves_where_no_compiler_is(monkeypatch, tmp_path):
    program = tmp_path / "zig"
    program.write_text("")
    monkeypatch.setattr(cache, "zig_program", lambda: program)
    monkeypatch.setattr(wasm_module, "zig_program", lambda: program)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert cache.compiler()[:2] == (str(program), "cc")
    assert find_wasm_compiler().kind == "zig"
    monkeypatch.setenv("CC", "no-such-compiler")  # who names one gets that or none
    assert cache.compiler() is None
