"""Utilities of `tensorflow.python.util`: decorators that change nothing here, and the like."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from .test import gpu_device_name

contextmanager = contextlib.contextmanager


def getfullargspec(obj: Callable[..., Any]) -> inspect.FullArgSpec:
    """The parameters of a function, without annotations: the functions of version 1 have none."""
    return inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})


class Device(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str
    memory_limit: int = 0
    physical_device_desc: str = ""


def list_local_devices(session_config: object = None) -> list[Device]:
    """The processor, and the first GPU if XLA sees one."""
    del session_config
    gpu = gpu_device_name()
    return [Device("/device:CPU:0", "CPU"), *([Device(gpu, "GPU")] if gpu else [])]


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """What one of the functions returns: a `cond`, unless it is known which."""
    known = constant_value(pred)
    if known is None:
        return pb.cond(pred, true_fn, false_fn, name)
    return true_fn() if known else false_fn()


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """What the function of the first true predicate returns: a `case` of those that no predicate known decides."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    open_pairs = []
    for pred, function in pairs:
        known = smart_constant_value(pred)
        if known is None:
            open_pairs.append((pred, function))
        elif known and not open_pairs:
            return function()
        elif known:
            open_pairs.append((pred, function))
    if not open_pairs and default is not None:
        return default()
    return pb.case(open_pairs or pairs, default, exclusive, name=name)


def smart_constant_value(pred: Any) -> Any:
    """The value of a predicate that is known without a run, None where it is not.

    Raises:
        TypeError: it is no tensor, no bool, and neither 0 nor 1.
    """
    if isinstance(pred, pb.Tensor):
        return pb.get_static_value(pred)
    if isinstance(pred, bool | np.bool_) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    raise TypeError(
        f"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred={pred} of type "
        f"{type(pred).__name__}"
    )


def constant_value(pred: Any) -> Any:
    """The value of a tensor that is known without a run, None where it is not; of a number the number."""
    return pred if isinstance(pred, bool | int) else pb.get_static_value(pb.convert_to_tensor(pred))


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, computed after `dependencies`, where it is itself.

    >>> v = pb.Variable(1.0)
    >>> with_dependencies([v.assign(2.0)], v)
    <Tensor 'control_dependency:0' float32[]>
    """
    graph = pb.get_default_graph()
    placed = output_tensor.values if isinstance(output_tensor, pb.IndexedSlices) else output_tensor
    with (
        graph.within(name or "control_dependency") as scope,
        graph.colocate_with(getattr(placed, "op", None)),
        graph.control_dependencies(dependencies),
    ):
        return pb.identity(output_tensor, name=scope)


def deprecated(*args: object, **kwargs: object) -> Callable[[Any], Any]:
    """A decorator that changes nothing."""
    del args, kwargs
    return _itself


deprecated_args = deprecated_arg_values = tf_export = keras_export = deprecated


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The one of two arguments that is given.

    Raises:
        ValueError: both are.
    """
    if old_value is not None and new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return new_value if old_value is None else old_value


@contextlib.contextmanager
def silence() -> Any:
    """A block."""
    yield


def register_proto_function(collection_name: str, *args: object, **kwargs: object) -> None:
    """Nothing: collections are not part of saved graphs."""
    del collection_name, args, kwargs


def make_decorator(target: Callable[..., Any], decorator_func: Any, *args: object, **kwargs: object) -> Any:
    """`decorator_func`, which has the name and docstring of `target`."""
    del args, kwargs
    decorator_func.__name__, decorator_func.__doc__ = target.__name__, target.__doc__
    decorator_func.__wrapped__ = target
    return decorator_func


getargspec = getfullargspec


def make_all(module_name: str, doc_string_modules: object = None) -> list[str]:
    """The public names of a module that is imported."""
    del doc_string_modules
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(
    module_name: str, allowed_exception_list: object = None, doc_string_modules: object = None
) -> None:
    """Nothing: all names of a module stay."""
    del module_name, allowed_exception_list, doc_string_modules


def _itself(function: Any) -> Any:
    return function
