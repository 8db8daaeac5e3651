"""ONNX export of activations."""
