"""Readers of shape manipulation."""
