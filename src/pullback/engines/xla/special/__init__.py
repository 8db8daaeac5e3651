"""Special functions on XLA."""
