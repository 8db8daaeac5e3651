"""Losses: cross entropies, connectionist temporal classification."""
