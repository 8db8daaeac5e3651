"""ONNX export of linear algebra."""
