"""A run in motion: its scene by frames, drawn as SVG and pixels, and as JSON for players in a browser."""
