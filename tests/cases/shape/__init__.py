"""Rows: shape manipulation."""
