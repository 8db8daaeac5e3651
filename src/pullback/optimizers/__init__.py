"""Optimizers: gradient descent and its kin, clipping, learning rates. Imports all but engines."""
