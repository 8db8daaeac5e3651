"""Segments: reductions over rows that share a number."""
