"""Lazy loading of sessions and engines: `import pullback` loads neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..core.garbage import without_collection
from ..core.operation import Operation, Tensor, define_methods
from .random_stream import untouched_stream

if TYPE_CHECKING:
    from .engine import EngineClass
    from .session import Session


def _numpy_engine() -> EngineClass:
    from .numpy.engine import NumpyEngine

    return NumpyEngine


def _xla_engine() -> EngineClass:
    try:
        with untouched_stream(), without_collection():
            from .xla.engine import XlaEngine
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"Session: engine='xla' needs jax ({error}): pip install 'pullback[xla]'") from error
    return XlaEngine


engine_loaders: dict[str, Callable[[], EngineClass]] = {"numpy": _numpy_engine, "xla": _xla_engine}
"""What loads the class of each engine; layers above add theirs."""


def install_running() -> None:
    """Give tensors `eval` and operations `run`; called once, when pullback is imported."""
    define_methods(Tensor, {"eval": eval_tensor})
    define_methods(Operation, {"run": run_operation})


def eval_tensor(tensor: Tensor, feed_dict: Mapping[Any, Any] | None = None, session: Session | None = None) -> Any:
    """The value of this tensor, by `session` or the default one."""
    return _evaluate(tensor, feed_dict, session, "eval")


def run_operation(
    operation: Operation, feed_dict: Mapping[Any, Any] | None = None, session: Session | None = None
) -> None:
    """Run this operation, by `session` or the default one."""
    _evaluate(operation, feed_dict, session, "run")


def _evaluate(fetch: Tensor | Operation, feed_dict: Any, session: Session | None, method: str) -> Any:
    from .default_session import evaluate

    return evaluate(fetch, feed_dict, session, method)
