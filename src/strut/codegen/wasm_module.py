"""A system as a module for WebAssembly: its C with a memory of its own, compiled by clang or zig and kept
in the cache."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from strut.codegen.backends import lower_system, runtime_and_digest
from strut.codegen.c import emit
from strut.codegen.cache import build, key_of, zig_program
from strut.codegen.lower import Lowered, column
from strut.codegen.runtime.integrators import INTEGRATORS, StepKind
from strut.codegen.runtime.layout import DEFAULTS
from strut.codegen.translation_unit import generate
from strut.errors import CompileError, ModelError, did_you_mean
from strut.gc_pause import pause_gc
from strut.system import System, initial_values

WASM_FILES = Path(__file__).parent / "wasm"
"""C that only modules for WebAssembly need: a <math.h>, and what a page calls."""
PREBUILT = Path(__file__).parent / "prebuilt"
"""Modules that come with the package, by digest: `make modules` writes them before a wheel is built."""
WASM_FLAGS = (
    *("-std=c99", "-O2", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-mbulk-memory"),
    *("-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576"),
)
"""Of the compiler. No two operations become one, so that numbers are those of the processor. 1 MiB of stack
is more than the locals of any ready-made machine."""
WASM_MAGIC = b"\0asm"
"""What a module begins with."""
VIEW_ARGUMENTS = ("t", "x", "z", "u", "p", "a")
"""What a view is a function of: the waist's vectors, and what it is asked, `a`."""


@dataclass(frozen=True)
class WasmCompiler:
    """A compiler for WebAssembly: its command, its kind ('clang' or 'zig'), and what it needs besides
    `WASM_FLAGS`."""

    command: tuple[str, ...]
    kind: str
    flags: tuple[str, ...]


def find_wasm_compiler() -> WasmCompiler | None:
    """Return the compiler for WebAssembly: clang with its linker wasm-ld where both are on the path, else
    zig of the package ziglang (`strut[compiler]`); None if there is neither."""
    clang = _clang_for_wasm(os.environ.get("PATH", os.defpath))
    if clang is not None:
        return WasmCompiler((clang,), "clang", ("--target=wasm32",))
    zig = zig_program()
    if zig is not None:
        flags = ("-target", "wasm32-freestanding", "-fno-sanitize=undefined", "-mcpu=generic+bulk_memory")
        return WasmCompiler((str(zig), "cc"), "zig", flags)
    return None


