"""What speaks with other libraries: SciPy, jax, TensorBoard."""
