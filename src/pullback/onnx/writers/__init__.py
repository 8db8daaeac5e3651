"""The writers of primitives, one module for each family; `onnx/registry.py` imports them before the first model."""
