"""Compiling C into shared libraries, once: a cache by content that survives crashes, races and damage."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import json
import logging
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import platformdirs

from strut.codegen.private_folder import check_private_directory, check_private_file, make_private
from strut.errors import CompileError
from strut.files import DAMAGE

MAX_OPTIMISED_LENGTH = 400_000
"""Characters of C beyond which the compiler optimises less: half the time to wait, a quarter slower to
run."""
FLAGS = (
    "-std=c99",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-fno-trapping-math",
)
"""Chosen by measurement (`python -m bench compile`): -O3 compiles up to 1.6 times as long for 0 to 10 % of
speed, -O1 compiles twice as fast but runs slip 17 % slower; -march=native gains nothing and would tie a
library to its machine."""


QUICK = "-Og"
"""In the place of -O2, for libraries that are wanted soon: 0.42 of the time to compile, runs 1.5 times as
long (compass, its return map), the same numbers."""
QUIET_TIME = 1.0
"""Time [s] of compiling after which something is said."""
LOW_PRIORITY = 15
"""By how much a compiler for which nobody waits is nicer to others (0 to 19)."""
log = logging.getLogger("strut")


@contextmanager
def _announce_if_slow(name: str) -> Iterator[None]:
    """Says, once it takes long, that something is compiled."""
    timer = threading.Timer(QUIET_TIME, lambda: log.info("compiling %s (once; kept in the cache)", name))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def cache_directory() -> Path:
    """Where compiled systems are kept: $STRUT_CACHE, or the user's cache directory."""
    return Path(os.environ.get("STRUT_CACHE") or platformdirs.user_cache_path("strut")).expanduser()


@functools.cache
def _find(name: str, path: str) -> str | None:
    return shutil.which(name, path=path)


ZIG_FLAGS = ("-mcpu=baseline", "-ffp-contract=off", "-fno-sanitize=undefined")
"""What makes `zig cc` compile as other C compilers do: for any processor of this kind, no two operations
joined, no traps."""


