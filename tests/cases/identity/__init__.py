"""Rows: what hands its input on."""
