"""The command `strut`."""

from strut.cli.app import main

__all__ = ["main"]
