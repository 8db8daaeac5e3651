"""Indexing: slices, gather, scatter, where."""
