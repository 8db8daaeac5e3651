"""ONNX import of shape manipulation."""
