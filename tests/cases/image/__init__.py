"""Rows: images."""
