"""Running systems: one run, many runs, and their results."""

from strut.simulate.account import Account
from strut.simulate.batch import Batch, simulate_batch
from strut.simulate.options import METHODS, Hold, Options
from strut.simulate.simulate import LedgerWarning, Moment, simulate
from strut.simulate.trajectory import Trajectory

__all__ = [
    "METHODS",
    "Account",
    "Batch",
    "Hold",
    "LedgerWarning",
    "Moment",
    "Options",
    "Trajectory",
    "simulate",
    "simulate_batch",
]