@functools.cache
def zig_program() -> Path | None:
    """The program zig of the package ziglang (`strut[compiler]`); None where it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in ("zig", "zig.exe"):
            if (Path(folder) / name).is_file():
                return Path(folder) / name
    return None


def compiler() -> tuple[str, ...] | None:
    """The command of the C compiler: $CC if set (it may have arguments), else the first of cc, gcc, clang,
    else zig of the package ziglang. None if there is none."""
    named_compiler = os.environ.get("CC")
    for name in [named_compiler] if named_compiler else ["cc", "gcc", "clang"]:
        try:
            program, *arguments = shlex.split(name) or [""]
        except ValueError as error:
            raise CompileError(
                f"CC is '{name}', which is no command ({error}): set it to a C compiler, or unset it"
            ) from error
        path = _find(program, os.environ.get("PATH", os.defpath)) if program else None
        if path:
            return (path, *arguments)
    zig = None if named_compiler else zig_program()
    return None if zig is None else (str(zig), "cc", *ZIG_FLAGS)


@functools.cache
def _identity(path: str, modified: int, size: int) -> str:
    return f"{path} {modified} {size} {platform.machine()} {sys.platform}"


def compiler_identity(cc: tuple[str, ...]) -> str:
    """What a library depends on besides its source. Found without starting the compiler."""
    real = Path(cc[0]).resolve()
    status = real.stat()
    return " ".join([_identity(str(real), status.st_mtime_ns, status.st_size), *cc[1:]])


def key_of(content: str, cc: tuple[str, ...], quick: bool = False, flags: Sequence[str] | None = None) -> str:
    """The name of a library in the cache: a hash of its content, of the compiler and of the flags."""
    own = FLAGS if flags is None else flags
    own = [*own, QUICK] if quick else own
    return hashlib.sha256("\0".join([content, compiler_identity(cc), *own]).encode()).hexdigest()[:40]


def compile_seconds(library: Path) -> float:
    """How long a library of the cache took to compile [s]."""
    return float(json.loads(_seal(library).read_text())["seconds"])


def is_cached(key: str) -> bool:
    """Whether the cache has the library `key`, undamaged: `build` then returns at once."""
    directory = cache_directory()
    try:
        if not directory.is_dir():
            return False
        check_private_directory(directory)
        return _intact(directory / f"{key}.so")
    except CompileError:  # a cache that others can change is refused here, too
        raise
    except OSError:  # whatever it is, `build` tells
        return False


def build(  # noqa: PLR0913 what is built, by whom, and with which care
    key: str,
    sources: Callable[[], dict[str, str]],
    main: str,
    cc: tuple[str, ...],
    name: str = "a system",
    *,
    patient: bool = False,
    quick: bool = False,
    flags: Sequence[str] | None = None,
    produce: Callable[[Path, Path], None] | None = None,
    content: str = "",
) -> Path:
    """The shared library of `sources()[main]`, from the cache if it is there and undamaged.

    `key` names the content, `name` is for people. Concurrent processes wait for one another; a build that is
    interrupted leaves nothing; an entry whose checksum is wrong is built again. patient: nobody waits for it,
    so the compiler runs at low priority, nothing is said, and `stop_compilers` stops it. quick: with `QUICK`,
    under a key of its own (`key_of`). flags: of another compiler than one of C. produce: compiles the
    unit in a folder into a file, and checks it, in the place of a C compiler. content: by which
    `find_content` finds it, whichever compiler made it.
    """
    directory = cache_directory()
    library = directory / f"{key}.so"
    try:
        make_private(directory)
        check_private_directory(directory)
        if _intact(library):
            return library
        check_private_file(lock := directory / f"{key}.lock")
        import filelock  # takes a while, and most of what is asked for is there

        with filelock.FileLock(lock):
            if not _intact(library):
                with nullcontext() if patient else _announce_if_slow(name):
                    _compile(
                        library,
                        sources(),
                        main,
                        cc,
                        patient=patient,
                        quick=quick,
                        flags=flags,
                        produce=produce,
                        content=content,
                    )
    except OSError as error:
        if isinstance(error, CompileError):
            raise
        raise CompileError(
            f"cannot write to the cache directory {directory}: {error.strerror or error}; set STRUT_CACHE to "
            f"one you can write to"
        ) from error
    return library


def find_content(content: str) -> Path | None:
    """Return a library of the cache whose content, as `build` was told, begins so, whichever compiler made
    it; None if there is none."""
    directory = cache_directory()
    if not directory.is_dir():
        return None
    check_private_directory(directory)
    for seal in sorted(directory.glob("*.json")):
        try:
            seal_content = str(json.loads(seal.read_text()).get("content", ""))
        except DAMAGE:
            continue
        if seal_content.startswith(content) and _intact(seal.with_suffix(".so")):
            return seal.with_suffix(".so")
    return None


def _seal(library: Path) -> Path:
    return library.with_suffix(".json")


def _intact(library: Path) -> bool:
    """The library exists and is what was built. A truncated library would kill the process, not raise an
    error; one that others made or can change is refused, whatever its checksum."""
    check_private_file(library)
    check_private_file(_seal(library))
    try:
        seal = json.loads(_seal(library).read_text())
        return bool(seal["sha256"] == hashlib.sha256(library.read_bytes()).hexdigest())
    except DAMAGE:
        return False


def _compile(  # noqa: PLR0913 as of `build`
    library: Path,
    sources: dict[str, str],
    main: str,
    cc: tuple[str, ...],
    *,
    patient: bool = False,
    quick: bool = False,
    flags: Sequence[str] | None = None,
    produce: Callable[[Path, Path], None] | None = None,
    content: str = "",
) -> None:
    for left in library.parent.glob(
        f"build-{library.stem}-*"
    ):  # of a build that was killed; we hold its lock
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"build-{library.stem}-", dir=library.parent) as scratch:
        for name, text in sources.items():
            (Path(scratch) / name).write_text(text)
        product = Path(scratch) / library.name
        length = sum(len(line) for line in sources[main].splitlines() if not line.startswith("STRUT_TABLE"))
        level = QUICK if quick else "-O2" if length < MAX_OPTIMISED_LENGTH else "-O1"
        used = [level if flag == "-O2" else flag for flag in (FLAGS if flags is None else flags)]
        began = clock.perf_counter()
        if produce is not None:
            produce(Path(scratch), product)
        else:
            command = [*cc, *used, "-o", str(product), str(Path(scratch) / main), "-lm"]
            _run_compiler(command, cc, patient=patient)
            _check_product(product, cc)
        seal = {
            "sha256": hashlib.sha256(product.read_bytes()).hexdigest(),
            "compiler": " ".join(cc),
            "flags": used,
            "seconds": clock.perf_counter() - began,
            **({"content": content} if content else {}),
        }
        (Path(scratch) / "seal").write_text(json.dumps(seal))
        product.chmod(0o700)
        (Path(scratch) / "seal").chmod(0o600)
        os.replace(product, library)
        os.replace(Path(scratch) / "seal", _seal(library))


def _run_compiler(command: list[str], cc: tuple[str, ...], *, patient: bool) -> None:
    """Run a C compiler. Raises `CompileError` where it cannot be started or fails."""
    try:
        process = _run_patiently(command) if patient else _run(command)
    except OSError as error:
        raise CompileError(
            f"the C compiler {cc[0]} could not be started ({error.strerror}): set CC to one that works, "
            f"or unset it"
        ) from error
    if process.returncode != 0:
        raise CompileError(f"{' '.join(cc)} could not compile the generated C:\n{process.stderr[:2000]}")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


_patient_compilers: set[subprocess.Popen[str]] = set()
"""Compilers that run in the background."""


def _run_patiently(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command at low priority, in a group of its own, such that `stop_compilers` can stop it and what
    it started."""
    nice = _find("nice", os.environ.get("PATH", os.defpath))
    process = subprocess.Popen(
        [*([nice, "-n", str(LOW_PRIORITY)] if nice else []), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _patient_compilers.add(process)
    try:
        out, error = process.communicate()
    finally:
        _patient_compilers.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def stop_compilers() -> None:
    """Stop the compilers that run in the background."""
    for process in list(_patient_compilers):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)


def _check_product(product: Path, cc: tuple[str, ...]) -> None:
    """Refuse what is no shared library of this machine before it is kept: a seal would make the mistake
    last."""
    command = " ".join(cc)
    if not product.is_file():
        raise CompileError(
            f"'{command}' ended well but wrote no library: set CC to a C compiler, or unset it"
        )
    try:
        ctypes.CDLL(str(product))
    except OSError as error:
        why = str(error).replace(str(product), "it")
        raise CompileError(
            f"'{command}' wrote a library that cannot be loaded here ({why}): set CC to a compiler for this "
            f"machine, or unset it"
        ) from error
