"""XLA engine: a plan is one program; jax is imported here only."""
