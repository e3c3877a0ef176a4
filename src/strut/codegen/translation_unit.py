"""The C translation unit of a system: sizes, tables, functions; the runtime is included after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from strut.codegen.bandwidth import narrow_order, widths
from strut.codegen.c import emit, empty_function
from strut.codegen.c_sums import loop_text
from strut.codegen.crew_text import CrewText
from strut.codegen.lower import JACOBIANS, LOSS, RESET, RESULT_SIZE, SIGNATURES, Lowered
from strut.codegen.prepare import Prepared
from strut.codegen.runtime.contract_c import generated_headers, has_smooth_step

RUNTIME = Path(__file__).parent / "runtime"


def runtime_sources(method: str | None = None) -> dict[str, str]:
    """Our C files by name, those written from tables included. method: the only one that runs will use; all
    by default."""
    files = {path.name: path.read_text() for path in sorted(RUNTIME.glob("*.h"))}
    return files | generated_headers(method)


@dataclass(frozen=True)
class Code:
    """The generated part of a unit: sizes for the templates, and tables and functions of the model."""

    sizes: dict[str, int]
    functions: str

    def sizes_text(self, prefix: str) -> str:
        """C that defines the prefix of the model's names and its sizes, for the templates."""
        return (
            "\n".join(
                [f"#define STRUT_PREFIX {prefix}", *(f"#define STRUT_{k} {n}" for k, n in self.sizes.items())]
            )
            + "\n"
        )

    def forget_text(self) -> str:
        """Undefine what sizes and templates defined, so that headers of two models can be included
        together."""
        names = ["PREFIX", *self.sizes, "N", "PASTE_", "PASTE", ""]
        return "\n".join(f"#undef STRUT_{name}" for name in names) + "\n"


NOT_IN_C = ("guards",)
"""Functions that the C does without: guards always come with their rates, which share their kinematics."""

NOT_TOGETHER = ("outputs", "energies")
"""Functions that are seldom called: each thread does them by itself."""

Write = Callable[[ca.Function, str, tuple[str, ...], tuple[str, ...]], str]
"""Writes a CasADi function as C: function, name, names of arguments and of results."""


