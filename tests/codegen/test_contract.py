"""What C and Python must agree on comes from one table: numbers, layouts, and words that events may not have."""

import ctypes
import subprocess

import pytest

from strut.codegen import (
    DEFAULTS,
    INTEGRATORS,
    Advance,
    Control,
    Many,
    NativeOptions,
    Record,
    RecordingEnd,
    RunCounter,
    RunStatus,
    StepKind,
    compiler,
    integrator_number,
    names_of_kind,
    runtime_sources,
)
from strut.codegen.runtime.layout import CONTROL, MANY, OPTIONS, RECORD
from strut.codegen.runtime.status import RESULT_SIZES
from strut.system.validate import STATUSES

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


def printed(expressions, tmp_path):
    """What C says of integer expressions, with every header of the runtime in view."""
    for name, text in runtime_sources().items():
        (tmp_path / name).write_text(text)
    lines = "\n".join(f'    printf("%lld\\n", (long long)({e}));' for e in expressions)
    (tmp_path / "ask.c").write_text(
        f"""#include <stddef.h>
#include <stdio.h>
#include "strut_math.h"
#include "strut_contract.h"
#define STRUT_EXPORT
#define STRUT_(name) strut_##name
typedef struct {{ int nothing; }} strut_sim;
#include "strut_host_types.h"
int main(void)
{{
{lines}
    return 0;
}}
"""
    )
    command = [*compiler(), "-std=c99", "-Wall", "-Werror", "-o", "ask", "ask.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    answer = subprocess.run(["./ask"], cwd=tmp_path, check=True, capture_output=True, text=True)
    return [int(line) for line in answer.stdout.split()]


@needs_compiler
def test_enumerations_have_the_same_numbers(tmp_path):
    constants = {method.c_constant: integrator_number(name) for name, method in INTEGRATORS.items()}
    for members, prefix in (
        (RunStatus, "STRUT"),
        (Advance, "STRUT"),
        (StepKind, "STRUT_KIND"),
        (RecordingEnd, "STRUT_RECORDING"),
        (RunCounter, "STRUT_COUNTER"),
    ):
        constants |= {f"{prefix}_{member.name}": int(member) for member in members}
    constants |= {f"STRUT_EVAL_{name.upper()}": k for k, name in enumerate(RESULT_SIZES)}
    constants |= {f"strut_kind_of({m.c_constant})": int(m.kind) for m in INTEGRATORS.values()}
    constants |= {
        f"strut_order_of({INTEGRATORS[name].c_constant})": INTEGRATORS[name].order
        for name in names_of_kind(StepKind.ADAPTIVE)
    }
    constants |= {
        "strut_defaults().method": integrator_number(DEFAULTS.method),
        "strut_defaults().max_steps": DEFAULTS.max_steps,
        "STRUT_STAGES": max(method.stages for method in INTEGRATORS.values()),
        "STRUT_DEGREE": max(method.degree for method in INTEGRATORS.values()),
        "strut_kind_of(99)": int(StepKind.IMPLICIT),
    }
    assert dict(zip(constants, printed(constants, tmp_path), strict=True)) == constants


@needs_compiler
@pytest.mark.parametrize(
    ("struct", "mirror"), [(OPTIONS, NativeOptions), (RECORD, Record), (CONTROL, Control), (MANY, Many)]
)
def test_structs_have_the_same_layout(struct, mirror, tmp_path):
    names = [field.name for field in struct.fields]
    asked = [f"sizeof({struct.name})", *(f"offsetof({struct.name}, {name})" for name in names)]
    known = [ctypes.sizeof(mirror), *(getattr(mirror, name).offset for name in names)]
    assert printed(asked, tmp_path) == known


def test_numbers_of_methods_stay():
    """They stand in programs that were exported: a new method goes to the end."""
    assert list(INTEGRATORS)[:8] == [
        "euler",
        "rk4",
        "leapfrog",
        "predictor-corrector",
        "dopri5",
        "dop853",
        "radau",
        "bdf",
    ]


def test_events_may_not_have_the_word_of_a_status():
    """The waist cannot read the table of codegen: this keeps both the same."""
    words = {status.word for status in RunStatus}
    assert {word for word in words if word.isidentifier()} <= set(STATUSES)
    assert set(STATUSES) <= words | {"interrupted"}
