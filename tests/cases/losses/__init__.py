"""Rows: losses."""
