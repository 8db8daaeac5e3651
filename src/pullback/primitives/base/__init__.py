"""What all families share: broadcasting, axes, windows, dtypes of sums, and Python's operators."""
