"""Equations for people: systems as SymPy and LaTeX."""