@functools.cache
def _clang_for_wasm(path: str) -> str | None:
    """clang that knows WebAssembly and finds its linker; Apple's does not."""
    clang = shutil.which("clang", path=path)
    if clang is None or shutil.which("wasm-ld", path=path) is None:
        return None
    try:
        says = subprocess.run([clang, "--print-targets"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return clang if "wasm32" in says.stdout else None


@dataclass(frozen=True, eq=False)
class WasmModule:
    """A module: its bytes, without a word about names; how long each view is, by name in order; the jumps;
    the digest of what it was made of."""

    code: bytes
    views: dict[str, int]
    jumps: tuple[str, ...]
    method: str
    step: float | None
    digest: str


def build_wasm_module(
    system: System,
    views: Mapping[str, ca.Function] | None = None,
    *,
    method: str | None = None,
    step: float | None = None,
) -> WasmModule:
    """Return a system as a module, from the cache where it is there.

    views: further functions of (t, x, z, u, p, a) with one result, which a page can look at. method: of
    integration, by default that of `simulate`; step: of methods with a fixed one [s].
    Raises ModelError for a system with delays, or a method that modules do not have, CompileError where
    there is no compiler for WebAssembly or it fails.
    """
    if system.delays:
        raise ModelError(
            f"'{system.name}' has delays ('{system.delays[0].name}'): a module for WebAssembly has no "
            f"memory for what signals were; run it in Python, or export it as C, whose caller gives "
            f"it that memory"
        )
    chosen = method or DEFAULTS.method
    explicit = [name for name, m in INTEGRATORS.items() if m.kind is not StepKind.IMPLICIT]
    if chosen not in explicit:
        raise ModelError(f"there is no method '{chosen}' in WebAssembly: {did_you_mean(chosen, explicit)}")
    low, functions = lower_system(system), dict(views or {})
    initial = ca.Function("initial", [column([q.sym for q in system.p])], initial_values(system))
    runtime, generator = runtime_and_digest(chosen)
    ours = [path.read_text() for path in (*sorted(WASM_FILES.glob("*.h")), Path(__file__))]
    content = [low.digest, generator, *ours, initial.serialize(), chosen, repr(step)]
    content += [f"{name} {f.serialize()}" for name, f in functions.items()]
    digest = hashlib.sha256("\0".join(content).encode()).hexdigest()

    def sources() -> dict[str, str]:
        with pause_gc():
            own = {path.name: path.read_text() for path in WASM_FILES.glob("*.h")}
            return {**runtime, **own, "model.c": _unit_text(low, initial, functions, chosen, step)}

    return WasmModule(
        code=_prebuilt_code(digest) or _compiled_code(digest, sources, system.name),
        views={name: f.numel_out(0) for name, f in functions.items()},
        jumps=tuple(jump.source.name for jump in low.jumps),
        method=chosen,
        step=step,
        digest=digest,
    )


def _prebuilt_code(digest: str) -> bytes | None:
    """The module that came with the package, if it did; no compiler is needed then."""
    path = PREBUILT / f"{digest[:40]}.wasm.gz"
    return gzip.decompress(path.read_bytes()) if path.is_file() else None


def keep_prebuilt(module: WasmModule) -> Path:
    """Put a module where installations find it without a compiler, `PREBUILT`; return where it is."""
    PREBUILT.mkdir(exist_ok=True)
    path = PREBUILT / f"{module.digest[:40]}.wasm.gz"
    path.write_bytes(gzip.compress(module.code, 9, mtime=0))
    return path


def _compiled_code(digest: str, sources: Callable[[], dict[str, str]], name: str) -> bytes:
    """A module by the compiler, or from the cache. Raises CompileError where there is no compiler."""
    cc = find_wasm_compiler()
    if cc is None:
        raise CompileError(
            "no compiler for WebAssembly found: install clang and lld (Debian: apt install clang "
            "lld), or the package ziglang, pip install 'strut[compiler]'"
        )
    flags = (*cc.flags, *WASM_FLAGS)
    path = build(
        key_of(digest, cc.command, flags=flags),
        sources,
        "model.c",
        cc.command,
        f"{name} for WebAssembly",
        flags=flags,
        produce=lambda folder, product: _compile(cc, flags, folder, product),
    )
    return path.read_bytes()


def _unit_text(
    low: Lowered, initial: ca.Function, views: Mapping[str, ca.Function], method: str, step: float | None
) -> str:
    """The whole unit of a module: model, runtime, views, and what a page calls."""
    code = generate(low)
    return "\n".join(
        [
            '#include "strut_math.h"',
            code.sizes_text("strut_model"),
            f"#define STRUT_MODULE_METHOD {INTEGRATORS[method].c_constant}",
            f"#define STRUT_MODULE_STEP {0.0 if step is None else float(step)!r}",
            '#include "strut_types.h"',
            emit(initial, "initial", ("p",), ("x", "z")),
            code.functions,
            '#include "strut_run.h"',
            _views_text(views),
            '#include "strut_wasm.h"\n',
        ]
    )


def _views_text(views: Mapping[str, ca.Function]) -> str:
    """C of the views, and of the function that calls the one of a number."""
    asked = max([f.numel_in(5) for f in views.values()], default=0)
    longest = max([f.numel_out(0) for f in views.values()], default=0)
    parts = [f"#define STRUT_NA {asked}", f"#define STRUT_NV {longest}"]
    parts += [emit(f, f"view_{k}", VIEW_ARGUMENTS, ("seen",)) for k, f in enumerate(views.values())]
    arguments = ", ".join(["double t", *(f"const double *{n}" for n in VIEW_ARGUMENTS[1:]), "double *seen"])
    cases = "".join(
        f"    case {k}: STRUT_(view_{k})({', '.join(VIEW_ARGUMENTS)}, seen); break;\n"
        for k in range(len(views))
    )
    unused = "".join(f"    (void){n};\n" for n in (*VIEW_ARGUMENTS, "seen"))
    parts.append(
        f"static void strut_views(int view, {arguments})\n{{\n{unused}    switch (view) {{\n{cases}"
        "    default: break;\n    }\n}\n"
    )
    return "\n".join(parts)


def _compile(cc: WasmCompiler, flags: tuple[str, ...], folder: Path, product: Path) -> None:
    """Compile the unit of a folder. Raises CompileError where the compiler cannot be started, fails, or
    writes something else."""
    command = [*cc.command, *flags, f"-I{folder}", "-o", str(product), str(folder / "model.c")]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompileError(
            f"the compiler {cc.command[0]} could not be started ({error.strerror}): install clang and "
            f"lld, or pip install 'strut[compiler]'"
        ) from error
    if process.returncode != 0:
        raise CompileError(
            f"{' '.join(cc.command)} could not compile the generated C for "
            f"WebAssembly:\n{process.stderr[:2000]}"
        )
    if not product.is_file() or product.read_bytes()[:4] != WASM_MAGIC:
        raise CompileError(f"'{' '.join(cc.command)}' ended well but wrote no module for WebAssembly")


def wasm_section(code: bytes, name: str, content: bytes) -> bytes:
    """Return a module with a custom section added, which tools and pages can read."""

    def number(n: int) -> bytes:  # LEB128
        return bytes([n]) if n < 128 else bytes([n % 128 + 128]) + number(n // 128)

    body = number(len(name.encode())) + name.encode() + content
    return code + b"\0" + number(len(body)) + body


__all__ = [
    "WasmCompiler",
    "WasmModule",
    "build_wasm_module",
    "find_wasm_compiler",
    "keep_prebuilt",
    "wasm_section",
]
