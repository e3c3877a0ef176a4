"""IPOPT's linear algebra runs in the thread that called it, unless the environment says otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import pytest

from strut.optimal.solver.one_thread import LIBRARY, THREAD_VARIABLES

COUNT = """
import ctypes, os, pathlib, sys
import casadi as ca
from strut.optimal.solver.one_thread import LIBRARY, use_one_thread
x = ca.SX.sym("x")
ca.nlpsol("solver", "ipopt", {"x": x, "f": x**2}, {"print_time": False, "ipopt.print_level": 0})
held = use_one_thread()
for path in pathlib.Path(ca.__file__).parent.glob(LIBRARY):
    try:
        library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD)
    except OSError:
        continue
    print(held, library.openblas_get_num_threads())
"""

brought = list(Path(ca.__file__).parent.glob(LIBRARY))
needs_openblas = pytest.mark.skipif(
    not brought or not hasattr(os, "RTLD_NOLOAD") or (os.cpu_count() or 1) < 2,
    reason="CasADi brings no OpenBLAS here, or there is one processor",
)


def threads_of_solver(**variables):
    """What is printed by a process of its own that makes a solver: whether it was held, and its threads."""
    own = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], env=own | variables, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@needs_openblas
def test_a_solver_uses_one_thread():
    assert threads_of_solver() == ["True", "1"]


@needs_openblas
def test_who_says_how_many_threads_there_are_is_heard():
    assert threads_of_solver(OPENBLAS_NUM_THREADS="2") == ["False", "2"]
