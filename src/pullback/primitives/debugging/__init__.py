"""Assertions, checks and printing."""
