"""Loops on XLA: steps, rows, checkpoints."""