def generate(lowered: Lowered, *, for_many: bool = False, crew: int = 1) -> Code:
    """Write the model as C. What depends on parameters alone goes into `prepare`, called once per run; NK
    counts it. for_many: see `emit`. crew: how many threads do the long functions of a run together."""
    prepared = Prepared(lowered.sizes["NP"])
    together = CrewText(lowered.sizes, crew, prepared) if crew > 1 else None

    def write(f: ca.Function, name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
        text = together.write(f, name, inputs, outputs) if together and name not in NOT_TOGETHER else None
        return text or emit(f, name, inputs, outputs, prepared, for_many=for_many)

    parts = []
    for n in lowered.functions:
        if n in NOT_IN_C:
            continue
        if n == "flow_and_powers" and not lowered.sizes["NW"]:
            parts.append(NO_POWERS)
        elif n in lowered.looped:
            height = f"STRUT_{RESULT_SIZE[n]}"
            parts.append(loop_text(lowered.looped[n], n, SIGNATURES[n][1][0], height, prepared))
        elif lowered.gives_nothing(n):
            parts.append(empty_function(n, *SIGNATURES[n]))
        else:
            parts.append(write(lowered.functions[n], n, *SIGNATURES[n]))
    parts += _jump_functions(lowered, write)
    parts += _jacobian_functions(lowered, write)
    stiff_sizes, stiff_parts = _state_jacobian(lowered, write)
    tables = [_table(name, values) for name, values in lowered.tables.items()]
    sizes = {**lowered.sizes, "NK": prepared.count, **stiff_sizes}
    crew_head = [together.sizes_text(), '#include "strut_crew.h"'] if together else []
    crew_end = [together.shares_text()] if together else []
    text = [*crew_head, *tables, prepared.text(publish=bool(together)), *parts, *stiff_parts, *crew_end]
    return Code(sizes, "\n".join(text))


def _jump_functions(lowered: Lowered, write: Write) -> list[str]:
    """C of what every jump does: its reset and its losses; what is alike is written once."""
    parts = []
    for name, each, several, (inputs, outputs) in (
        ("reset", "reset", lowered.resets, RESET),
        ("losses", "loss", lowered.losses, LOSS),
    ):
        alike = _alike(several)
        own = [(f, write(f, f"{each}_{k}", inputs, outputs)) for k, f in enumerate(several) if alike[k] == k]
        parts += [_rare(text) if f.n_instructions() > MAX_OPTIMISED_RESET else text for f, text in own]
        parts.append(_choose(name, inputs, outputs, alike, each=each))
    return parts


def _jacobian_functions(lowered: Lowered, write: Write) -> list[str]:
    """C of the Jacobians that were asked for."""
    parts = []
    for label, functions in lowered.jacobians.items():
        inputs = tuple(functions[0].name_in()) if functions else ()
        outputs = tuple(f"d_{n}" for n in JACOBIANS[label][1])
        if label == "reset_jacobian":
            alike = _alike(functions)
            parts += [
                write(f, f"reset_jacobian_{k}", inputs, outputs)
                for k, f in enumerate(functions)
                if alike[k] == k
            ]
            if functions:
                parts.append(_choose("reset_jacobian", inputs, outputs, alike))
        else:
            parts.append(write(functions[0], label, inputs, outputs))
    return parts


def _state_jacobian(lowered: Lowered, write: Write) -> tuple[dict[str, int], list[str]]:
    """Sizes and C of the Jacobian by the state that implicit methods factor, in the order that makes it a
    narrow band."""
    if lowered.state_jacobian is None:
        return {"STIFF": 0}, []
    pattern = lowered.state_jacobian.sparsity_out(0)
    order = narrow_order(pattern)
    lower, upper = widths(pattern, order)
    place = {state: k for k, state in enumerate(order)}
    return {"STIFF": 1, "NNZ": pattern.nnz(), "LOWER": lower, "UPPER": upper}, [
        _table("jacobian_order", order),
        _table("jacobian_row", [place[k] for k in pattern.row()]),
        _table("jacobian_column", [place[k] for k in pattern.get_col()]),
        write(lowered.state_jacobian, "state_jacobian", SIGNATURES["flow"][0], ("d_x",)),
    ]


def unit_text(lowered: Lowered) -> str:
    """The whole unit compiled for simulation: model, runtime, host side."""
    code = generate(lowered)
    return "\n".join(
        [
            LINKAGE_MACROS,
            '#include "strut_math.h"',
            code.sizes_text("strut_model"),
            '#include "strut_types.h"',
            code.functions,
            '#include "strut_run.h"',
            '#include "strut_host.h"',
            _jacobian_entry(lowered) if lowered.jacobians else "",
        ]
    )


def is_smooth(lowered: Lowered, method: str) -> bool:
    """Tell whether nothing happens in runs of a system but steps of one length, until an event ends them: no
    other events, no samples, delays or random numbers, and a method whose step is fixed."""
    sizes = lowered.sizes
    happens = any(sizes[name] for name in ("NC", "ND", "NR")) or not all(lowered.tables["terminal"])
    return not happens and has_smooth_step(method)


def device_text(lowered: Lowered, method: str, crew: int = 1) -> str:
    """The whole unit compiled for a graphics card: model, runtime, and a kernel of many runs. crew: see
    `generate`."""
    smooth = is_smooth(lowered, method) and not lowered.sizes["NJ"]  # no thread hands a run to another
    runs = ['#include "strut_smooth.h"'] if smooth else ['#include "strut_run.h"', '#include "strut_lane.h"']
    return "\n".join(
        [
            f"#define STRUT_SMOOTH {int(smooth)}",
            "#ifdef __CUDACC__",
            '#include "strut_card_math.h"',
            "#endif",
            *_unit_of_many(lowered, crew),
            *runs,
            '#include "strut_cuda.h"\n',
        ]
    )


def lanes_text(lowered: Lowered) -> str:
    """The whole unit compiled for the lanes of a core, C++: model and runs without events."""
    return "\n".join(
        [
            '#include "strut_vector.h"',
            *_unit_of_many(lowered),
            '#include "strut_smooth.h"',
            '#include "strut_lanes.h"\n',
        ]
    )


def _unit_of_many(lowered: Lowered, crew: int = 1) -> list[str]:
    """The model, for units that run many and are not C. crew: see `generate`."""
    code = generate(lowered, for_many=True, crew=crew)
    return [
        '#include "strut_math.h"',
        '#define STRUT_EXPORT __attribute__((visibility("default")))',
        code.sizes_text("strut_model"),
        '#include "strut_types.h"',
        code.functions,
    ]


LINKAGE_MACROS = """#if defined(__GNUC__) && !defined(__clang__)
#define STRUT_RARE static __attribute__((noinline, optimize("O0")))
#define STRUT_LOOPS static __attribute__((optimize("O3")))
#endif"""
"""Loops over like terms are short, most of the work, and vectorised: 1.7 times as fast. Long resets, such as
those of variational
equations, are most of the code and a thousandth of the work: not optimised, Dribbel's return map compiles in
    a third of the time."""
MAX_OPTIMISED_RESET = 3000
"""Instructions of a reset beyond which it is not optimised; those of ordinary systems are shorter."""


def _rare(text: str) -> str:
    """A function, and its parts if it has any, that the compiler need not optimise."""
    return text.replace("STRUT_PART", "STRUT_RARE").replace("STRUT_FN", "STRUT_RARE")


NO_POWERS = """STRUT_FN void STRUT_(flow_and_powers)(strut_real t, const strut_real *x, const strut_real *z,
    const strut_real *u, const strut_real *p, const strut_real *d, strut_real *STRUT_RESTRICT out_dx,
    strut_real *STRUT_RESTRICT out_w)
{
    (void)out_w;
    STRUT_(flow)(t, x, z, u, p, d, out_dx);
}
"""


def _table(name: str, values: list[int]) -> str:
    return f"STRUT_TABLE int STRUT_({name})[] = {{{', '.join(map(str, values)) or '0'}}};\n"


def _alike(functions: list[ca.Function]) -> list[int]:
    """For each function the first that computes the same: feet that land share one reset."""
    first: dict[str, int] = {}
    return [
        first.setdefault(ca.Function("f", f.sx_in(), f.call(f.sx_in())).serialize(), k)
        for k, f in enumerate(functions)
    ]


def _choose(
    name: str, inputs: tuple[str, ...], outputs: tuple[str, ...], alike: list[int], each: str = ""
) -> str:
    """The function `name(j, ...)` that calls the j-th of several."""
    count = len(alike)
    written = [f"out_{n}" for n in outputs]
    arguments = ["int j"] + [f"strut_real {n}" if n == "t" else f"const strut_real *{n}" for n in inputs]
    arguments += [f"strut_real *STRUT_RESTRICT {n}" for n in written]
    call = ", ".join([*inputs, *written])
    cases = [f"    case {k}: STRUT_({each or name}_{same})({call}); break;" for k, same in enumerate(alike)]
    unused = [f"    (void){n};" for n in ("j", *inputs, *written)] if not count else []
    body = ["    switch (j) {", *cases, "    default: break;", "    }"] if count else unused
    return f"STRUT_FN void STRUT_({name})({', '.join(arguments)})\n{{\n" + "\n".join(body) + "\n}\n"


def _jacobian_entry(lowered: Lowered) -> str:
    reset = (
        "STRUT_(reset_jacobian)(j, t, x, z, u, p, d, random, a, b, c);"
        if lowered.resets
        else "(void)j; (void)random;"
    )
    return f"""
/* Dense Jacobians, column by column: 0 flow by x, u, p; 1 guards by t, x, p; 2 reset j of (x, z) by t, x, p.
 * `own`: as of strut_eval. */
STRUT_EXPORT void strut_jacobian(int which, int j, double t, const double *x, const double *z,
                                 const double *u, const double *p, const double *d, const double *random,
                                 double *a, double *b, double *c, double *own)
{{
    strut_put(own, p, STRUT_NP);
    STRUT_(prepare)(own);
    p = own;
    if (which == 0) STRUT_(flow_jacobian)(t, x, z, u, p, d, a, b, c);
    else if (which == 1) STRUT_(guard_jacobian)(t, x, z, u, p, a, b, c);
    else {{ {reset} }}
}}
"""
