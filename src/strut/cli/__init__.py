"""The command `strut`."""

import sys

from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.gc_pause import pause_gc
from strut.version import VERSION

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; print the version alone without importing anything else.

    arguments: the words after `strut`; those of this process unless given.
    """
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(VERSION)
        sys.exit(0)
    try:
        with pause_gc():  # of what is imported, everything stays
            from strut.cli import app
        app.main(arguments)
    except KeyboardInterrupt:  # before a command began: commands say themselves what they keep
        print("interrupted: nothing was begun yet", file=sys.stderr)
        sys.exit(INTERRUPTED_EXIT)
