"""Checkpoints: the values of variables in files."""
