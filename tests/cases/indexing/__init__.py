"""Rows: slices, gather, scatter, where."""
