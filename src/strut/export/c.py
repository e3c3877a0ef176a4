"""`export`: a system as C99 that anybody can build: no heap, no dependency beyond <math.h>, double or
float; or as a module for WebAssembly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from strut.checks import checked
from strut.codegen import (
    INTEGRATORS,
    Code,
    Lowered,
    StepKind,
    column,
    emit,
    generate,
    literal,
    lower_system,
    runtime_sources,
)
from strut.errors import StorageError, ValueRangeError, did_you_mean
from strut.export.identifiers import comment, identifier, identifiers
from strut.export.run_ending import ending_functions, ending_prototypes
from strut.export.wasm import export_wasm
from strut.files import put
from strut.system import Entry, Quantity, System, initial_values, operation_count, start
from strut.version import VERSION

NOT_EXPORTED = (
    *("strut_host.h", "strut_host_types.h", "strut_lane.h", "strut_read_options.h"),
    *(
        "strut_crew.h",
        "strut_crew_serve.h",
        "strut_cuda.h",
        "strut_card_math.h",
        "strut_smooth.h",
        "strut_smooth_step.h",
        "strut_vector.h",
        "strut_lanes.h",
    ),
    *("strut_stiff.h", "strut_bdf.h", "strut_radau.h"),
)
"""Files of the runtime that an exported model never includes: recording, many runs, and implicit methods."""

KEPT_FILES = {"main.c": r'^#include "(\w+)\.h"', "Makefile": r"^(\w+): main\.[co]"}
"""Files that are the user's to edit, and not written again; and by what each names the model it builds."""
WRITTEN_BY = "Written by strut"
"""What the header of every exported model says."""
FOR_CPP = """#ifdef __cplusplus
extern "C" {
#endif
"""
FOR_CPP_END = """#ifdef __cplusplus
}
#endif
"""
"""Around the declarations of a header, so that C++ links to what C compiled."""
HISTORY_ROWS = 4096
"""Rows of memory for delayed signals in the example `main.c`."""
MAX_STRING_LENGTH = 4000
"""Most characters of the line that names the columns of a run: C99 has 4095 for a string."""
MAX_PREFIX_LENGTH = 40
"""Letters of a model's name in C and MATLAB: leaves room for the names of functions within MATLAB's 63."""

METHODS = {
    name: method.c_constant for name, method in INTEGRATORS.items() if method.kind is not StepKind.IMPLICIT
}
"""Methods by their names in `simulate`, and in the runtime; an exported model has the explicit ones."""


@dataclass(frozen=True)
class Export:
    """What was written: the directory, the files, and how many operations each function of the model
    takes."""

    directory: Path
    files: tuple[str, ...]
    operations: dict[str, int]


@checked
def export(
    system: System,
    directory: str | Path,
    jacobians: bool = False,
    *,
    method: str | None = None,
    step: float | None = None,
) -> Export:
    """Write `NAME.h`, `NAME.c`, the runtime, an example `main.c` and a `Makefile` into `directory`; the last
    two only where they do not exist yet. Where `directory` is the name of a file .wasm: that file, a module
    for WebAssembly, and the script that opens it; see `export_wasm`.

    It builds with `-std=c99 -pedantic -Wall -Wextra -Werror`, allocates nothing, and gives the numbers of
    `simulate`.
    -DSTRUT_FLOAT makes it single precision; -DSTRUT_SIN=my_sin and the like replace functions of <math.h>.

    method, step: how `main.c` integrates, and its step [s], as of `simulate`; None: as `simulate` does by
        itself. A network
    says how it wants to be run: `strut.export(net.system(), directory, **net.options())`.
    """
    chosen = _options(method, step)
    if Path(directory).suffix == ".wasm":
        if jacobians:
            raise ValueRangeError(
                "a module for WebAssembly has no Jacobians: leave out jacobians, or export C"
            )
        module, operations = export_wasm(system, directory, method=method, step=step)
        return Export(module.parent, (module.name, module.with_suffix(".js").name), operations)
    directory = make_directory(Path(directory))
    low = lower_system(system, jacobians)
    code = generate(low)
    name = model_name(system.name)
    runtime = {file: text for file, text in runtime_sources().items() if file not in NOT_EXPORTED}
    files = {
        f"{name}.h": _header(system, low, code, name),
        f"{name}.c": _source(system, low, code, name),
        "main.c": _main(system, low, name, chosen),
        "Makefile": _makefile(name),
        **runtime,
    }
    for mine in KEPT_FILES:
        if (directory / mine).exists():
            del files[mine]
    write(directory, files)
    operations = {n: _operations(low, n) for n in low.functions if not low.gives_nothing(n)}
    operations |= {f.name(): operation_count(f) for f in low.resets if f.nnz_out()}
    return Export(directory, tuple(files), operations)


