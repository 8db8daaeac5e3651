"""The readers of operators, one module for each family; `onnx/loading.py` imports them before the first model."""
