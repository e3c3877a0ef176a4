"""`export_controller`: a controller with a quadratic program as C for a real-time loop, its solver
included."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from strut.checks import checked, require_attributes
from strut.codegen import SampledController, literal, runtime_sources, solver_sources
from strut.errors import ModelError
from strut.export.c import (
    FOR_CPP,
    FOR_CPP_END,
    KEPT_FILES,
    Export,
    check_kept_files,
    constants_text,
    make_directory,
    model_name,
    write,
)
from strut.export.identifiers import comment
from strut.system import Entry, Quantity, operation_count
from strut.version import VERSION

RUNTIME = ("strut_math.h", "strut_template.h")
"""Files of the runtime that an exported controller includes."""
NOT_EXPORTED = ("strut_act.h",)
"""Ours, for the simulator alone."""


@checked
def export_controller(controller: SampledController, directory: str | Path) -> Export:
    """Write a controller, such as `control.whole_body` gives, as C into `directory`: `NAME.h` and `NAME.c`,
    the solver (daqp, with its licence), an example `main.c` and a `Makefile`; the last two only where they
    do not exist yet; where they are of another controller, nothing is written.

    Sensors go in, commands come out: NAME_begin, NAME_sample, NAME_end. The numbers are those of the
    simulator. NAME_begin allocates; a sample does too where neither of the first two attempts solves it.
    `main.c` reads lines of t and sensors, and answers with lines of status and commands: another process may
    drive it.
    """
    require_attributes("the controller", controller, ("functions", "sensors", "labels"), "a QpController")
    solver = {file: text for file, text in solver_sources().items() if file not in NOT_EXPORTED}
    folder, name = make_directory(Path(directory)), model_name(controller.name)
    if name.lower() in {Path(file).stem.lower() for file in (*solver, *RUNTIME)}:
        raise ModelError(
            f"the controller is called '{controller.name}', and {name}.c or {name}.h is a file of its "
            f"solver: give it another name"
        )
    check_kept_files(folder, name)
    files = {
        f"{name}.h": _header(controller, name),
        f"{name}.c": _source(controller, name),
        "main.c": _main(name),
        "Makefile": _makefile(name, [file for file in solver if file.endswith(".c")]),
        **solver,
        **{file: text for file, text in runtime_sources().items() if file in RUNTIME},
    }
    for mine in KEPT_FILES:
        if (folder / mine).exists():
            del files[mine]
    write(folder, files)
    f = controller.functions
    parts = {"build": f.build, "act": f.act, "safe": f.safe, "first": f.first}
    return Export(folder, tuple(files), {key: operation_count(part) for key, part in parts.items()})


def _entries(quantities: Sequence[Quantity]) -> list[Entry]:
    return [Entry(label, q.unit, q.description) for q in quantities for label in q.labels]


def _header(c: SampledController, name: str) -> str:
    groups = {
        "sensor": ("what it reads", _entries(c.sensors)),
        "command": ("what it sets", [Entry(label) for label in c.labels["command"]]),
        "parameter": ("parameters", _entries(c.p)),
    }
    enums = "\n".join(constants_text(name, group, note, entries) for group, (note, entries) in groups.items())
    sizes = c.functions.sizes
    return f"""/* {comment(c.name)}: a controller that is called every {c.every:.9g} s.
 * Written by strut {VERSION}. Regenerate rather than edit.
 *
 *   {name}_controller c;
 *   {name}_begin(&c, sensors)                begin; 0 where there is no space for it
 *   {name}_sample(&c, t, sensors, commands)  one sample; returns its status, an enum {name}_status
 *   {name}_end(&c)                           give the memory back
 * Change c.p for other parameters; c.counts has how often each status occurred.
 */
#ifndef {name.upper()}_H
#define {name.upper()}_H

#include <stdint.h>
#include "strut_qp.h"

{enums}
enum {name}_status {{ /* those of strut_qp_status, and: */
    {name.upper()}_BAD_SENSOR = STRUT_QP_STATUSES, /* a sensor was no number */
    {name.upper()}_BAD_COMMAND, /* a command was no number */
    {name.upper()}_NSTATUS
}};

