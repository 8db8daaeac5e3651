"""Recurrent neural networks: cells, and what runs them over time."""
