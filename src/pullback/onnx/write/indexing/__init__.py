"""ONNX export of indexing."""
