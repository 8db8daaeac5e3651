"""Rows: convolutions and morphology."""
