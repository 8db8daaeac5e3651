"""The readers of operators, one module for each family; all are loaded before the first model is read."""
