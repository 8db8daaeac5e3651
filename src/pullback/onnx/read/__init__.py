"""ONNX import: readers of operators, a module a family; `onnx/loading.py` imports them before the first model."""
