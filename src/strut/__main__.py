"""`python -m strut`."""

from strut.cli import main

main()
