"""Convolutions, and grey-scale dilation and erosion."""
