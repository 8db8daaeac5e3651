"""XLA lowering of loops: steps, rows, checkpoints."""
