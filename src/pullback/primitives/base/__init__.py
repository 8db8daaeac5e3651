"""Base of all families: broadcasting, axes, windows, dtypes of sums, and Python's operators."""
