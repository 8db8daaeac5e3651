"""Traced functions (`function`) and function transformations (`grad`, `vjp`, `jvp`)."""
