"""Linear algebra on XLA."""