def _operations(low: Lowered, name: str) -> int:
    loops = low.looped.get("flow" if name == "flow_and_powers" else name)
    return operation_count(low.functions[name]) if loops is None else loops.operations()


def model_name(name: str) -> str:
    """What files and functions of a model begin with; nothing that the runtime or the Makefile own, and not
    too long."""
    word = identifier(name)[:MAX_PREFIX_LENGTH]
    return f"{word}_model" if word in ("main", "clean") or word.startswith("strut") else word


def make_directory(directory: Path) -> Path:
    """The directory, created if needed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot create {directory}: {error.strerror}; choose another place") from error
    return directory


def check_kept_files(directory: Path, name: str) -> None:
    """Refuse a directory whose `main.c` or `Makefile`, which are kept, build another model than NAME."""
    for file, pattern in KEPT_FILES.items():
        path = directory / file
        text = path.read_text(errors="replace") if path.is_file() else ""
        models = [word for word in re.findall(pattern, text, re.MULTILINE) if _is_model(directory, word)]
        if models and name not in models:
            raise StorageError(
                f"{path} builds '{models[0]}', and it is kept, as it is yours to edit: '{name}' would not be "
                f"built; remove main.c and Makefile there, or choose another directory"
            )


def _is_model(directory: Path, name: str) -> bool:
    """Whether NAME.h there is the header of an exported model."""
    path = directory / f"{name}.h"
    return path.is_file() and WRITTEN_BY in path.read_text(errors="replace")


def write(directory: Path, files: Mapping[str, str]) -> None:
    """Write texts by file name into a directory, created if needed."""
    make_directory(directory)
    for file, text in files.items():
        put(directory / file, text)


def constants_text(name: str, group: str, word: str, entries: Sequence[Entry], short: str = "") -> str:
    """An enumeration that names the entries of a vector, with units and meanings."""
    labels = identifiers([entry.name for entry in entries], f"{name}_{short or identifier(group)}")
    rows = [
        f"    {label} = {k},{_entry_comment(entry)}"
        for k, (label, entry) in enumerate(zip(labels, entries, strict=True))
    ]
    enum = identifier(group)
    return (
        f"enum {name}_{enum} {{ /* {comment(word)} */\n"
        + "\n".join(rows)
        + f"\n    {name.upper()}_N{enum.upper()} = {len(entries)}\n}};\n"
    )


def _constants(system: System, name: str) -> str:
    """Enumerations that name the entries of every vector, with unit, bounds and meaning."""
    blocks = []
    for group, word in (
        ("x", "states"),
        ("z", "discrete states"),
        ("u", "inputs"),
        ("p", "parameters"),
        ("outputs", "outputs"),
    ):
        labels = system.labels(group)
        if not labels:
            continue
        unit_and_note = {
            label: _unit_and_note(q)
            for q in (getattr(system, group) if group != "outputs" else ())
            for label in q.labels
        }
        if group == "outputs":
            unit_and_note = {
                label: (system.output_units.get(label.split("[")[0], ""), "") for label in labels
            }
        entries = [Entry(label, *unit_and_note.get(label, ("", ""))) for label in labels]
        blocks.append(constants_text(name, group, word, entries, "y" if group == "outputs" else ""))
    return "\n".join(blocks)


def _unit_and_note(q: Quantity) -> tuple[str, str]:
    """Unit, and bounds with the description."""
    low, high = q.bounds
    bounds = f"{low:g} to {high:g}" if abs(low) < 1e300 or abs(high) < 1e300 else ""
    return q.unit, ", ".join(part for part in (bounds, q.description) if part)


def _entry_comment(entry: Entry) -> str:
    text = ", ".join(part for part in (f"[{entry.unit}]" if entry.unit else "", entry.note) if part)
    return f" /* {comment(text)} */" if text else ""


def _header(system: System, low: Lowered, code: Code, name: str) -> str:
    jumps = [j.source.name for j in low.jumps]
    jump_enum = "".join(f"    {c} = {k},\n" for k, c in enumerate(identifiers(jumps, f"{name}_jump")))
    jump_text = (
        f"enum {name}_jump {{ /* events and samples, in the order in which they happen at one instant "
        f"*/\n{jump_enum}"
        f"    {name.upper()}_NJUMPS = {len(jumps)}\n}};\n"
        if jumps
        else ""
    )
    return f"""/* {comment(system.name)}: {comment(system.description)}
 * Written by strut {VERSION}. Regenerate rather than edit.
 *
 *   {name}_sim sim;                                   the whole run; no other memory is used
 *   {name}_begin(&sim, &options, t, x, z, u, p, ...)  begin
 *   {name}_run(&sim, t)                               run to t; returns a strut_status
 *   {name}_hold(&sim, u)                              new inputs, held until the next call
 *   {name}_observe(&sim, y)                           outputs now
 * Parameters are set by {name}_begin; do not write sim.p during a run, what follows from it is prepared
 * there.
 */
