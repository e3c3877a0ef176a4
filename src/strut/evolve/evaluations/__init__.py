"""What turns parameters into measures: runs of a system, a Python function, an external program."""
