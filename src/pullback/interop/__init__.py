"""Interoperability: SciPy, jax, TensorBoard."""
