"""Compiled on one machine for the card of another: by a compiler that is none, which writes what looks like code."""

import hashlib
import json
import os
import time

import numpy as np
import pytest

import strut
from strut import walkers
from strut.cli.app import main
from strut.codegen import cuda, find_content, kernels_of, read_capability
from strut.errors import CompileError, DeviceError, ModelError
from strut.simulate import batch_on_card, compile_for_card
from strut.studies import exoskeleton_evaluation
from strut.studies.exoskeleton_pool import ForkedPool
from strut.studies.exoskeleton_search import exoskeleton_problem

NVCC = """#!/bin/sh
echo "$@" >> LOG
while [ "$1" != "-o" ]; do shift; done
printf '\\177ELF code' > "$2"
"""
RK4 = {"method": "rk4", "step": 1e-3}


@pytest.fixture
def nvcc(fresh_cache, tmp_path, monkeypatch):
    """A compiler in the place of nvcc; returned is the file with a line of arguments for each time it ran."""
    program, log = tmp_path / "nvcc", tmp_path / "log"
    program.write_text(NVCC.replace("LOG", str(log)))
    program.chmod(0o755)
    monkeypatch.setenv("NVCC", str(program))
    return log


def main_exits(arguments, code):
    with pytest.raises(SystemExit) as ending:
        main(arguments)
    assert ending.value.code == code


def hide_compilers(monkeypatch):
    """As on a machine with the driver alone."""
    for module in (cuda, batch_on_card):
        monkeypatch.setattr(module, "find_cuda_compiler", lambda cuda=None: None)


def test_what_is_compiled_for_a_card_is_found_where_it_is(nvcc):
    path = compile_for_card(walkers.pendulum(), "sm_90", precision="single", **RK4)
    assert "-arch=sm_90 -DSTRUT_FLOAT" in nvcc.read_text()
    low = strut.codegen.lower_system(walkers.pendulum())
    assert cuda.build_device_library(low, "rk4", "single", 90) == path
    assert compile_for_card(walkers.pendulum(), "9.0", precision="single", **RK4) == path
    assert len(nvcc.read_text().splitlines()) == 1


def test_without_a_compiler_kernels_of_another_machine_are_taken(nvcc, monkeypatch):
    path = compile_for_card(walkers.pendulum(), "9.0", **RK4)
    os.utime(os.environ["NVCC"], (time.time() + 60,) * 2)  # another compiler, by its time
    hide_compilers(monkeypatch)
    low = strut.codegen.lower_system(walkers.pendulum())
    assert cuda.build_device_library(low, "rk4", capability=90) == path
    for other in ({"method": "euler"}, {"precision": "single"}, {"capability": 80}, {"crew": 2}):
        with pytest.raises(CompileError, match="no CUDA compiler found .* cache has no kernels"):
            cuda.build_device_library(low, **{"method": "rk4", "capability": 90, **other})
    path.write_bytes(b"damaged")
    with pytest.raises(CompileError, match="cache has no kernels"):
        cuda.build_device_library(low, "rk4", capability=90)


def test_a_machine_with_such_kernels_lacks_no_card(nvcc, fake_driver, monkeypatch):
    hide_compilers(monkeypatch)
    assert "no CUDA compiler" in batch_on_card.lack_of_card()
    path = nvcc.parent / "cache" / "kept.so"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"code")
    seal = {"sha256": hashlib.sha256(b"code").hexdigest(), "content": f"{kernels_of(90)} double"}
    path.with_suffix(".json").write_text(json.dumps(seal))
    assert find_content(kernels_of(90)) == path
    assert batch_on_card.lack_of_card() == ""


def test_crews_are_those_that_the_card_would_have(nvcc, monkeypatch):
    monkeypatch.setattr(cuda, "MIN_CREW_INSTRUCTIONS", 1)
    paths = {
        capability: compile_for_card(walkers.compass(), capability, **RK4) for capability in ("9.0", "8.9")
    }
    contents = {
        key: json.loads(path.with_suffix(".json").read_text())["content"].split()[2:5]
        for key, path in paths.items()
    }
    assert contents == {"9.0": ["sm_90", "double", "4"], "8.9": ["sm_89", "double", "1"]}


