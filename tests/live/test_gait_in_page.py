"""The gait that a page finds, with its own Newton's method and eigenvalues, is that of `gait.find`: run in Node."""

import base64
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import gait, walkers
from strut.cli.doctor import examine
from strut.codegen import find_wasm_compiler, wasm_module
from strut.errors import CompileError
from strut.export.wasm import module_bytes, module_script
from strut.gait.return_map import ReturnMap
from strut.live.document import script
from strut.live.prebuild import prebuild, prebuild_all
from strut.live.views import gait_views, section_shape
from tests.node import ask_node

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or find_wasm_compiler() is None,
    reason="Node, or a compiler for WebAssembly (clang and lld, or ziglang), is not installed",
)
SAME = 1e-6
"""Of states and multipliers, absolute: what was asked; measured are 1e-9 and better."""


def ask_page(**order):
    order |= {"module": module_script(), "newton": script("newton.js")}
    return ask_node(Path(__file__).parent / "gait_case.js", **order)


def gait_in_node(system):
    step = ReturnMap(system)
    code = module_bytes(step.varied, gait_views(step))
    return ask_page(wasm=base64.b64encode(code).decode(), shape=section_shape(system, step.shape))


@needs_node
@pytest.mark.parametrize(
    "name",
    [
        "compass",
        "rimless-wheel",
        pytest.param("simplest", marks=pytest.mark.slow),
        pytest.param("kneed", marks=pytest.mark.slow),
        pytest.param("compass-duindam", marks=pytest.mark.slow),
        pytest.param("dribbel", marks=pytest.mark.slow),
    ],
)
def test_it_is_that_of_find(name):
    """Slow ones: their return maps take up to a minute to compile, twice."""
    system = walkers.compass(slope=strut.deg(3)) if name == "compass" else walkers.CATALOGUE[name]()
    ours, theirs = gait.find(system), gait_in_node(system)
    assert theirs["residual"] < 1e-9
    np.testing.assert_allclose(theirs["y"], ours.y0, atol=SAME, rtol=0)
    assert abs(theirs["period"] - ours.period) < SAME
    page = np.array([complex(*m) for m in theirs["multipliers"]])
    assert len(page) == len(ours.multipliers)
    for value in ours.multipliers:  # as sets: equal moduli may stand in another order
        assert np.abs(page - value).min() < SAME


@needs_node
@pytest.mark.parametrize("size", [1, 2, 3, 6, 12])
def test_eigenvalues_and_singular_values_are_those_of_numpy(size):
    for seed in range(4):
        matrix = np.random.default_rng(seed).normal(size=(size, size))
        answer = ask_page(matrix=matrix.tolist())
        values = np.array([complex(*v) for v in answer["values"]])
        for value in np.linalg.eigvals(matrix):
            assert np.abs(values - value).min() < 1e-10
        np.testing.assert_allclose(answer["singular"], np.linalg.svd(matrix)[1], rtol=1e-10, atol=1e-12)


def test_modules_that_come_with_the_package_need_no_compiler(tmp_path, monkeypatch):
    if find_wasm_compiler() is None:
        pytest.skip("no compiler for WebAssembly is installed")
    monkeypatch.setattr(wasm_module, "PREBUILT", tmp_path / "prebuilt")
    files = prebuild(walkers.compass())
    assert len({path.name for path in files}) == 3
    assert sum(path.stat().st_size for path in files) < 100_000
    monkeypatch.setattr(wasm_module, "find_wasm_compiler", lambda: None)
    page = strut.simulate(walkers.compass(slope=strut.deg(3)), t=1.0).live(
        tmp_path / "walk.html"
    )  # other values
    assert page.stat().st_size > 200_000
    assert strut.export(walkers.compass(hip_mass=7), tmp_path / "c.wasm").files == ("c.wasm", "c.js")
    with pytest.raises(CompileError, match="no compiler for WebAssembly found"):
        strut.export(walkers.pendulum(), tmp_path / "p.wasm")


def live_pages_row():
    return next(row for row in examine() if row["what"] == "live pages without a compiler")


@pytest.mark.skipif(find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed")
def test_doctor_says_of_how_many_machines_modules_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm_module, "PREBUILT", tmp_path / "prebuilt")
    assert live_pages_row()["found"] == "of no machine: no modules came with this package (optional)"
    prebuild_all({"pendulum": walkers.pendulum, "van-der-pol": walkers.van_der_pol}, {})
    assert live_pages_row()["found"] == "of 2 ready-made machines: their modules came with this package"
    assert live_pages_row()["remedy"] == ""
    listed = tmp_path / "prebuilt" / "machines.json"
    content = json.loads(listed.read_text())
    (tmp_path / "prebuilt" / content["machines"]["pendulum"][0]).unlink()
    assert live_pages_row()["found"].startswith("of 1 of 2 ready-made machines: other modules are missing")
    listed.write_text(json.dumps(content | {"made_by": "other sources"}))
    assert live_pages_row()["found"].startswith("of 0 of 2 ready-made machines")
    listed.write_text(json.dumps(content | {"casadi": "3.5.5"}))
    assert "the modules that came are for casadi 3.5.5, and this is 3." in live_pages_row()["found"]
    assert live_pages_row()["remedy"].startswith("optional: pip install casadi==3.5.5")
    listed.write_text("damaged")
    assert live_pages_row()["found"].startswith("of no machine: no modules came")
    assert live_pages_row()["ok"]  # what is optional is no fault
