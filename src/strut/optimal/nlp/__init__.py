"""A `Problem` as a sparse nonlinear program: unknowns, defects, path constraints, exact derivatives."""
