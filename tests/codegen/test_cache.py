"""The cache of compiled systems: never built twice, safe among processes, and whole again after any damage."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import strut
from strut import Param, State, System
from strut.codegen import cache as build
from strut.codegen import private_folder as private
from strut.codegen.native import Native
from strut.codegen.virtual import Virtual
from strut.errors import CompileError


def decay(rate=1.0):
    x, k = State("x", 1.0), Param("k", rate)
    return System("decay", x=[x], p=[k], flow={x: -k * x})


def count_builds(monkeypatch):
    builds = []
    original = build._compile
    monkeypatch.setattr(
        build,
        "_compile",
        lambda *arguments, **options: (builds.append(arguments[0].name), original(*arguments, **options)),
    )
    return builds


def test_equal_systems_are_compiled_once(fresh_cache, monkeypatch):
    builds = count_builds(monkeypatch)
    for rate in (1.0, 2.0, 3.0):  # values are no part of the code
        strut.simulate(decay(rate), t=1.0)
    assert len(builds) == 1
    x = State("x", 1.0)
    strut.simulate(System("decay", x=[x], flow={x: -2 * x}), t=1.0)
    assert len(builds) == 2


def test_another_compiler_or_flag_is_another_entry(fresh_cache, monkeypatch):
    builds = count_builds(monkeypatch)
    strut.simulate(decay(), t=1.0)
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-O1"))
    strut.simulate(decay(), t=1.0)
    assert len(set(builds)) == 2


@pytest.mark.parametrize("damage", ["truncate", "garbage", "no seal", "bad seal", "empty"])
def test_a_damaged_entry_is_built_again(fresh_cache, damage):
    strut.simulate(decay(), t=1.0)
    library = next(fresh_cache.glob("*.so"))
    seal = library.with_suffix(".json")
    whole = library.read_bytes()
    library.unlink()  # a new inode: this process still maps the old one
    {
        "truncate": lambda: library.write_bytes(whole[:5000]),
        "garbage": lambda: library.write_bytes(os.urandom(len(whole))),
        "no seal": seal.unlink,
        "bad seal": lambda: seal.write_text("{"),
        "empty": lambda: library.write_bytes(b""),
    }[damage]()
    code = "import strut; from tests.codegen.test_cache import decay; print(repr(float(strut.simulate(decay(), t=1.0)['x'][-1])))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(np.exp(-1), rel=1e-9)
    assert json.loads(seal.read_text())["sha256"]


def test_an_interrupted_build_is_recovered(fresh_cache, tmp_path, monkeypatch):
    """A compiler that never ends is killed together with its parent; then the same build, by the same compiler, works
    and sweeps up what was left."""
    slow, patience = tmp_path / "slowcc", tmp_path / "patience"
    slow.write_text(f'#!/bin/sh\n[ -e {patience} ] || sleep 60\nexec cc "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("CC", str(slow))
    code = "import strut; from tests.codegen.test_cache import decay; strut.simulate(decay(), t=1.0)"
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    deadline = time.monotonic() + 30
    while not list(fresh_cache.glob("build-*/model.c")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(fresh_cache.glob("build-*/model.c"))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not list(fresh_cache.glob("*.so"))
    patience.write_text("")
    assert strut.simulate(decay(), t=1.0).ok
    assert len(list(fresh_cache.glob("*.so"))) == 1
    assert not list(fresh_cache.glob("build-*"))


def test_a_compiler_may_have_arguments(fresh_cache, monkeypatch):
    monkeypatch.setenv("CC", "cc -O1")
    assert isinstance(strut.compile_system(decay()), Native)


def test_concurrent_processes_share_one_build(fresh_cache, tmp_path):
    """Four processes at once: one compiles, the others wait for it."""
    log = tmp_path / "log"
    counting = tmp_path / "cc"
    counting.write_text(f'#!/bin/sh\necho build >> {log}\nexec cc "$@"\n')
    counting.chmod(0o755)
    code = (
        "import strut; from tests.codegen.test_cache import decay; assert strut.simulate(decay(), t=1.0).ok"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "CC": str(counting)})
        for _ in range(4)
    ]
    assert [p.wait() for p in processes] == [0, 0, 0, 0]
    assert log.read_text().count("build") == 1


def test_a_second_process_does_not_call_the_compiler(fresh_cache, tmp_path):
    strut.simulate(decay(), t=1.0)
    code = """
        import subprocess, strut
        from tests.codegen.test_cache import decay
        def refuse(*a, **k): raise AssertionError("the compiler was called")
        subprocess.run = refuse
        assert strut.simulate(decay(), t=1.0).ok
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_without_a_compiler_there_is_one_warning_and_the_same_answer(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr("strut.codegen.backends._warned", False)
    with pytest.warns(RuntimeWarning, match="no C compiler found") as caught:
        run = strut.simulate(decay(), t=1.0)
        strut.simulate(decay(), t=1.0)
    assert len(caught) == 1
    assert isinstance(run.model, Virtual)
    assert run["x"][-1] == pytest.approx(np.exp(-1), rel=1e-9)
    with pytest.raises(
        CompileError, match=r"no C compiler found \(CC is 'no-such-compiler'\): install gcc or clang"
    ):
        strut.simulate(decay(), t=1.0, backend="native")


def test_a_broken_compiler_is_reported(fresh_cache, monkeypatch, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'internal compiler error' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(CompileError, match="internal compiler error"):
        strut.simulate(decay(), t=1.0)
    broken.write_text("not a program")
    with pytest.raises(CompileError, match="could not be started"):
        strut.simulate(decay(2.0), t=1.0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_cache_is_reported(monkeypatch, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    monkeypatch.setenv("STRUT_CACHE", str(locked / "cache"))
    with pytest.raises(CompileError, match="set STRUT_CACHE"):
        strut.simulate(decay(), t=1.0)


def test_a_cache_path_that_is_a_file_is_reported(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path / "file"))
    with pytest.raises(CompileError, match="set STRUT_CACHE"):
        strut.simulate(decay(), t=1.0)


def test_digest_is_the_same_in_every_process():
    code = "from tests.codegen.test_cache import decay; from strut.codegen.backends import lower_system; print(lower_system(decay()).digest)"
    found = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(found) == 1


def test_backend_is_checked():
    with pytest.raises(strut.StrutError, match="backend 'gpu' is unknown"):
        strut.simulate(decay(), t=1.0, backend="gpu")


def test_native_is_the_default():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(strut.compile_system(decay()), Native)
    assert Path(strut.compile_system(decay()).path).is_file()


def test_the_cache_is_the_users_alone(fresh_cache):
    before = os.umask(0o002)
    try:
        strut.simulate(decay(), t=1.0)
    finally:
        os.umask(before)
    assert fresh_cache.stat().st_mode & 0o777 == 0o700
    library = next(fresh_cache.glob("*.so"))
    assert library.stat().st_mode & 0o022 == 0
    assert library.with_suffix(".json").stat().st_mode & 0o022 == 0


def test_what_others_own_is_not_loaded(fresh_cache, monkeypatch):
    strut.simulate(decay(), t=1.0)
    monkeypatch.setattr(private, "user_id", lambda: 54321)
    owner = fresh_cache.stat().st_uid
    if owner:  # what root owns is trusted: root can do anything
        with pytest.raises(
            CompileError, match=f"the cache directory .* belongs to user {owner}, not to you .user 54321."
        ):
            strut.simulate(decay(), t=1.0)
    else:
        os.chown(fresh_cache, 12345, -1)
        with pytest.raises(
            CompileError,
            match=r"belongs to user 12345, not to you \(user 54321\).*set STRUT_CACHE to a directory of your own",
        ):
            strut.simulate(decay(), t=1.0)
        os.chown(fresh_cache, 54321, -1)
        library = next(fresh_cache.glob("*.so"))
        for planted in (library, library.with_suffix(".json")):
            os.chown(planted, 12345, -1)
            with pytest.raises(CompileError, match=rf"{planted.name} in the cache belongs to user 12345"):
                strut.simulate(decay(), t=1.0)
            os.chown(planted, 54321, -1)
        assert strut.simulate(decay(), t=1.0).ok


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_cache_that_others_can_write_is_refused(fresh_cache, mode):
    fresh_cache.mkdir()
    fresh_cache.chmod(mode)
    with pytest.raises(
        CompileError, match=rf"can be written by others \(mode {mode:04o}\).*chmod go-w '{fresh_cache}'"
    ):
        strut.simulate(decay(), t=1.0)


def test_a_directory_above_the_cache_that_others_can_write_is_refused_unless_sticky(monkeypatch, tmp_path):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    monkeypatch.setenv("STRUT_CACHE", str(open_to_all / "cache"))
    open_to_all.chmod(0o777)
    with pytest.raises(
        CompileError, match=f"{open_to_all}, above the cache directory .* can be written by others"
    ):
        strut.simulate(decay(), t=1.0)
    open_to_all.chmod(0o1777)
    assert strut.simulate(decay(), t=1.0).ok


def test_an_entry_that_others_can_write_or_that_is_a_link_is_refused(fresh_cache, tmp_path):
    strut.simulate(decay(), t=1.0)
    library = next(fresh_cache.glob("*.so"))
    library.chmod(0o707)
    with pytest.raises(
        CompileError, match="in the cache can be written by others .*remove it, and it is built again"
    ):
        strut.simulate(decay(), t=1.0)
    library.chmod(0o700)
    library.rename(tmp_path / "elsewhere.so")
    library.symlink_to(tmp_path / "elsewhere.so")
    with pytest.raises(CompileError, match="is no plain file but a link: remove it"):
        strut.simulate(decay(), t=1.0)
    library.unlink()
    library.mkdir()
    with pytest.raises(CompileError, match="is no plain file but a directory: remove it"):
        strut.simulate(decay(), t=1.0)
    library.rmdir()
    assert strut.simulate(decay(), t=1.0).ok


def test_a_compiler_that_is_none_is_blamed_and_nothing_is_kept(fresh_cache, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", 'gcc "')
    with pytest.raises(
        CompileError,
        match=r"""CC is 'gcc "', which is no command \(No closing quotation\): set it to a C compiler""",
    ):
        strut.simulate(decay(), t=1.0)
    monkeypatch.setenv("CC", "/bin/true")
    with pytest.raises(
        CompileError, match=r"'/bin/true' ended well but wrote no library: set CC to a C compiler"
    ):
        strut.simulate(decay(), t=1.0)
    scribe = tmp_path / "scribe"
    scribe.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho nonsense > "$2"\n')
    scribe.chmod(0o755)
    monkeypatch.setenv("CC", str(scribe))
    with pytest.raises(
        CompileError,
        match=r"wrote a library that cannot be loaded here .*set CC to a compiler for this machine",
    ):
        strut.simulate(decay(), t=1.0)
    assert not list(fresh_cache.glob("*.so"))
    assert not list(fresh_cache.glob("*.json"))
