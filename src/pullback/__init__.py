"""Symbolic differentiation of dataflow graphs: the derivative of a graph is another graph.

The public names stand in `__init__.pyi`, each once; each is imported when it is first used.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from .autodiff.optimizing import define_optimizer as _define_optimizer
from .autodiff.optimizing import define_rematerializer as _define_rematerializer
from .core.graph import Graph as _Graph
from .core.operation import define_methods as _define_methods
from .core.primitive import define_later as _define_later
from .engines.loading import engine_loaders as _engine_loaders
from .engines.loading import install_running as _install_running
from .names import on_demand as _on_demand
from .primitives.base.operators import install_operators as _install_operators
from .version import __version__ as __version__

__all__, __getattr__, __dir__ = _on_demand(__name__, "__init__.pyi")
__all__.append("newaxis")
__all__.sort()


def _load_primitives() -> None:
    modules = _import_module("pkgutil").walk_packages
    for package in ("primitives", "control_flow"):
        for module in modules([f"{__path__[0]}/{package}"], f"{__name__}.{package}."):
            _import_module(module.name)
    _import_module(f"{__name__}.derivatives.implicit")


def _onnxruntime_engine() -> _Any:
    try:
        from .onnx.engine import OnnxruntimeEngine
    except ImportError as error:
        raise ModuleNotFoundError(
            "Session: engine='onnxruntime' needs onnx and onnxruntime: pip install 'pullback[onnxruntime]'"
        ) from error
    return OnnxruntimeEngine


def _optimizer() -> _Any:
    return _import_module(f"{__name__}.passes.optimize").optimized_for_gradients


def _as_graph_def(graph: _Graph, from_version: int | None = None, add_shapes: bool = False) -> _Any:
    """The graph as TensorFlow's GraphDef; see `pb.graphdef.export`. The arguments are taken for TensorFlow's sake."""
    del from_version, add_shapes
    return _import_module(f"{__name__}.graphdef.exporting").export(graph)


def _rematerializer() -> _Any:
    return _import_module(f"{__name__}.passes.rematerialization").within_budget


_define_later(_load_primitives)
_define_methods(_Graph, {"as_graph_def": _as_graph_def})
_define_optimizer(_optimizer)
_define_rematerializer(_rematerializer)
_engine_loaders["onnxruntime"] = _onnxruntime_engine
_install_operators()
_install_running()

newaxis = None