typedef struct {{
    strut_qp *qp;
    double p[{max(sizes["NP"], 1)}];
    double m[{max(sizes["NM"], 1)}]; /* memory */
    double u[{max(sizes["NU"], 1)}]; /* the last commands */
    int64_t patience, failures; /* samples for which they are held; and how many in a row had none */
    int64_t begun; /* whether memory has begun: with the first sample whose sensors are numbers */
    int64_t counts[{name.upper()}_NSTATUS];
}} {name}_controller;

{FOR_CPP}
int {name}_begin({name}_controller *c, const double *sensors);
int {name}_sample({name}_controller *c, double t, const double *sensors, double *commands);
void {name}_end({name}_controller *c);
{FOR_CPP_END}
#endif
"""


def _source(c: SampledController, name: str) -> str:
    shape, sizes = c.functions.shape, c.functions.sizes
    values = np.concatenate([np.asarray(q.value, float).reshape(-1) for q in c.p] or [np.zeros(0)])

    def table(kind: str, label: str, numbers: Sequence[object]) -> str:
        return f"static const {kind} {label}[] = {{{', '.join(map(str, numbers)) or '0'}}};\n"

    return f"""/* {comment(c.name)}. See {name}.h. */
#include "{name}.h"
#include "strut_math.h"

#define STRUT_API static
{c.functions.text(f"{name}_of")}
{table("int", "levels", shape.levels)}{table("int", "ranks", shape.ranks)}
{table("double", "values", [literal(float(v)) for v in values]).replace("R(", "(")}
int {name}_begin({name}_controller *c, const double *sensors)
{{
    {name}_of_loop loop;
    memset(c, 0, sizeof *c);
    memcpy(c->p, values, sizeof(double) * {sizes["NP"]});
    c->patience = {c.patience};
    memset(&loop, 0, sizeof loop);
    loop.p = c->p, loop.m = c->m;
    {name}_of_begin_memory(&loop, sensors);
    c->begun = loop.begun;
    c->qp = strut_qp_new({shape.n}, {shape.goals}, {shape.rows}, levels, ranks, {int(shape.slack)});
    return c->qp != 0;
}}

int {name}_sample({name}_controller *c, double t, const double *sensors, double *commands)
{{
    {name}_of_loop loop;
    int status;
    memset(&loop, 0, sizeof loop);
    loop.solve = strut_qp_solve, loop.qp = c->qp, loop.p = c->p, loop.m = c->m, loop.u = c->u;
    loop.patience = c->patience, loop.failures = c->failures, loop.begun = c->begun;
    status = {name}_of_sample(&loop, t, sensors);
    c->failures = loop.failures, c->begun = loop.begun;
    c->counts[status]++;
    memcpy(commands, c->u, sizeof(double) * {sizes["NU"]});
    return status;
}}

void {name}_end({name}_controller *c)
{{
    strut_qp_free(c->qp);
    c->qp = 0;
}}
"""


def _main(name: str) -> str:
    """The example program: a controller that another process drives through its input and output."""
    upper = name.upper()
    return f"""#include <stdio.h>
#include "{name}.h"

/* A line of t and sensors in, a line of status and commands out, until the input ends. */
int main(void)
{{
    static {name}_controller controller;
    double t, sensors[{upper}_NSENSOR], commands[{upper}_NCOMMAND];
    int begun = 0;
    while (scanf("%lf", &t) == 1) {{
        for (int i = 0; i < {upper}_NSENSOR; i++)
            if (scanf("%lf", &sensors[i]) != 1) return 1;
        if (!begun && !(begun = {name}_begin(&controller, sensors))) return 2;
        printf("%d", {name}_sample(&controller, t, sensors, commands));
        for (int i = 0; i < {upper}_NCOMMAND; i++) printf(" %.17g", commands[i]);
        printf("\\n");
        fflush(stdout);
    }}
    {name}_end(&controller);
    return 0;
}}
"""


def _makefile(name: str, solver: Sequence[str]) -> str:
    daqp = [file for file in solver if file != "strut_qp.c"]
    return f"""CFLAGS = -std=c99 -O2
OURS = -pedantic -Wall -Wextra -Werror
DAQP = {" ".join(daqp)}

{name}: main.o {name}.o strut_qp.o $(DAQP:.c=.o)
\t$(CC) -o $@ $^ -lm

main.o {name}.o strut_qp.o: CFLAGS += $(OURS)
main.o {name}.o: {name}.h

clean:
\trm -f {name} *.o
"""


__all__ = ["export_controller"]
