"""ONNX import and export: `load` makes a graph of a model, `export` a model of a graph."""

from __future__ import annotations

try:
    import onnx as _onnx  # noqa: F401
except ModuleNotFoundError:
    raise ImportError("pullback.onnx needs the package onnx; install it with: pip install 'pullback[onnx]'") from None

from .derive import Derivative, differentiate
from .exporting import export
from .loading import load
from .model import OnnxGraph
from .reading import Node, reader
from .records import Value
from .registry import writer
from .training import TrainingStep, training_step
from .writing import Writer

__all__ = [
    "Derivative",
    "Node",
    "OnnxGraph",
    "TrainingStep",
    "Value",
    "Writer",
    "differentiate",
    "export",
    "load",
    "reader",
    "training_step",
    "writer",
]
