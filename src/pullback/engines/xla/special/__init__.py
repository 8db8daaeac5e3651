"""XLA lowering of special functions."""
