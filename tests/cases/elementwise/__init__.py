"""Rows: elementwise mathematics."""
