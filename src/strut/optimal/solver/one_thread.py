"""`use_one_thread`: the linear algebra inside of IPOPT runs in the thread that called it.

The fronts of a transcribed motion's matrix are small: of a five-link walker's step a second thread made no
solve faster, and waited for work by spinning, which took a processor of its own for half of the time. On a
machine with many cores every solve would begin as many of them, beside other starts and other searches.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

import casadi as ca

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""Who sets one of these in the environment has chosen how many threads there are."""
LIBRARY = "*openblas*"
"""Files of the OpenBLAS that CasADi brings for its solvers, beside its own libraries; nobody else uses it."""


@cache
def use_one_thread() -> bool:
    """Let the OpenBLAS that IPOPT has loaded use one thread, unless the environment says how many; return
    whether that was done. To be called when IPOPT was made. A CasADi that was built against another BLAS is
    left as it is."""
    if not hasattr(os, "RTLD_NOLOAD") or any(os.environ.get(name) for name in THREAD_VARIABLES):
        return False
    libraries = 0
    for path in sorted(Path(ca.__file__).parent.glob(LIBRARY)):
        try:  # of several copies the one that is in use: another would not be opened here
            ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD).openblas_set_num_threads(1)
            libraries += 1
        except (OSError, AttributeError):
            continue
    return libraries > 0


__all__ = ["use_one_thread"]
