"""Ragged tensors: rows of several lengths, as values and where each row ends."""
