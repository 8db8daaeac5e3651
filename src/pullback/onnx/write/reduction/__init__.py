"""Writers of reductions."""
