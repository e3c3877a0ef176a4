"""Solving the nonlinear program: initial guesses, mesh refinement, results and why there may be none."""
