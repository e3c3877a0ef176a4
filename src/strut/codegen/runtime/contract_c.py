"""Write the C headers that follow from the tables of this folder.

`strut_contract.h`: methods, statuses, options. `strut_choose_method.h`: which function does a step.
`strut_host_types.h`: structs and prototypes of what Python calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from strut.codegen.runtime.integrators import INTEGRATORS, Integrator, StepKind, integrator_number
from strut.codegen.runtime.layout import (
    CONTROL,
    CONTROLLER_ARGUMENTS,
    DEFAULTS,
    ENTRY_POINTS,
    MANY,
    OPTIONS,
    RECORD,
    SINGLE_DEFAULTS,
    EntryPoint,
    OptionDefaults,
    Struct,
)
from strut.codegen.runtime.runge_kutta_c import runge_kutta_header, smooth_step_header
from strut.codegen.runtime.status import RESULT_SIZES, Advance, RecordingEnd, RunCounter, RunStatus

GENERATED_NOTE = "Written from tables; do not edit."
"""What every generated header says of itself."""


def _enum(name: str, constants: list[tuple[str, int, str]]) -> str:
    """A C enumeration from names, numbers and meanings."""
    rows = []
    for k, (constant, number, meaning) in enumerate(constants, start=1):
        comma = "," if k < len(constants) else ""
        rows.append(f"    {constant} = {number}{comma}{f' /* {meaning} */' if meaning else ''}\n")
    return f"enum {name} {{\n{''.join(rows)}}};\n"


def _members(members: type[IntEnum], prefix: str = "STRUT") -> list[tuple[str, int, str]]:
    """The constants of a Python enumeration, for `_enum`."""
    return [(f"{prefix}_{member.name}", int(member), "") for member in members]


def _struct(struct: Struct) -> str:
    """A C struct, with a comment for every field that has a meaning."""
    rows = []
    for field in struct.fields:
        gap = "" if field.type.endswith("*") else " "
        rows.append(
            f"    {field.type}{gap}{field.name};{f' /* {field.meaning} */' if field.meaning else ''}\n"
        )
    return f"/* {struct.meaning} */\ntypedef struct {{\n{''.join(rows)}}} {struct.name};\n"


def _defaults(given: OptionDefaults) -> str:
    return "".join(
        f"    o.{name} = (strut_number)({getattr(given, name)!r});\n" for name in ("rtol", "atol", "zeno")
    )


def _method_meaning(method: Integrator) -> str:
    return f"{method.name}: {method.kind.name.lower()} step, order {method.order}; for {method.use}"


def _kind_function() -> str:
    """C that says of a method's number what kind of step it has; a number that is none counts as implicit,
    which a model without implicit methods refuses."""
    cases = "".join(
        "".join(f"    case {method.c_constant}:\n" for method in INTEGRATORS.values() if method.kind is kind)
        + f"        return STRUT_KIND_{kind.name};\n"
        for kind in (StepKind.FIXED, StepKind.ADAPTIVE)
    )
    return (
        "STRUT_FN int strut_kind_of(int method)\n{\n    switch (method) {\n"
        f"{cases}    default:\n        return STRUT_KIND_{StepKind.IMPLICIT.name};\n    }}\n}}\n"
    )


def _adaptive_numbers(function: str, numbers: dict[str, float]) -> str:
    """C that gives a number for each adaptive method; of others it is not asked."""
    *most, last = numbers.items()
    cases = "".join(f"method == {constant} ? R({number!r}) : " for constant, number in most)
    return f"STRUT_FN strut_real {function}(int method) {{ return {cases}R({last[1]!r}); }}\n"


def contract_header(used: Sequence[Integrator]) -> str:
    """Write `strut_contract.h`: what a run is asked and how it ends, for every model alike, with room for the
    methods that are used."""
    methods = [
        (method.c_constant, integrator_number(name), _method_meaning(method))
        for name, method in INTEGRATORS.items()
    ]
    statuses = [(f"STRUT_{status.name}", int(status), status.meaning) for status in RunStatus]
    adaptive = [method for method in INTEGRATORS.values() if method.kind is StepKind.ADAPTIVE]
    return "\n".join(
        [
            f"/* strut runtime: what a run is asked, and how it ends. {GENERATED_NOTE} */",
            "#ifndef STRUT_CONTRACT_H\n#define STRUT_CONTRACT_H\n",
            "/* Implicit methods are for stiff systems; an exported model does not have them. */",
            _enum("strut_method", methods),
            _enum("strut_kind", _members(StepKind, "STRUT_KIND")),
            _enum("strut_status", statuses),
            _enum("strut_result", _members(Advance)),
            f"#define STRUT_STAGES {max(method.stages for method in used)}",
            f"#define STRUT_DEGREE {max(method.degree for method in used)}"
            " /* of the dense output, at most */\n",
            _struct(OPTIONS),
            "STRUT_FN strut_options strut_defaults(void)\n{\n    strut_options o;",
            f"    o.method = {INTEGRATORS[DEFAULTS.method].c_constant};",
            "    o.ledger = 0;\n    o.dense = 0;\n    o.reserved = 0;",
            "    o.step = 0;\n    o.max_step = STRUT_MAX;",
            f"#ifdef STRUT_FLOAT\n{_defaults(SINGLE_DEFAULTS)}#else\n{_defaults(DEFAULTS)}#endif",
            f"    o.max_steps = INT64_C({DEFAULTS.max_steps});\n    return o;\n}}\n",
            _kind_function(),
            _adaptive_numbers("strut_order_of", {m.c_constant: float(m.order) for m in adaptive}),
            _adaptive_numbers("strut_damping_of", {m.c_constant: m.damping for m in adaptive}),
            "#endif\n",
        ]
    )


def choose_method_header(used: Sequence[Integrator]) -> str:
    """Write `strut_choose_method.h`: `trial`, one step of the method of a run, and `cover`, its dense
    output, of the methods that are used."""
    trials, covers = "", ""
    for method in used:
        call = f"STRUT_({method.c_function})(s, h); break;\n"
        if method.kind is StepKind.ADAPTIVE:
            trials += f"    case {method.c_constant}: error = {call}"
        elif method.kind is StepKind.FIXED:
            trials += f"    case {method.c_constant}: {call}"
        if method.tableau and method.tableau.dense:
            covers += f"    case {method.c_constant}: STRUT_({method.c_function}_dense)(s, h); break;\n"
        elif method.straight:
            covers += f"    case {method.c_constant}: STRUT_(straight)(s); break;\n"
    return f"""/* strut runtime: which function does a step, and which its dense output. {GENERATED_NOTE} */

