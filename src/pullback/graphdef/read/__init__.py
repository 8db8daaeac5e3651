"""Readers of op types, by family."""