#ifndef {name.upper()}_H
#define {name.upper()}_H

#include "strut_math.h"

{code.sizes_text(name)}
#include "strut_types.h"
{code.forget_text()}
{_constants(system, name)}
{jump_text}
{FOR_CPP}
/* Default parameters and inputs. */
extern const strut_real {name}_p0[], {name}_u0[];

/* Initial states for parameters p. */
void {name}_initial(const strut_real *p, strut_real *x, strut_real *z);

/* Begin a run at time t. `stream` selects its random numbers; `history` is memory for delayed signals,
 * `capacity` rows of {1 + 2 * low.sizes["ND"]} reals (none needed where the model has no delays). */
void {name}_begin({name}_sim *s, const strut_options *options, strut_real t, const strut_real *x,
    const strut_real *z, const strut_real *u, const strut_real *p, uint64_t stream, strut_real *history,
    int64_t capacity);

/* One step or one jump: STRUT_STEP, STRUT_JUMP (which: s->jump), or STRUT_STOPPED. */
int {name}_advance({name}_sim *s, strut_real t_stop);

/* To t_stop, or to whatever ends the run before. Returns s->status, an enum strut_status. */
int {name}_run({name}_sim *s, strut_real t_stop);

{ending_prototypes(name)}
void {name}_hold({name}_sim *s, const strut_real *u);
void {name}_observe({name}_sim *s, strut_real *y);

/* What the energy account cannot explain [J], with options.ledger = 1; `size` gets the scale of the
 * energies. */
strut_real {name}_imbalance(const {name}_sim *s, strut_real *size);
{_jacobian_prototypes(name) if low.jacobians else ""}
{FOR_CPP_END}
#endif
"""


def _source(system: System, low: Lowered, code: Code, name: str) -> str:
    values = start(system)

    def array(label: str, numbers: list[float]) -> str:
        return f"const strut_real {name}_{label}[] = {{{', '.join(literal(v) for v in numbers) or '0'}}};\n"

    p = column([q.sym for q in system.p])
    initial = ca.Function("initial", [p], initial_values(system))
    initial_text = emit(initial, "initial", ("p",), ("x", "z")).replace("STRUT_FN void", "STRUT_API void", 1)
    return f"""/* {comment(system.name)}: the model. See {name}.h. */
#include "{name}.h"

#define STRUT_API
{code.sizes_text(name)}
#include "strut_template.h"

{array("p0", list(values.p))}{array("u0", list(values.u))}
{initial_text}
{code.functions}
#include "strut_run.h"

void {name}_observe({name}_sim *s, strut_real *y)
{{
    STRUT_(delayed)(s, s->t);
    STRUT_(outputs)(s->t, s->x, s->z, s->u, s->p, s->d, y);
}}
{ending_functions(low, name)}{_jacobian_functions(name, low) if low.jacobians else ""}"""


def _jacobian_prototypes(name: str) -> str:
    return f"""
/* Dense Jacobians at the present state, column by column: of the flow by x, u, p; of the guards by t, x, p;
 * of the reset (x, z) of a jump by t, x, p. */
