"""Reverse-mode derivatives as more graph. Imports core and primitives."""
