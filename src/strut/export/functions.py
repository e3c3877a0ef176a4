"""`export_functions`: labelled functions of any origin as C99 and as MATLAB functions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from strut.checks import checked
from strut.codegen import emit, literal, runtime_sources
from strut.errors import ModelError, did_you_mean
from strut.export import matlab
from strut.export.c import FOR_CPP, FOR_CPP_END, Export, constants_text, model_name, write
from strut.export.identifiers import comment, distinct, identifier
from strut.system import Port, PortedFunction
from strut.version import VERSION

LANGUAGES = ("c", "matlab")
"""In which functions can be written."""
RUNTIME = ("strut_math.h", "strut_template.h")
"""Files of the runtime that exported functions include."""


@checked
def export_functions(
    name: str,
    functions: Mapping[str, PortedFunction],
    directory: str | Path,
    languages: Iterable[str] = LANGUAGES,
    unit: str = "dynamics",
) -> Export:
    """Write functions, such as `mechanism.functions` gives, into `directory`.

    C: NAME_UNIT.h and NAME_UNIT.c, which build with `-std=c99 -pedantic -Wall -Wextra -Werror`, allocate
    nothing and need only <math.h>; -DSTRUT_FLOAT makes them single precision. MATLAB: NAME_FUNCTION.m for
    each, and NAME_parameters.m.
    """
    language_names = tuple(languages)
    for language in language_names:
        if language not in LANGUAGES:
            raise ModelError(f"there is no export to '{language}': {did_you_mean(language, LANGUAGES)}")
    base = model_name(name)
    words = dict(
        zip(
            functions, distinct((f"{base}_{each}" for each in functions), [f"{base}_parameters"]), strict=True
        )
    )
    files: dict[str, str] = {}
    if "c" in language_names:
        title = f"{base}_{identifier(unit)}"
        files |= {
            f"{title}.h": _header(title, functions, words),
            f"{title}.c": _source(title, base, functions, words),
        }
        files |= {file: text for file, text in runtime_sources().items() if file in RUNTIME}
    if "matlab" in language_names:
        defaults = _parameters(functions.values())
        files |= {
            f"{words[n]}.m": matlab.function_text(f, words[n], f"{base}_parameters")
            for n, f in functions.items()
        }
        files |= {f"{base}_parameters.m": matlab.parameters_text(p, f"{base}_parameters") for p in defaults}
    write(Path(directory), files)
    return Export(Path(directory), tuple(files), {n: f.operations for n, f in functions.items()})


def _parameters(functions: Iterable[PortedFunction]) -> list[Port]:
    """The one set of parameters that functions share, or none."""
    parameter_sets = list(dict.fromkeys(p for f in functions for p in f.inputs if p.values is not None))
    if len(parameter_sets) > 1:
        raise ModelError(
            f"these functions have different parameters ({', '.join(p.name for p in parameter_sets)}): give "
            f"them the same, or export them apart"
        )
    return parameter_sets


def _ports(functions: Iterable[PortedFunction]) -> dict[str, Port]:
    """The vectors that functions take and give, each once; what goes by one name but is something else has
    its own."""
    ports: dict[str, Port] = {}
    for f in functions:
        for each in (*f.inputs, *f.outputs):
            if each.entries and each.name != "t":
                key, number = each.name, 2
                while key in ports and ports[key].entries != each.entries:
                    key, number = f"{each.name}{number}", number + 1
                ports.setdefault(key, each)
    return ports


def _header(title: str, functions: Mapping[str, PortedFunction], words: Mapping[str, str]) -> str:
    enums = "\n".join(
        constants_text(title, group, port.note, port.entries)
        for group, port in _ports(functions.values()).items()
    )
    defaults = "".join(
        f"/* Default {comment(p.note)}. */\nextern const strut_real {title}_{identifier(p.name)}0[];\n\n"
        for p in _parameters(functions.values())
    )
    prototypes = "\n".join(_prototype(f, words[n]) for n, f in functions.items())
    return f"""/* {title}: functions of plain vectors.
 * Written by strut {VERSION}. Regenerate rather than edit.
 *
 * Matrices are stored column by column. Nothing is allocated and nothing is kept between calls.
 * -DSTRUT_FLOAT makes every number a float, -DSTRUT_SIN=my_sin replaces a function of <math.h>.
 */
#ifndef {title.upper()}_H
#define {title.upper()}_H

#include "strut_math.h"

{enums}
{FOR_CPP}
{defaults}{prototypes}
{FOR_CPP_END}
#endif
"""


def _arguments(f: PortedFunction) -> tuple[list[str], list[str]]:
    inputs = distinct(p.name for p in f.inputs)
    return inputs, distinct((p.name for p in f.outputs), [*inputs, *(n.removeprefix("out_") for n in inputs)])


def _prototype(f: PortedFunction, word: str) -> str:
    """What a function does and takes, and its prototype."""
    inputs, outputs = _arguments(f)
    rows = [f"/* {comment(f.note)} {f.operations} operations."]
    for name, port in zip([*inputs, *(f"out_{o}" for o in outputs)], (*f.inputs, *f.outputs), strict=True):
        m, n = port.rows_columns
        size = "" if port.name == "t" else f"[{m}]" if n == 1 else f"[{m} x {n}]"
        rows.append(f" *   {name}{size}: {comment(port.note)}{' [s]' if port.name == 't' else ''}")
    arguments = [f"strut_real {n}" if n == "t" else f"const strut_real *{n}" for n in inputs]
    arguments += [f"strut_real *STRUT_RESTRICT out_{n}" for n in outputs]
    prototype = textwrap.fill(
        f"void {word}({', '.join(arguments)});", 120, subsequent_indent="    ", break_long_words=False
    )
    return "\n".join(rows) + f"\n */\n{prototype}\n"


def _source(title: str, base: str, functions: Mapping[str, PortedFunction], words: Mapping[str, str]) -> str:
    arrays = "".join(
        f"const strut_real {title}_{identifier(p.name)}0[] = "
        f"{{{', '.join(literal(v) for v in p.values or ()) or '0'}}};\n"
        for p in _parameters(functions.values())
    )
    parts = [_c_function(f, words[n].removeprefix(f"{base}_")) for n, f in functions.items()]
    return f"""/* See {title}.h. */
#include "{title}.h"

#define STRUT_API
#define STRUT_PREFIX {base}
#include "strut_template.h"

{arrays}
""" + "\n".join(parts)


def _c_function(f: PortedFunction, word: str) -> str:
    inputs, outputs = _arguments(f)
    return emit(f.function, word, tuple(inputs), tuple(outputs)).replace("STRUT_FN void", "STRUT_API void", 1)


__all__ = ["LANGUAGES", "export_functions"]
