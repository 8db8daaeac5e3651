"""Quantization: numbers rounded to few bits."""
