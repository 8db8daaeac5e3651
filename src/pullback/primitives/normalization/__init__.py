"""Normalization: of batches, layers, channels, vectors."""
