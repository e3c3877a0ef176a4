"""Looking at results: figures of a run, and a page that opens anywhere. Needs the extra `view`, except to be imported."""

from strut.simulate.trajectory import SHOWN
from strut.view.animation import animation
from strut.view.page import page
from strut.view.plots import energy, held, outputs, phase_portraits, residual, states
from strut.view.svg import stick_figure, still

__all__ = ["animation", "energy", "held", "outputs", "page", "phase_portraits", "residual", "states", "stick_figure", "still"]

SHOWN["animate"] = animation
