"""Rows: activations."""
