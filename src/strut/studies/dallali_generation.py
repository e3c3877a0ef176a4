"""COMAN's equations of motion: how many operations they take, and how long it takes to write them down."""

from __future__ import annotations

import tempfile
import time as clock

from strut.export import export_functions
from strut.mechanism import functions
from strut.studies.study import Row, Study
from strut.walkers import coman_mechanism

REMARK = "published: headers of Robotran 6.6's files of the 29-joint COMAN; operations on scalars"


def rows() -> list[Row]:
    """Compare operations, and the time to generate everything, with those of Robotran's generated files."""
    began = clock.perf_counter()
    written = functions(coman_mechanism(), frames=[])
    derived = clock.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        export_functions("coman", written, folder)
        exported = clock.perf_counter() - began - derived
    inverse, mass, bias = (written[name].operations for name in ("inverse_dynamics", "mass_matrix", "bias"))
    return [
        Row("inverse dynamics, operations", "4106", str(inverse), REMARK),
        Row("mass matrix and bias, operations", "17414", str(mass + bias), REMARK),
        Row(
            "time to derive [s]",
            "a few seconds",
            f"{derived:.2f}",
            "published: in the paper; the headers say 0.24 s. Ours: all functions, Python included",
        ),
        Row(
            "time to write C and MATLAB [s]", "0.27", f"{exported:.2f}", "published: post-processing, headers"
        ),
    ]


STUDY = Study(
    "dallali-generation",
    "A dynamic simulator of the compliant humanoid COMAN: equations as code",
    "Dallali et al. (2013); operation counts in the public simulator's generated files",
    rows,
)
