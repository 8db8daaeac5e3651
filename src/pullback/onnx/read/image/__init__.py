"""ONNX import of image operators."""
