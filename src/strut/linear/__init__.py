"""Small motions: equilibria, linearisation, modes."""

from strut.linear.equilibrium import Equilibrium, equilibrium
from strut.linear.linearise import Linear, linearise
from strut.linear.modes import Mode, modes

__all__ = ["Equilibrium", "Linear", "Mode", "equilibrium", "linearise", "modes"]