@pytest.mark.parametrize(("text", "number"), [("9.0", 90), ("sm_90", 90), ("120", 120), ("12.1", 121)])
def test_capabilities_are_read(text, number):
    assert read_capability(text) == number


@pytest.mark.parametrize(
    ("capability", "options", "error", "text"),
    [
        ("hopper", RK4, DeviceError, "'hopper' is no compute capability .* give it as 9.0 or sm_90"),
        ("9.0", {"method": "radau"}, DeviceError, "'radau' runs on the processor alone"),
        ("9.0", {**RK4, "crew": 3}, ModelError, "crew is 3: give 1, 2, 4, 8"),
    ],
)
def test_what_cannot_be_compiled_is_told(capability, options, error, text):
    with pytest.raises(error, match=text):
        compile_for_card(walkers.pendulum(), capability, **options)


def test_machines_of_topologies_are_compiled_side_by_side(nvcc, monkeypatch):
    """Here by two processes; one compiles them one after the other."""
    numbers = []
    monkeypatch.setattr(
        exoskeleton_evaluation.ExoskeletonEvaluation,
        "compile_runner",
        lambda self, number, capability: numbers.append(number) or f"{number} for {capability}",
    )
    evaluation = exoskeleton_problem(["2", "5"], processes=1, device="cuda").evaluation
    assert evaluation.compile_for("9.0") == ["2 for 9.0", "5 for 9.0"]
    assert ForkedPool(evaluation, 2).compile_for("9.0") == ["2 for 9.0", "5 for 9.0"]
    assert numbers == [2, 5]  # the others in their own processes


def test_the_commands_compile_and_do_nothing_else(nvcc, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main_exits(["reproduce", "kieboom-coman", "--device", "cuda", "--compile-for", "sm_90", "--json"], 0)
    data = json.loads(capsys.readouterr().out)["result"]
    assert (data["name"], data["card"], len(data["files"])) == ("kieboom-coman", "sm_90", 1)
    assert not (tmp_path / "kieboom-coman").exists()
    job = tmp_path / "job.toml"
    job.write_text(
        '[evaluate]\nmodel = "slip"\ntime = 1\n[measures]\nspeed = "x / end.time"\n'
        '[parameters]\nattack = { low = "60 deg", high = "75 deg" }\n[[goals]]\nmaximise = "speed"\n'
        '[search]\nkind = "swarm"\npopulation = 4\ngenerations = 2\n'
    )
    main_exits(["evolve", str(job), "--device", "cuda", "--compile-for", "9.0"], 0)
    assert "job for cards of 9.0" in " ".join(capsys.readouterr().out.split())
    assert not (tmp_path / "job.db").exists()
    assert len(nvcc.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["reproduce", "kieboom-coman", "--compile-for", "9.0"], "say --device cuda as well"),
        (
            ["reproduce", "kieboom-coman", "--device", "cuda", "--compile-for", "big"],
            "no compute capability",
        ),
        (["reproduce", "kieboom-tasks", "--compile-for", "9.0"], "say --device cuda"),
    ],
)
def test_commands_that_make_no_sense(arguments, text, capsys):
    main_exits(arguments, 2)
    assert text in " ".join(capsys.readouterr().err.split())


def test_precompiled_files_are_those_of_the_population(nvcc):
    """What an evaluation compiles ahead is what its runs would ask for: options of place are left out."""
    evaluation = strut.evolve.of_system(
        walkers.slip(), 1.0, {"speed": "x / end.time"}, device="cuda", check_steps=False, rtol=1e-6
    )
    (path,) = evaluation.compile_for("9.0")
    low = strut.codegen.lower_system(evaluation.run_measures.system)
    assert path == cuda.build_device_library(low, "dop853", "double", 90)
    assert np.frombuffer(path.read_bytes(), dtype="u1")[0] == 0x7F
