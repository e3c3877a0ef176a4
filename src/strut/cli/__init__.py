"""The command `strut`."""

import sys

from strut.version import VERSION

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. The version alone is told without importing anything else."""
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(VERSION)
        sys.exit(0)
    from strut.cli import app

    app.main(arguments)
