"""Primitive operations: one file per family, in each a user function, then its primitive class. Imports core."""
