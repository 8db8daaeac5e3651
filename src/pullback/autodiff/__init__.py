"""Reverse-mode automatic differentiation: the derivative of a graph is more graph. Imports core and primitives."""
