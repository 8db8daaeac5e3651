"""NumPy engine: a plan is a list of tuples, walked by one loop."""