/* One trial step of length h. Returns the error relative to the tolerance; 0 for fixed-step methods. */
STRUT_FN strut_real STRUT_(trial)(STRUT_(sim) * s, strut_real h)
{{
    strut_real error = R(0);
    s->covered = 0;
    switch (s->options.method) {{
{trials}    default: break; /* implicit steps are tried elsewhere */
    }}
    return error;
}}

/* Dense output of the trial step of length h; implicit steps come with it. */
STRUT_FN void STRUT_(cover)(STRUT_(sim) * s, strut_real h)
{{
    if (s->covered || strut_kind_of(s->options.method) == STRUT_KIND_IMPLICIT) return;
    s->covered = 1;
    switch (s->options.method) {{
{covers}    default: STRUT_(hermite)(s, h); break;
    }}
}}
"""


def _prototype(entry: EntryPoint) -> str:
    return f"STRUT_EXPORT {entry.result} {entry.name}({', '.join(entry.arguments) or 'void'});\n"


def host_header() -> str:
    """Write `strut_host_types.h`: structs, numbers and prototypes of the functions that Python calls."""
    evaluated = [(f"STRUT_EVAL_{name.upper()}", k, "") for k, name in enumerate(RESULT_SIZES)]
    return "\n".join(
        [
            f"/* strut runtime, host side: what Python and C hand to each other. {GENERATED_NOTE} */\n",
            _struct(RECORD),
            f"typedef void (*strut_controller)({', '.join(CONTROLLER_ARGUMENTS)});\n",
            _struct(CONTROL),
            _struct(MANY),
            _enum("strut_recording_end", _members(RecordingEnd, "STRUT_RECORDING")),
            _enum("strut_counter", _members(RunCounter, "STRUT_COUNTER")),
            _enum("strut_evaluated", evaluated),
            "#ifndef __CUDACC__",
            "".join(_prototype(entry) for entry in ENTRY_POINTS),
            "#endif",
        ]
    )


NEEDED_BY_OTHERS = ("euler", "rk4")
"""Methods whose step others begin with: Euler's finds the first step, classical Runge-Kutta starts a
multistep method."""


def has_smooth_step(method: str | None) -> bool:
    """Tell whether a method has a step for runs without events: a fixed one, of a tableau."""
    integrator = INTEGRATORS.get(method or "")
    return integrator is not None and integrator.kind is StepKind.FIXED and integrator.tableau is not None


def generated_headers(method: str | None = None) -> dict[str, str]:
    """All C headers that are written from tables, by file name. method: the only one that runs will use; by
    default all are there to choose from."""
    chosen = list(INTEGRATORS.values()) if method is None else [INTEGRATORS[method]]
    room = [*chosen, *(INTEGRATORS[name] for name in NEEDED_BY_OTHERS if INTEGRATORS[name] not in chosen)]
    tableaux = [each.tableau for each in room if each.tableau]
    return {
        "strut_contract.h": contract_header(room),
        "strut_runge_kutta.h": runge_kutta_header(tableaux),
        "strut_choose_method.h": choose_method_header(chosen),
        "strut_smooth_step.h": smooth_step_header(tableaux[0]) if has_smooth_step(method) else "",
        "strut_host_types.h": host_header(),
    }
