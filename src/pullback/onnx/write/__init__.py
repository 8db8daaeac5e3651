"""ONNX export: writers of primitives, a module a family; `onnx/registry.py` imports them before the first model."""
