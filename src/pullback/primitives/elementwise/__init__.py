"""Elementwise mathematics: arithmetic, powers, exponentials, trigonometry, rounding, clipping."""
