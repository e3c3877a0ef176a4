"""Judging one call: what may come out of it, and how long it may take."""

import resource
import signal
import warnings
from contextlib import contextmanager

import numpy as np

from strut import Trajectory
from strut.errors import StrutError
from strut.gait import Gait

LONGEST = 10.0
"""Processor time a call may take [s]: the clock on the wall would blame a busy machine."""
MEMORY = 4 << 30
"""Bytes a call may take besides what the process has."""


class HangError(BaseException):
    """A call took too long. No `Exception`, so that nothing swallows it."""


@contextmanager
def limits():
    """Processor time and memory of a call, bounded."""

    def stop(*_):
        raise HangError

    before = signal.signal(signal.SIGPROF, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def fault(function, allowed=()):
    """What is wrong with how a call ended, empty if nothing: an error that is not ours, a hang, or numbers that are none."""
    try:
        with limits(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function()
    except StrutError as error:
        return "" if str(error).strip() else f"{type(error).__name__} without a word"
    except allowed:
        return ""
    except HangError:
        return f"took more than {LONGEST:g} s of processor time"
    except Exception as error:
        import traceback

        trace = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in trace if "/strut/" in frame.filename] or trace
        at = f"{ours[-1].filename.rpartition('/strut/')[2]}:{ours[-1].lineno}"
        return f"{type(error).__name__} at {at}: {str(error)[:150]}"
    return nonsense(result)


def nonsense(result):
    """A result that claims to be well and is not."""
    if isinstance(result, Trajectory) and result.ok and not np.all(np.isfinite(result.raw.x_end)):
        return f"a run with status '{result.status}' ends at {result.raw.x_end}"
    if isinstance(result, Gait) and not (
        np.all(np.isfinite(result.multipliers)) and np.isfinite(result.period)
    ):
        return "a gait whose multipliers or period are no numbers"
    if isinstance(result, (float, np.floating)) and np.isnan(result):
        return "the result is not a number"
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and np.any(np.isnan(result)):
        return "the result holds what is not a number"
    return ""
