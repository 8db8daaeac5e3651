"""Rows: loops, branches, calls and maps."""
