"""Recurrent networks of TensorFlow 1: cells that programs write themselves, and the loops that take them."""
