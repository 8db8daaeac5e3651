"""Cumulative sums, products and logarithms of sums."""
