"""Activation functions: rectifiers, sigmoid, gelu, softmax, biases."""
