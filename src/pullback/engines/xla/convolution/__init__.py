"""Convolutions on XLA."""
