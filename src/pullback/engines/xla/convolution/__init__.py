"""XLA lowering of convolutions."""
