"""Rows: normalization and clipping by norm."""
