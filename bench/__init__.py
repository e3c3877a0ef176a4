"""strut against its peers, side by side on this machine: `python -m bench`."""
