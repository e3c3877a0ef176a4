"""Running MATLAB code in Octave, where it is installed."""

import shutil
import subprocess

import numpy as np
import pytest

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="Octave is not installed: no octave-cli on PATH")


def octave(directory, code):
    """What a piece of MATLAB code prints, run in a directory."""
    (directory / "strut_test_script.m").write_text(code)
    done = subprocess.run(
        [OCTAVE, "--norc", "--quiet", "--no-gui", "strut_test_script.m"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    (directory / "strut_test_script.m").unlink()
    assert done.returncode == 0, done.stderr
    return done.stdout


def matrix(values):
    """A matrix as MATLAB reads it back, without loss."""
    array = np.atleast_2d(np.asarray(values, dtype=float))
    return (
        "[" + "; ".join(" ".join(f"{v!r}" for v in map(float, row)) for row in array) + "]"
        if array.size
        else "zeros(0, 1)"
    )


def numbers(text):
    return np.array([float(v) for v in text.split()])
