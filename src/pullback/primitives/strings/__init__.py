"""Strings: texts of numbers, joined, measured, cut, searched, hashed."""
