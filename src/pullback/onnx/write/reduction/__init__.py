"""ONNX export of reductions."""
