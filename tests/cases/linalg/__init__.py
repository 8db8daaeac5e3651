"""Rows: linear algebra."""
