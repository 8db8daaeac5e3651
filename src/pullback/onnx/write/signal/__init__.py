"""ONNX export of signal processing."""
