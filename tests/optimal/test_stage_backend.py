"""Stage functions are compiled when that pays: not for one solve, then in the background; the numbers are the same."""

import os
import subprocess
import sys
import textwrap

import pytest

from strut import codegen
from strut.codegen import background
from strut.codegen import cache as build
from strut.errors import CompileError, ModelError
from strut.optimal.nlp import ready_stages as stage
from strut.optimal.nlp import stage_backend
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from tests.optimal import textbook


def solve(**options):
    return textbook.kirk().solve(intervals=10, control="quadratic", accuracy=None, **options)


@pytest.fixture
def first_process(fresh_cache, monkeypatch):
    """As in a process that has solved nothing yet, with an empty cache."""
    monkeypatch.setattr(stage, "_loaded", {})
    monkeypatch.setattr(background, "_threads", {})
    return fresh_cache


def libraries(cache):
    return sorted(path.name for path in cache.glob("*.so"))


def test_one_solve_compiles_nothing_and_gives_the_same_numbers(first_process):
    virtual = solve()
    assert not libraries(first_process)
    assert virtual.times["compile"] == 0
    native = solve(backend="native")
    assert len(libraries(first_process)) == 1
    assert native.cost == virtual.cost
    assert native.iterations == virtual.iterations


def test_what_is_solved_often_is_compiled_in_the_background(first_process, monkeypatch):
    monkeypatch.setattr(stage_backend, "COMPILER_START", 0.0)
    monkeypatch.setattr(stage_backend, "TYPICAL_ITERATIONS", 1)
    one = Transcribed(textbook.kirk(), Transcription(intervals=10, control="quadratic"))
    groups = [(b.stage.value, b.stage.jacobian, b.stage.hessian) for b in one.blocks]
    costs = stage.stage_costs(groups, [b.count for b in one.blocks])
    first = solve()
    # one solve more than pays: nothing happens before, and the next one is compiled
    enough = 1.5 * costs.excess(first.iterations) / costs.once
    monkeypatch.setattr(stage_backend, "COMPILE_TIME", enough)
    next(first_process.glob("*.spent")).unlink()
    assert solve().times["compile"] == 0
    assert not background._threads
    assert solve().times["compile"] == 0
    codegen.wait_for_builds()
    assert len(libraries(first_process)) == 1
    last = solve()
    assert last.times["compile"] > 0
    assert last.cost == first.cost


def test_what_earlier_processes_solved_often_is_compiled_first(first_process):
    assert solve().times["compile"] == 0
    next(first_process.glob("*.spent")).write_text("1000.0")
    assert solve().times["compile"] > 0
    assert len(libraries(first_process)) == 1
    # a file that is damaged counts for nothing
    next(first_process.glob("*.spent")).write_text("many")
    assert stage_backend.VirtualUse().spent(next(first_process.glob("*.spent")).stem) == 0


def test_a_mesh_that_pays_at_once_is_compiled_first(first_process, monkeypatch):
    monkeypatch.setattr(stage_backend, "TYPICAL_ITERATIONS", 10_000_000)
    assert solve().times["compile"] > 0
    assert len(libraries(first_process)) == 1


def test_instructions_of_called_functions_count_by_call_and_are_written_once():
    once, evaluated = [], []
    for steps in (2, 4):
        mesh = Transcribed(
            textbook.kirk(), Transcription("shooting", 3, steps=steps, control="linear"), backend="virtual"
        )
        written = {}
        f = next(b.stage.value for b in mesh.blocks if b.stage.name == "interval_0")
        evaluated.append(stage_backend.count_instructions(f, written))
        once.append(sum(written.values()))
        assert f.n_instructions() < once[-1] < evaluated[-1]
    assert evaluated[1] - evaluated[0] > once[1] - once[0]  # more calls of the same flow


def test_backends_that_cannot_be_are_refused(monkeypatch):
    with pytest.raises(ModelError, match="backend 'fast' is unknown: allowed are auto, native, virtual"):
        solve(backend="fast")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(
        CompileError, match=r"no C compiler found \(CC is 'no-such-compiler'\): install gcc or clang, set CC"
    ):
        solve(backend="native")


def test_a_process_that_ends_leaves_no_compiler_behind(fresh_cache, tmp_path):
    slow = tmp_path / "slow-cc"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    slow.chmod(0o700)
    code = f"""
    import pathlib, time
    from strut.codegen import build_in_background, compiler, key_of
    build_in_background(key_of("text", compiler()), lambda: {{"a.c": "int a;"}}, "a.c", compiler(), "nothing")
    while not pathlib.Path({str(tmp_path)!r}, "pid").exists():
        time.sleep(0.01)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "CC": str(slow)},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert not done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert not list(fresh_cache.glob("build-*"))
    assert not libraries(fresh_cache)


def test_a_build_in_the_background_that_fails_is_logged(first_process, monkeypatch, caplog):
    cc = build.compiler()
    codegen.build_in_background("k" * 40, lambda: {"a.c": "not C"}, "a.c", cc, "nothing")
    codegen.wait_for_builds()
    assert "in the background:" in caplog.text
    assert "could not compile the generated C" in caplog.text
