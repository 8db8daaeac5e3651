"""Pooling: the largest and the mean of windows."""
