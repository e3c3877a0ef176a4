"""What commands exit with, besides 0 (all is well) and 1 (there is a result, and it is not well)."""

ERROR_EXIT = 2
"""The command could not do what it was asked: a name, a value, a file is wrong."""
INTERRUPTED_EXIT = 130
"""Ctrl-C, as shells have it: 128 and the number of the signal."""
