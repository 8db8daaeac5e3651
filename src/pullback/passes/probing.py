"""Probing: what is added to a graph to be looked at, and taken back."""

from __future__ import annotations


class ProbedError(Exception):
    """Takes back what was added to a graph in a transaction."""
