"""Optimal control over states, inputs, durations and the machine's parameters: motion, controller and design at once."""

from strut.optimal.guess import Guess
from strut.optimal.problem import Integral, Jumps, Problem, after
from strut.optimal.result import Result
from strut.optimal.solve import solve
from strut.optimal.transcription import Transcription

__all__ = ["Guess", "Integral", "Jumps", "Problem", "Result", "Transcription", "after", "solve"]
