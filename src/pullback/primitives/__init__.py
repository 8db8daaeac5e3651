"""Primitive operations, by family: in each file a user function, then its primitive class. Imports core."""
