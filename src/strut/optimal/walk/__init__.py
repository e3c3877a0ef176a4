"""Optimal control of walkers: designs, costs of transport, replay in the simulator, trade-offs, stability."""
