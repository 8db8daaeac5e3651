"""ONNX export of shape manipulation."""
