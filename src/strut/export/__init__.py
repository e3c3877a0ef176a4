"""Handing systems over: C for any machine."""

from strut.export.c import Export, export

__all__ = ["Export", "export"]
