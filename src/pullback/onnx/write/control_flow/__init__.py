"""ONNX export of calls, branches and loops."""
