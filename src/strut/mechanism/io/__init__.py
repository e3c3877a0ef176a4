"""Mechanisms in files: URDF, MJCF and our own model files."""