void {name}_jacobian_of_flow({name}_sim *s, strut_real *by_x, strut_real *by_u, strut_real *by_p);
void {name}_jacobian_of_guards({name}_sim *s, strut_real *by_t, strut_real *by_x, strut_real *by_p);
void {name}_jacobian_of_reset({name}_sim *s, int jump, strut_real *by_t, strut_real *by_x, strut_real *by_p);
"""


def _jacobian_functions(name: str, low: Lowered) -> str:
    reset = (
        "STRUT_(reset_jacobian)(jump, s->t, s->x, s->z, s->u, s->p, s->d, random, a, b, c);"
        if low.resets
        else ""
    )
    unused = (
        "" if low.resets else "    (void)jump;\n    (void)a;\n    (void)b;\n    (void)c;\n    (void)random;\n"
    )
    return f"""
void {name}_jacobian_of_flow({name}_sim *s, strut_real *a, strut_real *b, strut_real *c)
{{
    STRUT_(delayed)(s, s->t);
    STRUT_(flow_jacobian)(s->t, s->x, s->z, s->u, s->p, s->d, a, b, c);
}}

void {name}_jacobian_of_guards({name}_sim *s, strut_real *a, strut_real *b, strut_real *c)
{{
    STRUT_(guard_jacobian)(s->t, s->x, s->z, s->u, s->p, a, b, c);
}}

void {name}_jacobian_of_reset({name}_sim *s, int jump, strut_real *a, strut_real *b, strut_real *c)
{{
    strut_real random[STRUT_SLOTS(STRUT_NR)] = {{0}};
{unused}    STRUT_(delayed)(s, s->t);
    {reset}
}}
"""


def _options(method: str | None, step: float | None) -> str:
    """Lines of C that choose a method and a step."""
    if method is not None and method not in METHODS:
        raise ValueRangeError(f"there is no method '{method}' in C: {did_you_mean(method, list(METHODS))}")
    if step is not None and not (math.isfinite(step) and step > 0):
        raise ValueRangeError(f"the step is {step} s: it must be positive")
    lines = [] if method is None else [f"    options.method = {METHODS[method]};\n"]
    return "".join(
        lines + ([] if step is None else [f"    options.step = (strut_real){float(step)!r}; /* [s] */\n"])
    )


def _main(system: System, low: Lowered, name: str, options: str) -> str:
    nd = low.sizes["ND"]
    rows = f"    static strut_real history[{HISTORY_ROWS} * {1 + 2 * nd}];\n" if nd else ""
    memory = f"history, {HISTORY_ROWS}" if nd else "0, 0"
    columns = _columns(system)
    return f"""#include <stdio.h>
#include "{name}.h"

int main(void) /* ten seconds, a line each: t, then every state */
{{
    static {name}_sim sim;
{rows}    strut_options options = strut_defaults();
{options}    {name}_initial({name}_p0, sim.x, sim.z);
    {name}_begin(&sim, &options, 0, sim.x, sim.z, {name}_u0, {name}_p0, strut_stream(0, 0), {memory});
    puts("{columns}");
    for (int second = 1; second <= 10; second++) {{
        {name}_run(&sim, (strut_real)second);
        printf("%.17g", (double)sim.t);
        for (int i = 0; i < {low.sizes["NX"]}; i++) printf(" %.17g", (double)sim.x[i]);
        printf("\\n");
        if (sim.status != STRUT_DONE) break;
    }}
    if (sim.status != STRUT_DONE) fprintf(stderr, "t = %g s: %s\\n", (double)sim.t, {name}_ending(&sim));
    return {name}_ok(&sim) ? 0 : sim.status; /* an enum strut_status */
}}
"""


def _columns(system: System) -> str:
    """Return what the columns of a run are, as a line that readers of numbers skip: names and units."""
    units = {label: f" [{q.unit}]" if q.unit else "" for q in system.x for label in q.labels}
    line = "# t [s]; " + "; ".join(f"{label}{units[label]}" for label in system.labels("x"))
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\\\%?' else "_" for c in line)
    return plain if len(plain) <= MAX_STRING_LENGTH else f"# t [s]; {system.size('x')} states, in order"


def _makefile(name: str) -> str:
    return f"""CFLAGS = -std=c99 -O2 -pedantic -Wall -Wextra -Werror
# single precision: make EXTRA=-DSTRUT_FLOAT
# your own sine: make EXTRA="-DSTRUT_SIN=my_sin -include my_math.h"

{name}: main.c {name}.c {name}.h $(wildcard strut_*.h)
\t$(CC) $(CFLAGS) $(EXTRA) -o $@ main.c {name}.c -lm

clean:
\trm -f {name}
"""
